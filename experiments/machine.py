"""What the figures were measured on: the machine and the versions, as plain JSON values."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from conseq.threads import cores

PACKAGES = ("conseq", "numpy", "scipy", "numba", "highspy", "python-crfsuite")


def describe() -> dict[str, Any]:
    """Processor, cores, Python and the versions of the packages that matter."""
    return {
        "processor": _processor(),
        "cores": cores(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
