"""What each rule of the library means, in plain Python over labels, segments and tokens.

    NAIVE[class](rule, labelling) ─→ violation

Written from the table of the language; nothing here calls `conseq.constraints`. The tests of the rules and
the soak take it from here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import groupby, pairwise
from typing import Any

from conseq.schema import Schema, Span

Amount = int | Fraction
Meaning = Callable[[Any, "Labelling"], Amount]


@dataclass(frozen=True, eq=False)
class Labelling:
    """Labels and tokens of one sequence."""

    labels: tuple[str, ...]
    tokens: tuple[str, ...]
    schema: Schema

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def steps(self) -> list[tuple[str, str]]:
        return list(pairwise(["START", *self.labels, "END"]))

    @cached_property
    def found(self) -> dict[str, list[int]]:
        return {}

    def is_in(self, t: int, name: str) -> bool:
        return is_in(self.labels[t], name, self.schema)

    def inside(self, name: str) -> list[int]:
        """The places of the tokens in a name."""
        if name not in self.found:
            self.found[name] = [t for t in range(len(self)) if self.is_in(t, name)]
        return self.found[name]

    def segments(self, name: str) -> list[Span]:
        return [span for span in spans(self.labels, self.schema) if ends_in(span.type, name)]

    def passing(self, test: Any) -> list[int]:
        """The places of the tokens that pass a test."""
        return [t for t in range(len(self)) if passes(test, t, self.tokens)]


@lru_cache(maxsize=100_000)
def spans(labels: tuple[str, ...], schema: Schema) -> list[Span]:
    return schema.spans(labels)


@lru_cache(maxsize=1000)
def parts(label: str, schema: Schema) -> tuple[tuple[str, str], ...]:
    """The levels of a label: letter and name."""
    if label in ("O", "START", "END"):
        return ()
    if schema.scheme == "plain":
        return (("", label),)
    return tuple((part[0], part[2:]) for part in re.split(r"/(?=[BIES]-)", label))


def paths(label: str, schema: Schema) -> list[str]:
    """The paths of types that a label is in, from the outermost in."""
    names = [name for _, name in parts(label, schema)]
    return ["/".join(names[: k + 1]) for k in range(len(names))]


def ends_in(path: str, name: str) -> bool:
    return path == name or path.endswith("/" + name)


@lru_cache(maxsize=1000)
def is_in(label: str, name: str, schema: Schema) -> bool:
    if name in schema.labels:
        return label == name
    return any(ends_in(path, name) for path in paths(label, schema))


def passes(test: Any, t: int, tokens: tuple[str, ...]) -> bool:
    match type(test).__name__:
        case "Words":
            return tokens[t] in test.words
        case "Pattern":
            return re.search(test.pattern, tokens[t]) is not None
        case "Places":
            return t in test.places or t - len(tokens) in test.places
    raise ValueError(test)


# ── one function per rule ───────────────────────────────────────────────────────────────────────


def legal(rule: Any, x: Labelling) -> Amount:
    bad = {"iob1": illegal_iob1, "bio": illegal_bio, "bioes": illegal_bioes}.get(str(x.schema.scheme))
    return 0 if bad is None else sum(bad(a, b, x.schema) for a, b in x.steps)


def illegal_iob1(before: str, label: str, schema: Schema) -> bool:
    """A B- that does not follow its own type, which an I- would do for."""
    (_, old), (letter, new) = ((*parts(y, schema), ("", ""))[0] for y in (before, label))
    return letter == "B" and old != new


def illegal_bio(before: str, label: str, schema: Schema) -> bool:
    """An I- whose path does not continue, or below something that starts anew."""
    here = parts(label, schema)
    for k, (letter, _) in enumerate(here):
        continues = paths(label, schema)[k] in paths(before, schema)[k : k + 1]
        anew = any(above == "B" for above, _ in here[:k])
        if letter == "I" and (anew or not continues):
            return True
    return False


def illegal_bioes(before: str, label: str, schema: Schema) -> bool:
    """B- and I- must go on with I- or E- of their type, and nothing else may."""
    (open_, old), (letter, new) = ((*parts(y, schema), ("", ""))[0] for y in (before, label))
    if open_ in ("B", "I"):
        return not (letter in ("I", "E") and old == new)
    return letter in ("I", "E")


def at(label: str, name: str, schema: Schema) -> bool:
    return label == name if name in ("START", "END") else is_in(label, name, schema)


def forbidden(rule: Any, x: Labelling) -> Amount:
    return sum(at(a, rule.before, x.schema) and at(b, rule.after, x.schema) for a, b in x.steps)


def required(rule: Any, x: Labelling) -> Amount:
    wrong = 0
    for a, b in x.steps:
        exempt = b == "END"  # entering END is right if END is required, and exempt if not
        wrong += at(a, rule.before, x.schema) and not at(b, rule.after, x.schema) and not exempt
    return wrong


def only_steps(rule: Any, x: Labelling) -> Amount:
    return sum(step not in rule.steps for step in x.steps)


def token_is(rule: Any, x: Labelling) -> Amount:
    return sum(not any(x.is_in(t, name) for name in rule.allowed) for t in x.passing(rule.test))


def token_is_not(rule: Any, x: Labelling) -> Amount:
    return sum(any(x.is_in(t, name) for name in rule.forbidden) for t in x.passing(rule.test))


def beyond(left: Amount, relation: str, right: Amount) -> Amount:
    above, below = max(0, left - right), max(0, right - left)
    match relation:
        case "<=" | "at most":
            return above
        case ">=" | "at least":
            return below
        case "==" | "exactly":
            return above + below
    raise ValueError(relation)


def segments(rule: Any, x: Labelling) -> Amount:
    return beyond(len(x.segments(rule.name)), rule.relation, rule.bound)


def counts(rule: Any, x: Labelling) -> Amount:
    return beyond(total(rule.left, x), rule.relation, total(rule.right, x))


def total(sum_: Any, x: Labelling) -> int:
    result = sum_.constant
    for term in sum_.terms:
        if term.unit == "count":
            where = [span.start for span in x.segments(term.name)]
        else:
            where = x.inside(term.name)
        result += term.weight * sum(term.test is None or passes(term.test, t, x.tokens) for t in where)
    return result


def share(rule: Any, x: Labelling) -> Amount:
    return beyond(len(x.inside(rule.name)), rule.relation, Fraction(rule.percent) / 100 * len(x))


def contiguous(rule: Any, x: Labelling) -> Amount:
    runs = sum(here for here, _ in groupby(x.is_in(t, rule.name) for t in range(len(x))))
    return max(0, runs - 1)


def followed_by(rule: Any, x: Labelling) -> Amount:
    ends = [span.end for span in x.segments(rule.name) if span.end < len(x)]
    return sum(not x.is_in(end, rule.after) for end in ends)


def followed_later(rule: Any, x: Labelling) -> Amount:
    return sum(not any(u >= t for u in x.inside(rule.later)) for t in x.inside(rule.name))


def around(rule: Any, x: Labelling) -> Amount:
    wrong = 0
    for t in x.passing(rule.test):
        if 0 < t < len(x) - 1:
            left, right = x.is_in(t - 1, rule.left), x.is_in(t + 1, rule.right)
            wrong += (left and not right) if rule.implies else not (left and right)
    return wrong


def first_last(rule: Any, x: Labelling) -> Amount:
    return int(len(x) > 0 and x.is_in(0, rule.first) and not x.is_in(len(x) - 1, rule.last))


def not_before(rule: Any, x: Labelling) -> Amount:
    charged = [u for u in x.inside(rule.after) if any(t < u for t in x.inside(rule.before))]
    return len(charged) if rule.each else int(bool(charged))


def if_then(rule: Any, x: Labelling) -> Amount:
    return int(bool(x.inside(rule.name)) and not x.inside(rule.then))


def not_both(rule: Any, x: Labelling) -> Amount:
    return int(bool(x.inside(rule.first)) and bool(x.inside(rule.second)))


def exactly_one_of(rule: Any, x: Labelling) -> Amount:
    return int(sum(bool(x.inside(name)) for name in rule.choices) != 1)


def agree(rule: Any, x: Labelling) -> Amount:
    def value(t: int) -> str:
        return x.labels[t] if rule.on == "label" else "".join(paths(x.labels[t], x.schema)[-1:])

    if rule.places:
        groups = [sorted({p if p >= 0 else len(x) + p for p in rule.places} & set(range(len(x))))]
    else:
        members = [t for t in range(len(x)) if rule.among is None or passes(rule.among, t, x.tokens)]
        groups = [[t for t in members if x.tokens[t] == word] for word in set(x.tokens)]
    return sum(value(a) != value(b) for group in groups for a, b in pairwise(group))


def contains(rule: Any, x: Labelling) -> Amount:
    passing = set(x.passing(rule.test))
    return sum(not passing & set(range(s.start, s.end)) for s in x.segments(rule.name))


def begins_with(rule: Any, x: Labelling) -> Amount:
    return sum(s.start not in x.passing(rule.test) for s in x.segments(rule.name))


def ends_with(rule: Any, x: Labelling) -> Amount:
    inner = [s for s in x.segments(rule.name) if s.end < len(x)]
    return sum(s.end - 1 not in x.passing(rule.test) for s in inner)


NAIVE: dict[str, Meaning] = {
    "Agree": agree,
    "Around": around,
    "BeginsWith": begins_with,
    "Contains": contains,
    "Contiguous": contiguous,
    "Counts": counts,
    "EndsWith": ends_with,
    "ExactlyOneOf": exactly_one_of,
    "FirstLast": first_last,
    "FollowedBy": followed_by,
    "FollowedLater": followed_later,
    "Forbidden": forbidden,
    "IfThen": if_then,
    "Legal": legal,
    "NotBefore": not_before,
    "NotBoth": not_both,
    "OnlySteps": only_steps,
    "Required": required,
    "Segments": segments,
    "Share": share,
    "TokenIs": token_is,
    "TokenIsNot": token_is_not,
}
