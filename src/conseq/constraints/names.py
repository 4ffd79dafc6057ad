"""What the names in a rule stand for: labels, or types of segments at any level; and rules as sums over them.

    name ─→ inside[Y+1]            the labels in it
            begins, ends[Y+1,Y+1]  how many segments of it begin or end at a step
            segments, tokens       counters of them
            reading[1,Y+1,Y+1]     which of several an entered label is in: the symbols of an automaton
    each                           a table of steps that are wrong ─→ a sum that charges each of them

A name is a label (`B-person`, `O`) if there is one so written, else a type: every path that ends in it.
START and END, the index Y, are inside nothing.
"""

from __future__ import annotations

from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from conseq.constraints.primitives import Counter, Linear
from conseq.constraints.tokens import TokenTest
from conseq.dtypes import Bools, Ints
from conseq.errors import RuleError
from conseq.kept import kept
from conseq.schema import Schema


@kept
def inside(schema: Schema, *names: str) -> Bools:
    """The labels that put a token into one of the names, [Y+1].

    >>> inside(Schema(["O", "B-a", "I-a"], "bio"), "a").tolist()
    [False, True, True, False]
    """
    labels = np.zeros(len(schema) + 1, dtype=bool)
    for name in names:
        label = schema.vocabulary.find(name)
        if label >= 0:
            labels[label] = True
            continue
        for type in known_types(schema, name):
            labels[:-1] |= schema.inside(type)
    return labels


@kept
def begins(schema: Schema, name: str) -> Ints:
    """How many segments of the name begin with a step, [Y+1,Y+1]."""
    return np.sum([schema.begins(type) for type in known_types(schema, name)], axis=0, dtype=np.int64)


@kept
def ends(schema: Schema, name: str) -> Ints:
    """How many segments of the name end with the token before a step, [Y+1,Y+1]."""
    return np.sum([schema.ends(type) for type in known_types(schema, name)], axis=0, dtype=np.int64)


@kept
def segments(schema: Schema, name: str, test: TokenTest | None = None) -> Counter:
    """Counts the segments of a name (whose first token passes the test)."""
    return Counter(begins(schema, name), test)


@kept
def tokens(schema: Schema, name: str, test: TokenTest | None = None) -> Counter:
    """Counts the tokens in a name (that pass the test)."""
    return Counter(entering(inside(schema, name)), test)


def entering(labels: Bools) -> Ints:
    """1 for the steps that enter one of the labels[Y+1], [Y+1,Y+1]."""
    return np.broadcast_to(labels.astype(np.int64), (len(labels), len(labels)))


def each(wrong: NDArray, test: TokenTest | None = None) -> tuple[Linear]:
    """Charges 1 for each step that is wrong[Y+1,Y+1] (into a token that passes the test)."""
    return (Linear(((1, Counter(wrong.astype(np.int64, copy=False), test)),), 0),)


def reading(schema: Schema, *names: str) -> Ints:
    """Symbols that tell in which names a token is: Σ 2^i over the names i; 2^len(names) is END, [1,Y+1,Y+1].

    >>> reading(Schema(["O", "a", "b"], "plain"), "a", "b")[0, 0].tolist()
    [0, 1, 2, 4]
    """
    symbols = np.zeros(len(schema) + 1, dtype=np.int64)
    for i, name in enumerate(names):
        symbols += inside(schema, name).astype(np.int64) << i
    symbols[-1] = 1 << len(names)
    return by_entered(symbols)


def by_entered(symbols: Ints) -> Ints:
    """The table of steps whose symbol depends on the label they enter alone, [Y+1] ─→ [1,Y+1,Y+1]."""
    return np.broadcast_to(symbols, (1, len(symbols), len(symbols)))


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
