"""Choose among settings of a learner: wrapped progressive sampling.

    settings ─→ all tried on a small sample ─→ the better ones on a larger one ─→ … ─→ Search(best, rounds, …)

Van den Bosch 2004. The data is shuffled and cut once: four fifths to learn from, a fifth to test
on. Round k takes the first s_k of the one and the first s_k / 4 of the other, so samples grow and nothing
is tested on what was learned from:

    s_k = first · (last / first)^(k / (R − 1)),  k = 0 … R−1,  last = 4/5 n

Every setting that is left learns from the one sample and is scored on the other. Van den Bosch drops
settings by bins over the range of scores, which suits a thousand settings; of a dozen a single one is
often in the top bin, and the smallest sample would decide. Here the number of settings falls as steadily
as the samples grow: of m with r rounds to go, this one included, m^(1 − 1/r) go on. In the usual number
of rounds that is about half of them each time, and the last few meet on the largest sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from conseq.errors import ConseqError

S = TypeVar("S")

Indices = NDArray[np.int64]

FIRST = 500
"""What the first sample holds, as in van den Bosch's experiments."""

TEST = 0.25
"""The size of a test sample, as a share of the training sample."""


@dataclass(frozen=True)
class Trial(Generic[S]):
    """A setting that was tried: number `done` of the `of` in this round, of at most `rounds` rounds."""

    round: int  # from 1
    rounds: int
    done: int  # from 1
    of: int
    number: int  # of the setting in the order given, from 0
    setting: S
    score: float | None = None  # None: it could not be tried
    reason: str = ""  # why not


@dataclass(frozen=True)
class Round(Generic[S]):
    """The sizes of the samples, and the settings that were left with their scores, in the order given."""

    train: int
    test: int
    trials: tuple[Trial[S], ...]

    @property
    def best(self) -> Trial[S] | None:
        """The first of those with the highest score."""
        return _best(self.trials)


@dataclass(frozen=True)
class Search(Generic[S]):
    """What was found, and how."""

    best: S
    score: float | None  # in the last round that it was tried in; None: there was nothing to choose from
    status: str  # finished, interrupted
    rounds: tuple[Round[S], ...]  # of an interrupted one what was tried

    def ranked(self) -> list[S]:
        """The settings of the last round, the best first; of equals the one given first."""
        trials = self.rounds[-1].trials if self.rounds else ()
        scored = [(-trial.score, trial.number, trial.setting) for trial in trials if trial.score is not None]
        return [setting for _, _, setting in sorted(scored, key=lambda one: one[:2])] or [self.best]

    @property
    def failed(self) -> tuple[Trial[S], ...]:
        """The trials that gave no score, with the reason."""
        return tuple(trial for one in self.rounds for trial in one.trials if trial.score is None)


def progressive_sampling(
    settings: Sequence[S],
    trial: Callable[[S, Indices, Indices], float],
    n: int,
    *,
    first: float = FIRST,
    rounds: int | None = None,
    seed: int = 0,
    watch: Callable[[Trial[S]], None] | None = None,
) -> Search[S]:
    """The setting that scores best, found on growing samples of the numbers 0 … n−1.

    settings    those to choose from; of equals the first wins, so give the plain ones first
    trial       learns with a setting from the data of some numbers and scores it on others; higher is better.
                A ConseqError drops the setting and is kept as its reason
    n           of what the caller takes samples of: instances, whole sequences
    first       the size of the first training sample; below 1: the share of n
    rounds      at most; None: as many as halving takes, as long as samples at least double
    watch       called after each trial

    >>> search = progressive_sampling([1, 2, 3, 4], lambda k, train, test: -abs(k - 3), 2000, first=100)
    >>> search.best, [(r.train, r.test, [t.setting for t in r.trials]) for r in search.rounds]
    (3, [(100, 25, [1, 2, 3, 4]), (1600, 400, [2, 3, 4])])

    Interrupted, it returns the best of the last round that was finished, or of what was tried in the first;
    if that is nothing, the interruption goes on to the caller.
    """
    if not settings:
        raise ConseqError("there are no settings to choose from; give at least one")
    if rounds is None:
        rounds = usual_rounds(len(settings), n, first)
    plan = schedule(n, first, rounds)
    if len(settings) == 1:
        return Search(settings[0], None, "finished", ())
    order = np.random.default_rng(seed).permutation(n)
    train, test = order[: plan[-1][0]], order[plan[-1][0] :]
    tried: list[list[Trial[S]]] = []
    left, status = list(range(len(settings))), "finished"
    try:
        for k, (n_train, n_test) in enumerate(plan):
            if len(left) == 1:
                break
            samples = np.sort(train[:n_train]), np.sort(test[:n_test])
            tried.append([])
            for done, number in enumerate(left, start=1):
                score, reason = _outcome(partial(trial, settings[number], *samples))
                place = (k + 1, len(plan), done, len(left))
                tried[-1].append(Trial(*place, number, settings[number], score, reason))
                if watch is not None:
                    watch(tried[-1][-1])
            left = _going_on(tried[-1], len(plan) - k)
    except KeyboardInterrupt:
        status = "interrupted"
    return _search(plan, tried, status)


def schedule(n: int, first: float = FIRST, rounds: int = 1) -> list[tuple[int, int]]:
    """The sizes of the training and the test sample of each round; the same size comes once.

    >>> schedule(10_000, 500, 5)
    [(500, 125), (1000, 250), (2000, 500), (4000, 1000), (8000, 2000)]
    >>> schedule(2)
    [(1, 1)]
    """
    start, last = _ends(n, first)
    if rounds < 1:
        raise ConseqError(f"rounds is {rounds}; give at least 1")
    sizes = {_nearest(size) for size in np.geomspace(last, start, rounds)}
    return [(size, min(n - last, max(1, _nearest(TEST * size)))) for size in sorted(sizes)]


def usual_rounds(settings: int, n: int, first: float = FIRST) -> int:
    """As many rounds as halving the settings takes, or fewer, so that each sample is twice the one before.

    >>> usual_rounds(16, 100_000), usual_rounds(16, 1250), usual_rounds(16, 100)
    (4, 2, 1)
    """
    start, last = _ends(n, first)
    halvings = (settings - 1).bit_length()
    return 1 + max(0, min(halvings - 1, int(math.log2(last / start))))


def survivors(scores: Sequence[float], rounds: int) -> list[int]:
    """Which scores go on, with `rounds` rounds to go: the best m^(1 − 1/rounds), and their equals.

    The lowest score never goes on, unless all are equal.

    >>> survivors([0.1, 0.4, 0.2, 0.3], 2)
    [1, 3]
    >>> survivors([0.3, 0.4, 0.3, 0.2], 2), survivors([0.5, 0.5], 2)
    ([0, 1, 2], [0, 1])
    """
    count = math.ceil(len(scores) ** (1 - 1 / rounds) - 1e-9)  # 8 ** (2 / 3) is 4 and a bit
    bar, lowest = sorted(scores, reverse=True)[count - 1], min(scores)
    if max(scores) == lowest:
        return list(range(len(scores)))
    return [i for i, score in enumerate(scores) if score >= bar and score > lowest]


def _outcome(trial: Callable[[], float]) -> tuple[float | None, str]:
    """A score, or why there is none."""
    try:
        score = float(trial())
    except ConseqError as error:
        return None, str(error)
    return (None, "its score is not a number") if math.isnan(score) else (score, "")


def _going_on(trials: Sequence[Trial[S]], rounds: int) -> list[int]:
    """The numbers of the settings that survive a round."""
    scored = [(one.number, one.score) for one in trials if one.score is not None]
    if not scored:
        first = trials[0]
        raise ConseqError(f"none of the {len(trials)} settings can be used; {first.setting}: {first.reason}")
    return [scored[i][0] for i in survivors([score for _, score in scored], rounds)]


def _search(plan: list[tuple[int, int]], tried: list[list[Trial[S]]], status: str) -> Search[S]:
    """The best of the last finished round, else of what there is of the first; not what failed later."""
    rounds = [Round(*sizes, tuple(trials)) for sizes, trials in zip(plan, tried, strict=False) if trials]
    finished = [done for done in rounds if len(done.trials) == done.trials[0].of]
    failed = {one.number for done in rounds for one in done.trials if one.score is None}
    for done in reversed(finished or rounds):
        best = _best([one for one in done.trials if one.number not in failed])
        if best is not None:
            return Search(best.setting, best.score, status, tuple(rounds))
    raise KeyboardInterrupt  # before anything was found


def _best(trials: Sequence[Trial[S]]) -> Trial[S] | None:
    scored = [one for one in trials if one.score is not None]
    return max(scored, key=lambda one: one.score or 0.0, default=None)


def _ends(n: int, first: float) -> tuple[int, int]:
    """The sizes of the first and the last training sample."""
    if n < 2:
        raise ConseqError(
            "settings are compared by learning from a part of the data and testing on another; "
            f"give 2 sequences or instances at least, not {n}"
        )
    if not 0 < first < math.inf:
        raise ConseqError(f"first is {first}; give a size of at least 1, or a share below 1")
    last = min(n - 1, _nearest(n / (1 + TEST)))
    return min(last, max(1, _nearest(first * n if first < 1 else first))), last


def _nearest(x: float) -> int:
    return int(x + 0.5)
