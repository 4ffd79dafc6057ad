"""Commands killed at random moments: the old file stays or the new one is whole, and nothing else is left.

    seed ─→ a command, a signal, a moment ─→ killed ─→ its output is the old one or the new one
         ─→ the same command undisturbed  ─→ the new one, and no other file anywhere

Half of the moments lie anywhere in the course of a command, half in the writing of its output: when the
temporary file has reached a random share of the size that it is to have.
"""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice, product
from pathlib import Path
from random import Random
from typing import Any

from conseq.datasets import citations
from conseq.errors import ConseqError
from conseq.io import write

FAILURES = ("damaged", "left_by_sigterm", "left_after_next_run", "ended_otherwise", "hangs")
"""A file neither old nor new; files that stay though they should not; another end than by the signal."""

COUNTS = ("kills", "while_writing", "left_by_sigkill", "old", "new", *FAILURES)
SIGNALS = (signal.SIGKILL, signal.SIGTERM)
TIMES = 200
HANGS = 20.0
"""Seconds within which a process must end when it is killed."""
LATEST = 600.0
"""Seconds after which an undisturbed run is given up."""
SIZES, QUICK = (60, 800), (20, 100)
"""Citations to train on and to label."""
OLD = b"what was there before\n"

Say = Callable[[str], None]
Result = dict[str, Any]


@dataclass(frozen=True)
class Command:
    """A program and its arguments; in its folder it reads `input` and writes `output`."""

    line: str
    output: str
    program: Sequence[str] = (sys.executable, "-m", "conseq")
    model: str | None = None  # that must be trained before

    @property
    def words(self) -> list[str]:
        return [*self.program, *shlex.split(self.line)]


def _training(model: str, *options: str) -> str:
    return shlex.join(["train", "input/train.jsonl", "--max-iterations", "20", *options, "-m", model])


COMMANDS: dict[str, Command] = {
    "train": Command(_training("output/model"), "output/model"),
    "mine": Command(
        "mine input/train.jsonl --folds 2 --penalties log-ratio --no-effects -o output/rules", "output/rules"
    ),
    "label": Command(
        "label input/model input/new.jsonl --format jsonl -o output/answers",
        "output/answers",
        model="input/model",
    ),
    "shards": Command(
        _training("output/model", "--shard-tokens", "1000", "--scratch", "scratch"), "output/model"
    ),
}


@dataclass
class Workshop:
    """A folder in which commands run, with one for temporary files."""

    folder: Path
    sizes: tuple[int, int]
    commands: list[Command]

    def __post_init__(self) -> None:
        for name in ("input", "output", "scratch", "temporary"):
            (self.folder / name).mkdir()
        known, new = self.sizes
        write(citations(known, seed=0), self.folder / "input/train.jsonl", "jsonl")
        write(citations(new, seed=1), self.folder / "input/new.jsonl", "jsonl")
        for model in {command.model for command in self.commands if command.model is not None}:
            self.complete(Command(_training(model), model))
        self.expected = self.files() | {command.output for command in self.commands}

    def start(self, command: Command) -> subprocess.Popen[bytes]:
        """The command as a process of its own."""
        return subprocess.Popen(
            command.words,
            cwd=self.folder,
            env={**os.environ, "TMPDIR": str(self.folder / "temporary")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def complete(self, command: Command) -> bytes:
        """Run it undisturbed; what it writes."""
        process = self.start(command)
        try:
            messages = process.communicate(timeout=LATEST)[1].decode(errors="replace")
        finally:
            process.kill()
        if process.returncode:
            raise ConseqError(f"`{shlex.join(command.words)}` failed ({messages.strip()}); run it by hand")
        return (self.folder / command.output).read_bytes()

    def files(self) -> set[str]:
        """Every file and folder."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}

    def strays(self) -> list[str]:
        """What is neither an input nor an output."""
        return sorted(self.files() - self.expected)

    def written(self, command: Command) -> int:
        """Bytes in the temporary file beside the output; 0 if there is none."""
        try:
            with os.scandir(self.folder / Path(command.output).parent) as entries:
                return max((e.stat().st_size for e in entries if e.name.endswith(".tmp")), default=0)
        except FileNotFoundError:  # renamed in between
            return 0


@dataclass
class Target:
    """A command, what it writes, and how long it takes."""

    name: str
    command: Command
    new: bytes
    seconds: float
    counts: Counter[str] = field(default_factory=Counter)
    slowest_end: float = 0.0
    examples: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, workshop: Workshop, name: str, command: Command) -> Target:
        """Run it twice: what it writes must be the same, or nobody could tell whether it is whole."""
        first, begun = workshop.complete(command), time.monotonic()
        new = workshop.complete(command)
        if first != new:
            raise ConseqError(f"{name} writes something else each time, so nobody could say what is whole")
        return cls(name, command, new, time.monotonic() - begun)

    def report(self, kind: str, what: str) -> None:
        self.counts[kind] += 1
        self.examples.append(f"{self.name}: {kind.replace('_', ' ')}: {what}")


def run(
    *,
    data: object = None,
    quick: bool = False,
    say: Say = print,
    times: int = TIMES,
    seed: int | None = None,
    commands: dict[str, Command] = COMMANDS,
) -> Result:
    """Kill the commands in turn, by both signals; `quick` has less data."""
    chosen = secrets.randbelow(1 << 32) if seed is None else seed
    say(f"kills with --seed {chosen}")
    rng = Random(chosen)
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(Path(folder), QUICK if quick else SIZES, list(commands.values()))
        targets = [Target.of(workshop, name, command) for name, command in commands.items()]
        for number, (by, target) in enumerate(islice(cycle(product(SIGNALS, targets)), times), 1):
            kill(workshop, target, by, rng)
            if number % 20 == 0:
                say(f"{number} kills, {sum(_failures(target) for target in targets)} failures")
    total = sum((target.counts for target in targets), Counter[str]())
    rows = [_row(target) for target in targets]
    examples = [example for target in targets for example in target.examples]
    return {**{name: total[name] for name in COUNTS}, "seed": chosen, "rows": rows, "examples": examples}


@dataclass(frozen=True)
class End:
    """How a process ended that was killed."""

    by: signal.Signals
    moment: str  # and the signal, in words
    was_writing: bool  # when the signal was sent
    in_time: bool
    code: int
    messages: bytes

    @property
    def is_killed(self) -> bool:
        """Whether it ended by the signal, not before."""
        return self.code == -self.by


def kill(workshop: Workshop, target: Target, by: signal.Signals, rng: Random) -> None:
    """Kill the command once, look at what there is, run it undisturbed and look again."""
    output = workshop.folder / target.command.output
    output.write_bytes(OLD)
    end = _ended(workshop, target, by, rng)
    _judge(target, end, output.read_bytes(), workshop.strays())
    if workshop.complete(target.command) != target.new:
        target.report("damaged", f"the run after {end.moment}")
    if strays := workshop.strays():
        target.report("left_after_next_run", f"{end.moment}: {', '.join(strays)}")


def _ended(workshop: Workshop, target: Target, by: signal.Signals, rng: Random) -> End:
    """Send the signal at a random moment."""
    process = workshop.start(target.command)
    was_writing, moment = _await_moment(workshop, target, process, rng)
    process.send_signal(by)
    begun, in_time = time.monotonic(), True
    try:
        messages = process.communicate(timeout=HANGS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        messages, in_time = process.communicate()[1], False
    target.slowest_end = max(target.slowest_end, time.monotonic() - begun)
    return End(by, f"{by.name} {moment}", was_writing, in_time, process.returncode, messages)


def _judge(target: Target, end: End, found: bytes, strays: list[str]) -> None:
    """Count what was found, and report what should not be."""
    is_old, is_new = found == OLD, found == target.new
    while_writing = end.was_writing and end.is_killed and is_old
    target.counts.update(kills=1, old=is_old, new=is_new, while_writing=while_writing)
    if not end.in_time:
        target.report("hangs", end.moment)
    elif end.messages or not (end.is_killed or end.code == 0):
        said = end.messages.decode(errors="replace").strip()
        target.report("ended_otherwise", f"{end.moment}: {end.code} {said}")
    if not (is_old or is_new):
        target.report("damaged", end.moment)
    if end.by == signal.SIGKILL:
        target.counts["left_by_sigkill"] += bool(strays)
    elif strays:
        target.report("left_by_sigterm", f"{end.moment}: {', '.join(strays)}")


def _await_moment(
    workshop: Workshop, target: Target, process: subprocess.Popen[bytes], rng: Random
) -> tuple[bool, str]:
    """Wait for a random moment of a process; whether it is writing then, and the moment in words."""
    share = rng.random()
    if rng.random() < 0.5:
        time.sleep(share * target.seconds)
        return workshop.written(target.command) > 0, f"after {share * target.seconds:.3f} s"
    goal = max(1, share * len(target.new))
    while process.poll() is None:
        if workshop.written(target.command) >= goal:
            return True, f"with {share:.0%} written"
    return False, "after its end"


def _failures(target: Target) -> int:
    return sum(target.counts[kind] for kind in FAILURES)


def _row(target: Target) -> Result:
    counts = {name: target.counts[name] for name in COUNTS}
    seconds = {"seconds": round(target.seconds, 3), "slowest_end": round(target.slowest_end, 3)}
    return {"command": target.name, **counts, **seconds}


def failed(result: Result) -> bool:
    """Whether anything went wrong."""
    return any(result[kind] for kind in FAILURES)


def table(result: Result) -> list[list[str]]:
    """One row per command, the head first."""
    columns = ("command", *COUNTS, "seconds", "slowest_end")
    return [[name.replace("_", " ") for name in columns]] + [
        [str(row[name]) for name in columns] for row in result["rows"]
    ]


def further(result: Result) -> dict[str, list[list[str]]]:
    """What failed, if anything did."""
    return {"failures": [["what"], *([one] for one in result["examples"])]} if result["examples"] else {}
