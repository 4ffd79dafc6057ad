"""The last scene of `conseq demo`: who works for whom.  news ─→ a model ─→ what rules mend"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conseq.cli.progress import training_line
from conseq.cli.relations.writing import as_text, show_answers, show_legend
from conseq.cli.show import Palette, on_terminal, percent, show, show_table
from conseq.errors import counted

if TYPE_CHECKING:
    from conseq.entities import Sentence
    from conseq.metrics import RelationReport
    from conseq.relations.answers import Answer, Answers
    from conseq.relations.labeller import RelationLabeller

MENDED = 2
"""Sentences shown without and with rules."""

MOST_TOKENS = 25
"""Longer sentences are no good examples."""

FORCED = "exactly 1 kill  hard"


@dataclass(frozen=True, eq=False)
class Scene:
    """A model of relations, and held-out sentences without and with its rules."""

    labeller: RelationLabeller
    train: list[Sentence]
    held_out: list[Sentence]
    before: Answers
    after: Answers

    @classmethod
    def learned(cls, train: list[Sentence], held_out: list[Sentence]) -> Scene:
        from conseq.relations.labeller import RelationLabeller

        with training_line() as line:
            line.enter("learning")
            labeller = RelationLabeller().fit(train)
            alone = RelationLabeller(approach="basic").fit(train)  # which has what is best without rules
            line.enter("deciding")
            return cls(labeller, train, held_out, alone.label(held_out), labeller.label(held_out))

    def mended(self) -> Iterator[tuple[Answer, Answer, list[str]]]:
        """Sentences that rules have put right: without, with, and the rules that were broken without."""
        for gold, before, after in zip(self.held_out, self.before, self.after, strict=True):
            if before.sentence != gold == after.sentence and len(gold.tokens) <= MOST_TOKENS:
                problem, values = after.decoding.problem, before.decoding.values
                amounts = () if values is None else problem.violations(values)
                broken = [str(rule) for rule, n in zip(problem.rules, amounts, strict=False) if n]
                if broken:
                    yield before, after, broken

    def forced(self) -> tuple[Answer, Answer] | None:
        """A sentence in which the model finds a killing, and the right one, when told that there is one."""
        from conseq.constraints.relational.language import as_relation_rules

        told = [*self.labeller.constraints_, *as_relation_rules([FORCED], self.labeller.types_)]
        forced = self.labeller.with_constraints(told)
        for gold, after in zip(self.held_out, self.after, strict=True):
            kinds = [relation.type for relation in gold.relations]
            if kinds.count("kill") == 1 and after.sentence != gold and len(gold.tokens) <= MOST_TOKENS:
                (answer,) = forced.label([gold])
                if answer.sentence == gold:
                    return after, answer
        return None

    def save(self, folder: str) -> None:
        """The data, the model, a picture."""
        from conseq.io.atomic import emit
        from conseq.io.sentences import write_sentences

        write_sentences(self.train, os.path.join(folder, "news-train.jsonl"))
        write_sentences(self.held_out, os.path.join(folder, "news-test.jsonl"))
        self.labeller.save(os.path.join(folder, "news.model"))
        emit(os.path.join(folder, "news.html"), self.after.picture().html())


def show_scene(scene: Scene) -> None:
    """What the rules are, what they change, and examples."""
    for rule in scene.labeller.constraints_[:8]:
        show(f"  {rule}")
    show()
    _show_change(scene)
    if on_terminal():
        show()
        show_legend(Palette(scene.labeller.types_.entities))
    for (before, after, broken), _ in zip(scene.mended(), range(MENDED), strict=False):
        show(f"\nRule: {broken[0]}{', and others' if broken[1:] else ''}", "bold")
        _show_both(scene, ("without rules", before), ("with rules", after))
    found = scene.forced()
    if found is not None:
        show(f"\nTold that somebody was killed here ({FORCED}), it finds who:", "bold")
        _show_both(scene, ("before", found[0]), ("told", found[1]))


def _show_change(scene: Scene) -> None:
    from conseq.metrics import evaluate_relations

    reports = [evaluate_relations(scene.held_out, each.sentences) for each in (scene.before, scene.after)]

    def row(name: str, number: str) -> list[str]:
        return [name, *(f"{percent(_number(report, number))} %" for report in reports)]

    rows = [
        row("entities, F1", "entities"),
        row("relations, F1", "relations"),
        row("right types at both ends", "quality"),
    ]
    show_table(["", "without rules", "with rules"], rows)
    certified = sum(answer.decoding.certificate.status.name == "OPTIMAL" for answer in scene.after)
    milliseconds = sorted(1000 * answer.decoding.certificate.seconds for answer in scene.after)
    if not on_terminal():
        show()
    show(
        f"{certified} of {counted(len(scene.after), 'answer')} are proved to be the best under the rules; "
        f"one takes {milliseconds[len(milliseconds) // 2]:.2f} ms.",
        "none",
    )


def _number(report: RelationReport, name: str) -> float:
    return report.quality if name == "quality" else getattr(report, name).total.f1


def _show_both(scene: Scene, *readings: tuple[str, Answer]) -> None:
    for name, answer in readings:
        show(f"{name}:", "dim")
        if on_terminal():
            show_answers([answer], Palette(scene.labeller.types_.entities))
        else:
            print(as_text([answer]).rstrip("\n"))
