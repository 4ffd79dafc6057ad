"""What formats with one JSON object per line share.  a line ─→ an object ─→ its tokens, its text."""

from __future__ import annotations

import json
from typing import Any

from conseq.errors import DataError, counted

TOKENS, TEXT = "tokens", "text"
Places = list[tuple[int, int]]


def json_object(text: str) -> dict[str, Any]:
    """The object on a line."""
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


def text_of(record: dict[str, Any]) -> str:
    """The text of an object without tokens."""
    text = record.get(TEXT)
    if not isinstance(text, str):
        raise DataError('there are no tokens and no text; give "tokens" (a list) or "text" (a string)')
    return text


def is_strings(value: Any) -> bool:
    """Whether this is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def strings_of(record: dict[str, Any], key: str, length: int | None = None) -> list[str]:
    """The list of strings under a key; with `length`, one for each of that number of tokens."""
    value = record.get(key)
    if not isinstance(value, list) or not is_strings(value):
        raise DataError(f'"{key}" is not a list of strings; give one string per token')
    if length is not None and len(value) != length:
        raise DataError(f'{counted(length, "token")} but {len(value)} in "{key}"; give one per token')
    if key == TOKENS and "" in value:
        raise DataError("a token is empty; leave it out")
    return value


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
