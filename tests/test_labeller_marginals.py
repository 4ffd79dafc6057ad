"""N-best, marginals and confidences of a labeller under rules, against the enumeration of all labellings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from conseq.corpus import Corpus
from conseq.datasets import citations
from conseq.decoders.base import Limits
from conseq.errors import ConseqError
from conseq.labeller import SequenceLabeller, answers, base

WORDS = [["Ann", "likes", "Rome", "."], ["Bob", "Lee", "leaves", "Oslo", "."], ["Ann", "sees", "Bob"]]
LABELS = [["B-PER", "O", "B-LOC", "O"], ["B-PER", "I-PER", "O", "B-LOC", "O"], ["B-PER", "O", "B-PER"]]
INPUT = [["Ann", "sees", "Bob"], ["Rome", "Ann"], [], ["Ann", "likes", "Bob", "Oslo"]]

PERSONS, PLACES = 0.7, 1.3
"""Penalties: of every segment of PER beyond the first, and of PER without LOC."""
SOFT = f"at most 1 segment of PER  penalty {PERSONS}\nif PER then LOC  penalty {PLACES}"
HARD = "at most 1 segment of PER  hard"
LOCAL = 'token "Ann" is LOC  penalty 1.5'
INFINITE = float("inf")


@pytest.fixture(scope="module")
def small() -> SequenceLabeller:
    return SequenceLabeller("ner", n_jobs=1).fit(WORDS, LABELS)


def count(labels: Sequence[str], type: str) -> int:
    """The segments of a legal BIO labelling."""
    return sum(label == f"B-{type}" for label in labels)


def soft(labels: Sequence[str], _: Sequence[str]) -> float:
    lonely = count(labels, "PER") > 0 and count(labels, "LOC") == 0
    return PERSONS * max(0, count(labels, "PER") - 1) + PLACES * lonely


def hard(labels: Sequence[str], _: Sequence[str]) -> float:
    return INFINITE if count(labels, "PER") > 1 else 0.0


def local(labels: Sequence[str], words: Sequence[str]) -> float:
    pairs = zip(labels, words, strict=True)
    return 1.5 * sum(word == "Ann" and not label.endswith("-LOC") for label, word in pairs)


CASES = [(SOFT, soft), (HARD, hard), (LOCAL, local), ("none", lambda labels, words: 0.0)]
cases = pytest.mark.parametrize(("rules", "cost"), CASES, ids=["soft", "hard", "local", "none"])


def ranking(labeller: SequenceLabeller, words: list[str], cost) -> list[tuple[float, tuple[str, ...]]]:
    """All labellings that may be, with their scores under the rules, best first."""
    potentials, schema = labeller.potentials([words]), labeller.schema_
    found = []
    for labels in product(schema.labels, repeat=len(words)):
        score = potentials.score(schema.encode(labels)) - cost(labels, words)
        if score > -INFINITE:
            found.append((score, labels))
    return sorted(found, reverse=True)


def chance(ranked: list[tuple[float, tuple[str, ...]]], holds) -> float:
    weights = np.exp([score - ranked[0][0] for score, _ in ranked])
    return float(weights[[holds(labels) for _, labels in ranked]].sum() / weights.sum())


@cases
@pytest.mark.parametrize("n", [1, 3, 500])
def test_the_n_best_are_the_first_of_all(small, rules, cost, n):
    found = small.with_constraints(rules).predict_nbest(INPUT, n)
    assert len(found) == len(INPUT)
    for words, best in zip(INPUT, found, strict=True):
        expected = ranking(small, words, cost)[:n]
        assert [score for _, score in best] == pytest.approx([score for score, _ in expected], abs=1e-6)
        assert len({tuple(labels) for labels, _ in best}) == len(expected)
        for labels, score in best:
            true = small.potentials([words]).score(small.schema_.encode(labels)) - cost(labels, words)
            assert score == pytest.approx(true, abs=1e-6)


@cases
def test_marginals_are_shares_of_all(small, rules, cost):
    found = small.with_constraints(rules).predict_marginals(INPUT)
    for words, rows in zip(INPUT, found, strict=True):
        ranked = ranking(small, words, cost)
        for t, row in enumerate(rows):
            assert sum(row.values()) == pytest.approx(1.0)
            for label, p in row.items():
                true = chance(ranked, lambda labels, t=t, label=label: labels[t] == label)
                assert p == pytest.approx(true, abs=1e-6), (words, t, label)


@cases
def test_confidences_are_shares_of_all(small, rules, cost):
    found = small.with_constraints(rules).label(INPUT)
    assert sum(len(sequence.spans) for sequence in found) >= 4
    for words, sequence in zip(INPUT, found, strict=True):
        ranked = ranking(small, words, cost)
        for span in sequence.spans:
            wanted = (span.start, span.end, span.type)
            true = chance(
                ranked,
                lambda labels, wanted=wanted: (
                    wanted in [(s.start, s.end, s.type) for s in small.schema_.spans(labels)]
                ),
            )
            assert span.confidence == pytest.approx(true, abs=1e-6), (words, span)


def test_what_a_hard_rule_forbids_has_no_chance(small):
    """With the first token a person for sure, no other may be one."""
    corpus = Corpus.from_sequences([["Ann", "sees", "Bob"]], [["B-PER", "", ""]])
    bound = small.with_constraints(HARD)
    [rows] = bound.predict_marginals(corpus, partial=True)
    assert rows[2]["B-PER"] == 0.0
    assert small.predict_marginals(corpus, partial=True)[0][2]["B-PER"] > 0.5
    assert all(count(labels, "PER") == 1 for labels, _ in bound.predict_nbest(corpus, 50, partial=True)[0])


def test_threads_and_batches_do_not_matter(small, monkeypatch):
    one, two = (small.with_constraints(SOFT).set_params(n_jobs=n) for n in (1, 2))

    def found_by(labeller):
        labelled = labeller.label(INPUT, nbest=3)
        return [[s.confidence for s in found.spans] for found in labelled], [f.nbest for f in labelled]

    whole = found_by(one)
    assert found_by(two) == whole
    monkeypatch.setattr(base, "BATCH", 3)
    assert found_by(two) == whole


@pytest.fixture
def tight(monkeypatch):
    """Limits that the last of THREE passes, and only that."""
    monkeypatch.setattr(answers, "FOR_SUMS", Limits(states=40))
    monkeypatch.setattr(answers, "quick_limits", lambda n_states: Limits(states=40))


THREE = [["Ann"], ["Bob", "Lee"], ["Ann", "likes", "Bob", "Lee", "Oslo", "."]]


@pytest.mark.usefixtures("tight")
class TestTooManyStates:
    def test_confidences_are_none_there_and_only_there(self, small):
        found = small.with_constraints(SOFT).label(THREE)
        assert [{s.confidence is None for s in sequence.spans} for sequence in found] == [
            {False},
            {False},
            {True},
        ]
        plain = json.loads(json.dumps(found[2].to_dict()))
        assert plain["spans"][0]["confidence"] is None
        assert plain["certificate"]["status"] == "OPTIMAL"

    def test_rules_about_single_tokens_have_no_limit(self, small):
        for rules in (LOCAL, None):
            found = small.with_constraints(rules).label(THREE)
            assert all(s.confidence is not None for sequence in found for s in sequence.spans)
            assert len(small.with_constraints(rules).predict_marginals(THREE)) == 3

    @pytest.mark.parametrize("batch", [2, 100_000])
    def test_marginals_are_refused_in_one_sentence(self, small, monkeypatch, batch):
        monkeypatch.setattr(base, "BATCH", batch)
        bound = small.with_constraints(SOFT)
        assert len(bound.predict_marginals(THREE[:2])) == 2
        says = r"^sequence 2 \(from 0\): the rules make more than 40 product states.*--constraints none\)$"
        with pytest.raises(ConseqError, match=says):
            bound.predict_marginals(THREE)
        with pytest.raises(ConseqError, match=r"^sequence 9 "):
            bound.label(THREE, marginals=True, confidences=False, first=7)


def test_a_limit_leaves_the_labels_among_the_n_best():
    """With no time at all there is still what decoding found."""
    corpus = citations(20, seed=7)
    labeller = SequenceLabeller("fields", n_jobs=1, max_iterations=12).fit(citations(40, seed=0))
    bound = labeller.with_constraints("at most 1 segment of title  hard\nif author then date  penalty 2")
    bound.limit = 0.0
    for sequence in bound.label(corpus, confidences=False, nbest=3):
        assert 1 <= len(sequence.nbest) <= 3
        assert sequence.nbest[0][1] >= sequence.score - 1e-9
        assert all(count(labels, "title") <= 1 for labels, _ in sequence.nbest)
        scores = [score for _, score in sequence.nbest]
        assert scores == sorted(scores, reverse=True)


SCHEMES = {
    "plain": ["O", "x", "y"],
    "iob1": ["O", "I-x", "B-x", "I-y"],
    "bio": ["O", "B-x", "I-x", "B-y", "I-y"],
    "bioes": ["O", "B-x", "I-x", "E-x", "S-x"],
    "levels": ["O", "B-x", "I-x", "B-x/B-y", "I-x/B-y", "I-x/I-y"],
}


@pytest.mark.parametrize("rules", ["none", "at most 1 segment of x  penalty 1.5"])
@pytest.mark.parametrize("legal", [True, False])
@pytest.mark.parametrize("name", SCHEMES)
def test_confidences_are_shares_of_all_labellings_legal_or_not(name, legal, rules):
    """Labels at random teach that any may follow any, so that illegal ones have a share of their own."""
    rng = np.random.default_rng(len(name))
    words = [[f"w{i}" for i in rng.integers(0, 6, 4)] for _ in range(40)]
    labels = [list(rng.choice(SCHEMES[name], 4)) for _ in words]
    labeller = SequenceLabeller(
        ["word[0]"], scheme="bio" if name == "levels" else name, legal=legal, constraints=rules, n_jobs=1
    ).fit(words, labels)
    schema, some = labeller.schema_, words[:12]
    soft = [1.5 * max(0, n - 1) for n in range(5)] if rules != "none" else [0.0] * 5
    illegal = 0
    for sentence, found in zip(some, labeller.label(some), strict=True):
        ranked = ranking(
            labeller, sentence, lambda labels, _: soft[sum(s.type == "x" for s in schema.spans(labels))]
        )
        illegal += sum(schema.spans(y) != schema.spans(y, mode="strict") for _, y in ranked)
        for span in found.spans:
            wanted = (span.start, span.end, span.type, span.level)
            true = chance(ranked, lambda labels, wanted=wanted: wanted in schema.spans(labels))
            assert span.confidence == pytest.approx(true, abs=1e-6), (sentence, span)
    assert sum(len(found.spans) for found in labeller.label(some)) > 5
    assert (illegal > 0) == (not legal and name != "plain")
