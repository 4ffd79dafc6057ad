"""Which rules a model obeys, and how.  --constraints, --decoder, --limit ─→ a labeller that does so"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from conseq.cli.outcome import misused, say

if TYPE_CHECKING:
    from conseq.labeller import Labeller

NONE, LEARN = "none", "learn"


@dataclass(frozen=True)
class Decoding:
    """How labels are found; None: as the model says."""

    constraints: str | None = None
    decoder: str | None = None
    limit: float | None = None

    def of_model(self, labeller: Labeller) -> Labeller:
        """The labeller with these rules in place of its own; what is odd about them is said."""
        if self.decoder is not None:
            labeller.decoder = str(self.decoder)
        if self.limit is not None:
            labeller.limit = self.limit
        if self.constraints is None:
            return labeller
        changed = labeller.with_constraints(rule_file(self.constraints))
        say_oddities(changed)
        return changed


def rule_file(choice: str) -> Path | None:
    """What --constraints names; None if it is none."""
    if choice == LEARN:
        misused("rules are learned by `conseq train` or `conseq mine`; name a file of rules here, or none")
    return None if choice == NONE else Path(choice)


def training_rules(choice: str) -> str | Path | None:
    """What --constraints says to training: rules of a file, none, or that they are learned."""
    return LEARN if choice == LEARN else rule_file(choice)


def say_oddities(labeller: Labeller) -> None:
    """A note for everything odd about the rules of a labeller."""
    from conseq.constraints.lint import lint

    for finding in lint(labeller.constraints_, labeller.schema_):
        say(f"note: {finding}")
