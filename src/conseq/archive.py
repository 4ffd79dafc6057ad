"""What a model file holds, and how it is taken out: nothing unchecked, nothing left over.

    Archive(document, strings, arrays) ─→ field, table, texts, array, cuts ─→ values that are as expected
                                       └─within─→ the part of a model that packed it

A model says of each value what it should be, where it takes it; all that can be wrong with a file becomes a
sentence here (`unpacking`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.checks import Shape, array_fault, cuts_fault, fits, named, repeats
from conseq.errors import ConseqError, ModelError

REMEDY = "copy the file again or train the model anew"

_UNFIT = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError)
"""What code raises that meets data it does not expect."""


@dataclass(frozen=True, eq=False)
class Archive:
    """A JSON document, named lists of strings, named arrays; `path` and `name` say where it comes from."""

    document: Mapping[str, Any]
    strings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    arrays: Mapping[str, NDArray] = field(default_factory=dict)
    path: str = ""
    name: str = ""  # of a part, with a slash behind it
    taken: set[str] = field(default_factory=set, repr=False)  # by kind and full name, of all parts

    def within(self, prefix: str) -> Archive:
        """The strings and arrays whose names begin with `prefix/`, without it, and its own document."""
        cut = len(prefix) + 1
        self.taken.add(f"part {self.name}{prefix}")
        return Archive(
            self._given("part", self.document, prefix, dict),
            {n[cut:]: v for n, v in self.strings.items() if n.startswith(prefix + "/")},
            {n[cut:]: v for n, v in self.arrays.items() if n.startswith(prefix + "/")},
            self.path,
            f"{self.name}{prefix}/",
            self.taken,
        )

    def field(self, name: str, hint: Any) -> Any:
        """A field of the document, which has this type."""
        value = self._given("field", self.document, name)
        if not fits(value, hint):
            self.refuse(f"the field {self.name}{name} should be {named(hint)}")
        return value

    def table(self, name: str, hints: Mapping[str, Any]) -> dict[str, Any]:
        """An object in the document that has exactly these fields, each of its type."""
        part = self.within(name)
        found = {key: part.field(key, hint) for key, hint in hints.items()}
        part.check_all_taken()
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of strings, each of them once."""
        found = tuple(self._given("strings", self.strings, name))
        if len(set(found)) < len(found):
            self.refuse(f"the list {self.name}{name} has a string twice")
        return found

    def array(
        self,
        name: str,
        dtype: type[np.generic],
        shape: Shape,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        *,
        distinct: bool = False,
    ) -> NDArray[Any]:
        """An array of this type and shape, whose values are finite, from low to high, and different."""
        array = self._given("array", self.arrays, name, np.ndarray)
        fault = array_fault(array, dtype, shape, low, high)
        if fault is None and distinct and repeats(array):
            fault = "has a value twice"
        return self._faultless(name, array, fault)

    def cuts(self, name: str, pieces: int, last: int, *, filled: bool = False) -> NDArray[np.int64]:
        """Where each of some pieces of 0 … last begins, and the end; no piece is empty if `filled`."""
        array = self._given("array", self.arrays, name, np.ndarray)
        return self._faultless(name, array, cuts_fault(array, pieces, last, filled))

    def check(self, holds: object, says: str) -> None:
        """Refuse the file with a sentence unless something holds."""
        if not holds:
            self.refuse(says)

    def refuse(self, says: str) -> NoReturn:
        """Raise with a sentence: the file, what is wrong, what to do."""
        raise ModelError(f"{self.path or 'the model'}: {says}; {REMEDY}")

    def check_all_taken(self) -> None:
        """Refuse a file with something in it that nobody asked for."""
        members = [("strings", self.strings), ("array", self.arrays)]
        names = {f"{kind} {self.name}{name}": f"{self.name}{name}" for kind, some in members for name in some}
        left = [name for full, name in names.items() if full not in self.taken]
        left += _left(self.document, self.name, self.taken)
        self.check(not left, f"there is something unknown in it, {', '.join(left[:1])!r}")

    def _given(self, kind: str, among: Mapping[str, Any], name: str, type: type = object) -> Any:
        self.taken.add(f"{kind} {self.name}{name}")
        if name not in among:
            self.refuse(f"the {kind} {self.name}{name} is missing")
        if not isinstance(among[name], type):
            self.refuse(f"the {kind} {self.name}{name} is of another kind")
        return among[name]

    def _faultless(self, name: str, array: NDArray, fault: str | None) -> NDArray:
        self.check(fault is None, f"the array {self.name}{name} {fault}")
        return array


def _left(document: Mapping[str, Any], prefix: str, taken: set[str]) -> Iterator[str]:
    """The fields of a document, and of the parts of it that were taken, that nobody asked for."""
    for key, value in document.items():
        if f"part {prefix}{key}" in taken:
            yield from _left(value, f"{prefix}{key}/", taken)
        elif f"field {prefix}{key}" not in taken:
            yield f"{prefix}{key}"


def combine(document: Mapping[str, Any], parts: Mapping[str, Archive]) -> Archive:
    """One archive from several, each under its own name; the reverse is `Archive.within`."""
    return Archive(
        {**document, **{name: part.document for name, part in parts.items()}},
        {f"{name}/{key}": value for name, part in parts.items() for key, value in part.strings.items()},
        {f"{name}/{key}": value for name, part in parts.items() for key, value in part.arrays.items()},
    )


@contextmanager
def unpacking(archive: Archive) -> Iterator[None]:
    """What goes wrong inside becomes one sentence about the file; all that it holds must be taken inside."""
    try:
        yield
        archive.check_all_taken()
    except ModelError:
        raise
    except ConseqError as error:
        archive.refuse(f"something in it cannot be read ({error})")
    except _UNFIT as error:
        archive.refuse(f"its parts do not fit together ({type(error).__name__}: {error})")
