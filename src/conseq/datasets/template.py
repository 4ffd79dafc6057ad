"""Templates: a pattern and values → labelled pieces, or → a string.

Two kinds of pattern.  `fill` writes a record: in `{author}[ ({date})]` each name is a value, a part in
brackets is left out when a value it names is missing.  A value is used up when written: none stands twice.

    "{journal}[, {volume}[({number})]]" + {journal, volume, date} ─→ pieces; {date} is left for later

`expand` makes a phrase: every `{slot}` is asked for anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from math import sqrt
from random import Random
from typing import NamedTuple, TypeVar, Union

T = TypeVar("T")

_PART = re.compile(r"\{(\w+)\}|([\[\]])|([^\[\]{}]+)")
_SLOT = re.compile(r"\{(\w+)\}")


class Piece(NamedTuple):
    """A stretch of text and the field it belongs to."""

    text: str
    label: str | None = None


Part = Union[Piece, str, "list[Part]"]
"""Literal text, the name of a field, or what stands in brackets."""


@cache
def parse(template: str) -> list[Part]:
    """The tree of a template."""
    stack: list[list[Part]] = [[]]
    for name, bracket, literal in _PART.findall(template):
        if bracket == "[":
            stack.append([])
        elif bracket == "]":
            group = stack.pop()
            stack[-1].append(group)
        else:
            stack[-1].append(name or Piece(literal))
    (parts,) = stack
    return parts


def fill(template: str, values: dict[str, Piece]) -> list[Piece]:
    """The pieces of a template, empty if a value is missing; takes the values it writes out of `values`.

    >>> values = {'volume': Piece('12', 'volume'), 'date': Piece('1999', 'date')}
    >>> [piece.text for piece in fill('vol. {volume}[, no. {number}]', values)]
    ['vol. ', '12']
    >>> fill('{volume}', values), list(values)
    ([], ['date'])
    """
    pieces: list[Piece] = []
    _fill(parse(template), values, pieces)
    return pieces


def _fill(parts: list[Part], values: dict[str, Piece], pieces: list[Piece]) -> None:
    for part in parts:
        if isinstance(part, str) and part not in values:
            return
    for part in parts:
        if isinstance(part, Piece):
            pieces.append(part)
        elif isinstance(part, str):
            pieces.append(values.pop(part))
        else:
            _fill(part, values, pieces)


def expand(pattern: str, make: Callable[[str], str]) -> str:
    """The pattern with every slot replaced by what `make` gives for its name.

    >>> expand('the {thing} of {thing}', {'thing': 'owls'}.__getitem__)
    'the owls of owls'
    """
    return _SLOT.sub(lambda slot: make(slot[1]), pattern)


def draw(rng: Random, choices: Sequence[T]) -> T:
    """One of the choices, the early ones more often: words of real texts are not equally common either.

    >>> rng = Random(0)
    >>> ''.join(draw(rng, 'abcdef') for _ in range(20))
    'ddaabadaabebacbaefde'
    """
    u = rng.random()
    return choices[int(len(choices) * u * u * sqrt(u))]
