"""What the tests of reading and writing share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conseq.corpus import Corpus

Contents = Callable[[Corpus], dict[str, Any]]


def contents_of(corpus: Corpus) -> dict[str, Any]:
    """All that a corpus says, in plain lists."""
    return {
        "columns": {name: corpus.split(column.strings()) for name, column in corpus.columns.items()},
        "labels": None if corpus.labels is None else corpus.label_sequences(),
        "texts": None if corpus.source is None else corpus.source.texts,
        "characters": [sequence.characters for sequence in corpus],
    }


@pytest.fixture(scope="session")
def contents() -> Contents:
    return contents_of
