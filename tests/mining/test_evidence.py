"""Evidence: whose labels and scores are whose after selecting and joining; labels that a model lacks."""

from __future__ import annotations

import numpy as np
import pytest
from labelled_corpora import SCHEMAS, random_corpus, random_labels

from conseq.constraints import IfThen, Segments
from conseq.corpus import Corpus
from conseq.decoders.chain.viterbi import viterbi
from conseq.errors import DataError
from conseq.mining.evidence import Evidence
from conseq.potentials import Potentials
from conseq.schema import Schema

PLAIN = SCHEMAS["plain"]


def random_evidence(seed: int, n: int = 6, schema: Schema = PLAIN) -> Evidence:
    rng = np.random.default_rng(seed)
    corpus = random_corpus(rng, n)
    gold = random_labels(rng, schema, corpus.lengths)
    size = len(schema)
    potentials = Potentials.of(
        rng.normal(size=(corpus.n_tokens, size)),
        rng.normal(size=(size, size)),
        rng.normal(size=size),
        rng.normal(size=size),
        corpus.offsets,
    )
    return Evidence.of(corpus, schema, gold, potentials)


def contents(evidence: Evidence) -> list[tuple]:
    """Words, gold labels and predicted labels of each sequence, and the score of the gold labels."""
    split = evidence.corpus.split
    parts = zip(
        evidence.corpus.token_sequences(),
        split(evidence.gold.tolist()),
        split(evidence.predicted.tolist()),
        strict=True,
    )
    return [
        (x, y, z, round(evidence.potentials.score(np.array(y, dtype=np.int64), i), 6))
        for i, (x, y, z) in enumerate(parts)
    ]


def test_predicted_labels_are_those_of_viterbi():
    evidence = random_evidence(0)
    assert evidence.predicted.tolist() == viterbi(evidence.potentials).labels.tolist()


@pytest.mark.parametrize("chosen", [[], [3], [5, 0, 0, 2], [-1, 1], np.array([4, 1])])
def test_selected_sequences_keep_what_belongs_to_them(chosen):
    evidence = random_evidence(1)
    whole = contents(evidence)
    assert contents(evidence.select(chosen)) == [whole[i] for i in chosen]


@pytest.mark.parametrize("seed", range(5))
def test_joined_parts_in_the_first_order_are_the_whole(seed):
    evidence = random_evidence(seed, 9)
    order = np.random.default_rng(seed).permutation(9)
    parts = [evidence.select(order[:4]), evidence.select(order[4:5]), evidence.select(order[5:])]
    joined = Evidence.joined(parts).select(np.argsort(order))
    assert contents(joined) == contents(evidence)
    assert contents(Evidence.joined(parts)) == [contents(evidence)[i] for i in order]
    rules = [IfThen("a", "b"), Segments("at most", 1, "c")]
    np.testing.assert_array_equal(joined.broken_by_model(rules), evidence.broken_by_model(rules))
    np.testing.assert_array_equal(joined.broken_by_gold(rules), evidence.broken_by_gold(rules))


def test_corpora_without_columns_can_be_joined():
    """As those of attributes per token are."""
    evidence = random_evidence(2)
    bare = Evidence.of(
        Corpus({}, evidence.corpus.offsets), evidence.schema, evidence.gold, evidence.potentials
    )
    joined = Evidence.joined([bare, bare])
    assert joined.gold.tolist() == [*evidence.gold, *evidence.gold]
    assert joined.corpus.lengths.tolist() == [*evidence.corpus.lengths, *evidence.corpus.lengths]


def test_labels_that_the_model_lacks_cannot_be_predicted():
    corpus = Corpus.from_sequences([["x", "y"], ["z"]])
    wider = PLAIN.extended(["d"])
    gold = wider.encode(["d", "a", "d"])
    evidence = Evidence.of(corpus, wider, gold, Potentials.of(-np.ones((3, 4)), offsets=corpus.offsets))
    assert evidence.potentials.n_states == 5
    assert "d" not in wider.decode(evidence.predicted)
    assert evidence.broken_by_gold([IfThen("d", "a")]).tolist() == [[0], [1]]


def test_scores_for_other_sequences_are_refused():
    corpus = Corpus.from_sequences([["x", "y"], ["z"]])
    scores = Potentials.of(np.zeros((3, 4)), offsets=[0, 1, 3])
    with pytest.raises(DataError, match="2 labelled sequences with 3 tokens, and scores for 2 with 3"):
        Evidence.of(corpus, PLAIN, np.zeros(3, dtype=np.int32), scores)
