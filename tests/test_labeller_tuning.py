"""`labeller/tuning.py`: grids that suit the data, searches that end with one of them, other labellers."""

from __future__ import annotations

import re

import pytest

from conseq.corpus import Corpus
from conseq.datasets import addresses, citations
from conseq.errors import ConseqError, DataError
from conseq.estimator import Estimator
from conseq.io.objects import corpus_from
from conseq.labeller import SequenceLabeller
from conseq.labeller.tuning import crf_grid, grid_for, settings_of, tune

POST, RECORDS = addresses(120, 1), citations(30, 1)
QUICK = {"n_jobs": 1, "max_iterations": 15}


def tagged(n: int) -> Corpus:
    """Words with a second column."""
    words = [f"w{i % 7}" for i in range(4 * n)]
    return Corpus.from_columns({"word": words, "pos": ["N", "V"] * (2 * n)}, [4] * n, ["A", "B"] * (2 * n))


# ── grids ───────────────────────────────────────────────────────────────────────────────────────


def test_the_grid_of_words_has_presets_and_penalties():
    grid = grid_for(SequenceLabeller(), RECORDS)
    assert grid == {
        "features": ("fields", "chunk", "ner"),
        "c1": (0.0, 0.01, 0.1, 1.0),
        "c2": (0.1, 0.01, 1.0),
    }
    assert len(settings_of(SequenceLabeller(), grid)) == 36


@pytest.mark.parametrize("algorithm", ["lbfgs", "ap", "adagrad"])
@pytest.mark.parametrize("corpus", [RECORDS, tagged(3)], ids=["one column", "two columns"])
def test_every_setting_of_a_default_grid_can_be_used_and_the_first_is_the_labellers_own(algorithm, corpus):
    labeller = SequenceLabeller(algorithm=algorithm, c2=0.3)
    settings = settings_of(labeller, grid_for(labeller, corpus))
    assert len(settings) > 5
    for setting in settings:
        SequenceLabeller(**{**labeller.get_params(), **setting})._check_options()
    own = {**labeller.get_params(), "max_iterations": 10}  # what None means to the perceptron
    assert settings[0].items() <= own.items()


def test_letters_attributes_and_templates_by_hand_have_grids_of_their_own():
    options = SequenceLabeller().get_params()
    letters = Corpus.from_sequences([["k", "a"], ["t"]])
    assert crf_grid(options, letters)["features"] == ("fields", "letters")
    bags = corpus_from([[{"a": 1.0}, {"b": 2.0}]])
    assert set(crf_grid(options, bags)) == {"c1", "c2"}
    assert set(crf_grid({**options, "features": ["word[0]"]}, RECORDS)) == {"c1", "c2"}


def test_options_that_an_algorithm_lacks_are_not_varied():
    grid = {"algorithm": ["ap", "lbfgs"], "c1": [0, 0.1], "c2": [0.1, 1], "min_count": [1, 2]}
    found = settings_of(SequenceLabeller(), grid)
    assert len(found) == 2 + 2 * 2 * 2
    assert [s for s in found if s["algorithm"] == "ap"] == [
        {"algorithm": "ap", "c1": 0, "c2": 0.1, "min_count": n} for n in (1, 2)
    ]


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ({"c3": [1]}, "there is no option 'c3' to tune; there are: features, "),
        ({"c2": []}, "the grid has no value for c2"),
        ({"c2": 0.1}, "the grid has 0.1 for c2; give a list of values"),
        ({"features": "ner"}, "the grid has 'ner' for features; give a list"),
        ({"c2": [-1, float("inf")]}, "none of the 2 settings can be used; {'c2': -1}: c2 is -1; give"),
        ({"features": ["nre", "rne"]}, "there is no preset 'nre'"),
    ],
)
def test_a_grid_that_does_not_fit_is_refused_in_a_sentence(grid, words):
    with pytest.raises(ConseqError, match=re.escape(words)):
        tune(SequenceLabeller(**QUICK), POST, grid=grid)


def test_data_that_cannot_be_tuned_on_is_refused_in_a_sentence():
    labeller = SequenceLabeller(**QUICK)
    with pytest.raises(ConseqError, match="2 sequences or instances at least, not 1"):
        tune(labeller, POST.select([0]), grid={"c2": [0.1, 1]})
    with pytest.raises(DataError, match="no labels"):
        tune(labeller, POST.with_labels(None), grid={"c2": [0.1, 1]})


# ── searches ────────────────────────────────────────────────────────────────────────────────────


def test_the_best_setting_is_of_the_grid_and_the_labeller_stays_as_it_was():
    labeller = SequenceLabeller(constraints="at most 1 segment of nothing  hard", **QUICK)
    before = labeller.get_params()
    heard = []
    grid = {"features": ["classic", "fields"], "c2": [0.1, 1000.0]}
    best, search = tune(labeller, POST, grid=grid, first=20, watch=heard.append)
    assert best in settings_of(labeller, grid)
    assert best["c2"] == 0.1, "a penalty that leaves no weights won"
    assert (search.best, search.status, search.failed) == (best, "finished", ())
    assert [(done.train, done.test, len(done.trials)) for done in search.rounds] == [(20, 5, 4), (96, 24, 2)]
    assert len(heard) == 6
    assert labeller.get_params() == before
    assert not hasattr(labeller, "model_")
    assert tune(labeller, POST, grid=grid, first=20)[1] == search


def test_the_default_grid_works_down_to_two_sequences():
    labeller = SequenceLabeller(["word[0]"], n_jobs=1, max_iterations=3)
    best, search = tune(labeller, POST.select([0, 1]))
    assert best in settings_of(labeller, grid_for(labeller, POST))
    assert (search.rounds[0].train, search.rounds[0].test, len(search.rounds[0].trials)) == (1, 1, 12)


def test_the_first_sample_has_about_five_thousand_tokens():
    corpus = tagged(6_000)
    labeller = SequenceLabeller(["pos[0]"], n_jobs=1, max_iterations=2)
    search = tune(labeller, corpus, grid={"c2": [1.0, 2.0, 3.0]})[1]
    assert [done.train for done in search.rounds] == [1250, 4800]


def test_a_sample_without_a_label_keeps_the_scheme_of_all_data():
    """IOB1 shows only where two segments touch, which a sample may lack."""
    x, y = [["a", "b"]] * 11 + [["a", "a"]], [["I-X", "O"]] * 11 + [["I-X", "B-X"]]
    search = tune(SequenceLabeller(["word[0]"], **QUICK), corpus_from(x, y), grid={"c2": [0.1, 1.0]})[1]
    assert search.failed == ()
    assert search.score > 0.6


def test_settings_that_cannot_be_used_are_dropped_with_the_reason():
    best, search = tune(SequenceLabeller(["word[0]"], **QUICK), POST, grid={"min_count": [1, 10_000]})
    assert best == {"min_count": 1}
    assert [one.setting for one in search.failed] == [{"min_count": 10_000}]
    assert "lower min_count" in search.failed[0].reason


@pytest.mark.parametrize(
    ("options", "grid", "limit", "wanted"),
    [
        ({}, {"c2": [0.1, 1.0]}, 7, {7}),
        ({"max_iterations": 3}, {"c2": [0.1, 1.0]}, 7, {3}),
        ({"max_iterations": 9}, {"c2": [0.1, 1.0]}, None, {9}),
        ({}, {"max_iterations": [5, 10]}, 7, {5, 10}),
        ({"algorithm": "ap"}, {"min_count": [1, 2]}, 7, {None}),  # epochs, of which it has its own number
    ],
)
def test_training_that_runs_until_it_converges_is_limited(options, grid, limit, wanted, monkeypatch):
    fit, seen = SequenceLabeller.fit, set()
    monkeypatch.setattr(
        SequenceLabeller, "fit", lambda self, X: (seen.add(self.max_iterations), fit(self, X))[1]
    )
    tune(SequenceLabeller(["word[0]"], n_jobs=1, **options), POST, grid=grid, iterations=limit)
    assert seen == wanted


@pytest.mark.parametrize("algorithm", ["lbfgs", "ap"])
def test_an_interrupt_within_training_ends_the_search(algorithm, monkeypatch):
    """Training alone would keep what it has, and the search would go on."""
    fit, fitted = SequenceLabeller.fit, []

    def interrupted(self, X, y=None, **options):
        fitted.append(self)
        if len(fitted) == 3:
            options["watch"] = stop
        return fit(self, X, y, **options)

    def stop(progress):
        raise KeyboardInterrupt

    monkeypatch.setattr(SequenceLabeller, "fit", interrupted)
    labeller = SequenceLabeller(["word[0]"], algorithm=algorithm, **QUICK)
    best, search = tune(labeller, POST, grid={"min_count": [1, 2, 3, 4]}, first=20)
    assert search.status == "interrupted"
    assert len(fitted) == 3
    assert best in [{"min_count": 1}, {"min_count": 2}]


# ── other labellers ─────────────────────────────────────────────────────────────────────────────


class Constant(Estimator):
    """Labels everything with one label."""

    def __init__(self, label="O"):
        self.label = label

    def untrained(self):
        return Constant(self.label)

    def fit(self, X):
        return self

    def score(self, X):
        labels = X.labels.strings()
        return labels.count(self.label) / len(labels)


class WithGrid(Constant):
    def grid(self, corpus):
        return {"label": list(corpus.labels.vocabulary)}


def test_another_labeller_brings_its_grid():
    best, search = tune(WithGrid(), tagged(40).with_labels(["A", "B", "B", "C"] * 40))
    assert best == {"label": "B"}
    assert search.score == 0.5


def test_another_labeller_without_a_grid_is_told_to_bring_one():
    with pytest.raises(ConseqError, match="Constant has no grid of its own; say which options to tune"):
        tune(Constant(), POST)
    assert tune(Constant(), tagged(40), grid={"label": ["x", "A"]})[0] == {"label": "A"}
