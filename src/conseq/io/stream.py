"""Endless input in bounded memory.  an input → `Block`s of whole sequences, as soon as they are there.

    reader thread: chunks ─→ whole lines ─→ tidy ─→ sequences ─┐ bounded queue
    consumer:      Block ←─ all that is there, up to a limit ←─┘

A pipe gets an answer when its sequence is complete; a file, read faster than labelled, gets large blocks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import Queue

from conseq.errors import DataError
from conseq.io.source import BOM, Block, Input, Origin, open_input, whole_lines

DEPTH = 8
"""How many chunks' worth of sequences may wait in the queue."""

MAX_TOKENS = 20_000
"""How many tokens a batch has at most (a longer sequence is a batch by itself)."""

Item = list[bytes] | Exception | None
"""What the queue holds: the pieces of a chunk; last, None or the error that ended the reading."""


@dataclass(frozen=True)
class Cutter:
    """How a format is cut: what ends a sequence, how its raw lines are tidied, how large a piece is."""

    end: bytes
    tidy: Callable[[bytes], bytes]
    size: Callable[[bytes], int]

    def pieces(self, chunks: Iterator[bytes]) -> Iterator[list[bytes]]:
        """The sequences in each chunk, without what ends them. Joined by `end` they are all lines again."""
        unfinished: list[bytes] = []
        for lines in _tidied(chunks, self.tidy):
            # The newline that ended the unfinished lines may be the first half of a blank line's.
            *done, rest = (b"\n" + lines if unfinished else lines).split(self.end)
            if done:
                done[0] = b"".join([*unfinished, done[0]])
                unfinished = []
                yield done
            if rest:
                unfinished.append(rest[:-1])
        if unfinished:
            yield [b"".join(unfinished)]


def _tidied(chunks: Iterator[bytes], tidy: Callable[[bytes], bytes]) -> Iterator[bytes]:
    """Whole lines: what a chunk leaves of its last line is kept for the next one."""
    bom, carry = BOM, []
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            carry.append(chunk)
            continue
        yield tidy(whole_lines(b"".join([*carry, chunk[:cut]])).removeprefix(bom))
        bom, carry = b"", [chunk[cut:]]
    last = b"".join(carry).removeprefix(bom)
    if last:
        yield tidy(whole_lines(last))


class _Reader(threading.Thread):
    """Reads ahead: puts lists of pieces into `queue`, and at the end None or the error that ended it."""

    def __init__(self, origin: Origin, cutter: Cutter) -> None:
        super().__init__(name=f"conseq reads {origin.name}", daemon=True)
        self.origin = origin
        self.cutter = cutter
        self.queue: Queue[Item] = Queue(DEPTH)
        self.stopped = threading.Event()

    def run(self) -> None:
        end: Exception | None = None
        try:
            for pieces in self.cutter.pieces(self.origin.chunks):
                self.queue.put(pieces)
                if self.stopped.is_set():
                    break
        except Exception as error:  # raised again where the blocks are taken
            end = error
        self.queue.put(end)

    def stop(self) -> None:
        """End the thread: wake it from its read, make room for its last two puts."""
        self.stopped.set()
        self.origin.interrupt()
        while not self.queue.empty():
            self.queue.get_nowait()
        self.join(None if self.origin.wake else 0.1)
        if not self.is_alive():
            self.origin.close()


def _batches(queue: Queue[Item], size: Callable[[bytes], int], limit: int) -> Iterator[list[bytes]]:
    """All pieces that are in the queue, cut where they would go over the limit; waits only for the first."""
    batch: list[bytes] = []
    room = limit
    while isinstance(item := queue.get(), list):
        for piece in item:
            if batch and size(piece) > room:
                yield batch
                batch, room = [], limit
            batch.append(piece)
            room -= size(piece)
        if batch and queue.empty():
            yield batch
            batch, room = [], limit
    if batch:
        yield batch
    if item is not None:
        raise item


def stream_blocks(source: Input | Origin, cutter: Cutter, limit: int = MAX_TOKENS) -> Iterator[Block]:
    """Blocks of whole sequences; waits for the first sequence, then takes what else is there.

    Closing the iterator ends the reader. (One that waits for a buffered stream of the caller's cannot be
    woken: that thread goes with the next input or the end of the program.)
    """
    reader = _Reader(open_input(source), cutter)
    reader.start()
    line = 1
    try:
        for pieces in _batches(reader.queue, cutter.size, limit):
            data = cutter.end.join(pieces) + b"\n"
            yield Block(data, reader.origin.name, line)
            line += data.count(b"\n") + len(cutter.end) - 1
        if line == 1:
            raise DataError("the file is empty; give at least one sequence", path=reader.origin.name)
    finally:
        reader.stop()
