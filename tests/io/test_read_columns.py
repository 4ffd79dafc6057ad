"""Reading column files: every way to write the same file gives the same corpus, every slip its line."""

from __future__ import annotations

import gzip
import io
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.io import read
from conseq.io.columns import ColumnReader
from conseq.io.grid import Grid, pieces
from conseq.io.layout import ColumnOptions, layout_of
from conseq.io.source import Block, whole_lines

PLAIN = "EU\tNNP\tB-ORG\nrejects\tVBZ\tO\n\nPeter\tNNP\tB-PER\n"
DOC = "-DOCSTART-\t-X-\tO\n"

VARIANTS = {
    "blank line at the end": PLAIN + "\n",
    "no newline at the end": PLAIN[:-1],
    "carriage returns": PLAIN.replace("\n", "\r\n"),
    "carriage return at the end": PLAIN.replace("\n", "\r\n")[:-1],
    "byte order mark": "\ufeff" + PLAIN,
    "blank lines everywhere": "\n\n" + PLAIN.replace("\n\n", "\n\n\n\n") + "\n\n",
    "lines of blanks": " \n" + PLAIN.replace("\n\n", "\n \t \n") + "\t\t\n",
    "documents, blank line after": DOC + "\n" + PLAIN.replace("\n\n", "\n\n" + DOC + "\n"),
    "documents, no blank line after": DOC + PLAIN.replace("\n\n", "\n\n" + DOC),
    "document at the end": PLAIN + "\n" + DOC,
    "document of fewer columns": "-DOCSTART-\n\n" + PLAIN,
    "single blanks": PLAIN.replace("\t", " "),
    "runs of blanks": re.sub("(?m)^(?=.)", "  ", PLAIN).replace("\t", "   ").replace("\n", " \n"),
    "document before blanks": "-DOCSTART- -X- O\n\n" + PLAIN.replace("\t", " "),
}


def of(text: str | bytes, columns: Any = None, **options: Any) -> Corpus:
    data = text if isinstance(text, bytes) else text.encode()
    return read(io.BytesIO(data), "columns", columns=columns, **options)


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize("packed", [False, True])
def test_variants_are_equal(variant: str, packed: bool, contents: Any) -> None:
    data = gzip.compress(variant.encode()) if packed else variant.encode()
    assert contents(of(data)) == {
        "columns": {"word": [["EU", "rejects"], ["Peter"]], "pos": [["NNP", "VBZ"], ["NNP"]]},
        "labels": [["B-ORG", "O"], ["B-PER"]],
        "texts": None,
        "characters": [None, None],
    }


def test_gzip_of_several_members_and_padding(contents: Any) -> None:
    half = len(PLAIN) // 2
    packed = gzip.compress(PLAIN[:half].encode()) + gzip.compress(PLAIN[half:].encode()) + b"\0" * 512
    assert contents(of(packed)) == contents(of(PLAIN))


def test_path_name_does_not_matter(tmp_path: Path, contents: Any) -> None:
    (tmp_path / "packed.tsv").write_bytes(gzip.compress(PLAIN.encode()))
    (tmp_path / "plain.gz").write_text(PLAIN)
    assert contents(read(tmp_path / "packed.tsv", "columns")) == contents(
        read(str(tmp_path / "plain.gz"), "columns")
    )


@pytest.mark.parametrize("stdin", [io.TextIOWrapper(io.BytesIO(PLAIN.encode())), io.StringIO(PLAIN)])
def test_standard_input(stdin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", stdin)
    assert read("-", "columns").token_sequences() == [["EU", "rejects"], ["Peter"]]


def test_standard_input_with_a_descriptor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").write_text(PLAIN)
    with open(tmp_path / "in") as file:
        monkeypatch.setattr("sys.stdin", file)
        assert read("-", "columns").n_tokens == 3
        assert not file.closed


@pytest.mark.parametrize(
    ("columns", "options", "names", "labels"),
    [
        (None, {}, ["word", "col2", "col3"], "d"),
        (None, {"label": None}, ["word", "col2", "col3", "col4"], None),
        (("word", "pos", "chunk", "label"), {}, ["word", "pos", "chunk"], "d"),
        ("word, pos, chunk, ner", {}, ["word", "pos", "chunk"], "d"),
        ("word,_,-,label", {}, ["word"], "d"),
        ("label,word,_,_", {}, ["word"], "a"),
        ("pos,word,chunk,ner", {"label": "chunk"}, ["word", "pos", "ner"], "c"),
        ("word,_,_,_", {}, ["word"], None),
        ("word,pos,x,y", {"label": None}, ["word", "pos", "x", "y"], None),
    ],
)
def test_names(columns: Any, options: dict[str, Any], names: list[str], labels: str | None) -> None:
    corpus = of("a b c d\n", columns, **options)
    assert list(corpus.columns) == names
    assert corpus[0].labels == (None if labels is None else [labels])


@pytest.mark.parametrize(
    ("width", "names", "labelled"),
    [(1, ["word"], False), (2, ["word"], True), (3, ["word", "pos"], True)],
)
def test_usual_names(width: int, names: list[str], labelled: bool) -> None:
    corpus = of("\t".join("abcd"[:width]))
    assert list(corpus.columns) == names
    assert (corpus.labels is not None) == labelled


@pytest.mark.parametrize("line", ["a\tN", "a N"])
def test_label_column_may_be_absent(line: str) -> None:
    corpus = of(line, "word,pos,label", label_optional=True)
    assert corpus.labels is None
    assert corpus.columns["pos"].strings() == ["N"]
    assert of(f"{line} X" if " " in line else f"{line}\tX", "word,pos,label", label_optional=True)[
        0
    ].labels == ["X"]


def test_label_column_may_be_absent_in_front() -> None:
    assert of("a\tN", "label,word,pos", label_optional=True)[0].tokens == ["a"]


@pytest.mark.parametrize("text", ["a\t\nb\tX\n", "a\nb\tX\n", "a\t\nb\tX", "a\n\nb\tX\n"])
@pytest.mark.parametrize("columns", [None, "word,label"])
def test_partly_labelled(text: str, columns: str | None) -> None:
    corpus = of(text, columns, partial=True)
    assert [label for labels in corpus.label_sequences() for label in labels] == ["", "X"]


def test_partly_labelled_with_every_label_open() -> None:
    assert of("a\nb\n", "word,label", partial=True)[0].labels == ["", ""]
    assert of("a N\n", "word,pos,label", partial=True, label_optional=True).labels is None


def test_other_cells_may_be_empty() -> None:
    assert of("a\t\tX\n").columns["pos"].strings() == [""]


def test_blanks_inside_tabbed_cells_and_odd_white_space_stay() -> None:
    corpus = of("New York\tX\na\u00a0b\tX\n \tX\n\u2028\u0085\tX\n")
    assert corpus[0].tokens == ["New York", "a\u00a0b", " ", "\u2028\u0085"]
    assert of("a\u00a0b\u000b X\n")[0].tokens == ["a\u00a0b\u000b"]


def test_a_word_may_look_like_a_document_mark() -> None:
    assert of("-DOCSTART-ing NN\n")[0].tokens == ["-DOCSTART-ing"]


UNEVEN = "give every line the same columns, and put blank lines between sequences only"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a\tX\n\nb\n", {}, f"in:3: 1 column where line 1 has 2; {UNEVEN}"),
        ("\na\tX\tY\nb\tX\n", {}, f"in:3: 2 columns where line 2 has 3; {UNEVEN}"),
        ("a\tX\nb\tX\tY\nc\n", {}, "in:2: 3 columns where line 1 has 2"),
        ("a X\nb c X\n", {}, "in:2: 3 columns where line 1 has 2; .*cells that contain blanks need tabs"),
        ("a\nb\tX\n", {}, "in:2: 2 columns where line 1 has 1"),
        ("-DOCSTART-\n\na X\r\n\r\nb\r\n", {}, "in:5: 1 column where line 3 has 2"),
        ("a\tX\n\tX\n", {}, "in:2: the word is empty; give one$"),
        ("a\tX\nb\t\n", {}, "in:2: the label is empty; give one, or read the file as partly labelled"),
        ("a\tN\tX\n\tN\n", {"partial": True}, "in:2: the word is empty"),
        ("a\tN\tX\na\n", {"partial": True}, "in:2: 1 column where line 1 has 3; only the last cell"),
        ("a N X\na N\n", {"partial": True}, "in:2: 2 columns where line 1 has 3; put tabs between"),
        ("a X\n", {"columns": "word"}, r"in:1: 2 columns where 1 are named \(word\); name every column"),
        ("\na\n", {"columns": "word,label"}, r"in:2: 1 column where 2 are named \(word, label\)"),
        ("a\n", {"columns": "w,x,label", "label_optional": True}, "in:1: 1 column where 3 are named"),
        ("a\n", {"columns": "word,word"}, "'word, word' cannot name columns"),
        ("a\n", {"columns": "_"}, "'_' cannot name columns"),
        ("a\n", {"columns": ""}, "'' cannot name columns"),
        ("", {}, "in: the file is empty; give at least one sequence"),
        ("\n \n\t\n", {}, "in: the file has no tokens; give at least one line that is not blank"),
        ("-DOCSTART-\n\n", {}, "in: the file has no tokens"),
        ("\ufeff", {}, "in: the file has no tokens"),
        (b"a X\nb\xe9 X\n", {}, "in:2: byte 0xe9 is not UTF-8; convert the file, .*iconv -f latin1"),
        ("a X\n".encode("utf-16"), {}, "in:1: byte 0xff is not UTF-8; .*iconv -f UTF-16"),
        (
            gzip.compress(b"a X\n" * 99, mtime=0)[:-12],
            {},
            r"in:\d+: the gzip data ends too early; fetch or pack",
        ),
        (
            gzip.compress(random.Random(0).randbytes(999), mtime=0)[:500],
            {},
            r"in:\d+: the gzip data ends too early",
        ),
        (b"\x1f\x8bnot gzip at all", {}, "in:1: the gzip data is damaged; fetch or pack"),
    ],
)
def test_errors_name_the_line(
    text: str | bytes, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (tmp_path / "in").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError) as raised:
        read(tmp_path / "in", "columns", **options)
    assert re.match(message, str(raised.value).replace(f"{tmp_path}{os.sep}", "")), str(raised.value)


def test_the_line_of_an_error_far_down() -> None:
    good = b"a\tX\n\n" * 150_000
    with pytest.raises(DataError, match="input:300001: 1 column where line 1 has 2"):
        of(good + b"a\n\n" + good)


def test_errors_of_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"nowhere\.tsv: there is no such file; check the path"):
        read(tmp_path / "nowhere.tsv", "columns")
    with pytest.raises(DataError, match="this is a directory; name a file in it"):
        read(tmp_path, "columns")
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(DataError, match="standard input: there is none"):
        read("-", "columns")


def test_error_of_the_stream_itself() -> None:
    class Broken(io.BytesIO):
        name = "disk.tsv"

        def read1(self, size: int | None = -1) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(DataError, match=r"disk.tsv: reading failed \(Input/output error\)"):
        read(Broken(), "columns")


cell = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\t\n\r"), max_size=3)
word = cell.filter(lambda text: text.strip(" ") and not text.startswith(("-DOCSTART-", "\ufeff")))
sequences = st.lists(st.lists(st.tuples(word, cell, word), min_size=1, max_size=5), min_size=1, max_size=6)


@given(sequences, st.integers(0, 40))
def test_reads_what_a_naive_writer_wrote(rows: list[list[tuple[str, str, str]]], size: int) -> None:
    """The reader in pieces of any size against the definition of the format."""
    text = "\n".join("".join("\t".join(row) + "\n" for row in sequence) for sequence in rows)
    block = Block(text.encode(), "in")
    corpus = ColumnReader().whole(block)
    assert corpus is not None
    assert corpus.split(list(zip(*_flat(corpus), strict=True))) == rows
    layout = layout_of(block, ColumnOptions())
    assert layout is not None
    grid = Grid(layout)
    for piece in pieces(block, size):
        grid.add(piece)
    assert grid.offsets.tolist() == corpus.offsets.tolist()
    assert grid.columns["word"].vocabulary == corpus.columns["word"].vocabulary
    assert grid.columns["word"].ids.tolist() == corpus.columns["word"].ids.tolist()


def _flat(corpus: Corpus) -> list[list[str]]:
    assert corpus.labels is not None
    return [*(column.strings() for column in corpus.columns.values()), corpus.labels.strings()]


@given(st.binary(max_size=60) | st.text(alphabet="a \t\n\r-", max_size=40).map(str.encode))
def test_any_bytes_give_a_corpus_or_a_sentence(data: bytes) -> None:
    try:
        corpus = of(data)
    except DataError as error:
        complaint = str(error)
    else:
        complaint = ""
    if complaint:
        assert complaint.startswith("input:")
        return
    lines = whole_lines(data.removeprefix(b"\xef\xbb\xbf")).decode().split("\n")
    assert corpus.n_tokens == sum(bool(line.strip(" \t")) for line in lines)
    assert (corpus.lengths > 0).all()
