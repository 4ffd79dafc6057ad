"""How it is written: the table of all citation styles; one is drawn for each citation."""

from __future__ import annotations

from conseq.datasets.bibliography.styles.base import Style
from conseq.datasets.bibliography.styles.dated import DATED
from conseq.datasets.bibliography.styles.loose import LOOSE
from conseq.datasets.bibliography.styles.numbered import NUMBERED

__all__ = ["STYLES", "Style"]

STYLES: dict[str, Style] = DATED | NUMBERED | LOOSE
"""Every style by its name."""
