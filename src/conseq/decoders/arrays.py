"""Scores from anywhere, decoded under rules: logits of a transformer, probabilities of a classifier, …

    unary[T,Y], rules as text or objects, tokens ─→ decode ─→ Decoding: labels, score, certificate, violations
    a list of them, or [N,T,Y]                   ─→ decode ─→ a list of Decodings

Axes: T tokens, Y labels, N sequences. Everything is checked here, so that a mistake is one sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Concatenate, ParamSpec, Protocol, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.constraints.language import Rules, as_constraints
from conseq.constraints.program import TooLate
from conseq.corpus import Corpus
from conseq.decoders.auto import decode_all
from conseq.decoders.base import Decoder, Limits
from conseq.decoders.chain.viterbi import viterbi
from conseq.errors import ConseqError, DataError, SchemaError, ScoreError
from conseq.kept import MOST_BYTES, Kept
from conseq.kernels import clock
from conseq.potentials import Potentials, numbers
from conseq.problem import Decoding, Problems
from conseq.schema import Schema
from conseq.schema.scheme import AUTO, Scheme, detect_scheme

Labels = Iterable[Any] | Mapping[int, str] | None

OneSequence = Sequence[Sequence[float]]
Sequences = Sequence[NDArray[Any]] | Sequence[Sequence[Sequence[float]]]
"""Scores whose type tells what `decode` gives; an array may have two axes or three, so it may be either."""


Options = ParamSpec("Options")


class _Decode(Protocol[Options]):
    """What type checkers know of `decode`."""

    @overload
    def __call__(self, unary: OneSequence, *args: Options.args, **kws: Options.kwargs) -> Decoding: ...
    @overload
    def __call__(self, unary: Sequences, *args: Options.args, **kws: Options.kwargs) -> list[Decoding]: ...
    @overload
    def __call__(
        self, unary: Any, *args: Options.args, **kws: Options.kwargs
    ) -> Decoding | list[Decoding]: ...


def _typed(function: Callable[Concatenate[Any, Options], Any]) -> _Decode[Options]:
    return cast(_Decode[Options], function)


@_typed
def decode(
    unary: Any,
    pairwise: ArrayLike | None = None,
    start: ArrayLike | None = None,
    end: ArrayLike | None = None,
    labels: Labels = None,
    constraints: Rules = None,
    decoder: str | Decoder = "auto",
    scheme: Scheme | str | None = None,
    tokens: Sequence[Any] | None = None,
    limits: Limits | Mapping[str, float] | None = None,
    n_best: int = 1,
) -> Decoding | list[Decoding]:
    """The best labels for scores that come from anywhere, under rules, with a certificate.

    unary        [T,Y], the score of each label at each token: logarithms, −inf for what is forbidden. One
                 such array gives a Decoding; a list of them (of any lengths) or [N,T,Y] a list of Decodings
    pairwise     [Y,Y], the score of a step from one label to the next; for one sequence also [T−1,Y,Y]
    start, end   [Y], the scores of the first and the last label
    labels       the names of the Y labels in the order of the columns, also as {0: name, …}; "0", "1", …
                 if there are none
    constraints  the text of rules, a path to it, or a list of rules or of lines
    decoder      a name (`conseq.decoders.auto.DECODERS`) or a decoder with its options
    scheme       how labels are written: plain, iob1, bio, bioes; None looks at them. It says what a segment
                 is, and forbids nothing: for that there is the rule `legal bio`
    tokens       the tokens of the sequence (a list of lists for several), for rules that look at them
    limits       when to stop: Limits(seconds=…) or a dict of the same; unless it says otherwise after 60
                 seconds for a sequence, the time in which rules are made ready included
    n_best       with n > 1, `n_best` of the answer has the n best, itself being the first

    Hard rules that cannot hold together are no error: `labels` is None then, and the status is INFEASIBLE.

    >>> scores = np.log([[0.6, 0.4], [0.1, 0.9], [0.7, 0.3]])
    >>> found = decode(scores, labels=["O", "name"], constraints="at least 1 segment of name  hard")
    >>> found.labels, found.certificate.status.name
    (['O', 'name', 'O'], 'OPTIMAL')
    >>> decode(scores, labels=["O", "name"], constraints="tokens(name) >= 2  penalty 3").labels
    ['name', 'name', 'O']
    """
    sequences, single = _sequences(unary)
    if not sequences:
        return []
    schema = _schema(labels, scheme, sequences[0].shape[1])
    potentials = _potentials(sequences, single, pairwise, start, end)
    corpus = None if tokens is None else _corpus([tokens] if single else tokens, potentials, single)
    begun, given = clock.now(), _limits(limits)
    until = given.until(len(sequences))
    rules = as_constraints(constraints, schema)
    try:
        problems = Problems.of(potentials, schema, rules, corpus, until)
    except TooLate:
        found = _without_rules(Problems.of(potentials, schema))
    else:
        rest = given.after((clock.now() - begun) / len(sequences))
        found = _answers(problems, decoder, rest, n_best)
    return found[0] if single else found


def _without_rules(problems: Problems) -> list[Decoding]:
    """No labellings, and bounds that hold whatever the rules are."""
    bounds = viterbi(problems.potentials).scores.tolist()
    return [Decoding.of(problem, None, bound) for problem, bound in zip(problems, bounds, strict=True)]


def _answers(problems: Problems, decoder: str | Decoder, limits: Limits, n_best: int) -> list[Decoding]:
    if not isinstance(n_best, (int, np.integer)):
        raise ConseqError(f"n_best is {n_best!r}; give a whole number")
    if n_best == 1:
        return list(decode_all(problems, decoder, limits=limits))
    if n_best < 1:
        raise ConseqError(f"n_best is {n_best}; ask for 1 labelling or more")
    if decoder != "auto":
        raise ConseqError("n_best has a search of its own; leave decoder at 'auto', or n_best at 1")
    from conseq.decoders.constrained_nbest import n_best_decodings  # needed by few

    each = [(problem, n_best_decodings(problem, n_best, limits)) for problem in problems]
    return [
        replace(ranked[0], n_best=ranked) if ranked else Decoding.of(problem, None, -np.inf)
        for problem, ranked in each
    ]


# ── scores ──────────────────────────────────────────────────────────────────────────────────────


def _sequences(unary: Any) -> tuple[list[NDArray], bool]:
    """The scores of each sequence, [T,Y], and whether it was one sequence that was given."""
    several = _has_several(unary)
    given = list(unary) if several else [unary]
    names = [f"unary[{i}]" if several else "unary" for i in range(len(given))]
    arrays = [numbers(name, scores) for name, scores in zip(names, given, strict=True)]
    for name, scores in zip(names, arrays, strict=True):
        if scores.ndim != 2 or scores.shape[1] == 0:
            raise ScoreError(
                f"{name} has the shape {scores.shape}; give tokens by labels, with at least one label"
            )
        if scores.shape[1] != arrays[0].shape[1]:
            raise ScoreError(
                f"{name} has scores for {scores.shape[1]} labels and unary[0] for {arrays[0].shape[1]}; "
                "give every sequence one column per label"
            )
    return arrays, not several


def _has_several(unary: Any) -> bool:
    """Whether these are the scores of sequences, and not the rows of one."""
    if hasattr(unary, "ndim"):
        return bool(unary.ndim == 3)
    if not isinstance(unary, Sequence) or isinstance(unary, str):
        raise ScoreError(f"unary is of type {type(unary).__name__}; give an array of tokens by labels")
    try:
        return not unary or np.ndim(unary[0]) > 1
    except ValueError:  # rows of different lengths, of which `numbers` will complain
        return False


def _potentials(
    sequences: Sequence[NDArray],
    single: bool,
    pairwise: ArrayLike | None,
    start: ArrayLike | None,
    end: ArrayLike | None,
) -> Potentials:
    unary = np.concatenate(sequences)
    offsets = np.concatenate([[0], np.cumsum([len(scores) for scores in sequences])])
    if pairwise is None:
        return Potentials.of(unary, None, start, end, offsets)
    steps, size = numbers("pairwise", pairwise), unary.shape[1]
    if steps.shape == (size, size):
        return Potentials.of(unary, steps, start, end, offsets)
    each_step = max(0, len(unary) - 1), size, size
    if not single or steps.shape != each_step:
        wanted = f"{(size, size)} for all steps" + (f", or {each_step}" if single else "")
        raise ScoreError(f"pairwise has the shape {steps.shape}; give {wanted}")
    kind = np.maximum(np.arange(len(unary)) - 1, 0)
    return Potentials.of(unary, steps if len(steps) else None, start, end, offsets, kind=kind)


# ── labels, tokens, limits ─────────────────────────────────────────────────────────────────────


def _schema(labels: Labels, scheme: Scheme | str | None, size: int) -> Schema:
    if labels is None:
        names = [str(i) for i in range(size)]
    elif isinstance(labels, str):
        raise SchemaError(f"labels is the one string {labels!r}; give a list with a name per column of unary")
    elif isinstance(labels, Mapping):
        names = [str(labels[i]) for i in sorted(labels)]
    else:
        names = [str(label) for label in labels]
    if len(names) != size:
        raise ScoreError(
            f"unary has scores for {size} labels and {len(names)} labels are named; "
            "give one column of scores per label"
        )
    key = tuple(names), AUTO if scheme is None else scheme
    return _SCHEMAS.get(key, lambda: _schema_of(*key), lambda schema: schema.tables.n_bytes)


def _schema_of(names: tuple[str, ...], scheme: Scheme | str) -> Schema:
    return Schema(names, detect_scheme(names) if scheme == AUTO else scheme)


_SCHEMAS = Kept(4 * MOST_BYTES)
"""Schemas used last, for `decode` may be called for one short sequence after another."""


def _corpus(tokens: Sequence[Any], potentials: Potentials, single: bool) -> Corpus:
    if len(tokens) != len(potentials):
        raise DataError(
            f"there are tokens for {len(tokens)} sequences and scores for {len(potentials)}; "
            "give a list of tokens per sequence"
        )
    for i, (sequence, length) in enumerate(zip(tokens, potentials.lengths.tolist(), strict=True)):
        name = "tokens" if single else f"tokens[{i}]"
        if isinstance(sequence, str):
            raise DataError(f"{name} is the one string {sequence!r}; give a list of tokens")
        if len(sequence) != length:
            raise DataError(
                f"{name} has the length {len(sequence)} and its scores have {length} rows; "
                "give one row per token"
            )
    return Corpus.from_sequences([[str(token) for token in sequence] for sequence in tokens])


def _limits(given: Limits | Mapping[str, float] | None) -> Limits:
    if given is None or isinstance(given, Limits):
        return given or Limits()
    known = [field.name for field in fields(Limits)]
    if not isinstance(given, Mapping) or not set(given) <= set(known):
        raise ConseqError(f"limits is {given!r}; give Limits or a dict with some of {', '.join(known)}")
    return Limits(**given)  # type: ignore[arg-type]
