"""Options as objects and one by one: the same estimator, one default each, nothing given twice."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import fields

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from conseq.errors import ConseqError
from conseq.labeller import MemoryLabeller, SequenceLabeller
from conseq.models.memory import MemoryLearner
from conseq.options import NeighbourOptions, RuleOptions, Training
from conseq.threads import cores

X, Y = [["Ann", "sleeps"], ["Bob", "runs"]] * 4, [["B-PER", "O"]] * 8

GROUPS = [
    (SequenceLabeller, "training", Training),
    (SequenceLabeller, "rules", RuleOptions),
    (MemoryLabeller, "neighbours", NeighbourOptions),
    (MemoryLabeller, "rules", RuleOptions),
    (MemoryLearner, "neighbours", NeighbourOptions),
]
ESTIMATORS = [SequenceLabeller, MemoryLabeller, MemoryLearner]

every_group = pytest.mark.parametrize(("kind", "name", "options"), GROUPS)


@every_group
def test_a_single_option_has_the_default_of_its_object(kind, name, options):
    single = {p.name: p.default for p in inspect.signature(kind).parameters.values()}
    shared = [field for field in fields(options) if field.name in single]
    assert len(shared) >= 3
    assert all(single[field.name] == field.default for field in shared)
    assert getattr(kind(), name) == options()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_parameters_are_single_options_only(kind):
    names = set(inspect.signature(kind).parameters)
    assert set(kind().get_params()) == names - {"training", "rules", "neighbours"}


def test_an_object_sets_single_options():
    labeller = SequenceLabeller("ner", training=Training(algorithm="ap", max_iterations=3))
    assert (labeller.algorithm, labeller.max_iterations, labeller.c2) == ("ap", 3, Training.c2)
    assert labeller.get_params() == SequenceLabeller("ner", algorithm="ap", max_iterations=3).get_params()
    assert repr(labeller) == "SequenceLabeller(features='ner', algorithm='ap', max_iterations=3)"
    assert labeller.training == Training(algorithm="ap", max_iterations=3)
    labeller.c1 = 0.5
    assert labeller.training.c1 == 0.5
    labeller.training = Training(period=3)
    assert (labeller.period, labeller.c1, labeller.algorithm) == (3, 0.0, "lbfgs")


def test_both_objects_train_the_same_model_as_single_options():
    rules = "at most 1 segment of PER  hard"
    one = SequenceLabeller(
        "ner", n_jobs=1, training=Training(c2=0.3, max_iterations=4), rules=RuleOptions(rules, limit=9.0)
    ).fit(X, Y)
    other = SequenceLabeller(
        "ner", n_jobs=1, c2=0.3, max_iterations=4, constraints=rules, limit=9.0
    ).fit(X, Y)  # fmt: skip
    assert one.model_.weights.tolist() == other.model_.weights.tolist()
    assert (one.constraints_, one.limit) == (other.constraints_, 9.0)


def test_clones_and_grids_see_single_options():
    labeller = SequenceLabeller("ner", n_jobs=1, training=Training(c2=0.3, max_iterations=3))
    assert clone(labeller).get_params() == labeller.get_params()
    search = GridSearchCV(labeller, {"c2": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert search.best_estimator_.max_iterations == 3
    learner = MemoryLearner(neighbours=NeighbourOptions(k=2))
    assert clone(learner).k == 2


def test_set_params_takes_objects_and_single_options_win():
    labeller = SequenceLabeller(c1=0.5).set_params(c2=5.0, training=Training(c2=1.0, period=3))
    assert (labeller.c1, labeller.c2, labeller.period) == (0.0, 5.0, 3)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: SequenceLabeller(c2=5.0, training=Training(c2=1.0)), "c2 is 5.0 by itself and 1.0 in"),
        (lambda: SequenceLabeller(c2=5.0, training=Training(c1=1.0)), "c2 is 5.0 by itself and 0.1 in"),
        (lambda: SequenceLabeller(training={"c2": 1.0}), "training is .*; give an object of Training"),
        (lambda: SequenceLabeller(training=RuleOptions()), "give an object of Training"),
        (lambda: MemoryLabeller(rules=RuleOptions(folds=3)), "MemoryLabeller has no option folds"),
        (lambda: Training(c2=-1), "c2 is -1; give a number of at least 0"),
        (lambda: Training(max_iterations=0), "max_iterations is 0; give a number of at least 1"),
        (lambda: Training(random_state=1.5), "random_state is 1.5; give a whole number"),
        (lambda: RuleOptions(folds=1), "folds is 1; give a whole number of at least 2"),
        (lambda: RuleOptions(limit=-1), "limit is -1; give seconds"),
        (lambda: NeighbourOptions(k=0), "k is 0; give a whole number"),
        (lambda: NeighbourOptions(b=0), "a is 1.0 and b is 0"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_one_sentence(make, says):
    with pytest.raises(ConseqError, match=says):
        make()


def test_the_same_value_twice_is_no_contradiction():
    assert SequenceLabeller(c2=5.0, training=Training(c2=5.0)).c2 == 5.0
    assert MemoryLabeller(rules=RuleOptions(limit=2.0)).limit == 2.0


@pytest.mark.parametrize("n_jobs", [None, -1])
def test_all_processors(n_jobs):
    assert SequenceLabeller(n_jobs=n_jobs).n_threads == cores()
    assert SequenceLabeller(n_jobs=3).n_threads == 3


def test_trained_estimators_know_their_classes():
    for labeller in (SequenceLabeller("ner", n_jobs=1, max_iterations=2), MemoryLabeller(n_jobs=1)):
        assert not hasattr(labeller, "classes_")
        assert labeller.fit(X, Y).classes_ == ["B-PER", "O"]
    assert MemoryLearner().fit([["a"], ["b"]], ["x", "y"]).classes_ == ["x", "y"]


def test_options_are_light():
    """The command line shows their defaults in its help."""
    program = "import sys, conseq.options; print([m for m in ('numpy', 'numba') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
