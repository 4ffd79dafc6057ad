"""What the model files of all labellers have in common.  Labeller ↔ a JSON document"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, get_type_hints

from conseq.archive import Archive
from conseq.constraints.base import Constraint
from conseq.constraints.language import as_constraints, format_constraints, parse_constraints
from conseq.constraints.program import Program
from conseq.corpus import Corpus
from conseq.decoders.auto import find_decoder
from conseq.errors import ModelError, RuleError
from conseq.metrics import METRICS
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


def options_of(kind: type[Labeller], archive: Archive, elsewhere: Collection[str]) -> dict[str, Any]:
    """The options of a labeller in a model file, but for those that are elsewhere, each of its type.

    What the file does not name, because it is older than the option, has its default.
    """
    hints = get_type_hints(kind.__init__)
    defaults = {name: value for name, value in kind._defaults().items() if name not in elsewhere}
    given = archive.document.get("options") or ()
    options = defaults | archive.table("options", {name: hints[name] for name in defaults if name in given})
    archive.check(options["scoring"] in METRICS, f"there is no scoring {options['scoring']!r}")
    archive.check(options["scheme"] in ("auto", *Scheme), f"there is no scheme {options['scheme']!r}")
    return options


def restore_common(labeller: Labeller, archive: Archive) -> None:
    """The reverse of `common`, for a labeller that has its options."""
    archive.field("model-type", str)
    schema = Schema.from_dict(archive.table("schema", {"scheme": str, "labels": list[str]}))
    archive.check(len(schema), "there are no labels")
    labeller.schema_ = schema
    labeller.source_scheme_ = Scheme.of(archive.field("source-scheme", str))
    as_decoded = Scheme.BIO if labeller.source_scheme_ is Scheme.IOB1 else labeller.source_scheme_
    archive.check(schema.scheme is as_decoded, "the labels are of another scheme than the data")
    labeller.columns_ = archive.field("columns", list[str])
    repeated = len(set(labeller.columns_)) < len(labeller.columns_)
    archive.check(not repeated and "" not in labeller.columns_, "a column has no name or that of another")
    labeller.input_ = _input(archive)
    labeller.constraints = archive.field("constraints", str) or None
    try:
        labeller.constraints_ = as_constraints(labeller.constraints, schema)
    except RuleError as error:
        archive.refuse(f"a rule in it cannot be read ({error})")
    a_token = Corpus.from_columns({name: ["a"] for name in labeller.columns_}, [1])
    Program.of(labeller.constraints_, schema, a_token)  # raises if the rules cannot be ground
    labeller.learned_ = None
    labeller._check_options()


def _input(archive: Archive) -> dict[str, Any]:
    """How the training data was read, if it was read from a file."""
    hints = {"columns": list[str], "tokens": str | None}
    return archive.table("input", hints if archive.document.get("input") else {})


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
