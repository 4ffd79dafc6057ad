"""How answers about sentences are written.  Sentences with their decodings ─→ text, lines, documents"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from conseq.cli.outcome import visible
from conseq.cli.show import Palette, console

if TYPE_CHECKING:
    from rich.text import Text

    from conseq.entities import Sentence
    from conseq.relations.answers import Answer

INDENT = "    "


def as_jsonl(answers: Iterable[Answer]) -> str:
    """One object per sentence: what was decided, its score, certificate, and the rules that it breaks."""
    return "".join(json.dumps(answer.to_dict(), ensure_ascii=False) + "\n" for answer in answers)


def as_spacy(answers: Iterable[Answer]) -> str:
    """One object per sentence, as spaCy writes documents."""
    from conseq.io.sentences import format_sentences

    return format_sentences((answer.sentence for answer in answers), "spacy")


def as_text(answers: Iterable[Answer]) -> str:
    """Sentences with their entities in brackets, relations on lines of their own."""
    return "".join(_bracketed(answer.sentence) + _told(answer) + "\n" for answer in answers)


def _bracketed(sentence: Sentence) -> str:
    pieces = (f"[{kind} {text}]" if kind else text for text, kind in pieces_of(sentence))
    return " ".join("".join(pieces).split()) + "\n"


def _told(answer: Answer) -> str:
    """A line for each relation and each broken rule."""
    sentence = answer.sentence
    names = [" ".join(sentence.cut(entity.start, entity.end).split()) for entity in sentence.entities]
    wide = max((len(relation.type) for relation in sentence.relations), default=0)
    lines = [f"{r.type.ljust(wide)}  {names[r.head]} → {names[r.tail]}" for r in sentence.relations]
    return "".join(f"{INDENT}{line}\n" for line in [*lines, *answer.notes()])


def pieces_of(sentence: Sentence) -> Iterator[tuple[str, str | None]]:
    """The text from left to right as (piece, type or None); of entities that overlap the first alone."""
    place = 0
    for entity in sorted(sentence.entities, key=lambda entity: (entity.start, -entity.end)):
        if entity.start < place:
            continue
        yield _between(sentence, place, entity.start), None
        yield sentence.cut(entity.start, entity.end), entity.type
        place = entity.end
    yield _between(sentence, place, len(sentence.tokens)), None


def _between(sentence: Sentence, start: int, end: int) -> str:
    """The words between two entities with the blanks around them."""
    if sentence.text is None or sentence.characters is None:
        words = " ".join(sentence.tokens[start:end])
        return f"{' ' if start and words else ''}{words}{' ' if 0 < end < len(sentence.tokens) else ''}"
    first = sentence.characters[start - 1][1] if start else 0
    last = sentence.characters[end][0] if end < len(sentence.tokens) else len(sentence.text)
    return sentence.text[first:last]


def coloured(sentence: Sentence, palette: Palette) -> Text:
    """A sentence with its entities in colour."""
    from rich.text import Text

    text = Text()
    for piece, kind in pieces_of(sentence):
        shown = visible(" ".join(piece.splitlines()))
        text.append(shown, palette.styles[kind] if kind else "")
    return text


def show_legend(palette: Palette) -> None:
    """Which colour is which type of entity."""
    console().print(palette.legend(), end="\n\n")


def show_answers(answers: Sequence[Answer], palette: Palette) -> None:
    """Coloured text for a person."""
    from rich.text import Text

    screen = console()
    for answer in answers:
        screen.print(coloured(answer.sentence, palette))
        screen.print(Text(visible(_told(answer)), "dim"))
