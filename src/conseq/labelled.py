"""Labelled sequences as a person wants to see them: tokens, labels, segments cut out of the text.

    Corpus + Decodings (+ SpanProbabilities for the confidences) ─→ Labelled, a list of LabelledSequence

In a notebook a labelled sequence shows its segments in colour.
"""

from __future__ import annotations

import html
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Corpus
from conseq.decoders.batch import Decodings
from conseq.decoders.constrained_marginals import SpanProbabilities
from conseq.decoders.lattice.lattice import TooManyStates
from conseq.problem import Certificate
from conseq.schema import Schema, Span
from conseq.threads import map_chunks

HUES = 18
"""How many different colours types are given."""

PLACES = 6
"""Decimal places of a probability that is written."""


def hue(type: str) -> int:
    """A colour that is always the same for a type, as degrees of the colour circle."""
    return zlib.crc32(type.encode()) % HUES * (360 // HUES)


@dataclass(frozen=True)
class LabelledSpan:
    """A segment: tokens start … end−1, its text, how probable it is under the rules (None if that was not
    asked for, or takes too long to find exactly), its place in the original text (if there is one)."""

    start: int
    end: int
    type: str
    text: str
    level: int = 0
    confidence: float | None = None
    characters: tuple[int, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        found: dict[str, Any] = {"start": self.start, "end": self.end, "type": self.type, "text": self.text}
        if self.characters is not None:
            found["characters"] = list(self.characters)
        found["confidence"] = None if self.confidence is None else round(self.confidence, PLACES)
        return found


@dataclass(frozen=True, eq=False)
class TokenMarginals:
    """How probable every label is at every token of a sequence."""

    names: tuple[str, ...]  # [Y]
    node: NDArray[np.float64]  # [T,Y]

    def of(self, labels: list[str]) -> list[float]:
        """The probability of each token's label."""
        place = {name: y for y, name in enumerate(self.names)}
        return self.node[np.arange(len(labels)), [place[label] for label in labels]].tolist()

    def to_list(self) -> list[dict[str, float]]:
        """Label → probability of each token, as plain JSON values."""
        rows = self.node.round(PLACES).tolist()
        return [dict(zip(self.names, row, strict=True)) for row in rows]


@dataclass(frozen=True)
class LabelledSequence:
    """The tokens of one sequence with their labels and segments.

    score           the model's, minus the penalties of the rules that the labels break
    certificate     how good the labels are: no others score more than its `bound`; None where there are no
                    rules and plain Viterbi has found the best labels
    violations      the lines of the rules that the labels break ─→ by how much
    nbest, marginals    labellings with their scores, probabilities: there if they were asked for
    """

    tokens: list[str]
    labels: list[str]
    spans: list[LabelledSpan]
    score: float
    text: str | None = None
    characters: list[tuple[int, int]] | None = None
    certificate: Certificate | None = None
    violations: Mapping[str, float] = field(default_factory=dict)
    nbest: list[tuple[list[str], float]] | None = None
    marginals: TokenMarginals | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        found: dict[str, Any] = {} if self.text is None else {"text": self.text}
        found |= {"tokens": self.tokens, "labels": self.labels}
        found |= {"spans": [span.to_dict() for span in self.spans], "score": self.score}
        if self.certificate is not None:
            found |= {"certificate": plain_certificate(self.certificate), "violations": dict(self.violations)}
        if self.nbest is not None:
            found["nbest"] = [{"labels": labels, "score": score} for labels, score in self.nbest]
        if self.marginals is not None:
            found["marginals"] = self.marginals.to_list()
        return found

    def pieces(self) -> Iterator[tuple[str, str | None]]:
        """The text from left to right as (piece, type of the outermost segment or None)."""
        place = 0
        for span in (s for s in self.spans if s.level == 0):
            if span.start > place:
                yield self.cut(place, span.start), None
            yield span.text, span.type
            place = span.end
        if place < len(self.tokens):
            yield self.cut(place, len(self.tokens)), None

    def cut(self, start: int, end: int) -> str:
        """Tokens start … end−1 as they stand in the original text, or joined by blanks if there is none."""
        if self.text is None or self.characters is None:
            return " ".join(self.tokens[start:end])
        return self.text[self.characters[start][0] : self.characters[end - 1][1]]

    def _repr_html_(self) -> str:
        parts = []
        for text, type in self.pieces():
            if type is None:
                parts.append(html.escape(text))
                continue
            style = f"background:hsl({hue(type)},70%,85%);padding:0 .25em;border-radius:.25em;color:#111"
            name = f'<sub style="color:#555">{html.escape(type)}</sub>'
            parts.append(f'<span style="{style}">{html.escape(text)} {name}</span>')
        return f'<div style="line-height:1.9">{" ".join(parts)}</div>'


class Labelled(list[LabelledSequence]):
    """Labelled sequences in order."""

    def _repr_html_(self) -> str:
        return "".join(sequence._repr_html_() for sequence in self)


def label_corpus(
    corpus: Corpus,
    decodings: Decodings,
    schema: Schema,
    lattices: SpanProbabilities | None = None,
    certificates: bool = True,
    threads: int = 1,
) -> Labelled:
    """Sequences with their labels; with `lattices` every segment gets its probability, or None where the
    rules make too many product states."""
    labels = corpus.split(schema.decode(decodings.labels))
    segments = [schema.spans(names) for names in labels]
    legal = lattices is not None and lattices.forbid(~schema.tables.legal)
    confidences = map_chunks(
        lambda i, _: _confidences(lattices, i, segments[i], schema, legal), range(len(labels) + 1), threads
    )
    violations = _violations(decodings)
    found = Labelled()
    for i, sequence in enumerate(corpus):
        tokens = sequence.tokens if corpus.columns else [""] * len(sequence)
        text, characters = sequence.text, sequence.characters
        score, certificate = float(decodings.scores[i]), decodings.certificate(i) if certificates else None
        broken = violations.get(i, {})
        labelled = LabelledSequence(tokens, labels[i], [], score, text, characters, certificate, broken)
        pairs = zip(segments[i], confidences[i], strict=True)
        labelled.spans.extend(_cut_out(labelled, span, chance) for span, chance in pairs)
        found.append(labelled)
    return found


def _violations(decodings: Decodings) -> dict[int, dict[str, float]]:
    """The sequences that break rules ─→ the lines of these ─→ by how much."""
    lines = [rule.line() for rule in decodings.rules]
    found: dict[int, dict[str, float]] = {}
    for i, k in np.argwhere(decodings.violations > 0).tolist():
        found.setdefault(i, {})[lines[k]] = float(decodings.violations[i, k])
    return found


def plain_certificate(certificate: Certificate) -> dict[str, Any]:
    """Plain JSON values, which infinite bounds are not: None stands for them."""
    numbers = {k: v if math.isfinite(v) else None for k, v in asdict(certificate).items() if k != "status"}
    return {"status": certificate.status.name, **numbers}


def _confidences(
    lattices: SpanProbabilities | None, i: int, spans: list[Span], schema: Schema, legal: bool
) -> list[float] | list[None]:
    """P(exactly this segment) of each span, where all labellings are `legal` or not."""
    if lattices is None or not spans:
        return [None] * len(spans)
    try:
        lattice = lattices[i]
    except TooManyStates:
        return [None] * len(spans)
    patterns = [schema.span_patterns(span.start, span.end, span.type, legal) for span in spans]
    return [
        min(1.0, sum(lattice.span_probability(span.start, *p) for p in each))
        for span, each in zip(spans, patterns, strict=True)
    ]


def _cut_out(sequence: LabelledSequence, span: Span, confidence: float | None) -> LabelledSpan:
    text, places = sequence.cut(span.start, span.end), sequence.characters
    place = None if places is None else (places[span.start][0], places[span.end - 1][1])
    return LabelledSpan(span.start, span.end, span.type, text, span.level, confidence, place)
