"""News about people, organisations and places: (n, seed, noise) → stories with names → `Sentence`s.

story with slots ─names─→ pieces (text, entity or None) ─noise─→ text, tokens, entities, relations
"""

from __future__ import annotations

import re
from random import Random

from conseq.datasets.noise import disturb
from conseq.datasets.people import invented_surname, person
from conseq.datasets.template import Piece, expand
from conseq.datasets.words import news as words
from conseq.datasets.words import people, places
from conseq.entities import Relation, Sentence
from conseq.errors import DataError
from conseq.io.sentences.placing import Mention, sentence_of_text
from conseq.tokens import by_words

KINDS = {"p": "person", "o": "organisation", "l": "place"}
"""What the letters of slots stand for."""

ANY_SHARE, BARE_SHARE, SHORT_SHARE = 0.2, 0.25, 0.5
"""Names that may be of any kind; names of one invented word; people called by their surname alone."""
LED_SHARE, TAILED_SHARE, LINKED_SHARE = 0.2, 0.25, 0.3
"""Stories with something before them or behind them, and sentences of two stories."""

_TOWNS = tuple(entry.split(", ")[0] for entry in places.REGIONS)
_COUNTRIES = tuple(entry.split(", ")[1] for entry in places.REGIONS if len(entry.split(", ")[1]) > 2)
_STORIES = tuple(tuple(part.strip() for part in story.partition("=")[::2]) for story in words.STORIES)
_SLOT = re.compile(r"\{(\w+)\}")


def news(n: int, seed: int = 0, noise: float = 0.1) -> list[Sentence]:
    """`n` sentences of news with their entities and relations, and their texts.

    Another seed gives another sample with names of its own; the first sentences of a larger sample are those
    of a smaller one. Entities are of the types person, organisation and place; the relations are
    work_for(person, organisation), live_in(person, place), orgbased_in(organisation, place),
    located_in(place, place) and kill(person, person); each pair has at most one.

    >>> sentence = news(4, seed=0)[2]
    >>> sentence.text
    'Houston sued Hideo Chapman, and Hannah Laton, a driver for Bromastein, declined to comment.'
    >>> [sentence.cut(entity.start, entity.end) for entity in sentence.entities]
    ['Houston', 'Hideo Chapman', 'Hannah Laton', 'Bromastein']
    >>> sentence.entities[0], sentence.relations
    (Entity(type='organisation', start=0, end=1), (Relation(type='work_for', head=2, tail=3),))
    """
    if n < 0:
        raise DataError(f"cannot make {n} sentences; n must be 0 or more")
    if not 0 <= noise <= 1:
        raise DataError(f"noise {noise} is no share; give a number from 0 to 1")
    rng = Random(f"news {seed}")
    return [_sentence(rng, noise, i) for i in range(n)]


def _sentence(rng: Random, noise: float, number: int) -> Sentence:
    """One or two stories in a sentence."""
    pieces, relations = _story(rng)
    if rng.random() < LINKED_SHARE:
        more, further = _story(rng, "+")
        pieces = [*pieces, Piece(f"{_after(rng.choice(words.LINKS))} "), *more]
        relations |= further
    if rng.random() < LED_SHARE:
        pieces.insert(0, Piece(_filled(f"{rng.choice(words.LEADS)} ", rng)))
    if rng.random() < TAILED_SHARE:
        pieces.append(Piece(_after(_filled(rng.choice(words.TAILS), rng))))
    (first, slot), *others = pieces
    first = first if slot else first[:1].upper() + first[1:]
    end = [] if pieces[-1].text.endswith(".") else [Piece(".")]
    pieces = disturb([Piece(first, slot), *others, *end], rng, noise)
    return _placed(pieces, relations, number)


def _story(rng: Random, mark: str = "") -> tuple[list[Piece], set[tuple[str, str, str]]]:
    """The pieces of a story, labelled with their slots, and its relations (type, head, tail)."""
    story, related = rng.choice(_STORIES)
    pieces, names = [], set[str]()
    for i, part in enumerate(_SLOT.split(story)):
        if i % 2 == 0 or part.rstrip("23") not in KINDS:
            pieces.append(Piece(_word(part, rng) if i % 2 else part))
            continue
        name = _name(part[0], rng)
        while name in names:
            name = _name(part[0], rng)
        names.add(name)
        pieces.append(Piece(name, f"{part}{mark}"))
    relations = [relation.split() for relation in related.split(",") if relation]
    pieces = [piece for piece in pieces if piece.text]
    return pieces, {(kind, f"{head}{mark}", f"{tail}{mark}") for head, kind, tail in relations}


def _after(text: str) -> str:
    """The same, to be put behind a word."""
    return text if text.startswith(",") else f" {text}"


def _filled(pattern: str, rng: Random) -> str:
    return expand(pattern, lambda slot: _word(slot, rng))


def _word(slot: str, rng: Random) -> str:
    """What stands in a slot that is no entity."""
    if slot == "number":
        return str(rng.randrange(18, 95))
    return rng.choice({"role": words.ROLES, "said": words.SAID, "day": words.DAYS}[slot])


def _name(kind: str, rng: Random) -> str:
    """A name of a person, an organisation or a place; many could be of another kind, too."""
    x = rng.random()
    if x < ANY_SHARE:
        return rng.choice(words.ANY_OF_THREE)
    if x < ANY_SHARE + BARE_SHARE:
        return invented_surname(rng)
    return {"p": _person, "o": _organisation, "l": _place}[kind](rng)


def _person(rng: Random) -> str:
    who = person(rng)
    return who.surname if rng.random() < SHORT_SHARE else f"{who.given[0]} {who.surname}"


def _organisation(rng: Random) -> str:
    if rng.random() < 0.4:
        return expand(rng.choice(words.OF_TOWNS), lambda _: rng.choice(_TOWNS))
    return f"{rng.choice(people.SURNAMES)} {rng.choice(words.INDUSTRIES)}"


def _place(rng: Random) -> str:
    return rng.choice(_TOWNS) if rng.random() < 0.7 else rng.choice(_COUNTRIES)


def _placed(pieces: list[Piece], relations: set[tuple[str, str, str]], number: int) -> Sentence:
    """The sentence of labelled pieces."""
    text, mentions, place = "", list[Mention](), dict[str, int]()
    for piece, slot in pieces:
        if slot is not None:
            place[slot] = len(mentions)
            mentions.append(Mention(KINDS[slot[0]], len(text), len(text) + len(piece)))
        text += piece
    found = [Relation(kind, place[head], place[tail]) for kind, head, tail in relations]
    found.sort(key=lambda relation: (relation.head, relation.tail))
    return sentence_of_text(text, by_words(text), mentions, found, id=number)
