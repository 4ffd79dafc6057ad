"""`docs/architecture.md` is true to the code: what it says is called exists, and is called in that order."""

from __future__ import annotations

import importlib
import re
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

import conseq
from conseq.datasets import load

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
RULES = """
at most 1 segment of title    penalty 4
at most 1 segment of date     penalty 3
if journal then volume        penalty 2
no title before author        penalty 3
"""


def steps() -> list[list[str]]:
    """The dotted names of each step of the list of calls."""
    section = PAGE.read_text(encoding="utf-8").split("### One citation's way through the code")[1]
    section = section.split("\n## ")[0]
    return [
        re.findall(r"`(conseq(?:\.\w+)+)`", step) for step in re.split(r"^\d+\. ", section, flags=re.M)[1:]
    ]


def found(name: str) -> Any:
    """What a dotted name stands for."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            thing = getattr(thing, part)
        return thing.func if isinstance(thing, cached_property) else thing
    raise ModuleNotFoundError(name)


def test_every_name_is_there():
    names = [name for step in steps() for name in step]
    assert len(names) > 15
    for name in names:
        assert callable(found(name)), name


def test_a_citation_takes_this_way():
    """Of the Python functions named, each is called, and each step after the one before it.

    What the branches of a step do (a second step where the first suffices) depends on the citation; many are
    labelled one by one, and together they take every branch.
    """
    labeller = conseq.SequenceLabeller("fields", max_iterations=30, n_jobs=1, constraints=RULES)
    labeller.fit(load("citations", 150, seed=0))
    test = load("citations", 60, seed=1)
    first: dict[str, int] = {}
    order = [first_calls(labeller, test.select([i])) for i in range(len(test))]
    longest = max(order, key=len)
    for calls in [longest, *order]:
        for name, place in calls.items():
            first.setdefault(name, place)
    wanted = [[n for n in step if python_name(n)] for step in steps()]
    for step in wanted:
        for name in step:
            assert python_name(name) in first, f"{name} is not called"
    begins = [
        min(longest[python_name(n)] for n in step)
        for step in wanted
        if all(python_name(n) in longest for n in step)
    ]
    assert len(begins) >= 5
    assert begins == sorted(begins)


def python_name(name: str) -> str | None:
    """File and qualified name of a Python function; None for kernels and classes."""
    thing = found(name)
    code = getattr(getattr(thing, "__func__", thing), "__code__", None)
    return None if code is None else f"{code.co_filename}:{code.co_qualname}"


def first_calls(labeller: conseq.SequenceLabeller, one: conseq.Corpus) -> dict[str, int]:
    """Functions called to label a sequence, with the place of the first call."""
    calls: dict[str, int] = {}

    def watch(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            calls.setdefault(f"{frame.f_code.co_filename}:{frame.f_code.co_qualname}", len(calls))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        labeller.label(one)
    finally:
        sys.setprofile(before)
    return calls
