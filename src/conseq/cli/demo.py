"""`conseq demo`: learn labels and rules from a few examples, read what was never seen, tell about it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from conseq.cli.examples import Mended, doubt, hint, mended
from conseq.cli.grouping import grouped
from conseq.cli.options import option
from conseq.cli.progress import training_line
from conseq.cli.rules import LEARN
from conseq.cli.show import Palette, console, on_terminal, percent, show, show_table
from conseq.cli.summary import decode_all
from conseq.errors import counted

if TYPE_CHECKING:
    from conseq.constraints.base import Constraint
    from conseq.corpus import Corpus
    from conseq.labelled import LabelledSequence, LabelledSpan
    from conseq.labeller import SequenceLabeller

HELD_OUT = 200
"""Sequences that the model is measured on."""

SHOWN, EXAMPLES, RULES = 2, 3, 10
"""Sequences shown as they are read, those in which a rule decided, and learned rules."""

ANOTHER = 1000
"""Added to the seed for held-out data."""

WIDTH, WIDEST = 80, 110
"""Characters of two readings side by side: in a pipe, and at most on a terminal."""

ADDRESS_RULES = Path(__file__).with_name("addresses.rules").read_text("utf-8")
"""What holds of addresses."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A model, the rules about its labels, and data that it has not seen."""

    name: str
    labeller: SequenceLabeller
    rules: list[Constraint]
    held_out: Corpus

    @property
    def palette(self) -> Palette:
        """The colours of its fields."""
        return Palette(self.labeller.schema_.types())

    @property
    def ruled(self) -> SequenceLabeller:
        """The same model under the rules."""
        return self.labeller.with_constraints(self.rules)


@grouped
def demo(
    *,
    seed: int = option(0, None, "N", "Another number gives different data."),
    size: int = option(100, None, "N", "How many citations, and addresses, to learn from.", min=10),
    save: str | None = option(None, None, "DIR", "Keep the data, the rules and the models in this folder."),
) -> None:
    """Show what conseq does: it learns to read citations, and obeys rules.

    \b
    Examples:
      conseq demo
      conseq demo --size 400 --seed 7
      conseq demo --save demo
    """
    if save is not None:
        os.makedirs(save, exist_ok=True)
    _paragraph("conseq learns to label sequences, and rules about whole sequences, from the same examples.")
    trained = _learn("citations", size, seed, save)
    _heading(
        "Reading new citations", "Other authors and titles than those it learned from, and no rules yet."
    )
    _show_sequences(trained)
    _heading(
        "Rules about the whole citation",
        f"It has found {counted(len(trained.rules), 'rule')} that its own labels break too often, and what "
        "breaking each should cost.\nThose of the highest penalty, and how many of the new citations break "
        "them without and with rules:",
    )
    _show_rules(trained)
    _heading("What the rules change", f"Measured on {len(trained.held_out)} new citations.")
    _show_change(trained)
    _heading("Where a rule decided", "Citations that it now reads better, and the rule that decided each.")
    _show_mended(trained, EXAMPLES)
    _show_doubt(trained)
    _show_hint(trained)
    trained = _learn("addresses", size, seed, save, ADDRESS_RULES)
    _paragraph(
        f"Rules can be written by hand, too, one per line. With {len(trained.rules)} about addresses, "
        f"on {len(trained.held_out)} new ones:\n"
    )
    _show_change(trained)
    _show_mended(trained, 1)
    _show_relations(size, seed, save)
    _show_next(save)


# ── learning ────────────────────────────────────────────────────────────────────────────────────


def _learn(name: str, size: int, seed: int, save: str | None, written: str = "") -> Trained:
    """A model with the rules that are written, or learned along with it."""
    from conseq.constraints.language import format_constraints, parse_constraints
    from conseq.datasets import load
    from conseq.labeller import SequenceLabeller

    train = load(name, size, seed)
    labels = len(train.labels.vocabulary) if train.labels else 0
    _heading(
        f"Learning from {name}",
        f"{len(train):,} generated {name}, {train.n_tokens:,} tokens, each with one of {labels} labels.",
    )
    with training_line() as line:
        line.enter("learning")
        fitted = SequenceLabeller("fields", constraints=None if written else LEARN)
        fitted.fit(train, watch=line.watch, stage=line.stage)
    training = fitted.report_.training
    steps = counted(training.iterations, "step")
    show(f"Learned in {training.seconds:.1f} s: {training.features:,} weights, {steps}.")
    rules = list(fitted.constraints_)
    if fitted.learned_ is not None:
        show(f"Learned rules in {fitted.report_.seconds['rules']:.1f} s.")
    else:  # of those written, the ones about labels that the model knows: few examples may lack a rare field
        known = set(fitted.schema_.types())
        rules = [rule for rule in parse_constraints(written) if known.issuperset(rule.names)]
    trained = Trained(name, fitted.with_constraints(None), rules, load(name, HELD_OUT, seed + ANOTHER))
    if save is not None:
        text = format_constraints(rules) if fitted.learned_ is None else fitted.learned_.to_text()
        _save(trained, train, text, save)
    return trained


def _show_relations(size: int, seed: int, save: str | None) -> None:
    """Sentences of news: who lives where, who works for whom."""
    from conseq.cli.relations.scene import Scene, show_scene
    from conseq.datasets import news

    sentences = news(2 * size, seed)
    _heading(
        "Who lives where, who works for whom",
        f"{len(sentences):,} generated sentences of news, with people, organisations, places and relations "
        "between them. Classifiers score each name and each pair of names; what they are is decided "
        "together, under rules that the data obeys:\n",
    )
    scene = Scene.learned(sentences, news(HELD_OUT, seed + ANOTHER))
    show_scene(scene)
    if save is not None:
        scene.save(save)


def _save(trained: Trained, train: Corpus, rules: str, folder: str) -> None:
    from conseq.io import write
    from conseq.io.atomic import emit

    path = os.path.join(folder, trained.name)
    write(train, f"{path}-train.tsv", "columns")
    write(trained.held_out, f"{path}-test.tsv", "columns")
    write(trained.held_out, f"{path}.txt", "text")
    trained.labeller.save(f"{path}.model")
    emit(f"{path}.rules", rules)


# ── showing ─────────────────────────────────────────────────────────────────────────────────────


def _heading(title: str, line: str) -> None:
    show()
    show(title, "bold cyan")
    if not on_terminal():
        print("─" * len(title))
    _paragraph(line)


def _paragraph(text: str) -> None:
    """Text that a terminal breaks between words."""
    show(text, "none")


def _show_sequences(trained: Trained) -> None:
    """The first few sequences of moderate length, with the fields found."""
    corpus = trained.held_out
    short = [i for i in range(len(corpus)) if len(corpus[i]) <= 45][:SHOWN]
    sequences = trained.labeller.label(corpus.select(short))
    for sequence in sequences:
        show()
        if on_terminal():
            _show_text(sequence, trained.palette)
            continue
        width = max((len(span.type) for span in sequence.spans), default=0)
        print(sequence.text)
        for span in sequence.spans:
            print(f"    {span.type.ljust(width)}  {span.text}")


def _show_rules(trained: Trained) -> None:
    """The rules of the highest penalty and how many sequences break them."""
    _, summary = decode_all(trained.ruled, trained.held_out)
    rows = []
    for rule in trained.rules[:RULES]:
        line = rule.line()
        rows.append([line, rule.penalty_text, summary.before[line], summary.after[line]])
    if not on_terminal():
        show()
    show_table(["rule", "penalty", "without", "with"], rows)


def _show_change(trained: Trained) -> None:
    """Scores without and with the rules, what was proved, and what became better or worse."""
    import numpy as np

    from conseq.metrics import evaluate_ids

    corpus = trained.held_out
    gold, schema = trained.labeller.gold_ids(corpus)
    (before, _), (after, summary) = (decode_all(each, corpus) for each in (trained.labeller, trained.ruled))
    reports = [evaluate_ids(gold, ids, corpus.offsets, schema) for ids in (before, after)]
    right = [np.add.reduceat(ids == gold, corpus.offsets[:-1], dtype=int) for ids in (before, after)]
    whole = [(counts == np.diff(corpus.offsets)).sum() for counts in right]
    rows = [
        ["tokens labelled rightly", *(f"{percent(report.accuracy)} %" for report in reports)],
        ["whole fields, F1", *(f"{percent(report.span.total.f1)} %" for report in reports)],
        [f"{trained.name} without a mistake", *whole],
    ]
    show_table(["", "without rules", "with rules"], rows)
    gain = right[1] - right[0]
    changed = np.logical_or.reduceat(before != after, corpus.offsets[:-1]).sum()
    if not on_terminal():
        show()
    better, worse = (gain > 0).sum(), (gain < 0).sum()
    show(f"The rules changed {changed} of them: {better} for the better, {worse} for the worse.")
    proved = f"{summary.certified} of {summary.sequences} answers are proved to be the best under the rules"
    _paragraph(f"{proved}; that took {summary.mean_iterations:.2f} Viterbi runs on average.")


def _show_mended(trained: Trained, count: int) -> None:
    for found in mended(trained.labeller, trained.rules, trained.held_out, count):
        show()
        _paragraph(found.after.text or " ".join(found.after.tokens))
        alone = "" if found.alone else ", together with others"
        right = " (now all of it is right)" if found.right else ""
        show(f"Rule: {found.rule.line()}{alone}{right}", "bold")
        _show_sides(found, trained.palette)


def _show_sides(found: Mended, palette: Palette) -> None:
    """The segments of both readings side by side."""
    from rich.table import Table
    from rich.text import Text

    def cell(span: LabelledSpan | None) -> Text:
        if span is None:
            return Text()
        return Text.assemble((f"[{span.type}]", palette.styles[span.type]), f" {span.text}")

    table = Table.grid(padding=(0, 2), expand=True)
    for _ in range(2):
        table.add_column(ratio=1, overflow="fold")
    table.add_row("without rules", "with rules", style="dim")
    for row in found.rows():
        table.add_row(*map(cell, row))
    screen = console()
    screen.print(table, width=min(screen.width, WIDEST) if on_terminal() else WIDTH)


def _show_doubt(trained: Trained) -> None:
    found = doubt(trained.labeller, trained.held_out)
    if found is None:
        return
    sequence, readings = found
    _heading(
        "It says when it is not sure",
        "Every segment has a probability. Here, without rules, one is in doubt:",
    )
    show()
    _show_text(sequence, trained.palette)
    show()
    for reading, chance in readings:
        _paragraph(f"  {100 * chance:3.0f} %  {reading}")


def _show_hint(trained: Trained) -> None:
    found = hint(trained.ruled, trained.held_out)
    if found is None:
        return
    token = found.before.tokens[found.token]
    _heading(
        "Tell it one label, and the rest follows",
        f"This one it read wrongly. Told that “{token}” belongs to the {found.type}, it corrects "
        f"{counted(found.repaired, 'more token')} by itself:",
    )
    for name, sequence in [("before", found.before), ("after", found.after)]:
        show(f"\n{name}:", "dim")
        _show_text(sequence, trained.palette)


def _show_text(sequence: LabelledSequence, palette: Palette) -> None:
    """One sequence with its legend, or with the names of its segments in it."""
    if not on_terminal():
        parts = (f"[{type}: {piece}]" if type else piece for piece, type in sequence.pieces())
        print(" ".join(parts))
        return
    console().print(palette.legend(span.type for span in sequence.spans))
    console().print(palette.coloured(sequence))


WITH_OWN_DATA = """\
  conseq train train.tsv --constraints learn -m my.model
  conseq evaluate my.model test.tsv
  conseq mine train.tsv -o my.rules     # the rules as a file, to read and edit
  conseq label my.model new.txt --text --constraints my.rules --format spans"""


def _show_next(save: str | None) -> None:
    _heading(
        "What to do next",
        "With your own data (a token and its label on each line, blank lines between sequences):",
    )
    show(WITH_OWN_DATA, "green")
    if save is None:
        show("Or with the data of this demonstration, after `conseq demo --save demo`.")
        return
    show("Or with the data of this demonstration:")
    measure = f"  conseq evaluate {save}/citations.model {save}/citations-test.tsv"
    show(f"{measure}\n{measure} --constraints {save}/citations.rules", "green")
    show(f"  conseq label {save}/citations.model {save}/citations.txt --text --format spans", "green")
    show(f"  conseq relations evaluate {save}/news.model {save}/news-test.jsonl", "green")
    show(f"  and look at {save}/news.html")
