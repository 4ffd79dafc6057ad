"""`features/extract.py`: attributes against an extractor that goes token by token, written here."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conseq.corpus import Bags, Corpus
from conseq.errors import TemplateError
from conseq.features import FeatureExtractor, codes, extract, parse_templates
from conseq.features.saving import pack, unpack
from conseq.vocabulary import Vocabulary

COLUMNS = ["form", "pos", "lower"]
LEXICON = ["a A", "a a b", "b"]


# ── the naive extractor ─────────────────────────────────────────────────────────────────────────


def character_class(c: str) -> str:
    return "X" if c.isupper() else "d" if c.isdigit() else "x" if c.isalpha() else c


def marked(tokens: list[str]) -> list[str | None]:
    """B and I of longest matches in LEXICON, from left to right."""
    entries = sorted((e.lower().split() for e in LEXICON), key=len, reverse=True)
    marks: list[str | None] = [None] * len(tokens)
    t = 0
    while t < len(tokens):
        here = [t.lower() for t in tokens[t:]]
        match = next((e for e in entries if here[: len(e)] == e), [])
        marks[t : t + len(match)] = ["B", *"I" * (len(match) - 1)][: len(match)]
        t += max(1, len(match))
    return marks


STRINGS = {
    "lower": lambda s, _: s.lower(),
    "shape": lambda s, _: "".join(map(character_class, s)),
    "short-shape": lambda s, _: "".join(k for k, _ in groupby(map(character_class, s))),
    "digits": lambda s, _: re.sub("[0-9]", "0", s) if re.search("[0-9]", s) else None,
    "length": lambda s, _: str(min(12, len(s))),
    "prefix(1)": lambda s, _: s[0] if len(s) > 1 else None,
    "suffix(2)": lambda s, _: s[-2:] if len(s) > 2 else None,
    "match(/a.*b/)": lambda s, _: "1" if re.search("a.*b", s) else None,
    "unknown": lambda s, known: None if s in known else "1",
}
"""Source → function of a string and the known words."""

WHOLES = {
    "first": lambda i, tokens: "1" if i == 0 else None,
    "last": lambda i, tokens: "1" if i == len(tokens) - 1 else None,
    "bias": lambda i, tokens: "1",
    "position(3)": lambda i, tokens: str(3 * i // len(tokens)),
    "lexicon(names)": lambda i, tokens: marked(tokens)[i],
}
"""Source → function of a place and the tokens of the sequence."""


@dataclass(frozen=True)
class Look:
    """A part of a template: a source, the column it reads ("" the tokens), an offset."""

    source: str
    column: str
    offset: int

    def __str__(self) -> str:
        column = {"": "", "lower": "'lower'"}.get(self.column, self.column)
        if self.source == "value":
            text = column or "word"
        elif column and self.source.endswith(")"):
            text = f"{self.source[:-1]},{column})"
        else:
            text = f"{self.source}({column})" if column else self.source
        return f"{text}[{self.offset}]"

    def value(self, t: int, sequence: dict[str, list[str]], known: set[str]) -> str | None:
        tokens = sequence["form"]
        i = t + self.offset
        if i < 0:
            return f"_B{i}"
        if i >= len(tokens):
            return f"_B+{i - len(tokens) + 1}"
        if self.source in WHOLES:
            return WHOLES[self.source](i, tokens)
        string = sequence[self.column or "form"][i]
        return string if self.source == "value" else STRINGS[self.source](string, known)


def attributes(sequences, templates, known):
    """The names of the attributes of every token, in order of the templates."""
    found = []
    for sequence in sequences:
        for t in range(len(sequence["form"])):
            names = []
            for looks in templates:
                values = [look.value(t, sequence, known) for look in looks]
                if None not in values:
                    names.append(f"{' & '.join(map(str, looks))}={'|'.join(values)}")
            found.append(names)
    return found


# ── what is generated ───────────────────────────────────────────────────────────────────────────

strings = st.one_of(st.sampled_from(["a", "A", "b", "ab", "a1b"]), st.text("aAb1-é", min_size=1, max_size=4))
token = st.tuples(strings, st.sampled_from(["DT", "NN", "vb"]), st.sampled_from("xyz"))
corpora = st.lists(st.lists(token, max_size=6), max_size=5).map(
    lambda sequences: [{c: [t[k] for t in s] for k, c in enumerate(COLUMNS)} for s in sequences]
)
looks = st.one_of(
    st.builds(
        Look, st.sampled_from(["value", *STRINGS]), st.sampled_from(["", "pos", "lower"]), st.integers(-3, 3)
    ),
    st.builds(Look, st.sampled_from([*WHOLES]), st.just(""), st.integers(-3, 3)),
)
template_lists = st.lists(st.lists(looks, min_size=1, max_size=3).map(tuple), max_size=6, unique=True)
plans = st.sampled_from([(4, 20_000), (1e-9, 20_000), (1e9, 20_000), (0.5, 3), (3, 2)])
limits = st.sampled_from([(codes.LIMIT, codes.DIRECT), (codes.LIMIT, 0), (30, 5), (1, 0)])


def build(sequences) -> Corpus:
    flat = {c: [v for s in sequences for v in s[c]] for c in COLUMNS}
    return Corpus.from_columns(flat, [len(s["form"]) for s in sequences])


def texts(templates) -> list[str]:
    return [" & ".join(map(str, t)) for t in templates]


def names_of(extractor, design):
    """Sorted attribute names of every token; every value must be 1."""
    found = []
    for t in range(design.n_tokens):
        ids = design.attributes(t)
        assert all(value == 1 for _, value in ids)
        found.append(sorted(extractor.names([a for a, _ in ids])))
    return found


def same_design(a, b) -> bool:
    parts = ("row_of", "indptr", "attr", "value")
    return (
        all(np.array_equal(getattr(a, p), getattr(b, p)) for p in parts) and a.n_attributes == b.n_attributes
    )


@settings(deadline=None, max_examples=100)
@given(corpora, corpora, template_lists, st.integers(0, 3), plans, limits)
def test_attributes_equal_those_found_token_by_token(train, test, templates, min_count, plan, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extract, "MERGE", plan[0])
        patch.setattr(extract, "SAMPLE", plan[1])
        patch.setattr(codes, "LIMIT", limit[0])
        patch.setattr(codes, "DIRECT", limit[1])
        corpus, other = build(train), build(test)
        extractor, design = FeatureExtractor.learn(
            corpus, texts(templates), min_count=min_count, lexicons={"names": LEXICON}
        )
        words = Counter(w for s in train for w in s["form"])
        known = {w for w, n in words.items() if n > 1}
        seen = attributes(train, templates, known)
        counts = Counter(name for names in seen for name in names)
        wanted = {name for name, n in counts.items() if n >= min_count}
        assert sorted(extractor.names()) == sorted(wanted)
        assert names_of(extractor, design) == only(wanted, seen)
        assert same_design(design, extractor.design(corpus))
        fresh = only(wanted, attributes(test, templates, known))
        assert names_of(extractor, extractor.design(other)) == fresh
        restored = unpack(pack(extractor))
        assert restored.names() == extractor.names()
        assert same_design(extractor.design(other), restored.design(other))


@settings(deadline=None, max_examples=60)
@given(st.lists(corpora, min_size=1, max_size=4), template_lists, st.integers(0, 3), limits)
def test_corpora_one_after_the_other_give_the_attributes_of_all_together(parts, templates, min_count, limit):
    """Whether or not they share vocabularies, down to the numbers of the attributes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes, "LIMIT", limit[0])
        patch.setattr(codes, "DIRECT", limit[1])
        options = {"min_count": min_count, "lexicons": {"names": LEXICON}}
        whole = build([sequence for part in parts for sequence in part])
        expected, design = FeatureExtractor.learn(whole, texts(templates), **options)
        bounds = np.cumsum([0, *map(len, parts)])
        shared = [whole.select(np.arange(a, b)) for a, b in pairwise(bounds)]
        for corpora in (list(map(build, parts)), shared):
            found = FeatureExtractor.learn_all(corpora, texts(templates), **options)
            assert sorted(found.names()) == sorted(expected.names())
            designs = [names_of(found, each) for each in found.designs(corpora)]
            assert [names for each in designs for names in each] == names_of(expected, design)


def only(wanted, tokens):
    return [sorted(name for name in names if name in wanted) for names in tokens]


@settings(deadline=None, max_examples=30)
@given(corpora, template_lists)
def test_grouping_changes_no_attribute(train, templates):
    """The numbers of attributes and who has them are the same whatever the plan of the groups."""
    found = []
    for merge, sample in [(4, 20_000), (1e-9, 20_000), (1e9, 20_000), (4, 2)]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(extract, "MERGE", merge)
            patch.setattr(extract, "SAMPLE", sample)
            extractor, design = FeatureExtractor.learn(
                build(train), texts(templates), lexicons={"names": LEXICON}
            )
            found.append((sorted(extractor.names()), names_of(extractor, design), len(extractor.groups)))
    assert all(f[:2] == found[0][:2] for f in found)


def test_plans_do_differ():
    """The test above is worth something only if MERGE makes one group or many."""
    rng = np.random.default_rng(1)
    corpus = Corpus.from_sequences([[f"w{i}" for i in rng.integers(50, size=20)] for _ in range(50)])
    templates = parse_templates("word[-1..1]\nlower[0]\nsuffix(1)[0]\nword[-1] & word[0]")
    sizes = []
    for merge in (1e-9, 1e9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(extract, "MERGE", merge)
            extractor, _ = FeatureExtractor.learn(corpus, templates)
            sizes.append(len(extractor.groups))
    assert sizes[0] == 1
    assert sizes[1] > 3


# ── by hand ─────────────────────────────────────────────────────────────────────────────────────


def test_unseen_words_keep_what_is_known_of_them():
    train = Corpus.from_sequences([["walking", "Fast"], ["talking"]])
    templates = "word[0]\nsuffix(3)[0]\nshort-shape[0]\nword[-1]\nword[0] & suffix(3)[0]"
    extractor, _ = FeatureExtractor.learn(train, templates)
    found = names_of(extractor, extractor.design(Corpus.from_sequences([["Singing", "walking"]])))
    assert found == [
        ["short-shape[0]=Xx", "suffix(3)[0]=ing", "word[-1]=_B-1"],
        ["short-shape[0]=x", "suffix(3)[0]=ing", "word[0] & suffix(3)[0]=walking|ing", "word[0]=walking"],
    ]


def test_parts_known_one_by_one_are_not_a_known_conjunction():
    train = Corpus.from_sequences([["a", "b"], ["c", "d"]])
    extractor, _ = FeatureExtractor.learn(train, ["word[0] & word[1]"])
    found = names_of(extractor, extractor.design(Corpus.from_sequences([["a", "d"], ["a", "b"]])))
    assert found == [
        [],
        ["word[0] & word[1]=d|_B+1"],
        ["word[0] & word[1]=a|b"],
        ["word[0] & word[1]=b|_B+1"],
    ]


def test_conjunctions_of_more_than_62_bits():
    rng = np.random.default_rng(7)
    sequences = [[f"word{i}" for i in rng.integers(5000, size=30)] for _ in range(100)]
    text = " & ".join(f"word[{k}]" for k in range(-3, 4))
    extractor, design = FeatureExtractor.learn(Corpus.from_sequences(sequences), [text, "word[0]"])
    (long,) = [i for i in extractor.indexes if len(i.radices) == 7]
    assert long.prefixes
    given_names = names_of(extractor, design)
    expected = []
    for s in sequences:
        for t, w in enumerate(s):
            window = [f"_B{i}" if i < 0 else f"_B+{i - 29}" if i >= 30 else s[i] for i in range(t - 3, t + 4)]
            expected.append(sorted([f"{text}={'|'.join(window)}", f"word[0]={w}"]))
    assert given_names == expected


def bags_of(tokens: list[dict[str, float]]) -> Bags:
    vocabulary, ids = Vocabulary.build(name for bag in tokens for name in bag)
    indptr = np.cumsum([0, *map(len, tokens)])
    values = np.array([v for bag in tokens for v in bag.values()], dtype=np.float32)
    return Bags(indptr, ids, values, vocabulary)


TOKENS = [{"a": 1.0, "b": 2.5}, {}, {"b": -1.0}, {"c": 0.5, "a": 3.0}, {"d": 1.0}]


def test_bags_stand_beside_templates():
    columns = {"word": list("vwxyz")}
    train = Corpus.from_columns(columns, [2, 0, 3], bags=bags_of(TOKENS))
    extractor, design = FeatureExtractor.learn(train, ["word[0]", "word[-1]"])
    assert extractor.names()[-4:] == ["a", "b", "c", "d"]
    for t, bag in enumerate(TOKENS):
        found = {extractor.names([a])[0]: v for a, v in design.attributes(t)}
        before = "_B-1" if t in (0, 2) else "vwxyz"[t - 1]
        assert found == {f"word[0]={'vwxyz'[t]}": 1.0, f"word[-1]={before}": 1.0, **bag}
    assert same_design(design, extractor.design(train))


def test_bags_alone_and_bags_with_other_vocabularies():
    train = Corpus.from_columns({}, [5], bags=bags_of(TOKENS))
    extractor, _ = FeatureExtractor.learn(train, [], min_count=2)
    assert extractor.names() == ["a", "b"]
    other = [{"z": 9.0, "b": 4.0}, {"c": 1.0}, {"a": 0.25, "y": 1.0}]
    design = extractor.design(Corpus.from_columns({}, [1, 2], bags=bags_of(other)))
    found = [{extractor.names([a])[0]: v for a, v in design.attributes(t)} for t in range(3)]
    assert found == [{"b": 4.0}, {}, {"a": 0.25}]
    without = extractor.design(Corpus.from_columns({}, [2]))
    assert [without.attributes(t) for t in range(2)] == [[], []]


def test_an_attribute_given_twice_counts_twice():
    bags = Bags(np.array([0, 2]), np.array([0, 0], np.int32), np.array([1, 2], np.float32), Vocabulary(["a"]))
    extractor, design = FeatureExtractor.learn(Corpus.from_columns({}, [1], bags=bags), [])
    assert design.attributes(0) == [(0, 1.0), (0, 2.0)]
    assert extractor.names() == ["a"]


@pytest.mark.parametrize("sequences", [[], [[]], [[], []]])
def test_corpora_without_tokens(sequences):
    corpus = Corpus.from_sequences(sequences)
    extractor, design = FeatureExtractor.learn(
        corpus, ["word[-1..1]", "suffix(2)[0] & bias[0]", "lexicon(x)[1]"], lexicons={"x": ["a b"]}
    )
    assert (design.n_tokens, design.n_attributes, extractor.names()) == (0, 0, [])
    later = extractor.design(Corpus.from_sequences([["a", "b"]]))
    assert [later.attributes(t) for t in range(2)] == [[], []]


def test_a_design_without_templates_has_tokens_and_no_attributes():
    extractor, design = FeatureExtractor.learn(Corpus.from_sequences([["a", "b"], ["c"]]), [])
    assert (design.n_tokens, extractor.n_attributes) == (3, 0)
    assert [design.attributes(t) for t in range(3)] == [[], [], []]


def test_a_view_learns_only_what_it_sees():
    """A corpus cut out of another shares its vocabulary; words outside must leave no attribute."""
    whole = Corpus.from_columns(
        {"word": list("abcdef"), "pos": list("UVUVWW")}, [2, 1, 0, 3], bags=bags_of([*TOKENS, {"e": 1.0}])
    )
    view = whole.select([3, 0])
    copy = Corpus.from_columns({"word": list("defab"), "pos": list("VWWUV")}, [3, 2])
    copy = Corpus(copy.columns, copy.offsets, bags=bags_of([TOKENS[3], TOKENS[4], {"e": 1.0}, *TOKENS[:2]]))
    templates = ["word[-1..1]", "lower[0] & pos[1]", "unknown[0]", "position(2)[0]"]
    (seen, design), (expected, plain) = (FeatureExtractor.learn(c, templates) for c in (view, copy))
    assert sorted(seen.names()) == sorted(expected.names())
    assert {s: set(v) for s, v in seen.vocabularies.items()} == {
        s: set(v) for s, v in expected.vocabularies.items()
    }
    for t in range(5):
        a, b = (
            {e.names([i])[0]: v for i, v in d.attributes(t)} for e, d in ((seen, design), (expected, plain))
        )
        assert a == b


def test_min_count_counts_tokens_and_not_words():
    corpus = Corpus.from_sequences([["ab", "cb", "ab"], ["db", "ab"]])
    extractor, _ = FeatureExtractor.learn(corpus, ["word[0]", "suffix(1)[0]", "word[-1]"], min_count=2)
    assert sorted(extractor.names()) == ["suffix(1)[0]=b", "word[-1]=_B-1", "word[0]=ab"]


def test_names_of_some_attributes_come_in_the_order_asked_for():
    extractor, _ = FeatureExtractor.learn(Corpus.from_sequences([["a", "b"]]), ["word[0]", "word[1]"])
    everything = extractor.names()
    assert extractor.names([3, 0, 0]) == [everything[3], everything[0], everything[0]]
    assert extractor.names([]) == []


def test_templates_may_be_text_lines_or_parsed():
    corpus = Corpus.from_sequences([["a", "b"]])
    text = "word[0]  # a comment\n\nword[-1..1]"
    parsed = parse_templates(text)
    for given_templates in (text, text.splitlines(), parsed, ["word[0]", *parsed[1:]]):
        extractor, _ = FeatureExtractor.learn(corpus, given_templates)
        assert extractor.templates == parsed
    with pytest.raises(TemplateError, match=r"^template 2, column 1: 'oops' is not a template"):
        FeatureExtractor.learn(corpus, ["word[0]", "oops"])


def test_the_same_corpus_gives_the_same_extractor():
    corpus = Corpus.from_sequences([["a", "b", "c"], ["b", "a"]])
    (a, one), (b, two) = (FeatureExtractor.learn(corpus, "word[-1..1]\nshape[0]") for _ in range(2))
    assert a.names() == b.names()
    assert same_design(one, two)


def test_looking_up_is_safe_for_tokens_that_look_like_marks():
    """A token `_B-1` is not the boundary, though it prints the same."""
    train = Corpus.from_sequences([["_B-1", "x"]])
    extractor, design = FeatureExtractor.learn(train, ["word[-1]"])
    assert extractor.n_attributes == 2
    assert design.attributes(0) != design.attributes(1)


def test_keeping_some_attributes_leaves_the_others_as_they_were():
    corpus = Corpus.from_sequences([["a", "b", "a"], ["c", "B"]])
    extractor, _ = FeatureExtractor.learn(corpus, ["word[-1..1]", "lower[0]", "word[0] & lower[1]"])
    wanted = np.arange(extractor.n_attributes) % 3 != 1
    kept = extractor.keep(wanted)
    names = extractor.names()
    assert kept.names() == [name for name, keep in zip(names, wanted, strict=True) if keep]
    before, after = extractor.design(corpus), kept.design(corpus)
    for t in range(corpus.n_tokens):
        expected = sorted(names[a] for a, _ in before.attributes(t) if wanted[a])
        assert sorted(kept.names(a for a, _ in after.attributes(t))) == expected
