"""What the model files of all labellers have in common.  Labeller ↔ a JSON document"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from conseq.constraints.base import Constraint
from conseq.constraints.language import format_constraints, parse_constraints
from conseq.decoders.auto import find_decoder
from conseq.errors import ModelError, RuleError
from conseq.labeller.rules import rules_of
from conseq.schema import Schema, Scheme

if TYPE_CHECKING:
    from conseq.labeller.base import Labeller


def common(labeller: Labeller, elsewhere: Collection[str]) -> dict[str, Any]:
    """What the file of any labeller says: its kind, labels, data, options (but for some) and rules."""
    options = {name: value for name, value in labeller.get_params().items() if name not in elsewhere}
    return {
        "model-type": labeller.model_type,
        "schema": labeller.schema_.to_dict(),
        "source-scheme": str(labeller.source_scheme_),
        "columns": labeller.columns_,
        "input": labeller.input_,
        "options": {**options, "decoder": find_decoder(labeller.decoder).name},
        "constraints": _written(labeller.constraints_),
    }


def restore_common(labeller: Labeller, document: Mapping[str, Any]) -> None:
    """The reverse, for a labeller that has its options; files older than rules have none."""
    labeller.schema_ = Schema.from_dict(document["schema"])
    labeller.source_scheme_ = Scheme.of(document["source-scheme"])
    labeller.columns_ = list(document["columns"])
    labeller.input_ = dict(document["input"])
    labeller.constraints = document.get("constraints", "") or None
    labeller.constraints_ = rules_of(labeller.constraints, labeller.schema_)
    labeller.learned_ = None


def _written(rules: Sequence[Constraint]) -> str:
    """The rules as text; an error if one, made in Python, has no line that reads back."""
    for rule in rules:
        if not _reads_back(rule):
            raise ModelError(
                f"the rule '{rule}' is of a kind that a model file cannot hold; save without it "
                "(with_constraints) and give it again after loading"
            )
    return format_constraints(rules)


def _reads_back(rule: Constraint) -> bool:
    try:
        return parse_constraints(str(rule)) == [rule]
    except RuleError:
        return False
