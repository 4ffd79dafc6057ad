"""Writing columns: what is written is read back, and input lines come out as they went in."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conseq.corpus import Bags, Corpus
from conseq.errors import DataError
from conseq.io import emit, format_columns, read, stream, write
from conseq.io.columns import Batch
from conseq.vocabulary import Vocabulary

cell = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\t\n\r"), max_size=3)
word = cell.filter(lambda text: text.strip(" ") and not text.startswith("-DOCSTART-"))
labelled = st.lists(st.lists(st.tuples(word, cell, word), min_size=1, max_size=5), min_size=1, max_size=5)


def corpus_of(rows: list[list[tuple[str, str, str]]]) -> Corpus:
    words, tags, labels = zip(*(row for sequence in rows for row in sequence), strict=True)
    return Corpus.from_columns({"word": words, "pos": tags}, map(len, rows), labels)


def batch_of(text: str, **options: Any) -> Batch:
    (batch,) = stream(io.BytesIO(text.encode()), **options)
    return batch


@given(rows=labelled)
def test_round_trip(rows: list[list[tuple[str, str, str]]], tmp_path_factory: Any, contents: Any) -> None:
    corpus = corpus_of(rows)
    path = tmp_path_factory.getbasetemp() / "round.tsv"
    write(corpus, path, "columns")
    assert contents(read(path, "columns")) == contents(corpus)


@given(st.lists(st.lists(word.filter(lambda w: " " not in w), min_size=1), min_size=1, max_size=4))
def test_round_trip_of_bare_tokens(tokens: list[list[str]]) -> None:
    text = format_columns(Corpus.from_sequences(tokens))
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    assert read(io.BytesIO((mark + text).encode()), "columns").token_sequences() == tokens


def test_round_trip_of_partial_labels_packed(tmp_path: Path) -> None:
    corpus = Corpus.from_sequences([["a", "b"]], [["", "X"]])
    write(corpus, tmp_path / "x.tsv.gz", "columns")
    assert (tmp_path / "x.tsv.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert read(tmp_path / "x.tsv.gz", "columns", partial=True).label_sequences() == [["", "X"]]


def test_round_trip_of_a_first_word_that_looks_like_a_byte_order_mark(tmp_path: Path) -> None:
    write(Corpus.from_sequences([["\ufeffa"]]), tmp_path / "x", "columns")
    assert read(tmp_path / "x", "columns").token_sequences() == [["\ufeffa"]]


def test_extra_columns_come_last() -> None:
    corpus = Corpus.from_sequences([["a", "b"], ["c"]], [["X", "Y"], ["Z"]])
    out = io.StringIO()
    emit(out, format_columns(corpus, ["1", "2", "3"], ["p", "q", "r"]))
    assert out.getvalue() == "a\tX\t1\tp\nb\tY\t2\tq\n\nc\tZ\t3\tr\n\n"


@pytest.mark.parametrize(
    ("text", "options", "out"),
    [
        ("a\tN\tX\nb\tN\tX", {}, "a\tN\tX\t1\nb\tN\tX\t2\n\n"),
        ("a  N\nb N\n\n\n", {}, "a  N 1\nb N 2\n\n"),
        ("-DOCSTART-\n\na\n \nb\n", {}, "a\t1\n\nb\t2\n\n"),
        ("a\tN\tX\nb\tN\tX", {"columns": "word,_,_"}, "a\tN\tX\t1\nb\tN\tX\t2\n\n"),
        ("a\nb\tX\r\n", {"columns": "word,label", "partial": True}, "a\t\t1\nb\tX\t2\n\n"),
        ("a N\nb N\n", {"columns": "word,pos,label", "label_optional": True}, "a N 1\nb N 2\n\n"),
    ],
)
def test_lines_of_the_input_are_kept(text: str, options: dict[str, Any], out: str) -> None:
    assert format_columns(batch_of(text, **options), ["1", "2"]) == out


@pytest.mark.parametrize("bad", ["", "a\tb", "a\nb", "a\r", "-DOCSTART-", "-DOCSTART- x"])
def test_words_that_could_not_be_read_back(bad: str) -> None:
    with pytest.raises(DataError, match="cannot stand in a column file; write the corpus as jsonl"):
        format_columns(Corpus.from_sequences([["fine", bad]], [["X", "X"]]))


def test_blanks_need_a_second_column() -> None:
    assert format_columns(Corpus.from_sequences([["a b", " "]], [["X", "Y"]])) == "a b\tX\n \tY\n\n"
    with pytest.raises(DataError, match="'a b' cannot stand"):
        format_columns(Corpus.from_sequences([["a b"]]))
    with pytest.raises(DataError, match="a token of blanks without a label"):
        format_columns(Corpus.from_sequences([[" "]], [[""]]))


def test_values_that_are_no_longer_used_do_no_harm() -> None:
    corpus = Corpus.from_sequences([["a\tb"], ["c"]]).select([1])
    assert format_columns(corpus) == "c\n\n"


def test_wrong_extra_columns() -> None:
    batch = batch_of("a N\n")
    with pytest.raises(DataError, match="2 values for 1 tokens; give one value per token"):
        format_columns(batch, ["X", "Y"])
    with pytest.raises(DataError, match="'X Y' contains what separates columns"):
        format_columns(batch, ["X Y"])


def test_corpus_of_attributes_only() -> None:
    from numpy import array, float32, int32, int64

    bags = Bags(
        array([0, 1], dtype=int64), array([0], dtype=int32), array([1], dtype=float32), Vocabulary(["a"])
    )
    with pytest.raises(DataError, match="no tokens, only attributes"):
        format_columns(Corpus.from_columns({}, [1], ["X"], bags=bags))
