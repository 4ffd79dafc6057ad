"""Wall-clock seconds of a piece of work.  work ─→ (seconds, what it gave)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

TIMES = 5
"""How often work is done of which the quickest run counts."""


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def best(work: Callable[[], Any], times: int = TIMES) -> tuple[float, Any]:
    """The seconds of the quickest of several runs, and what the last one gave."""
    runs = [timed(work) for _ in range(times)]
    return min(seconds for seconds, _ in runs), runs[-1][1]
