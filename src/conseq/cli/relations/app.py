"""The commands under `conseq relations`, in the order in which its help lists them."""

from __future__ import annotations

from collections.abc import Callable

import typer

from conseq.cli.helping import Command, Group
from conseq.cli.relations.evaluate import evaluate
from conseq.cli.relations.label import label
from conseq.cli.relations.train import train

COMMANDS: list[Callable[..., None]] = [train, label, evaluate]
"""The commands under `conseq relations`."""

app = typer.Typer(
    cls=Group,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
)

for command in COMMANDS:
    app.command(cls=Command, rich_help_panel="Commands")(command)


@app.callback()
def relations(ctx: typer.Context) -> None:
    """Find entities and the relations between them, decided together.

    \b
    Examples:
      conseq relations train train.jsonl --model news.model
      conseq relations label news.model new.jsonl --format html -o new.html
      conseq relations evaluate news.model test.jsonl

    A sentence is a JSON object on a line: {"tokens": […], "entities": [{"type", "start", "end"}, …],
    "relations": [{"type", "head", "tail"}, …]}, where heads and tails are numbers of entities. spaCy's JSON
    and brat's standoff are read and written, too.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
