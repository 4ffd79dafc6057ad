"""JSON as spaCy's `Doc.to_json` writes it ↔ sentences.  One object a line:

    {"text": "…", "ents": [{"start": 0, "end": 8, "label": "person"}, …],          counted in characters
     "tokens": [{"id": 0, "start": 0, "end": 3, "tag": "NNP"}, …],
     "relations": [{"head": 0, "tail": 1, "label": "kill"}, …]}                    numbers of ents

spaCy has no relations of its own; `Doc.from_json` leaves that key alone. Without tokens the text is cut.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

from conseq.entities import Sentence
from conseq.errors import DataError
from conseq.io.json_objects import TEXT, TOKENS, text_of
from conseq.io.sentences.jsonl import ID, RELATIONS, identity, listed, mention, relation
from conseq.io.sentences.placing import Mention, mentions_of, sentence_of_text, text_and_places
from conseq.tokens import Tokeniser

ENTS, LABEL, TAG = "ents", "label", "tag"


def understand(record: dict[str, Any], tokenise: Tokeniser) -> Sentence:
    """The sentence that an object describes."""
    text = text_of(record)
    mentions = listed(record, ENTS, "label, start and end", partial(mention, type=LABEL))
    relations = listed(record, RELATIONS, "label, head and tail", partial(relation, type=LABEL))
    tokens = listed(record, TOKENS, "start and end", _token)
    for token in tokens:
        token.check(len(text))
    if any(left.end > right.start for left, right in pairwise(tokens)):
        raise DataError("the tokens overlap, or do not stand in the order of the text; correct them")
    return sentence_of_text(
        text,
        [(token.start, token.end) for token in tokens] or tokenise(text),
        mentions,
        relations,
        pos=[token.type for token in tokens] if tokens and any(token.type for token in tokens) else None,
        id=identity(record),
    )


def _token(given: dict[str, Any]) -> Mention | None:
    """A place in the text, with its tag for a type."""
    tag, start, end = given.get(TAG) or "", given.get("start"), given.get("end")
    return (
        Mention(tag, start, end) if start.__class__ is end.__class__ is int and isinstance(tag, str) else None
    )


def to_object(sentence: Sentence) -> dict[str, Any]:
    """A sentence as plain JSON values, which `understand` reads back.

    >>> to_object(Sentence(("Hi", "Ann"), id=1))["tokens"]
    [{'id': 0, 'start': 0, 'end': 2}, {'id': 1, 'start': 3, 'end': 6}]
    """
    text, places = text_and_places(sentence)
    tags = [{}] * len(places) if sentence.pos is None else [{TAG: tag} for tag in sentence.pos]
    found: dict[str, Any] = {} if sentence.id is None else {ID: sentence.id}
    return found | {
        TEXT: text,
        ENTS: [{"start": m.start, "end": m.end, LABEL: m.type} for m in mentions_of(sentence, places)],
        TOKENS: [
            {"id": i, "start": start, "end": end, **tag}
            for i, ((start, end), tag) in enumerate(zip(places, tags, strict=True))
        ],
        RELATIONS: [{"head": r.head, "tail": r.tail, LABEL: r.type} for r in sentence.relations],
    }
