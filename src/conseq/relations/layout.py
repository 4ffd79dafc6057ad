"""Where a picture of a sentence has its words, entities and arcs; nothing about colours or markup.

    Sentence, width ─→ rows of pieces ─→ boxes of entities ─→ arcs in levels above each row ─→ Layout

A piece is an entity, or the words between two. An arc that leads to another row has a part in each row from
the one to the other. Lengths are in pixels; widths of letters are estimates that the markup makes true.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from conseq.entities import Sentence

TEXT, SMALL = 15.0, 11.0
"""Heights of letters: of the text, of the names of types."""
MARGIN, PAD, GAP = 14.0, 5.0, 5.0
"""Around a picture, inside a box, between pieces."""
TEXT_HEIGHT, NAME_HEIGHT, LEVEL, BETWEEN = 24.0, 15.0, 19.0, 12.0
"""Heights of a line of words, of the name of an entity's type, of a level of arcs, between rows."""
SPREAD = 13.0
"""Between the ends of arcs at one entity, at most."""

_NARROW, _WIDE = frozenset("iIljtfr.,:;'`|!()[]{}/\\-\" "), frozenset("mwMW@%&–—…")


@cache
def _letter(character: str) -> float:
    """The width of a character, as a share of its height."""
    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in _NARROW:
        return 0.33
    if unicodedata.bidirectional(character) in ("R", "AL"):
        return 0.48
    if character in _WIDE:
        return 0.88
    return 0.69 if category == "Lu" else 0.56


def measure(text: str, height: float = TEXT) -> float:
    """About how wide a text is.

    >>> measure("ill") < measure("new") < measure("NEW") < measure("東京都")
    True
    """
    return height * sum(map(_letter, text))


def fitted(text: str, width: float, height: float = TEXT) -> str:
    """A text that is no wider than this: one that is has … in its middle.

    >>> fitted("short", 100), fitted("a" * 1000, 100)
    ('short', 'aaaaa…aaaaa')
    """
    if measure(text, height) <= width:
        return text
    room, left, right = width - measure("…", height), "", ""
    for i in range(len(text) // 2):
        for side in (0, 1):
            room -= measure(text[-i - 1] if side else text[i], height)
            if room < 0:
                return f"{left}…{right}"
            left, right = (left, text[-i - 1] + right) if side else (left + text[i], right)
    return f"{left}…{right}"


def right_to_left(text: str) -> bool:
    """Whether most letters of a text are of scripts that run from right to left."""
    kinds = [unicodedata.bidirectional(character) for character in text]
    return sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L")


@dataclass
class Piece:
    """Words in a row, from `x`; they may be one or more entities."""

    x: float
    width: float
    text: str
    row: int


@dataclass
class Box:
    """An entity: its place in a row, and how many others it lies in."""

    x: float
    width: float
    row: int
    type: str
    depth: int = 0

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass
class Arc:
    """The part of a relation in one row: from x to x, each of which may be the edge (None: no end there).

    label    the name of the relation where there is room, and its middle
    """

    relation: int
    row: int
    ends: tuple[float, float]  # of head and tail, or edges
    head: bool  # whether it starts here
    tail: bool  # whether it ends here, in an arrow
    label: str
    level: int = 0

    @property
    def label_width(self) -> float:
        return measure(self.label, SMALL) + 8

    def reach(self, width: float) -> tuple[float, float, float]:
        """The left and right end, with the label, and the label's middle."""
        left, right = sorted(self.ends)
        half = self.label_width / 2
        middle = min(max((left + right) / 2, half), width - half)
        return min(left, middle - half), max(right, middle + half), middle


@dataclass
class Layout:
    """All that is to be drawn of a sentence, and where."""

    width: float
    pieces: list[Piece] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)  # in the order of the entities
    arcs: list[Arc] = field(default_factory=list)
    texts: list[float] = field(default_factory=list)  # the upper edge of each row's words
    height: float = 0.0
    reversed: bool = False


def lay_out(sentence: Sentence, width: float) -> Layout:
    """The layout of a sentence in a picture of that width."""
    whole = sentence.cut(0, len(sentence.tokens)) if sentence.tokens else ""
    layout = Layout(width, reversed=right_to_left(whole))
    _place_words(layout, sentence)
    if layout.reversed:
        things: list[Piece | Box] = [*layout.pieces, *layout.boxes]
        for thing in things:
            thing.x = width - thing.x - thing.width
    layout.arcs = list(_arcs(layout, sentence))
    _place_rows(layout)
    return layout


# ── words ───────────────────────────────────────────────────────────────────────────────────────


def _clusters(sentence: Sentence) -> Iterator[tuple[int, int, list[int]]]:
    """Stretches of tokens with the entities in each: those that overlap together, and each token between."""
    order = sorted(
        range(len(sentence.entities)),
        key=lambda i: (sentence.entities[i].start, -sentence.entities[i].end),
    )
    token, i = 0, 0
    while token < len(sentence.tokens):
        if i == len(order) or sentence.entities[order[i]].start > token:
            yield token, token + 1, []
            token += 1
            continue
        end, inside = token + 1, []
        while i < len(order) and sentence.entities[order[i]].start < end:
            end = max(end, sentence.entities[order[i]].end)
            inside.append(order[i])
            i += 1
        yield token, end, inside
        token = end


def _place_words(layout: Layout, sentence: Sentence) -> None:
    """Words from left to right, row after row; boxes around entities."""
    boxes: dict[int, Box] = {}
    room = layout.width - 2 * MARGIN
    x, row, since = MARGIN, 0, None  # the first token of the piece that may still grow
    for start, end, inside in _clusters(sentence):
        text = " ".join(sentence.cut(start, end).split())
        pad = PAD if inside else 0.0
        text = fitted(text, room - 2 * pad)
        wide = measure(text) + 2 * pad
        names = [measure(sentence.entities[i].type, SMALL) + 2 * pad for i in inside]
        wide = min(room, max([wide, *names]))
        if since is not None and not inside:  # words between entities are one piece, as long as there is room
            grown = " ".join(sentence.cut(since, end).split())
            piece = layout.pieces[-1]
            if piece.x + measure(grown) <= layout.width - MARGIN:
                piece.text, piece.width = grown, measure(grown)
                x = piece.x + piece.width + GAP
                continue
        if x > MARGIN and x + wide > layout.width - MARGIN:
            x, row = MARGIN, row + 1
        layout.pieces.append(Piece(x, wide, text, row))
        since = None if inside else start
        piece = layout.pieces[-1]
        boxes |= _boxes(sentence, start, inside, piece)
        x = piece.x + piece.width + GAP
    layout.boxes = [boxes[i] for i in range(len(sentence.entities))]


def _boxes(sentence: Sentence, start: int, inside: list[int], piece: Piece) -> dict[int, Box]:
    """The boxes of entities that overlap: the first has the whole width, others their share of the words."""
    found: dict[int, Box] = {}
    whole = max(
        1.0, measure(sentence.cut(start, max((sentence.entities[i].end for i in inside), default=start + 1)))
    )
    for depth, i in enumerate(inside):
        entity = sentence.entities[i]
        before = measure(sentence.cut(start, entity.start)) / whole if entity.start > start else 0.0
        share = min(1.0 - before, measure(sentence.cut(entity.start, entity.end)) / whole)
        found[i] = Box(piece.x + before * piece.width, share * piece.width, piece.row, entity.type, depth)
    return found


# ── arcs ────────────────────────────────────────────────────────────────────────────────────────


def _arcs(layout: Layout, sentence: Sentence) -> Iterator[Arc]:
    """The parts of every relation, row by row."""
    ends = _ends(layout, sentence)
    after, before = (MARGIN / 2, layout.width - MARGIN / 2)[:: 1 if layout.reversed else -1]
    for i, relation in enumerate(sentence.relations):
        head, tail = layout.boxes[relation.head].row, layout.boxes[relation.tail].row
        step = 1 if tail >= head else -1
        leave, enter = (after, before) if step > 0 else (before, after)
        for row in range(head, tail + step, step):
            xs = ends[i, True] if row == head else enter, ends[i, False] if row == tail else leave
            name = fitted(relation.type, layout.width - 2 * MARGIN, SMALL)
            yield Arc(i, row, xs, row == head, row == tail, name)


def _ends(layout: Layout, sentence: Sentence) -> dict[tuple[int, bool], float]:
    """Where the arc of a relation meets its head (True) and tail (False): side by side if there are several.

    Arcs that go left stand left, the longer ones inside, so that few cross.
    """
    at: dict[int, list[tuple[float, int, bool]]] = defaultdict(list)
    for i, relation in enumerate(sentence.relations):
        for here, there, is_head in (
            (relation.head, relation.tail, True),
            (relation.tail, relation.head, False),
        ):
            at[here].append((_away(layout, layout.boxes[here], layout.boxes[there]), i, is_head))
    found = {}
    for entity, arcs in at.items():
        box = layout.boxes[entity]
        left = sorted((arc for arc in arcs if arc[0] < 0), reverse=True)
        right = sorted((arc for arc in arcs if arc[0] >= 0), reverse=True)
        apart = min(SPREAD, box.width / (len(arcs) + 1))
        for place, (_, i, is_head) in enumerate([*left, *right]):
            found[i, is_head] = box.middle + apart * (place - (len(arcs) - 1) / 2)
    return found


def _away(layout: Layout, here: Box, there: Box) -> float:
    """How far to the right another box is; those of other rows are beyond the edges."""
    beyond = (there.row - here.row) * layout.width * (-1 if layout.reversed else 1)
    return there.middle - here.middle + beyond


def _place_rows(layout: Layout) -> None:
    """Levels of arcs, such that those of a level stand apart, and rows one below the other."""
    rows = 1 + max((piece.row for piece in layout.pieces), default=0)
    in_row: list[list[Arc]] = [[] for _ in range(rows)]
    for arc in layout.arcs:
        in_row[arc.row].append(arc)
    y = MARGIN
    for row, arcs in enumerate(in_row):
        levels: list[list[tuple[float, float]]] = []
        for arc in sorted(arcs, key=lambda arc: (abs(arc.ends[0] - arc.ends[1]), arc.relation)):
            low, high, _ = arc.reach(layout.width)
            taken = (any(a < high + 4 and low - 4 < b for a, b in level) for level in levels)
            arc.level = next((i for i, is_taken in enumerate(taken) if not is_taken), len(levels))
            if arc.level == len(levels):
                levels.append([])
            levels[arc.level].append((low, high))
        y += LEVEL * len(levels) + (8 if levels else 0)
        layout.texts.append(y)
        depth = max((box.depth + 1 for box in layout.boxes if box.row == row), default=0)
        y += TEXT_HEIGHT + NAME_HEIGHT * depth + BETWEEN
    layout.height = y - BETWEEN + MARGIN
