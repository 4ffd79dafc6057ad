"""Sentences with entities and relations: each format there and back, and what is wrong on which line."""

from __future__ import annotations

import gzip
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conseq.entities import Entity, Relation, Sentence
from conseq.errors import DataError
from conseq.io.sentences import (
    SENTENCE_FORMATS,
    format_sentences,
    read_sentences,
    stream_sentences,
    write_sentences,
)
from conseq.io.sentences.brat import format_brat
from conseq.tokens import by_whitespace

TOKENS = ("John", "Smith", "leads", "Acme", "in", "<&>", "مرحبا", "🙂")
SENTENCE = Sentence(
    TOKENS,
    (Entity("person", 0, 2), Entity("organisation", 3, 4), Entity("place", 6, 8)),
    (Relation("work_for", 0, 1), Relation("live_in", 0, 2)),
)
NAMES = st.text("abcXYZ_é-", min_size=1, max_size=8)
WORDS = st.text(min_size=1, max_size=6).filter(
    lambda t: by_whitespace(t) == [(0, len(t))] and "\ufeff" not in t and t.isprintable()
)


@st.composite
def sentences(draw: Any) -> Sentence:
    tokens = tuple(draw(st.lists(WORDS, min_size=1, max_size=8)))
    cuts = st.tuples(st.integers(0, len(tokens) - 1), st.integers(1, 3))
    places = sorted({(start, min(start + length, len(tokens))) for start, length in draw(st.lists(cuts))})
    entities = tuple(Entity(draw(NAMES), *place) for place in places)
    ends = st.tuples(*[st.integers(0, len(entities) - 1)] * 2).filter(lambda pair: pair[0] != pair[1])
    pairs = draw(st.lists(ends, max_size=4)) if len(entities) > 1 else []
    pos = draw(st.none() | st.just(tuple(f"T{i % 3}" for i in range(len(tokens)))))
    id = draw(st.none() | st.integers() | st.text("ab:1"))
    return Sentence(tokens, entities, tuple(Relation(draw(NAMES), *pair) for pair in pairs), pos, id)


def lines(*records: Any, format: str = "jsonl", **options: Any) -> list[Sentence]:
    text = "\n".join(r if isinstance(r, str) else json.dumps(r) for r in records)
    return read_sentences(io.BytesIO(text.encode()), format, **options)


def plain(sentence: Sentence) -> Sentence:
    return replace(sentence, text=None, characters=None)


# ── there and back ──────────────────────────────────────────────────────────────────────────────


@given(st.lists(sentences(), min_size=1, max_size=4))
def test_json_lines_there_and_back(given_: list[Sentence]) -> None:
    text = format_sentences(given_, "jsonl")
    assert read_sentences(io.BytesIO(text.encode())) == given_


@given(st.lists(sentences(), min_size=1, max_size=4))
def test_spacy_there_and_back(given_: list[Sentence]) -> None:
    found = read_sentences(io.BytesIO(format_sentences(given_, "spacy").encode()), "spacy")
    assert [plain(sentence) for sentence in found] == given_
    assert [format_sentences([s], "spacy") for s in found] == [format_sentences([s], "spacy") for s in given_]


@given(given_=st.lists(sentences(), min_size=1, max_size=4))
def test_brat_there_and_back(given_: list[Sentence], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("brat") / "all.ann"
    write_sentences(given_, path)
    found = read_sentences(path, tokens="whitespace")
    assert [(s.tokens, s.entities, s.relations) for s in found] == [
        (s.tokens, s.entities, s.relations) for s in given_
    ]
    assert format_brat(found) == format_brat(given_)


@pytest.mark.parametrize("format", SENTENCE_FORMATS)
def test_every_format_says_its_text(format: str, tmp_path: Path) -> None:
    path = tmp_path / "x.ann"
    write_sentences([SENTENCE, SENTENCE], path, format)
    found = read_sentences(path, format, tokens="whitespace")
    assert [sentence.tokens for sentence in found] == [TOKENS, TOKENS]
    if format != "text":
        assert [(s.entities, s.relations) for s in found] == [(SENTENCE.entities, SENTENCE.relations)] * 2
        assert [sentence.cut(0, 2) for sentence in found] == ["John Smith"] * 2


# ── what is understood ──────────────────────────────────────────────────────────────────────────


def test_formats_are_recognised(tmp_path: Path) -> None:
    spacy = {"text": "Ann left", "ents": [{"start": 0, "end": 3, "label": "person"}]}
    assert lines(spacy, format="auto")[0].entities == (Entity("person", 0, 1),)
    assert lines({"text": "Ann left"}, format="auto")[0].tokens == ("Ann", "left")
    assert lines("Ann left.", "", "Bob too", format="auto")[1].tokens == ("Bob", "too")
    write_sentences([SENTENCE], tmp_path / "a.ann")
    assert read_sentences(tmp_path)[0].id == "a:1"
    packed = tmp_path / "x.jsonl.gz"
    packed.write_bytes(gzip.compress(format_sentences([SENTENCE]).encode()))
    assert read_sentences(packed) == [SENTENCE]


def test_a_file_may_be_one_list_of_objects() -> None:
    records = [json.loads(format_sentences([SENTENCE])), {"tokens": ["b"]}]
    data = json.dumps(records, indent=1).encode()
    assert [s.tokens for s in read_sentences(io.BytesIO(data))] == [TOKENS, ("b",)]
    assert [s.tokens for batch in stream_sentences(io.BytesIO(data)) for s in batch] == [TOKENS, ("b",)]


def test_a_token_is_cut_where_an_entity_ends() -> None:
    record = {"text": "a U.S.-based firm", "ents": [{"start": 2, "end": 6, "label": "place"}]}
    record["tokens"] = [{"start": 0, "end": 1, "tag": "DT"}, {"start": 2, "end": 12, "tag": "JJ"}]
    record["tokens"] += [{"start": 12, "end": 13}, {"start": 13, "end": 17, "tag": "NN"}]
    (found,) = lines(record, format="spacy")
    assert found.tokens == ("a", "U.S.", "-based", "firm")
    assert found.pos == ("DT", "JJ", "JJ", "NN")
    assert found.entities == (Entity("place", 1, 2),)


def test_text_and_tokens() -> None:
    (found,) = lines({"text": "so,  so", "tokens": ["so", ",", "so"], "entities": []})
    assert found.characters == ((0, 2), (2, 3), (5, 7))
    assert lines(format_sentences([found])) == [found]


def test_lines_of_brat_that_a_relation_joins_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_bytes("\ufeffAnn left.\r\n\r\nShe lives\r\nin New\r\nYork. Bob\n".encode())
    marks = ["R1\tlive_in Arg1:T2 Arg2:T1", "T1\tplace 28 31;33 37\tNew York", "T2\tperson 14 17\tShe"]
    marks += ["T3\tperson 39 42\tBob", "#1\tAnnotatorNotes T1\tsure", "E1\tMove:T1", "*\tEquiv T1 T2"]
    (tmp_path / "d.ann").write_text("\n".join(marks))
    first, second = read_sentences(tmp_path / "d.ann")
    assert first.tokens == ("Ann", "left", ".")
    assert second.tokens == ("She", "lives", "in", "New", "York", ".", "Bob")
    assert second.entities == (Entity("person", 0, 1), Entity("place", 3, 5), Entity("person", 6, 7))
    assert second.relations == (Relation("live_in", 0, 1),)
    assert (first.id, second.id) == ("d:1", "d:3")


def test_a_text_of_brat_may_have_no_marks_yet(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("Ann left.\n")
    assert read_sentences(tmp_path)[0].entities == ()
    (tmp_path / "d.ann").write_text("")
    assert read_sentences(tmp_path / "d.ann")[0].tokens == ("Ann", "left", ".")


def test_streams_give_sentences_in_batches() -> None:
    text = format_sentences([SENTENCE] * 50)
    batches = list(stream_sentences(io.BytesIO(text.encode()), max_tokens=100))
    assert len(batches) > 1
    assert [sentence for batch in batches for sentence in batch] == [SENTENCE] * 50


# ── what is wrong ───────────────────────────────────────────────────────────────────────────────


def span(start: int, end: int) -> dict[str, Any]:
    return {"type": "x", "start": start, "end": end}


FINE = {"tokens": ["a", "b"], "entities": [span(0, 1)]}


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ('{"tokens": [', "this is not JSON"),
        ("[1]", "not an object"),
        ({"words": ["a"]}, "there are no tokens and no text"),
        ({"tokens": []}, "the sentence has no tokens"),
        ({"text": "  "}, "the sentence has no tokens"),
        ({"tokens": ["a"], "pos": ["N", "V"]}, '1 token but 2 in "pos"'),
        ({"tokens": ["a"], "id": [1]}, '"id" is [1]'),
        ({"tokens": ["a"], "entities": {}}, '"entities" is not a list'),
        (
            {"tokens": ["a"], "entities": [{"type": "x", "start": "0", "end": 1}]},
            'number 0 of "entities" is',
        ),
        ({"tokens": ["a"], "entities": [{"type": "", "start": 0, "end": 1}]}, 'number 0 of "entities" is'),
        ({"tokens": ["a"], "entities": [span(0, 2)]}, "entity 0 spans the tokens 0 to 2 of 1"),
        ({"tokens": ["a"], "entities": [{"type": "x", "start": 0, "end": 0}]}, "give 0 ≤ start < end ≤ 1"),
        ({"text": "a", "entities": [span(0, 2)]}, "x [0, 2) is empty or goes beyond"),
        ({"text": "a  b", "entities": [{"type": "x", "start": 1, "end": 2}]}, "in which there is no token"),
        ({**FINE, "relations": [{"type": "r", "head": 0, "tail": True}]}, 'number 0 of "relations" is'),
        ({**FINE, "relations": [{"type": "r", "head": 0, "tail": 1}]}, "the sentence has 1 entities"),
        ({**FINE, "relations": [{"type": "r", "head": 0, "tail": 0}]}, "relates an entity to itself"),
        ({"tokens": ["a", "c"], "text": "a b"}, "the token 'c' is not in the rest of the text"),
    ],
)  # fmt: skip
def test_errors_name_the_line(record: Any, says: str) -> None:
    with pytest.raises(DataError) as caught:
        lines(FINE, record)
    assert caught.value.line == 2
    assert says in str(caught.value)
    assert str(caught.value).startswith("input:2: ")


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({"ents": []}, "there are no tokens and no text"),
        ({"text": "a", "ents": [{"start": 0, "end": 1}]}, "label, start and end"),
        ({"text": "a b", "tokens": [{"start": 2, "end": 3}, {"start": 0, "end": 1}]}, "order of the text"),
        ({"text": "a", "tokens": [{"start": 0, "end": 9}]}, "goes beyond the 1 characters"),
    ],
)
def test_errors_of_spacy_name_the_line(record: Any, says: str) -> None:
    with pytest.raises(DataError, match="input:1: ") as caught:
        lines(record, format="spacy")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("mark", "says"),
    [
        ("T1 person 0 3", "1 cells where 3 belong"),
        ("T1\tperson 0 x\tAnn", "is no place"),
        ("T1\tperson 0 99\tAnn", "goes beyond the 9 characters"),
        ("T1\tperson 0 3\tBob", "says 'Bob' where the text has 'Ann'"),
        ("T1\tperson 0 3;5 8\tAnn eft", "leaves out words"),
        ("T1\tperson 0 3\tAnn\nT1\tperson 0 3\tAnn", "marked twice"),
        ("T1\tperson 0 3\tAnn\nR1\tknow Arg1:T1 Arg2:T7", "no entity T7"),
        ("T1\tperson 0 3\tAnn\nR1\tknow Arg1:T1 Arg2:T1", "relates T1 to itself"),
        ("R1\tknow Arg1:T1", "has not two arguments"),
        ("Z1\twhat", "not one of brat's"),
    ],
)
def test_errors_of_brat_name_the_line(mark: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("Ann left\n")
    (tmp_path / "d.ann").write_text(mark)
    with pytest.raises(DataError) as caught:
        read_sentences(tmp_path / "d.ann")
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'd.ann'}:{1 + mark.count(chr(10))}: ")


def test_what_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no format 'conll'"):
        read_sentences("-", "conll")
    with pytest.raises(DataError, match=r"no \.txt in this folder"):
        read_sentences(tmp_path)
    (tmp_path / "d.ann").write_text("")
    with pytest.raises(DataError, match=r"d\.txt: there is no such file"):
        read_sentences(tmp_path / "d.ann")
    (tmp_path / "d.txt").write_bytes(b"\xff")
    with pytest.raises(DataError, match="is not UTF-8"):
        read_sentences(tmp_path / "d.ann")
    with pytest.raises(DataError, match="two files each"):
        read_sentences("-", "brat")
    with pytest.raises(DataError, match="two files each"):
        write_sentences([SENTENCE], "-", "brat")
    with pytest.raises(DataError, match="the file is empty"):
        lines(format="jsonl")
    with pytest.raises(DataError, match="has no sentences"):
        lines("", " ", format="jsonl")
    with pytest.raises(DataError, match="has no sentences"):
        list(stream_sentences(io.BytesIO(b"\n \n")))
    with pytest.raises(DataError, match="no type 'a b'"):
        write_sentences([Sentence(("x",), (Entity("a b", 0, 1),))], tmp_path / "y.ann")
    assert not (tmp_path / "y.txt").exists()
