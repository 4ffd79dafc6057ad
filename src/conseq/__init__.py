"""conseq: constrained sequence labelling.

Corpus → features → CRF → labels; `docs/architecture.md` draws the flow. Names are imported when first used,
so that `import conseq` and the command line's help stay quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conseq.corpus import Corpus
    from conseq.errors import ConseqError
    from conseq.io import read, write
    from conseq.labeller import SequenceLabeller
    from conseq.potentials import Potentials
    from conseq.schema import Schema

__version__ = "0.1.0"

_HOME = {
    "Corpus": "conseq.corpus",
    "ConseqError": "conseq.errors",
    "Potentials": "conseq.potentials",
    "Schema": "conseq.schema",
    "SequenceLabeller": "conseq.labeller",
    "read": "conseq.io",
    "write": "conseq.io",
}

__all__ = [
    "ConseqError",
    "Corpus",
    "Potentials",
    "Schema",
    "SequenceLabeller",
    "read",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'conseq' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
