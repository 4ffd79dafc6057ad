"""Damaged text files.  bytes ─→ mutated_text ─→ bytes with one or several kinds of damage."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

Rng = np.random.Generator

ODD = (
    "\0",
    "\ufeff",
    "\u2028",
    "\u0085",
    "\u202e",
    "\r",
    "\t\t",
    "\x1c",
    "\u00a0",
    "e\u0301",
    "😀",
    "\U0010ffff",
    "İ",
    "ß",
    "٣",
    "²",
    '"',
    "'",
    "\\",
    "/",
    "</",
    "<x>",
    "{",
    "[",
    "\\ud800",
    "inf",
    "nan",
    "NaN",
    "-0",
    "1e400",
    "9" * 400,
    "-" + "9" * 25,
    "4294967296",
    "9223372036854775808",
)
BYTES = (b"\xed\xa0\x80", b"\xff\xfe", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\x1f\x8b", b"PK\x03\x04", b"\r\n")
NESTING = (b"[", b"{", b'{"a":', b"(", b"<x>", b"((?:", b"word[0] & ")
LARGE = 1_000_000
"""Bytes: what is tried is damage, not size."""
LONG = 100_000
DEEP = 20_000


def mutated_text(rng: Rng, data: bytes) -> bytes:
    """One to three kinds of damage, one after the other."""
    for _ in range(int(rng.integers(1, 4))):
        data = DAMAGE[int(rng.integers(len(DAMAGE)))](rng, data)
    return data


def _place(rng: Rng, data: bytes) -> int:
    return int(rng.integers(len(data) + 1))


def _inserted(rng: Rng, data: bytes, what: bytes) -> bytes:
    at = _place(rng, data)
    return data[:at] + what + data[at:]


def flipped(rng: Rng, data: bytes) -> bytes:
    """A few bytes are others, or the end is missing."""
    if rng.random() < 0.25:
        return cut(rng, data)
    found = bytearray(data)
    for _ in range(int(rng.integers(1, 9)) if found else 0):
        found[int(rng.integers(len(found)))] ^= 1 << int(rng.integers(8))
    return bytes(found)


def cut(rng: Rng, data: bytes) -> bytes:
    """A piece is missing, or everything from some place on."""
    first, last = sorted((_place(rng, data), _place(rng, data)))
    return data[:first] + (data[last:] if rng.random() < 0.5 else b"")


def repeated_lines(rng: Rng, data: bytes) -> bytes:
    """Some lines twice, or a thousand times as far as they are short, or elsewhere."""
    lines = data.split(b"\n")
    chosen = lines[int(rng.integers(len(lines)))]
    at = int(rng.integers(len(lines) + 1))
    times = min(int(rng.choice([1, 1, 2, 1000])), 2 + LARGE // (len(chosen) + 1))
    return b"\n".join([*lines[:at], *[chosen] * times, *lines[at:]])


def odd_characters(rng: Rng, data: bytes) -> bytes:
    """Characters that some programs have not thought of, and bytes that are none."""
    for _ in range(int(rng.integers(1, 5))):
        if rng.random() < 0.8:
            what = ODD[int(rng.integers(len(ODD)))].encode()
        else:
            what = BYTES[int(rng.integers(len(BYTES)))]
        data = _inserted(rng, data, what)
    return data


def huge_numbers(rng: Rng, data: bytes) -> bytes:
    """A number is another one."""
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return data
    chosen = numbers[int(rng.integers(len(numbers)))]
    other = (b"0", b"-1", b"1e999", b"9" * 5000, b"18446744073709551616", b"2147483648", b"99999999", b"1e12")
    return data[: chosen.start()] + other[int(rng.integers(len(other)))] + data[chosen.end() :]


def long_token(rng: Rng, data: bytes) -> bytes:
    """A word of a hundred thousand letters."""
    return _inserted(rng, data, "aA1é"[int(rng.integers(4))].encode() * LONG)


def nested(rng: Rng, data: bytes) -> bytes:
    """Something is opened twenty thousand times."""
    return _inserted(rng, data, NESTING[int(rng.integers(len(NESTING)))] * DEEP)


def shuffled_words(rng: Rng, data: bytes) -> bytes:
    """The words of some lines in another order, or words of other lines."""
    lines = data.split(b"\n")
    words = re.findall(rb"\S+", data) or [b""]
    for _ in range(int(rng.integers(1, 4))):
        k = int(rng.integers(len(lines)))
        own = re.findall(rb"\S+|\s+", lines[k])
        if rng.random() < 0.5:
            own = [own[i] for i in rng.permutation(len(own))]
        elif own:
            own[int(rng.integers(len(own)))] = words[int(rng.integers(len(words)))]
        lines[k] = b"".join(own)
    return b"\n".join(lines)


DAMAGE: tuple[Callable[[Rng, bytes], bytes], ...] = (
    flipped,
    cut,
    repeated_lines,
    odd_characters,
    odd_characters,
    huge_numbers,
    long_token,
    nested,
    shuffled_words,
    shuffled_words,
)
