"""A soak finds what is wrong, counts it and can repeat it."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from benchmarks import soak, soak_inputs, soak_problems
from benchmarks.random_rules import RULES
from benchmarks.soak_crew import Crew, Task
from conseq.constraints import CONSTRAINTS
from conseq.decoders.batch import Decodings


def test_every_class_of_rule_is_drawn():
    assert set(RULES) == set(CONSTRAINTS)


def test_the_same_task_finds_the_same():
    first, again = (soak_problems.run(Task("problems", 3, 1)) for _ in range(2))
    assert first.counts == again.counts
    assert first.examples == again.examples
    assert first.counts["problems"] == 400
    assert first.counts["wrong"] == 0


def test_a_decoder_that_lies_is_found(monkeypatch):
    decode_all = soak_problems.decode_all

    def lying(problems, decoder):
        found = decode_all(problems, decoder)
        return Decodings(
            problems, found.states, found.scores + 1, found.bounds + 1, found.iterations, found.seconds
        )

    monkeypatch.setattr(soak_problems, "decode_all", lying)
    found = soak_problems.run(Task("problems", 3, 1))
    assert found.counts["wrong"] > 100
    assert found.examples[0]["again"].endswith("soak --part problems --seed 3 --number 1")


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (lambda path, rng: os._exit(3), "crashes"),
        (lambda path, rng: bytearray(8 << 30), "crashes"),
        (lambda path, rng: time.sleep(60), "hangs"),
        (lambda path, rng: {}["key"], "tracebacks"),
    ],
    ids=["crash", "memory", "hang", "traceback"],
)
def test_a_reader_that_fails_is_counted(monkeypatch, read, kind):
    text = replace(soak_inputs.KINDS["rules"], read=read)
    monkeypatch.setattr(soak_inputs, "KINDS", {"rules": text})
    found = []
    crew = Crew(soak_inputs.run, {"inputs": 1.0}, soak_inputs.begun, size=1)
    crew.run(iter([Task("inputs", 0, 0)]), time.monotonic() + 30, lambda one, seconds: found.append(one))
    assert [one.counts[kind] for one in found] == [1]
    assert [one.counts["inputs"] for one in found] == [1]


def test_the_command(run):
    found = run("soak", "--part", "problems", "--seed", "3", "--number", "1")
    assert found.code == 0
    assert "soak with --seed 3" in found.err
    assert soak.failed({**dict.fromkeys(soak.FAILURES, 0), "hangs": 1})
