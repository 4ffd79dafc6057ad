"""What can be chosen, with its default: small objects that are nothing but data.

    Training          how a conditional random field is trained
    RuleOptions       the rules that labels obey, how they are learned, how labels are found under them
    NeighbourOptions  how a memory finds neighbours, and how they vote
    RelationOptions   how entities and relations are learned, and the rules they obey

An estimator takes their fields one by one, `c2=1.0`, or an object, `training=Training(c2=1.0)`; either way
the default is the one that stands here (`estimator.py`). Nothing heavy is imported, so that help stays quick.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from conseq.errors import ConseqError

SECONDS = 60.0
"""For one sequence, unless a limit is given: more than any but the hardest problems take."""


@dataclass(frozen=True)
class Training:
    """How a conditional random field is trained.

    >>> Training(c2=1.0).algorithm
    'lbfgs'

    algorithm     lbfgs, ap (averaged perceptron; without c2) or adagrad (stochastic gradients)
    c1, c2        weights of the L1 and the squared L2 norm; c1 for lbfgs only
    max_iterations, delta, period    when training stops (CRFsuite's meaning); for ap and adagrad iterations
                  are epochs, 10 and 20 unless given
    random_state  of the order in which ap and adagrad see the sequences, and of the folds for rules
    min_count     attributes seen less often are left out
    transitions, boundaries    weights for neighbouring labels, and for the first and last one
    """

    algorithm: str = "lbfgs"
    c1: float = 0.0
    c2: float = 0.1
    max_iterations: int | None = None
    delta: float = 1e-5
    period: int = 10
    random_state: int = 0
    min_count: int = 1
    transitions: bool = True
    boundaries: bool = True

    def __post_init__(self) -> None:
        least = {"c1": 0, "c2": 0, "delta": 0, "period": 1, "random_state": 0, "min_count": 0}
        for name, lowest in least.items():
            _check_least(name, getattr(self, name), lowest)
        if self.random_state != int(self.random_state):
            raise ConseqError(f"random_state is {self.random_state}; give a whole number")
        if self.max_iterations is not None:
            _check_least("max_iterations", self.max_iterations, 1)


@dataclass(frozen=True)
class RuleOptions:
    """The rules that labels obey, how they are learned, and how labels are found under them.

    constraints   a text in the language of rules, the path of a rule file, a list of rules or lines, or None;
                  "learn": rules and penalties are learned from the training data
    recipe        how they are learned (`conseq.Recipe`); None: the usual way
    folds         models trained without a part of the data, so that rules are learned from data that a model
                  has not seen; 0: rules are learned from development data alone
    legal         decode legal label sequences only
    decoder       the name of a decoder, or a decoder with its options
    limit         seconds for one sequence, after which the best labels so far are taken; None: no limit
    """

    constraints: Any = None
    recipe: Any = None
    folds: int = 5
    legal: bool = True
    decoder: Any = "auto"
    limit: float | None = SECONDS

    def __post_init__(self) -> None:
        _check_least("folds", self.folds, 0)
        if self.folds != int(self.folds) or self.folds == 1:
            raise ConseqError(f"folds is {self.folds}; give a whole number of at least 2, or 0 for none")
        if self.limit is not None and not self.limit >= 0:
            raise ConseqError(f"limit is {self.limit}; give seconds from 0, or None for no limit")


@dataclass(frozen=True)
class NeighbourOptions:
    """How neighbours are found, and how they vote.

    distance      overlap, mvdm (modified value difference), jensen-shannon, jeffrey (divergences of the
                  classes that go with two values) or numeric, or a list with one for each feature
    weights       none, gain-ratio, information-gain, chi-squared or shared-variance
    k             all instances at the k nearest distances vote
    voting        majority, inverse-distance, inverse-linear or exponential-decay, which is exp(−a · d^b)
    algorithm     ib1 (exact) or igtree (the instances that match longest in the order of weights)
    threshold     values seen less often than this are equal or not, whatever the distance
    """

    distance: str | Sequence[str] = "overlap"
    weights: str = "gain-ratio"
    k: int = 1
    voting: str = "majority"
    algorithm: str = "ib1"
    a: float = 1.0
    b: float = 1.0
    threshold: int = 1

    def __post_init__(self) -> None:
        for name in ("k", "threshold"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise ConseqError(f"{name} is {value}; give a whole number of at least 1")
        if not (self.a >= 0 and self.b > 0):
            raise ConseqError(f"a is {self.a} and b is {self.b}; give a of at least 0 and b above 0")


@dataclass(frozen=True)
class RelationOptions:
    """How entities and relations are learned and decided.

    classifier    logistic, winnow, or an object with fit and predict_proba that takes the place of both
    approach      joint: both are decided together under the rules; basic: each for itself; pipeline: the
                  classifier of relations sees which types were found
    boundaries    given: sentences come with their entities, whose types are decided; predicted: entities are
                  found, too
    features      full, or paper (what Roth and Yih 2004 list)
    c2            weight of the squared L2 norm of the classifier of entities
    relation_c2   and of that of relations
    min_count     attributes seen less often are left out
    constraints   a text in the language of rules, the path of a rule file, a list of rules or lines, or None;
                  "learn": rules and penalties are learned from the training data
    penalties     how they are learned: log-ratio (of how often a rule held), perceptron or svm, which learn
                  the scales of both classifiers, too
    bonus         what the score of each relation gets over that of none; None: what is best on the folds
    folds         models trained without a part of the data, so that the bonus is chosen on data that a
                  model has not seen; 0: none, and then the bonus is 0
    random_state  of the folds
    solver        auto (exact), ilp, lp, beam or elimination, or one with its options
    limit         seconds for one sentence, after which the best answer so far is taken; None: no limit
    """

    classifier: Any = "logistic"
    approach: str = "joint"
    boundaries: str = "given"
    features: str = "full"
    c2: float = 0.3
    relation_c2: float = 1.0
    min_count: int = 1
    constraints: Any = "learn"
    penalties: str = "log-ratio"
    bonus: float | None = None
    folds: int = 5
    random_state: int = 0
    solver: Any = "auto"
    limit: float | None = SECONDS

    def __post_init__(self) -> None:
        choices = {
            "approach": ("joint", "basic", "pipeline"),
            "boundaries": ("given", "predicted"),
            "features": ("full", "paper"),
            "penalties": ("log-ratio", "perceptron", "svm"),
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ConseqError(f"{name} is {getattr(self, name)!r}; choose one of {', '.join(known)}")
        for name in ("c2", "relation_c2", "min_count", "folds"):
            _check_least(name, getattr(self, name), 0)
        if self.folds != int(self.folds) or self.folds == 1:
            raise ConseqError(f"folds is {self.folds}; give a whole number of at least 2, or 0 for none")
        if self.bonus is not None and not -math.inf < self.bonus < math.inf:
            raise ConseqError(f"bonus is {self.bonus}; give a number, or None for the best")
        if self.limit is not None and not self.limit >= 0:
            raise ConseqError(f"limit is {self.limit}; give seconds from 0, or None for no limit")


def _check_least(name: str, value: float, lowest: float) -> None:
    if not value >= lowest or value == math.inf:
        raise ConseqError(f"{name} is {value}; give a number of at least {lowest}")
