"""Published counts of real data sets, read at once and as a stream."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conseq.io import read, stream

DATA = Path(os.environ.get("CONSEQ_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")

COUNTS = [
    ("conll2000/train.tsv", 8_936, 211_727, 22),
    ("conll2000/test.tsv", 2_012, 47_377, 19),
    ("conll2003/train.tsv", 14_041, 203_621, 8),
    ("conll2003/dev.tsv", 3_250, 51_362, 6),
    ("conll2003/test.tsv", 3_453, 46_435, 8),
    ("umass_citation/train.tsv", 1_457, 37_279, 131),
    ("umass_citation/dev.tsv", 660, 16_248, 106),
    ("umass_citation/test.tsv", 367, 9_237, 103),
    ("jnlpba/train.tsv.gz", 16_807, 445_090, 11),
    ("jnlpba/test.tsv", 3_856, 101_039, 11),
    ("cmudict/train.tsv.gz", 113_393, 849_230, 174),
]


def found(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there; set CONSEQ_DATA to the folder with the data sets")
    return path


@pytest.mark.parametrize(("name", "sequences", "tokens", "labels"), COUNTS)
def test_counts(name: str, sequences: int, tokens: int, labels: int) -> None:
    corpus = read(found(name))
    assert (len(corpus), corpus.n_tokens) == (sequences, tokens)
    assert corpus.labels is not None
    assert len(corpus.labels.vocabulary) == labels


@pytest.mark.parametrize("name", ["conll2003/dev.tsv", "umass_citation/dev.tsv"])
def test_stream(name: str) -> None:
    path = found(name)
    whole = read(path, "columns")
    rows = [(s.tokens, s.labels) for batch in stream(path, max_tokens=3000) for s in batch]
    assert rows == [(s.tokens, s.labels) for s in whole]


def test_against_a_naive_reader() -> None:
    path = found("conll2003/dev.tsv")
    blocks = path.read_text(encoding="utf-8").strip("\n").split("\n\n")
    naive = [[line.split("\t") for line in block.split("\n")] for block in blocks]
    corpus = read(path, "columns", columns="word,pos,chunk,label")
    assert corpus.token_sequences() == [[row[0] for row in rows] for rows in naive]
    assert corpus.split(corpus.columns["chunk"].strings()) == [[row[2] for row in rows] for rows in naive]
    assert corpus.label_sequences() == [[row[3] for row in rows] for rows in naive]


def test_json_lines() -> None:
    corpus = read(found("conll04/train.jsonl"), "jsonl", spans="entities")
    assert (len(corpus), corpus.n_tokens, list(corpus.columns)) == (922, 26_525, ["word", "pos"])
    assert sum(label.startswith("B-") for labels in corpus.label_sequences() for label in labels) == 3_377
