"""Scores against sklearn (tokens), seqeval (segments) and naive loops (nesting, bootstrap)."""

from __future__ import annotations

import json
from itertools import chain

import numpy as np
import pytest
import seqeval.metrics
import seqeval.scheme
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from conseq.corpus import Corpus
from conseq.errors import DataError, SchemaError
from conseq.metrics import (
    METRICS,
    Counts,
    bootstrap,
    encode_all,
    evaluate,
    evaluate_ids,
    paired_bootstrap,
    score_ids,
    sequence_counts,
)
from conseq.schema import Schema

LABELS = {
    "plain": ["O", "x", "y"],
    "iob1": ["O", "B-x", "I-x", "B-y", "I-y"],
    "bio": ["O", "B-x", "I-x", "B-y", "I-y"],
    "bioes": ["O", *(f"{p}-{t}" for p in "BIES" for t in "xy")],
    "nested": ["O", "B-a", "I-a", "B-a/B-b", "I-a/B-b", "I-a/I-b", "B-c/B-b"],
}
SEQEVAL = {"iob1": seqeval.scheme.IOB1, "bio": seqeval.scheme.IOB2, "bioes": seqeval.scheme.IOBES}
SCHEME = {**{name: name for name in LABELS}, "nested": "bio"}

quick = settings(deadline=None, max_examples=25)
every_scheme = pytest.mark.parametrize("name", LABELS)

Pair = tuple[list[list[str]], list[list[str]]]


def pairs(name: str) -> st.SearchStrategy[Pair]:
    """Gold and predicted labels of up to five sequences, three quarters of them equal."""
    label = st.sampled_from(LABELS[name])
    token = st.tuples(label, label, st.integers(0, 3)).map(lambda x: (x[0], x[1] if x[2] == 0 else x[0]))
    sequences = st.lists(st.lists(token, max_size=8), min_size=1, max_size=5)
    return sequences.map(lambda s: ([[g for g, _ in t] for t in s], [[p for _, p in t] for t in s]))


def random_pair(name: str, n: int, length: int, seed: int = 0) -> Pair:
    rng = np.random.default_rng(seed)
    gold = rng.choice(LABELS[name], size=(n, length))
    noise = rng.choice(LABELS[name], size=(n, length))
    return gold.tolist(), np.where(rng.random((n, length)) < 0.1, noise, gold).tolist()


# ── tokens ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["plain", "bio", "nested"])
@quick
@given(data=st.data())
def test_token_scores_are_those_of_sklearn(name: str, data: st.DataObject) -> None:
    gold, predicted = data.draw(pairs(name))
    report = evaluate(gold, predicted, SCHEME[name]).to_dict()
    flat_gold, flat_predicted = [*chain(*gold)], [*chain(*predicted)]
    labels = sorted(set(flat_gold) - {"O"})
    assert set(report["token"]["labels"]) == set(labels)
    assert report["tokens"] == len(flat_gold)
    if flat_gold:
        assert report["accuracy"] == pytest.approx(accuracy_score(flat_gold, flat_predicted))
    if not labels:
        assert report["token"]["micro"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0}
        return
    for average in ("micro", "macro"):
        theirs = precision_recall_fscore_support(
            flat_gold, flat_predicted, labels=labels, average=average, zero_division=0
        )
        ours = report["token"][average]
        assert [ours["precision"], ours["recall"], ours["f1"]] == pytest.approx(list(theirs[:3]))
    by_label = precision_recall_fscore_support(flat_gold, flat_predicted, labels=labels, zero_division=0)
    for label, expected in zip(labels, zip(*by_label, strict=True), strict=True):
        ours = report["token"]["labels"][label]
        assert list(ours.values()) == pytest.approx(list(expected))


def test_the_confusion_matrix_is_that_of_sklearn() -> None:
    gold, predicted = random_pair("bio", 20, 10)
    confusion = evaluate(gold, predicted, "bio").confusion
    labels = list(confusion.labels)
    theirs = confusion_matrix([*chain(*gold)], [*chain(*predicted)], labels=labels)
    assert confusion.matrix.tolist() == theirs.tolist()
    top = confusion.top(3)
    wrong = theirs - np.diag(np.diag(theirs))
    assert [n for *_, n in top] == sorted(wrong.ravel().tolist(), reverse=True)[:3]
    assert all(theirs[labels.index(g), labels.index(p)] == n for g, p, n in top)
    assert len(confusion.top(1000)) == np.count_nonzero(wrong)


# ── segments ────────────────────────────────────────────────────────────────────────────────────


def assert_same_scores(ours: dict, theirs: dict) -> None:
    """Our block of a report and seqeval's report as a dictionary."""
    averages = {"micro avg", "macro avg", "weighted avg"}
    keys = ["precision", "recall", "f1-score", "support"]
    for type, scores in theirs.items():
        if type not in averages:
            assert list(ours["labels"][type].values()) == pytest.approx([scores[k] for k in keys])
    assert set(ours["labels"]) == set(theirs) - averages
    total = theirs["micro avg"]
    assert [ours["precision"], ours["recall"], ours["f1"]] == pytest.approx([total[k] for k in keys[:3]])


@pytest.mark.parametrize("mode", [None, "strict"])
@pytest.mark.parametrize("name", SEQEVAL)
@quick
@given(data=st.data())
def test_span_scores_are_those_of_seqeval(name: str, mode: str | None, data: st.DataObject) -> None:
    gold, predicted = data.draw(pairs(name))
    ours = evaluate(gold, predicted, name).to_dict()["span_strict" if mode else "span"]
    if not ours["labels"]:  # seqeval cannot report on no segments at all
        assert ours == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "labels": {}}
        return
    theirs = seqeval.metrics.classification_report(
        gold, predicted, output_dict=True, zero_division=0, mode=mode, scheme=SEQEVAL[name]
    )
    assert_same_scores(ours, theirs)


def naive_counts(gold: list[list[str]], predicted: list[list[str]], scheme: str, metric: str) -> list[Counts]:
    """Tallies per sequence from sets of spans."""
    schema = Schema.infer([*chain(*gold, *predicted)], scheme)
    mode = "strict" if metric == "span_strict_f1" else "conlleval"

    def read(labels: list[str]) -> set:
        spans = schema.spans(labels, mode)
        if metric != "span_leaf_f1":
            return set(spans)
        inner = {(t, s.level) for s in spans for t in range(s.start, s.end)}
        return {s for s in spans if not any((t, s.level + 1) in inner for t in range(s.start, s.end))}

    if metric == "accuracy":
        return [
            Counts(sum(map(str.__eq__, g, p)), len(g), len(g)) for g, p in zip(gold, predicted, strict=True)
        ]
    if metric == "sequence_accuracy":
        pairs = [(g, p) for g, p in zip(gold, predicted, strict=True)]
        return [Counts(int(g == p), 1, 1) if g else Counts(0, 0, 0) for g, p in pairs]
    sets = [(read(g), read(p)) for g, p in zip(gold, predicted, strict=True)]
    return [Counts(len(g & p), len(p), len(g)) for g, p in sets]


@every_scheme
@pytest.mark.parametrize("metric", METRICS)
@quick
@given(data=st.data())
def test_tallies_per_sequence_are_those_of_sets(name: str, metric: str, data: st.DataObject) -> None:
    gold, predicted = data.draw(pairs(name))
    encoded = encode_all(gold, predicted, scheme=SCHEME[name])
    arguments = (encoded.gold, encoded.systems[0], encoded.offsets, encoded.schema, metric)
    expected = naive_counts(gold, predicted, SCHEME[name], metric)
    assert [Counts(*row) for row in sequence_counts(*arguments).tolist()] == expected
    report = evaluate(gold, predicted, SCHEME[name])
    share = metric.endswith("accuracy")
    value = getattr(report, metric) if share else getattr(report, metric[:-3]).total.f1
    assert score_ids(*arguments) == pytest.approx(value)


def test_every_level_counts_and_leaves_have_nothing_below() -> None:
    gold = [["B-authors/B-person", "I-authors/I-person", "I-authors", "B-title"]]
    predicted = [["B-authors/B-person", "I-authors/B-person", "I-authors", "B-title"]]
    report = evaluate(gold, predicted)
    assert report.span.labels == {
        "authors": Counts(1, 1, 1),
        "authors/person": Counts(0, 2, 1),
        "title": Counts(1, 1, 1),
    }
    assert report.span_leaf.labels == {"authors/person": Counts(0, 2, 1), "title": Counts(1, 1, 1)}


# ── the report ──────────────────────────────────────────────────────────────────────────────────


def test_the_report_has_exactly_the_keys_of_the_contract() -> None:
    report = evaluate(*random_pair("bio", 5, 9)).to_dict()
    fractions = {"precision", "recall", "f1"}
    assert list(report) == [
        "tokens", "accuracy", "sequence_accuracy", "token", "span", "span_leaf", "span_strict",
    ]  # fmt: skip
    assert set(report["token"]) == {"micro", "macro", "labels"}
    assert set(report["token"]["micro"]) == set(report["token"]["macro"]) == fractions
    for key in ("span", "span_leaf", "span_strict"):
        assert set(report[key]) == fractions | {"labels"}
        assert all(set(scores) == fractions | {"support"} for scores in report[key]["labels"].values())
    assert json.loads(json.dumps(report)) == report


def test_nothing_to_evaluate_gives_zeros() -> None:
    for gold in ([], [[]], [["O"]]):
        report = evaluate(gold, gold).to_dict()
        assert report["span"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "labels": {}}
        assert report["token"]["labels"] == {}


def test_corpora_are_scored_as_their_labels_are() -> None:
    gold, predicted = random_pair("bio", 12, 6)
    words = [["w"] * 6] * 12
    one, other = (Corpus.from_sequences(words, labels) for labels in (gold, predicted))
    expected = evaluate(gold, predicted).to_dict()
    for pair in ((one, other), (one, predicted), (gold, other)):
        assert evaluate(*pair).to_dict() == expected
    assert paired_bootstrap(one, other, gold) == paired_bootstrap(gold, predicted, gold)


def test_labels_that_the_schema_lacks_are_added() -> None:
    schema = Schema(["O", "B-x"], "bio")
    report = evaluate([["B-x", "I-x"]], [["B-x", "B-z"]], schema)
    assert report.span.labels == {"x": Counts(0, 1, 1), "z": Counts(0, 1, 0)}
    with pytest.raises(SchemaError, match="label 'z' does not fit scheme bio"):
        evaluate([["B-x"]], [["z"]], schema)


def test_the_gold_data_tell_the_scheme() -> None:
    """Read as IOB1 the lone B- is not a strict segment; read as BIO it is."""
    gold = [["I-x", "O", "I-x", "O"]]
    predicted = [["O", "B-x", "O", "O"]]
    assert evaluate(gold, predicted).span_strict.total == Counts(0, 0, 2)
    assert evaluate(gold, predicted, "bio").span_strict.total == Counts(0, 1, 0)


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (
            [["O"], ["O", "O"]],
            [["O"], ["O"]],
            "sequence 1 .* has 2 gold labels and 1 predicted ones",
        ),
        ([["O"]], [["O"], ["O"]], "1 sequences of gold labels but 2 of predicted ones"),
        (
            [["O"], [], ["O", ""]],
            [["O"], [], ["O", "O"]],
            "sequence 2 .* has a token without a label",
        ),
        (["O", "B-x"], ["O", "B-x"], "the label 'O' stands where a sequence should"),
        (Corpus.from_sequences([["a"]]), [["O"]], "the corpus has no labels"),
        (Corpus.from_sequences([["a"]], [[""]]), [["O"]], "sequence 0 .* has a token without a label"),
    ],
)
def test_data_that_do_not_fit(gold: list, predicted: list, message: str) -> None:
    with pytest.raises(DataError, match=message):
        evaluate(gold, predicted)


def test_ids_that_do_not_fit() -> None:
    schema, offsets = Schema(["O", "B-x"], "bio"), np.array([0, 2])
    with pytest.raises(DataError, match="2 gold and 1 predicted labels for 2 tokens"):
        evaluate_ids(np.array([0, 1]), np.array([0]), offsets, schema)
    with pytest.raises(DataError, match=r"token 1 .* has the gold label id -1.*schema\.extended"):
        evaluate_ids(np.array([0, -1]), np.array([0, 1]), offsets, schema)
    with pytest.raises(DataError, match="predicted label id 2"):
        score_ids(np.array([0, 1]), np.array([2, 1]), offsets, schema)
    with pytest.raises(DataError, match="no metric 'bleu'; choose one of accuracy, sequence"):
        score_ids(np.array([0, 1]), np.array([0, 1]), offsets, schema, "bleu")


# ── bootstrap ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("metric", METRICS)
def test_the_bootstrap_is_that_of_a_loop(metric: str) -> None:
    gold, predicted = random_pair("bio", 12, 6, seed=1)
    rng, values = np.random.default_rng(7), []
    for _ in range(200):
        drawn = rng.integers(0, 12, size=12).tolist()
        counts = naive_counts([gold[i] for i in drawn], [predicted[i] for i in drawn], "bio", metric)
        values.append(Counts.total(np.array([[c.correct, c.predicted, c.gold] for c in counts])).f1)
    interval = bootstrap(gold, predicted, "bio", samples=200, seed=7, metric=metric, level=0.9)
    assert list(interval) == pytest.approx(np.quantile(values, [0.05, 0.95]).tolist())


def test_the_interval_holds_the_score_and_depends_on_the_seed_only(monkeypatch: pytest.MonkeyPatch) -> None:
    gold, predicted = random_pair("bio", 200, 10)
    interval = bootstrap(gold, predicted)
    assert interval.low < evaluate(gold, predicted).span.total.f1 < interval.high
    assert bootstrap(gold, predicted, seed=1) != interval
    monkeypatch.setattr("conseq.metrics.resampling.BATCH", 1000)
    assert bootstrap(gold, predicted) == interval


def test_two_systems_compared() -> None:
    gold, good = random_pair("bio", 200, 10)
    _, noise = random_pair("bio", 200, 10, seed=3)
    bad = [n if i % 3 == 0 else g for i, (g, n) in enumerate(zip(good, noise, strict=True))]
    forth, back = paired_bootstrap(gold, bad, good), paired_bootstrap(gold, good, bad)
    assert forth.difference == -back.difference > 0
    assert forth.p_value == back.p_value < 0.01
    assert paired_bootstrap(gold, good, good).p_value == 1.0
    assert forth.second == evaluate(gold, good).span.total.f1


def test_the_p_value_of_equally_good_systems_is_fair() -> None:
    """Two systems with the same rate of errors differ at the 10 % level in about 10 % of trials."""
    small = 0
    for seed in range(100):
        gold, first = random_pair("plain", 60, 5, seed)
        _, swap = random_pair("plain", 60, 5, seed + 1000)
        rng = np.random.default_rng(seed)
        second = np.where(rng.random((60, 5)) < 0.1, swap, gold).tolist()
        result = paired_bootstrap(gold, first, second, samples=200, metric="accuracy")
        small += result.p_value <= 0.1
    assert 2 <= small <= 22


def test_nothing_to_draw() -> None:
    with pytest.raises(DataError, match="0 sequences and 1000 samples leave nothing to draw"):
        bootstrap([], [])


def test_the_interval_of_a_difference_is_that_of_a_loop() -> None:
    gold, first = random_pair("bio", 12, 6, seed=1)
    _, second = random_pair("bio", 12, 6, seed=1)
    second = [g if i % 2 else p for i, (g, p) in enumerate(zip(gold, second, strict=True))]
    rng, values = np.random.default_rng(3), []
    for _ in range(300):
        drawn = rng.integers(0, 12, size=12).tolist()
        sides = [
            naive_counts([gold[i] for i in drawn], [found[i] for i in drawn], "bio", "accuracy")
            for found in (first, second)
        ]
        one, other = (
            Counts.total(np.array([[c.correct, c.predicted, c.gold] for c in side])).f1 for side in sides
        )
        values.append(other - one)
    found = paired_bootstrap(gold, first, second, "bio", samples=300, seed=3, metric="accuracy")
    assert list(found.interval) == pytest.approx(np.quantile(values, [0.025, 0.975]).tolist())
    assert found.interval.low <= found.difference <= found.interval.high
