"""conseq: constrained sequence labelling.

Corpus → features → CRF → labels, and any scores → `decode` → labels under rules; `docs/architecture.md`
draws the flow. All that a user needs has a name here, and every sub-package is an attribute. `__init__.pyi`
says where the names are: to type checkers, and to this module, which imports each when it is first used, so
that `import conseq` and the command line's help stay quick.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import Any

__version__ = "0.1.0"

_STUB = pkgutil.get_data(__name__, "__init__.pyi") or b""
_HOME = {name: module for module, name in re.findall(r"(?m)^from (conseq\.\S+) import (\w+)", _STUB.decode())}
"""Name ─→ the module that has it."""

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
    modules = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    return sorted([*(name for name in globals() if name.startswith("__")), *__all__, *modules])
