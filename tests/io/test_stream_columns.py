"""Streaming: the same as reading at once, but early, in bounded memory, and without leaving a thread."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.io import read, stream
from conseq.io.source import CHUNK
from conseq.io.stream import DEPTH


class Dribble(io.BytesIO):
    """A stream that gives its bytes in pieces of the sizes asked for."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        super().__init__(data)
        self.sizes = list(sizes)

    def read1(self, size: int | None = -1) -> bytes:
        return self.read(self.sizes.pop() if self.sizes else 3)


class Endless:
    """A stream without an end that counts what was taken from it."""

    def __init__(self, unit: bytes = b"a\tX\n\n") -> None:
        self.unit, self.taken = unit, 0

    def read(self, size: int) -> bytes:
        self.taken += size
        return self.unit * (size // len(self.unit))


def within(seconds: float, task: Callable[[], Any]) -> Any:
    """The result of a task, or a failure if it hangs."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(task()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "the task hangs"
    return found[0]


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("conseq reads")]


def eventually(holds: Callable[[], bool], seconds: float = 5) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    return holds()


def complaint_of(task: Callable[[], Any]) -> str:
    """What a task complains about, "" if nothing."""
    try:
        task()
    except DataError as error:
        return str(error)
    return ""


def joined(batches: list[Corpus]) -> list[tuple[list[str], list[str] | None]]:
    return [(sequence.tokens, sequence.labels) for batch in batches for sequence in batch]


lines = st.sampled_from(["a\tX", "bé\tY", "", "", " ", "-DOCSTART-\tO", "c\tX"])


@given(
    st.lists(lines, min_size=1, max_size=30).map("\n".join),
    st.lists(st.integers(1, 9), max_size=9),
    st.integers(1, 5),
    st.sampled_from(["", "packed", "\r"]),
)
def test_equal_to_reading_at_once(text: str, sizes: list[int], limit: int, how: str) -> None:
    data = text.replace("\n", "\r\n").encode() if how == "\r" else text.encode()
    data = gzip.compress(data) if how == "packed" else data
    batches: list[Corpus] = []
    streamed = stream(Dribble(data, sizes), columns="word,label", max_tokens=limit)
    complaint = complaint_of(lambda: batches.extend(streamed))
    assert complaint == complaint_of(lambda: read(io.BytesIO(data), "columns", columns="word,label"))
    if not complaint:
        assert joined(batches) == joined([read(io.BytesIO(data), "columns", columns="word,label")])
    assert all(len(batch) == 1 or batch.n_tokens <= limit for batch in batches)


@given(st.lists(st.sampled_from(["a\tX", "b", ""]), min_size=2, max_size=30), st.integers(1, 9))
def test_errors_have_the_same_line(rows: list[str], limit: int) -> None:
    data = "\n".join(["a\tX", *rows]).encode()
    streamed = stream(Dribble(data, []), max_tokens=limit)
    assert complaint_of(lambda: list(streamed)) == complaint_of(lambda: read(io.BytesIO(data), "columns"))


def test_a_file_gives_large_batches(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\tX\n\n" * 100_000)
    sizes = [batch.n_tokens for batch in stream(tmp_path / "in", max_tokens=10_000)]
    assert sum(sizes) == 100_000
    assert max(sizes) <= 10_000
    assert len(sizes) < 20


def test_a_sequence_longer_than_the_limit_stays_whole() -> None:
    (batch,) = stream(io.BytesIO(b"a\n" * 300_000), max_tokens=10)
    assert batch.lengths.tolist() == [300_000]


@pytest.mark.parametrize("buffering", [-1, 0])
def test_a_pipe_is_answered_before_its_end(buffering: int) -> None:
    end, begin = os.pipe()
    with open(end, "rb", buffering=buffering) as source, open(begin, "wb", buffering=0) as sink:
        batches = stream(source)
        for words in (["a", "b"], ["c"]):
            sink.write("".join(f"{word}\tX\n" for word in words).encode() + b"\n")
            assert within(5, lambda: next(batches)).token_sequences() == [words]
        sink.write(b"d\tX\n")
        sink.close()
        assert within(5, lambda: next(batches)).token_sequences() == [["d"]]
        assert list(batches) == []
    assert not readers()


def test_all_that_waits_comes_in_one_batch() -> None:
    end, begin = os.pipe()
    with open(end, "rb", buffering=0) as source, open(begin, "wb", buffering=0) as sink:
        batches = stream(source)
        sink.write(b"a\tX\n\n")
        assert len(within(5, lambda: next(batches))) == 1
        sink.write(b"b\tX\n\nc\tX\n\nd\tX\n")
        assert within(5, lambda: next(batches)).token_sequences() == [["b"], ["c"]]
        batches.close()


def test_memory_is_bounded() -> None:
    source = Endless()
    batches = stream(source, max_tokens=100)  # type: ignore[arg-type]
    next(batches)
    bound = (DEPTH + 3) * CHUNK
    assert not eventually(lambda: source.taken > bound, seconds=0.5)
    batches.close()
    assert eventually(lambda: not readers())


def test_closing_ends_a_reader_that_waits(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with open(os.open(fifo, os.O_RDWR), "wb", buffering=0) as sink:
        batches = stream(fifo)
        sink.write(b"a\tX\n\n")
        assert within(5, lambda: next(batches)).n_tokens == 1
        assert readers()
        within(5, lambda: batches.close() or True)
        assert not readers()


def test_a_dropped_generator_ends_its_reader(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\tX\n\n" * 1_000_000)
    for batch in stream(tmp_path / "in", max_tokens=10):
        assert batch.n_tokens == 10
        break
    assert eventually(lambda: not readers())


def test_an_error_comes_after_the_batches_before_it(tmp_path: Path) -> None:
    good = b"a\tX\n\n" * 100_000
    (tmp_path / "in").write_bytes(good + b"a\n\n" + good)
    batches: list[Corpus] = []
    with pytest.raises(DataError, match=r"in:200001: 1 column where line 1 has 2"):
        batches.extend(stream(tmp_path / "in", max_tokens=1000))
    assert 99_000 <= sum(batch.n_tokens for batch in batches) <= 100_000
    assert not readers()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"\n\n \n", "the file has no tokens"),
        (b"a\tX\n\nb\xff\tX\n", ":3: byte 0xff is not UTF-8"),
        (gzip.compress(b"a\tX\n", mtime=0)[:-3], ":2: the gzip data ends too early"),
    ],
)
def test_errors(data: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(stream(io.BytesIO(data)))


def test_missing_file() -> None:
    with pytest.raises(DataError, match="there is no such file"):
        next(stream("nowhere.tsv"))


LABELLER = """
from conseq.io import stream
for batch in stream("-"):
    print(batch.n_tokens, flush=True)
"""


def test_interrupt_from_the_keyboard() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LABELLER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"a\tX\nb\tX\n\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"2\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) != 0
        complaint = process.stderr.read()
    assert b"KeyboardInterrupt" in complaint
    assert b"Fatal" not in complaint
