"""Whether stored data is what it should be.  array or JSON value, what is expected ─→ None, or what is wrong.

What is wrong is the end of a sentence that begins with the name of the array or field. Checks look at whole
arrays at once, and never copy one that is as expected, but to look for repetitions.
"""

from __future__ import annotations

import math
import types
from collections.abc import Mapping, Sequence
from typing import Any, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike, NDArray

LARGEST = 2**64
"""No whole number in a document is larger."""

WIDEST = 1e30
"""No number in an array is larger, so that sums of many stay finite, also in single precision."""

Shape = Sequence[int | None]
"""The length of each axis; None: any."""

_PLAIN: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    type(None): "null",
}


def array_fault(
    array: NDArray, dtype: type[np.generic], shape: Shape, low: ArrayLike | None, high: ArrayLike | None
) -> str | None:
    """An array of this type and shape, with finite values from low to high (numbers, or arrays that fit).

    >>> array_fault(np.array([0, 7]), np.int64, [None], 0, 6)
    'has values from 0 to 7, which should be from 0 to 6'
    >>> array_fault(np.zeros((2, 3)), np.float64, [2], None, None)
    'has the shape 2 × 3, which should be 2'
    """
    if array.dtype != dtype:
        return f"is of type {array.dtype}, which should be {np.dtype(dtype)}"
    if array.ndim != len(shape) or any(n not in (None, m) for m, n in zip(array.shape, shape, strict=True)):
        return f"has the shape {_shown(array.shape)}, which should be {_shown(shape)}"
    return _value_fault(array, low, high) if array.size else None


def _value_fault(array: NDArray, low: ArrayLike | None, high: ArrayLike | None) -> str | None:
    least, most = array.min(), array.max()  # NaN if there is one
    if array.dtype.kind == "f" and not (least >= -WIDEST and most <= WIDEST):
        return "has values that are no numbers, infinite or very large"
    if (low is None or np.all(array >= low)) and (high is None or np.all(array <= high)):
        return None
    limits = [("from", low, np.min), ("to", high, np.max)]
    wanted = " ".join(f"{word} {end(limit)}" for word, limit, end in limits if limit is not None)
    return f"has values from {least} to {most}, which should be {wanted}"


def cuts_fault(array: NDArray, pieces: int, last: int, filled: bool) -> str | None:
    """Where each of some pieces of 0 … last begins, and the end: ascending; no piece empty if `filled`.

    >>> cuts_fault(np.array([0, 2, 1, 3]), 3, 3, filled=False)
    'does not ascend'
    """
    fault = array_fault(array, np.int64, [pieces + 1], 0, last)
    if fault:
        return fault
    if array[0] != 0 or array[-1] != last:
        return f"goes from {array[0]} to {array[-1]}, which should be from 0 to {last}"
    if pieces and np.diff(array).min() < int(filled):
        return "has an empty piece" if filled and np.diff(array).min() == 0 else "does not ascend"
    return None


def repeats(array: NDArray) -> bool:
    """Whether two of the values are the same."""
    ordered = np.sort(array, axis=None)
    return bool(np.any(ordered[1:] == ordered[:-1]))


def _shown(shape: Shape) -> str:
    return " × ".join("any" if n is None else str(n) for n in shape) or "a single value"


def fits(value: object, hint: Any) -> bool:
    """Whether a JSON value is of a type, as it stands in annotations; numbers are finite and not too large.

    >>> fits([1, 2], Sequence[int]), fits(True, int), fits(None, int | None), fits(float("nan"), float)
    (True, False, True, False)
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (types.UnionType, Union):
        return any(fits(value, one) for one in inner)
    if origin in (list, tuple, Sequence):
        return isinstance(value, list) and all(fits(item, inner[0]) for item in value)
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(fits(item, inner[1]) for item in value.values())
    if hint in (int, float) and isinstance(value, int):
        return not isinstance(value, bool) and abs(value) <= LARGEST
    if hint is float:
        return isinstance(value, float) and math.isfinite(value)
    return hint in _PLAIN and isinstance(value, hint)


def named(hint: Any) -> str:
    """A type as words.

    >>> named(int | None), named(list[str])
    ('a whole number or null', 'a list, each a text')
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (types.UnionType, Union):
        return " or ".join(named(one) for one in inner if get_origin(one) or one in _PLAIN)
    if origin in (list, tuple, Sequence):
        return f"a list, each {named(inner[0])}"
    if origin in (dict, Mapping):
        return f"an object, each value {named(inner[1])}"
    return _PLAIN.get(hint, "something else")
