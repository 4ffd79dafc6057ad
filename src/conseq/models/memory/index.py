"""Instances kept in memory, as arrays: build once, classify many.

    ids[N,F], classes[N] ─→ Memory.build ─→ classify(ids[M,F]) ─→ Classified: winner[M], votes as CSR
                                        └─→ neighbours(ids[M,F]) ─→ Neighbours: instances and distances as CSR

Features are ordered by weight, the heaviest first, and instances sorted by them; equal ones are merged. The
same is done with the queries, so that each is looked for once and right after one that is like it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from conseq.archive import Archive
from conseq.corpus import gathered
from conseq.errors import ConseqError, DataError
from conseq.kernels import neighbours, voting
from conseq.kernels.instances import Tree, build_tree
from conseq.kernels.neighbours import Measure, Search
from conseq.kernels.voting import Ballot, Known
from conseq.models.memory.measure import DISTANCES, alike, asking, by_classes, measure_of, tabulated
from conseq.models.memory.weights import WEIGHTS, Table, binned
from conseq.options import NeighbourOptions
from conseq.threads import map_chunks
from conseq.vocabulary import UNSEEN

VOTING = {
    "majority": voting.MAJORITY,
    "inverse-distance": voting.INVERSE,
    "inverse-linear": voting.LINEAR,
    "exponential-decay": voting.DECAY,
}
"""By name: what the vote of a neighbour weighs."""

ALGORITHMS = ("ib1", "igtree")
"""Exact search for the nearest instances; those that match the longest in the order of weights."""

TINY, MOST = 1e-30, 2**53
"""The least share or scale, and the most instances, that a file may have."""

NOTHING = Known(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0))

CHUNKS = 4
"""Pieces of work per thread."""


def resolved(options: NeighbourOptions, n_features: int) -> NeighbourOptions:
    """The options for `n_features` features, with a distance for each; raises if a name is not known."""
    given = options.distance
    distance = (given,) * n_features if isinstance(given, str) else tuple(given)
    if len(distance) != n_features:
        raise ConseqError(f"{len(distance)} distances for {n_features} features; give one, or one for each")
    for name in distance:
        _check_known("distance", name, DISTANCES)
    for option, known in (("weights", WEIGHTS), ("voting", VOTING), ("algorithm", ALGORITHMS)):
        _check_known(option, getattr(options, option), known)
    return replace(
        options,
        distance=distance,
        k=int(options.k),
        a=float(options.a),
        b=float(options.b),
        threshold=int(options.threshold),
    )


def _check_known(option: str, name: object, known: Mapping[str, Any] | Sequence[str]) -> None:
    if name not in known:
        raise ConseqError(f"there is no {option} {name!r}; choose one of {', '.join(known)}")


@dataclass(frozen=True, eq=False)
class Classified:
    """The class of each query, and the votes: those for query i stand at indptr[i]:indptr[i+1]."""

    winner: NDArray[np.int32]  # [M]
    indptr: NDArray[np.int64]  # [M+1]
    cls: NDArray[np.int32]  # ascending for each query
    vote: NDArray[np.float64]
    distance: NDArray[np.float64]  # [M] of the nearest neighbour; for igtree the features that did not match
    tied: NDArray[np.bool_]  # [M] whether several classes had most votes

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """Each vote as a share of all votes for its query."""
        query = np.repeat(np.arange(len(self.winner)), np.diff(self.indptr))
        return self.vote / np.bincount(query, self.vote, len(self.winner))[query]


@dataclass(frozen=True, eq=False)
class Found:
    """The distinct rows nearest to each distinct query."""

    place: NDArray[np.int64]  # [M] which of the distinct queries each one is
    known: Known


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The training instances nearest to each query: those of query i stand at indptr[i]:indptr[i+1]."""

    indptr: NDArray[np.int64]  # [M+1]
    instance: NDArray[np.int64]
    distance: NDArray[np.float64]  # ascending for each query


@dataclass(frozen=True, eq=False)
class Memory:
    """Training instances that answer queries; those of row u are members[bounds[u]:bounds[u+1]]."""

    options: NeighbourOptions  # its distance one name per feature
    order: NDArray[np.int64]  # [F] the features from heavy to light
    groups: tuple[
        NDArray[np.int32] | None, ...
    ]  # [F] values that count as one, of the features in that order
    scale: NDArray[np.float64]  # [F] what numbers are divided by, in that order
    tree: Tree
    measure: Measure
    ballot: Ballot
    members: NDArray[np.int64]  # [N]
    bounds: NDArray[np.int64]  # [U+1]

    @classmethod
    def build(
        cls,
        ids: NDArray[np.int32],
        classes: NDArray[np.int32],
        options: NeighbourOptions,
        numbers: NDArray[np.float64] | None = None,
    ) -> Memory:
        """Keep instances: ids of values per feature from 0, ids of classes in order of first sight; the
        numbers themselves where a feature is numeric.

        >>> ids = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
        >>> memory = Memory.build(ids, np.array([0, 0, 1], dtype=np.int32), NeighbourOptions())
        >>> memory.classify(np.array([[1, 0]], dtype=np.int32)).winner.tolist()
        [1]
        """
        options = resolved(options, ids.shape[1])
        kinds = np.array([DISTANCES[name] for name in options.distance], dtype=np.int8)
        columns = list(ids.T)
        if numbers is not None:
            for f in np.flatnonzero(kinds == neighbours.NUMBERS).tolist():
                columns[f] = binned(numbers[:, f])
        n_classes = int(classes.max()) + 1
        tables = [Table.of(column, classes, int(column.max()) + 1, n_classes) for column in columns]
        weight = np.array([WEIGHTS[options.weights](table) for table in tables])
        order = np.argsort(-weight, kind="stable")
        merged = by_classes(kinds) & (options.algorithm == "ib1")
        groups = tuple(alike(tables[f], options.threshold) if merged[f] else None for f in order)
        scale = np.ones(len(order))
        if numbers is not None:
            scale = np.ptp(numbers, axis=0)[order]
            scale[scale == 0] = 1.0
            numbers = numbers[:, order] / scale
        rows = _grouped(ids[:, order], groups)
        members, bounds = sorted_groups(rows)
        return cls(
            options, order, groups, scale,
            build_tree(rows[members[bounds[:-1]]]),
            measure_of(rows, classes, kinds[order], weight[order], numbers, options.threshold),
            _ballot(classes[members], bounds, options),
            members, bounds,
        )  # fmt: skip

    @property
    def weights(self) -> NDArray[np.float64]:
        """Of the features in the order given."""
        weights = np.empty(len(self.order))
        weights[self.order] = self.measure.weight
        return weights

    def classify(
        self, ids: NDArray[np.int32], numbers: NDArray[np.float64] | None = None, *, threads: int = 1
    ) -> Classified:
        """Ids are those of training, −1 for values that were not seen there."""
        queries, given, place = self._queries(ids, numbers)
        if self.options.algorithm == "igtree":
            return self.recount(longest_matches(self.tree.rows, queries, place), 1, "majority")
        search, k = self._searches(queries, given, threads), min(self.options.k, len(self.tree.rows))

        def work(lo: int, hi: int) -> tuple[NDArray, ...]:
            return voting.classify(self.ballot, NOTHING, search(lo, hi), k)

        return self._counted(place, _joined(work, len(queries), threads))

    def recount(self, found: Found, k: int, way: str) -> Classified:
        """The same from what `search` found with k + 1 distances or more, for any such k and way to vote."""
        ballot = self.ballot._replace(kind=VOTING[way])
        return self._counted(found.place, voting.classify(ballot, found.known, None, k))

    @staticmethod
    def _counted(place: NDArray, found: tuple[NDArray, ...]) -> Classified:
        """What kernels give for distinct queries, for all."""
        winner, distance, tied, counts, cls, vote = found
        by_class = np.lexsort((cls, np.repeat(np.arange(len(counts)), counts)))
        cls, vote = cls[by_class], vote[by_class]
        indptr, take = gathered(np.concatenate([[0], np.cumsum(counts)]), place)
        return Classified(winner[place], indptr, cls[take], vote[take], distance[place], tied[place])

    def neighbours(
        self, ids: NDArray[np.int32], numbers: NDArray[np.float64] | None = None, *, threads: int = 1
    ) -> Neighbours:
        """All training instances at the k nearest distances of each query."""
        found = self.search(ids, numbers, threads=threads)
        indptr, take = gathered(found.known.bounds, found.place)
        row, distance = found.known.row[take], found.known.distance[take]
        total, members = gathered(self.bounds, row)
        return Neighbours(total[indptr], self.members[members], np.repeat(distance, np.diff(total)))

    def search(
        self,
        ids: NDArray[np.int32],
        numbers: NDArray[np.float64] | None = None,
        *,
        k: int | None = None,
        threads: int = 1,
    ) -> Found:
        """The rows at the k nearest distances of each query; None: as many as the options say."""
        queries, given, place = self._queries(ids, numbers)
        search, most = self._searches(queries, given, threads), min(k or self.options.k, len(self.tree.rows))
        counts, row, distance = _joined(
            lambda lo, hi: voting.neighbours(search(lo, hi), most), len(queries), threads
        )
        return Found(place, Known(np.append(0, np.cumsum(counts)), row, distance))

    def _searches(
        self, queries: NDArray[np.int32], numbers: NDArray[np.float64], threads: int
    ) -> Callable[[int, int], Search]:
        """What searches for the queries lo … hi−1."""
        asked = asking(self.measure, queries, numbers, threads)
        return lambda lo, hi: Search(
            self.tree, self.measure, asked.part(lo, hi), neighbours.workspace(self.tree, self.measure)
        )

    def _queries(
        self, ids: NDArray[np.int32], numbers: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
        """The distinct queries in order, their numbers, and which of them each query is."""
        if ids.ndim != 2 or ids.shape[1] != len(self.order):
            raise DataError(
                f"an instance has {ids.shape[-1]} features where those in memory have {len(self.order)}; "
                "give the same features"
            )
        rows = _grouped(self._seen(ids[:, self.order]), self.groups)
        if numbers is not None:
            return rows, np.ascontiguousarray(numbers[:, self.order] / self.scale), np.arange(len(rows))
        members, bounds = sorted_groups(rows)
        place = np.empty(len(rows), dtype=np.int64)
        place[members] = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        return rows[members[bounds[:-1]]], np.empty((len(bounds) - 1, 0)), place

    def _seen(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """Values with an id beyond those that a feature had in training were not seen there, [M,F]."""
        each = zip(self.groups, np.diff(self.measure.start), strict=True)
        sizes = [size if group is None else len(group) for group, size in each]
        return np.where(ids < np.array(sizes), ids, UNSEEN)

    def archive(self) -> Archive:
        """All there is to save."""
        measure, ballot = self.measure, self.ballot
        groups = {f"group{f}": group for f, group in enumerate(self.groups) if group is not None}
        arrays: dict[str, NDArray] = {
            "order": self.order,
            "scale": self.scale,
            "rows": self.tree.rows,
            "members": self.members,
            "bounds": self.bounds,
            "votes": ballot.bounds,
            "classes": ballot.cls,
            "counts": ballot.times,
            "frequency": ballot.frequency,
            "kinds": measure.kind,
            "weight": measure.weight,
            "starts": measure.start,
            "value_bounds": measure.bounds,
            "value_classes": measure.cls,
            "value_shares": measure.share,
            "numbers": measure.number,
        }
        return Archive(asdict(self.options), {}, groups | arrays)

    @classmethod
    def from_archive(cls, archive: Archive, n_features: int) -> Memory:
        """What `archive` gave, as a memory again."""
        options = _options(archive, n_features)
        order = archive.array("order", np.int64, [n_features], 0, n_features - 1, distinct=True)
        rows = archive.array("rows", np.int32, [None, n_features], 0)
        places = np.arange(len(rows) + 1)
        in_order = map(np.array_equal, sorted_groups(rows), (places[:-1], places))
        archive.check(len(rows) and all(in_order), "the array rows is empty or not in order")
        sizes = rows.max(axis=0).astype(np.int64) + 1
        ballot = _stored_ballot(archive, len(rows), options)
        measure = _stored_measure(archive, options, order, sizes, len(ballot.frequency))
        merged = by_classes(measure.kind) & (options.algorithm == "ib1")
        groups = tuple(
            archive.array(f"group{f}", np.int32, [None], UNSEEN, sizes[f] - 1) if merged[f] else None
            for f in range(n_features)
        )
        scale = archive.array("scale", np.float64, [n_features], TINY)
        n = int(ballot.frequency.sum())
        members = archive.array("members", np.int64, [n], 0, n - 1, distinct=True)
        bounds = archive.cuts("bounds", len(rows), n, filled=True)
        counted = np.add.reduceat(ballot.times, ballot.bounds[:-1])
        archive.check(
            np.array_equal(counted, np.diff(bounds)), "rows have more or fewer votes than instances"
        )
        return cls(options, order, groups, scale, build_tree(rows), measure, ballot, members, bounds)


def _options(archive: Archive, n_features: int) -> NeighbourOptions:
    hints = {**get_type_hints(NeighbourOptions), "distance": list[str]}
    given = {name: archive.field(name, hint) for name, hint in hints.items()}
    return resolved(NeighbourOptions(**given), n_features)


def _stored_ballot(archive: Archive, n_rows: int, options: NeighbourOptions) -> Ballot:
    """The votes: of each row one or more, of each class as many as it is frequent."""
    frequency = archive.array("frequency", np.float64, [None], 1, MOST)
    cls = archive.array("classes", np.int32, [None], 0, len(frequency) - 1)
    times = archive.array("counts", np.float64, [len(cls)], 1, MOST)
    bounds = archive.cuts("votes", n_rows, len(cls), filled=True)
    total = np.bincount(cls, times, minlength=len(frequency))
    archive.check(np.array_equal(total, frequency), "classes have more or fewer votes than instances")
    archive.check(_ascending_within(cls, bounds), "the classes of a row are not in order")
    return Ballot(bounds, cls, times, frequency, VOTING[options.voting], options.a, options.b)


def _stored_measure(
    archive: Archive, options: NeighbourOptions, order: NDArray, sizes: NDArray, n_classes: int
) -> Measure:
    """How far apart values are, `sizes`[F] of each feature."""
    kinds = np.array([DISTANCES[options.distance[f]] for f in order], dtype=np.int8)
    start = np.concatenate([[0], np.cumsum(sizes)])
    n_values = int(start[-1])
    cls = archive.array("value_classes", np.int32, [None], 0, n_classes - 1)
    bounds = archive.cuts("value_bounds", n_values, len(cls))
    archive.check(_ascending_within(cls, bounds), "the classes of a value are not in order")
    return tabulated(
        archive.array("kinds", np.int8, [len(sizes)], kinds, kinds),
        archive.array("weight", np.float64, [len(sizes)], 0),
        archive.array("starts", np.int64, [len(start)], start, start),
        bounds,
        cls,
        archive.array("value_shares", np.float64, [len(cls)], TINY, 1),
        archive.array("numbers", np.float64, [n_values if "numeric" in options.distance else 0]),
    )


def _ascending_within(values: NDArray, bounds: NDArray[np.int64]) -> bool:
    """Whether the values of each piece bounds[i]:bounds[i+1] ascend."""
    begins = np.zeros(len(values) + 1, dtype=np.bool_)
    begins[bounds] = True
    return bool(np.all((np.diff(values) > 0) | begins[1:-1])) if len(values) else True


def sorted_groups(rows: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order that sorts rows by their columns, the first one first, and the bounds of equal rows in it.

    >>> order, bounds = sorted_groups(np.array([[1, 0], [0, 5], [1, 0]], dtype=np.int32))
    >>> order.tolist(), bounds.tolist()
    ([1, 0, 2], [0, 1, 3])
    """
    if not len(rows):
        return np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    keys = _packed(rows)
    order = np.lexsort(keys[::-1])
    new = np.ones(len(rows), dtype=np.bool_)
    new[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    return order, np.append(np.flatnonzero(new), len(rows))


def longest_matches(rows: NDArray[np.int32], queries: NDArray[np.int32], place: NDArray[np.int64]) -> Found:
    """All rows that share the longest prefix with a query (IGTree, Daelemans et al. 1997); the distance is
    the number of features that were not matched.

    >>> rows, queries = np.array([[0, 0], [0, 1], [1, 0]]), np.array([[0, -1], [1, 0]])
    >>> [part.tolist() for part in longest_matches(rows, queries, np.arange(2)).known]
    [[0, 2, 3], [0, 1, 2], [1.0, 1.0, 0.0]]
    """
    low, matched = np.zeros(len(queries), dtype=np.int64), np.zeros(len(queries), dtype=np.int64)
    high, prefix = np.full(len(queries), len(rows)), np.zeros(len(rows), dtype=np.int64)
    for f, column in enumerate(rows.T):
        size, still = int(column.max()) + 2, np.flatnonzero(matched == f)
        values = prefix * size + column
        wanted = prefix[low[still]] * size + queries[still, f]
        first, last = (np.searchsorted(values, wanted, side) for side in ("left", "right"))
        longer = still[first < last]
        low[longer], high[longer] = first[first < last], last[first < last]
        matched[longer] += 1
        prefix = np.append(0, np.cumsum(np.diff(values) != 0))
    _, one, which = np.unique(low * (rows.shape[1] + 1) + matched, return_index=True, return_inverse=True)
    lengths = (high - low)[one]
    bounds, distance = np.append(0, np.cumsum(lengths)), np.float64(rows.shape[1] - matched[one])
    row = np.repeat(low[one] - bounds[:-1], lengths) + np.arange(bounds[-1])
    return Found(which[place], Known(bounds, row.astype(np.int32), np.repeat(distance, lengths)))


def _packed(rows: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """As few columns as possible that sort alike: neighbours share one while there is room."""
    keys: list[NDArray[np.int64]] = []
    room = 0
    for column in rows.T:
        size = int(column.max()) + 2
        if room >= size:
            keys[-1] = keys[-1] * size + (column + 1)
            room //= size
        else:
            keys.append(column.astype(np.int64) + 1)
            room = 2**62 // size
    return keys


def _grouped(ids: NDArray[np.int32], groups: tuple[NDArray[np.int32] | None, ...]) -> NDArray[np.int32]:
    """The groups of values in place of the values; −1 stays."""
    rows = np.array(ids, dtype=np.int32, order="C")
    for f, group in enumerate(groups):
        if group is not None:
            rows[:, f] = np.append(group, -1)[rows[:, f]]
    return rows


def _ballot(classes: NDArray[np.int32], bounds: NDArray[np.int64], options: NeighbourOptions) -> Ballot:
    """The votes of each row; the classes of its instances stand side by side."""
    n_rows, n_classes = len(bounds) - 1, int(classes.max()) + 1
    row = np.repeat(np.arange(n_rows), np.diff(bounds))
    table = Table.of(row, classes, n_rows, n_classes)
    votes = np.concatenate([[0], np.cumsum(np.bincount(table.value, minlength=n_rows))])
    kind = VOTING[options.voting]
    return Ballot(votes, table.cls, table.count, table.classes, kind, options.a, options.b)


def _joined(work: Callable[[int, int], tuple[NDArray, ...]], n: int, threads: int) -> tuple[NDArray, ...]:
    """The columns that work gives for 0:n, its pieces done by several threads."""
    pieces = max(min(CHUNKS * threads, n // 64), 1) if threads > 1 else 1
    parts = map_chunks(work, np.linspace(0, n, pieces + 1).astype(np.int64), threads)
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))
