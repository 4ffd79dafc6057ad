"""`optimise/progressive.py`: schedules by hand, who goes on, searches with a known answer, how they end."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conseq.errors import ConseqError
from conseq.optimise.progressive import Trial, progressive_sampling, schedule, survivors, usual_rounds


def told(score):
    """A trial whose score does not depend on the samples."""
    return lambda setting, train, test: score(setting)


def sizes(search):
    return [(done.train, done.test, len(done.trials)) for done in search.rounds]


# ── the schedule ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("n", "first", "rounds", "wanted"),
    [
        (10_000, 500, 5, [(500, 125), (1000, 250), (2000, 500), (4000, 1000), (8000, 2000)]),
        (1000, 100, 4, [(100, 25), (200, 50), (400, 100), (800, 200)]),
        (1000, 0.1, 2, [(100, 25), (800, 200)]),
        (1000, 500, 1, [(800, 200)]),
        (100, 500, 3, [(80, 20)]),  # the first sample is already all
        (5, 1, 3, [(1, 1), (2, 1), (4, 1)]),
        (3, 1, 4, [(1, 1), (2, 1)]),  # the same size comes once
        (2, 500, 1, [(1, 1)]),
        (2, 0.001, 1, [(1, 1)]),
    ],
)
def test_schedules_by_hand(n, first, rounds, wanted):
    assert schedule(n, first, rounds) == wanted


@pytest.mark.parametrize(
    ("settings", "n", "first", "wanted"),
    [
        (1, 10_000, 500, 1),
        (2, 10_000, 500, 1),  # two meet on all data
        (3, 10_000, 500, 2),
        (16, 10_000, 500, 4),
        (1000, 10_000, 500, 5),  # 500, 1000, …, 8000
        (16, 600, 500, 1),
        (16, 2, 500, 1),
    ],
)
def test_the_usual_rounds_by_hand(settings, n, first, wanted):
    assert usual_rounds(settings, n, first) == wanted


@given(st.integers(2, 5000), st.floats(0.001, 3000), st.integers(1, 30))
def test_samples_grow_and_fit(n, first, rounds):
    plan = schedule(n, first, rounds)
    assert len(plan) <= rounds
    assert all(a < b and c <= d for (a, c), (b, d) in pairwise(plan))
    assert all(train >= 1 and test >= 1 for train, test in plan)
    assert plan[-1][0] + plan[-1][1] <= n


# ── who goes on ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("scores", "rounds", "wanted"),
    [
        ([4, 3, 2, 1], 2, [0, 1]),
        (list(range(16)), 4, list(range(8, 16))),
        (list(range(8)), 3, list(range(4, 8))),
        (list(range(12)), 4, list(range(5, 12))),  # 12^¾ = 6.4
        ([1, 2], 3, [1]),  # one goes in any case
        ([1, 2, 2], 1, [1, 2]),
        ([3, 2, 2, 2, 1], 2, [0, 1, 2, 3]),  # equals of the last that goes on
        ([3, 1, 1, 1], 2, [0]),  # but never the lowest
        ([1, 1, 1], 2, [0, 1, 2]),
        ([5], 3, [0]),
    ],
)
def test_survivors_by_hand(scores, rounds, wanted):
    assert survivors(scores, rounds) == wanted


# ── searches ────────────────────────────────────────────────────────────────────────────────────


def test_all_meet_first_and_few_at_last():
    search = progressive_sampling(range(16), told(lambda k: -abs(k - 11.2)), 100_000)
    assert (search.best, search.status) == (11, "finished")
    assert sizes(search) == [(500, 125, 16), (2714, 679, 8), (14_736, 3684, 4), (80_000, 20_000, 2)]
    assert search.score == search.rounds[-1].best.score


def test_samples_are_nested_disjoint_and_the_same_for_all_settings():
    seen = {}

    def trial(setting, train, test):
        seen.setdefault(len(train), []).append((train, test))
        return setting

    progressive_sampling(range(8), trial, 1000, first=50)
    every = [pairs[0] for _, pairs in sorted(seen.items())]
    assert len(every) == 3
    for pairs in seen.values():
        assert all(np.array_equal(a, pairs[0][0]) and np.array_equal(b, pairs[0][1]) for a, b in pairs)
    for (a, c), (b, d) in pairwise(every):
        assert set(a) < set(b)
        assert set(c) < set(d)
    train, test = every[-1]
    assert sorted([*train, *test]) == list(range(1000))


def coin(setting, train, test):
    """The share of right answers on a test sample, of a setting that is right in `setting` of 100 cases."""
    answers = np.random.default_rng(setting).random(20_000) < setting / 100
    return answers[test].mean()


def test_the_best_is_found_in_spite_of_noisy_samples():
    """On 100 cases the best of eleven is often not the one that is right most often; on 4,000 it is."""
    settings, seeds = range(70, 92, 2), range(40)
    searches = [progressive_sampling(settings, coin, 20_000, first=400, seed=seed) for seed in seeds]
    at_once = sum(search.rounds[0].best.setting == 90 for search in searches)
    at_last = sum(search.best == 90 for search in searches)
    assert all(search.rounds[0].test == 100 for search in searches)
    assert at_once < 32
    assert at_last >= 38


def test_more_rounds_drop_slower():
    search = progressive_sampling(range(40), told(lambda k: k), 100_000, rounds=20)
    counts = [len(done.trials) for done in search.rounds]
    assert counts[:3] == [40, 34, 29]
    assert search.best == 39


def test_the_seed_decides():
    one, same, other = (
        progressive_sampling(range(20, 40), coin, 20_000, first=40, seed=s) for s in (3, 3, 4)
    )
    assert one == same
    assert one.rounds != other.rounds


def test_equals_are_kept_and_the_first_wins():
    settings = [{"k": 3}, {"k": 1}, {"k": 2}, {"k": 1}]  # need not be hashable
    search = progressive_sampling(settings, told(lambda s: 0.5), 10_000)
    assert search.best is settings[0]
    assert [len(done.trials) for done in search.rounds] == [4, 4]


scores = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


@given(
    st.lists(st.lists(scores | st.none(), min_size=8, max_size=8), min_size=1, max_size=12),
    st.integers(2, 3000),
    st.integers(1, 8),
)
def test_nothing_wins_that_another_beats_in_every_round(table, n, rounds):
    """Each setting has a score, or a failure, for each round."""

    def trial(setting, train, test):
        score = table[setting][order.index(len(train))]
        if score is None:
            raise ConseqError("bad luck")
        return score

    order = [size for size, _ in schedule(n, 10, rounds)]
    try:
        search = progressive_sampling(range(len(table)), trial, n, first=10, rounds=rounds)
    except ConseqError:
        assert any(None in row for row in table)
        return
    met = [{one.setting: one.score for one in done.trials} for done in search.rounds]
    for other in {k for known in met for k in known} - {search.best}:
        both = [(known[search.best], known[other]) for known in met if other in known]
        assert not all(b is not None and b > a for a, b in both)
    for before, after in pairwise(met):
        assert len(after) < len(before) or len(set(before.values())) == 1
        assert list(after) == sorted(after)
    if search.score is not None:
        first = next(k for k, score in met[-1].items() if score == search.score)
        assert (search.best, search.score) == (first, max(s for s in met[-1].values() if s is not None))


# ── odd ends ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_a_handful_of_data_is_enough(n):
    search = progressive_sampling(range(5), told(lambda k: -abs(k - 2)), n)
    assert search.best == 2
    assert sizes(search)[-1][2] > 1
    assert all(train + test <= n for train, test, _ in sizes(search))


def test_a_single_setting_needs_no_trial():
    search = progressive_sampling(["only"], told(lambda _: pytest.fail("tried")), 100)
    assert (search.best, search.score, search.rounds) == ("only", None, ())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n": 1}, "give 2 sequences or instances at least, not 1"),
        ({"n": 0}, "at least, not 0"),
        ({"settings": []}, "there are no settings to choose from"),
        ({"first": 0}, "first is 0; give a size of at least 1"),
        ({"first": float("nan")}, "first is nan"),
        ({"first": float("inf")}, "first is inf"),
        ({"rounds": 0}, "rounds is 0; give at least 1"),
    ],
)
def test_what_cannot_be_searched_is_said_in_a_sentence(change, words):
    with pytest.raises(ConseqError, match=words):
        progressive_sampling(**{"settings": [1, 2], "trial": told(float), "n": 100, **change})


def test_the_last_round_is_ranked_the_best_first():
    scores = {1: 0.2, 2: 0.9, 3: 0.5, 4: 0.9}
    found = progressive_sampling([1, 2, 3, 4], lambda k, *_: scores[k], 100, rounds=1)
    assert found.ranked() == [2, 4, 3, 1]
    assert progressive_sampling([7], lambda *_: 0.0, 100).ranked() == [7]


def test_settings_that_fail_are_dropped_with_the_reason():
    def trial(setting, train, test):
        if setting == 3 or (setting == 2 and len(train) > 500):
            raise ConseqError(f"{setting} is too much")
        return float("nan") if setting == 4 else setting

    search = progressive_sampling([0, 1, 2, 3, 4], trial, 10_000)
    assert search.best == 1
    assert [(one.setting, one.round, one.reason) for one in search.failed] == [
        (3, 1, "3 is too much"),
        (4, 1, "its score is not a number"),
        (2, 2, "2 is too much"),
    ]


def test_other_errors_are_not_hidden():
    with pytest.raises(ZeroDivisionError):
        progressive_sampling([1, 2], lambda setting, train, test: 1 / 0, 100)


def test_if_all_fail_one_sentence_says_why():
    def trial(setting, train, test):
        raise ConseqError("there is no such thing")

    words = "none of the 2 settings can be used; {'k': 1}: there is no such thing"
    with pytest.raises(ConseqError, match=re.escape(words)):
        progressive_sampling([{"k": 1}, {"k": 2}], trial, 100)


def interrupted(after: int, score=float, fails=()):
    """A search over 0 … 7 that is interrupted in the trial after the first `after`."""
    tried = []

    def trial(setting, train, test):
        if len(tried) == after:
            raise KeyboardInterrupt
        tried.append(setting)
        if (setting, len(train)) in fails:
            raise ConseqError("it fails")
        return score(setting)

    return progressive_sampling(range(8), trial, 10_000)


@pytest.mark.parametrize(
    ("after", "best", "trials"),
    [(1, 0, [1]), (3, 2, [3]), (8, 7, [8]), (10, 7, [8, 2]), (13, 7, [8, 4, 1])],
)
def test_an_interrupted_search_has_the_best_so_far(after, best, trials):
    search = interrupted(after)
    assert (search.best, search.score, search.status) == (best, best, "interrupted")
    assert [len(done.trials) for done in search.rounds] == trials


def test_interrupted_it_does_not_return_what_failed_meanwhile():
    assert interrupted(11, lambda k: -k, fails={(0, 2000)}).best == 1


@pytest.mark.parametrize(("after", "fails"), [(0, ()), (1, {(0, 500)})])
def test_interrupted_before_anything_is_known_the_caller_hears_of_it(after, fails):
    with pytest.raises(KeyboardInterrupt):
        interrupted(after, fails=fails)


def test_the_watcher_hears_of_each_trial():
    heard: list[Trial] = []
    search = progressive_sampling("abcd", told(ord), 10_000, watch=heard.append)
    assert [(one.round, one.rounds, one.done, one.of, one.setting) for one in heard] == [
        *((1, 2, k, 4, letter) for k, letter in enumerate("abcd", start=1)),
        *((2, 2, k, 2, letter) for k, letter in enumerate("cd", start=1)),
    ]
    assert tuple(heard) == tuple(one for done in search.rounds for one in done.trials)
