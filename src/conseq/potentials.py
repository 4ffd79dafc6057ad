"""Potentials: the scores of all labellings of one or many sequences, as a chain.

    CRF, memory-based learner, any array of a user's ─→ Potentials ─→ decoders, marginals

    score(y) = start[y_0] + Σ_t unary[t, y_t] + Σ_{t>0} pairwise[kind[t], y_{t−1}, y_t] + end[y_last]

Axes: T tokens of all sequences end to end, S states, C kinds of step, N sequences; sequence i owns the
tokens offsets[i] … offsets[i+1]−1. Everything is a logarithm; −inf is forbidden. An empty sequence has one
labelling, of score 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conseq.corpus import gathered
from conseq.errors import ScoreError
from conseq.kernels.compiled import as_compiled

Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Potentials:
    """Log-domain scores of N sequences. `Potentials.of` checks them and fills in what is not given.

    >>> potentials = Potentials.of([[1.0, 2.0], [0.5, 0.0]], pairwise=[[0.0, -1.0], [-np.inf, 0.0]])
    >>> len(potentials), potentials.n_states, potentials.score([0, 1]), potentials.score([1, 0])
    (1, 2, 0.0, -inf)
    """

    unary: Scores  # [T,S]
    pairwise: Scores  # [C,S,S], from → to
    start: Scores  # [S]
    end: Scores  # [S]
    offsets: NDArray[np.int64]  # [N+1]
    kind: NDArray[np.int32] | None = None  # [T], which pairwise the step into a token takes; None: always 0
    label_of: NDArray[np.int32] | None = None  # [S], the label of a state; None: states are labels

    @classmethod
    def of(
        cls,
        unary: ArrayLike,
        pairwise: ArrayLike | None = None,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
        offsets: ArrayLike | None = None,
        *,
        kind: ArrayLike | None = None,
        label_of: ArrayLike | None = None,
    ) -> Potentials:
        """Checked potentials; `pairwise` may be [S,S], and what is None is 0 everywhere (one sequence)."""
        scores = _array("unary", unary, np.float64)
        if scores.ndim != 2 or scores.shape[1] == 0:
            raise ScoreError(
                f"unary has the shape {scores.shape}; give tokens by states, with at least one state"
            )
        n_tokens, size = scores.shape
        steps = np.zeros((1, size, size)) if pairwise is None else _array("pairwise", pairwise, np.float64)
        steps = steps[None] if steps.ndim == 2 else steps
        steps = _array("pairwise", steps, np.float64, (len(steps) if steps.ndim == 3 else 1, size, size))
        if len(steps) == 0:
            raise ScoreError("pairwise has no kind of step; give at least one matrix of states by states")
        bounds = [0, n_tokens] if offsets is None else offsets
        potentials = cls(
            scores,
            steps,
            _array("start", np.zeros(size) if start is None else start, np.float64, (size,)),
            _array("end", np.zeros(size) if end is None else end, np.float64, (size,)),
            as_compiled(bounds, np.int64),
            _integers("kind", kind, n_tokens, len(steps)),
            _integers("label_of", label_of, size, None),
        )
        potentials.check()
        return potentials

    def check(self) -> None:
        """Raise with the place of the first NaN or +inf, or if the offsets do not fit the tokens."""
        offsets, n_tokens = self.offsets, self.n_tokens
        fits = offsets.ndim == 1 and len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == n_tokens
        if not fits or (np.diff(offsets) < 0).any():
            raise ScoreError(f"offsets must rise from 0 to the {n_tokens} tokens of unary")
        for name in ("unary", "pairwise", "start", "end"):
            values = getattr(self, name)
            if values.size and not values.max() < np.inf:  # NaN is no less, either
                place = tuple(np.argwhere(np.isnan(values) | (values == np.inf))[0].tolist())
                where = self._named(*place) if name == "unary" else f"{name}{list(place)}"
                remedy = "give a number, or -inf for what is forbidden"
                raise ScoreError(f"{where}: the score is {values[place]}; {remedy}")

    def _named(self, t: int, state: int) -> str:
        i = int(np.searchsorted(self.offsets, t, side="right")) - 1
        return f"unary, token {t - self.offsets[i]} of sequence {i} (both from 0) for state {state}"

    @property
    def n_states(self) -> int:
        return self.unary.shape[1]

    @property
    def n_tokens(self) -> int:
        return len(self.unary)

    @property
    def state_labels(self) -> NDArray[np.int32]:
        """The label of each state, [S]."""
        return np.arange(self.n_states, dtype=np.int32) if self.label_of is None else self.label_of

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens in each sequence, [N]."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Potentials:
        """The potentials of sequence i alone, without copying."""
        a, b = self.bounds(i)
        kind = None if self.kind is None else self.kind[a:b]
        return replace(self, unary=self.unary[a:b], offsets=np.array([0, b - a]), kind=kind)

    def __iter__(self) -> Iterator[Potentials]:
        return (self[i] for i in range(len(self)))

    def bounds(self, i: int) -> tuple[int, int]:
        """First token of sequence i and the one after its last."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"sequence {i} of {len(self)}")
        i %= len(self)
        return int(self.offsets[i]), int(self.offsets[i + 1])

    def select(self, sequences: ArrayLike) -> Potentials:
        """The potentials of the sequences with these indices, in this order."""
        chosen = np.arange(len(self))[np.asarray(sequences, dtype=np.int64)]
        offsets, tokens = gathered(self.offsets, chosen)
        kind = None if self.kind is None else self.kind[tokens]
        return replace(self, unary=self.unary[tokens], offsets=offsets, kind=kind)

    def compact(self) -> Potentials:
        """The same scores without the kinds of step that no token takes."""
        if self.kind is None or self.n_tokens == 0:
            return self
        used, kind = np.unique(self.kind, return_inverse=True)
        if len(used) == len(self.pairwise):
            return self
        return replace(self, pairwise=self.pairwise[used], kind=kind.reshape(-1).astype(np.int32))

    def among(self, states: ArrayLike, size: int) -> Potentials:
        """The same scores where state s is called states[s] among `size` states; the others are forbidden.

        States must be labels.
        """
        if self.label_of is not None:
            raise ScoreError("the states of these scores are not labels, so they have no place among labels")
        places = np.asarray(states, dtype=np.int64)
        unary = np.full((self.n_tokens, size), -np.inf)
        pairwise = np.full((len(self.pairwise), size, size), -np.inf)
        start, end = np.full(size, -np.inf), np.full(size, -np.inf)
        unary[:, places] = self.unary
        pairwise[:, places[:, None], places] = self.pairwise
        start[places], end[places] = self.start, self.end
        return replace(self, unary=unary, pairwise=pairwise, start=start, end=end)

    def score(self, states: ArrayLike, i: int = 0) -> float:
        """The score of one labelling of sequence i, summed from left to right in float64.

        Decoders sum in the same order, so the scores of their labellings are the same to the last bit.
        """
        a, b = self.bounds(i)
        path = self._path(states, b - a, i)
        if a == b:
            return 0.0
        terms = np.empty(2 * (b - a) + 1)
        terms[0], terms[-1] = self.start[path[0]], self.end[path[-1]]
        terms[1::2] = self.unary[np.arange(a, b), path]
        kind = 0 if self.kind is None else self.kind[a + 1 : b]
        terms[2:-1:2] = self.pairwise[kind, path[:-1], path[1:]]
        return float(np.cumsum(terms)[-1])

    def arrays(self) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray, NDArray]:
        """unary, pairwise, start, end, offsets, kind (empty for None) as kernels take them.

        Always of the same types, contiguous and writable: for any others a kernel would be compiled again.
        """
        kind = np.empty(0) if self.kind is None else self.kind
        scores = (as_compiled(x, np.float64) for x in (self.unary, self.pairwise, self.start, self.end))
        integers = as_compiled(self.offsets, np.int64), as_compiled(kind, np.int32)
        return (*scores, *integers)  # type: ignore[return-value]

    def labels(self, states: NDArray[np.int32]) -> NDArray[np.int32]:
        """The labels of states; −1 (no labelling) stays −1."""
        if self.label_of is None:
            return states
        return np.where(states < 0, -1, self.label_of[states]).astype(np.int32)

    def restricted(self, allowed: ArrayLike) -> Potentials:
        """The same scores where allowed[T,S], −inf elsewhere."""
        mask = _array("allowed", allowed, bool, self.unary.shape)
        return replace(self, unary=np.where(mask, self.unary, -np.inf))

    def with_legal(self, legal: ArrayLike, legal_start: ArrayLike, legal_end: ArrayLike) -> Potentials:
        """The same scores where steps legal[S,S], first and last states legal_start[S] and legal_end[S]
        are legal, −inf elsewhere."""
        size = self.n_states
        return replace(
            self,
            pairwise=np.where(_array("legal", legal, bool, (size, size)), self.pairwise, -np.inf),
            start=np.where(_array("legal_start", legal_start, bool, (size,)), self.start, -np.inf),
            end=np.where(_array("legal_end", legal_end, bool, (size,)), self.end, -np.inf),
        )

    def _path(self, states: ArrayLike, length: int, i: int) -> NDArray[np.int64]:
        path = np.asarray(states, dtype=np.int64)
        if path.shape != (length,):
            raise ScoreError(
                f"sequence {i} (from 0) has {length} tokens; a labelling of shape {path.shape} was given"
            )
        if length and not 0 <= path.min() <= path.max() < self.n_states:
            raise ScoreError(
                f"the labelling has states {path.min()} to {path.max()}; give 0 to {self.n_states - 1}"
            )
        return path

    def __repr__(self) -> str:
        return f"Potentials({len(self)} sequences, {self.n_tokens} tokens, {self.n_states} states)"


def join(parts: Sequence[Potentials]) -> Potentials:
    """The sequences of several potentials over the same states, one after the other.

    Each part keeps its own scores of steps, as kinds of step; what it says of first and last states goes into
    the scores of the tokens there.

    >>> one = Potentials.of([[0.0, 1.0], [2.0, 0.0]], start=[3.0, 0.0])
    >>> both = join([one, Potentials.of([[0.5, 0.0]], end=[1.0, 0.0])])
    >>> both.score([0, 0], 0) == one.score([0, 0]), both.score([0], 1)
    (True, 1.5)
    """
    unary, kinds, lengths, n_kinds = [], [], [], 0
    for part in parts:
        scores = part.unary.copy()
        filled = part.lengths > 0
        scores[part.offsets[:-1][filled]] += part.start
        scores[part.offsets[1:][filled] - 1] += part.end
        unary.append(scores)
        lengths.append(part.lengths)
        kinds.append(n_kinds + (np.zeros(part.n_tokens, np.int32) if part.kind is None else part.kind))
        n_kinds += len(part.pairwise)
    return Potentials.of(
        np.concatenate(unary),
        np.concatenate([part.pairwise for part in parts]),
        offsets=np.concatenate([[0], np.cumsum(np.concatenate(lengths))]),
        kind=np.concatenate(kinds),
        label_of=parts[0].label_of,
    )


def numbers(name: str, values: Any) -> Scores:
    """The values of an array, a list or a tensor, which must be real numbers, in double precision."""
    try:
        array = np.asarray(values)
        array = array.astype(np.float64) if array.dtype.kind == "O" else array
    except (TypeError, ValueError, RuntimeError) as error:  # a tensor that needs a gradient raises the last
        raise ScoreError(f"{name} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        kind = f"it has entries of type {array.dtype}"
        raise ScoreError(f"{name} is not an array of numbers: {kind}; give real numbers")
    return array.astype(np.float64, copy=False)


def _array(name: str, values: ArrayLike, dtype: Any, shape: tuple[int, ...] | None = None) -> NDArray:
    """The values as kernels take them, of a shape if one is given."""
    try:
        array = as_compiled(values, dtype)
    except (TypeError, ValueError) as error:
        raise ScoreError(f"{name} is not an array of numbers: {error}") from None
    if shape is not None and array.shape != shape:
        raise ScoreError(f"{name} has the shape {array.shape}; give {shape} to fit unary")
    return array


def _integers(
    name: str, values: ArrayLike | None, length: int, limit: int | None
) -> NDArray[np.int32] | None:
    """int32[length], from 0 and, if there is a limit, below it."""
    if values is None:
        return None
    integers = _array(name, values, np.int32, (length,))
    if length and (integers.min() < 0 or (limit is not None and integers.max() >= limit)):
        numbers = "from 0" if limit is None else f"from 0 to {limit - 1}"
        raise ScoreError(f"{name} has {integers.min()} to {integers.max()}; give numbers {numbers}")
    return integers
