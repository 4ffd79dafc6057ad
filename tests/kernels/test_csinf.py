"""Constraint satisfaction inference, predictions and kernel, against the definition, and a case by hand."""

from __future__ import annotations

import naive_csinf as naive
import numpy as np
import pytest
from numba import config

from conseq.models import trigrams
from conseq.models.distributions import Distributions
from conseq.models.trigrams import OUTSIDE, Predictions, TrigramClasses
from conseq.vocabulary import Vocabulary

SEEDS = range(40 if config.DISABLE_JIT else 300)


def run(cases: list[naive.Case], threads: int = 1) -> tuple[np.ndarray, ...]:
    """predicted, weights, domain, sizes, labels, totals of all sequences."""
    *found, parts, offsets = naive.arrays(cases)
    classes = TrigramClasses(Vocabulary([str(y) for y in range(8)]), parts)
    made = Predictions.of(classes, Distributions.of(range(len(parts)), *found), offsets)
    sizes = (made.domain != OUTSIDE).sum(axis=1)
    return made.predicted, made.weights, made.domain, sizes, *made.solve(threads)


@pytest.mark.parametrize("seed", [0, 1])
def test_random_sequences_have_the_labels_of_the_definition(seed):
    for draw in SEEDS:
        rng = np.random.default_rng([seed, draw])
        n_labels = int(rng.integers(1, 5))
        cases = [naive.random_case(rng, n_labels) for _ in range(rng.integers(1, 4))]
        _, weights, domain, sizes, labels, totals = run(cases)
        a = 0
        for case, total in zip(cases, totals, strict=True):
            b = a + len(case)
            place = f"seed {seed}, draw {draw}"
            assert [domain[t, : sizes[t]].tolist() for t in range(a, b)] == [
                case.proposals(t) for t in range(len(case))
            ], place
            best = case.best()
            assert total == case.total(best), place
            assert tuple(labels[a:b].tolist()) == best, place
            assert weights[a:b].sum() == sum(c.weight for c in case.constraints()), place
            a = b


def test_by_hand():
    """Three tokens. The middle one's trigram is the least sure, and loses against its neighbours.

    Token 0 predicts _ A B for sure: unigrams A, B and bigram AB weigh 1 each. Token 1 predicts A C C with
    0.5 (its neighbourhood also has A B B, 0.25, and B C C, 0.25). Token 2 predicts B B _ with 0.75.
    """
    A, B, C = 0, 1, 2
    case = naive.Case(
        [
            [((None, A, B), 1.0)],
            [((A, C, C), 0.5), ((A, B, B), 0.25), ((B, C, C), 0.25)],
            [((B, B, None), 0.75), ((C, C, None), 0.25)],
        ],
        [0, 0, 0],
    )
    predicted, weights, domain, sizes, labels, totals = run([case])
    assert predicted.tolist() == [[-1, A, B], [A, C, C], [B, B, -1]]
    #                              ABC   left  right  A     B     C
    assert weights.tolist() == [
        [0.0, 0.0, 1.0, 0.0, 1.0, 1.0],
        [0.5, 0.5, 0.75, 0.75, 0.75, 0.75],
        [0.0, 0.75, 0.0, 0.75, 0.75, 0.0],
    ]
    assert [domain[t, : sizes[t]].tolist() for t in range(3)] == [[A], [C, B], [B, C]]
    # A B B: A (1 + .75), B (1 + .75) and AB 1 at token 1, B .75 and BB .75 at token 2
    assert labels.tolist() == [A, B, B]
    assert totals.tolist() == [1.75 + 1.75 + 1.0 + 0.75 + 0.75]


def test_boundary_marks_inside_and_labels_outside_are_dropped():
    """A mark predicted for an inner token proposes nothing; a label for a token beyond the end counts for
    nothing."""
    case = naive.Case([[((5, 1, None), 1.0)], [((None, 2, 7), 1.0)]], [0, 0])
    predicted, weights, _, sizes, labels, totals = run([case])
    assert predicted.tolist() == [[-1, 1, -1], [-1, 2, -1]]
    assert weights.tolist() == [[0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 1, 0]]
    assert sizes.tolist() == [1, 1]
    assert labels.tolist() == [1, 2]
    assert totals.tolist() == [2.0]


def test_parts_of_the_sequences_are_solved_as_the_whole(monkeypatch):
    rng = np.random.default_rng(7)
    cases = [naive.random_case(rng, 3) for _ in range(6)]
    whole = run(cases)
    monkeypatch.setattr(trigrams, "TOKENS_AT_ONCE", 5)
    for threads in (1, 2):
        for one, other in zip(whole, run(cases, threads), strict=True):
            np.testing.assert_array_equal(one, other)


def test_of_equal_labellings_the_last_token_takes_the_first_of_its_domain():
    """A B and C D weigh the same; D is what the last token's own trigram proposes."""
    A, B, C, D = range(4)
    case = naive.Case([[((None, A, B), 0.5)], [((C, D, None), 0.5)]], [0, 0])
    assert case.total((A, B)) == case.total((C, D)) == 1.5
    *_, labels, totals = run([case])
    assert labels.tolist() == [C, D]
    assert totals.tolist() == [1.5]


def test_the_draws_have_ties():
    """Or the random test says nothing of the rule for them."""
    ties = 0
    for draw in range(40):
        case = naive.random_case(np.random.default_rng([0, draw]), 3)
        totals = sorted(map(case.total, case.candidates()))
        ties += len(totals) > 1 and totals[-1] == totals[-2]
    assert ties >= 3
