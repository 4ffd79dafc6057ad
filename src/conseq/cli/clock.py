"""How long a command has been running."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress


class Clock:
    """Seconds since it was made, or since `ago` seconds earlier."""

    def __init__(self, ago: float = 0.0) -> None:
        self.begun = time.perf_counter() - ago

    @classmethod
    def of_process(cls) -> Clock:
        """Counts from the creation of this process where the system tells it (Linux), else from now.

        It is the 22nd field of /proc/self/stat, in ticks since boot.
        """
        with suppress(OSError, ValueError, IndexError, AttributeError), open("/proc/self/stat") as file:
            after_name = file.read().rpartition(")")[2].split()
            begun = int(after_name[19]) / os.sysconf("SC_CLK_TCK")
            return cls(max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - begun))
        return cls()

    def seconds(self) -> float:
        return time.perf_counter() - self.begun


def peak_mb() -> float | None:
    """The most memory this process has used, in megabytes; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
