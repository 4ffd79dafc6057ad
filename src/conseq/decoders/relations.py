"""Scores of entities and relations from anywhere, decided together under rules.

    entity_scores[E,A], relation_scores[P,R+1], rules ─→ decode_relations ─→ RelationDecoding
    lists of them                                     ─→ decode_relations ─→ a list of RelationDecodings

Everything is checked here, so that a mistake is one sentence. Axes: E entities, A types of entities, P pairs,
R types of relations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conseq.constraints.relational import RelationRule
from conseq.constraints.relational.language import RelationRules, as_relation_rules
from conseq.decoders.arrays import _has_several, _limits
from conseq.decoders.base import Limits
from conseq.decoders.relation_problem import RelationProblem
from conseq.decoders.variables.solvers import Solver, solver_of
from conseq.dtypes import Floats, Ints
from conseq.entities import NONE, Candidates, Types, all_pairs
from conseq.errors import DataError, SchemaError, ScoreError
from conseq.potentials import numbers


def decode_relations(
    entity_scores: Any,
    relation_scores: Any,
    pairs: Any = None,
    *,
    entities: Iterable[str],
    relations: Iterable[str],
    constraints: RelationRules = None,
    tokens: Any = None,
    spans: Any = None,
    same: Any = None,
    solver: str | Solver = "auto",
    limits: Limits | Mapping[str, float] | None = None,
) -> Any:
    """Decide the types of entities and their relations together; of a list of sentences, each.

    entity_scores     [E,A], log scores of the types of each entity; −inf: forbidden
    relation_scores   [P,R+1], log scores of the relations of each pair, none among them
    pairs             [P,2], head and tail of each pair; all ordered pairs if not given
    entities          the names of the A types, in the order of the columns
    relations         the names of the R+1 columns of relation_scores, one of them "none"
    constraints       the text of rules, a path to it, or a list of rules or of lines
    tokens, spans     of the sentence, the latter [E,2], for rules that look at them
    same              pairs of mentions that are said to be of the same thing
    solver            auto, ilp, lp (the relaxation, rounded), elimination, beam, or one with its options
    limits            when to stop: Limits(seconds=…) or a dict of the same, for each sentence

    Hard rules that cannot hold together are no error: `types` is None then, the status is INFEASIBLE, and
    `explain_infeasible` says which rules are to blame.

    >>> found = decode_relations(
    ...     np.log([[0.6, 0.4], [0.7, 0.3]]), np.log([[0.2, 0.8], [0.9, 0.1]]),
    ...     entities=["person", "city"], relations=["none", "lives_in"],
    ...     constraints="lives_in(person, city)  hard")
    >>> found
    RelationDecoding(person, city; lives_in(0, 1); score -2.0433, OPTIMAL)
    """
    several, types, order = _has_several(entity_scores), *_types(entities, relations)
    rules = as_relation_rules(constraints, types)
    chosen, given = solver_of(solver), _limits(limits)
    parts = (entity_scores, relation_scores, pairs, tokens, spans, same)
    sentences = _sentences(parts) if several else [parts]
    found = []
    for i, sentence in enumerate(sentences):
        problem = _problem(f"[{i}]" if several else "", types, order, rules, *sentence)
        found.append(problem.solve(chosen, given))
    return found if several else found[0]


def _sentences(parts: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """What is given of each sentence."""
    names = ("entity_scores", "relation_scores", "pairs", "tokens", "spans", "same")
    n = len(parts[0])
    for name, part in zip(names, parts, strict=True):
        if part is not None and len(part) != n:
            raise DataError(
                f"there are entity_scores of {n} sentences and {name} of {len(part)}; "
                "give one for each sentence"
            )
    return list(zip(*(repeat(None, n) if part is None else part for part in parts), strict=True))


def _types(entities: Iterable[str], relations: Iterable[str]) -> tuple[Types, Ints]:
    """The types, and the column of none and of each relation."""
    for name, names in (("entities", entities), ("relations", relations)):
        if isinstance(names, str):
            raise SchemaError(f"{name} is the one string {names!r}; give a list with a name for each column")
    return _named(tuple(map(str, entities)), tuple(map(str, relations)))


@lru_cache(maxsize=64)
def _named(entities: tuple[str, ...], relations: tuple[str, ...]) -> tuple[Types, Ints]:
    if relations.count(NONE) != 1:
        raise SchemaError(
            f"relations names {relations.count(NONE)} columns {NONE!r}; "
            "name one so, that of pairs without a relation"
        )
    if not entities:
        raise SchemaError("entities is empty; name the types of entities")
    none = relations.index(NONE)
    others = [k for k in range(len(relations)) if k != none]
    return Types(entities, tuple(relations[k] for k in others)), np.array([none, *others])


def _problem(
    place: str,
    types: Types,
    order: Ints,
    rules: tuple[RelationRule, ...],
    entity_scores: Any,
    relation_scores: Any,
    pairs: Any,
    tokens: Any,
    spans: Any,
    same: Any,
) -> RelationProblem:
    """The checked problem of one sentence."""
    of_entities = _scores(f"entity_scores{place}", entity_scores, len(types.entities), "types of entities")
    of_pairs = _scores(f"relation_scores{place}", relation_scores, len(order), "columns")
    n = len(of_entities)
    taken = _every_pair(n) if pairs is None else _pairs(f"pairs{place}", pairs, n)
    if len(taken) != len(of_pairs):
        what = f"{n} entities make" if pairs is None else f"pairs{place} has"
        raise ScoreError(
            f"relation_scores{place} has {len(of_pairs)} rows and {what} {len(taken)} pairs; "
            "give a row per pair"
        )
    words = None if tokens is None else _tokens(f"tokens{place}", tokens)
    where = None if spans is None else _spans(f"spans{place}", spans, n, words)
    candidates = Candidates(n, taken, where, words, _same(f"same{place}", same, n))
    scores = np.concatenate([of_entities.reshape(-1), of_pairs[:, order].reshape(-1)])
    return RelationProblem(types, candidates, scores, rules)


def _scores(name: str, given: Any, columns: int, what: str) -> Floats:
    scores = numbers(name, given)
    if not scores.size and (scores.ndim < 2 or not len(scores)):
        return np.zeros((0, columns))
    if scores.ndim != 2 or scores.shape[1] != columns:
        raise ScoreError(f"{name} has the shape {scores.shape}; give a row each and {columns} {what}")
    if not (scores < np.inf).all():
        wrong = "+inf" if (scores == np.inf).any() else "not a number"
        row, column = np.argwhere(~(scores < np.inf))[0].tolist()
        raise ScoreError(
            f"{name} is {wrong} in row {row}, column {column}; give numbers, or -inf for what is forbidden"
        )
    return scores


@lru_cache(maxsize=64)
def _every_pair(n: int) -> Ints:
    return all_pairs(n)


def _pairs(name: str, given: ArrayLike, n: int) -> Ints:
    pairs = _integers(name, given, "head and tail of each pair")
    outside = np.flatnonzero((pairs < 0).any(axis=1) | (pairs >= n).any(axis=1))
    for what, rows in (("names an entity that is not there", outside), ("relates an entity to itself", None)):
        found = np.flatnonzero(pairs[:, 0] == pairs[:, 1]) if rows is None else rows
        if len(found):
            pair = tuple(pairs[found[0]].tolist())
            raise DataError(f"{name} has {pair}, which {what}; give two different ones of 0 to {n - 1}")
    if len(np.unique(pairs[:, 0] * n + pairs[:, 1])) < len(pairs):
        raise DataError(f"{name} has a pair twice; give each once")
    return pairs


def _integers(name: str, given: ArrayLike, what: str) -> Ints:
    array = numbers(name, given)
    if not array.size:
        return np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or (array != np.round(array)).any():
        raise DataError(f"{name} has the shape {array.shape}; give whole numbers, {what}")
    return np.ascontiguousarray(array, dtype=np.int64)


def _tokens(name: str, given: Sequence[Any]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise DataError(f"{name} is the one string {given!r}; give a list of tokens")
    return tuple(map(str, given))


def _spans(name: str, given: ArrayLike, n: int, tokens: tuple[str, ...] | None) -> Ints:
    spans = _integers(name, given, "start and end of each entity")
    if len(spans) != n:
        raise DataError(
            f"{name} has {len(spans)} spans and there are scores of {n} entities; give one for each"
        )
    last = np.inf if tokens is None else len(tokens)
    wrong = np.flatnonzero((spans[:, 0] < 0) | (spans[:, 0] >= spans[:, 1]) | (spans[:, 1] > last))
    if len(wrong):
        begin, end = spans[wrong[0]].tolist()
        of = "" if tokens is None else f" of {len(tokens)}"
        raise DataError(
            f"{name} has the tokens {begin} to {end}{of} for entity {wrong[0]}; give 0 ≤ start < end"
            + ("" if tokens is None else f" ≤ {len(tokens)}")
        )
    return spans


def _same(name: str, given: Any, n: int) -> frozenset[tuple[int, int]]:
    if given is None:
        return frozenset()
    pairs = _integers(name, list(given), "two mentions of the same thing")
    for one, other in pairs.tolist():
        if not (0 <= one < n and 0 <= other < n) or one == other:
            raise DataError(f"{name} has {(one, other)}; give two different ones of 0 to {n - 1}")
    return frozenset((min(pair), max(pair)) for pair in pairs.tolist())
