"""conseq: constrained sequence labelling.

Corpus → features → CRF → labels, and any scores → `decode` → labels under rules; `docs/architecture.md`
draws the flow. Names are imported when first used, so that `import conseq` and the command line's help stay
quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conseq.constraints.language import parse_constraints
    from conseq.corpus import Corpus
    from conseq.decoders.arrays import decode
    from conseq.decoders.base import Limits
    from conseq.decoders.subwords import word_scores
    from conseq.decoders.variables.wcsp import WCSP
    from conseq.errors import ConseqError
    from conseq.io import read, write
    from conseq.labeller import MemoryLabeller, SequenceLabeller
    from conseq.models.memory import MemoryLearner
    from conseq.potentials import Potentials
    from conseq.problem import Decoding, Status
    from conseq.schema import Schema
    from conseq.shards import Shards

__version__ = "0.1.0"

_HOME = {
    "Corpus": "conseq.corpus",
    "ConseqError": "conseq.errors",
    "Decoding": "conseq.problem",
    "Limits": "conseq.decoders.base",
    "MemoryLabeller": "conseq.labeller",
    "MemoryLearner": "conseq.models.memory",
    "Potentials": "conseq.potentials",
    "Schema": "conseq.schema",
    "SequenceLabeller": "conseq.labeller",
    "Shards": "conseq.shards",
    "Status": "conseq.problem",
    "WCSP": "conseq.decoders.variables.wcsp",
    "decode": "conseq.decoders.arrays",
    "parse_constraints": "conseq.constraints.language",
    "read": "conseq.io",
    "word_scores": "conseq.decoders.subwords",
    "write": "conseq.io",
}

__all__ = [
    "WCSP",
    "ConseqError",
    "Corpus",
    "Decoding",
    "Limits",
    "MemoryLabeller",
    "MemoryLearner",
    "Potentials",
    "Schema",
    "SequenceLabeller",
    "Shards",
    "Status",
    "decode",
    "parse_constraints",
    "read",
    "word_scores",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'conseq' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
