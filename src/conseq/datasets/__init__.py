"""Built-in data: a name, a size and a seed → a labelled `Corpus` with its texts.  Nothing is downloaded.

`news` makes sentences with entities and relations instead.

>>> names()
('citations', 'addresses')
>>> load('citations', 300, seed=0)
Corpus(300 sequences, 11204 tokens, word, 36 labels)
"""

from __future__ import annotations

from typing import Protocol

from conseq.corpus import Corpus
from conseq.datasets.bibliography import citations
from conseq.datasets.postal import addresses
from conseq.datasets.stories import news
from conseq.errors import DataError

__all__ = ["DATASETS", "Generator", "addresses", "citations", "load", "names", "news"]


class Generator(Protocol):
    """Makes `n` labelled sequences; the same seed gives the same ones, another seed others."""

    def __call__(self, n: int, seed: int = 0, noise: float = 0.1) -> Corpus: ...


DATASETS: dict[str, Generator] = {"citations": citations, "addresses": addresses}
"""Every built-in data set."""


def names() -> tuple[str, ...]:
    """The names that `load` knows."""
    return tuple(DATASETS)


def load(name: str, n: int, seed: int = 0, noise: float = 0.1) -> Corpus:
    """`n` sequences of the data set called `name`; train on one seed and test on another."""
    if name not in DATASETS:
        raise DataError(f"there is no data set {name!r}; choose one of {', '.join(DATASETS)}")
    return DATASETS[name](n, seed, noise)
