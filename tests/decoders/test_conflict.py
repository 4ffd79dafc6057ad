"""The smallest conflict against brute force over all sets of hard rules."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from rules_by_hand import ByHand, clause, random_problem

from conseq.constraints import HARD, Agree
from conseq.corpus import Corpus
from conseq.decoders import conflict
from conseq.decoders.base import Limits
from conseq.decoders.chain.viterbi import Viterbi
from conseq.decoders.conflict import Undecided, explain_infeasible, smallest_conflict
from conseq.decoders.enumeration import Enumerate, labellings
from conseq.decoders.ilp import ILP
from conseq.potentials import Potentials
from conseq.problem import Problem, Problems
from conseq.schema import Schema

SCHEMA = Schema(["a", "b", "c"], "plain")


def satisfied_sets(problem: Problem) -> list[set[int]]:
    """For every labelling that the scores admit: the hard rules that it satisfies."""
    hard = [k for k, rule in enumerate(problem.program.rules) if rule.is_hard]
    sets = []
    for row in np.concatenate(labellings(problem)):
        if problem.potentials.score(row) > -np.inf:
            broken = problem.program.by_rule(problem.violations(row)[None])[0]
            sets.append({k for k in hard if broken[k] == 0})
    return sets


def conflict_size(problem: Problem) -> int | None:
    """The fewest hard rules that no labelling satisfies, by trying all sets; None if all can hold."""
    sets = satisfied_sets(problem)
    hard = [k for k, rule in enumerate(problem.program.rules) if rule.is_hard]
    for size in range(len(hard) + 1):
        if any(not any(set(rules) <= holding for holding in sets) for rules in combinations(hard, size)):
            return size
    return None


def clauses_problem(seed: int) -> Problem:
    """Clauses over three tokens of two or three labels: conflicts of two and more rules."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 4))
    rules: list[ByHand] = []
    for _ in range(rng.integers(3, 10)):
        picks = rng.choice(3 * size, int(rng.integers(1, 3)), replace=False)
        rules.append(clause(size, [(int(p) // size, int(p) % size) for p in picks]))
    scores = Potentials.of(np.where(rng.random((3, size)) < 0.1, -np.inf, rng.normal(size=(3, size))))
    return Problems.of(scores, Schema(["a", "b", "c"][:size], "plain"), rules)[0]


def check(problem: Problem, place: str, decoder: ILP | Enumerate) -> int | None:
    wanted, rules = conflict_size(problem), smallest_conflict(problem, decoder)
    assert (None if rules is None else len(rules)) == wanted, place
    if rules:
        numbers = {next(k for k, r in enumerate(problem.program.rules) if r is rule) for rule in rules}
        assert not any(numbers <= holding for holding in satisfied_sets(problem)), place
    return wanted


def test_against_all_sets_of_rules():
    sizes = [check(clauses_problem(seed), f"seed {seed}", ILP()) for seed in range(40)]
    assert {None, 1, 2, 3} <= set(sizes), "the problems do not cover small and large conflicts"


@pytest.mark.parametrize("decoder", [ILP(), Enumerate()], ids=str)
def test_the_decoder_is_asked_where_the_search_gives_up(decoder, monkeypatch):
    monkeypatch.setattr(conflict, "SEARCH", Viterbi())
    monkeypatch.setattr(conflict, "HASTY", Viterbi())
    for seed in range(15):
        check(clauses_problem(seed), f"seed {seed}", decoder)


def test_every_kind_of_rule():
    for seed in range(60):
        check(random_problem(seed, hard=0.8, most_rules=6), f"seed {seed}", ILP())


def test_soft_rules_are_never_to_blame():
    rules = [clause(3, [(0, 0)]), clause(3, [(0, 1)], penalty=100.0)]
    problem = Problems.of(Potentials.of(np.zeros((2, 3))), SCHEMA, rules)[0]
    assert smallest_conflict(problem) is None


def test_empty_means_that_the_scores_forbid_everything():
    problem = Problems.of(Potentials.of(np.full((1, 3), -np.inf)), SCHEMA, [clause(3, [(0, 0)])])[0]
    assert smallest_conflict(problem) == []
    assert "each meets a score of -inf" in explain_infeasible(problem, 0)


def test_the_sentence_names_the_sequence_and_the_rules():
    rules = [clause(3, [(0, 0)]), clause(3, [(1, 2)]), clause(3, [(0, 1), (0, 2)])]
    problem = Problems.of(Potentials.of(np.zeros((2, 3))), SCHEMA, rules)[0]
    said = explain_infeasible(problem, 7, ["Mr.", "X"])
    assert "sequence 7 (from 0, 'Mr. X')" in said
    assert "2 hard rules together: 0 is 0; 0 is 1 or 0 is 2" in said
    assert "1 is 2" not in said
    assert "\n" not in said
    alone = Problems.of(Potentials.of(np.zeros((0, 3))), SCHEMA, [clause(3, [(None, 0)])])[0]
    assert "sequence 2 (from 0) satisfies the hard rule: None is 0; drop it" in explain_infeasible(alone, 2)
    assert "though there are some" in explain_infeasible(
        Problems.of(Potentials.of(np.zeros((2, 3))), SCHEMA, rules[:2])[0], 0
    )


def test_a_sequence_with_fewer_repeated_words_than_others():
    """What is to blame for the second sequence, where the rule about repeated words has nothing to say."""
    corpus = Corpus.from_sequences([["x", "y", "v", "x", "y", "v"], ["z", "z", "w"]])
    rules = [Agree("type", penalty=HARD), clause(3, [(0, 0)]), clause(3, [(0, 1)])]
    problems = Problems.of(Potentials.of(np.zeros((9, 3)), offsets=corpus.offsets), SCHEMA, rules, corpus)
    assert smallest_conflict(problems[1]) == rules[1:]


def test_a_decoder_that_is_stopped_is_no_proof(monkeypatch):
    monkeypatch.setattr(conflict, "SEARCH", Viterbi())
    rules = [clause(3, [(0, 0)]), clause(3, [(0, 1), (0, 2)])]
    problem = Problems.of(Potentials.of(np.zeros((2, 3))), SCHEMA, rules)[0]
    with pytest.raises(Undecided):
        smallest_conflict(problem, ILP(prune=False), Limits(seconds=0))
    said = explain_infeasible(problem, 0, decoder=ILP(prune=False), limits=Limits(seconds=0))
    assert said.startswith("no labelling of sequence 0")
