"""What a labeller takes as constraints: the forms that the language knows, "none" and "learn" ─→ rules."""

from __future__ import annotations

from conseq.constraints.base import Constraint
from conseq.constraints.language import Rules, as_constraints
from conseq.errors import ConseqError
from conseq.schema import Schema

NONE, LEARN = "none", "learn"


def rules_of(given: Rules, schema: Schema) -> tuple[Constraint, ...]:
    """The rules, checked against the labels.

    >>> rules_of("at most 1 segment of date  hard", Schema(["O", "B-date", "I-date"], "bio"))[0].line()
    'at most 1 segment of date'
    >>> rules_of("none", Schema(["O"], "plain"))
    ()
    """
    if isinstance(given, str) and given == NONE:
        return ()
    if isinstance(given, str) and given == LEARN:
        raise ConseqError("rules are learned while a model is trained: constraints='learn' goes with fit")
    return as_constraints(given, schema)
