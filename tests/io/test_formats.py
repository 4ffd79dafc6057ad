"""The table of formats: detection, and one round trip for every row."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.io import FORMATS, detect_format, read, stream, write
from conseq.io.source import Block

CORPUS = Corpus.from_sequences([["A", "cat"], ["sat"]], [["O", "B-x"], ["O"]])


@pytest.mark.parametrize("name", FORMATS)
def test_round_trip_of_every_format(name: str, tmp_path: Path) -> None:
    write(CORPUS, tmp_path / "data", name)
    corpora = [read(tmp_path / "data", name), *stream(tmp_path / "data", name)]
    for corpus in corpora:
        assert corpus.token_sequences() == CORPUS.token_sequences()
        if name != "text":
            assert corpus.label_sequences() == CORPUS.label_sequences()


@pytest.mark.parametrize("name", ["columns", "inline", "jsonl"])
@pytest.mark.parametrize("packed", [False, True])
def test_formats_are_recognised(name: str, packed: bool, tmp_path: Path) -> None:
    write(CORPUS, tmp_path / "plain", name)
    data = (tmp_path / "plain").read_bytes()
    corpus = read(io.BytesIO(gzip.compress(data) if packed else data))
    assert corpus.label_sequences() == CORPUS.label_sequences()


@pytest.mark.parametrize(
    ("data", "path", "name"),
    [
        ('\n {"tokens": []}', "x", "jsonl"),
        ("{}", "x", "jsonl"),
        ("{\tO\n", "x", "columns"),
        ("{ O\n", "x", "columns"),
        ("text first\n<a> b </a>\n", "x", "inline"),
        ("<a>\tO\n</a>\tO\n", "x", "columns"),
        ("<a>\tO\t</a>\n", "x", "columns"),
        ("a NN\n", "x.jsonl", "jsonl"),
        ("a NN\n", "x.JSON.gz", "jsonl"),
        ("a NN\n", "x.tsv", "columns"),
    ],
)
def test_detection(data: str, path: str, name: str) -> None:
    assert detect_format(Block(data.encode() + b"\n", path)) == name


def test_names_decide_what_is_written(tmp_path: Path) -> None:
    write(CORPUS, tmp_path / "x.jsonl.gz")
    write(CORPUS, tmp_path / "x.tsv")
    assert gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes()).startswith(b'{"tokens"')
    assert (tmp_path / "x.tsv").read_text().startswith("A\tO\n")


def test_options_reach_the_format() -> None:
    assert read(io.BytesIO(b"a b\n"), columns="word,pos", label=None).labels is None
    assert read(io.BytesIO(b"a. b\n"), "text", tokens="whitespace")[0].tokens == ["a.", "b"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: read("nowhere", "csv"),
            "there is no format 'csv'; choose one of columns, inline, jsonl, text",
        ),
        (lambda: stream("nowhere", "csv"), "there is no format 'csv'"),
        (lambda: write(CORPUS, "nowhere", "csv"), "there is no format 'csv'"),
        (
            lambda: read("nowhere", "text", columns="a"),
            "the format text has no option 'columns'; it has tokens",
        ),
        (lambda: read(io.BytesIO(b"{}"), columns="a"), "the format jsonl has no option 'columns'"),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        call()
