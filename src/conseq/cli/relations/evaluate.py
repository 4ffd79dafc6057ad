"""`conseq relations evaluate`: a model and sentences with entities and relations ─→ scores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conseq.cli.clock import Clock
from conseq.cli.compiling import told
from conseq.cli.grouping import grouped
from conseq.cli.options import AS_JSON, THREADS
from conseq.cli.outcome import say
from conseq.cli.relations.options import Deciding, RelationModel, SentenceReading, load_labeller
from conseq.cli.show import on_terminal, percent, show, show_facts, show_json, show_table

if TYPE_CHECKING:
    from conseq.entities import Sentence
    from conseq.metrics import RelationReport, SpanScores
    from conseq.relations.answers import Answers
    from conseq.relations.labeller import RelationLabeller

MOST_RULES = 20
WARM_UP = 20
"""Sentences that are labelled beforehand, to load compiled code."""


@dataclass(frozen=True)
class Decided:
    """How deciding went: how many answers are proved best, seconds, rules that answers break."""

    sentences: int
    certified: int
    seconds: float
    median: float
    slowest: float  # of a hundred sentences, 99 take no longer
    violations: dict[str, int]

    @classmethod
    def of(cls, answers: Answers, seconds: float) -> Decided:
        import numpy as np

        certificates = [answer.decoding.certificate for answer in answers]
        median, slowest = np.percentile([1000 * c.seconds for c in certificates] or [0.0], [50, 99]).tolist()
        certified = sum(certificate.status.name == "OPTIMAL" for certificate in certificates)
        broken = Counter(line for answer in answers for line in answer.broken)
        return cls(len(answers), certified, seconds, median, slowest, dict(broken.most_common()))

    def to_dict(self) -> dict[str, Any]:
        return {
            "sentences": self.sentences,
            "certified": self.certified,
            "seconds": self.seconds,
            "milliseconds": {"median": self.median, "p99": self.slowest},
            "violations": self.violations,
        }


@grouped
def evaluate(
    *,
    model: RelationModel,
    data: Annotated[
        str,
        typer.Argument(metavar="TEST", help="Sentences with entities and relations; `-` is standard input."),
    ],
    reading: SentenceReading,
    deciding: Deciding,
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Compare what a model finds with the entities and relations of test data.

    An entity is right if its first token, last token and type are; a relation if its type and both entities
    are. Quality is the share of relations between the right places whose entities have the right types, too.

    \b
    Examples:
      conseq relations evaluate news.model test.jsonl
      conseq relations evaluate news.model test.jsonl --constraints none
      conseq relations evaluate news.model test.jsonl --json
    """
    from conseq.metrics import evaluate_relations

    labeller = deciding.of_model(load_labeller(model, threads))
    gold = reading.read_labelled(data)
    _note_unseen(labeller, gold)
    with told():
        labeller.label(gold[:WARM_UP])
        clock = Clock()
        answers = labeller.label(gold)
        decided = Decided.of(answers, clock.seconds())
    report = evaluate_relations(gold, answers.sentences)
    if as_json:
        show_json({**report.to_dict(), "decoding": decided.to_dict()})
    else:
        _show(report, decided)


def _note_unseen(labeller: RelationLabeller, gold: list[Sentence]) -> None:
    from conseq.entities import types_of

    known, here = labeller.types_, types_of(gold)
    unseen = sorted({*here.entities, *here.relations} - {*known.entities, *known.relations})
    if unseen:
        say(f"note: the model never saw {', '.join(map(repr, unseen))}; these count as mistakes")


def _show(report: RelationReport, decided: Decided) -> None:
    show_relation_scores("entity", report.entities)
    show_relation_scores("relation", report.relations)
    show_facts(
        [
            ("entities", f"F1 {percent(report.entities.total.f1)} %"),
            ("relations", f"F1 {percent(report.relations.total.f1)} %"),
            ("between right places", f"F1 {percent(report.by_place.total.f1)} %"),
            ("quality", f"{percent(report.quality)} %"),
            ("decoding", f"{decided.certified:,} of {decided.sentences:,} certified"),
            ("speed", f"{decided.median:.2f} ms a sentence, 99 of 100 within {decided.slowest:.2f} ms"),
        ]
    )
    if decided.violations:
        show()
        rows = list(decided.violations.items())[:MOST_RULES]
        show_table(["rule", "sentences"], rows, title="Broken rules")


def show_relation_scores(name: str, scores: SpanScores) -> None:
    """Precision, recall and F1 of each type and of all."""
    by_type = sorted(scores.labels.items(), key=lambda item: -item[1].gold)
    rows = [
        [kind, *map(percent, (c.precision, c.recall, c.f1)), c.gold]
        for kind, c in [*by_type, ("all", scores.total)]
    ]
    show_table([name, "precision", "recall", "F1", "gold"], rows, last_is_total=True)
    if not on_terminal():  # where tables have room around them
        show()
