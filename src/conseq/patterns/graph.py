r"""A pattern ─→ a graph whose paths spell what it matches (Thompson's construction).

    /^a+\b/ ─→ [start of text] → (a) ⇄ fork → [word boundary] → ACCEPT

Python's own parser reads the pattern and Python's own matcher decides which characters a class has and where
a condition holds, so that both mean what they mean to Python, beyond ASCII and under flags, too. Nodes are
numbers:

    place        1, 2, …: reads a character of a class
    fork         below 0: leads on to any of some nodes; if it asks something, only where that holds of the
                 characters before and after

Counted repeats are written out. What a graph cannot say (backreferences, groups that never give back, a look
at more than one character) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any

LONGEST = 10_000
"""Characters that a pattern may have."""

LARGEST = 5_000
"""Nodes that its graph may have."""

DEEPEST = 50
"""How deep groups may be nested."""

ACCEPT = 0
"""The node at which the pattern is found."""

Matcher = Callable[..., object]
"""What is truthy if a piece of a pattern matches a text (at a place in it)."""

_SHOWN = 60
_CHARACTERS = {"LITERAL", "NOT_LITERAL", "IN", "ANY"}


class PatternError(ValueError):
    """A pattern cannot be used: what is wrong and what to do."""


@dataclass
class Graph:
    """The graph of a pattern."""

    classes: list[Matcher] = field(default_factory=list)  # class → truthy for its characters
    literals: dict[str, int] = field(default_factory=dict)  # a character → the class of just this one
    after: dict[int, int] = field(default_factory=dict)  # place → next node
    reads: dict[int, int] = field(default_factory=dict)  # place → class
    forks: dict[int, list[int]] = field(default_factory=dict)  # fork → next nodes
    asks: dict[int, int] = field(default_factory=dict)  # fork → number of the condition that it asks
    conditions: list[Matcher] = field(default_factory=list)  # number → truthy where it holds
    looked_at: set[int] = field(default_factory=set)  # the classes that conditions tell apart
    start: int = ACCEPT


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
        return _Builder(pattern, _parser.parse(pattern)).graph
    except PatternError:
        raise
    except (re.error, OverflowError, ValueError) as error:  # ValueError: a number of thousands of digits
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

    def __init__(self, pattern: str, tree: Any) -> None:
        self.pattern = pattern
        self.state = tree.state
        self.graph = Graph()
        self.known: dict[tuple, int] = {}  # what a class or a condition is → its number
        self.depth = 0
        self.graph.start = self.sequence(tree, tree.state.flags, ACCEPT)

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
                return self.repeat(argument, flags, then)
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

    def fork(self, targets: list[int]) -> int:
        self.check_size()
        node = -len(self.graph.forks) - 1
        self.graph.forks[node] = targets
        return node

    def conditional(self, op: str, argument: Any, flags: int, then: int) -> int:
        key = (op, str(argument), flags)
        if key not in self.known:
            if not self.look([(op, argument)], flags):
                raise self.unsupported(op)
            self.known[key] = len(self.graph.conditions)
            self.graph.conditions.append(self.matcher(op, argument, flags))
        node = self.fork([then])
        self.graph.asks[node] = self.known[key]
        return node

    def check_size(self) -> None:
        if len(self.graph.after) + len(self.graph.forks) == LARGEST:
            raise PatternError(
                f"the pattern {shown(self.pattern)} is too large: with its repeats written out it has "
                f"more than {LARGEST} parts; use smaller numbers in braces, or * or +"
            )

    def repeat(self, argument: Any, flags: int, then: int) -> int:
        least, most, items = argument
        if most == _parser.MAXREPEAT:
            loop = self.fork([then])
            self.graph.forks[loop].append(self.sequence(items, flags, loop))
            then = loop
        else:
            end = then
            for _ in range(most - least):
                then = self.fork([end, self.sequence(items, flags, then)])
        for _ in range(least):
            once = self.sequence(items, flags, then)
            if once == then:  # nothing is repeated
                break
            then = once
        return then

    # ── what Python's matcher decides ───────────────────────────────────────────────────────────────

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
                graph.classes.append(self.matcher(op, argument, flags))
        return self.known[key]

    def look(self, items: Any, flags: int) -> bool:
        """Note the classes that a condition tells apart; False if it looks at more than a character."""
        if len(items) != 1:
            return not items
        op, argument = str(items[0][0]), items[0][1]
        match op:
            case "ASSERT" | "ASSERT_NOT":
                return self.look(argument[1], flags)
            case "SUBPATTERN":
                return self.look(argument[3], _combined(flags, *argument[1:3]))
            case "BRANCH":
                return all(self.look(branch, flags) for branch in argument[1])
            case "AT":
                if flags & re.MULTILINE:
                    self.tell_apart("LITERAL", ord("\n"), 0)
                if "BOUNDARY" in str(argument):
                    self.tell_apart("IN", [(_parser.CATEGORY, _parser.CATEGORY_WORD)], flags)
            case _ if op in _CHARACTERS:
                self.tell_apart(op, argument, flags)
            case _:
                return False
        return True

    def tell_apart(self, op: str, argument: Any, flags: int) -> None:
        self.graph.looked_at.add(self.character_class(op, argument, flags))

    def matcher(self, op: str, argument: Any, flags: int) -> Matcher:
        """Python's own answer to whether a piece of a pattern matches."""
        state = copy(self.state)
        state.flags = flags
        piece = _parser.SubPattern(state, [(getattr(_parser, op), argument)])
        return _compiler.compile(piece).match

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


def _combined(flags: int, added: int, removed: int) -> int:
    """The flags inside a group that changes some; of `a`, `u` and `L` there is one."""
    return ((flags & ~_parser.TYPE_FLAGS if added & _parser.TYPE_FLAGS else flags) | added) & ~removed
