"""A program with other penalties decodes as one made anew with them; nothing of the old ones is left."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from numba import config
from problems_of_all_rules import (
    SCHEMAS,
    WORDS,
    all_labellings,
    all_scores,
    random_potentials,
    random_problems,
    random_rules,
)

from benchmarks.random_rules import PENALTIES
from conseq.constraints import HARD, Segments
from conseq.constraints.base import Constraint
from conseq.constraints.program import Program
from conseq.corpus import Corpus
from conseq.decoders.auto import decode_all
from conseq.decoders.batch import Decodings
from conseq.kernels.clock import CLOCK
from conseq.potentials import Potentials
from conseq.problem import Problems
from conseq.schema import Schema

DRAWS = 10 if config.DISABLE_JIT else 150


def other_penalties(rng: np.random.Generator, n_rules: int) -> list[float]:
    """Free, soft and hard; now and then all of one kind."""
    kind = rng.random()
    if kind < 0.1:
        return [0.0] * n_rules
    if kind < 0.2:
        return [HARD] * n_rules
    return rng.choice(PENALTIES, n_rules).tolist()


def anew(problems: Problems, penalties: list[float]) -> Problems:
    """The same problem built from rules with these penalties."""
    rules = zip(problems.program.rules, penalties, strict=True)
    changed = [replace(rule, penalty=penalty) for rule, penalty in rules]
    program = problems.program
    return Problems(problems.potentials, Program.of(changed, program.schema, program.corpus))


def same(found: Decodings, expected: Decodings) -> None:
    """Equal scores, bounds, iterations and violations: the decoders went the same way."""
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.bounds, expected.bounds)
    np.testing.assert_array_equal(found.states, expected.states)
    np.testing.assert_array_equal(found.violations, expected.violations)
    assert [one.violations for one in found] == [one.violations for one in expected]


@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("decoder", ["auto", "lazy"])
@CLOCK.stopped()  # a busy machine would make `auto` turn to the next step sooner
def test_with_other_penalties_again_and_again_it_decodes_as_one_made_anew(decoder, part):
    for seed in range(part, DRAWS, 5):
        rng = np.random.default_rng(seed)
        problems = random_problems(seed)
        program = problems.program
        decode_all(problems, decoder)  # so that all that is kept with the program is there
        for _ in range(3):
            penalties = other_penalties(rng, len(program.rules))
            program = program.with_penalties(penalties)
            found = decode_all(Problems(problems.potentials, program), decoder)
            same(found, decode_all(anew(problems, penalties), decoder))


@pytest.mark.parametrize("seed", range(5 if config.DISABLE_JIT else 40))
def test_a_problem_with_other_penalties_is_solved(seed):
    """Against all labellings, scored with the new penalties."""
    rng = np.random.default_rng(1000 + seed)
    problems = random_problems(1000 + seed)
    penalties = other_penalties(rng, len(problems.program.rules))
    other = Problems(problems.potentials, problems.program.with_penalties(penalties))
    found = decode_all(other, "auto")
    for i, problem in enumerate(anew(problems, penalties)):
        best = float(all_scores(problem, all_labellings(problem)).max())
        assert found.scores[i] == pytest.approx(best, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("decoder", ["dual", "ilp", "twostage", "beam", "viterbi"])
def test_every_other_decoder_sees_the_new_penalties(decoder):
    for seed in range(2 if config.DISABLE_JIT else 8):
        rng = np.random.default_rng(seed)
        problems = random_problems(2000 + seed)
        decode_all(problems, decoder)
        penalties = other_penalties(rng, len(problems.program.rules))
        found = decode_all(Problems(problems.potentials, problems.program.with_penalties(penalties)), decoder)
        expected = decode_all(anew(problems, penalties), decoder)
        np.testing.assert_array_equal(found.scores, expected.scores)
        np.testing.assert_array_equal(found.bounds, expected.bounds)


def test_the_first_program_keeps_its_penalties():
    for seed in range(5 if config.DISABLE_JIT else 30):
        rng = np.random.default_rng(seed)
        problems = random_problems(3000 + seed)
        before = decode_all(problems)
        other = problems.program.with_penalties(other_penalties(rng, len(problems.program.rules)))
        decode_all(Problems(problems.potentials, other))
        same(decode_all(problems), before)


def test_a_rule_that_was_free_is_charged_once_it_costs_something():
    """What a free rule is not asked for must be there when it is."""
    schema, corpus = Schema(["a", "b"], "plain"), Corpus.from_sequences([["x"] * 5])
    scores = Potentials.of([[2.0, 0.0], [0.0, 2.0]] * 2 + [[2.0, 0.0]])
    program = Program.of([Segments("at most", 1, "a", penalty=0.0)], schema, corpus)
    assert decode_all(Problems(scores, program))[0].labels == list("ababa")
    hard = program.with_penalties([HARD])
    assert decode_all(Problems(scores, hard))[0].violations == {}
    assert decode_all(Problems(scores, hard.with_penalties([0.0])))[0].labels == list("ababa")
    middling = decode_all(Problems(scores, hard.with_penalties([0.0]).with_penalties([1.5])))[0]
    assert middling.labels == list("ababa")
    assert middling.score == 10 - 2 * 1.5
    expected = decode_all(Problems(scores, program.with_penalties([2.5])))[0]
    assert expected.score == 10 - 2 * 2  # two labels given up cost less than two rules broken


def large(seed: int) -> tuple[Problems, list[Constraint]]:
    """Sequences that need product states, under soft rules of all kinds."""
    rng = np.random.default_rng(seed)
    schema = SCHEMAS[3]
    corpus = Corpus.from_sequences([[str(w) for w in rng.choice(WORDS, 8)] for _ in range(6)])
    rules = random_rules(rng, schema, 12, (1.0,))
    potentials = random_potentials(rng, corpus.offsets, len(schema), None)
    return Problems.of(potentials, schema, rules, corpus), rules


def test_two_threads_at_once_get_what_one_gets():
    """Both change the penalties of one program, decode, and grow what is shared between them."""
    for seed in range(1 if config.DISABLE_JIT else 6):
        problems, rules = large(seed)
        rng = np.random.default_rng(seed)
        choices = [rng.choice([0.0, 0.3, 1.0, 2.5], len(rules)).tolist() for _ in range(8)]

        def answer(penalties: list[float], problems: Problems = problems) -> Decodings:
            return decode_all(
                Problems(problems.potentials, problems.program.with_penalties(penalties)), "lazy"
            )

        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(answer, choices))
        for penalties, one in zip(choices, found, strict=True):
            same(one, decode_all(anew(problems, penalties), "lazy"))


def test_the_draws_have_rules_of_all_kinds():
    drawn = {type(rule) for seed in range(DRAWS) for rule in random_problems(seed).program.rules}
    assert len(drawn) >= (5 if config.DISABLE_JIT else 20)
