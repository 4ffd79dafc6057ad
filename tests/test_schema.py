"""Schemas against references not made from their tables: conlleval's rules, seqeval, enumeration."""

from __future__ import annotations

import os
from collections import Counter
from itertools import chain, groupby, pairwise, product
from pathlib import Path

import numpy as np
import pytest
import seqeval.scheme
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from conseq.corpus import Column
from conseq.errors import SchemaError
from conseq.schema import (
    Schema,
    Scheme,
    Span,
    convert,
    convert_column,
    detect_scheme,
    read_freely,
    write_paths,
    write_spans,
)

FLAT = {
    "iob1": Schema(["O", "I-x", "B-x", "I-y-z", "B-y-z"], "iob1"),
    "bio": Schema(["B-x", "I-x", "O", "B-y-z", "I-y-z"], "bio"),
    "bioes": Schema(["O", *(f"{p}-{t}" for t in ("x", "y-z") for p in "BIES")], "bioes"),
}
NESTED = Schema(
    ["O", "B-a", "I-a", "B-c", "I-c", *(f"{p}-a/{q}-b" for p in "BI" for q in "BI")]
    + [f"{p}-a/{q}-b/{r}-b" for p in "BI" for q in "BI" for r in "BI"],
    "bio",
)
PLAIN = Schema(["O", "x", "y-z"], "plain")
ALL = {**FLAT, "nested": NESTED, "plain": PLAIN}
SEQEVAL = {"iob1": seqeval.scheme.IOB1, "bio": seqeval.scheme.IOB2, "bioes": seqeval.scheme.IOBES}

quick = settings(deadline=None, max_examples=40)
flat_names = pytest.mark.parametrize("name", FLAT)
all_names = pytest.mark.parametrize("name", ALL)


def labellings(schema: Schema, max_size: int = 12) -> st.SearchStrategy[list[str]]:
    """Any labels in any order, so mostly broken ones."""
    return st.lists(st.sampled_from(schema.labels), max_size=max_size)


# ── reference implementations ──────────────────────────────────────────────────────────────────────────────


def conlleval_spans(labels: list[str]) -> list[Span]:
    """conlleval's startOfChunk and endOfChunk to the letter, with S as in its Python ports."""
    spans, start = [], 0
    tag, kind = "O", ""
    for t, label in enumerate([*labels, "O"]):
        before, kind_before = tag, kind
        tag, _, kind = label.partition("-")
        ends = (
            before in ("E", "S")
            or (before in ("B", "I") and tag in ("B", "S", "O"))
            or (before != "O" and kind_before != kind)
        )
        starts = (
            tag in ("B", "S")
            or (before in ("E", "S", "O") and tag in ("E", "I"))
            or (tag != "O" and kind_before != kind)
        )
        if ends:
            spans.append(Span(start, t, kind_before))
        if starts:
            start = t
    return spans


def levels_of(label: str) -> list[tuple[str, str]]:
    """(letter, path down to here) of each level of a hierarchical label."""
    parts = [] if label == "O" else label.split("/")
    names = [part[2:] for part in parts]
    return [(part[0], "/".join(names[: k + 1])) for k, part in enumerate(parts)]


def nested_spans(labels: list[str], strict: bool) -> list[Span]:
    """The rule of the design page, token by token: one open segment per level."""
    done: list[tuple[Span, str]] = []
    stack: list[tuple[int, str, str]] = []  # start, path, first letter
    for t, label in enumerate([*labels, "O"]):
        levels = levels_of(label)
        kept = 0
        while kept < min(len(stack), len(levels)) and levels[kept] == ("I", stack[kept][1]):
            kept += 1
        done += [(Span(s, t, path, kept + k), letter) for k, (s, path, letter) in enumerate(stack[kept:])]
        stack[kept:] = [(t, path, letter) for letter, path in levels[kept:]]
    return sorted((s for s, letter in done if letter == "B" or not strict), key=lambda s: (s.start, s.level))


def plain_spans(labels: list[str]) -> list[Span]:
    spans, start = [], 0
    for label, run in groupby(labels):
        end = start + len(list(run))
        spans += [Span(start, end, label)] if label != "O" else []
        start = end
    return spans


def may_follow(scheme: str, before: str, label: str) -> bool:
    """Legality in words; START and END are written O."""
    p, c = before[:1], label[:1]
    same = before[2:] == label[2:]
    match scheme:
        case "iob1":
            return c != "B" or (p != "O" and same)
        case "bioes" if p in "BI":
            return c in "IE" and same
        case "bioes":
            return c in "BSO"
        case "bio" | "nested":
            above = [path for _, path in levels_of(before)]
            levels = levels_of(label)
            letters = "".join(letter for letter, _ in levels)
            return "BI" not in letters and all(
                letter == "B" or above[k : k + 1] == [path] for k, (letter, path) in enumerate(levels)
            )
    return True


def is_legal(name: str, labels: list[str]) -> bool:
    return all(may_follow(name, p, c) for p, c in pairwise(["O", *labels, "O"]))


# ── reading segments ────────────────────────────────────────────────────────────────────────────


@flat_names
@quick
@given(data=st.data())
def test_flat_segments_are_those_of_conlleval_and_of_seqeval(name: str, data: st.DataObject) -> None:
    labels = data.draw(labellings(FLAT[name]))
    spans = FLAT[name].spans(labels)
    assert spans == conlleval_spans(labels)
    assert [(s.type, s.start, s.end - 1) for s in spans] == get_entities(labels)


@flat_names
@quick
@given(data=st.data())
def test_strict_segments_are_those_of_seqeval(name: str, data: st.DataObject) -> None:
    labels = data.draw(labellings(FLAT[name]))
    theirs = seqeval.scheme.Tokens(labels, SEQEVAL[name]).entities
    ours = FLAT[name].spans(labels, mode="strict")
    assert [(s.start, s.end, s.type) for s in ours] == [(e.start, e.end, e.tag) for e in theirs]


@pytest.mark.parametrize("strict", [False, True])
@quick
@given(labels=labellings(NESTED))
def test_nested_segments_are_those_of_a_stack(strict: bool, labels: list[str]) -> None:
    assert NESTED.spans(labels, "strict" if strict else "conlleval") == nested_spans(labels, strict)


@quick
@given(labels=labellings(PLAIN))
def test_plain_segments_are_runs(labels: list[str]) -> None:
    assert PLAIN.spans(labels) == PLAIN.spans(labels, mode="strict") == plain_spans(labels)


@all_names
@pytest.mark.parametrize("mode", ["conlleval", "strict"])
@quick
@given(data=st.data())
def test_many_sequences_at_once_are_read_one_by_one(name: str, mode: str, data: st.DataObject) -> None:
    schema = ALL[name]
    sequences = data.draw(st.lists(labellings(schema, 6), max_size=6))
    offsets = np.cumsum([0, *map(len, sequences)])
    found = schema.span_arrays(schema.encode([*chain(*sequences)]), offsets, mode)
    spans = list(zip(found.sequence.tolist(), found.spans(schema.types()), strict=True))
    expected = [
        (i, Span(s.start + offsets[i], s.end + offsets[i], s.type, s.level))
        for i, labels in enumerate(sequences)
        for s in schema.spans(labels, mode)
    ]
    assert spans == expected


@quick
@given(labels=labellings(NESTED))
def test_a_leaf_has_no_deeper_segment_on_its_tokens(labels: list[str]) -> None:
    found = NESTED.span_arrays(NESTED.encode(labels), np.array([0, len(labels)]))
    spans = list(found.spans(NESTED.types()))
    for span, leaf in zip(spans, found.leaf.tolist(), strict=True):
        below = [s for s in spans if s.level > span.level and span.start <= s.start < span.end]
        assert leaf == (not below)


@all_names
@quick
@given(data=st.data())
def test_pair_tables_count_beginnings_and_endings(name: str, data: st.DataObject) -> None:
    schema = ALL[name]
    labels = data.draw(labellings(schema))
    ids = [len(schema), *schema.encode(labels).tolist(), len(schema)]
    spans = schema.spans(labels)
    for type in schema.types():
        mine = [s for s in spans if s.type == type]
        begins, ends, inside = schema.begins(type), schema.ends(type), schema.inside(type)
        assert [t for t, pair in enumerate(pairwise(ids)) if begins[pair]] == [s.start for s in mine]
        assert [t for t, pair in enumerate(pairwise(ids)) if ends[pair]] == [s.end for s in mine]
        covered = {t for s in mine for t in range(s.start, s.end)}
        assert {t for t, y in enumerate(ids[1:-1]) if inside[y]} == covered


LOOSE = ["O", "", "a", "a/b", "b", "B-a", "I-a/b", "B-a/B-b", "a/I-b/E-c", "B-E-c", "a b", "B-", "a//b", "/"]
"""Labels of no scheme."""


def lettered(label: str) -> str:
    """The same with B- or I- at every level."""
    parts = [] if label in ("O", "") else label.split("/")
    return "/".join(part if part[:2] in ("B-", "I-") else f"I-{part}" for part in parts) or "O"


@quick
@given(sequences=st.lists(st.lists(st.sampled_from(LOOSE), max_size=8), max_size=5))
def test_labels_of_any_look_are_read_as_if_they_had_their_letters(sequences: list[list[str]]) -> None:
    column = Column.of(chain(*sequences))
    found = read_freely(column.ids, column.vocabulary, np.cumsum([0, *map(len, sequences)]))
    assert found == [nested_spans([lettered(label) for label in labels], False) for labels in sequences]


def test_unlabelled_tokens_and_ids_of_minus_one_are_outside() -> None:
    schema = FLAT["bio"]
    assert schema.encode(["B-x", "", "I-x"]).tolist() == [0, -1, 1]
    assert schema.spans(["B-x", "", "I-x"]) == [Span(0, 1, "x"), Span(2, 3, "x")]


# ── legality ────────────────────────────────────────────────────────────────────────────────────


@all_names
def test_legality_is_what_the_rules_say(name: str) -> None:
    schema = ALL[name]
    expected = [[may_follow(name, p, c) for c in schema.labels] for p in schema.labels]
    assert schema.legal.tolist() == expected
    assert schema.legal_start.tolist() == [may_follow(name, "O", c) for c in schema.labels]
    assert schema.legal_end.tolist() == [may_follow(name, p, "O") for p in schema.labels]


@pytest.mark.parametrize("name", ["bio", "bioes", "nested", "plain"])
@quick
@given(data=st.data())
def test_legal_labellings_have_only_strict_segments(name: str, data: st.DataObject) -> None:
    """And in these schemes an illegal one always shows in what strict reading drops."""
    schema = ALL[name]
    labels = data.draw(labellings(schema, 6))
    assert is_legal(name, labels) == (schema.spans(labels) == schema.spans(labels, mode="strict"))


# ── writing segments ────────────────────────────────────────────────────────────────────────────


@st.composite
def legal_labellings(draw: st.DrawFn, name: str, max_size: int = 10) -> list[str]:
    """A random walk along legal pairs, cut back to where it may end."""
    schema = ALL[name]
    labels: list[str] = []
    for _ in range(draw(st.integers(0, max_size))):
        before = labels[-1] if labels else "O"
        labels.append(draw(st.sampled_from([c for c in schema.labels if may_follow(name, before, c)])))
    while labels and not may_follow(name, labels[-1], "O"):
        labels.pop()
    return labels


@all_names
@quick
@given(data=st.data())
def test_labels_to_spans_and_back(name: str, data: st.DataObject) -> None:
    labels = data.draw(legal_labellings(name))
    schema = ALL[name]
    assert schema.labels_of(schema.spans(labels), len(labels)) == labels


@st.composite
def forests(draw: st.DrawFn, start: int, end: int, above: str = "", level: int = 0) -> list[Span]:
    """Random nested segments between two tokens."""
    cuts = sorted(draw(st.sets(st.integers(start, end), max_size=5)))
    spans: list[Span] = []
    for a, b in pairwise(cuts):
        if draw(st.booleans()):
            path = above + draw(st.sampled_from(["a", "b-c", "d"]))
            below = draw(forests(a, b, path + "/", level + 1)) if level < 2 else []
            spans += [Span(a, b, path, level), *below]
    return sorted(spans, key=lambda s: (s.start, s.level))


@quick
@given(spans=forests(0, 9))
def test_nested_spans_to_labels_and_back(spans: list[Span]) -> None:
    labels = write_spans(spans, 9, "bio")
    assert is_legal("nested", labels)
    assert Schema.infer(labels, "bio").spans(labels) == spans


@quick
@given(spans=forests(0, 9))
def test_paths_name_the_innermost_segment(spans: list[Span]) -> None:
    around = [
        max((s for s in spans if s.start <= t < s.end), key=lambda s: s.level, default=None) for t in range(9)
    ]
    assert write_paths(spans, 9) == [span.type if span else "O" for span in around]


@pytest.mark.parametrize(
    ("scheme", "spans", "message"),
    [
        (
            "bio",
            [Span(0, 2, "x"), Span(1, 3, "y-z")],
            "'y-z' of tokens 1–2 overlaps segment 'x' of tokens 0–1",
        ),
        ("bio", [Span(2, 5, "x")], "does not fit into 4 tokens"),
        ("bio", [Span(2, 2, "x")], "start < end"),
        ("bio", [Span(0, 1, "q")], "no segment type 'q'; the types are x, y-z"),
        ("bio", [Span(0, 1, "x", 1)], "stands at level 0, not 1"),
        ("nested", [Span(0, 2, "a/b", 1)], "lies in no single segment of level 0"),
        ("nested", [Span(0, 2, "a"), Span(1, 3, "a/b", 1)], "lies in no single segment of level 0"),
        ("nested", [Span(0, 2, "c"), Span(0, 2, "a/b", 1)], "its type must be the full path, c/…"),
        (
            "nested",
            [Span(0, 4, "a"), Span(0, 2, "a/b", 1), Span(1, 3, "a/b", 1)],
            "'a/b' of tokens 1–2 overlaps segment 'a/b' of tokens 0–1 at level 1",
        ),
        ("nested", [Span(0, 4, "a"), Span(0, 4, "a/b/b", 2)], "lies in no single segment of level 1"),
        ("plain", [Span(0, 1, "x"), Span(1, 2, "x")], "plain labels cannot keep apart"),
    ],
)
def test_segments_that_labels_cannot_hold(scheme: str, spans: list[Span], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        ALL[scheme].labels_of(spans, 4)


def test_a_segment_whose_label_the_schema_lacks() -> None:
    with pytest.raises(SchemaError, match="label 'I-x' is not one of the schema's 2"):
        Schema(["O", "B-x"], "bio").labels_of([Span(0, 2, "x")], 2)


# ── conversion ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("target", FLAT)
@pytest.mark.parametrize("source", [*FLAT, "plain"])
@quick
@given(data=st.data())
def test_conversion_keeps_the_segments_and_writes_them_legally(
    source: str, target: str, data: st.DataObject
) -> None:
    labels = data.draw(legal_labellings(source))
    converted = convert(labels, source, target)
    assert is_legal(target, converted)
    assert FLAT[target].spans(converted) == ALL[source].spans(labels)
    if source != "plain":
        assert convert(converted, target, source) == labels


@quick
@given(labels=labellings(FLAT["iob1"]))
def test_conversion_mends_broken_labels(labels: list[str]) -> None:
    """seqeval's strict reading of the converted labels is its lenient reading of the broken ones."""
    entities = seqeval.scheme.Tokens(convert(labels, "bio", "bioes"), seqeval.scheme.IOBES).entities
    assert [(e.tag, e.start, e.end - 1) for e in entities] == get_entities(labels)


@quick
@given(sequences=st.lists(labellings(FLAT["iob1"], 6), max_size=6), target=st.sampled_from(["bio", "bioes"]))
def test_a_column_is_converted_as_its_sequences_are(sequences: list[list[str]], target: str) -> None:
    column = Column.of(chain(*sequences))
    converted = convert_column(column, np.cumsum([0, *map(len, sequences)]), "iob1", target)
    one_by_one = [*chain(*(convert(labels, "iob1", target) for labels in sequences))]
    assert converted.strings() == one_by_one
    assert isinstance(converted, Column)
    assert converted.vocabulary == Column.of(one_by_one).vocabulary
    assert converted.ids.dtype == column.ids.dtype


def test_unlabelled_tokens_stay_unlabelled() -> None:
    assert convert(["I-x", "", "I-x", "I-x"], "iob1", "bio") == ["B-x", "", "B-x", "I-x"]


@pytest.mark.parametrize(
    ("label", "source", "target", "message"),
    [
        (
            "B-a/B-b",
            "bio",
            "bioes",
            "hierarchical labels cannot be written in scheme bioes; keep",
        ),
        ("B-a", "bio", "plain", "plain labels cannot keep touching segments apart"),
        ("B-a", "bio", "bilou", "no scheme 'bilou'; choose one of plain, iob1, bio, bioes"),
        ("E-a", "bio", "bioes", "label 'E-a' does not fit scheme bio, where every label but O is B- or I-"),
    ],
)
def test_conversions_that_cannot_be(label: str, source: str, target: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        convert([label], source, target)


# ── detection and construction ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        ("title title O author", "plain"),
        ("O O", "plain"),
        ("B I O", "plain"),
        ("B-x title", "plain"),
        ("B-x I-x O B-y", "bio"),
        ("B-x B-x", "bio"),
        ("I-x I-x B-x O I-y", "iob1"),
        ("O I-x", "iob1"),
        ("B-x I-x O I-x O B-y O B-y", "bio"),  # one slip among three
        ("I-x O I-x O I-y O B-y", "iob1"),  # one slip among four
        ("B-x E-x O", "bioes"),
        ("S-x O", "bioes"),
        ("I-a/I-b I-a/I-b", "bio"),
        ("I-a/B-b-c O B-a", "bio"),
    ],
)
def test_detection(text: str, scheme: str) -> None:
    labels = text.split()
    assert detect_scheme(labels, [labels]) is Scheme.of(scheme)
    partly = [x for label in labels for x in (label, "")]
    assert Schema.infer(partly, "auto", [labels, ["", ""]]).scheme == scheme


def test_what_follows_an_unlabelled_token_tells_nothing() -> None:
    """The I- may continue a segment that nobody labelled; the B- after O speaks for BIO."""
    assert detect_scheme(["B-x", "I-x", "O"], [["", "I-x", "", "I-x", "O", "B-x"]]) is Scheme.BIO


def test_detection_without_sequences_looks_for_types_with_one_letter_only() -> None:
    assert detect_scheme(["O", "I-x", "B-x", "I-y"]) is Scheme.IOB1
    assert detect_scheme(["O", "I-x", "B-x", "B-y"]) is Scheme.BIO
    assert detect_scheme(["O", "I-x", "B-x"]) is Scheme.BIO


@pytest.mark.parametrize(
    ("labels", "scheme", "message"),
    [
        (["O", "author"], "bio", "label 'author' does not fit scheme bio.*use scheme plain"),
        (["B-"], "bio", "label 'B-' does not fit"),
        (["B-x", "S-x"], "iob1", "label 'S-x' does not fit scheme iob1"),
        (["L-x"], "bioes", "every label but O is B-, I-, E- or S- and a name"),
        (["B-a/B-b"], "iob1", "label 'B-a/B-b' has several levels, which scheme iob1 cannot write; use bio"),
        (["x", "x"], "plain", "label 'x' is listed twice"),
        (["x", ""], "plain", "empty string"),
        (["x"], "fancy", "no scheme 'fancy'"),
        (["B-a/b", "B-a/B-b"], "bio", "type 'a/b' is one level in some labels and several in others"),
    ],
)
def test_labels_that_do_not_fit(labels: list[str], scheme: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema(labels, scheme)


@all_names
def test_dictionary_and_back(name: str) -> None:
    schema = ALL[name]
    assert Schema.from_dict(schema.to_dict()) == schema
    assert hash(Schema.from_dict(schema.to_dict())) == hash(schema)
    with pytest.raises(SchemaError, match="lacks its 'labels'"):
        Schema.from_dict({"scheme": "bio"})


def test_extension_keeps_ids_of_labels_and_types() -> None:
    small = Schema(["O", "B-a"], "bio")
    large = small.extended(["B-c/B-b", "O", "", "I-a"])
    assert large.labels == ("O", "B-a", "B-c/B-b", "I-a")
    assert large.types() == ("a", "c", "c/b")


def test_unknown_labels_types_and_modes_are_named() -> None:
    schema = FLAT["bio"]
    with pytest.raises(SchemaError, match="label 'B-q' is not one of the schema's 5"):
        schema.spans(["O", "B-q"])
    with pytest.raises(SchemaError, match="no segment type 'q'"):
        schema.begins("q")
    with pytest.raises(SchemaError, match="choose one of conlleval, strict"):
        schema.spans(["O"], mode="loose")


def test_a_name_means_every_path_that_ends_in_it() -> None:
    assert NESTED.types() == ("a", "c", "a/b", "a/b/b")
    assert NESTED.types_named("b") == ("a/b", "a/b/b")
    assert NESTED.types_named("a/b") == ("a/b",)


# ── patterns ────────────────────────────────────────────────────────────────────────────────────


def keeps_to(pattern: tuple, ids: tuple[int, ...], start: int, end: int) -> bool:
    before, inside, after = pattern
    return (
        (start == 0 or before[ids[start - 1]])
        and all(inside[t - start, ids[t]] for t in range(start, end))
        and (end == len(ids) or after[ids[end]])
    )


@pytest.mark.parametrize("name", ["bio", "bioes", "plain", "nested", "iob1"])
def test_one_pattern_fits_exactly_the_labellings_with_the_segment(name: str) -> None:
    schema = ALL[name]
    length = 4 if len(schema) < 9 else 3
    tables = {
        Span(a, b, t, t.count("/")): schema.span_patterns(a, b, t)
        for t in schema.types()
        for a in range(length)
        for b in range(a + 1, length + 1)
    }
    for ids in product(range(len(schema)), repeat=length):
        labels = schema.decode(ids)
        fits = [s for s, patterns in tables.items() for p in patterns if keeps_to(p, ids, s.start, s.end)]
        assert sorted(fits) == sorted(schema.spans(labels))


@pytest.mark.parametrize("name", ["bio", "bioes", "plain", "nested", "iob1"])
def test_patterns_of_legal_labellings_are_those_that_one_keeps_to(name: str) -> None:
    schema = ALL[name]
    labellings = [ids for ids in product(range(len(schema)), repeat=3) if is_legal(name, schema.decode(ids))]
    for type, (a, b) in product(schema.types(), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]):
        every, some = schema.span_patterns(a, b, type), schema.span_patterns(a, b, type, legal=True)
        needed = [p for p in every if any(keeps_to(p, ids, a, b) for ids in labellings)]
        written = [[[part.tolist() for part in p] for p in patterns] for patterns in (needed, some)]
        assert all(p in written[1] for p in written[0])
        if name in ("bio", "bioes", "plain"):
            assert len(some) == 1


def test_patterns_that_cannot_be() -> None:
    with pytest.raises(SchemaError, match="has no tokens"):
        FLAT["bio"].span_patterns(2, 2, "x")


# ── real data ───────────────────────────────────────────────────────────────────────────────────

DATA = Path(os.environ.get("CONSEQ_DATA", Path(__file__).parents[2] / "shared" / "data"))


def read_labels(path: str) -> list[list[str]]:
    if not (DATA / path).exists():
        pytest.skip(f"{DATA / path} is not there; set CONSEQ_DATA")
    blocks = (DATA / path).read_text(encoding="utf-8").split("\n\n")
    rows = ([line.rpartition("\t")[2] for line in block.split("\n") if line] for block in blocks)
    return [row for row in rows if row]


@pytest.mark.parametrize(
    ("path", "scheme", "segments", "some"),
    [
        ("conll2003/train.tsv", "iob1", 23_499, {"LOC": 7140, "MISC": 3438, "ORG": 6321, "PER": 6600}),
        ("conll2003/dev.tsv", "iob1", 5_942, {"LOC": 1837, "MISC": 922, "ORG": 1341, "PER": 1842}),
        ("conll2003/test.tsv", "iob1", 5_648, {"LOC": 1668, "MISC": 702, "ORG": 1661, "PER": 1617}),
        ("conll2000/train.tsv", "bio", 106_978, {"NP": 55081, "VP": 21467, "UCP": 2}),
        ("conll2000/test.tsv", "bio", 23_852, {"NP": 12422, "PP": 4811, "INTJ": 2}),
    ],
)
def test_published_counts_of_segments(path: str, scheme: str, segments: int, some: dict[str, int]) -> None:
    sequences = read_labels(path)
    column = Column.of(chain(*sequences))
    offsets = np.cumsum([0, *map(len, sequences)])
    schema = Schema.infer(column.vocabulary, "auto", sequences)
    assert schema.scheme == scheme
    column = convert_column(column, offsets, scheme, "bio")
    found = Schema(column.vocabulary, "bio").span_arrays(column.ids, offsets, "strict")
    counts = Counter(s.type for s in found.spans(Schema(column.vocabulary, "bio").types()))
    assert len(found) == segments
    assert counts | some == counts


@pytest.mark.parametrize(("split", "begun"), [("train", 15_727), ("dev", 6_867), ("test", 3_876)])
def test_published_counts_of_nested_segments(split: str, begun: int) -> None:
    """The table counts the tokens at whose deepest level a segment begins."""
    sequences = read_labels(f"umass_citation/{split}.tsv")
    column = Column.of(chain(*sequences))
    schema = Schema.infer(column.vocabulary, "auto", sequences)
    found = schema.span_arrays(column.ids, np.cumsum([0, *map(len, sequences)]))
    depth = np.array([label.count("/") for label in column.vocabulary])
    assert np.count_nonzero(found.level == depth[column.ids[found.start]]) == begun
