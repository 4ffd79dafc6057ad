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
from conseq.errors import DataError, counted
from conseq.io.lines import Line, LineReader, check_has_tokens
from conseq.io.spans import SimpleSpan, nest, shown, simple_name, spans_of
from conseq.schema import Scheme, Span, write_spans
from conseq.tokens import DEFAULT, Tokeniser, tokeniser

TOKENS, LABELS, TEXT, SPANS = "tokens", "labels", "text", "spans"
Places = list[tuple[int, int]]


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
        record = _record(text)
        line = self.with_tokens(record) if TOKENS in record else self.with_text(record)
        if not line.tokens:
            raise DataError("the sequence has no tokens; leave the line out")
        return line

    def with_tokens(self, record: dict[str, Any]) -> Line:
        tokens = _strings(record, TOKENS)
        if self.columns is None:
            self.columns = self.column_keys(record, len(tokens))
        columns = {key: _strings(record, key, len(tokens)) for key in self.columns}
        text = record.get(TEXT)
        places = None if text is None else align(_text(record), tokens)
        return Line(tokens, self.labels(record, len(tokens)), text, places, columns)

    def column_keys(self, record: dict[str, Any], length: int) -> tuple[str, ...]:
        """The keys whose value is a list of as many strings as there are tokens."""
        known = {TOKENS, LABELS, TEXT, self.spans, WORD}
        return tuple(k for k, v in record.items() if k not in known and _is_strings(v) and len(v) == length)

    def with_text(self, record: dict[str, Any]) -> Line:
        text = _text(record)
        places = self.tokenise(text)
        spans = _in_tokens(_spans(record, self.spans), places, text)
        labels = _bio_labels(spans, len(places)) if self.spans in record else None
        return Line.of_text(text, places, labels)

    def labels(self, record: dict[str, Any], length: int) -> list[str] | None:
        if LABELS in record:
            return _strings(record, LABELS, length)
        if self.spans in record:
            return _bio_labels(_spans(record, self.spans), length)
        return None


def _bio_labels(spans: list[SimpleSpan], length: int) -> list[str]:
    return write_spans(nest(spans, length), length, Scheme.BIO)


def _record(text: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"column {error.colno}: this is not JSON ({error.msg}); write one object on each line"
        ) from None
    except (ValueError, RecursionError):
        raise DataError("this is not JSON that can be read; write one object on each line") from None
    if "\\ud" in text.lower():
        _check_whole_characters(record)
    if not isinstance(record, dict):
        raise DataError(
            f"this is a JSON {type(record).__name__}, not an object; write one object on each line"
        )
    return record


def _check_whole_characters(record: Any) -> None:
    """Raise if a string has half of a character, which an escape can write and no file can hold."""
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise DataError(f"{half} is half of a character; write both halves, or leave it out") from None


def _text(record: dict[str, Any]) -> str:
    text = record.get(TEXT)
    if not isinstance(text, str):
        raise DataError('there are no tokens and no text; give "tokens" (a list) or "text" (a string)')
    return text


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _strings(record: dict[str, Any], key: str, length: int | None = None) -> list[str]:
    value = record.get(key)
    if not isinstance(value, list) or not _is_strings(value):
        raise DataError(f'"{key}" is not a list of strings; give one string per token')
    if length is not None and len(value) != length:
        raise DataError(f'{counted(length, "token")} but {len(value)} in "{key}"; give one per token')
    if key == TOKENS and "" in value:
        raise DataError("a token is empty; leave it out")
    return value


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


def align(text: str, tokens: list[str]) -> Places:
    """Where the tokens stand in the text, one after the other.

    >>> align("so, so", ["so", ",", "so"])
    [(0, 2), (2, 3), (4, 6)]
    """
    places, end = [], 0
    for token in tokens:
        start = text.find(token, end)
        if start < 0:
            raise DataError(
                f"the token {token!r} is not in the rest of the text; give the tokens in its order"
            )
        end = start + len(token)
        places.append((start, end))
    return places


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
