"""From a corpus to its design matrix.

    templates ─→ groups of templates with a common key
    Corpus ─→ per group: distinct keys = rows ─→ per template: attribute of each row ─→ Design

`FeatureExtractor.learn` builds the vocabulary of attributes from training data, `learn_all` from data in
several corpora, one after the other; `design` then looks up only.
Work is done on whole id columns, and a template is evaluated once per distinct key of its group, at a
representative token; strings are touched once per distinct string.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.corpus import Bags, Column, Corpus, counted, ends
from conseq.features.codes import Part as CodedPart
from conseq.features.codes import TupleIndex
from conseq.features.design import Design, Rows, dense_rows, stack
from conseq.features.sources import Memory, Source
from conseq.features.templates import Part, Template, parse_templates
from conseq.vocabulary import Vocabulary

MERGE = 4
"""A group costs per token a quarter (1 / MERGE) of what an attribute costs per row."""

SAMPLE = 20_000
"""The most tokens that groups are planned on."""


@dataclass(frozen=True)
class Group:
    """Templates by number, and the parts of which all of them are functions."""

    key: tuple[Part, ...]
    templates: tuple[int, ...]

    @classmethod
    def of(cls, numbers: Sequence[int], templates: Sequence[Template]) -> Group:
        """The group of the templates with these numbers."""
        return cls(reduced([part for i in numbers for part in templates[i].parts]), tuple(numbers))


_Rows = tuple[NDArray[np.int32], NDArray[np.int32]]
"""The row of each token, and a representative token of each row."""


_Table = tuple[Vocabulary, NDArray[np.int32]]
"""The strings of a column, and the value of each raw key."""


class _View:
    """A corpus seen through sources and offsets; remembers what it has computed.

    Views of corpora that share their vocabularies may share their tables.
    """

    def __init__(self, corpus: Corpus, memory: Memory, reach: int, tables: dict[Source, _Table]) -> None:
        self.corpus, self.memory, self.reach = corpus, memory, reach
        self.tokens = np.arange(corpus.n_tokens)
        self._first, self._end = ends(corpus)
        self._raw: dict[Source, Column] = {}
        self._tables = tables
        self._groups: dict[Group, _Rows] = {}

    def raw(self, source: Source) -> Column:
        """The column a source is a function of."""
        if source not in self._raw:
            self._raw[source] = source.raw_column(self.corpus, self.memory)
        return self._raw[source]

    def key(self, part: Part, tokens: NDArray) -> CodedPart:
        """The raw value a part is a function of: 0 nothing, 1 … an id, then `_B-1` …, then `_B+1` …"""
        column = self.raw(part.source)
        ids, before = column.ids, len(column.vocabulary) + 1
        radix = before + 2 * self.reach
        if part.offset == 0:
            return ids[tokens] + 1, radix
        where = tokens + part.offset
        if part.offset < 0:
            beyond, code = self._first[tokens] - where - 1, before
        else:
            beyond, code = where - self._end[tokens], before + self.reach
        inside = np.clip(where, 0, max(0, len(ids) - 1))
        return np.where(beyond >= 0, code + beyond, ids[inside] + 1).astype(np.int32), radix

    def value(self, part: Part, vocabulary: Vocabulary, tokens: NDArray) -> CodedPart:
        """The value of a part: an id of the source's vocabulary, then the boundary marks; −1 absent."""
        keys, _ = self.key(part, tokens)
        return self._table(part.source, vocabulary)[keys], len(vocabulary) + 2 * self.reach

    def _table(self, source: Source, vocabulary: Vocabulary) -> NDArray[np.int32]:
        """Raw key → value."""
        raw = self.raw(source).vocabulary
        known, table = self._tables.get(source, (None, None))
        if table is None or known is not raw:
            marks = np.arange(len(vocabulary), len(vocabulary) + 2 * self.reach)
            coded = vocabulary.encode(source.derive(raw, self.memory))  # type: ignore[arg-type]  # None is in none
            table = np.concatenate([[-1], coded, marks]).astype(np.int32)
            self._tables[source] = raw, table
        return table

    def values(self, source: Source) -> list[str]:
        """The values a source takes in the corpus, not all of them distinct."""
        used, _ = counted(self.raw(source))
        return [v for v in source.derive(used, self.memory) if v is not None]

    def rows(self, key: Sequence[Part], vocabularies: Mapping[Source, Vocabulary], tokens: NDArray) -> _Rows:
        """Number the distinct keys."""
        parts = []
        for part in key:
            if part.source.raw:
                parts.append(self.key(part, tokens))
            else:
                values, radix = self.value(part, vocabularies[part.source], tokens)
                parts.append((values + 1, radix + 1))
        _, row_of, first = TupleIndex.learn(parts)
        return row_of, first

    def group(self, group: Group, vocabularies: Mapping[Source, Vocabulary]) -> _Rows:
        """The rows of a group."""
        if group not in self._groups:
            self._groups[group] = self.rows(group.key, vocabularies, self.tokens)
        return self._groups[group]


@dataclass(frozen=True, eq=False)
class _Draft:
    """A group in the making: its rows on a sample of the tokens, and how many all tokens would give."""

    templates: list[int]
    row_of: NDArray[np.int32]
    first: NDArray[np.int32]
    n_tokens: int

    @cached_property
    def expected(self) -> float:
        """Distinct keys grow like Tᵝ (Heaps' law); β is read off the two halves of the sample."""
        rows, n_sample = len(self.first), len(self.row_of)
        half = int((self.first < n_sample // 2).sum())
        growth = np.log2(rows / half) if half else 0.0
        return float(rows * (self.n_tokens / max(1, n_sample)) ** growth)

    @property
    def work(self) -> float:
        """Attributes of all rows."""
        return self.expected * len(self.templates)

    def joined(self, other: _Draft) -> _Draft:
        """This group and another one as one."""
        sizes = [(d.row_of, max(1, len(d.first))) for d in (self, other)]
        _, row_of, first = TupleIndex.learn(sizes)
        return _Draft(self.templates + other.templates, row_of, first, self.n_tokens)


def _plan(
    templates: Sequence[Template], view: _View, vocabularies: Mapping[Source, Vocabulary], total: int
) -> tuple[Group, ...]:
    """Which templates share a group, judged by the first tokens of a view; `total` counts all tokens.

    A group costs work per token, each template in it work per row. So a template, the finest first, joins the
    group to which it adds least work, unless a group of its own costs less.
    """
    sample = view.tokens[:SAMPLE]
    single = [
        _Draft([i], *view.rows(template.parts, vocabularies, sample), total)
        for i, template in enumerate(templates)
    ]
    groups: list[_Draft] = []
    for draft in sorted(single, key=lambda d: -d.expected):
        apart = total / MERGE + draft.work
        homes = [g for g in groups if max(g.expected, draft.expected) <= apart]
        unions = [(group.joined(draft), group) for group in homes]
        union, home = min(unions, key=lambda u: u[0].work - u[1].work, default=(draft, None))
        if home is None or union.work - home.work > apart:
            groups.append(draft)
        else:
            groups[groups.index(home)] = union
    return tuple(Group.of(sorted(draft.templates), templates) for draft in groups)


def reduced(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Without the parts that are functions of others: of the whole value at the same place, or constant."""
    whole = {(p.source.column, p.offset) for p in parts if p.source.raw}
    kept = dict.fromkeys(
        p for p in parts if p.source.raw or p.source.computed or (p.source.column, p.offset) not in whole
    )
    return tuple(kept)


@dataclass(frozen=True, eq=False)
class FeatureExtractor:
    """Templates, the attributes they gave on training data, and how to find them again."""

    templates: tuple[Template, ...]
    groups: tuple[Group, ...]
    vocabularies: Mapping[Source, Vocabulary]
    indexes: tuple[TupleIndex, ...]  # one per template
    memory: Memory = field(default_factory=Memory)
    bag: Vocabulary = field(default_factory=lambda: Vocabulary(()))

    @classmethod
    def learn(
        cls,
        corpus: Corpus,
        templates: str | Iterable[str | Template],
        *,
        min_count: int = 1,
        lexicons: Mapping[str, Iterable[str]] | None = None,
    ) -> tuple[FeatureExtractor, Design]:
        """The attributes that occur at least `min_count` times, and the design of the corpus itself."""
        wanted = parse_templates(templates)
        view = _View(corpus, Memory.of([corpus], lexicons or {}), _reach(wanted), {})
        extractor = cls._learned([view], wanted, corpus.n_tokens, min_count)
        return extractor, extractor._design(view)

    @classmethod
    def learn_all(
        cls,
        corpora: Iterable[Corpus],
        templates: str | Iterable[str | Template],
        *,
        min_count: int = 1,
        lexicons: Mapping[str, Iterable[str]] | None = None,
    ) -> FeatureExtractor:
        """The attributes of all the corpora, which are gone through several times and one at a time."""
        wanted = parse_templates(templates)
        views = _views(corpora, Memory.of(corpora, lexicons or {}), _reach(wanted))
        return cls._learned(views, wanted, sum(corpus.n_tokens for corpus in corpora), min_count)

    @classmethod
    def _learned(
        cls, views: Iterable[_View], templates: tuple[Template, ...], n_tokens: int, min_count: int
    ) -> FeatureExtractor:
        sources = dict.fromkeys(part.source for t in templates for part in t.parts)
        vocabularies = _vocabularies(views, sources)
        groups: tuple[Group, ...] = ()
        found = [_Tuples() for _ in templates]
        bags: Counter[str] = Counter()
        for view in views:
            groups = groups or _plan(templates, view, vocabularies, n_tokens)
            for group in groups:
                row_of, first = view.group(group, vocabularies)
                tokens = np.bincount(row_of, minlength=len(first))
                for i in group.templates:
                    parts = [view.value(p, vocabularies[p.source], first) for p in templates[i].parts]
                    found[i].add(parts, tokens)
            if view.corpus.bags is not None:
                bags.update(dict(zip(*counted(view.corpus.bags), strict=True)))
            memory = view.memory
        bag = Vocabulary(name for name, n in bags.items() if n >= min_count)
        indexes = tuple(each.index(min_count) for each in found)
        return cls(templates, groups, vocabularies, indexes, memory, bag)

    def design(self, corpus: Corpus) -> Design:
        """The design of another corpus over the attributes known; unknown ones are left out."""
        return self._design(_View(corpus, self.memory, self.reach, {}))

    def designs(self, corpora: Iterable[Corpus]) -> Iterable[Design]:
        """The designs of corpora that share their vocabularies, one at a time; can be gone through again."""
        return _Each(self._design, _views(corpora, self.memory, self.reach))

    def _design(self, view: _View) -> Design:
        groups = [self._group(view, g, *view.group(g, self.vocabularies)) for g in self.groups]
        if len(self.bag) and view.corpus.bags is not None:
            groups.append(self._bag_rows(view.corpus.bags))
        return stack(groups, view.corpus.n_tokens, self.n_attributes)

    def _group(self, view: _View, group: Group, row_of: NDArray[np.int32], first: NDArray[np.int32]) -> Rows:
        table = np.empty((len(first), len(group.templates)), dtype=np.int32)
        for k, i in enumerate(group.templates):
            parts = [view.value(p, self.vocabularies[p.source], first) for p in self.templates[i].parts]
            ids = self.indexes[i].find(parts)
            table[:, k] = np.where(ids >= 0, ids + self.bases[i], -1)
        return dense_rows(row_of, table)

    def _bag_rows(self, bags: Bags) -> Rows:
        """Each token is a row of its own, with the known attributes of its bag."""
        ids = self.bag.encode(bags.vocabulary)[bags.ids]
        known = ids >= 0
        indptr = np.concatenate([[0], np.cumsum(known)])[bags.indptr].astype(np.int64)
        attr = (ids[known] + self.bases[-1]).astype(np.int32)
        return Rows(np.arange(len(indptr) - 1, dtype=np.int32), indptr, attr, bags.values[known])

    @cached_property
    def reach(self) -> int:
        """How far the templates look."""
        return _reach(self.templates)

    @cached_property
    def bases(self) -> NDArray[np.int64]:
        """Where the attributes of each template begin; the last entry is where those of the bags do."""
        return np.concatenate([[0], np.cumsum([len(i) for i in self.indexes])]).astype(np.int64)

    @property
    def n_attributes(self) -> int:
        return int(self.bases[-1]) + len(self.bag)

    def keep(self, wanted: NDArray[np.bool_]) -> FeatureExtractor:
        """The extractor of some of the attributes, wanted[A], numbered anew in the same order."""
        parts = np.split(wanted, self.bases[1:])
        indexes = tuple(index.keep(part) for index, part in zip(self.indexes, parts, strict=False))
        bag = Vocabulary(name for name, kept in zip(self.bag, parts[-1].tolist(), strict=True) if kept)
        return replace(self, indexes=indexes, bag=bag)

    def names(self, attributes: Iterable[int] | None = None) -> list[str]:
        """Attributes as text, such as `pos[-1] & pos[0]=DT|NN`; a bag's as they were given."""
        chosen = (
            np.arange(self.n_attributes)
            if attributes is None
            else np.asarray(list(attributes), dtype=np.int64)
        )
        names = [""] * len(chosen)
        home = np.searchsorted(self.bases, chosen, side="right") - 1
        for i, template in enumerate(self.templates):
            places = np.flatnonzero(home == i)
            tuples = self.indexes[i].values(chosen[places] - self.bases[i])
            for place, values in zip(places.tolist(), tuples, strict=True):
                names[place] = f"{template}=" + "|".join(map(self._spell, template.parts, values))
        for place in np.flatnonzero(home == len(self.templates)).tolist():
            names[place] = self.bag[int(chosen[place] - self.bases[-1])]
        return names

    def _spell(self, part: Part, value: int) -> str:
        vocabulary = self.vocabularies[part.source]
        beyond = value - len(vocabulary)
        if beyond < 0:
            return vocabulary[value]
        return f"_B-{beyond + 1}" if beyond < self.reach else f"_B+{beyond - self.reach + 1}"


def _reach(templates: Iterable[Template]) -> int:
    return max((t.reach for t in templates), default=0)


@dataclass(frozen=True)
class _Each:
    """What a function makes of one thing after the other, as often as one likes."""

    make: Callable[[Any], Any]
    things: Iterable[Any]

    def __iter__(self) -> Iterator[Any]:
        return map(self.make, self.things)


def _views(corpora: Iterable[Corpus], memory: Memory, reach: int) -> Iterable[_View]:
    """A view of one corpus after the other."""
    tables: dict[Source, _Table] = {}
    return _Each(lambda corpus: _View(corpus, memory, reach, tables), corpora)


def _vocabularies(views: Iterable[_View], sources: Iterable[Source]) -> dict[Source, Vocabulary]:
    """The values that each source takes, in order of first sight."""
    found: dict[Source, dict[str, None]] = {source: {} for source in sources}
    for view in views:
        for source, values in found.items():
            values.update(dict.fromkeys(view.values(source)))
    return {source: Vocabulary(values) for source, values in found.items()}


class _Tuples:
    """The tuples of a template's values and their counts, added corpus by corpus."""

    def __init__(self) -> None:
        self.parts: list[Sequence[CodedPart]] = []
        self.counts: list[NDArray] = []

    def add(self, parts: Sequence[CodedPart], counts: NDArray) -> None:
        """More of them; all are summed up once the later ones are as many as the first."""
        self.parts.append(parts)
        self.counts.append(counts)
        if sum(map(len, self.counts[1:])) > len(self.counts[0]):
            joined = self._joined()
            index, ids, first = TupleIndex.learn(joined)
            self.counts = [self._totals(ids, len(index))]
            self.parts = [[(values[first], radix) for values, radix in joined]]

    def index(self, min_count: int) -> TupleIndex:
        """Those that occur often enough, numbered in order of first sight."""
        index, ids, _ = TupleIndex.learn(self._joined())
        return index if min_count <= 1 else index.keep(self._totals(ids, len(index)) >= min_count)

    def _totals(self, ids: NDArray[np.int32], size: int) -> NDArray:
        return np.bincount(ids + 1, weights=np.concatenate(self.counts), minlength=size + 1)[1:]

    def _joined(self) -> Sequence[CodedPart]:
        if len(self.parts) == 1:
            return self.parts[0]
        columns = zip(*self.parts, strict=True)
        return [(np.concatenate([values for values, _ in column]), column[0][1]) for column in columns]
