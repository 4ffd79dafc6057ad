"""Entities counted in characters → a sentence whose tokens they are.

    text, tokeniser, Mention(type, start, end)…, Relation…  ─→ Sentence with its text

Annotators mark what they mean, wherever words end: a token is cut where an entity begins or ends in it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from conseq.entities import Entity, Relation, Sentence
from conseq.errors import DataError
from conseq.io.json_objects import Places


@dataclass(frozen=True)
class Mention:
    """The characters start … end−1 of a text are of this type."""

    type: str
    start: int
    end: int

    def check(self, length: int) -> None:
        """Raise if it is not within a text of that length."""
        if not 0 <= self.start < self.end <= length:
            raise DataError(
                f"the entity {self} is empty or goes beyond the {length} characters; "
                "count from 0, and let the end be the one after the last"
            )

    def __str__(self) -> str:
        return f"{self.type} [{self.start}, {self.end})"


def sentence_of_text(
    text: str,
    places: Places,
    mentions: Sequence[Mention] = (),
    relations: Iterable[Relation] = (),
    *,
    pos: Sequence[str] | None = None,
    id: str | int | None = None,
) -> Sentence:
    """The sentence of a text whose tokens are at `places`, cut where entities begin and end.

    >>> found = sentence_of_text("U.S.-based Acme", [(0, 10), (11, 15)], [Mention("place", 0, 4)])
    >>> found.tokens, found.entities
    (('U.S.', '-based', 'Acme'), (Entity(type='place', start=0, end=1),))
    """
    for mention in mentions:
        mention.check(len(text))
    ends = [end for mention in mentions for end in (mention.start, mention.end)]
    parts = [(place, token) for place, token in _cut(places, ends) if not text[slice(*place)].isspace()]
    places = [place for place, _ in parts]
    if not places:
        raise DataError("the sentence has no tokens; leave it out")
    return Sentence(
        tuple(text[start:end] for start, end in places),
        tuple(_entity(mention, places, text) for mention in mentions),
        tuple(relations),
        None if pos is None else tuple(pos[token] for _, token in parts),
        id,
        text,
        tuple(places),
    )


def _cut(places: Places, ends: list[int]) -> Iterator[tuple[tuple[int, int], int]]:
    """The places, those divided in which an entity begins or ends, and the token that each is of."""
    ends = sorted(set(ends))
    for token, (start, end) in enumerate(places):
        edges = [start, *ends[bisect_right(ends, start) : bisect_left(ends, end)], end]
        yield from ((part, token) for part in pairwise(edges))


def _entity(mention: Mention, places: Places, text: str) -> Entity:
    first = bisect_left(places, mention.start, key=lambda place: place[0])
    end = bisect_right(places, mention.end, key=lambda place: place[1])
    if first >= end:
        cut = text[mention.start : mention.end]
        raise DataError(f"the entity {mention} is {cut!r}, in which there is no token; move its ends")
    return Entity(mention.type, first, end)


def text_and_places(sentence: Sentence) -> tuple[str, Places]:
    """The text of a sentence and where its tokens are in it; without a text, tokens joined by blanks.

    >>> text_and_places(Sentence(("Ann", "sleeps")))
    ('Ann sleeps', [(0, 3), (4, 10)])
    """
    if sentence.text is not None and sentence.characters is not None:
        return sentence.text, list(sentence.characters)
    places, start = [], 0
    for token in sentence.tokens:
        places.append((start, start + len(token)))
        start += len(token) + 1
    return " ".join(sentence.tokens), places


def mentions_of(sentence: Sentence, places: Places) -> list[Mention]:
    """The entities of a sentence, counted in characters."""
    return [Mention(e.type, places[e.start][0], places[e.end - 1][1]) for e in sentence.entities]
