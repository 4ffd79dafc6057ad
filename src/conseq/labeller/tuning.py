"""Choose the options of a labeller on its training data.

    labeller, corpus, grid ─→ settings ─→ progressive sampling over sequences ─→ the best options, Search

A grid has the values to choose from for each option: {"c1": (0.0, 0.1), "c2": (0.1, 1.0)}. A class of
labellers may have a method `grid(corpus)`; those with the options of the CRF share the one here.

While settings are compared, training that would run until it converges stops after a number of iterations.
With an L1 norm it can take a thousand of them on a few hundred sentences, and gains little after the first
hundred. The number must not be much lower, or weak penalties look better than they are, since stopping early
is a penalty too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from conseq.corpus import Corpus
from conseq.errors import ConseqError
from conseq.io.objects import corpus_from
from conseq.labeller.base import Labeller
from conseq.labeller.training import TrainingData, options_of
from conseq.models.crf import ALGORITHMS
from conseq.optimise.progressive import Indices, Search, Trial, progressive_sampling

Grid = Mapping[str, Sequence[Any]]
Setting = dict[str, Any]

FIRST_TOKENS = 5_000
"""The first sample has as many sequences as hold about this number of tokens."""

ITERATIONS = 100
"""At most, while settings are compared."""

C1 = (0.0, 0.01, 0.1, 1.0)
C2 = (0.1, 0.01, 1.0)
EPOCHS = (10, 5, 20)
"""What the penalties are chosen from, and for an algorithm without any the number of epochs."""


def tune(
    labeller: Labeller,
    X: Any,
    y: Iterable[Sequence[str]] | None = None,
    *,
    grid: Grid | None = None,
    first: float | None = None,
    rounds: int | None = None,
    iterations: int | None = ITERATIONS,
    random_state: int = 0,
    watch: Callable[[Trial[Setting]], None] | None = None,
) -> tuple[Setting, Search[Setting]]:
    """The options among those of a grid with which a labeller does best on sequences it has not seen.

    X, y          labelled sequences, as `fit` takes them
    grid          option → values, the plain ones first; None: the labeller's own (`grid`), or `crf_grid`
    first         sequences of the first sample, below 1 the share of all; None: those of about 5,000 tokens
    rounds        at most; None: as many as halving takes
    iterations    at most, where training runs until it converges and the grid says nothing; None: no limit
    random_state  of the order in which the data is shuffled
    watch         called after each trial

    Rules are left out meanwhile. The labeller given stays as it is:

    >>> from conseq.datasets import addresses
    >>> from conseq.labeller import SequenceLabeller
    >>> labeller, corpus = SequenceLabeller(n_jobs=1), addresses(40)
    >>> best, search = tune(labeller, corpus, grid={"c2": [0.1, 100.0]}, first=10)
    >>> best, search.status, labeller.set_params(**best).fit(corpus).c2
    ({'c2': 0.1}, 'finished', 0.1)
    """
    corpus = corpus_from(X, y)
    settings = settings_of(labeller, grid_for(labeller, corpus) if grid is None else grid)
    fixed = _scheme(labeller, corpus)
    if first is None:
        first = max(1, round(FIRST_TOKENS * len(corpus) / max(1, corpus.n_tokens)))

    def trial(setting: Setting, train: Indices, test: Indices) -> float:
        other = labeller.untrained().set_params(**{**fixed, **setting})
        if "max_iterations" not in setting and iterations is not None:
            _limit(other, iterations)
        other.fit(corpus.select(train))
        if _interrupted(other):  # Ctrl-C ends training with what it has, and would end the trial only
            raise KeyboardInterrupt
        return float(other.score(corpus.select(test)))

    search = progressive_sampling(
        settings, trial, len(corpus), first=first, rounds=rounds, seed=random_state, watch=watch
    )
    return dict(search.best), search


def grid_for(labeller: Labeller, corpus: Corpus) -> Grid:
    """What a labeller is tuned over if nothing is said: its own grid, or that of the CRF."""
    own = getattr(labeller, "grid", None)
    if own is not None:
        return own(corpus)
    options = labeller.get_params()
    if not {"features", "algorithm", "c1", "c2"} <= options.keys():
        raise ConseqError(f"{type(labeller).__name__} has no grid of its own; say which options to tune")
    return crf_grid(options, corpus)


def crf_grid(options: Mapping[str, Any], corpus: Corpus) -> Grid:
    """Presets that suit the corpus, and the penalties of the algorithm, or its epochs; own values first.

    >>> options = {"features": "fields", "algorithm": "lbfgs", "c1": 0.0, "c2": 1.0}
    >>> crf_grid(options, Corpus.from_sequences([["k", "a", "t"]]))
    {'features': ('fields', 'letters'), 'c1': (0.0, 0.01, 0.1, 1.0), 'c2': (1.0, 0.1, 0.01)}

    Templates given by hand stay as they are.
    """
    grid: dict[str, Sequence[Any]] = {}
    if corpus.columns and isinstance(options["features"], str):
        grid["features"] = _with(options["features"], _presets(corpus))
    known = options_of(options["algorithm"])
    if "c1" in known:
        grid["c1"] = _with(options["c1"], C1)
    if "c2" in known:
        grid["c2"] = _with(options["c2"], C2)
    else:
        grid["max_iterations"] = _with(options["max_iterations"] or EPOCHS[0], EPOCHS)
    return grid


def settings_of(labeller: Labeller, grid: Grid) -> list[Setting]:
    """Every combination that differs to the labeller; the first values of all options come first.

    Where an algorithm does not know an option, only its first value is taken:

    >>> from conseq.labeller import SequenceLabeller
    >>> grid = {"algorithm": ["lbfgs", "adagrad"], "c1": [0, 1]}
    >>> settings_of(SequenceLabeller(), grid)  # doctest: +NORMALIZE_WHITESPACE
    [{'algorithm': 'lbfgs', 'c1': 0}, {'algorithm': 'lbfgs', 'c1': 1},
     {'algorithm': 'adagrad', 'c1': 0}]
    """
    options = labeller.get_params()
    _check(grid, options)
    of_algorithms = {name for algorithm in ALGORITHMS for name in options_of(algorithm)}

    def differs(setting: Setting) -> bool:
        algorithm = setting.get("algorithm", options.get("algorithm"))
        if algorithm not in ALGORITHMS:
            return True  # of another kind of labeller, or wrong, which training says better
        idle = (of_algorithms & setting.keys()) - options_of(algorithm)
        return all(setting[name] == grid[name][0] for name in idle)

    every = (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))
    return [setting for setting in every if differs(setting)]


def _check(grid: Grid, options: Mapping[str, Any]) -> None:
    """Raise if a grid does not fit the options of a labeller."""
    for name, values in grid.items():
        if name not in options:
            raise ConseqError(f"there is no option {name!r} to tune; there are: {', '.join(options)}")
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise ConseqError(f"the grid has {values!r} for {name}; give a list of values to choose from")
        if not values:
            raise ConseqError(f"the grid has no value for {name}; give one at least, or leave {name} out")


def _presets(corpus: Corpus) -> tuple[str, ...]:
    tokens = corpus.columns[corpus.token_column].vocabulary
    return ("letters",) if all(len(token) == 1 for token in tokens) else ("chunk", "ner", "fields")


def _with(own: Any, values: Sequence[Any]) -> tuple[Any, ...]:
    return (own, *(value for value in values if value != own))


def _scheme(labeller: Labeller, corpus: Corpus) -> Setting:
    """The scheme of all labels, since a sample alone may look like another one; raises if one is missing."""
    corpus.full_labels()
    scheme = labeller.get_params().get("scheme")
    return {} if scheme is None else {"scheme": str(TrainingData.of(corpus, scheme).source)}


def _limit(labeller: Labeller, iterations: int) -> None:
    """Let training that would run until it converges stop after `iterations`."""
    options = labeller.get_params()
    algorithm = ALGORITHMS.get(options.get("algorithm", ""))
    if algorithm is not None and getattr(algorithm, "max_iterations", 0) is None:
        labeller.set_params(max_iterations=min(options["max_iterations"] or iterations, iterations))


def _interrupted(labeller: Any) -> bool:
    training = getattr(getattr(labeller, "report_", None), "training", None)
    return getattr(training, "status", None) == "interrupted"
