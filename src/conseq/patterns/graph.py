r"""A pattern ─→ a graph whose paths spell what it matches (Thompson's construction).

    /^a+\b/ ─→ [start of text] → (a) ⇄ fork → [word boundary] → ACCEPT

Python's own parser reads the pattern and Python's own matcher decides which characters a class has, so that
both mean what they mean to Python, beyond ASCII and under flags, too. Nodes are numbers:

    place        1, 2, …: reads a character of a class
    fork         below 0: leads on to any of some nodes
    condition    below 0: leads on where something holds of the characters before and after

Counted repeats are written out. What a graph cannot say (backreferences, groups that never give back, a look
at more than one character) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any

LONGEST = 10_000
"""Characters that a pattern may have."""

LARGEST = 5_000
"""Nodes that its graph may have."""

DEEPEST = 50
"""How deep groups may be nested."""

START, END, FINAL = 1, 2, 4
"""What else may stand before or after a place: START before the first character, END after the last; FINAL
marks a newline that is the last character, before which `$` matches, too. Classes have the bits from 8 up."""

ACCEPT = 0
"""The node at which the pattern is found."""

Condition = Callable[[int, int], bool]
"""(bits of what stands before, bits of what comes after) → whether it holds."""

_SHOWN = 60
_CHARACTERS = {"LITERAL", "NOT_LITERAL", "IN", "ANY"}


class PatternError(ValueError):
    """A pattern cannot be used: what is wrong and what to do."""


@dataclass
class Graph:
    """The graph of a pattern."""

    classes: list[Callable[[str], object]] = field(default_factory=list)  # class → truthy for its characters
    literals: dict[str, int] = field(default_factory=dict)  # a character → the class of just this one
    after: dict[int, int] = field(default_factory=dict)  # place → next node
    reads: dict[int, int] = field(default_factory=dict)  # place → class
    forks: dict[int, list[int]] = field(default_factory=dict)  # node → next nodes
    conditions: dict[int, tuple[int, int]] = field(default_factory=dict)  # node → (number, next node)
    tests: list[Condition] = field(default_factory=list)  # number of a condition → what it asks
    looked_at: int = START | END | FINAL  # the bits that conditions see
    start: int = ACCEPT

    @property
    def size(self) -> int:
        return len(self.after) + len(self.forks) + len(self.conditions)


def parse(pattern: str) -> Graph:
    """The graph of a pattern.

    >>> parse("a{2}").reads
    {1: 0, 2: 0}
    """
    if len(pattern) > LONGEST:
        raise PatternError(
            f"the pattern {shown(pattern)} has {len(pattern)} characters; "
            f"use at most {LONGEST}, or several patterns"
        )
    try:
        tree = _parser.parse(pattern)
        return _Builder(pattern).graph_of(tree)
    except (re.error, OverflowError) as error:
        raise PatternError(
            f"the pattern {shown(pattern)} is not a regular expression: {error}; correct it"
        ) from None
    except RecursionError:
        raise _too_deep(pattern) from None


def shown(pattern: str) -> str:
    """The pattern as errors mention it, a long one cut short.

    >>> shown("x" * 100)
    '/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…/'
    """
    return f"/{pattern if len(pattern) <= _SHOWN else pattern[:_SHOWN] + '…'}/"


def _too_deep(pattern: str) -> PatternError:
    return PatternError(
        f"the pattern {shown(pattern)} has groups nested deeper than {DEEPEST}; write it with fewer of them"
    )


class _Builder:
    """Builds a graph from its end: each piece of the pattern is given the node that follows it."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.graph = Graph()
        self.known: dict[tuple, int] = {}  # what a class is → its number
        self.asked: dict[tuple, int] = {}  # what a condition asks → its number
        self.depth = 0

    def graph_of(self, tree: Any) -> Graph:
        self.graph.start = self.sequence(tree, tree.state.flags, ACCEPT)
        return self.graph

    def sequence(self, items: Any, flags: int, then: int) -> int:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _too_deep(self.pattern)
        for op, argument in reversed(list(items)):
            then = self.piece(str(op), argument, flags, then)
        self.depth -= 1
        return then

    def piece(self, op: str, argument: Any, flags: int, then: int) -> int:
        match op:
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, items = argument
                return self.repeat((least, most), items, flags, then)
            case "BRANCH":
                return self.fork([self.sequence(branch, flags, then) for branch in argument[1]])
            case "SUBPATTERN":
                _, added, removed, items = argument
                return self.sequence(items, _combined(flags, added, removed), then)
            case "FAILURE":
                return self.fork([])
        if op in _CHARACTERS:
            return self.place(self.character_class(op, argument, flags), then)
        return self.conditional(op, argument, flags, then)

    # ── nodes ───────────────────────────────────────────────────────────────────────────────────────

    def place(self, character_class: int, then: int) -> int:
        self.check_size()
        node = len(self.graph.after) + 1
        self.graph.after[node] = then
        self.graph.reads[node] = character_class
        return node

    def fork(self, targets: Iterable[int]) -> int:
        node = self.unread_node()
        self.graph.forks[node] = list(targets)
        return node

    def conditional(self, op: str, argument: Any, flags: int, then: int) -> int:
        key = (op, str(argument), flags)
        if key not in self.asked:
            condition = self.condition(op, argument, flags)
            if condition is None:
                raise self.unsupported(op)
            self.asked[key] = len(self.graph.tests)
            self.graph.tests.append(condition)
        node = self.unread_node()
        self.graph.conditions[node] = (self.asked[key], then)
        return node

    def unread_node(self) -> int:
        self.check_size()
        return -len(self.graph.forks) - len(self.graph.conditions) - 1

    def check_size(self) -> None:
        if self.graph.size == LARGEST:
            raise PatternError(
                f"the pattern {shown(self.pattern)} is too large: with its repeats written out it has "
                f"more than {LARGEST} parts; use smaller numbers in braces, or * or +"
            )

    def repeat(self, times: tuple[int, int], items: Any, flags: int, then: int) -> int:
        least, most = times
        if most == _parser.MAXREPEAT:
            loop = self.fork([then])
            self.graph.forks[loop].append(self.sequence(items, flags, loop))
            then = loop
        else:
            end = then
            for _ in range(most - least):
                then = self.fork([end, self.sequence(items, flags, then)])
        for _ in range(least):
            copy = self.sequence(items, flags, then)
            if copy == then:  # nothing is repeated
                break
            then = copy
        return then

    # ── classes of characters ───────────────────────────────────────────────────────────────────────

    def character_class(self, op: str, argument: Any, flags: int) -> int:
        """The number of the class that a piece reads; equal pieces have equal classes."""
        graph = self.graph
        key = (op, str(argument), flags)
        if key not in self.known:
            self.known[key] = len(graph.classes)
            if op == "LITERAL" and not flags & re.IGNORECASE:
                graph.literals[chr(argument)] = len(graph.classes)
                graph.classes.append(chr(argument).__eq__)
            else:
                graph.classes.append(_matcher(op, argument, flags))
        return self.known[key]

    def word(self, flags: int) -> int:
        """The class of what `\\w` matches."""
        return self.character_class("IN", [(_parser.CATEGORY, _parser.CATEGORY_WORD)], flags)

    # ── conditions ──────────────────────────────────────────────────────────────────────────────────

    def condition(self, op: str, argument: Any, flags: int) -> Condition | None:
        """What a piece without a width asks; None where it asks for more than the characters beside it."""
        match op:
            case "AT":
                return self.position(str(argument), flags)
            case "ASSERT" | "ASSERT_NOT":
                direction, items = argument
                asked = self.look(items, flags, direction)
                if asked is None:
                    return None
                return asked if op == "ASSERT" else lambda before, after: not asked(before, after)
        return None

    def look(self, items: Any, flags: int, direction: int) -> Condition | None:
        """Whether the character ahead (1) or behind (−1) is of a class, or a condition holds there."""
        if len(items) != 1:
            return None if len(items) else lambda _before, _after: True
        op, argument = str(items[0][0]), items[0][1]
        if op == "SUBPATTERN":
            return self.look(argument[3], _combined(flags, *argument[1:3]), direction)
        if op == "BRANCH":
            choices = [self.look(branch, flags, direction) for branch in argument[1]]
            asked = [choice for choice in choices if choice is not None]
            return (lambda b, a: any(ask(b, a) for ask in asked)) if len(asked) == len(choices) else None
        if op in _CHARACTERS:
            bit = self.look_at(self.character_class(op, argument, flags))
            return (lambda _, after: bool(after & bit)) if direction > 0 else (lambda b, _: bool(b & bit))
        return self.condition(op, argument, flags)

    def position(self, where: str, flags: int) -> Condition | None:
        newline = self.look_at(self.character_class("LITERAL", ord("\n"), 0)) if flags & re.MULTILINE else 0
        match where:
            case "AT_BEGINNING":
                return lambda before, _: bool(before & (START | newline))
            case "AT_BEGINNING_STRING":
                return lambda before, _: bool(before & START)
            case "AT_END":
                return lambda _, after: bool(after & (END | FINAL | newline))
            case "AT_END_STRING":
                return lambda _, after: bool(after & END)
            case "AT_BOUNDARY" | "AT_NON_BOUNDARY":
                word, differ = self.look_at(self.word(flags)), where == "AT_BOUNDARY"
                return lambda b, a: (
                    (bool(b & word) != bool(a & word)) == differ and not (b & START and a & END)
                )
        return None

    def look_at(self, character_class: int) -> int:
        """The bit of a class that a condition looks at."""
        bit = bit_of(character_class)
        self.graph.looked_at |= bit
        return bit

    def unsupported(self, op: str) -> PatternError:
        match op:
            case "ASSERT" | "ASSERT_NOT":
                what = "looks ahead or behind by more than one character"
                remedy = "ask for one character, or match what it looks for"
            case "GROUPREF" | "GROUPREF_EXISTS":
                what, remedy = "refers back to a group", "write out what may be repeated"
            case "ATOMIC_GROUP" | "POSSESSIVE_REPEAT":
                what = "has an atomic group or a possessive repeat"
                remedy = "write (?:…) or a plain repeat, which is as fast"
            case _:
                what, remedy = f"has a part of the kind {op}", "leave it out"
        return PatternError(
            f"the pattern {shown(self.pattern)} {what}, which conseq cannot search for; {remedy}"
        )


def bit_of(character_class: int) -> int:
    """The bit of a class in what conditions see of a character."""
    return 8 << character_class


def _combined(flags: int, added: int, removed: int) -> int:
    """The flags inside a group that changes some; of `a`, `u` and `L` there is one."""
    return ((flags & ~_parser.TYPE_FLAGS if added & _parser.TYPE_FLAGS else flags) | added) & ~removed


def _matcher(op: str, argument: Any, flags: int) -> Callable[[str], object]:
    """Python's own answer to whether a piece of a pattern matches a character."""
    state = _parser.State()
    state.flags = flags
    piece = _parser.SubPattern(state, [(getattr(_parser, op), argument)])
    return _compiler.compile(piece).match
