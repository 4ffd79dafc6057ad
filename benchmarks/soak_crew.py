"""Processes that work through tasks, and what they find.

    tasks ─→ Crew: processes, each with one task at a time ─→ Findings of each
                   one that crashes, hangs or takes too much memory is counted, and another takes its place

A task is a part, a seed and a number, from which everything in it is drawn, so it can be run again.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from conseq.problem import Decoding

MOST_MEMORY = 2 << 30
"""Bytes that a process may take for its tasks, besides what it has at first."""
PATIENCE = 0.5
"""Seconds between two looks at the processes."""
GRACE = 20.0
"""Seconds for which the last tasks are waited for."""
EXAMPLES = 20
PARTS = ("problems", "sizes", "inputs")


@dataclass(frozen=True)
class Task:
    """What is drawn from `seed` for this number of a part."""

    part: str
    seed: int
    number: int

    @property
    def entropy(self) -> tuple[int, int, int]:
        return self.seed, PARTS.index(self.part), self.number

    @property
    def again(self) -> str:
        """The command that runs it once more."""
        return f"python -m benchmarks soak --part {self.part} --seed {self.seed} --number {self.number}"


@dataclass
class Findings:
    """What was counted in a task, examples of what is wrong, and what the task is about."""

    task: Task
    counts: Counter[str] = field(default_factory=Counter)
    examples: list[dict[str, Any]] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] += number

    def report(self, kind: str, what: str, **about: Any) -> None:
        """Count a failure of a kind, with an example."""
        self.counts[kind] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append({"kind": kind, "what": what, "again": self.task.again, **about})

    def examine(
        self,
        complaints: Callable[[], Iterator[str]],
        about: Callable[[], dict[str, Any]],
        kind: str = "wrong",
    ) -> None:
        """Report all complaints as one failure; an exception is a traceback."""
        self.count("answers")
        try:
            found = list(complaints())
        except Exception:
            self.report("tracebacks", traceback.format_exc(limit=-4), **about())
            return
        if found:
            self.report(kind, "; ".join(found), **about())


def said(found: Decoding) -> str:
    """An answer in a few words."""
    return f"{found.certificate.status.name} {found.score} (bound {found.certificate.bound})"


Work = Callable[[Task], Findings]


class Member:
    """One process with the task that it has."""

    def __init__(self, work: Work, memory: int) -> None:
        context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        self.pipe, far = context.Pipe()
        self.process = context.Process(target=_serve, args=(far, work, memory), daemon=True)
        self.process.start()
        far.close()
        self.task: Task | None = None
        self.begun = 0.0
        self.memory = memory
        self.at_first = _resident(self.process.pid)

    def take(self, task: Task) -> None:
        self.task, self.begun = task, time.monotonic()
        self.pipe.send(task)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    @property
    def is_too_large(self) -> bool:
        return _resident(self.process.pid) - self.at_first > self.memory

    def answer(self) -> Findings | None:
        """What it found; None if the process has ended."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            return None

    def end(self) -> int | None:
        """End the process; the code it ended with if it did so by itself."""
        self.process.join(0.1)
        code = self.process.exitcode
        if code is None:
            self.process.kill()
            self.process.join()
        self.pipe.close()
        return code


@dataclass
class Crew:
    """Processes that work until a deadline.

    work      what is done with a task
    hangs     the seconds after which a task of a part hangs
    begun     what counts of a task whose process had to be ended, or ended by itself
    """

    work: Work
    hangs: dict[str, float]
    begun: Work = Findings
    size: int = 2
    memory: int = MOST_MEMORY

    def run(self, tasks: Iterator[Task], deadline: float, take: Callable[[Findings, float], None]) -> None:
        """Work through the tasks until there are none or time is up; `take` is given what was found."""
        members = [Member(self.work, self.memory) for _ in range(self.size)]
        try:
            while self._hand_out(members, tasks, deadline):
                pipes = [member.pipe for member in members if member.task is not None]
                ready = wait(pipes, PATIENCE)
                for k, member in enumerate(members):
                    if member.task is None:
                        continue
                    found, seconds = self._look(member, member.pipe in ready), member.seconds
                    if found is None:
                        continue
                    member.task = None
                    if not member.process.is_alive():
                        members[k] = Member(self.work, self.memory)
                    take(found, seconds)
        finally:
            for member in members:
                member.end()

    def _hand_out(self, members: list[Member], tasks: Iterator[Task], deadline: float) -> bool:
        """Give tasks to those without one; whether there is anything to wait for."""
        now = time.monotonic()
        if now < deadline:
            for member in members:
                task = next(tasks, None) if member.task is None else None
                if task is not None:
                    member.take(task)
        return any(member.task is not None for member in members) and now < deadline + GRACE

    def _look(self, member: Member, is_ready: bool) -> Findings | None:
        """What a member found, or that it had to be ended; None while it works."""
        assert member.task is not None
        if is_ready:
            found = member.answer()
            return self._ended(member, "crashes", "the process ended") if found is None else found
        if member.seconds > self.hangs[member.task.part]:
            return self._ended(member, "hangs", f"no answer after {member.seconds:.0f} s")
        if member.is_too_large:
            return self._ended(member, "crashes", f"more than {member.memory >> 20} MiB of memory")
        return None

    def _ended(self, member: Member, kind: str, what: str) -> Findings:
        assert member.task is not None
        findings, code = self.begun(member.task), member.end()
        findings.report(kind, what if code is None else f"{what} with the code {code}", **findings.about)
        return findings


def _serve(pipe: Connection, work: Work, memory: int) -> None:
    """Do tasks until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit(memory)
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            found = work(task)
        except Exception:
            found = Findings(task)
            found.report("tracebacks", traceback.format_exc(limit=-4))
        pipe.send(found)


def _limit(memory: int) -> None:
    """Allow so much more memory than there is now."""
    if sys.platform == "linux":
        import resource

        now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (now + memory, now + memory))


def _resident(process: int | None) -> int:
    """Bytes that a process has in memory; 0 where that is not known."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
