"""One labeller, used by many threads at once and by forked children, against its own serial answers.

rules read anew each time ─→ labels, scores, confidences and n best of some sequences
    in 16 threads, for some seconds          ─→ equal to the serial ones
    in forked children while threads decode  ─→ equal, and there in time
"""

from __future__ import annotations

import os
import secrets
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

import conseq
from conseq.datasets import citations
from conseq.errors import ConseqError

FAILURES = ("different", "raised", "stuck", "different_in_children", "late_children")
COUNTS = ("threads", "answers", "forks", *FAILURES)
SECONDS, TIMES = 60.0, 100
QUICK = 0.1
"""Of the seconds and forks."""
THREADS, BESIDE_FORKS = 16, 4
LATEST = 20.0
"""Seconds within which a child must answer, and a thread end."""
SWITCHES = 1e-5
"""Seconds between two switches of threads, so that they meet everywhere."""
SEQUENCES, PIECE = 24, 8
RULES = """exactly 1 segment of title  penalty 5
no title before author  penalty 2
count(pages) <= count(journal) + count(booktitle)  penalty 3"""

Say = Callable[[str], None]
Result = dict[str, Any]


@dataclass
class Shared:
    """A labeller with its serial answers to some questions, and what was found of others' answers."""

    labeller: conseq.SequenceLabeller
    questions: list[Callable[[conseq.SequenceLabeller], Any]]
    expected: list[Any] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def trained(cls) -> Shared:
        training = conseq.Training(max_iterations=15)
        labeller = conseq.SequenceLabeller(training=training, constraints=RULES, n_jobs=2)
        shared = cls(labeller.fit(citations(40, seed=0)), list(_questions()))
        shared.expected = [shared.answer(number) for number in range(len(shared.questions))]
        return shared

    def answer(self, number: int) -> Any:
        """With rules read anew, so that what threads share is made again each time."""
        return self.questions[number](self.labeller.with_constraints(RULES))

    def is_right(self, number: int) -> bool:
        """Whether a question, asked again, has the same answer."""
        return self.answer(number) == self.expected[number]

    def ask(self, number: int) -> None:
        """Ask a question again, and count how it is answered."""
        try:
            found = "right" if self.is_right(number) else "different"
        except Exception:
            found = "raised"
        with self.lock:
            self.counts.update(["answers", found])

    def ask_until(self, stop: threading.Event, rng: Random) -> None:
        """Ask until told to stop."""
        while not stop.is_set():
            self.ask(rng.randrange(len(self.questions)))

    @contextmanager
    def asked_by(
        self, threads: int, rng: Random, *others: Callable[[threading.Event], None]
    ) -> Iterator[None]:
        """Threads ask while the block runs, and others do what they do; all of them must end then."""
        stop = threading.Event()
        rngs = [Random(rng.random()) for _ in range(threads)]
        working = [threading.Thread(target=self.ask_until, args=(stop, one), daemon=True) for one in rngs]
        working += [threading.Thread(target=other, args=(stop,), daemon=True) for other in others]
        for thread in working:
            thread.start()
        try:
            yield
        finally:
            stop.set()
        latest = time.monotonic() + LATEST
        for thread in working:
            thread.join(max(0.0, latest - time.monotonic()))
        self.counts["stuck"] += sum(thread.is_alive() for thread in working)


def _questions() -> Iterator[Callable[[conseq.SequenceLabeller], Any]]:
    data = citations(SEQUENCES, seed=1)
    for first in range(0, SEQUENCES, PIECE):
        piece = data.select(range(first, first + PIECE))
        yield partial(_decoded, piece)
        yield partial(_labelled, piece)


def _decoded(data: conseq.Corpus, labeller: conseq.SequenceLabeller) -> Any:
    return [(answer.labels, answer.score) for answer in labeller.decode(data)]


def _labelled(data: conseq.Corpus, labeller: conseq.SequenceLabeller) -> Any:
    return [(one.labels, one.spans, one.nbest) for one in labeller.label(data, nbest=3)]


def run(
    *,
    data: object = None,
    quick: bool = False,
    say: Say = print,
    seconds: float = SECONDS,
    times: int = TIMES,
    seed: int | None = None,
) -> Result:
    """Ask in many threads for some seconds, then fork so many times; `quick` a tenth of both."""
    if not hasattr(os, "fork"):
        raise ConseqError("this system cannot fork a process; run it on Linux or macOS")
    chosen, part = secrets.randbelow(1 << 32) if seed is None else seed, QUICK if quick else 1.0
    say(f"threads with --seed {chosen}")
    rng, shared, interval = Random(chosen), Shared.trained(), sys.getswitchinterval()
    sys.setswitchinterval(SWITCHES)
    try:
        with shared.asked_by(THREADS, rng):
            time.sleep(seconds * part)
        say(f"{shared.counts['answers']:,} answers of {THREADS} threads")
        with shared.asked_by(BESIDE_FORKS, rng, _compile_until):
            for number in range(round(times * part)):
                shared.counts[_forked(shared, number % len(shared.questions))] += 1
    finally:
        sys.setswitchinterval(interval)
    counts = {name: shared.counts[name] for name in COUNTS}
    forks = sum(
        shared.counts[name] for name in ("right_in_children", "different_in_children", "late_children")
    )
    return {**counts, "threads": THREADS, "forks": forks, "seed": chosen}


def _forked(shared: Shared, question: int) -> str:
    """How a child answers that is forked now, which also compiles."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if shared.is_right(question) and _compiled(3) == 4 else 2
        finally:
            os._exit(code)
    status = _awaited(child)
    return "late_children" if status is None else "different_in_children" if status else "right_in_children"


def _awaited(child: int) -> int | None:
    """The status with which a child ends; None if it has not in time, and is ended."""
    latest = time.monotonic() + LATEST
    while time.monotonic() < latest:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def _compiled(x: int) -> int:
    from numba import njit

    return int(njit(lambda y: y + 1)(x))


def _compile_until(stop: threading.Event) -> None:
    while not stop.is_set():
        _compiled(1)


def failed(result: Result) -> bool:
    """Whether anything went wrong."""
    return any(result[kind] for kind in FAILURES)


def table(result: Result) -> list[list[str]]:
    """One row per count, the head first."""
    return [["what", "number"], *([name.replace("_", " "), f"{result[name]:,}"] for name in COUNTS)]
