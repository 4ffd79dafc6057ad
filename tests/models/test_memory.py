"""`models/memory/`: small cases worked out by hand, options, errors, saving."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from naive_neighbours import Scan

import conseq
from conseq import persist
from conseq.errors import ConseqError, DataError, ModelError
from conseq.models.memory import Memory, MemoryLearner
from conseq.models.memory.measure import DISTANCES
from conseq.models.memory.weights import WEIGHTS, Table, binned
from conseq.options import NeighbourOptions

PLAIN = {"weights": "none", "n_jobs": 1}

# two features, no weights: "b q" is 1 from both b's, 2 from the others
ROWS = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "z"], ["c", "y"]]
CLASSES = ["A", "B", "A", "C", "C"]


def learner(rows=ROWS, classes=CLASSES, **options) -> MemoryLearner:
    return MemoryLearner(**{**PLAIN, **options}).fit(rows, classes)


def votes(of: MemoryLearner, row: list[str]) -> dict[str, float]:
    found = of.classify([row])
    return {of.classes_[c]: v for c, v in zip(found.cls.tolist(), found.vote.tolist(), strict=True)}


# ── ties ────────────────────────────────────────────────────────────────────────────────────────


def test_a_tie_looks_one_distance_further():
    """A and B at distance 1, then A at 2."""
    rows, classes = [["a", "q"], ["b", "q"], ["b", "r"]], ["B", "A", "A"]
    one = learner(rows, classes)
    assert one.predict([["c", "q"]]) == ["A"]
    assert votes(one, ["c", "q"]) == {"A": 2, "B": 1}
    assert one.classify([["c", "q"]]).tied.tolist() == [True]


def test_the_class_that_breaks_a_tie_need_not_be_one_of_the_tied():
    rows = [["a", "b", "c"], ["a", "b", "d"], ["a", "x", "y"], ["a", "x", "z"], ["a", "q", "z"]]
    assert learner(rows, ["A", "B", "C", "C", "C"]).predict([["a", "b", "q"]]) == ["C"]


def test_a_tie_that_stays_goes_to_the_more_frequent_class_of_the_first_votes():
    """B and C at distance 1, A at 2: a tie of three, but A had no vote at first."""
    rows = [["a", "q", "s"], ["b", "q", "s"], ["a", "r", "s"], ["z", "z", "z"]]
    one, even = learner(rows, ["B", "C", "A", "C"]), learner(rows[:3], ["B", "C", "A"])
    assert votes(one, ["x", "q", "s"]) == votes(even, ["x", "q", "s"]) == {"B": 1, "C": 1}
    assert one.predict([["x", "q", "s"]]) == ["C"]
    assert even.predict([["x", "q", "s"]]) == ["B"]  # as frequent as C, seen first


def test_no_further_distance_leaves_the_tie_to_frequency():
    rows, classes = [["a", "q"], ["b", "q"]], ["B", "A"]
    assert learner(rows, classes).predict([["c", "q"]]) == ["B"]


# ── voting ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"voting": "majority"}, {"A": 2, "B": 1, "C": 2}),
        ({"voting": "inverse-distance"}, {"A": 1 + 1 / 2, "B": 1 / 2, "C": 1 + 1 / 2}),
        ({"voting": "inverse-linear"}, {"A": 1, "C": 1}),
        (
            {"voting": "exponential-decay", "a": 2.0, "b": 3.0},
            {"A": math.exp(-2) + math.exp(-16), "B": math.exp(-16), "C": math.exp(-2) + math.exp(-16)},
        ),
    ],
)
def test_each_voting_weighs_the_two_distances(options, expected):
    assert votes(learner(k=2, **options), ["b", "q"]) == pytest.approx(expected)


def test_an_exact_match_wins_by_inverse_distance():
    one = learner(k=2, voting="inverse-distance")
    assert one.predict([["a", "y"]]) == ["B"]
    assert one.predict_proba([["a", "y"]])[0, 1] == pytest.approx(1.0)


def test_votes_that_decay_to_nothing_are_equal():
    one = learner(k=2, voting="exponential-decay", a=1e6)
    assert one.predict_proba([["b", "q"]])[0] == pytest.approx([0.4, 0.2, 0.4])


def test_inverse_linear_with_one_distance_is_majority():
    assert votes(learner(voting="inverse-linear"), ["a", "y"]) == {"B": 1}


# ── metrics and weights ─────────────────────────────────────────────────────────────────────────


def test_mvdm_by_hand():
    """p(A|a) = ½, p(B|a) = ½; p(A|b) = ½, p(C|b) = ½: half of |½−½| + ½ + ½."""
    one = learner(distance="mvdm", k=9)
    assert one.kneighbors([["b", "x"]])[0] == [(0.0, [2]), (0.5, [0]), (1.0, [3]), (1.5, [1, 4])]


@pytest.mark.parametrize(
    ("metric", "a_b", "b_c"),
    [
        ("mvdm", 5 / 12, 0.75),
        ("jensen-shannon", 0.20798473969194, 0.54879494069540),
        ("jeffrey", 0.46854635407652, 1.125),
    ],
)
def test_value_differences_are_those_of_timbl(metric, a_b, b_c):
    """What TiMBL 6.5 prints with -m M, S or J, -w 0 -k 9 +vdi; a: ⅔ A ⅓ B, b: ¼ A ½ B ¼ C, c: C."""
    rows, classes = [[v] for v in "aaabbbbc"], [*"AAB", *"ABBC", "C"]
    one = learner(rows, classes, distance=metric, k=9)
    of_a, of_b = ({rows[m[0]][0]: d for d, m in found} for found in one.kneighbors([["a"], ["b"]]))
    assert of_a == pytest.approx({"a": 0.0, "b": a_b, "c": 1.0})
    assert of_b == pytest.approx({"a": a_b, "b": 0.0, "c": b_c})


def test_values_never_seen_are_at_distance_one():
    for metric in ("overlap", "mvdm", "jensen-shannon", "jeffrey"):
        assert learner(distance=metric).kneighbors([["new", "new"]])[0] == [(2.0, [0, 1, 2, 3, 4])]


@pytest.mark.parametrize("metric", ["overlap", "mvdm"])
@pytest.mark.parametrize("value", [2, 4, 9])
def test_an_id_that_only_another_feature_has_counts_as_never_seen(metric, value):
    """Features may share ids; 0 and 3 of the first one are alike, 2 and those above 3 do not occur in it."""
    ids = np.array([[0, 0], [1, 1], [3, 0]], dtype=np.int32)
    options = NeighbourOptions((metric,) * 2, weights="none", k=3)
    memory = Memory.build(ids, np.array([0, 1, 0], dtype=np.int32), options)
    found = memory.neighbours(np.array([[value, 0], [-1, 0]], dtype=np.int32))
    assert found.instance.tolist() == [0, 2, 1, 0, 2, 1]
    assert found.distance.tolist() == [1.0, 1.0, 2.0, 1.0, 1.0, 2.0]


def test_numbers_are_divided_by_their_range_and_may_lie_outside():
    rows = [["1", "x"], ["3", "x"], ["9", "y"]]
    one = learner(rows, ["A", "B", "C"], distance=["numeric", "overlap"], k=3)
    assert one.kneighbors([["17", "x"]])[0] == [(1.75, [1]), (2.0, [0, 2])]
    assert one.set_params(k=1).fit(rows, ["A", "B", "C"]).predict([["2.9", "x"], [8, "y"]]) == ["B", "C"]


def test_numbers_written_in_two_ways_are_the_same():
    one = learner([["1", "x"], ["1.0", "x"], ["2", "x"]], ["A", "B", "B"], distance=["numeric", "overlap"])
    assert one.kneighbors([["1.00", "x"]])[0] == [(0.0, [0, 1])]


def test_bins_have_equally_many_distinct_numbers():
    """45 numbers in 20 bins: five of three, then fifteen of two, as TiMBL has them."""
    bins = binned(np.repeat(np.arange(45.0), 3))
    assert np.bincount(bins).tolist() == [9] * 5 + [6] * 15


def test_weights_by_hand():
    """Two values that tell two classes apart, and a third class that goes with either."""
    table = Table.of(np.array([0, 0, 1, 1]), np.array([0, 2, 1, 2]), 2, 3)
    found = {name: weight(table) for name, weight in WEIGHTS.items()}
    assert found == pytest.approx(
        {
            "none": 1.0,
            "information-gain": 0.5,
            "gain-ratio": 0.5,
            "chi-squared": 2.0,
            "shared-variance": 0.5,
        }
    )


def test_a_feature_with_one_value_weighs_nothing():
    table = Table.of(np.zeros(3, dtype=int), np.array([0, 1, 1]), 1, 2)
    assert [weight(table) for name, weight in WEIGHTS.items() if name != "none"] == [0.0] * 4


@pytest.mark.parametrize("metric", ["overlap", "mvdm", "jensen-shannon", "jeffrey", "numeric", "mixed"])
@pytest.mark.parametrize("voting", ["majority", "exponential-decay"])
def test_a_learner_agrees_with_a_scan(metric, voting):
    rng = np.random.default_rng(5)
    rows, classes = rng.integers(0, [2, 5, 200], (400, 3)), rng.integers(0, 6, 400)
    queries = rng.integers(0, [3, 6, 220], (60, 3))
    metrics = ["overlap", "mvdm", "numeric"] if metric == "mixed" else [metric] * 3
    one = MemoryLearner(metrics, k=2, voting=voting, n_jobs=2).fit(rows.tolist(), classes.tolist())
    order, kinds = one.model_.order, DISTANCES
    scale = np.ptp(rows, axis=0)[order]
    place = {c: i for i, c in enumerate(one.classes_)}
    scan = Scan(
        rows[:, order].tolist(),
        [place[c] for c in classes.tolist()],
        [kinds[metrics[f]] for f in order],
        one.model_.weights[order].tolist(),
        (rows[:, order] / scale).tolist(),
    )
    found = one.classify(queries.tolist())
    for i, query in enumerate(queries):
        number = (query[order] / scale).tolist()
        expected, _, tied = scan.classify(query[order].tolist(), 2, voting, number=number)
        assert (found.winner[i], found.tied[i]) == (expected, tied)


# ── the learner ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("way", ["majority", "inverse-linear"])
def test_one_search_serves_every_k_and_way_to_vote(way):
    rng = np.random.default_rng(8)
    ids, classes = rng.integers(0, [3, 9, 40], (300, 3)).astype(np.int32), rng.integers(0, 5, 300)
    classes = np.unique(classes, return_inverse=True)[1].astype(np.int32)
    queries = rng.integers(0, [3, 9, 40], (50, 3)).astype(np.int32)
    options = NeighbourOptions(("jensen-shannon",) * 3, k=1)
    one = Memory.build(ids, classes, options)
    found = one.search(queries, k=6)
    for k in (1, 3, 5):
        again = one.recount(found, k, way)
        once = Memory.build(ids, classes, replace(options, k=k, voting=way)).classify(queries)
        assert again.winner.tolist() == once.winner.tolist()
        assert (again.indptr.tolist(), again.cls.tolist()) == (once.indptr.tolist(), once.cls.tolist())
        assert again.vote == pytest.approx(once.vote)


def test_it_is_part_of_the_package():
    assert conseq.MemoryLearner is MemoryLearner


def test_probabilities_are_shares_in_the_order_of_classes():
    one = learner(k=2)
    shares = one.predict_proba([["b", "q"], ["a", "x"]])
    assert one.classes_ == ["A", "B", "C"]
    assert shares == pytest.approx(np.array([[0.4, 0.2, 0.4], [2 / 3, 1 / 3, 0]]))


def test_equal_queries_and_any_number_of_threads_give_the_same():
    rng = np.random.default_rng(1)
    rows, classes = rng.integers(0, 4, (300, 4)).tolist(), rng.integers(0, 3, 300).tolist()
    queries = rng.integers(0, 4, (500, 4)).tolist()
    one, two = learner(rows, classes, k=2), learner(rows, classes, k=2, n_jobs=3)
    alone = [one.predict([query])[0] for query in queries]
    assert one.predict(queries) == two.predict(queries) == alone
    assert np.array_equal(one.predict_proba(queries), two.predict_proba(queries))


def test_igtree_takes_the_default_of_the_last_match():
    """Under a there are A, A and B."""
    rows = [["a", "x"], ["a", "x"], ["a", "y"], ["b", "z"], ["b", "z"]]
    one = MemoryLearner(algorithm="igtree", weights="none").fit(rows, ["A", "A", "B", "C", "C"])
    assert one.predict([["a", "new"], ["a", "y"], ["new", "y"]]) == ["A", "B", "A"]
    assert one.classify([["a", "new"]]).distance.tolist() == [1]


def test_classes_and_values_need_not_be_strings():
    one = MemoryLearner().fit([(1, True), (2, False)], [7, 8])
    assert one.predict([(1, True), (2, True)])[0] == 7


def test_an_empty_list_of_queries_gives_an_empty_answer():
    one = learner()
    assert (one.predict([]), one.kneighbors([]), one.predict_proba([]).shape) == ([], [], (0, 3))


@pytest.mark.parametrize("metric", ["overlap", "mvdm", ["mvdm", "numeric"]])
def test_a_saved_learner_answers_as_before(tmp_path, metric):
    rng = np.random.default_rng(2)
    rows, classes = rng.integers(0, 300, (400, 2)).tolist(), list(map(str, rng.integers(0, 3, 400).tolist()))
    queries = rng.integers(0, 330, (50, 2)).tolist()
    one = MemoryLearner(distance=metric, k=3, voting="exponential-decay", a=2.0).fit(rows, classes)
    persist.save(tmp_path / "model", one.archive())
    two = MemoryLearner.from_archive(persist.load(tmp_path / "model"))
    assert two.predict(queries) == one.predict(queries)
    assert two.kneighbors(queries) == one.kneighbors(queries)
    assert np.array_equal(two.predict_proba(queries), one.predict_proba(queries))


def test_it_is_cloned_and_searched_like_any_estimator():
    base = pytest.importorskip("sklearn.base")
    selection = pytest.importorskip("sklearn.model_selection")
    rows, classes = [["a", "x"], ["b", "y"]] * 10, ["A", "B"] * 10
    copy = base.clone(MemoryLearner(k=3))
    assert copy.k == 3
    search = selection.GridSearchCV(copy, {"k": [1, 2]}, cv=2).fit(rows, classes)
    assert search.best_score_ == 1.0


# ── what is wrong ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": 0}, "k is 0; give a whole number of at least 1"),
        ({"k": 1.5}, "k is 1.5"),
        ({"a": -1.0}, "a is -1.0 and b is 1.0; give a of at least 0 and b above 0"),
        (
            {"distance": "cosine"},
            "there is no distance 'cosine'; choose one of overlap, mvdm, jensen-shannon, jeffrey, numeric",
        ),
        ({"distance": ["overlap"]}, "1 distances for 2 features"),
        ({"weights": "gr"}, "there is no weights 'gr'; choose one of none, gain-ratio"),
        ({"voting": "loud"}, "there is no voting 'loud'"),
        ({"algorithm": "ib3"}, "there is no algorithm 'ib3'; choose one of ib1, igtree"),
    ],
)
def test_wrong_options_get_one_sentence(options, said):
    with pytest.raises(ConseqError, match=said):
        learner(**options)


@pytest.mark.parametrize(
    ("rows", "classes", "metric", "said"),
    [
        ([], [], "overlap", "there is nothing to learn from"),
        ([["a"]], ["A", "B"], "overlap", "1 rows and 2 classes"),
        ([["a"], ["b", "c"]], ["A", "B"], "overlap", "row 1 has 2 values where 1 are needed"),
        ([[]], ["A"], "overlap", "the rows are empty"),
        ([["1"], ["one"]], ["A", "B"], "numeric", "row 1 has 'one' for feature 0, which is numeric"),
        ([["1"], ["nan"]], ["A", "B"], "numeric", "row 1 has 'nan'"),
    ],
)
def test_wrong_training_data_gets_one_sentence(rows, classes, metric, said):
    with pytest.raises(DataError, match=said):
        learner(rows, classes, distance=metric)


def test_wrong_queries_get_one_sentence():
    with pytest.raises(DataError, match="row 1 has 1 values where 2 are needed"):
        learner().predict([["a", "x"], ["a"]])
    with pytest.raises(DataError, match="row 0 has 'x' for feature 0, which is numeric"):
        learner([["1"]], ["A"], distance="numeric").predict([["x"]])
    with pytest.raises(ConseqError, match="n_jobs is 0; give at least 1"):
        learner(n_jobs=0).predict([["a", "x"]])
    with pytest.raises(ModelError, match="call fit"):
        MemoryLearner().predict([["a"]])
    memory = Memory.build(np.zeros((1, 2), np.int32), np.zeros(1, np.int32), NeighbourOptions())
    with pytest.raises(DataError, match="an instance has 3 features where those in memory have 2"):
        memory.classify(np.zeros((1, 3), dtype=np.int32))


def test_only_classes_that_are_strings_are_saved():
    with pytest.raises(ModelError, match="strings"):
        learner(ROWS, [1, 2, 1, 3, 3]).archive()


def test_metric_is_another_name_for_distance():
    rows, classes = [["a", "x"], ["b", "x"], ["c", "y"], ["a", "y"]] * 3, ["one", "one", "two", "two"] * 3
    asked = [["b", "y"], ["c", "x"], ["z", "x"]]
    by_metric = MemoryLearner(metric="mvdm", weights="none", k=2).fit(rows, classes)
    by_distance = MemoryLearner(distance="mvdm", weights="none", k=2).fit(rows, classes)
    overlap = MemoryLearner(weights="none", k=2).fit(rows, classes)
    assert by_metric.kneighbors(asked) == by_distance.kneighbors(asked) != overlap.kneighbors(asked)
