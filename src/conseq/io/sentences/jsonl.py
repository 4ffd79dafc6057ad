"""JSON lines ↔ sentences with entities and relations.  One object a line:

    {"tokens": […], "entities": [{"type": "person", "start": 0, "end": 2}, …],   counted in tokens
     "relations": [{"type": "kill", "head": 0, "tail": 1}, …], "pos": […], "id": 7}

Heads and tails are numbers of entities; `end` is the token after the last. An object with a text and no
tokens has its entities counted in characters. All but tokens or text may be missing, other keys are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from conseq.entities import Entity, Relation, Sentence
from conseq.errors import DataError
from conseq.io.json_objects import TEXT, TOKENS, align, strings_of, text_of
from conseq.io.sentences.placing import Mention, sentence_of_text
from conseq.tokens import Tokeniser

ENTITIES, RELATIONS, POS, ID = "entities", "relations", "pos", "id"

T = TypeVar("T")


def understand(record: dict[str, Any], tokenise: Tokeniser) -> Sentence:
    """The sentence that an object describes.

    >>> from conseq.tokens import by_words
    >>> rome = {"type": "place", "start": 0, "end": 1}
    >>> understand({"tokens": ["Rome"], "entities": [rome]}, by_words).entities
    (Entity(type='place', start=0, end=1),)
    """
    relations = listed(record, RELATIONS, "type, head and tail", relation)
    entities = listed(record, ENTITIES, "type, start and end", mention)
    text = None if TOKENS in record and record.get(TEXT) is None else text_of(record)
    if TOKENS not in record and text is not None:
        return sentence_of_text(text, tokenise(text), entities, relations, id=identity(record))
    tokens = strings_of(record, TOKENS)
    if not tokens:
        raise DataError("the sentence has no tokens; leave the line out")
    return Sentence(
        tuple(tokens),
        tuple(Entity(found.type, found.start, found.end) for found in entities),
        tuple(relations),
        None if record.get(POS) is None else tuple(strings_of(record, POS, len(tokens))),
        identity(record),
        text,
        None if text is None else tuple(align(text, tokens)),
    )


def listed(
    record: dict[str, Any], key: str, parts: str, make: Callable[[dict[str, Any]], T | None]
) -> list[T]:
    """What is made of each object under a key, which may be missing; None: it has not got its parts."""
    values = record.get(key)
    if values is None:
        return []
    if not isinstance(values, list):
        raise DataError(f'"{key}" is not a list; give a list of objects with {parts}')
    found = []
    for number, value in enumerate(values):
        made = make(value) if isinstance(value, dict) else None
        if made is None:
            given = json.dumps(value, ensure_ascii=False)
            raise DataError(
                f'number {number} of "{key}" is {given}; give an object with {parts}: one string and two '
                "whole numbers"
            )
        found.append(made)
    return found


def mention(given: dict[str, Any], type: str = "type") -> Mention | None:
    """A type with a start and an end."""
    found: Any = given.get(type), given.get("start"), given.get("end")
    return Mention(*found) if _are(*found) else None


def relation(given: dict[str, Any], type: str = "type") -> Relation | None:
    """A type with the numbers of two entities."""
    found: Any = given.get(type), given.get("head"), given.get("tail")
    return Relation(*found) if _are(*found) else None


def _are(type: Any, *numbers: Any) -> bool:
    """Whether these are a name and whole numbers."""
    return isinstance(type, str) and bool(type) and all(n.__class__ is int for n in numbers)


def identity(record: dict[str, Any]) -> str | int | None:
    """What the sentence is called, if it is called something."""
    given = record.get(ID)
    if given is not None and given.__class__ not in (str, int):
        raise DataError(f'"{ID}" is {json.dumps(given)}; give a string or a whole number, or leave it out')
    return given


def to_object(sentence: Sentence) -> dict[str, Any]:
    """A sentence as plain JSON values, which `understand` reads back.

    >>> to_object(Sentence(("Rome",), (Entity("place", 0, 1),), id=3))
    {'id': 3, 'tokens': ['Rome'], 'entities': [{'type': 'place', 'start': 0, 'end': 1}], 'relations': []}
    """
    found: dict[str, Any] = {} if sentence.id is None else {ID: sentence.id}
    found |= {} if sentence.text is None else {TEXT: sentence.text}
    found[TOKENS] = list(sentence.tokens)
    found |= {} if sentence.pos is None else {POS: list(sentence.pos)}
    found[ENTITIES] = [{"type": e.type, "start": e.start, "end": e.end} for e in sentence.entities]
    found[RELATIONS] = [{"type": r.type, "head": r.head, "tail": r.tail} for r in sentence.relations]
    return found
