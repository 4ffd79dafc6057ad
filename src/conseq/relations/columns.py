"""What stands in and around entities and pairs of them, as columns of hashes (−1: nothing there).

    Mentions ─→ Tokens (aspects of each token) ─→ entity_columns, entity_bags  [E]
                                               └→ pair_columns, pair_bags      [P]

Roth and Yih 2004, section 4: words and tags in a window of 4, forms of the phrase, lists of places, titles
and names; for pairs what stands between the two, and patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np

from conseq.dtypes import Bools, Ints
from conseq.features.sources import short_shape
from conseq.relations.hashed import Coded, characters_of, hashed, hashed_ranges
from conseq.relations.lists import LISTS, listed
from conseq.relations.mentions import Mentions

WINDOW = 4
BEFORE = [f"-{k}" for k in range(WINDOW, 0, -1)]
AFTER = [f"+{k}" for k in range(1, WINDOW + 1)]
GAPS = np.array([1, 2, 3, 4, 5, 7, 10, 15, 25])
"""Where the number of words between two entities counts as another one."""
PATTERNS = ("comma", "appositive", "in-in", "title", "native-of", "based-in", "begins", "same")
SUFFIXES = (2, 3, 4)

IN_WORD, IN_PAIR, IN_SUFFIX, IN_LOWER, IN_SHAPE, GRAM, CASED, AROUND = range(1000, 1008)
BETWEEN, BETWEEN_PAIR = 1100, 1102
"""Numbers of attributes of which a row may have several; those between are two each, by order."""

Columns = dict[str, Ints]


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of sentences, with what is known of each distinct word."""

    mentions: Mentions

    @property
    def names(self) -> tuple[str, ...]:
        return self.mentions.words.vocabulary.names

    def by_word(self, values: Ints) -> Ints:
        """Of each token what each distinct word has, [T]."""
        return values[self.mentions.words.ids]

    def are(self, test: Callable[[str], bool]) -> Bools:
        """Whether the word of each token passes a test, [T]."""
        answers = np.fromiter(map(test, self.names), dtype=np.bool_, count=len(self.names))
        return answers[self.mentions.words.ids]

    @cached_property
    def words(self) -> Ints:
        return self.by_word(hashed(self.names))

    @cached_property
    def lower(self) -> Ints:
        return self.by_word(hashed(map(str.lower, self.names)))

    @cached_property
    def tags(self) -> Ints:
        return hashed(self.mentions.tags.vocabulary.names)[self.mentions.tags.ids]

    @cached_property
    def shapes(self) -> Ints:
        return self.by_word(hashed(map(short_shape, self.names)))

    def suffix(self, n: int) -> Ints:
        """The last n characters, of longer words."""
        characters, bounds = characters_of(self.names)
        start, end = bounds[1:] - n, bounds[1:]
        return self.by_word(hashed_ranges(characters, np.where(start > bounds[:-1], start, end), end))


# ── entities ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Phrases:
    """The entities as texts."""

    words: list[list[str]]
    texts: list[str]
    lower: list[str]

    @classmethod
    def of(cls, mentions: Mentions) -> Phrases:
        ids, names = mentions.words.ids.tolist(), mentions.words.vocabulary.names
        bounds = zip(mentions.first.tolist(), (mentions.last + 1).tolist(), strict=True)
        words = [[names[i] for i in ids[a:b]] for a, b in bounds]
        texts = [" ".join(w) for w in words]
        return cls(words, texts, [text.lower() for text in texts])

    def marks(self, test: Callable[[str], bool]) -> Ints:
        """0 where the text passes a test, else −1."""
        return mark(np.fromiter(map(test, self.texts), dtype=np.bool_, count=len(self.texts)))


def mark(holds: Bools) -> Ints:
    """0 where it holds, else −1.

    >>> mark(np.array([True, False])).tolist()
    [0, -1]
    """
    return np.where(holds, 0, -1).astype(np.int64)


def entity_columns(tokens: Tokens, phrases: Phrases) -> Columns:
    """What there is once of each entity, [E] each."""
    m = tokens.mentions
    near = np.arange(1, WINDOW + 1)
    places = np.hstack([m.first[:, None] - near[::-1], m.last[:, None] + near])  # [E, 2 · WINDOW]
    inside = (places >= m.begin[:, None]) & (places < m.end[:, None])
    places = np.where(inside, places, 0)
    columns: Columns = {}
    for letter, of in (("w", tokens.words), ("t", tokens.tags)):
        around = np.where(inside, of[places], -1) if len(of) else np.full(places.shape, -1)
        columns |= {f"{letter}{place}": around[:, k] for k, place in enumerate([*BEFORE, *AFTER])}
        columns |= {f"{letter}.first": of[m.first], f"{letter}.last": of[m.last]}
    columns |= {f"suffix{n}": tokens.suffix(n)[m.last] for n in SUFFIXES}
    lengths = m.last - m.first
    columns |= {"bias": np.zeros_like(lengths), "length": np.minimum(lengths, 6)}
    columns["phrase"] = hashed(phrases.lower)
    columns["icap"] = phrases.marks(lambda text: text[:1].isupper())
    columns["acap"] = phrases.marks(str.isupper)
    columns["incap"] = phrases.marks(lambda text: text.lower() != text)
    for name in LISTS:
        whole = np.fromiter((listed(text, name) for text in phrases.texts), dtype=np.bool_)
        part = np.fromiter((_has(words, name) for words in phrases.words), dtype=np.bool_)
        columns |= {f"is-{name}": mark(whole), f"has-{name}": mark(part)}
        of = mark(tokens.are(partial(listed, name=name)))
        around = np.where(inside, of[places], -1) if len(of) else np.full(places.shape, -1)
        columns |= {f"{name}{place}": around[:, k] for k, place in enumerate([*BEFORE, *AFTER])}
    columns["listed"] = sum(
        (columns[f"{how}-{name}"] + 1) << (2 * i + j)
        for i, name in enumerate(LISTS)
        for j, how in enumerate(("is", "has"))
    ) + ((columns["acap"] + 1) << 6)  # fmt: skip
    return columns


def _has(words: list[str], name: str) -> bool:
    """Whether a list has one of the words, or two neighbours."""
    return any(listed(w, name) for w in words) or any(listed(" ".join(p), name) for p in pairwise(words))


def entity_bags(tokens: Tokens, phrases: Phrases) -> list[Coded]:
    """The words of each phrase, neighbouring ones, their suffixes."""
    m = tokens.mentions
    indptr, inside = ranges(m.first, m.last + 1)
    pairs, first = ranges(m.first, m.last)
    both = np.where(first >= 0, joined(tokens.words[first], tokens.words[first + 1]), -1)
    return [
        Coded.bag(indptr, tokens.words[inside], IN_WORD),
        Coded.bag(pairs, both, IN_PAIR),
        Coded.bag(indptr, tokens.suffix(3)[inside], IN_SUFFIX),
    ]


def more_entity_bags(tokens: Tokens, phrases: Phrases) -> list[Coded]:
    """The forms of words, pieces of the phrase, words of the sentence."""
    m = tokens.mentions
    indptr, inside = ranges(m.first, m.last + 1)
    sentence, around = ranges(m.begin, m.end)
    return [
        Coded.bag(indptr, tokens.lower[inside], IN_LOWER),
        Coded.bag(indptr, tokens.shapes[inside], IN_SHAPE),
        *(grams(phrases.lower, n, GRAM) for n in (3, 4, 5)),
        grams(phrases.texts, 4, CASED),
        Coded.bag(sentence, tokens.lower[around], AROUND, 0.3),
    ]


def grams(texts: Sequence[str], n: int, number: int) -> Coded:
    """All pieces of n characters of each text between marks of its ends."""
    characters, bounds = characters_of(f"^{text}$" for text in texts)
    last = np.maximum(bounds[:-1], bounds[1:] - n + 1)
    indptr, start = ranges(bounds[:-1], last)
    return Coded.bag(indptr, hashed_ranges(characters, start, start + n), number)


def ranges(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """The numbers low[m] … high[m]−1 of all m, one range after the other, and where each begins.

    >>> bounds, places = ranges(np.array([3, 7]), np.array([5, 8]))
    >>> bounds.tolist(), places.tolist()
    ([0, 2, 3], [3, 4, 7])
    """
    lengths = high - low
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return bounds, np.repeat(low - bounds[:-1], lengths) + np.arange(bounds[-1])


def joined(first: Ints, second: Ints) -> Ints:
    """One number for two hashes."""
    return (first * 31 + second) & ((1 << 62) - 1)


# ── pairs ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Between:
    """Pairs as places: head and tail, which comes first, the tokens low … high−1 between them."""

    head: Ints
    tail: Ints
    forward: Bools
    low: Ints
    high: Ints

    @classmethod
    def of(cls, m: Mentions) -> Between:
        head, tail = m.pairs[:, 0], m.pairs[:, 1]
        forward = m.first[head] < m.first[tail]
        low = np.where(forward, m.last[head], m.last[tail]) + 1
        high = np.where(forward, m.first[tail], m.first[head])
        return cls(head, tail, forward, low, np.maximum(low, high))

    @property
    def gap(self) -> Ints:
        return self.high - self.low

    def any(self, marks: Bools) -> Bools:
        """Whether a marked token stands between."""
        before = np.concatenate([[0], np.cumsum(marks)])
        return before[self.high] > before[self.low]


def pair_columns(tokens: Tokens, between: Between, own: Columns) -> Columns:
    """What there is once of each pair, [P] each; of entities those of a (head) and b (tail)."""
    columns = _Arguments(own, between)
    m, at = tokens.mentions, between
    columns["bias"] = np.zeros_like(at.head)
    columns["order"] = np.where(at.forward, 0, 1)
    columns["gap"] = np.searchsorted(GAPS, at.gap, side="right")
    columns["apart"] = np.minimum(np.abs(at.head - at.tail), 6)
    for k in range(3):
        for name, place in ((f"b{k + 1}", at.low + k), (f"z{k + 1}", at.high - 1 - k)):
            inside = (place >= at.low) & (place < at.high)
            columns[name] = np.where(inside, tokens.words[np.where(inside, place, 0)], -1)
    columns["same"] = mark(own["phrase"][at.head] == own["phrase"][at.tail])
    columns["begins"] = mark((m.first[at.head] == m.begin[at.head]) & (own["acap"][at.head] >= 0))
    for name, holds in _patterns(tokens, at).items():
        columns[name] = mark(holds)
    return columns


class _Arguments(dict[str, Ints]):
    """Columns of pairs; a.NAME and b.NAME are those of head and tail, taken when they are asked for."""

    def __init__(self, own: Columns, between: Between) -> None:
        super().__init__()
        self.own, self.of = own, {"a": between.head, "b": between.tail}

    def __missing__(self, name: str) -> Ints:
        which, _, column = name.partition(".")
        self[name] = self.own[column][self.of[which]]
        return self[name]


def _patterns(tokens: Tokens, at: Between) -> dict[str, Bools]:
    """The patterns of Roth and Yih 2004, table 1; arg1 is the head, arg2 the tail."""
    m = tokens.mentions
    end = m.end[at.head]
    comma, in_at = tokens.are(lambda w: w == ","), tokens.are(lambda w: w.lower() in ("in", "at"))
    title = tokens.are(partial(listed, name="titles"))
    native, based = tokens.are(lambda w: w == "native"), tokens.are(lambda w: w == "based")
    of, article = tokens.are(lambda w: w == "of"), tokens.are(lambda w: w in ("a", "an"))

    def stands(marks: Bools, place: Ints, low: Ints, high: Ints) -> Bools:
        inside = (place >= low) & (place < high)
        return inside & marks[np.where(inside, place, 0)]

    followed = at.forward & stands(comma, m.last[at.head] + 1, m.begin[at.head], end)
    before_head, before_tail = m.first[at.head] - 1, m.first[at.tail] - 1
    return {
        "comma": followed & (at.gap == 1),
        "appositive": followed & at.any(article) & stands(title, m.last[at.tail] + 1, m.begin[at.head], end),
        "in-in": at.forward
        & (at.gap == 1)
        & stands(in_at, before_head, m.begin[at.head], end)
        & stands(in_at | comma, at.low, at.low, at.high),
        "title": ~at.forward & (at.gap <= 2) & at.any(title),
        "native-of": at.forward & at.any(np.append(native[:-1] & of[1:], native[-1:] & False)),
        "based-in": at.forward
        & stands(in_at, before_tail, at.low, at.high)
        & stands(based, before_tail - 1, at.low, at.high),
    }


def pair_bags(tokens: Tokens, at: Between) -> list[Coded]:
    """The words between, and neighbouring ones, by the order of the two."""
    indptr, inside = ranges(at.low, at.high)
    pairs, first = ranges(at.low, np.maximum(at.low, at.high - 1))
    both = joined(tokens.lower[first], tokens.lower[first + 1])
    return [
        _by_order(indptr, tokens.words[inside], at.forward, BETWEEN),
        _by_order(pairs, both, at.forward, BETWEEN_PAIR),
    ]


def _by_order(indptr: Ints, values: Ints, forward: Bools, number: int) -> Coded:
    """A bag whose attributes differ for pairs that stand in order and others."""
    turned = np.repeat(~forward, np.diff(indptr))
    return Coded.bag(indptr, np.where(turned, joined(values, np.ones_like(values)), values), number)
