"""JSON lines ↔ corpora.  one object a line, in one of three forms.

    {"tokens": […], "labels": […], "pos": […]}                          further lists of strings are columns
    {"tokens": […], "spans": [{"start": 0, "end": 2, "type": "a"}]}     counted in tokens, `end` exclusive
    {"text": "…", "spans": [{"start": 0, "end": 9, "type": "a"}]}       counted in characters

An object with tokens and text has its spans counted in tokens. Spans give BIO labels, nested ones
hierarchical BIO. Keys that are none of these are ignored.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from conseq.corpus import WORD, Corpus, Sequence
from conseq.errors import DataError
from conseq.io.json_objects import (
    TEXT,
    TOKENS,
    Places,
    align,
    is_strings,
    json_object,
    strings_of,
    text_of,
)
from conseq.io.lines import Line, LineReader, check_has_tokens
from conseq.io.spans import SimpleSpan, nest, shown, simple_name, spans_of
from conseq.schema import Scheme, Span, write_spans
from conseq.tokens import DEFAULT, Tokeniser, tokeniser

LABELS, SPANS = "labels", "spans"


def json_lines(*, tokens: str | Tokeniser = DEFAULT, spans: str = SPANS) -> LineReader:
    """How objects are understood; `tokens` names the tokeniser for texts, `spans` the key of the spans.

    >>> line = json_lines().understand('{"text": "A. Cau", "spans": [{"start": 0, "end": 2, "type": "x"}]}')
    >>> line.tokens, line.labels
    (['A', '.', 'Cau'], ['B-x', 'I-x', 'O'])
    """
    return LineReader(_Records(tokeniser(tokens), spans))


@dataclass
class _Records:
    """Understands one line after another; the first says which keys are columns."""

    tokenise: Tokeniser
    spans: str
    columns: tuple[str, ...] | None = None

    def __call__(self, text: str) -> Line:
        record = json_object(text)
        line = self.with_tokens(record) if TOKENS in record else self.with_text(record)
        if not line.tokens:
            raise DataError("the sequence has no tokens; leave the line out")
        return line

    def with_tokens(self, record: dict[str, Any]) -> Line:
        tokens = strings_of(record, TOKENS)
        if self.columns is None:
            self.columns = self.column_keys(record, len(tokens))
        columns = {key: strings_of(record, key, len(tokens)) for key in self.columns}
        text = record.get(TEXT)
        places = None if text is None else align(text_of(record), tokens)
        return Line(tokens, self.labels(record, len(tokens)), text, places, columns)

    def column_keys(self, record: dict[str, Any], length: int) -> tuple[str, ...]:
        """The keys whose value is a list of as many strings as there are tokens."""
        known = {TOKENS, LABELS, TEXT, self.spans, WORD}
        return tuple(k for k, v in record.items() if k not in known and is_strings(v) and len(v) == length)

    def with_text(self, record: dict[str, Any]) -> Line:
        text = text_of(record)
        places = self.tokenise(text)
        spans = _in_tokens(_spans(record, self.spans), places, text)
        labels = _bio_labels(spans, len(places)) if self.spans in record else None
        return Line.of_text(text, places, labels)

    def labels(self, record: dict[str, Any], length: int) -> list[str] | None:
        if LABELS in record:
            return strings_of(record, LABELS, length)
        if self.spans in record:
            return _bio_labels(_spans(record, self.spans), length)
        return None


def _bio_labels(spans: list[SimpleSpan], length: int) -> list[str]:
    return write_spans(nest(spans, length), length, Scheme.BIO)


def _spans(record: dict[str, Any], key: str) -> list[SimpleSpan]:
    value = record.get(key, [])
    if not isinstance(value, list):
        raise DataError(f'"{key}" is not a list; give a list of objects with start, end and type')
    return [_span(item) for item in value]


def _span(item: Any) -> SimpleSpan:
    fields: Any = (item.get("start"), item.get("end"), item.get("type")) if isinstance(item, dict) else ()
    if list(map(type, fields)) != [int, int, str]:
        given = json.dumps(item, ensure_ascii=False)
        raise DataError(f"{given} is no span; give start and end (whole numbers) and type (a string)")
    return fields


def _in_tokens(spans: list[SimpleSpan], places: Places, text: str) -> list[SimpleSpan]:
    """Spans of characters as spans of tokens."""
    starts = {start: token for token, (start, _) in enumerate(places)}
    ends = {end: token + 1 for token, (_, end) in enumerate(places)}
    for start, end, name in spans:
        if not 0 <= start < end <= len(text):
            raise DataError(
                f"the span {shown(start, end, name)} is empty or goes beyond the {len(text)} characters; "
                "count from 0, and let `end` be the one after the last"
            )
        if start not in starts or end not in ends:
            raise DataError(
                f"the span {shown(start, end, name)} {text[start:end]!r} does not begin and end where tokens "
                "do; move its ends, or choose another tokeniser"
            )
    return [(starts[start], ends[end], name) for start, end, name in spans]


def format_jsonl(corpus: Corpus, *, spans: bool = False) -> str:
    """An object a line with tokens, columns and labels; `spans` gives segments in place of labels.

    Where the original text is known, spans are counted in its characters.

    >>> format_jsonl(Corpus.from_sequences([["A", "cat"]], [["O", "B-x"]]))
    '{"tokens": ["A", "cat"], "labels": ["O", "B-x"]}\\n'
    >>> format_jsonl(Corpus.from_sequences([["A", "cat"]], [["O", "B-x"]]), spans=True)
    '{"tokens": ["A", "cat"], "spans": [{"start": 1, "end": 2, "type": "x"}]}\\n'
    """
    check_has_tokens(corpus)
    records = map(_spans_record, corpus, spans_of(corpus)) if spans else map(_labels_record, corpus)
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _labels_record(sequence: Sequence) -> dict[str, Any]:
    first, *others = sequence.corpus.columns
    record: dict[str, Any] = {} if sequence.text is None else {TEXT: sequence.text}
    record |= {TOKENS: sequence.column(first)} | {name: sequence.column(name) for name in others}
    return record if sequence.labels is None else record | {LABELS: sequence.labels}


def _spans_record(sequence: Sequence, spans: list[Span]) -> dict[str, Any]:
    places = sequence.characters
    head = {TOKENS: sequence.tokens} if places is None else {TEXT: sequence.text}
    places = places or [(t, t + 1) for t in range(len(sequence))]
    given = [(places[span.start][0], places[span.end - 1][1], simple_name(span)) for span in spans]
    return head | {SPANS: [{"start": start, "end": end, "type": name} for start, end, name in given]}
