"""`python -m benchmarks limits`: real decoders in processes of their own, and what counts as kept."""

from __future__ import annotations

import pytest

from benchmarks import BENCHMARKS, limits
from conseq.decoders.auto import DECODERS


def test_a_row_says_what_a_limit_came_to():
    result = limits.run(say=lambda line: None, sets=["rules"], tasks=["viterbi"], seconds=(5.0,))
    (row,) = result["rows"]
    assert (row["problem"], row["decoder"], row["asked"], row["status"]) == (
        "rules",
        "viterbi",
        5.0,
        "FEASIBLE",
    )
    assert row["taken"] > 0
    assert row["gap"] > 0
    head, shown = limits.table(result)
    assert len(head) == len(shown)


def test_a_process_that_ends_is_a_row_and_not_the_end():
    found = limits.in_process("rules", "no such decoder", 1.0)
    assert (found["taken"], found["status"]) == (None, "ended by itself")


@pytest.mark.parametrize(("taken", "kept"), [(0.9, True), (1.8, True), (1.81, False), (None, False)])
def test_what_counts_as_kept(taken, kept):
    row = {
        "problem": "rules",
        "decoder": "auto",
        "asked": 1.0,
        "taken": taken,
        "worked": 0.5,
        "gap": None,
        "megabytes": 7,
    }
    row["status"] = "UNKNOWN"
    assert limits.is_kept(row) is kept
    assert limits.failed({"rows": [row]}) is not kept
    assert limits.table({"rows": [row]})[1][5] == ("yes" if kept else "NO")


def test_every_decoder_but_enumeration_is_asked():
    assert set(DECODERS) - set(limits.TASKS) == {"enumerate"}
    assert BENCHMARKS["limits"].sets == tuple(limits.PROBLEMS)
    sizes = {name: make() for name, make in limits.PROBLEMS.items()}
    assert {name: (hard.scores.shape, len(hard.rules)) for name, hard in sizes.items()} == {
        "rules": ((196, 37), 267),
        "agreement": ((5000, 20), 1500),
    }
