"""`conseq demo`: learn from generated data, read what was never seen, and tell a person about it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from conseq.cli.evaluate import show_scores
from conseq.cli.examples import Doubt, Hint, doubt, hint
from conseq.cli.progress import training_line
from conseq.cli.show import Palette, console, counted, on_terminal, percent, show

if TYPE_CHECKING:
    from conseq.corpus import Corpus
    from conseq.labelled import LabelledSequence
    from conseq.labeller import SequenceLabeller

HELD_OUT = 200
"""Sequences that the model is measured on."""

SHOWN = 4
ANOTHER = 1000
"""Added to the seed for held-out data."""


def demo(
    seed: Annotated[int, typer.Option(metavar="N", help="Another number gives other data.")] = 0,
    size: Annotated[int, typer.Option(metavar="N", min=10, help="How many citations to learn from.")] = 400,
    save: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Keep the data and the models in this folder.", show_default=False),
    ] = None,
) -> None:
    """Show what conseq does: it learns to read citations and addresses.

    \b
    Examples:
      conseq demo
      conseq demo --size 1000 --seed 7
      conseq demo --save demo
    """
    from conseq.datasets import addresses, citations

    if save is not None:
        os.makedirs(save, exist_ok=True)
    show("conseq learns to label sequences: from examples, it finds the fields of texts it has not seen.")
    held_out = citations(HELD_OUT, seed=seed + ANOTHER)
    labeller = _learn("citations", citations(size, seed=seed), held_out, save)
    _heading("Reading new citations", "Other authors and titles than those it learned from.")
    _show_sequences(labeller, held_out, SHOWN)
    _heading("How good that is", f"Measured on {HELD_OUT} new citations; a field is right if all of it is.")
    show_scores(labeller.evaluate(held_out))
    palette = Palette(labeller.schema_.types())
    uncertain = doubt(labeller, held_out)
    if uncertain is not None:
        _show_doubt(uncertain, palette)
    told = hint(labeller, held_out)
    if told is not None:
        _show_hint(told, palette)
    held_out = addresses(HELD_OUT, seed=seed + ANOTHER)
    labeller = _learn("addresses", addresses(size, seed=seed), held_out, save)
    _show_sequences(labeller, held_out, SHOWN)
    total = labeller.evaluate(held_out).span.total
    show(f"\nF1 on {HELD_OUT} new addresses: {percent(total.f1)} %")
    _show_next(save)


def _learn(name: str, train: Corpus, held_out: Corpus, save: str | None) -> SequenceLabeller:
    from conseq.labeller import SequenceLabeller

    labels = len(train.labels.vocabulary) if train.labels else 0
    _heading(
        f"Learning from {name}",
        f"{len(train):,} generated {name}, {train.n_tokens:,} tokens, each with one of {labels} labels.",
    )
    with training_line("F1") as line:
        line.enter("learning")
        labeller = SequenceLabeller("fields").fit(train, watch=line.watch)
    training = labeller.report_.training
    steps = counted(training.iterations, "step")
    show(f"Learned in {training.seconds:.1f} s: {training.features:,} weights, {steps}.")
    if save is not None:
        _save(name, train, held_out, labeller, save)
    return labeller


def _save(name: str, train: Corpus, held_out: Corpus, labeller: SequenceLabeller, folder: str) -> None:
    from conseq.io import write

    write(train, os.path.join(folder, f"{name}-train.tsv"), "columns")
    write(held_out, os.path.join(folder, f"{name}-test.tsv"), "columns")
    write(held_out, os.path.join(folder, f"{name}.txt"), "text")
    labeller.save(os.path.join(folder, f"{name}.model"))


def _heading(title: str, line: str) -> None:
    show()
    show(title, "bold cyan")
    if not on_terminal():
        print("─" * len(title))
    show(line)


def _show_sequences(labeller: SequenceLabeller, corpus: Corpus, count: int) -> None:
    """The first few sequences of moderate length, with the fields found."""
    short = [i for i in range(len(corpus)) if len(corpus[i]) <= 45][:count]
    sequences = labeller.label(corpus.select(short))
    if on_terminal():
        palette = Palette(labeller.schema_.types())
        types = (span.type for sequence in sequences for span in sequence.spans)
        console().print("", palette.legend(types), "", sep="\n")
        for sequence in sequences:
            console().print(palette.coloured(sequence), end="\n\n")
        return
    for sequence in sequences:
        width = max(len(span.type) for span in sequence.spans)
        print(f"\n{sequence.text}")
        for span in sequence.spans:
            print(f"    {span.type.ljust(width)}  {span.text}")


def _show_doubt(found: Doubt, palette: Palette) -> None:
    _heading("It says when it is not sure", "Every segment has a probability. Here one is in doubt:")
    show()
    _show_text(found.sequence, palette)
    show()
    for reading, chance in found.readings:
        show(f"  {100 * chance:3.0f} %  {reading}")


def _show_hint(found: Hint, palette: Palette) -> None:
    token = found.before.tokens[found.token]
    _heading(
        "Tell it one label, and the rest follows",
        f"This one it read wrongly. Told that “{token}” belongs to the {found.type}, it corrects "
        f"{counted(found.repaired, 'more token')} by itself:",
    )
    for name, sequence in [("before", found.before), ("after", found.after)]:
        show(f"\n{name}:", "dim")
        _show_text(sequence, palette)


def _show_text(sequence: LabelledSequence, palette: Palette) -> None:
    """One sequence with its legend, or with the names of its segments in it."""
    if not on_terminal():
        parts = (f"[{type}: {piece}]" if type else piece for piece, type in sequence.pieces())
        print(" ".join(parts))
        return
    console().print(palette.legend(span.type for span in sequence.spans))
    console().print(palette.coloured(sequence))


def _show_next(save: str | None) -> None:
    _heading("What to do next", "With your own data (a token and its label a line, blank lines between):")
    mine = [
        "conseq train train.tsv --dev dev.tsv -m my.model",
        "conseq evaluate my.model test.tsv",
        "conseq label my.model new.txt --text --format spans",
    ]
    kept = [
        f"conseq evaluate {save}/citations.model {save}/citations-test.tsv",
        f"conseq label {save}/citations.model {save}/citations.txt --text --format spans",
        f"conseq train {save}/citations-train.tsv --c2 0.3 -m {save}/other.model",
    ]
    for line in mine:
        show(f"  {line}", "green")
    if save is None:
        show("Or with the data of this demonstration, after `conseq demo --save demo`.")
        return
    show("Or with the data of this demonstration:")
    for line in kept:
        show(f"  {line}", "green")
