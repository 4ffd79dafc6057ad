"""Where bytes come from.  a path, '-' or a binary stream → chunks of plain bytes → `Block`.

    path, '-', stream ─→ Origin ─→ raw chunks ─(gzip by its magic bytes)→ plain chunks ─→ Block

A `Block` is a stretch of whole lines that knows its file and its first line, so that every error found in
it, now or in a later step, can name the place.
"""

from __future__ import annotations

import io
import os
import select
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, count
from typing import IO, Any

from conseq.errors import DataError

Input = str | os.PathLike[str] | IO[bytes]
"""What can be read: a path, '-' for standard input, or an open binary stream."""

STDIN = "-"
CHUNK = 1 << 18
BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")

_CANNOT_OPEN: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file; check the path",
    IsADirectoryError: "this is a directory; name a file in it",
    PermissionError: "the file may not be read; check its permissions",
}


@dataclass(frozen=True)
class Block:
    """Whole lines of an input: `data` ends with a newline; `line` is the number of its first line."""

    data: bytes
    path: str
    line: int = 1

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Each line with its number, without its newline; found one by one."""
        start = 0
        for number in count(self.line):
            end = self.data.find(b"\n", start)
            if end < 0:
                return
            yield number, self.data[start:end]
            start = end + 1

    def text_lines(self) -> Iterator[tuple[int, str]]:
        """Each line that is not blank, decoded, with its number."""
        numbered = enumerate(decode(self)[:-1].split("\n"), self.line)
        return ((number, line) for number, line in numbered if line and not line.isspace())

    def error(self, message: str, line: int | None = None) -> DataError:
        return DataError(message, path=self.path, line=line)


@dataclass
class Origin:
    """An open input. `interrupt` ends a read that waits, where the system can (`wake`).

    `chunks` are its bytes, unpacked if they begin with gzip's magic bytes.
    """

    name: str
    file: Any
    owned: bool = True
    wake: tuple[int, int] | None = field(default=None, init=False)
    chunks: Iterator[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.chunks = self._plain()
        if isinstance(self.file, io.FileIO) and hasattr(select, "poll"):
            self.wake = os.pipe()

    def head(self) -> bytes:
        """The first chunks up to the end of a line, or enough of them; `chunks` gives them again."""
        seen: list[bytes] = []
        for chunk in self.chunks:
            seen.append(chunk)
            if b"\n" in chunk or sum(map(len, seen)) >= CHUNK:
                break
        self.chunks = chain(seen, self.chunks)
        return b"".join(seen)

    def _plain(self) -> Iterator[bytes]:
        chunks = self._raw()
        head = b""
        for chunk in chunks:
            head += chunk
            if len(head) >= len(_GZIP):
                break
        rest = chain([head] if head else [], chunks)
        yield from _gunzip(rest, self.name) if head.startswith(_GZIP) else rest

    def _raw(self) -> Iterator[bytes]:
        """What is there to read, as soon as it is there."""
        read = getattr(self.file, "read1", self.file.read)
        try:
            while self._wait():
                chunk = read(CHUNK)
                if chunk == b"":
                    return
                if chunk:  # None: a non-blocking stream had nothing yet
                    yield chunk
        except OSError as error:
            raise DataError(
                f"reading failed ({error.strerror or error}); try again", path=self.name
            ) from None

    def _wait(self) -> bool:
        """Wait for input; False if interrupted."""
        if self.wake is None:
            return True
        poll = select.poll()
        poll.register(self.file.fileno(), select.POLLIN)
        poll.register(self.wake[0], select.POLLIN)
        return all(fd != self.wake[0] for fd, _ in poll.poll())

    def interrupt(self) -> None:
        if self.wake is not None:
            os.write(self.wake[1], b"!")

    def close(self) -> None:
        """Close what was opened here; a stream that the caller opened stays open."""
        for fd in self.wake or ():
            os.close(fd)
        self.wake = None
        if self.owned:
            self.file.close()


def open_input(source: Input | Origin) -> Origin:
    """Open a path, '-' or a stream for reading bytes; what is open already stays as it is."""
    if isinstance(source, Origin):
        return source
    if not isinstance(source, (str, os.PathLike)):
        name = getattr(source, "name", None)  # of a file that was opened by its number it is that number
        return Origin(name if isinstance(name, str) else "input", _binary(source), owned=False)
    path = os.fspath(source)
    if path == STDIN:
        return _standard_input()
    try:
        return Origin(path, open(path, "rb", buffering=0))
    except OSError as error:
        reason = _CANNOT_OPEN.get(
            type(error), f"the file cannot be opened ({error.strerror}); check the path"
        )
        raise DataError(reason, path=path) from None


def _standard_input() -> Origin:
    """Standard input without Python's buffer: a thread that waits in the buffer would hang the exit."""
    name = "standard input"
    if sys.stdin is None:
        raise DataError("there is none; name a file instead of '-'", path=name)
    try:
        return Origin(name, io.FileIO(sys.stdin.fileno(), closefd=False))
    except (OSError, ValueError):  # replaced by an object without a file descriptor
        return Origin(name, _binary(sys.stdin), owned=False)


def _binary(stream: Any) -> Any:
    """The bytes under a text stream; a binary stream as it is."""
    if not isinstance(stream, io.TextIOBase):
        return stream
    return getattr(stream, "buffer", None) or io.BytesIO(stream.read().encode())


def _gunzip(chunks: Iterable[bytes], path: str) -> Iterator[bytes]:
    """Unpack gzip data, which may have several members end to end."""
    unpack, line, inside = zlib.decompressobj(31), 1, False
    try:
        for chunk in chunks:
            while chunk:
                plain = unpack.decompress(chunk)
                inside, chunk = not unpack.eof, unpack.unused_data.lstrip(b"\0")
                line += plain.count(b"\n")
                if unpack.eof:
                    unpack = zlib.decompressobj(31)
                if plain:
                    yield plain
    except zlib.error:
        raise DataError(
            "the gzip data is damaged; fetch or pack the file again", path=path, line=line
        ) from None
    if inside:
        raise DataError("the gzip data ends too early; fetch or pack the file again", path=path, line=line)


def load(source: Input) -> Block:
    """The whole input as one block, with '\\n' at the end of every line and no byte order mark."""
    with closing(open_input(source)) as origin:
        data = b"".join(origin.chunks)
    if not data:
        raise DataError("the file is empty; give at least one sequence", path=origin.name)
    return Block(whole_lines(data).removeprefix(BOM), origin.name)


def whole_lines(data: bytes) -> bytes:
    """The same lines, each ended by a single '\\n' (also the last)."""
    if not data.endswith(b"\n"):
        data += b"\n"
    return data.replace(b"\r\n", b"\n") if b"\r" in data else data


def decode(block: Block) -> str:
    """The block as text, or an error that names the line with the first byte that is not UTF-8."""
    try:
        return block.data.decode()
    except UnicodeDecodeError as error:
        line = block.line + block.data.count(b"\n", 0, error.start)
        kind = "UTF-16" if block.data.startswith(_UTF16) else "latin1"
        raise block.error(
            f"byte 0x{block.data[error.start]:02x} is not UTF-8; "
            f"convert the file, for example with: iconv -f {kind} -t utf-8",
            line,
        ) from None
