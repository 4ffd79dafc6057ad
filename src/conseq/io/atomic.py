"""Files that are written whole or not at all.  text or bytes → temporary file → renamed to the target.

A reader sees the old file or the new one, never half of one; an error leaves what was there.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from conseq.errors import DataError
from conseq.temporary import temporary_path
from conseq.threads import ForkLock

Output = str | os.PathLike[str] | IO[Any]
"""What can be written to: a path, '-' for standard output, or an open stream (of text or bytes)."""

STDOUT = "-"
_BOM = "\ufeff"
_UMASK = ForkLock()
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes that replaces `path` when all went well.

    Links are followed, the permissions of a file that was there are kept, and a device or pipe
    (/dev/stdout) is written to directly.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(f"{folder}/a.txt") as file:
    ...         _ = file.write(b"whole")
    ...     Path(folder, "a.txt").read_text()
    'whole'
    """
    device = os.path.exists(path) and not os.path.isfile(path)
    target = Path(path if device else os.path.realpath(path))  # what a link in /dev/fd leads to has no path
    _check_target(target, path)
    if device:
        with _opened(target, "wb", path) as file:
            yield file
        return
    with temporary_path(target.parent) as temporary:
        with _opened(temporary, "xb", path) as file:
            yield file
            with _named(path):
                file.flush()
                os.fsync(file.fileno())
        with _named(path):
            os.chmod(temporary, _permissions(target))
            os.replace(temporary, target)


@contextmanager
def _opened(place: Path, mode: str, path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """The file at a place, which nobody else can read if it is new; that it cannot be opened, or that the
    disk is full, is said of `path`."""
    with _named(path):
        file = open(place, mode, opener=lambda name, flags: os.open(name, flags, 0o600))  # noqa: SIM115
    with _named(path, *_FULL), file:
        yield file


def _permissions(target: Path) -> int:
    """Those of the file that was there; those that the umask gives to a new one."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    with _UMASK:
        mask = os.umask(0o077)  # it can only be read by setting it: for a moment to the strictest
        os.umask(mask)
    return 0o666 & ~mask


def _check_target(target: Path, path: str | os.PathLike[str]) -> None:
    if target.is_dir() or os.fspath(path).endswith(os.sep):
        raise DataError("this is a directory; name a file in it", path=os.fspath(path))
    if not target.parent.is_dir():
        raise DataError(f"there is no directory {target.parent}; create it first", path=os.fspath(path))
    if target.exists() and not os.access(target, os.W_OK):
        raise DataError("the file may not be changed; choose another name", path=os.fspath(path))


@contextmanager
def _named(path: str | os.PathLike[str], *numbers: int) -> Iterator[None]:
    """Turn an error of the system, of these numbers if any are given, into a sentence about `path`."""
    try:
        yield
    except OSError as error:
        if numbers and error.errno not in numbers:
            raise
        raise DataError(
            f"the file cannot be written ({error.strerror}); choose another place", path=os.fspath(path)
        ) from None


@contextmanager
def atomic_write_packed(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """As `atomic_write`, but packed if the name ends in .gz; the same bytes always give the same file."""
    with atomic_write(path) as file:
        if os.fspath(path).endswith(".gz"):
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                yield cast(IO[bytes], packed)
        else:
            yield file


def emit(target: Output, text: str) -> None:
    """Write a text to a path (packed if it ends in .gz), to standard output or to a stream.

    >>> emit("-", "text")
    text
    """
    stream: Output = sys.stdout if target in (STDOUT, Path(STDOUT)) else target
    if isinstance(stream, (str, os.PathLike)):
        path = os.fspath(stream)
        # A first character that looks like a byte order mark needs a mark before it, to be read back.
        data = _encoded(_BOM + text if text.startswith(_BOM) else text, path)
        with atomic_write_packed(path) as file:
            file.write(data)
    elif isinstance(stream, io.TextIOBase):
        stream.write(text)
    else:
        stream.write(_encoded(text, getattr(stream, "name", None)))


def _encoded(text: str, path: str | None) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{text[error.start]!r} is half of a character and cannot be written; replace it", path=path
        ) from None
