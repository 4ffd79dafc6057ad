"""What the names in a rule stand for: labels, or types of segments at any level.

    name ─→ inside[Y+1]            the labels in it
            begins, ends[Y+1,Y+1]  how many segments of it begin or end at a step
            segments, tokens       counters of them

A name is a label (`B-person`, `O`) if there is one so written, else a type: every path that ends in it.
START and END, the index Y, are inside nothing.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.primitives import Counter
from conseq.constraints.tokens import TokenTest
from conseq.errors import RuleError
from conseq.schema import Schema

Bools = NDArray[np.bool_]
Table = NDArray[np.int64]


@lru_cache(maxsize=4096)
def inside(schema: Schema, name: str) -> Bools:
    """The labels that put a token into the name, [Y+1].

    >>> inside(Schema(["O", "B-a", "I-a"], "bio"), "a").tolist()
    [False, True, True, False]
    """
    labels = np.zeros(len(schema) + 1, dtype=bool)
    label = schema.vocabulary.find(name)
    if label >= 0:
        labels[label] = True
        return labels
    for type in known_types(schema, name):
        labels[:-1] |= schema.inside(type)
    return labels


@lru_cache(maxsize=4096)
def begins(schema: Schema, name: str) -> Table:
    """How many segments of the name begin with a step, [Y+1,Y+1]."""
    return np.sum([schema.begins(type) for type in known_types(schema, name)], axis=0, dtype=np.int64)


@lru_cache(maxsize=4096)
def ends(schema: Schema, name: str) -> Table:
    """How many segments of the name end with the token before a step, [Y+1,Y+1]."""
    return np.sum([schema.ends(type) for type in known_types(schema, name)], axis=0, dtype=np.int64)


@lru_cache(maxsize=4096)
def segments(schema: Schema, name: str, test: TokenTest | None = None) -> Counter:
    """Counts the segments of a name (whose first token passes the test)."""
    return Counter(begins(schema, name), test)


@lru_cache(maxsize=4096)
def tokens(schema: Schema, name: str, test: TokenTest | None = None) -> Counter:
    """Counts the tokens in a name (that pass the test)."""
    return Counter(entering(inside(schema, name)), test)


def entering(labels: Bools) -> Table:
    """1 for the steps that enter one of the labels[Y+1], [Y+1,Y+1]."""
    return np.tile(labels.astype(np.int64), (len(labels), 1))


def known_types(schema: Schema, name: str) -> tuple[str, ...]:
    """The types of segments that a name stands for; at least one, or an error with a suggestion.

    A plain label is the type of its own segments, and only that one: `a` is not `b/a`, too.
    """
    types = schema.types_named(name)
    if schema.vocabulary.find(name) >= 0:
        types = tuple(type for type in types if type == name)
    if not types:
        raise unknown(schema, name)
    return types


def unknown(schema: Schema, name: str) -> RuleError:
    """The error for a name that no label and no type has."""
    if name in schema.labels:
        return RuleError(f"{name!r} is a label and no type of segment, so it has no segments; name a type")
    leaves = [part for type in schema.types() for part in (type, type.rsplit("/", 1)[-1])]
    known = list(dict.fromkeys([*leaves, *schema.labels]))
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known[:8]) or 'none'}"
    return RuleError(
        f"no label or type is called {name!r}; {hint}{' …' if not close and len(known) > 8 else ''}"
    )
