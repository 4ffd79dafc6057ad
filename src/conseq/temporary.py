"""What a process leaves behind if it is ended: temporary files and folders, known by their names.

    temporary_path(folder) ─→ .conseq-PLACE-PID-….tmp ─→ renamed, or removed in the end
    SIGTERM, SIGHUP        ─→ what is still there is removed, and the process dies by the signal
    SIGKILL                ─→ `remove_stale`, when a later process writes to the same folder

PLACE stands for the host and its namespace of processes, so that only a process that could see the owner
alive may say that it is not.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FrameType

_NAME = re.compile(r"\.conseq-([0-9a-f]{8})-(\d+)-\w+\.tmp")

_held: dict[Path, int] = {}
"""Temporary files and folders → the process that made them (a forked child has its parent's, too)."""

_looked_at: set[Path] = set()
"""Folders in which this process has looked for what others left."""


@contextmanager
def temporary_path(folder: Path) -> Iterator[Path]:
    """A name for a new file or folder, which is gone (or has another name) in the end, however that comes."""
    if folder not in _looked_at:
        _looked_at.add(folder)
        remove_stale(folder)
    path = folder / f".conseq-{_place()}-{os.getpid()}-{secrets.token_hex(6)}.tmp"
    _held[path] = os.getpid()
    try:
        yield path
    finally:
        remove(path)
        _held.pop(path, None)


def remove(path: Path) -> None:
    """Remove a file, or a folder with what is in it, as far as that is possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def remove_stale(folder: Path) -> None:
    """Remove what processes of this host left in a folder when they were killed."""
    with suppress(OSError), os.scandir(folder) as entries:
        names = [found for entry in entries if (found := _NAME.fullmatch(entry.name))]
        for name in names:
            if name[1] == _place() and not _is_alive(int(name[2])):
                remove(folder / name[0])


@cache
def _place() -> str:
    """The host and its namespace of processes, as eight digits."""
    import hashlib
    import socket

    namespace = ""
    with suppress(OSError):
        namespace = os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(f"{socket.gethostname()} {namespace}".encode()).hexdigest()[:8]


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's, or no number of a process
        return True
    return True


def remove_when_ended() -> None:
    """From now on SIGTERM and SIGHUP remove temporary files before they end the process.

    A signal that is ignored (`nohup`) or handled already is left alone.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _: FrameType | None) -> None:
    for path, owner in list(_held.items()):
        if owner == os.getpid():
            remove(path)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
