"""What a view counts, against loops over segments and labels as strings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from labelled_corpora import SCHEMAS, WORDS, labellings, random_views

from benchmarks.naive_rules import ends_in, is_in
from conseq.corpus import Corpus
from conseq.mining.view import Names, View
from conseq.schema import Schema

CASES = [(name, seed) for name in SCHEMAS for seed in range(8)]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def view(request) -> View:
    name, seed = request.param
    return random_views(seed, SCHEMAS[name])[0]


@pytest.fixture
def mask(view) -> np.ndarray:
    return np.random.default_rng(len(view.labels)).random(view.corpus.n_tokens) < 0.4


def per_pair(view: View, count) -> list[list[int]]:
    """count(A, B, labelling) added up over the sequences, [K,K]."""
    names, found = view.names.all, labellings(view)
    return [[sum(count(a, b, x) for x in found) for b in names] for a in names]


def per_name(view: View, count) -> list[int]:
    return [sum(count(a, x) for x in labellings(view)) for a in view.names.all]


def marked_labellings(view: View, mask: np.ndarray) -> list:
    """Each labelling with the places of its marked tokens."""
    parts = view.corpus.split(mask)
    return [(x, set(np.flatnonzero(part).tolist())) for x, part in zip(labellings(view), parts, strict=True)]


# ── names ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=list(SCHEMAS))
def test_a_name_means_its_type_alone_where_some_ending_does(schema):
    names = Names.of(schema)
    assert len(set(names.all)) == len(names.all)
    assert len(names.single) == len(schema.types())
    for path, name in zip(schema.types(), names.single, strict=True):
        parts = path.split("/")
        endings = ["/".join(parts[k:]) for k in range(len(parts) - 1, -1, -1)]  # shortest first
        alone = [e for e in endings if [t for t in schema.types() if ends_in(t, e)] == [path]]
        assert name == (alone[0] if alone else path)


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=list(SCHEMAS))
def test_names_and_their_types_and_labels_are_those_of_the_language(schema):
    names = Names.of(schema)
    assert names.types.tolist() == [[int(ends_in(t, name)) for t in schema.types()] for name in names.all]
    assert names.labels.tolist() == [
        [int(is_in(y, name, schema)) for y in schema.labels] for name in names.all
    ]


def test_names_of_several_types():
    assert Names.of(SCHEMAS["deep"]).shared == ("x",)
    assert Names.of(SCHEMAS["plain-shared"]).shared == ("a",)
    assert Names.of(SCHEMAS["bio"]).shared == ()
    ambiguous = Names.of(SCHEMAS["deep-ambiguous"])
    assert (ambiguous.single, ambiguous.shared) == (("a", "a/b", "b"), ())


# ── counts and places ───────────────────────────────────────────────────────────────────────────


def test_counts(view):
    expected = [[len(x.segments(name)) for name in view.names.all] for x in labellings(view)]
    assert view.counts.tolist() == expected
    assert view.appears.tolist() == [[n > 0 for n in row] for row in expected]


def test_tokens_in_a_name(view):
    assert view.tokens_in.tolist() == per_name(view, lambda a, x: len(x.inside(a)))


def test_first_and_last_places(view):
    first, last = view.places
    for n, x in enumerate(labellings(view)):
        shift = int(view.corpus.offsets[n])
        inside = [x.inside(name) for name in view.names.all]
        assert first[n].tolist() == [shift + min(tokens) if tokens else -1 for tokens in inside]
        assert last[n].tolist() == [shift + max(tokens) if tokens else -1 for tokens in inside]


def test_orders(view):
    earlier, later = view.orders
    before = per_pair(view, lambda a, b, x: sum(any(u < t for u in x.inside(b)) for t in x.inside(a)))
    after = per_pair(view, lambda a, b, x: sum(any(u >= t for u in x.inside(b)) for t in x.inside(a)))
    assert earlier.tolist() == before
    assert later.tolist() == after


def test_followers(view):
    def inner(a, x):
        return [span.end for span in x.segments(a) if span.end < len(x)]

    assert view.followed.tolist() == per_name(view, lambda a, x: len(inner(a, x)))
    expected = per_pair(view, lambda a, b, x: sum(x.is_in(t, b) for t in inner(a, x)))
    assert view.followers.tolist() == expected


def test_first_and_last_names(view):
    begins, both = view.ends
    assert begins.tolist() == per_name(view, lambda a, x: len(x) > 0 and x.is_in(0, a))
    expected = per_pair(view, lambda a, b, x: len(x) > 0 and x.is_in(0, a) and x.is_in(len(x) - 1, b))
    assert both.tolist() == expected


@pytest.mark.parametrize("bound", [0, 1, 3])
def test_combinations_of_counts(view, bound):
    sums, differences = view.combinations(bound)
    rows = [[len(x.segments(name)) for name in view.names.all] for x in labellings(view)]
    size = len(view.names.all)
    for i, j in product(range(size), repeat=2):
        if i < j:
            for s in range(bound + 1):
                assert sums[i, j, s] == sum(row[i] + row[j] == s for row in rows)
            for d in range(-bound, bound + 1):
                assert differences[i, j, d + bound + 1] == sum(row[i] - row[j] == d for row in rows)
            assert sums[i, j, -1] == sum(row[i] + row[j] > bound for row in rows)
            assert differences[i, j, 0] == sum(row[i] - row[j] < -bound for row in rows)
            assert differences[i, j, -1] == sum(row[i] - row[j] > bound for row in rows)
        else:
            assert not sums[i, j].any()
            assert not differences[i, j].any()


# ── marked tokens ───────────────────────────────────────────────────────────────────────────────


def test_around_marked_tokens(view, mask):
    left, both = view.around(mask)
    names = [*view.names.all, *(["O"] if "O" in view.schema.labels else [])]
    found = marked_labellings(view, mask)
    inner = [(x, t) for x, marks in found for t in sorted(marks) if 0 < t < len(x) - 1]
    assert len(view.inner(mask)) == len(inner)
    assert left.tolist() == [sum(x.is_in(t - 1, a) for x, t in inner) for a in names]
    expected = [
        [
            sum(x.is_in(t - 1, a) and x.is_in(t + 1, b) for x, t in inner if (a, b) != ("O", "O"))
            for b in names
        ]
        for a in names
    ]
    assert both.tolist() == expected


def test_inner_leaves_the_mask_as_it_was(view, mask):
    before = mask.copy()
    view.inner(mask)
    view.around(mask)
    assert (mask == before).all()


def test_segments_with_marked_tokens(view, mask):
    names, found = view.names.all, marked_labellings(view, mask)
    containing = [
        sum(bool(marks & set(range(s.start, s.end))) for x, marks in found for s in x.segments(a))
        for a in names
    ]
    beginning = [sum(s.start in marks for x, marks in found for s in x.segments(a)) for a in names]
    ending = [
        sum(s.end < len(x) and s.end - 1 in marks for x, marks in found for s in x.segments(a)) for a in names
    ]
    marked = [sum(t in marks for x, marks in found for t in x.inside(a)) for a in names]
    assert view.containing(mask).tolist() == containing
    assert view.beginning(mask).tolist() == beginning
    assert view.ending(mask).tolist() == ending
    assert view.marked(mask).tolist() == marked


# ── little or nothing to count ──────────────────────────────────────────────────────────────────

EMPTY = [
    (Schema(["O", "B-a"], "bio"), []),
    (Schema(["O", "B-a"], "bio"), [[], []]),
    (Schema(["O"], "plain"), [["x", ","], []]),
    (Schema(["O"], "bio"), []),
]


@pytest.mark.parametrize(("schema", "sequences"), EMPTY)
def test_nothing_to_count(schema, sequences):
    corpus = Corpus.from_sequences(sequences)
    view = View(Names.of(schema), corpus, np.zeros(corpus.n_tokens, dtype=np.int32))
    none = np.zeros(corpus.n_tokens, dtype=bool)
    size = len(view.names.all)
    assert view.counts.shape == (len(corpus), size)
    assert not view.counts.any()
    assert all(part.shape == (len(corpus), size) for part in view.places)
    assert all((part == -1).all() for part in view.places)
    single = (
        view.tokens_in,
        view.followed,
        view.containing(none),
        view.marked(none),
        view.beginning(none),
        view.ending(none),
    )
    assert not view.around(none)[1].any()
    pairs = (*view.orders, view.followers, view.ends[1])
    assert all(part.shape == (size,) and not part.any() for part in single)
    assert all(part.shape == (size, size) and not part.any() for part in pairs)


def test_the_draws_have_what_they_should():
    """Illegal labels, empty sequences, marks, and segments of all names occur."""
    views = [random_views(seed, SCHEMAS[name])[0] for name, seed in CASES]
    assert any((view.corpus.lengths == 0).any() for view in views)
    assert all(
        word in {w for view in views for s in view.corpus.token_sequences() for w in s} for word in WORDS
    )
    for name, schema in SCHEMAS.items():
        mine = [view for view in views if view.schema is schema]
        assert sum(view.counts.sum(axis=0) for view in mine).all(), name
        if name in ("bio", "deep"):
            steps = [
                (x.labels[t], x.labels[t + 1]) for v in mine for x in labellings(v) for t in range(len(x) - 1)
            ]
            assert not all(schema.legal[tuple(schema.encode(step))] for step in steps)
