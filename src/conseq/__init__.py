"""conseq: constrained sequence labelling.

Corpus → features → CRF → labels, and any scores → `decode` → labels under rules; `docs/architecture.md`
draws the flow. All that a user needs has a name here, and every sub-package is an attribute. Names are
imported when first used, so that `import conseq` and the command line's help stay quick; `__init__.pyi` tells
type checkers what they are.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_NAMES = {
    "conseq.constraints": (
        "HARD Agree Around BeginsWith Constraint Contains Contiguous Counts EndsWith ExactlyOneOf "
        "FirstLast FollowedBy FollowedLater Forbidden IfThen Legal NotBefore NotBoth OnlySteps Pattern "
        "Places Repeated Required Segments Share Sum Term TokenIs TokenIsNot TokenTest Words"
    ),
    "conseq.constraints.language": "parse_constraints",
    "conseq.corpus": "Corpus",
    "conseq.decoders.arrays": "decode",
    "conseq.decoders.base": "Limits",
    "conseq.decoders.beam": "Beam",
    "conseq.decoders.auto": "Auto",
    "conseq.decoders.dual": "Dual",
    "conseq.decoders.enumeration": "Enumerate",
    "conseq.decoders.ilp": "ILP",
    "conseq.decoders.lazy": "Lazy",
    "conseq.decoders.subwords": "word_scores",
    "conseq.decoders.twostage": "TwoStage",
    "conseq.decoders.chain_as_variables": "ChainAsVariables",
    "conseq.decoders.chain.viterbi": "Viterbi",
    "conseq.decoders.variables.wcsp": "WCSP",
    "conseq.errors": (
        "ConseqError DataError InfeasibleError ModelError RuleError SchemaError ScoreError TemplateError"
    ),
    "conseq.io": "read write",
    "conseq.labeller": "Labeller MemoryLabeller SequenceLabeller load",
    "conseq.labeller.learning": "learn_rules",
    "conseq.labeller.tuning": "tune",
    "conseq.metrics": "Report evaluate",
    "conseq.mining": "Learned Recipe Screen",
    "conseq.models.memory": "MemoryLearner",
    "conseq.options": "NeighbourOptions RuleOptions Training",
    "conseq.potentials": "Potentials",
    "conseq.problem": "Certificate Decoding Problem Problems Status",
    "conseq.schema": "Schema",
    "conseq.shards": "Shards",
}
"""Module ─→ the names that it gives to the package."""

_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    path = f"{__name__}.{name}"
    if not name.startswith("_"):
        try:
            return importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name != path:  # something that a module of ours needs
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    import pkgutil

    modules = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    return sorted([*(name for name in globals() if name.startswith("__")), *__all__, *modules])
