"""Which rules a model obeys, and how.

--constraints, --decoder, --limit     ─→ a labeller that does so
--families, --penalties, --importance ─→ the recipe by which `mine` and `train` learn rules
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from conseq.cli.options import DECODING, Decoder, option
from conseq.cli.outcome import misused, say
from conseq.options import SECONDS

if TYPE_CHECKING:
    from conseq.labeller import Labeller
    from conseq.labeller.answers import Answers
    from conseq.mining import Recipe

NONE, LEARN = "none", "learn"
PANEL = "Rules"


def parse_seconds(text: str) -> float:
    """What --limit says; inf: no limit."""
    try:
        seconds = 0.0 if text == NONE else float(text)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        raise typer.BadParameter(f"{text!r} is not a number of seconds; give one from 0, or none")
    return seconds or math.inf


@dataclass(frozen=True)
class RecipeOptions:
    """How rules are learned; with the defaults as `train --constraints learn` learns them."""

    families: str | None = option(
        None, PANEL, "NAMES", "Kinds of rules, separated by commas: {families}; or all."
    )
    penalties: str = option("perceptron", PANEL, "perceptron|svm|log-ratio", "How penalties are found.")
    importance: float = option(
        1.2, PANEL, "X", "Keep rules that the model breaks at least X times as often as gold labels.", min=0
    )
    broken: int = option(3, PANEL, "N", "Keep rules that the model breaks in at least N sequences.", min=1)
    most: int | None = option(
        None, PANEL, "N", "Keep at most N rules, those that the model breaks most often.", min=1
    )

    def recipe(self) -> Recipe:
        """The recipe; ends if a name is not known."""
        from conseq.mining import FAMILIES, PENALTIES, Recipe, Screen

        families = [name.strip() for name in (self.families or "").split(",")]
        if self.families is None or families == ["all"]:
            families = list(Recipe.families if self.families is None else FAMILIES)
        unknown = [name for name in families if name not in FAMILIES]
        if unknown:
            misused(f"there is no family {unknown[0]!r} of rules; there are: {', '.join(FAMILIES)}")
        if self.penalties not in PENALTIES:
            misused(f"there are no penalties {self.penalties!r}; choose one of {', '.join(PENALTIES)}")
        screen = Screen(importance=self.importance, broken=self.broken)
        return Recipe(tuple(families), screen, self.most, self.penalties)


@dataclass(frozen=True)
class Decoding:
    """How labels are found; None: as the model says."""

    constraints: str | None = option(
        None, DECODING, "none|FILE",
        "Rules to obey in place of the model's own: a file with one per line, or none.",
    )  # fmt: skip
    decoder: Decoder | None = option(
        None, DECODING, Decoder,
        "How the best labels under the rules are found; auto takes the cheapest method that proves them "
        "best. Without it: as in the model, else auto.",
    )  # fmt: skip
    limit: float | None = option(
        None, DECODING, "SECONDS",
        f"Time for one sequence, after which its best labels so far are taken; 0 or none: no limit. "
        f"Without it: as in the model, else {SECONDS:g}.",
        parser=parse_seconds,
    )  # fmt: skip

    def of_model(self, labeller: Labeller) -> Labeller:
        """The labeller with these rules in place of its own; what is odd about them is said."""
        if self.decoder is not None:
            labeller.decoder = self.decoder
        if self.limit is not None:
            labeller.limit = self.limit
        if self.constraints is None:
            return labeller
        changed = labeller.with_constraints(rule_file(self.constraints))
        say_oddities(changed)
        return changed


@contextmanager
def limit_noted(labeller: Labeller) -> Iterator[None]:
    """One note at the end if the limit of seconds stopped the search for some sequences."""
    sequences, gaps = 0, []

    def take(found: Answers) -> None:
        nonlocal sequences
        where, decodings = found.stopped, found.decodings
        sequences += len(where)
        gaps.extend((decodings.bounds[where] - decodings.scores[where]).tolist())

    labeller.observer = take
    yield
    if gaps:
        say(
            f"note: the limit of {labeller.limit:g} seconds stopped the search for {len(gaps):,} of "
            f"{sequences:,} sequences; their labels are the best found so far, others may score up to "
            f"{max(gaps):.4g} more: raise --limit, or give fewer rules"
        )


def rule_file(choice: str) -> Path | None:
    """What --constraints names; None if it is none."""
    if choice == LEARN:
        misused("rules are learned by `conseq train` or `conseq mine`; name a file of rules here, or none")
    return None if choice == NONE else Path(choice)


def say_oddities(labeller: Labeller) -> None:
    """A note for everything odd about the rules of a labeller."""
    from conseq.constraints.lint import lint

    for finding in lint(labeller.constraints_, labeller.schema_):
        say(f"note: {finding}")
