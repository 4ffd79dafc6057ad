"""Files that are written whole or not at all.  text or bytes → temporary file → renamed to the target.

A reader sees the old file or the new one, never half of one; an error leaves what was there.
"""

from __future__ import annotations

import gzip
import io
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from conseq.errors import DataError

Output = str | os.PathLike[str] | IO[Any]
"""What can be written to: a path, '-' for standard output, or an open stream (of text or bytes)."""

STDOUT = "-"
_BOM = "\ufeff"


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "wb") -> Iterator[IO[Any]]:
    """Open a file for writing ('wb', or 'w' for UTF-8 text) that replaces `path` when all went well.

    Links are followed, the permissions of a file that was there are kept, and a device or pipe
    (/dev/stdout) is written to directly.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(f"{folder}/a.txt", "w") as file:
    ...         _ = file.write("whole")
    ...     Path(folder, "a.txt").read_text()
    'whole'
    """
    target = Path(os.path.realpath(path))
    if mode not in ("w", "wb"):
        raise ValueError(f"mode {mode!r}; give 'w' or 'wb'")
    _check_target(target, path)
    if target.exists() and not target.is_file():
        with _named(path):
            device = _open(target, mode)
        with device:
            yield device
        return
    yield from _through_temporary(target, mode, path)


def _through_temporary(target: Path, mode: str, path: str | os.PathLike[str]) -> Iterator[IO[Any]]:
    temporary = target.with_name(f".conseq-{secrets.token_hex(6)}.tmp")
    with _named(path):
        file = _open(temporary, mode.replace("w", "x"))
    try:
        yield file
        with _named(path):
            file.close()
            _keep_permissions(target, temporary)
            os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            file.close()
        with suppress(OSError):
            temporary.unlink()
        raise


def _open(path: Path, mode: str) -> IO[Any]:
    return open(path, mode) if "b" in mode else open(path, mode, encoding="utf-8", newline="")


def _check_target(target: Path, path: str | os.PathLike[str]) -> None:
    if target.is_dir():
        raise DataError("this is a directory; name a file in it", path=os.fspath(path))
    if not target.parent.is_dir():
        raise DataError(f"there is no directory {target.parent}; create it first", path=os.fspath(path))
    if target.exists() and not os.access(target, os.W_OK):
        raise DataError("the file may not be changed; choose another name", path=os.fspath(path))


def _keep_permissions(target: Path, temporary: Path) -> None:
    """A new file has what the umask gave it, an old one what it had."""
    with suppress(FileNotFoundError):
        os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of the system into a sentence about `path`."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"the file cannot be written ({error.strerror}); choose another place", path=os.fspath(path)
        ) from None


def emit(target: Output, text: str) -> None:
    """Write a text to a path (packed if it ends in .gz), to standard output or to a stream.

    >>> emit("-", "text")
    text
    """
    if not isinstance(target, (str, os.PathLike)):
        _emit_to_stream(target, text)
        return
    path = os.fspath(target)
    if path == STDOUT:
        _emit_to_stream(sys.stdout, text)
        return
    # A first character that looks like a byte order mark needs a mark before it, to be read back.
    data = _encoded(_BOM + text if text.startswith(_BOM) else text, path)
    with atomic_write(path) as file:
        file.write(gzip.compress(data, mtime=0) if path.endswith(".gz") else data)


def _emit_to_stream(stream: IO[Any], text: str) -> None:
    if isinstance(stream, io.TextIOBase):
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
