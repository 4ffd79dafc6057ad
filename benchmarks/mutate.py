"""Model files that are not as they were written, to see that loading notices.

    bytes of a model file ─→ mutated_model(rng, …) ─→ bytes of one that was changed somewhere
                          └─→ mutations(…) ─→ what was changed and the bytes, for each array and field

Arrays change their values, type, shape or length; fields of the document their value or type; members of the
zip file and its raw bytes go, come twice or are noise.
"""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Members = dict[str, bytes]
Change = Callable[[NDArray, np.random.Generator], NDArray]

DOCUMENT = "model.json"
HUGE = 2**62


def _with(array: NDArray, place: int, value: float) -> NDArray:
    """The array with one other value, as far as its type can hold it."""
    flat = array.copy().reshape(-1)
    if flat.size:
        if array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            flat[place] = min(max(int(value), limits.min), limits.max)
        else:
            flat[place] = value
    return flat.reshape(array.shape)


def _no_number(value: float) -> Change:
    """One value that is not finite; of an array of whole numbers, as a float."""
    return lambda array, _: _with(array if array.dtype.kind == "f" else array.astype(np.float64), 0, value)


def _swapped(array: NDArray, rng: np.random.Generator) -> NDArray:
    return array[rng.permutation(len(array))] if array.ndim else array


ARRAYS: Mapping[str, Change] = {
    "first negative": lambda array, _: _with(array, 0, -1),
    "last negative": lambda array, _: _with(array, -1, -1),
    "first very negative": lambda array, _: _with(array, 0, -HUGE),
    "first huge": lambda array, _: _with(array, 0, HUGE),
    "last huge": lambda array, _: _with(array, -1, HUGE),
    "last one more": lambda array, _: _with(array, -1, float(array.reshape(-1)[-1]) + 1 if array.size else 0),
    "middle large": lambda array, _: _with(array, array.size // 2, 1_000_000),
    "largest of its type": lambda array, _: _with(array, 0, 1.7e308),
    "all zero": lambda array, _: np.zeros_like(array),
    "all huge": lambda array, _: np.full_like(array, 1_000_000_000 if array.dtype.itemsize > 1 else 100),
    "noise": lambda array, rng: np.frombuffer(rng.bytes(array.nbytes), array.dtype).reshape(array.shape),
    "some noise": lambda array, rng: _with(
        array, int(rng.integers(max(array.size, 1))), int(rng.integers(-9, 99))
    ),
    "NaN": _no_number(np.nan),
    "infinite": _no_number(np.inf),
    "−infinite": _no_number(-np.inf),
    "permuted": _swapped,
    "backwards": lambda array, _: array[::-1],
    "empty": lambda array, _: array[:0],
    "one less": lambda array, _: array[:-1],
    "one more": lambda array, _: np.concatenate([array, array[-1:]]),
    "a half": lambda array, _: array[: len(array) // 2],
    "twice": lambda array, _: np.concatenate([array, array]),
    "an axis more": lambda array, _: array[None],
    "no axis": lambda array, _: np.array(array.reshape(-1)[0] if array.size else 0, array.dtype),
    "flat": lambda array, _: array.reshape(-1),
    "as float64": lambda array, _: array.astype(np.float64),
    "as float32": lambda array, _: array.astype(np.float32),
    "as int8": lambda array, _: array.astype(np.int8),
    "as int64": lambda array, _: array.astype(np.int64),
    "as uint64": lambda array, _: array.astype(np.uint64),
    "as bool": lambda array, _: array.astype(np.bool_),
    "as complex": lambda array, _: array.astype(np.complex128),
    "other byte order": lambda array, _: array.astype(array.dtype.newbyteorder(">")),
    "as text": lambda array, _: array.astype("U8"),
    "column by column": lambda array, _: np.asfortranarray(array),
}
"""By name: what can happen to an array."""

REMOVED = object()
FIELDS: tuple[Any, ...] = (
    REMOVED, None, True, 0, -1, 1, 1.5, HUGE, -HUGE, 10**400, float("nan"), float("inf"), "", "x" * 100_000,
    "\ud800", "word[0]", [], [[]], [None], ["x"], [0], [-1], [HUGE], {}, {"x": None},
)  # fmt: skip
"""What can stand in the place of a field."""

STRINGS: Mapping[str, Callable[[list[Any]], Any]] = {
    "empty": lambda strings: [],
    "one less": lambda strings: strings[:-1],
    "one more": lambda strings: [*strings, "one more"],
    "a number": lambda strings: [*strings[:-1], 5],
    "null": lambda strings: None,
    "an object": lambda strings: dict.fromkeys(strings, 1),
    "one string": lambda strings: "".join(strings),
    "twice": lambda strings: strings + strings,
    "nested": lambda strings: [strings],
    "half a character": lambda strings: [*strings[:-1], "\ud800"],
}
"""By name: what can happen to a list of strings."""


def unpacked(data: bytes) -> Members:
    """The members of a zip file by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def packed(members: Members) -> bytes:
    """The reverse."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped:
        for name, content in members.items():
            zipped.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, compresslevel=1)
    return buffer.getvalue()


def mutations(data: bytes, rng: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    """Every array, field and list of a model file changed in every way, one at a time."""
    members = unpacked(data)
    for name, content in members.items():
        changes: Iterator[tuple[str, bytes | None]]
        if name == DOCUMENT:
            changes = _documents(content)
        elif name.endswith(".npy"):
            changes = _arrays(content, rng)
        else:
            changes = _lists(content)
        for what, changed in changes:
            kept = (
                {**members, name: changed}
                if changed is not None
                else {n: c for n, c in members.items() if n != name}
            )
            yield f"{name}: {what}", packed(kept)


def _arrays(content: bytes, rng: np.random.Generator) -> Iterator[tuple[str, bytes | None]]:
    array = np.load(io.BytesIO(content))
    yield "removed", None
    yield "cut off", content[:-1]
    yield "header only", content[: len(content) - array.nbytes]
    yield "longer", content + b"\0" * 8
    for what, change in ARRAYS.items():
        with np.errstate(all="ignore"):
            yield what, _npy(change(array, rng))


def _npy(array: NDArray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _lists(content: bytes) -> Iterator[tuple[str, bytes | None]]:
    yield "removed", None
    for what, change in STRINGS.items():
        yield what, _json(change(json.loads(content)))


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _documents(content: bytes) -> Iterator[tuple[str, bytes | None]]:
    document = json.loads(content)
    yield "removed", None
    yield "deeply nested", b"[" * 100_000
    yield "one more field", _json({**document, "more": 1})
    for path in _paths(document):
        for value in FIELDS:
            shown = "removed" if value is REMOVED else repr(value)[:20]
            yield f"{'.'.join(map(str, path))} = {shown}", _json(_replaced(document, path, value))


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of a document; of a list only the first and the last."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*path, key))
    elif isinstance(value, list):
        for i in sorted({0, len(value) - 1} if value else ()):
            yield from _paths(value[i], (*path, i))


def _replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(document)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    if value is REMOVED:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return changed


def mutated_model(rng: np.random.Generator, data: bytes) -> bytes:
    """A model file that was changed at random: a member's content (mostly), the members, or raw bytes."""
    kind = rng.random()
    if kind < 0.15:
        return _noisy(rng, data)
    members = unpacked(data)
    if kind < 0.25:
        return _rearranged(rng, members)
    name = DOCUMENT if kind < 0.5 else list(members)[int(rng.integers(len(members)))]
    changes = _documents if name == DOCUMENT else _lists if name.endswith(".json") else None
    found = list(changes(members[name]) if changes else _arrays(members[name], rng))
    _, content = found[int(rng.integers(len(found)))]
    if content is None:
        del members[name]
    else:
        members[name] = content
    return packed(members)


def _noisy(rng: np.random.Generator, data: bytes) -> bytes:
    """Some raw bytes are others, or the end is missing."""
    if rng.random() < 0.2:
        return data[: int(rng.integers(len(data)))]
    noisy = bytearray(data)
    for place in rng.integers(len(noisy), size=int(rng.integers(1, 9))).tolist():
        noisy[place] = int(rng.integers(256))
    return bytes(noisy)


def _rearranged(rng: np.random.Generator, members: Members) -> bytes:
    """A member has another's name or content, or there is one more."""
    names = list(members)
    one, other = (names[int(i)] for i in rng.integers(len(names), size=2))
    way = int(rng.integers(4))
    if way == 0:
        members[one] = members[other]
    elif way == 1:
        members[f"{one}.more"] = members[one]
    elif way == 2:
        members[f"arrays/{int(rng.integers(99))}.npy"] = members[one]
    else:
        members[f"more{one}"] = members.pop(one)
    return packed(members)
