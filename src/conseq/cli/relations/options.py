"""Arguments and options that the commands about relations share, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from conseq.cli.options import DECODING, READING, Tokens, option
from conseq.cli.rules import parse_seconds, rule_file
from conseq.errors import RuleError
from conseq.options import SECONDS

if TYPE_CHECKING:
    from conseq.constraints.relational import RelationRule
    from conseq.entities import Sentence
    from conseq.relations.labeller import RelationLabeller

SentenceFormat = Literal["auto", "jsonl", "spacy", "brat", "text"]
WrittenFormat = Literal["text", "jsonl", "spacy", "brat", "html", "svg"]
Solver = Literal["auto", "elimination", "ilp", "lp", "beam"]

RelationModel = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file written by `conseq relations train`.")
]


@dataclass(frozen=True)
class SentenceReading:
    """How sentences are to be read."""

    input_format: SentenceFormat = option(
        "auto", READING, SentenceFormat,
        "How the input is written: JSON lines, spaCy's JSON, brat's standoff (a .ann file or a folder), or a "
        "text with a sentence on each line.",
    )  # fmt: skip
    tokens: Tokens | None = option(
        None, READING, Tokens, "How text is cut into tokens, where there are none; words if not given."
    )

    @property
    def options(self) -> dict[str, Any]:
        return {"format": self.input_format, **({"tokens": self.tokens} if self.tokens else {})}

    def read(self, path: str) -> list[Sentence]:
        """All sentences of a file."""
        from conseq.io.sentences import read_sentences

        return read_sentences(path, **self.options)

    def read_labelled(self, path: str) -> list[Sentence]:
        """All sentences of a file, some of which must have entities."""
        from conseq.errors import DataError

        sentences = self.read(path)
        if not any(sentence.entities for sentence in sentences):
            raise DataError(
                "no sentence has an entity; give sentences with entities and relations", path=path
            )
        return sentences

    def stream(self, path: str) -> Iterator[list[Sentence]]:
        """Sentences in batches, as they arrive."""
        from conseq.io.sentences import stream_sentences

        with closing(stream_sentences(path, **self.options)) as batches:  # type: ignore[type-var]
            yield from batches


@dataclass(frozen=True)
class Deciding:
    """How entities and relations are decided; None: as the model says."""

    constraints: str | None = option(
        None, DECODING, "none|FILE",
        "Rules to obey in place of the model's own: a file with one per line, or none.",
    )  # fmt: skip
    rule: list[str] | None = option(
        None, DECODING, "LINE",
        "One more rule, such as 'exactly 1 kill  hard'; may be given several times.",
    )  # fmt: skip
    solver: Solver | None = option(
        None, DECODING, Solver, "How the best answer is found; beam and lp may miss it, and say so."
    )
    limit: float | None = option(
        None, DECODING, "SECONDS",
        f"Time for one sentence, after which its best answer so far is taken; 0 or none: no limit. "
        f"Without it: as in the model, else {SECONDS:g}.",
        parser=parse_seconds,
    )  # fmt: skip

    def of_model(self, labeller: RelationLabeller) -> RelationLabeller:
        """The labeller with these rules, and what is asked of its solver."""
        if self.solver is not None:
            labeller.solver = self.solver
        if self.limit is not None:
            labeller.limit = self.limit
        if self.constraints is not None:
            labeller = labeller.with_constraints(rule_file(self.constraints))
        if self.rule:
            more = [rule for line in self.rule for rule in _rules_of(line, labeller)]
            labeller = labeller.with_constraints([*labeller.constraints_, *more])
        return labeller


def _rules_of(line: str, labeller: RelationLabeller) -> list[RelationRule]:
    """The rule of a --rule; an error in it says of which."""
    from conseq.constraints.relational.language import parse_relation_rules

    try:
        return parse_relation_rules(line, labeller.types_)
    except RuleError as error:
        place = "" if error.column is None else f", column {error.column}"
        raise RuleError(f"--rule {line!r}{place}: {error.message}") from None


def load_labeller(path: str, threads: int | None) -> RelationLabeller:
    """A model of relations, to be used with `threads` threads (None: all processors)."""
    from conseq.relations.labeller import RelationLabeller

    labeller = RelationLabeller.load(path)
    labeller.n_jobs = threads
    return labeller
