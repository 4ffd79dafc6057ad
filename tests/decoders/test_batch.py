"""`decode_all`: many sequences at once give what each gives alone, whatever the threads and the batches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from problems_of_all_rules import WORDS, random_problems, random_rules, truth

from conseq.constraints import Legal
from conseq.corpus import Corpus
from conseq.decoders.auto import DECODERS, Auto, decode_all
from conseq.decoders.batch import Decodings
from conseq.errors import ConseqError
from conseq.potentials import Potentials
from conseq.problem import Problems, Status
from conseq.schema import Schema

SEEDS = range(6)
SCHEMA = Schema(["O", "B-a", "I-a", "B-b", "I-b"], "bio")


def batch(seed: int, n_sequences: int = 30) -> Problems:
    """Sequences of 0 to 12 tokens under a few rules, most of them soft."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 13, n_sequences)
    corpus = Corpus.from_sequences([[str(word) for word in rng.choice(WORDS, n)] for n in lengths])
    size = len(SCHEMA)
    potentials = Potentials.of(
        rng.normal(0, 1.5, (int(lengths.sum()), size)), rng.normal(size=(size, size)), offsets=corpus.offsets
    )
    rules = [Legal("bio"), *random_rules(rng, SCHEMA, 5, (0.5, 1.0, 2.0, 2.0, 4.0, np.inf))]
    return Problems.of(potentials, SCHEMA, rules, corpus)


def part(problems: Problems, first: int, last: int) -> Problems:
    """Some of the sequences as a batch of their own."""
    potentials, program = problems.potentials, problems.program
    a, b = potentials.offsets[[first, last]]
    kind = None if potentials.kind is None else potentials.kind[a:b]
    scores = Potentials.of(
        potentials.unary[a:b],
        potentials.pairwise,
        potentials.start,
        potentials.end,
        potentials.offsets[first : last + 1] - a,
        kind=kind,
        label_of=potentials.label_of,
    )
    corpus = program.corpus.select(range(first, last))
    return Problems.of(scores, problems.schema, program.rules, corpus)


def answers(decodings: Decodings) -> tuple[list[int], list[float], list[float]]:
    return decodings.states.tolist(), decodings.scores.tolist(), decodings.bounds.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_any_number_of_threads_gives_the_same(seed):
    problems = batch(seed)
    one = answers(decode_all(problems))
    for threads in (2, 5):
        assert answers(decode_all(problems, threads=threads)) == one


@pytest.mark.parametrize("seed", SEEDS)
def test_one_by_one_gives_the_same(seed):
    """The sequences of the batch alone, and again as problems of their own with their own corpus."""
    problems = batch(seed)
    together = decode_all(problems)
    for i, found in enumerate(together):
        alone = Auto().decode(problems[i])
        again = decode_all(part(problems, i, i + 1))[0]
        for other in (alone, again):
            assert other.labels == found.labels, f"sequence {i}"
            assert other.score == found.score, f"sequence {i}"
            assert other.certificate.status is found.certificate.status, f"sequence {i}"
            assert other.certificate.bound == pytest.approx(found.certificate.bound, rel=1e-7), (
                f"sequence {i}"
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_different_batches_with_the_same_rules_at_the_same_time(seed):
    """Threads of the user's own: what is kept for rules is shared, and must not mix batches up."""
    whole = batch(seed, 40)
    parts = [part(whole, a, a + 10) for a in range(0, 40, 10)]
    wanted = [answers(decode_all(some)) for some in parts]
    with ThreadPoolExecutor(2) as pool:
        for _ in range(3):
            found = list(pool.map(lambda some: answers(decode_all(some)), parts))
            assert found == wanted
            same = list(pool.map(lambda _: answers(decode_all(parts[0])), range(4)))
            assert same == [wanted[0]] * 4


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_takes_batches_with_empty_and_infeasible_sequences(name):
    """Small ones, so that all labellings can be tried; each answer is as if the others were not there."""
    statuses = set()
    for seed in (*range(30), 149):  # the last has an empty sequence that is infeasible
        problems = random_problems(seed, 5)
        decodings = decode_all(problems, name)
        assert len(decodings) == 5
        for i, found in enumerate(decodings):
            alone = DECODERS[name]().decode(problems[i])
            assert found.labels == alone.labels, f"seed {seed}, sequence {i}"
            assert found.score == alone.score, f"seed {seed}, sequence {i}"
            assert found.certificate.status is alone.certificate.status, f"seed {seed}, sequence {i}"
            statuses.add((found.certificate.status, found.problem.n_tokens > 0))
    everything = {(status, some) for status in (Status.OPTIMAL, Status.INFEASIBLE) for some in (True, False)}
    assert everything <= statuses


def test_arrays_of_answers_agree_with_the_answers():
    for seed in range(150):
        problems = random_problems(seed, 4)
        decodings = decode_all(problems)
        assert (decodings.bounds >= decodings.scores).all(), f"seed {seed}"
        for i, found in enumerate(decodings):
            a, b = problems.potentials.bounds(i)
            best = truth(problems[i])
            assert decodings.certified[i] == (found.certificate.status is Status.OPTIMAL), f"seed {seed}"
            assert decodings.scores[i] == found.score == pytest.approx(best, rel=1e-7), f"seed {seed}"
            if found.states is None:
                assert (decodings.states[a:b] == -1).all(), f"seed {seed}"
                assert not decodings.violations[i].any() or a == b, f"seed {seed}"
                continue
            assert decodings.states[a:b].tolist() == found.states.tolist(), f"seed {seed}"
            assert found.score == problems[i].score(found.states), f"seed {seed}"
            amounts = dict.fromkeys(problems.program.rules, 0.0)
            for rule, amount in zip(problems.program.rules, decodings.violations[i], strict=True):
                amounts[rule] = amount
            assert all(found.violations[rule] == amount for rule, amount in amounts.items()), f"seed {seed}"


def test_no_sequences():
    problems = Problems.of(Potentials.of(np.empty((0, 2)), offsets=[0]), Schema(["a", "b"], "plain"))
    assert len(decode_all(problems)) == 0
    assert list(decode_all(problems, "lazy", threads=2)) == []


def test_an_unknown_decoder_is_one_sentence():
    with pytest.raises(ConseqError, match="no decoder 'magic'; choose one of auto, "):
        decode_all(batch(0, 1), "magic")
