"""CRFsuite on chunking data as its user would write it, a script of its own without conseq.

    python crf_user.py train.tsv model          columns word, tag, label ─→ a model of CRFsuite

The strings are made by list comprehensions over prepared columns, as fast as Python can, and each sentence is
handed over before the next one is made.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

PARAMETERS = {"c1": 0.0, "c2": 1.0}

BEFORE, AFTER = ["_B-2", "_B-1"], ["_B+1", "_B+2"]
"""Marks that stand before and after a sentence."""


def attributes(w: list[str], p: list[str]) -> list[list[str]]:
    """The nineteen attributes of CRF++'s chunking template for the words and tags of a sentence, padded."""
    return [
        [
            "a" + w0, "b" + w1, "c" + w2, "d" + w3, "e" + w4,
            "f" + w1 + "/" + w2, "g" + w2 + "/" + w3,
            "h" + p0, "i" + p1, "j" + p2, "k" + p3, "l" + p4,
            "m" + p0 + "/" + p1, "n" + p1 + "/" + p2, "o" + p2 + "/" + p3, "p" + p3 + "/" + p4,
            "q" + p0 + "/" + p1 + "/" + p2, "r" + p1 + "/" + p2 + "/" + p3,
            "s" + p2 + "/" + p3 + "/" + p4,
        ]
        for w0, w1, w2, w3, w4, p0, p1, p2, p3, p4 in zip(
            w, w[1:], w[2:], w[3:], w[4:], p, p[1:], p[2:], p[3:], p[4:], strict=False
        )
    ]  # fmt: skip


def padded(column: list[str]) -> list[str]:
    return BEFORE + column + AFTER


def sentences(path: str) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Words, tags and labels of each sentence of a file with tabs between its columns."""
    with open(path, encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            rows = [line.split("\t") for line in block.splitlines() if line]
            if rows:
                words, tags, labels = map(list, zip(*rows, strict=True))
                yield words, tags, labels


def main(path: str, model: str) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=PARAMETERS, verbose=False)
    for words, tags, labels in sentences(path):
        trainer.append(attributes(padded(words), padded(tags)), labels)
    trainer.train(model)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
