"""Sets of arrays on disk.  arrays by name ─put→ a folder of `.npy` files ─get→ arrays, read as they are used.

What is taken from a shelf is mapped, not read: the system brings in the parts that are worked on and lets go
of them again, so memory holds about one set however many there are.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from conseq.errors import ConseqError

Arrays = Mapping[str, NDArray[Any]]

SMALL = 1 << 12
"""Files of fewer bytes are read at once (an empty array cannot be mapped)."""


class Storable(Protocol):
    """What is nothing but arrays."""

    def arrays(self) -> Arrays: ...


T = TypeVar("T", bound=Storable)


@dataclass
class Shelf:
    """A folder with a folder for each set.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     shelf = Shelf(Path(folder))
    ...     shelf.put({"ids": np.arange(3)})
    ...     len(shelf), shelf.get(0)["ids"].tolist()
    (1, [0, 1, 2])
    """

    folder: Path
    count: int = 0

    def put(self, arrays: Arrays) -> None:
        """Another set, behind the others."""
        place = self.folder / str(self.count)
        try:
            place.mkdir(parents=True)
            for name, array in arrays.items():
                np.save(place / f"{name}.npy", array, allow_pickle=False)
        except OSError as error:
            raise ConseqError(
                f"{self.folder}: {error.strerror or error}; what does not fit in memory needs room there"
            ) from None
        self.count += 1

    def get(self, index: int) -> dict[str, NDArray]:
        """Set number `index`; what is written into its arrays stays in memory."""
        files = sorted((self.folder / str(index)).glob("*.npy"))
        return {file.stem: _mapped(file) for file in files}

    def within(self, name: str) -> Shelf:
        """An empty shelf in this one's folder."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        return Shelf(folder)

    def __len__(self) -> int:
        return self.count


def _mapped(file: Path) -> NDArray:
    small = file.stat().st_size < SMALL
    return np.load(file) if small else np.asarray(np.load(file, mmap_mode="c"))


@dataclass(frozen=True)
class Shelved(Generic[T]):
    """Things on a shelf, each made anew from its arrays whenever it is asked for."""

    shelf: Shelf
    load: Callable[[Arrays], T]

    @classmethod
    def of(cls, things: Iterable[T], shelf: Shelf, load: Callable[[Arrays], T]) -> Shelved[T]:
        for thing in things:
            shelf.put(thing.arrays())
        return cls(shelf, load)

    def __len__(self) -> int:
        return len(self.shelf)

    def __getitem__(self, index: int) -> T:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.load(self.shelf.get(index))

    def __iter__(self) -> Iterator[T]:
        return (self[i] for i in range(len(self)))
