"""`kernels/instances.py`, `neighbours.py` and `voting.py` against a scan over all instances."""

from __future__ import annotations

import numpy as np
import pytest
from calling import called
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_neighbours import JEFFREY, NUMBERS, OVERLAP, SHANNON, VALUES, Scan
from numba import config

from conseq.kernels import neighbours, voting
from conseq.kernels.instances import BITS, bit_of, build_tree
from conseq.models.memory import VOTING, measure
from conseq.models.memory.index import NOTHING, longest_matches, sorted_groups
from conseq.models.memory.measure import asking, measure_of

bit, value_difference = called(bit_of), called(neighbours.value_difference)

MANY = 12 if config.DISABLE_JIT else 60


@st.composite
def memories(draw):
    """Instances with few values, so that many are equal or equally far; queries with unseen values."""
    features = draw(st.integers(1, 5))
    n = draw(st.integers(1, MANY))
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 70]), min_size=features, max_size=features))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = np.stack([rng.integers(0, size, n) for size in sizes], axis=1)
    rows = np.stack([np.unique(column, return_inverse=True)[1] for column in rows.T], axis=1)
    kind = st.sampled_from([OVERLAP, VALUES, NUMBERS, SHANNON, JEFFREY])
    kinds = draw(st.lists(kind, min_size=features, max_size=features))
    weights = draw(st.lists(st.sampled_from([1.0, 0.5, 0.3, 0.1]), min_size=features, max_size=features))
    classes = rng.integers(0, draw(st.integers(1, 4)), n)
    queries = np.stack([rng.integers(-1, column.max() + 1, 4) for column in rows.T], axis=1)
    return rows.astype(np.int32), classes.astype(np.int32), kinds, weights, queries.astype(np.int32)


def numbers_of(ids):
    """Ids as numbers; those that were not seen are between others."""
    return np.where(ids < 0, 0.4, ids / 4.0)


class Built:
    """Both sides of a comparison."""

    def __init__(self, rows, classes, kinds, weights, few):
        numbers = numbers_of(rows)
        self.scan = Scan(rows.tolist(), classes.tolist(), kinds, weights, numbers.tolist())
        self.members, self.bounds = sorted_groups(rows)
        self.tree = build_tree(rows[self.members[self.bounds[:-1]]], few)
        self.measure = measure_of(rows, classes, np.array(kinds, dtype=np.int8), np.array(weights), numbers)
        row = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
        pairs, count = np.unique(row * 10 + classes[self.members], return_counts=True)
        self.votes = np.searchsorted(pairs // 10, np.arange(len(self.bounds)))
        self.cls, self.count = (pairs % 10).astype(np.int32), count.astype(np.float64)
        self.frequency = np.bincount(classes).astype(np.float64)

    def asked(self, queries):
        return asking(self.measure, queries, numbers_of(queries))

    def search(self, queries):
        space = neighbours.workspace(self.tree, self.measure)
        return neighbours.Search(self.tree, self.measure, self.asked(queries), space)

    def ballot(self, name, a=1.0, b=1.0):
        return voting.Ballot(self.votes, self.cls, self.count, self.frequency, VOTING[name], a, b)


@settings(deadline=None)
@given(memories(), st.sampled_from([1, 3, 8]))
def test_the_tree_holds_every_row_once_below_each_of_its_values(memory, few):
    rows = np.unique(memory[0], axis=0)
    tree = build_tree(rows, few)
    depth = np.zeros(len(tree.value), dtype=int)
    for node in range(len(tree.value)):
        low, high = tree.low[node], tree.high[node]
        children = range(tree.child[node], tree.child[node + 1])
        assert len(children) > 0 or high - low <= few
        for below in children:
            depth[below] = depth[node] + 1
            assert (rows[tree.low[below] : tree.high[below], depth[node]] == tree.value[below]).all()
        if len(children):
            assert [tree.low[c] for c in children] == [low, *(tree.high[c] for c in children[:-1])]
            assert tree.high[children[-1]] == high
            assert (np.diff(tree.value[children.start : children.stop]) > 0).all()
        bits = [int(np.bitwise_or.reduce([bit(v) for v in rows[low:high, f]])) for f in range(rows.shape[1])]
        assert tree.mask[node].tolist() == bits


@settings(deadline=None)
@given(memories(), st.sampled_from([1, 4]), st.integers(1, 4), st.booleans())
def test_nearest_rows_are_those_of_a_scan(memory, few, k, tables):
    rows, classes, kinds, weights, queries = memory
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "TABULATED", 128 if tables else 0)
        built = Built(rows, classes, kinds, weights, few)
    numbers = numbers_of(queries)
    counts, row, distance = voting.neighbours(built.search(queries), k)
    at = 0
    for i, query in enumerate(queries.tolist()):
        found: dict[float, list[int]] = {}
        for u, d in zip(row[at : at + counts[i]], distance[at : at + counts[i]], strict=True):
            found.setdefault(float(d), []).extend(
                built.members[built.bounds[u] : built.bounds[u + 1]].tolist()
            )
        at += counts[i]
        expected = built.scan.nearest(query, k, numbers[i].tolist())
        assert [(d, sorted(m)) for d, m in found.items()] == expected


@settings(deadline=None)
@given(
    memories(), st.integers(1, 3), st.sampled_from(list(VOTING)), st.sampled_from([(1.0, 1.0), (2.0, 0.5)])
)
def test_winners_and_votes_are_those_of_a_scan(memory, k, name, decay):
    rows, classes, kinds, weights, queries = memory
    built = Built(rows, classes, kinds, weights, 4)
    numbers = numbers_of(queries)
    winner, distance, tied, counts, cls, vote = voting.classify(
        built.ballot(name, *decay), NOTHING, built.search(queries), k
    )
    at = 0
    for i, query in enumerate(queries.tolist()):
        number = numbers[i].tolist()
        expected, votes, tie = built.scan.classify(query, k, name, *decay, number)
        mine = slice(at, at + counts[i])
        at += counts[i]
        assert (winner[i], tied[i]) == (expected, tie)
        assert distance[i] == built.scan.nearest(query, 1, number)[0][0]
        assert dict(zip(cls[mine].tolist(), vote[mine].tolist(), strict=True)) == pytest.approx(votes)


@settings(deadline=None)
@given(memories(), st.integers(1, 3), st.sampled_from(list(VOTING)), st.integers(1, 3))
def test_votes_counted_again_are_the_same(memory, k, name, more):
    rows, classes, kinds, weights, queries = memory
    built = Built(rows, classes, kinds, weights, 4)
    counts, row, distance = voting.neighbours(built.search(queries), k + more)
    known = voting.Known(np.append(0, np.cumsum(counts)), row, distance)
    again = voting.classify(built.ballot(name), known, None, k)
    once = voting.classify(built.ballot(name), NOTHING, built.search(queries), k)
    for a, b in zip(again[:4], once[:4], strict=True):
        assert a.tolist() == b.tolist()
    bounds = np.cumsum(once[3])[:-1]
    for cls_a, cls_b, votes_a, votes_b in zip(
        *(np.split(part, bounds) for i in (4, 5) for part in (again[i], once[i])), strict=True
    ):
        found, expected = (
            dict(zip(c.tolist(), v.tolist(), strict=True)) for c, v in ((cls_a, votes_a), (cls_b, votes_b))
        )
        assert found == pytest.approx(expected)


@settings(deadline=None)
@given(memories())
def test_all_rows_vote_that_match_longest(memory):
    rows, classes, kinds, weights, queries = memory
    built = Built(rows, classes, kinds, weights, 4)
    each = longest_matches(built.tree.rows, queries, np.arange(len(queries)))
    winner, distance, _, counts, cls, vote = voting.classify(built.ballot("majority"), each.known, None, 1)
    at = np.append(0, np.cumsum(counts))
    for place, query in zip(each.place.tolist(), queries.tolist(), strict=True):
        matched = [_matched(row, query) for row in rows.tolist()]
        longest = [classes[j] for j, length in enumerate(matched) if length == max(matched)]
        votes = np.bincount(longest, minlength=len(built.frequency))
        mine = slice(at[place], at[place + 1])
        assert distance[place] == rows.shape[1] - max(matched)
        assert dict(zip(cls[mine].tolist(), vote[mine].tolist(), strict=True)) == {
            c: votes[c] for c in np.flatnonzero(votes)
        }
        best = np.flatnonzero(votes == votes.max())
        assert winner[place] == min(best, key=lambda c: (-built.frequency[c], c))


def _matched(row, query):
    pairs = zip(row, query, strict=True)
    return next((f for f, (a, b) in enumerate(pairs) if a != b), len(row))


def test_value_difference_is_half_the_sum_of_differences():
    """Values 0 and 1 have shares ¼, ¾ and ½, ½ of classes; value 2 is of a class of its own."""
    bounds = np.array([0, 2, 4, 5])
    cls, share = np.array([0, 1, 0, 1, 2], dtype=np.int32), np.array([0.25, 0.75, 0.5, 0.5, 1.0])
    assert value_difference(VALUES, bounds, cls, share, 0, 1) == 0.25
    assert value_difference(VALUES, bounds, cls, share, 0, 2) == 1.0
    assert value_difference(VALUES, bounds, cls, share, 1, 1) == 0.0


@settings(deadline=None)
@given(memories())
def test_no_value_is_nearer_than_the_floor_of_its_bit(memory):
    rows, classes, kinds, weights, queries = memory
    built = Built(rows, classes, kinds, weights, 4)
    asked = built.asked(queries)
    for query, floor in zip(queries.tolist(), asked.floor.tolist(), strict=True):
        for f, (value, row) in enumerate(zip(query, floor, strict=True)):
            assert (row >= 0) == (kinds[f] not in (OVERLAP, NUMBERS) and value >= 0)
            for i, other in enumerate(rows[:, f].tolist() if row >= 0 else ()):
                cost = weights[f] * built.scan.difference(f, value, i, None)
                assert asked.floors[row, other % BITS] <= cost + 1e-12
