"""A soak: random problems and damaged files, as many as the time allows, and nothing may go wrong.

    problems    small ones, where the truth is known by trying all labellings    `soak_problems.py`
    sizes       as large as people's: all decoders against each other            `soak_sizes.py`
    inputs      models, corpora, rules, templates with damage                    `soak_inputs.py`

    seed ─→ tasks, numbered in each part ─→ two processes ─→ counts, examples with the command to repeat each

The same seed draws the same tasks; how many of them there is time for depends on the machine.
"""

from __future__ import annotations

import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks import soak_inputs, soak_problems, soak_sizes
from benchmarks.random_rules import RULES
from benchmarks.soak_crew import EXAMPLES, PARTS, Crew, Findings, Task
from conseq.constraints import CONSTRAINTS
from conseq.errors import ConseqError

FAILURES = ("wrong", "worse_than_another_decoder", "tracebacks", "crashes", "hangs")
COUNTS = ("problems", "inputs", "models", "answers", *FAILURES)
SHARES = {"problems": 0.5, "sizes": 0.25, "inputs": 0.25}
"""Of the time."""
HANGS = {"problems": 120.0, "sizes": 120.0, "inputs": 10.0}
"""Seconds after which a task of a part is given up."""
PROCESSES = 2
QUICK = 0.1
"""Of the minutes."""

Say = Callable[[str], None]
Result = dict[str, Any]


def run_task(task: Task) -> Findings:
    """One task of any part."""
    parts = {"problems": soak_problems.run, "sizes": soak_sizes.run, "inputs": soak_inputs.run}
    return parts[task.part](task)


@dataclass
class Plan:
    """Which task comes next: one of the part that has had the least of its share of the time."""

    seed: int
    parts: tuple[str, ...]
    number: int | None = None
    used: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    given: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Task]:
        if self.number is not None:
            yield from (Task(part, self.seed, self.number) for part in self.parts)
            return
        while True:
            part = min(self.parts, key=lambda part: (self.used[part] / SHARES[part], -SHARES[part]))
            self.used[part] += 1e-3  # so that two processes do not begin with the same
            yield Task(part, self.seed, self.given[part])
            self.given[part] += 1


@dataclass
class Total:
    """What all tasks found."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: list[dict[str, Any]] = field(default_factory=list)

    def take(self, found: Findings) -> None:
        self.counts.update(found.counts)
        for example in found.examples:
            if len(self.examples) < EXAMPLES:
                self.examples.append(example)

    def line(self) -> str:
        failed = sum(self.counts[kind] for kind in FAILURES)
        return f"{self.counts['problems']:,} problems · {self.counts['inputs']:,} inputs · {failed} failures"


def run(
    *,
    data: object = None,
    quick: bool = False,
    say: Say = print,
    minutes: float = 1.0,
    seed: int | None = None,
    part: str | None = None,
    number: int | None = None,
    processes: int = PROCESSES,
) -> Result:
    """Work for some minutes; `part` and `number` choose a part, or one task of it."""
    _check_table()
    chosen = secrets.randbelow(1 << 32) if seed is None else seed
    say(f"soak with --seed {chosen}")
    begun, total = time.monotonic(), Total()
    plan = Plan(chosen, PARTS if part is None else (part,), number)
    deadline = begun + 60 * minutes * (QUICK if quick else 1.0)
    interrupted = False
    if "inputs" in plan.parts:
        soak_inputs.prepare()
    crew = Crew(run_task, HANGS, soak_inputs.begun, 1 if number is not None else processes)
    try:
        with shown(total) as renew:

            def take(found: Findings, seconds: float) -> None:
                plan.used[found.task.part] += seconds
                total.take(found)
                renew()

            crew.run(iter(plan), deadline if number is None else float("inf"), take)
    except KeyboardInterrupt:
        interrupted = True
    counts = {name: total.counts[name] for name in COUNTS}
    seconds = round(time.monotonic() - begun, 1)
    ended = {"seed": chosen, "seconds": seconds, "interrupted": interrupted, "examples": total.examples}
    return {**counts, **ended}


def _check_table() -> None:
    """Every class of rule is drawn, or the soak would say less than it seems to."""
    missing = [rule.__name__ for rule in CONSTRAINTS if rule not in RULES]
    if missing:
        raise ConseqError(
            f"no random rule of the class {missing[0]} is drawn; add it to RULES in random_rules.py"
        )


@contextmanager
def shown(total: Total) -> Iterator[Callable[[], None]]:
    """A line with the counts on standard error, renewed by the function, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.live import Live

    with Live(total.line(), console=Console(stderr=True), transient=True, auto_refresh=False) as live:
        yield lambda: live.update(total.line(), refresh=True)


def failed(result: Result) -> bool:
    """Whether anything went wrong."""
    return any(result[kind] for kind in FAILURES)


def table(result: Result) -> list[list[str]]:
    """One row per count, the head first."""
    rows = [[name.replace("_", " "), f"{result[name]:,}"] for name in COUNTS]
    return [["what", "number"], *rows, ["seconds", str(result["seconds"])], ["seed", str(result["seed"])]]


def further(result: Result) -> dict[str, list[list[str]]]:
    """What failed, if anything did."""
    if not result["examples"]:
        return {}
    rows = [
        [one["kind"], one["what"].strip().splitlines()[-1][:150], one["again"]] for one in result["examples"]
    ]
    return {"failures": [["kind", "what", "again with"], *rows]}
