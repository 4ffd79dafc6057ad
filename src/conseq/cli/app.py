"""The commands of the command line, in the order in which `conseq --help` lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from conseq import __version__
from conseq.cli.demo import demo
from conseq.cli.evaluate import evaluate
from conseq.cli.explain import explain
from conseq.cli.helping import Command, Group
from conseq.cli.label import label
from conseq.cli.mine import mine
from conseq.cli.relations.app import app as relations
from conseq.cli.train import train

app = typer.Typer(
    cls=Group,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
)

COMMANDS: dict[str, list[Callable[..., None]]] = {
    "Start here": [demo],
    "Work": [train, label, evaluate, explain, mine],
}
"""Heading → the commands under it."""

GROUPS = {"relations": "Work"}
"""Commands that have commands of their own → the heading under which they stand."""

for heading, commands in COMMANDS.items():
    for command in commands:
        app.command(cls=Command, rich_help_panel=heading)(command)

app.add_typer(relations, name="relations", rich_help_panel=GROUPS["relations"])


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"conseq {__version__}")
        raise typer.Exit


@app.callback()
def conseq(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Label sequences: learn from labelled data, label new data, say how sure each answer is.

    \b
    conseq demo                                      see what it does, in a minute
    conseq train train.tsv --dev dev.tsv -m my.model learn
    conseq label my.model new.tsv                    label new data
    conseq evaluate my.model test.tsv                compare with gold labels

    Data is columns of tokens (blank line between sequences, last column the label), text with <tags>, or JSON
    lines. `conseq COMMAND --help` shows a command's options, with examples.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
