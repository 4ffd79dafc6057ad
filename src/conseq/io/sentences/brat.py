"""brat's standoff ↔ sentences.  A text, a sentence on each line, and beside it what is marked in it:

    name.txt    John Smith leads Acme Corp.
    name.ann    T1 ⇥ person 0 10 ⇥ John Smith
                T2 ⇥ organisation 17 26 ⇥ Acme Corp
                R1 ⇥ work_for Arg1:T1 Arg2:T2

Read are one document (by either name) or all of a folder. Lines that an entity or a relation joins are one
sentence. Events, attributes, notes and equivalences are left out.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from conseq.entities import Relation, Sentence
from conseq.errors import DataError
from conseq.io.atomic import atomic_write
from conseq.io.sentences.placing import Mention, mentions_of, sentence_of_text, text_and_places
from conseq.io.source import Block, load
from conseq.tokens import Tokeniser

TXT, ANN = ".txt", ".ann"
_LEFT_OUT = ("E", "A", "M", "N", "#", "*", "W", "F")
"""Beginnings of lines that say something else than what is an entity or a relation."""
_BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def is_brat(path: str | os.PathLike[str]) -> bool:
    """Whether a name is that of a document, or of a folder of them."""
    return os.path.isdir(path) or os.path.splitext(os.fspath(path))[1] == ANN


def read_brat(path: str | os.PathLike[str], tokenise: Tokeniser) -> list[Sentence]:
    """The sentences of a document, or of all documents of a folder."""
    if not os.path.isdir(path):
        return _Document.read(Path(path)).sentences(tokenise)
    texts = sorted(Path(path).glob(f"*{TXT}"))
    if not texts:
        raise DataError(f"there is no {TXT} in this folder; name a folder of documents", path=os.fspath(path))
    return [sentence for text in texts for sentence in _Document.read(text).sentences(tokenise)]


@dataclass(eq=False)
class _Document:
    """A text with its entities, by their names in the file, and relations between them."""

    name: str
    text_path: str
    text: str
    mentions: dict[str, Mention] = field(default_factory=dict)
    relations: list[tuple[str, str, str]] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> _Document:
        source, marks = path.with_suffix(TXT), path.with_suffix(ANN)
        found = cls(path.stem, os.fspath(source), _text(source))
        if marks.exists() and marks.stat().st_size:  # without it, or in an empty one, nothing is marked yet
            found.take(load(marks))
        return found

    def take(self, block: Block) -> None:
        """Take note of what each line says; a relation may stand before its entities."""
        related = []
        for number, line in block.text_lines():
            try:
                if line[0] == "T":
                    self._take_entity(*_cells(line, 3))
                elif line[0] == "R":
                    related.append((number, *_related(line)))
                elif not line.startswith(_LEFT_OUT):
                    raise DataError(f"a line that begins {line[:10]!r} is not one of brat's; leave it out")
            except DataError as error:
                raise block.error(error.message, number) from None
        for number, kind, head, tail in related:
            missing = [end for end in (head, tail) if end not in self.mentions]
            if missing:
                raise block.error(
                    f"there is no entity {missing[0]}; a relation is of two that are marked", number
                )
            if head == tail:
                raise block.error(f"the relation {kind!r} relates {head} to itself; name two", number)
            self.relations.append((kind, head, tail))

    def _take_entity(self, name: str, place: str, said: str) -> None:
        kind, *ends = re.split(r"[ ;]", place)
        if len(ends) < 2 or len(ends) % 2 or not all(end.isdecimal() for end in ends):
            raise DataError(
                f"{place!r} is no place; give a type, the first character and the one after the last"
            )
        if name in self.mentions:
            raise DataError(f"{name} is marked twice; give each entity a name of its own")
        numbers = [int(end) for end in ends]
        mention = Mention(kind, numbers[0], numbers[-1])
        mention.check(len(self.text))
        gaps = (self.text[end:start] for end, start in zip(numbers[1:-1:2], numbers[2::2], strict=True))
        if not all(gap.isspace() or not gap for gap in gaps):
            raise DataError(f"{name} leaves out words between its parts; mark it without a gap")
        covered = self.text[mention.start : mention.end]
        if covered.split() != said.split():
            raise DataError(f"{name} says {said!r} where the text has {covered!r}; correct its place")
        self.mentions[name] = mention

    def sentences(self, tokenise: Tokeniser) -> list[Sentence]:
        """A sentence for each line, or group of lines that something joins."""
        stretches = list(self._stretches())
        starts = [start for start, _ in stretches]
        names: list[list[str]] = [[] for _ in stretches]
        for name in sorted(
            self.mentions, key=lambda name: (self.mentions[name].start, self.mentions[name].end)
        ):
            names[bisect_right(starts, self.mentions[name].start) - 1].append(name)
        number = {name: i for inside in names for i, name in enumerate(inside)}
        relations: list[list[Relation]] = [[] for _ in stretches]
        for kind, head, tail in self.relations:
            place = bisect_right(starts, self.mentions[head].start) - 1
            relations[place].append(Relation(kind, number[head], number[tail]))
        return [
            self._sentence(start, end, [self.mentions[name] for name in inside], related, tokenise)
            for (start, end), inside, related in zip(stretches, names, relations, strict=True)
        ]

    def _sentence(
        self, start: int, end: int, mentions: list[Mention], relations: list[Relation], tokenise: Tokeniser
    ) -> Sentence:
        text = self.text[start:end].rstrip("\r")
        inside = [Mention(m.type, m.start - start, min(m.end - start, len(text))) for m in mentions]
        line = bisect_right(self.line_ends, start - 1) + 1
        try:
            return sentence_of_text(text, tokenise(text), inside, relations, id=f"{self.name}:{line}")
        except DataError as error:
            raise DataError(error.message, path=self.text_path, line=line) from None

    @cached_property
    def line_ends(self) -> list[int]:
        """Where the lines of the text end."""
        return [found.start() for found in re.finditer("\n", self.text)]

    def _stretches(self) -> Iterator[tuple[int, int]]:
        """Where sentences start and end."""
        joined = [(m.start, m.end) for m in self.mentions.values()]
        for _, *ends in self.relations:
            places = [self.mentions[end] for end in ends]
            joined.append((min(m.start for m in places), max(m.end for m in places)))
        joined.sort()
        start = reach = place = 0
        while start < len(self.text):
            end = self.text.find("\n", max(start, reach - 1))
            end = len(self.text) if end < 0 else end
            while place < len(joined) and joined[place][0] < end:
                reach = max(reach, joined[place][1])
                place += 1
            if reach > end:
                continue
            if not self.text[start:end].isspace() and end > start:
                yield start, end
            start = end + 1


def _text(path: Path) -> str:
    """The characters as brat counts them: line ends as they are, a byte order mark is one."""
    if not path.exists():
        raise DataError(
            f"there is no such file; brat's marks ({ANN}) need their text beside them", path=str(path)
        )
    try:
        return path.read_bytes().decode().replace("\ufeff", " ", 1)
    except UnicodeDecodeError as error:
        raise DataError(f"byte {error.start} is not UTF-8; convert the file", path=str(path)) from None
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror}); check it", path=str(path)) from None


def _cells(line: str, number: int) -> list[str]:
    cells = line.rstrip("\r").split("\t")
    if len(cells) < number:
        raise DataError(f"there are {len(cells)} cells where {number} belong; put a tab between cells")
    return cells[:number]


def _related(line: str) -> tuple[str, str, str]:
    """The type of a relation and the names of its entities."""
    kind, *arguments = _cells(line, 2)[1].split()
    ends = [argument.partition(":")[2] for argument in arguments]
    if len(ends) != 2 or not all(ends):
        raise DataError(f"{line[:100]!r} has not two arguments; write a type, Arg1:T1 and Arg2:T2")
    return kind, ends[0], ends[1]


# ── writing ─────────────────────────────────────────────────────────────────────────────────────


def format_brat(sentences: Iterable[Sentence]) -> tuple[str, str]:
    """The text, and what is marked in it.

    >>> from conseq.entities import Entity
    >>> format_brat([Sentence(("In", "Rome"), (Entity("place", 1, 2),))])
    ('In Rome\\n', 'T1\\tplace 3 7\\tRome\\n')
    """
    texts, marks, start = [], [], 0
    n_entities = n_relations = 0
    for sentence in sentences:
        text, places = text_and_places(sentence)
        text = _BREAKS.sub(" ", text)
        for i, m in enumerate(mentions_of(sentence, places), n_entities + 1):
            place = f"{_type(m.type)} {start + m.start} {start + m.end}"
            marks.append(f"T{i}\t{place}\t{text[m.start : m.end]}\n")
        for i, r in enumerate(sentence.relations, n_relations + 1):
            ends = f"Arg1:T{n_entities + r.head + 1} Arg2:T{n_entities + r.tail + 1}"
            marks.append(f"R{i}\t{_type(r.type)} {ends}\n")
        n_entities += len(sentence.entities)
        n_relations += len(sentence.relations)
        texts.append(f"{text}\n")
        start += len(text) + 1
    return "".join(texts), "".join(marks)


def _type(name: str) -> str:
    if re.search(r"[\s;]", name):
        raise DataError(f"brat has no type {name!r} with a blank or semicolon in it; rename it")
    return name


def write_brat(sentences: Sequence[Sentence], path: str | os.PathLike[str]) -> None:
    """Write both files of a document, whose name may have the end of either, or neither."""
    place = Path(path)
    stem = place.with_suffix("") if place.suffix in (TXT, ANN) else place
    parts = [part.encode() for part in format_brat(sentences)]
    with ExitStack() as stack:
        names = [f"{stem}{end}" for end in (TXT, ANN)]
        for file, part in zip(
            [stack.enter_context(atomic_write(name)) for name in names], parts, strict=True
        ):
            file.write(part)
