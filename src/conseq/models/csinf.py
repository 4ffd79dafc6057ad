"""Constraint satisfaction inference (Canisius et al. 2006) under rules: predicted trigrams as problems.

    Predictions, rules ─→ problems ─→ TrigramProblems: [i] a Problem, for any decoder
                          decode   ─→ Decodings of all sequences

The score of labels is the weight of the predicted n-grams that they satisfy, less the penalties of the rules.
Axes: T tokens, N sequences, Y labels.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from conseq.constraints.language import Rules, as_constraints
from conseq.constraints.program import Program
from conseq.corpus import Corpus
from conseq.decoders.auto import Auto, decode_each, find_decoder
from conseq.decoders.base import NO_LIMITS, Decoder, Limits
from conseq.decoders.batch import Decodings
from conseq.dtypes import Bools
from conseq.errors import DataError, SchemaError
from conseq.models.trigram_problems import TrigramProblems
from conseq.models.trigrams import Predictions
from conseq.schema import Schema


def decode(
    predictions: Predictions,
    constraints: Rules = None,
    decoder: str | Decoder = "auto",
    *,
    schema: Schema | None = None,
    corpus: Corpus | None = None,
    any_label: bool = False,
    allowed: Bools | None = None,
    limits: Limits = NO_LIMITS,
    threads: int = 1,
) -> Decodings[TrigramProblems]:
    """The labels of the largest satisfied weight less penalties, of each sequence; see `problems`."""
    made = problems(
        predictions, constraints, schema=schema, corpus=corpus, any_label=any_label, allowed=allowed
    )
    return decode_all(made, decoder, limits=limits, threads=threads)


def problems(
    predictions: Predictions,
    constraints: Rules = None,
    *,
    schema: Schema | None = None,
    corpus: Corpus | None = None,
    any_label: bool = False,
    allowed: Bools | None = None,
) -> TrigramProblems:
    """The problem of each sequence, made when it is asked for.

    constraints  the text of rules or rules, hard or soft; a penalty is weighed against shares of classes
    schema       the labels and how they are written; None looks at the labels
    corpus       the tokens, for rules that look at them
    any_label    a token may take every label, not only those that are proposed for it (a hard rule may leave
                 nothing of those)
    allowed      which labels of the schema each token may take, [T,Y]; a token for which none of those is
                 proposed may take any of them

    >>> from conseq.models.distributions import Distributions
    >>> from conseq.models.trigrams import TrigramClasses
    >>> classes, ids = TrigramClasses.of(Corpus.from_sequences([["x", "y"]], [["A", "B"]]))
    >>> found = Distributions.from_dense(np.eye(2), [0, 1])
    >>> (problem,) = problems(Predictions.of(classes, found, [0, 2]))
    >>> find_decoder("auto").decode(problem)
    Decoding(A B; score 6, OPTIMAL)
    """
    plan = schema or Schema.infer(predictions.labels)
    tokens = Corpus({}, predictions.offsets) if corpus is None else corpus
    if not np.array_equal(tokens.offsets, predictions.offsets):
        raise DataError(
            "the corpus has other sequences than the predictions; give the one they were made for"
        )
    unknown = [label for label in predictions.labels if label not in plan.vocabulary]
    if unknown:
        raise SchemaError(f"the schema lacks the label {unknown[0]!r}, which is predicted; add it")
    program = Program.of(as_constraints(constraints, plan), plan, tokens)
    ids = plan.vocabulary.encode(predictions.labels)
    own = np.broadcast_to(True, (predictions.n_tokens, len(ids))) if allowed is None else allowed[:, ids]
    return TrigramProblems(predictions, program, ids, own, np.full(len(predictions), any_label))


def decode_all(
    problems: TrigramProblems,
    decoder: str | Decoder = "auto",
    *,
    limits: Limits = NO_LIMITS,
    threads: int = 1,
    fall_back: bool = False,
) -> Decodings[TrigramProblems]:
    """The answers for all sequences.

    With `auto` all are solved at once without rules: labels that break none are the best, for rules can only
    take something off. The others, and with another decoder all, are decoded one by one. With `fall_back` a
    sequence for which hard rules leave none of the proposed labels is decoded again with all labels.
    """
    chosen = find_decoder(decoder)
    decodings = Decodings.empty(problems)
    solved = _solve(decodings, threads) if isinstance(chosen, Auto) else np.zeros(len(problems), dtype=bool)
    decode_each(decodings, np.flatnonzero(~solved), chosen, limits, threads)
    impossible = np.flatnonzero(np.isneginf(decodings.bounds) & ~problems.any_label)
    if not fall_back or not len(impossible):
        return decodings
    decodings = replace(decodings, problems=problems.with_any_label(impossible))
    decode_each(decodings, impossible, chosen, limits, threads)
    return decodings


def _solve(decodings: Decodings[TrigramProblems], threads: int) -> Bools:
    """Fill in the sequences whose best labels without rules are allowed and break none: [N], which."""
    begun = time.perf_counter()
    problems = decodings.problems
    labels, totals = problems.predictions.solve(threads)
    solved = problems.costs(labels) == 0
    tokens = np.repeat(solved, np.diff(problems.offsets))
    decodings.states[tokens] = problems.states(labels, tokens)
    decodings.scores[solved] = decodings.bounds[solved] = totals[solved]
    decodings.iterations[solved] = 1
    decodings.seconds[solved] = (time.perf_counter() - begun) / max(1, len(solved))
    return solved
