"""Whether a pattern is found in a text, with one step per character.

    Searcher(pattern)(text) ─→ bool

The set of places that can read the next character is a state of a deterministic automaton (the subset
construction), made when it is first met and kept; so is what a state does with a character. A set of places
is an int, a bit for each. Everything kept is forgotten when it grows large, and made again.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from operator import getitem, or_

from conseq.patterns.graph import ACCEPT, Graph, parse

MOST_KEPT = 4_000_000
"""Bytes, roughly, that the automaton of a pattern may take."""

_AT_END = ""
_FINAL_NEWLINE = "\n$"
_MORE = "…"
"""Stands behind a character that is not the last."""
_ENTRY = 150
"""Bytes, roughly, of a small thing kept in a dict."""


class _State(dict[str, "_State"]):
    """What comes next, by the character read; `_AT_END` and `_FINAL_NEWLINE` are read at a text's end."""

    __slots__ = ("places", "searcher", "seen")

    def __init__(self, searcher: Searcher, places: int, seen: str) -> None:
        self.searcher = searcher
        self.places = places  # that have just read
        self.seen = seen  # stands for the character before

    def __missing__(self, character: str) -> _State:
        return self.searcher.step(self, character)

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


class _Found(_State):
    """The state once the pattern is found, whatever follows."""

    def __missing__(self, character: str) -> _State:
        return self


class _Following(dict[str, int]):
    """What can be reached from four places, by which of them have just read, as a hexadecimal digit."""

    def __init__(self, searcher: Searcher, holding: int, first: int) -> None:
        super().__init__({"0": 0})
        self.searcher = searcher
        self.holding = holding
        self.first = first

    def __missing__(self, digit: str) -> int:
        graph = self.searcher.graph
        nodes = [graph.after[self.first + i] for i in range(4) if int(digit, 16) >> i & 1]
        self[digit] = closure(graph, nodes, self.holding)
        self.searcher.keep(self[digit])
        return self[digit]


class Searcher:
    r"""Answers whether a pattern is found somewhere in a text.

    >>> Searcher(r"(a+)+$")("a" * 10_000 + "b")
    False
    >>> Searcher(r"\b\w\b")("für é")
    True
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.graph = parse(pattern)
        self.readers = [0] * len(self.graph.classes)  # class → the places that read it
        for place, character_class in self.graph.reads.items():
            self.readers[character_class] |= 1 << place
        self.others = [
            (i, matches)
            for i, matches in enumerate(self.graph.classes)
            if i not in self.graph.literals.values()
        ]
        self.found = _Found(self, 0, "")
        self.forget()

    def __call__(self, text: str) -> bool:
        if text.endswith("\n"):
            state = reduce(getitem, text[:-1], self.start)[_FINAL_NEWLINE]
        else:
            state = reduce(getitem, text, self.start)
        return state[_AT_END] is self.found

    def __reduce__(self) -> tuple:
        return searcher, (self.pattern,)

    def forget(self) -> None:
        """Begin with nothing kept. Other threads may still be in a state made before, and go on."""
        self.kept = 0
        self.states: dict[tuple[int, str], _State] = {}
        self.characters: dict[str, tuple[int, str]] = {}
        self.alike: dict[frozenset[int], str] = {}  # classes that conditions look at → a text for all of them
        self.follow: dict[int, tuple[int, list[_Following]]] = {}
        self.start = _State(self, 0, "")

    # ── what is kept ────────────────────────────────────────────────────────────────────────────────

    def step(self, state: _State, character: str) -> _State:
        """The state after a character; a new one is kept."""
        if self.kept > MOST_KEPT:
            self.forget()
        places, seen = self.character(character)
        reached = self.reached(state.places, self.holding(state.seen, seen))
        if reached >> ACCEPT & 1:
            after: _State = self.found
        else:
            key = reached & places, seen
            self.keep(reached)
            after = self.states.setdefault(key, _State(self, *key))
        self.keep(0)
        state[character] = after
        return after

    def keep(self, places: int) -> None:
        self.kept += _ENTRY + places.bit_length() // 8

    def character(self, character: str) -> tuple[int, str]:
        """The places that can read a character, and a text that stands for it and what may follow it."""
        known = self.characters.get(character)
        if known is None:
            self.keep(0)
            known = self.characters[character] = self.look_at(character)
        return known

    def look_at(self, character: str) -> tuple[int, str]:
        if character == _AT_END:
            return 0, ""
        if character == _FINAL_NEWLINE:
            return self.character("\n")[0], "\n"
        classes = [i for i, matches in self.others if matches(character)]
        if character in self.graph.literals:
            classes.append(self.graph.literals[character])
        places = reduce(or_, (self.readers[i] for i in classes), 0)
        looked_at = frozenset(self.graph.looked_at.intersection(classes))
        return places, self.alike.setdefault(looked_at, character + _MORE)

    def holding(self, before: str, after: str) -> int:
        """The conditions that hold between two characters, a bit for each."""
        text, at = before[:1] + after, len(before[:1])
        return sum(bool(holds(text, at)) << i for i, holds in enumerate(self.graph.conditions))

    def reached(self, places: int, holding: int) -> int:
        """The places that can read next, and ACCEPT, if some have just read; a search may begin anywhere."""
        follow = self.follow.get(holding)
        if follow is None:
            groups = range(1 + len(self.graph.after) // 4)
            start = closure(self.graph, [self.graph.start], holding)
            follow = self.follow[holding] = (
                start,
                [_Following(self, holding, 4 * group) for group in groups],
            )
            self.kept += _ENTRY * (2 + len(groups))
        start, by_digit = follow
        return reduce(or_, map(getitem, by_digit, reversed(f"{places:x}")), start)


def closure(graph: Graph, nodes: list[int], holding: int) -> int:
    """The places, and ACCEPT, that are reached from some nodes without reading, a bit for each."""
    reached = 0
    met = set(nodes)
    while nodes:
        node = nodes.pop()
        if node >= 0:
            reached |= 1 << node
            continue
        if node in graph.asks and not holding >> graph.asks[node] & 1:
            continue
        for target in graph.forks[node]:
            if target not in met:
                met.add(target)
                nodes.append(target)
    return reached


@lru_cache(maxsize=64)
def searcher(pattern: str) -> Searcher:
    """The searcher of a pattern, kept for the next time."""
    return Searcher(pattern)
