"""Random labelled corpora over schemas of every kind, and small evidence with scores by hand.

seed, schema ─→ random_corpus, random_labels ─→ View;   labellings(view) ─→ what the naive rules take
rows of (gold, scores) ─→ scored ─→ Evidence
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.naive_rules import Labelling
from conseq.corpus import Corpus
from conseq.mining.evidence import Evidence
from conseq.mining.view import Names, View
from conseq.potentials import Potentials
from conseq.schema import Schema

SCHEMAS = {
    "plain": Schema(["O", "a", "b", "c"], "plain"),
    "plain-shared": Schema(["x/a", "O", "y/a", "b"], "plain"),
    "bio": Schema(["O", "B-a", "I-a", "B-b", "I-b", "B-c"], "bio"),
    "bioes": Schema(["O", "B-a", "I-a", "E-a", "S-b"], "bioes"),
    "deep": Schema(["O", "B-a", "I-a", "I-a/B-x", "I-a/I-x", "B-b/B-x", "I-b/I-x", "I-b", "B-c"], "bio"),
    "deep-ambiguous": Schema(["O", "B-a", "I-a", "I-a/B-b", "I-a/I-b", "B-b"], "bio"),
}
"""In `plain-shared` the name a means two labels, in `deep` x means a/x and b/x, in the last one b means
the type b and the type a/b."""

WORDS = ("x", "In", "1998", ",", ".", '"', "#", "\\", "/")
"""Words, and marks that a rule must quote."""


def random_labels(rng: np.random.Generator, schema: Schema, lengths: np.ndarray) -> np.ndarray:
    """Labels with runs, legal or not, [T]; not every label need occur."""
    usual = rng.dirichlet(np.full(len(schema), 0.7))
    labels = rng.choice(len(schema), int(lengths.sum()), p=usual)
    for t in np.flatnonzero(rng.random(len(labels)) < 0.4):
        labels[t] = labels[max(0, t - 1)]
    return labels.astype(np.int32)


def random_corpus(rng: np.random.Generator, n_sequences: int, longest: int = 7) -> Corpus:
    """Sequences of 0 to `longest` tokens."""
    lengths = rng.integers(0, longest + 1, n_sequences)
    return Corpus.from_sequences([rng.choice(WORDS, int(n)).tolist() for n in lengths])


def random_views(seed: int, schema: Schema, n_sequences: int = 8) -> tuple[View, View]:
    """Two labellings of the same corpus."""
    rng = np.random.default_rng(seed)
    corpus, names = random_corpus(rng, n_sequences), Names.of(schema)
    first, second = (View(names, corpus, random_labels(rng, schema, corpus.lengths)) for _ in range(2))
    return first, second


def labellings(view: View) -> list[Labelling]:
    """The sequences as the naive rules take them."""
    labels = view.corpus.split(view.schema.decode(view.labels))
    tokens = view.corpus.token_sequences()
    return [Labelling(tuple(y), tuple(x), view.schema) for x, y in zip(tokens, labels, strict=True)]


# ── evidence by hand ────────────────────────────────────────────────────────────────────────────

SURE = 10.0
"""How much more than the other label a token's own one scores, where nothing else is said."""


def scored(schema: Schema, rows: Sequence[tuple[str, Sequence[dict[str, float]]]]) -> Evidence:
    """Evidence of gold labels (one letter each) and the scores of labels at each token; others score 0."""
    corpus = Corpus.from_sequences([["w"] * len(gold) for gold, _ in rows])
    unary = np.zeros((corpus.n_tokens, len(schema)))
    for t, given in enumerate(scores for _, row in rows for scores in row):
        for label, score in given.items():
            unary[t, schema.vocabulary.find(label)] = score
    gold = schema.encode([label for labels, _ in rows for label in labels])
    return Evidence.of(corpus, schema, gold, Potentials.of(unary, offsets=corpus.offsets))


def towards(labels: str, last: dict[str, float] | None = None) -> list[dict[str, float]]:
    """Scores that say these labels, but for the last token where it has scores of its own."""
    scores = [{label: SURE} for label in labels]
    return scores if last is None else [*scores[:-1], last]
