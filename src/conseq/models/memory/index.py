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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import gathered
from conseq.errors import ConseqError, DataError
from conseq.kernels import neighbours, voting
from conseq.kernels.instances import Tree, build_tree
from conseq.kernels.neighbours import Measure
from conseq.kernels.voting import Ballot
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
    _check_known("weights", options.weights, WEIGHTS)
    _check_known("voting", options.voting, VOTING)
    _check_known("algorithm", options.algorithm, ALGORITHMS)
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
    """The distinct rows nearest to each distinct query: those of the i-th stand at bounds[i]:bounds[i+1]."""

    place: NDArray[np.int64]  # [M] which of the distinct queries each one is
    bounds: NDArray[np.int64]
    row: NDArray[np.int32]
    distance: NDArray[np.float64]  # ascending for each query


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
        searched = self.options.algorithm != "igtree"
        asked = asking(self.measure, queries, given, threads) if searched else None

        def work(lo: int, hi: int) -> tuple[NDArray, ...]:
            if asked is None:
                return voting.descend(self.tree, self.ballot, queries[lo:hi])
            space = neighbours.workspace(self.tree, self.measure)
            own = asked.part(lo, hi), space, self.options.k
            return voting.classify(self.tree, self.measure, self.ballot, *own)

        return self._counted(place, *_joined(work, len(queries), threads))

    def recount(self, found: Found, k: int, way: str) -> Classified:
        """The same from what `search` found with k + 1 distances or more, for any such k and way to vote."""
        ballot = self.ballot._replace(kind=VOTING[way])
        return self._counted(found.place, *voting.recount(ballot, found.bounds, found.row, found.distance, k))

    @staticmethod
    def _counted(
        place: NDArray,
        winner: NDArray,
        distance: NDArray,
        tied: NDArray,
        counts: NDArray,
        cls: NDArray,
        vote: NDArray,
    ) -> Classified:
        """What kernels give for distinct queries, for all."""
        by_class = np.lexsort((cls, np.repeat(np.arange(len(counts)), counts)))
        cls, vote = cls[by_class], vote[by_class]
        indptr, take = gathered(np.concatenate([[0], np.cumsum(counts)]), place)
        return Classified(winner[place], indptr, cls[take], vote[take], distance[place], tied[place])

    def neighbours(
        self, ids: NDArray[np.int32], numbers: NDArray[np.float64] | None = None, *, threads: int = 1
    ) -> Neighbours:
        """All training instances at the k nearest distances of each query."""
        found = self.search(ids, numbers, threads=threads)
        indptr, take = gathered(found.bounds, found.place)
        row, distance = found.row[take], found.distance[take]
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
        asked = asking(self.measure, queries, given, threads)

        def work(lo: int, hi: int) -> tuple[NDArray, ...]:
            space = neighbours.workspace(self.tree, self.measure)
            own = asked.part(lo, hi), space, k or self.options.k
            return voting.neighbours(self.tree, self.measure, *own)

        counts, row, distance = _joined(work, len(queries), threads)
        return Found(place, np.concatenate([[0], np.cumsum(counts)]), row, distance)

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

    def document(self) -> dict[str, Any]:
        """The options, for JSON."""
        return asdict(self.options)

    def arrays(self) -> dict[str, NDArray]:
        """All else there is to save."""
        measure, ballot = self.measure, self.ballot
        groups = {f"group{f}": group for f, group in enumerate(self.groups) if group is not None}
        return groups | {
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

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray], document: Mapping[str, Any]) -> Memory:
        """What `arrays` and `document` gave, as a memory again."""
        options = NeighbourOptions(**{**document, "distance": tuple(document["distance"])})
        a = arrays
        groups = tuple(a.get(f"group{f}") for f in range(len(a["order"])))
        names = ("kinds", "weight", "starts", "value_bounds", "value_classes", "value_shares", "numbers")
        ballot = (a["votes"], a["classes"], a["counts"], a["frequency"])
        return cls(
            options, a["order"], groups, a["scale"],
            build_tree(a["rows"]),
            tabulated(*(a[name] for name in names)),
            Ballot(*ballot, VOTING[options.voting], options.a, options.b),
            a["members"], a["bounds"],
        )  # fmt: skip


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
