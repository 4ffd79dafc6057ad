"""Lattices of segments, and everything that reads rules along with them, against all paths one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from numba import config
from segment_lattices import Case, Path, edges_of, random_case

from conseq.constraints import CONSTRAINTS
from conseq.decoders.base import Limits
from conseq.decoders.ilp import largest_flow
from conseq.decoders.lattice.lattice import Lattice, TooManyStates
from conseq.decoders.lattice.pareto import at_most, cheapest
from conseq.decoders.lattice.posterior import Posterior
from conseq.decoders.lattice.reader import Reader
from conseq.decoders.lattice.rows import add_charge, add_flow
from conseq.decoders.lattice.search import LatticeSearch, lowered
from conseq.decoders.lattice.segments import Segment, segment_lattice
from conseq.errors import ConseqError, ScoreError
from conseq.solver import Assembly, Outcome

SLOW = 5 if config.DISABLE_JIT else 1
"""Interpreted kernels take this many times fewer cases."""
LARGEST = float(np.finfo(np.float64).max)


def cases(count: int) -> Iterator[tuple[str, Case, np.random.Generator]]:
    for seed in range(count // SLOW):
        yield f"seed {seed}", random_case(seed), np.random.default_rng([1, seed])


def under_all(case: Case) -> Lattice:
    """The lattice with all rules charged, one after the other."""
    lattice = case.lattice
    for charge in case.problem.charges:
        lattice = Reader.of(lattice, case.problem, charge).product()
    return lattice


def readers_of(case: Case) -> list[Reader]:
    return [Reader.of(case.lattice, case.problem, charge) for charge in case.problem.charges]


def close(case: Case, share: float = 1e-10) -> float:
    return share * case.scale


def feasible(case: Case) -> list[Path]:
    return [path for path in case.paths if path.charged > -np.inf]


def best_of(case: Case) -> float:
    """The best score under the rules; −inf if there is no path."""
    return max((path.charged for path in case.paths), default=-np.inf)


def variants(case: Case) -> Iterator[tuple[str, Lattice, list[tuple[Path, float]]]]:
    """Without and with rules: the lattice, and each path with its score."""
    yield "free", case.lattice, [(path, path.score) for path in case.paths]
    yield "charged", under_all(case), [(path, path.charged) for path in feasible(case)]


def test_the_draw_has_everything():
    drawn = [case for _, case, _ in cases(2000)]
    rules = {type(rule) for case in drawn for rule in case.rules}
    assert rules == set(CONSTRAINTS)
    assert {len(case.words) for case in drawn} == set(range(8))
    assert {str(case.schema.scheme) for case in drawn} == {"plain", "bio", "bioes"}
    widths = Counter(len(segment.labels) for case in drawn for segment in case.segments)
    assert set(widths) == {1, 2, 3, 4, 5}
    spans = [Counter((s.start, len(s.labels)) for s in case.segments) for case in drawn]
    assert any(max(span.values(), default=0) > 2 for span in spans)
    assert any(segment.score == -np.inf for case in drawn for segment in case.segments)
    assert any(not case.paths and case.segments for case in drawn), "no path at all"
    assert any(case.paths and not feasible(case) for case in drawn), "rules that no path satisfies"
    assert sum(len(feasible(case)) > 10 for case in drawn) > len(drawn) / 5
    twice = [case for case in drawn if len({path.labels for path in case.paths}) < len(case.paths)]
    assert len(twice) > len(drawn) / 10, "labellings that several paths have"
    charged = [case for case in drawn if len({path.cost for path in feasible(case)}) > 1]
    assert len(charged) > len(drawn) / 5, "rules that tell paths apart"


# ── the lattice itself ──────────────────────────────────────────────────────────────────────────


def test_the_edges_are_those_of_the_paths():
    for place, case, _ in cases(2000):
        wanted = {(edge, k) for path in case.paths for edge, k in numbered(case, path)}
        assert Counter(edges_of(case.lattice)) == Counter(edge for edge, _ in wanted), place
        assert case.lattice.is_empty == (not case.paths), place
        assert case.lattice.n_tokens == len(case.words), place


def numbered(case: Case, path: Path) -> list[tuple]:
    """The edges of a path with the numbers of their segments, which tell equal segments apart."""
    return list(zip(case.edges_of(path), (*path.segments, -1), strict=True))


def test_the_n_best():
    for place, case, rng in cases(2000):
        for kind, lattice, paths in variants(case):
            wanted = sorted((score for _, score in paths), reverse=True)
            for n in (1, int(rng.integers(1, 12)), len(paths) + 3):
                states, scores = lattice.best(n)
                assert states.shape == (min(n, len(paths)), len(case.words)), (place, kind)
                assert np.allclose(scores, wanted[:n], rtol=0, atol=close(case)), (place, kind)
                check_each(case, states, scores, paths, f"{place}, {kind}, n {n}")
            assert lattice.best_score == pytest.approx(max(wanted, default=-np.inf), abs=close(case)), place
            if len(paths):
                check_paths(lattice, lattice.best_paths(5), f"{place}, {kind}")


def check_each(
    case: Case, states: np.ndarray, scores: np.ndarray, paths: list[tuple[Path, float]], place: str
) -> None:
    """Every labelling is there as often as paths have it, with their scores; all if n is large enough."""
    left: dict[tuple[int, ...], list[float]] = {}
    for path, score in paths:
        left.setdefault(path.labels, []).append(score)
    for row, score in zip(states.tolist(), scores.tolist(), strict=True):
        own = left[tuple(row)]
        nearest = min(own, key=lambda value: abs(value - score))
        assert abs(nearest - score) <= close(case), place
        own.remove(nearest)
    if len(states) == len(paths):
        assert not any(left.values()), place


def check_paths(lattice: Lattice, found: tuple[np.ndarray, np.ndarray], place: str) -> None:
    """They lead from the root to the sink, differ, and score the sum of their gains."""
    paths, scores = found
    assert len({tuple(path) for path in paths.tolist()}) == len(paths), place
    for path, score in zip(paths, scores, strict=True):
        check_path(lattice, path, place)
        assert lattice.graph.gains[path[path >= 0]].sum() == pytest.approx(score, rel=1e-8, abs=1e-8), place


def check_path(lattice: Lattice, path: np.ndarray, place: str) -> None:
    """The edges lead from the root to the sink, and −1 fills the rest."""
    edges = path[path >= 0]
    assert (path[len(edges) :] == -1).all(), place
    nodes = [0, *lattice.graph.targets[edges].tolist()]
    assert lattice.sources[edges].tolist() == nodes[:-1], place
    assert nodes[-1] == lattice.n_nodes - 1, place


def test_sums_over_all_paths():
    for place, case, rng in cases(2000):
        for kind, lattice, paths in variants(case):
            check_sums(case, lattice, paths, rng, f"{place}, {kind}")


def distribution(paths: list[tuple[Path, float]]) -> tuple[np.ndarray, float]:
    """The probability of each path, and log Σ exp(score)."""
    scores = np.array([score for _, score in paths])
    top = scores.max()
    weights = np.exp(scores - top)
    return weights / weights.sum(), float(top + np.log(weights.sum()))


def check_sums(
    case: Case, lattice: Lattice, paths: list[tuple[Path, float]], rng: np.random.Generator, place: str
) -> None:
    posterior, slack = Posterior.of(lattice), 1e-10 + 1e-13 * case.scale
    if not paths:
        assert posterior.log_partition == -np.inf, place
        with pytest.raises(ConseqError, match="no path to draw from"):
            posterior.sample(1, rng)
        return
    p, log_z = distribution(paths)
    assert posterior.log_partition == pytest.approx(log_z, abs=close(case)), place
    length, size = len(case.words), len(case.schema)
    states = np.zeros((length, size))
    edges: Counter = Counter()
    for (path, _), share in zip(paths, p.tolist(), strict=True):
        states[np.arange(length), list(path.labels)] += share
        edges.update(dict.fromkeys(case.edges_of(path), share))
    assert np.allclose(posterior.states, states, rtol=0, atol=slack), place
    found: Counter = Counter()
    for edge, share in zip(edges_of(lattice), posterior.edges.tolist(), strict=True):
        found[edge] += share
    assert set(found) == set(edges), place
    assert all(abs(found[edge] - edges[edge]) <= slack for edge in edges), place
    check_spans(case, lattice, paths, p, rng, place)


def check_spans(
    case: Case,
    lattice: Lattice,
    paths: list[tuple[Path, float]],
    p: np.ndarray,
    rng: np.random.Generator,
    place: str,
) -> None:
    """p(the path has a state of masks[k] at token first + k, for all k)."""
    length, size = len(case.words), len(case.schema)
    labels = np.array([path.labels for path, _ in paths], dtype=np.int64).reshape(len(paths), length)
    for _ in range(4 if length else 0):
        first = int(rng.integers(length))
        masks = rng.random((int(rng.integers(1, length - first + 1)), size)) < rng.choice([0.3, 0.6, 0.9])
        passes = np.ones(len(paths), dtype=bool)
        for k, mask in enumerate(masks):
            passes &= mask[labels[:, first + k]]
        found = Posterior.of(lattice).passage(first, masks)
        assert found == pytest.approx(p[passes].sum(), abs=1e-10 + 1e-13 * case.scale), f"{place}, {first}"


def test_samples_are_as_frequent_as_they_are_likely():
    draws = 4000 if SLOW == 1 else 400
    for place, case, rng in cases(240):
        for kind, lattice, paths in variants(case):
            if not paths:
                continue
            p, _ = distribution(paths)
            expected: Counter = Counter()
            for (path, _), share in zip(paths, p.tolist(), strict=True):
                expected[path.labels] += share
            counts: Counter = Counter()
            drawn, times = np.unique(Posterior.of(lattice).sample(draws, rng), axis=0, return_counts=True)
            for path, count in zip(drawn, times.tolist(), strict=True):
                check_path(lattice, path, place)
                counts[tuple(lattice.states_of(path).tolist())] += count
            assert set(counts) <= set(expected), (place, kind)
            for labels, share in expected.items():
                deviation = np.sqrt(draws * share * max(0.0, 1 - share))
                assert abs(counts[labels] - draws * share) <= 5 * deviation + 5, (place, kind, labels)


def some_floor(scores: list[float], rng: np.random.Generator) -> float:
    """A score half-way between two that paths have, or beyond all of them."""
    values = np.unique(np.round(scores, 9))
    between = np.concatenate([[values[0] - 1], (values[:-1] + values[1:]) / 2, [values[-1] + 1]])
    return float(rng.choice(between))


def test_pruning_keeps_exactly_the_edges_of_paths_that_reach_the_floor():
    for place, case, rng in cases(2000):
        for kind, lattice, paths in variants(case):
            if not paths:
                assert lattice.pruned(0.0).is_empty, place
                continue
            floor = some_floor([score for _, score in paths], rng)
            kept = [(path, score) for path, score in paths if score >= floor]
            pruned = lattice.pruned(floor)
            assert pruned.is_empty == (not kept), (place, kind)
            wanted = {edge for path, _ in kept for edge in case.edges_of(path)}
            assert set(edges_of(pruned)) == wanted, (place, kind)
            assert (pruned.through >= floor - close(case)).all(), (place, kind)
            if kind == "free":
                numbers = {edge for path, _ in kept for edge in numbered(case, path)}
                assert pruned.n_edges == len(numbers), place
            _, scores = pruned.best(len(paths))
            reaching = sorted((score for _, score in kept), reverse=True)
            assert np.allclose(scores[: len(kept)], reaching, rtol=0, atol=close(case)), (place, kind)
            nodes = {0, pruned.n_nodes - 1, *pruned.sources.tolist(), *pruned.graph.targets.tolist()}
            assert nodes == set(range(pruned.n_nodes)), (place, kind)


def test_a_floor_under_rules_loses_no_path_that_reaches_it():
    for place, case, rng in cases(1000):
        paths = feasible(case)
        if not paths:
            continue
        floor = some_floor([path.charged for path in paths], rng)
        lattice = case.lattice
        for charge in case.problem.charges:
            lattice = Reader.of(lattice, case.problem, charge).product(lowered(floor))
        kept = sorted((path.charged for path in paths if path.charged >= floor), reverse=True)
        _, scores = lattice.best(len(paths))
        assert np.allclose(scores[: len(kept)], kept, rtol=0, atol=close(case)), place
        assert (scores[len(kept) :] < floor).all(), place


def test_a_limit_of_product_states_is_kept():
    refused = 0
    for place, case, _ in cases(400):
        for charge in case.problem.charges:
            reader, size = Reader.of(case.lattice, case.problem, charge), case.lattice.n_nodes
            free = reader.product()
            if free.n_nodes > size:
                refused += 1
                with pytest.raises(TooManyStates, match=f"more than {size} product states"):
                    reader.product(limits=Limits(states=size))
            else:  # nodes may have been merged, so there may have been more
                enough = reader.product(limits=Limits(states=size * len(reader.next)))
                assert enough.same_as(free), place
    assert refused > 20 // SLOW


# ── who reads rules along with it ───────────────────────────────────────────────────────────────


def score_of(case: Case, states: np.ndarray) -> float:
    """The best score under the rules of a path with these labels."""
    labels = tuple(states.tolist())
    return max(path.charged for path in case.paths if path.labels == labels)


def search_of(case: Case, floor: float = -np.inf) -> LatticeSearch:
    """A search through all paths, which no multipliers shift."""
    return LatticeSearch(case.lattice, case.problem, np.zeros(case.problem.program.n_linear), floor)


def test_product_states():
    for place, case, rng in cases(2000):
        if case.lattice.is_empty:
            continue
        best, every = best_of(case), list(range(len(case.problem.charges)))
        search = search_of(case)
        found = search.best(every)
        assert found.is_exhaustive, place
        if best == -np.inf:
            assert found.path is None, place
            continue
        assert found.path is not None, place
        assert found.value == pytest.approx(best, abs=near(case)), place
        check_path(case.lattice, found.path, place)
        states = case.lattice.states_of(found.path)
        assert score_of(case, states) == pytest.approx(best, abs=near(case)), place
        floor = some_floor([path.charged for path in feasible(case)], rng)
        above = search_of(case, lowered(floor)).best(every)
        assert (above.path is not None) == (best >= floor), place
        if above.path is not None:
            assert above.value == pytest.approx(best, abs=near(case)), place


def near(case: Case) -> float:
    """How far the search may be off: it stops when bound and score meet up to 1e-9 · (1 + |bound|)."""
    return 2e-9 * (1 + abs(best_of(case))) + close(case)


def test_product_states_under_some_primitives():
    """Those that are left out count as never violated; others that the same counters settle may be
    charged."""
    for place, case, rng in cases(600):
        if case.lattice.is_empty:
            continue
        some = [p for p in range(len(case.problem.charges)) if rng.random() < 0.5]
        found = search_of(case).best(some)
        lattice = case.lattice
        for p in some:
            lattice = Reader.of(lattice, case.problem, case.problem.charges[p]).product()
        slack = close(case, 2e-9)
        assert found.value <= lattice.best_score + slack, place
        assert found.value >= best_of(case) - slack, place


def test_little_room_gives_an_upper_bound():
    for place, case, _ in cases(400):
        if case.lattice.is_empty:
            continue
        best, every = best_of(case), list(range(len(case.problem.charges)))
        for room in (1, 3, 10):
            found = search_of(case).best(every, limits=Limits(states=room))
            assert found.value >= best - close(case), place


def test_the_integer_program():
    for place, case, _ in cases(400):
        if case.lattice.is_empty:
            continue
        assembly, best = Assembly(), best_of(case)
        edges = add_flow(assembly, case.lattice, case.lattice.graph.gains)
        for charge in case.problem.charges:
            add_charge(assembly, case.lattice, edges, case.problem, charge)
        answer = assembly.solve()
        if best == -np.inf:
            assert answer.outcome is Outcome.INFEASIBLE, place
            continue
        assert answer.values is not None, place
        assert answer.bound >= best - close(case, 1e-9), place
        flow = answer.values[: case.lattice.n_edges]
        found = largest_flow(case.lattice, flow)
        assert score_of(case, found) == pytest.approx(best, abs=close(case, 1e-6)), place


def test_the_cheapest_path_that_reaches_a_floor():
    for place, case, rng in cases(2000):
        if case.lattice.is_empty:
            continue
        floor = some_floor([path.score for path in case.paths], rng)
        reaching = [path for path in case.paths if path.score >= floor]
        least = min((path.cost for path in reaching), default=np.inf)
        found = cheapest(case.lattice.pruned(floor), readers_of_pruned(case, floor), floor, LARGEST)
        assert found.is_complete, place
        if least == np.inf:
            assert found.states is None, place
            continue
        assert found.states is not None, place
        assert found.cost == pytest.approx(least, rel=2e-9, abs=2e-9), place
        own = [path for path in reaching if path.labels == tuple(found.states.tolist())]
        assert any(abs(path.score - found.score) <= close(case) for path in own), place
        assert own[0].cost == pytest.approx(found.cost, rel=1e-9, abs=1e-9), place
        equally_cheap = max(path.score for path in reaching if path.cost <= least)
        assert found.score >= equally_cheap - close(case), place
        check_ceiling(case, floor, least, place)


def readers_of_pruned(case: Case, floor: float) -> list[Reader]:
    lattice = case.lattice.pruned(floor)
    return [Reader.of(lattice, case.problem, charge) for charge in case.problem.charges]


def check_ceiling(case: Case, floor: float, least: float, place: str) -> None:
    """A ceiling just below the least cost: nothing, and a cost that is no more than it. At it: the same."""
    readers = readers_of(case)
    below = least - 1e-3 * (1 + least)
    nothing = cheapest(case.lattice, readers, floor, below)
    assert nothing.states is None, place
    assert below < nothing.cost <= at_most(least), place
    assert cheapest(case.lattice, readers, floor, at_most(least)).cost == pytest.approx(
        least, rel=2e-9, abs=2e-9
    )
    assert not cheapest(case.lattice, readers, floor, LARGEST, Limits(states=1)).is_complete, place


# ── mistakes ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("segment", "sentence"),
    [
        (Segment(-1, [0], 0.0), "does not fit 3 tokens and 2 labels"),
        (Segment(3, [0], 0.0), "does not fit 3 tokens and 2 labels"),
        (Segment(2, [0, 1], 0.0), "give tokens inside the sequence"),
        (Segment(0, [], 0.0), "one label or more"),
        (Segment(0, [2], 0.0), "labels that there are"),
        (Segment(0, [0, -1], 0.0), "labels that there are"),
        (Segment(0, [0], np.nan), r"has a score that is \+inf or not a number; give a number, or -inf"),
        (Segment(0, [0], np.inf), r"has a score that is \+inf or not a number; give a number, or -inf"),
    ],
)
def test_segments_that_do_not_fit(segment, sentence):
    with pytest.raises(ScoreError, match=sentence) as caught:
        segment_lattice([Segment(0, [0, 1, 1], 1.0), segment], 3, 2)
    assert repr(segment) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["pairwise", "start", "end"])
def test_scores_of_labels_that_do_not_fit(name):
    shape = (2, 2) if name == "pairwise" else (2,)
    with pytest.raises(ScoreError, match=f"{name} has the shape"):
        segment_lattice([], 3, 2, **{name: np.zeros(3)})
    for wrong in (np.nan, np.inf):
        with pytest.raises(ScoreError, match=rf"{name} has a score that is \+inf or not a number"):
            segment_lattice([], 3, 2, **{name: np.full(shape, wrong)})
    forbidden = segment_lattice([Segment(0, [1], 0.0)], 1, 2, **{name: np.full(shape, -np.inf)})
    assert forbidden.is_empty == (name != "pairwise")


def test_no_tokens_and_no_segments():
    empty = segment_lattice([], 0, 2)
    states, scores = empty.best(3)
    assert states.shape == (1, 0)
    assert scores.tolist() == [0.0]
    assert Posterior.of(empty).log_partition == 0.0
    none = segment_lattice([], 2, 2)
    assert none.is_empty
    assert none.best(3)[0].shape == (0, 2)
    assert none.best_score == -np.inf
    assert none.pruned().is_empty
