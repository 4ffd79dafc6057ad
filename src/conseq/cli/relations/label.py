"""`conseq relations label`: a model and sentences ─→ sentences with entities and relations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING

from conseq.cli.compiling import told
from conseq.cli.grouping import grouped
from conseq.cli.options import OUTPUT, STANDARD, THREADS, NewData, option
from conseq.cli.outcome import misused, say, visible
from conseq.cli.relations.options import (
    Deciding,
    RelationModel,
    SentenceReading,
    WrittenFormat,
    load_labeller,
)
from conseq.cli.relations.writing import as_jsonl, as_spacy, as_text, show_answers, show_legend
from conseq.cli.show import Palette, on_terminal

if TYPE_CHECKING:
    from conseq.entities import Sentence
    from conseq.relations.answers import Answer, Answers
    from conseq.relations.labeller import RelationLabeller

LINES: dict[str, Callable[[Iterable[Answer]], str]] = {"jsonl": as_jsonl, "spacy": as_spacy, "text": as_text}
"""Formats that are written sentence by sentence; the others are whole documents."""

DOCUMENTS: dict[str, Callable[[Answers], str]] = {
    "html": lambda answers: answers.picture().html(),
    "svg": lambda answers: answers.picture().svg(),
}
BRAT = "brat"


@grouped
def label(
    *,
    model: RelationModel,
    data: NewData = STANDARD,
    reading: SentenceReading,
    deciding: Deciding,
    format: WrittenFormat | None = option(
        None, OUTPUT, WrittenFormat,
        "text: entities in brackets (in colour on a terminal), a line per relation; jsonl: an object per "
        "sentence, with its certificate; spacy: spaCy's JSON; brat: the files FILE.txt and FILE.ann; html, "
        "svg: pictures. Default: text on a terminal, else jsonl.",
    ),
    output: str = option(
        STANDARD, OUTPUT, "FILE",
        "Write to this file, not to standard output; completely or not at all.",
        "--output", "-o", show_default=False,
    ),
    threads: int | None = THREADS,
) -> None:  # fmt: skip
    """Find entities and relations in new sentences.

    A model of given boundaries decides what the entities of its input are (types and relations that the input
    has are ignored); one that predicts boundaries needs no more than text. Rules may be added for what is
    known of the input: that every sentence tells of one killing, say.

    \b
    Examples:
      conseq relations label news.model new.jsonl > found.jsonl
      conseq relations label news.model new.jsonl --rule 'exactly 1 kill  hard'
      conseq relations label news.model new.jsonl --format html -o found.html
      echo "Ann Lee lives in Rome." | conseq relations label raw.model --input-format text
      conseq relations label news.model corpus/ --input-format brat --format brat -o found
    """
    chosen = format or ("text" if on_terminal() and output == STANDARD else "jsonl")
    if chosen == BRAT and output == STANDARD:
        misused("--format brat writes two files; name them with -o")
    labeller = deciding.of_model(load_labeller(model, threads))
    if data == STANDARD and sys.stdin is not None and sys.stdin.isatty():
        say("reading sentences from the terminal; Ctrl-D ends")
    with told(), closing(reading.stream(data)) as batches:  # type: ignore[type-var]  # a generator
        answers = _answers(labeller, batches)
        if chosen in LINES:
            _write_lines(labeller, answers, chosen, output)
        else:
            _write_document(answers, chosen, output)


def _answers(labeller: RelationLabeller, batches: Iterator[list[Sentence]]) -> Iterator[Answers]:
    done, marked = 0, labeller.boundaries != "given"
    for batch in batches:
        marked = marked or any(sentence.entities for sentence in batch)
        yield labeller.label(batch, first=done)
        done += len(batch)
    if done and not marked:
        say(
            "note: no sentence has an entity, and this model decides only what given ones are; mark them, or "
            "train with --boundaries predicted"
        )


def _write_lines(labeller: RelationLabeller, batches: Iterator[Answers], format: str, output: str) -> None:
    """Each batch as soon as it is there."""
    from conseq.io.atomic import atomic_write_packed

    shown = output == STANDARD and on_terminal()
    if shown and format == "text":
        palette = Palette(labeller.types_.entities)
        show_legend(palette)
        for batch in batches:
            show_answers(batch, palette)
        return
    with nullcontext(sys.stdout.buffer) if output == STANDARD else atomic_write_packed(output) as file:
        for batch in batches:
            text = LINES[format](batch)
            file.write((visible(text) if shown else text).encode())
            file.flush()


def _write_document(batches: Iterator[Answers], format: str, output: str) -> None:
    """All of them at the end."""
    from conseq.io.atomic import emit
    from conseq.io.sentences import write_sentences
    from conseq.relations.answers import Answers

    answers = Answers(answer for batch in batches for answer in batch)
    if format == BRAT:
        write_sentences(answers.sentences, output, BRAT)
    else:
        emit(output, DOCUMENTS[format](answers))
