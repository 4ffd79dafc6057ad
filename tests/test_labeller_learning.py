"""Rules learned along with a model: folds, development data, odd label sets, interruptions, files."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from conseq.constraints.language import parse_constraints
from conseq.corpus import Corpus
from conseq.datasets import citations
from conseq.decoders.twostage import TwoStage
from conseq.errors import ConseqError
from conseq.labeller import MemoryLabeller, SequenceLabeller
from conseq.labeller.learning import cross_fitted, evidence_of, gather, learn_rules, split
from conseq.mining import Evidence, Perceptron, Recipe, Screen, learn_from
from conseq.mining.recipe import Stage
from conseq.mining.tau import GRID, choose_tau
from conseq.models.crf import CRF, Progress
from conseq.schema import Scheme

TRAIN, OTHER, TEST = citations(60, 1), citations(40, 2), citations(60, 3)
QUICK = {"n_jobs": 1, "max_iterations": 25, "folds": 2}


@pytest.fixture(scope="module")
def fitted() -> SequenceLabeller:
    return SequenceLabeller(constraints="learn", **QUICK).fit(TRAIN)


def chosen(n: int, noise: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Sequences `a … a ?`: A first, then B, where the words at the end tell little."""
    rng = np.random.default_rng(n + noise)
    X, Y = [], []
    for _ in range(n):
        length = int(rng.integers(2, 5))
        first = int(rng.integers(1, length))
        X.append([str(rng.choice(["a", "b", "u"])) for _ in range(length)])
        Y.append(["A"] * first + ["B"] * (length - first))
    return X, Y


# ── what is learned ─────────────────────────────────────────────────────────────────────────────


def test_rules_are_learned_and_do_no_harm(fitted):
    assert len(fitted.constraints_) > 10
    assert list(fitted.constraints_) == fitted.learned_.constraints
    assert fitted.learned_.sequences == len(TRAIN)
    without = fitted.with_constraints(None)
    assert without.constraints_ == ()
    assert fitted.score(TEST) > without.score(TEST) - 0.01
    broken = [
        sum(
            Evidence.broken_by(evidence_of(fitted, TEST), fitted.constraints_, who.predict_ids(TEST)).sum(
                axis=0
            )
        )
        for who in (fitted, without)
    ]
    gold = evidence_of(fitted, TEST).broken_by_gold(fitted.constraints_).sum()
    assert broken[0] - gold < (broken[1] - gold) / 2, "what is broken beyond gold is not halved"
    assert fitted.report_.seconds["rules"] > 0


def test_the_same_seed_gives_the_same_rules(fitted):
    again = SequenceLabeller(constraints="learn", **QUICK).fit(TRAIN)
    assert again.constraints_ == fitted.constraints_


def test_rules_do_not_change_the_weights(fitted):
    plain = SequenceLabeller(**QUICK).fit(TRAIN)
    assert plain.learned_ is None
    np.testing.assert_array_equal(plain.potentials(TEST).unary, fitted.potentials(TEST).unary)


def test_a_file_keeps_the_rules(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = SequenceLabeller.load(tmp_path / "model")
    assert loaded.constraints_ == fitted.constraints_
    assert parse_constraints(loaded.constraints) == list(fitted.constraints_)
    assert loaded.predict(TEST) == fitted.predict(TEST)
    assert loaded.report_.stored() == fitted.report_.stored()


@pytest.mark.parametrize("algorithm", ["ap", "adagrad"])
def test_rules_are_learned_with_any_algorithm(algorithm):
    recipe = Recipe(["only-one"], Screen(importance=1.0, broken=1), learner="log-ratio")
    options = {**QUICK, "max_iterations": 5}
    labeller = SequenceLabeller(constraints="learn", algorithm=algorithm, recipe=recipe, **options).fit(TRAIN)
    assert labeller.learned_ is not None
    assert labeller.untrained().algorithm == algorithm


def test_a_recipe_is_followed():
    recipe = Recipe(["only-one"], Screen(importance=1.0, broken=1), learner="log-ratio")
    labeller = SequenceLabeller(constraints="learn", recipe=recipe, **QUICK).fit(TRAIN)
    assert labeller.constraints_
    assert all(rule.line().startswith("at most 1 segment of ") for rule in labeller.constraints_)


def test_the_stages_are_told():
    seen: list[Stage] = []
    iterations: list[Progress] = []
    labeller = SequenceLabeller(constraints="learn", **{**QUICK, "max_iterations": 3, "folds": 3})
    labeller.recipe = Recipe(families=["only-one"], learner=Perceptron(epochs=1))
    labeller.fit(TRAIN.select(range(30)), watch=iterations.append, stage=seen.append)
    names = list(dict.fromkeys(stage.name for stage in seen))
    assert names[:4] == [*(f"training without part {k} of 3" for k in (1, 2, 3)), "looking for rules"]
    assert len(iterations) == 4 * 3  # of the model itself and of the three others


# ── folds ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("n", "folds"), [(10, 3), (7, 7), (5, 2)])
def test_every_sequence_is_in_one_fold(n, folds):
    parts = split(n, folds)
    assert sorted(np.concatenate(parts).tolist()) == list(range(n))
    assert len(parts) == folds
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert [p.tolist() for p in split(n, folds)] == [p.tolist() for p in parts]


def test_each_sequence_is_scored_by_a_model_that_has_not_seen_it():
    """Against labellers trained by hand on the other folds."""
    corpus = TRAIN.select(range(24))
    labeller = SequenceLabeller(**{**QUICK, "max_iterations": 5, "folds": 3})
    evidence = cross_fitted(labeller, corpus)
    assert evidence.corpus.token_sequences() == corpus.token_sequences()
    assert evidence.schema.decode(evidence.gold) == corpus.labels.strings()
    found = evidence.corpus.split(evidence.schema.decode(evidence.predicted))
    for held_out in split(24, 3):
        rest = [i for i in range(24) if i not in held_out]
        other = SequenceLabeller(**{**QUICK, "max_iterations": 5}).fit(corpus.select(rest))
        expected = other.predict(corpus.select(held_out))
        assert [found[i] for i in held_out] == expected


def test_more_folds_than_sequences_leave_out_one_each():
    X, Y = chosen(6)
    seen: list[Stage] = []
    labeller = SequenceLabeller(["word[0]"], constraints="learn", n_jobs=1, folds=50)
    labeller.fit(X, Y, stage=seen.append)
    assert sum(stage.name.startswith("training without") for stage in seen) == 6
    assert labeller.learned_.sequences == 6


@pytest.mark.parametrize(
    ("folds", "n", "says"),
    [(1, 6, "folds is 1"), (2.5, 6, "folds is 2.5"), (5, 1, "1 folds of 1 sequences are too few")],
)
def test_too_few_folds_or_sequences(folds, n, says):
    X, Y = chosen(n)
    labeller = SequenceLabeller(["word[0]"], constraints="learn", n_jobs=1, folds=folds)
    with pytest.raises(ConseqError, match=says):
        labeller.fit(X, Y)


def test_a_label_of_one_sequence_alone():
    """The model of that fold does not know C, and the labels come in another order; nothing gets mixed up."""
    X, Y = chosen(8)
    X[0], Y[0] = ["z", "b"], ["C", "B"]
    corpus = Corpus.from_sequences(X, Y)
    evidence = cross_fitted(SequenceLabeller(["word[0]"], n_jobs=1, folds=8), corpus)
    assert evidence.schema.decode(evidence.gold) == corpus.labels.strings()
    c = evidence.schema.vocabulary.find("C")
    first = evidence.potentials[0].unary
    assert np.isneginf(first[:, c]).all()
    assert np.isfinite(first[:, evidence.schema.vocabulary.find("B")]).all()
    assert all(np.isfinite(evidence.potentials[i].unary[:, c]).any() for i in range(1, 8))
    labeller = SequenceLabeller(["word[0]"], constraints="learn", n_jobs=1, folds=8).fit(X, Y)
    assert len(labeller.predict(X)) == 8


@pytest.mark.parametrize("whole", ["bio", "plain"])
def test_folds_read_labels_in_the_scheme_of_the_whole(whole):
    """Without the last sequence the labels look like IOB1, and would be turned into others."""
    X = [*[["r", "q"]] * 3, ["p", "q"] * 3]
    last = {"bio": ["B-y", "O"] * 3, "plain": ["y", "O"] * 3}[whole]
    corpus = Corpus.from_sequences(X, [*[["I-x", "O"]] * 3, last])
    labeller = SequenceLabeller(["word[0]"], n_jobs=1, folds=4)
    assert SequenceLabeller(["word[0]"], n_jobs=1).fit(corpus.select([0, 1, 2])).source_scheme_ is Scheme.IOB1
    evidence = cross_fitted(labeller, corpus)
    assert evidence.schema.scheme == whole
    place = evidence.schema.vocabulary.find("I-x")
    scores = evidence.potentials[3].unary[1]  # at "q", which the others have seen as O
    known = np.isfinite(scores)
    assert known.tolist() == [label in ("O", "I-x") for label in evidence.schema.labels]
    assert scores[place] < scores[evidence.schema.vocabulary.find("O")]


def test_iob1():
    """Segments of one token are I- in IOB1 and B- inside; rules speak of types."""
    X, Y = [], []
    for words, plain in zip(*chosen(30), strict=True):
        X.append(words)
        Y.append(
            [f"{'B' if t and label == 'B' == plain[t - 1] else 'I'}-{label}" for t, label in enumerate(plain)]
        )
    labeller = SequenceLabeller(
        ["word[0]"],
        constraints="learn",
        n_jobs=1,
        folds=3,
        recipe=Recipe(screen=Screen(importance=1.0, broken=1)),
    ).fit(X, Y)
    assert labeller.source_scheme_ is Scheme.IOB1
    assert set(labeller.schema_.labels) <= {"B-A", "I-A", "B-B", "I-B"}
    evidence = cross_fitted(labeller, Corpus.from_sequences(X, Y))
    assert evidence.schema.labels == labeller.schema_.labels
    gold, _ = labeller.gold_ids(Corpus.from_sequences(X, Y))
    assert evidence.gold.tolist() == gold.tolist()
    assert {name for rule in labeller.constraints_ for name in rule.names} <= {"A", "B"}
    assert len(labeller.predict(X)) == 30


def test_attributes_per_token():
    X, Y = chosen(20)
    dicts = [[{"word": word} for word in words] for words in X]
    labeller = SequenceLabeller(
        constraints="learn", n_jobs=1, folds=2, recipe=Recipe(screen=Screen(importance=1.0, broken=1))
    ).fit(dicts, Y)
    assert labeller.learned_.sequences == 20
    assert len(labeller.predict(dicts)) == 20


def test_labels_without_segments():
    labeller = SequenceLabeller(["word[0]"], constraints="learn", n_jobs=1, folds=2)
    assert labeller.fit([["a", "b"]] * 4, [["O", "O"]] * 4).constraints_ == ()
    assert labeller.learned_.candidates == 0


# ── development data ────────────────────────────────────────────────────────────────────────────


def test_development_data_alone():
    labeller = SequenceLabeller(constraints="learn", **{**QUICK, "folds": 0})
    seen: list[Stage] = []
    labeller.fit(TRAIN, development=OTHER, stage=seen.append)
    assert labeller.learned_.sequences == len(OTHER)
    assert not [stage for stage in seen if stage.name.startswith("training")]
    assert labeller.constraints_


def test_development_data_and_folds_are_added():
    labeller = SequenceLabeller(**QUICK).fit(TRAIN, development=OTHER)
    evidence = gather(labeller, TRAIN, OTHER)
    assert len(evidence) == len(TRAIN) + len(OTHER)
    names = evidence.schema.decode(evidence.gold)
    assert names == [*TRAIN.labels.strings(), *OTHER.labels.strings()]
    last = evidence.select(np.arange(len(TRAIN), len(evidence)))
    assert last.schema.decode(last.predicted) == [y for s in labeller.predict(OTHER) for y in s]


@pytest.mark.parametrize("folds", [0, 2])
def test_labels_of_development_data_that_training_lacks(folds, tmp_path):
    """Rules about them could be neither read nor kept."""
    labeller = SequenceLabeller(constraints="learn", **{**QUICK, "folds": folds})
    few = TRAIN.select(range(25))
    labeller.fit(few, development=OTHER)
    assert set(OTHER.labels.vocabulary) - set(labeller.schema_.labels)
    assert labeller.constraints_
    types = set(labeller.schema_.types())
    assert {name for rule in labeller.constraints_ for name in rule.names} <= {*types, "O"}
    assert len(labeller.predict(TEST)) == len(TEST)
    labeller.save(tmp_path / "model")
    assert SequenceLabeller.load(tmp_path / "model").constraints_ == labeller.constraints_


def test_nothing_unseen_to_learn_from_is_said_before_training(monkeypatch):
    monkeypatch.setattr(CRF, "fit_all", lambda *_, **options: pytest.fail("trained all the same"))
    with pytest.raises(pytest.fail.Exception, match="trained all the same"):
        SequenceLabeller(n_jobs=1).fit(TRAIN)
    with pytest.raises(ConseqError, match="set folds to 2 or more, or give development data"):
        SequenceLabeller(constraints="learn", folds=0, n_jobs=1).fit(TRAIN)
    recipe = Recipe(families=["weather"])
    with pytest.raises(ConseqError, match="no family 'weather'"):
        SequenceLabeller(constraints="learn", recipe=recipe, n_jobs=1).fit(TRAIN)


@pytest.mark.parametrize("folds", [-1, float("nan")])
def test_folds_that_are_no_number_of_folds(folds):
    with pytest.raises(ConseqError, match=f"folds is {folds}; give a number of at least 0"):
        SequenceLabeller(folds=folds, n_jobs=1).fit(*chosen(4))


# ── rules by themselves ─────────────────────────────────────────────────────────────────────────


def test_learn_rules_gives_the_rules_that_training_learns(fitted):
    """From a labeller that is trained, from one that is not, which stays so, and from one without rules."""
    labeller = SequenceLabeller(**QUICK)
    for one in (fitted, fitted.with_constraints(None), labeller):
        assert learn_rules(one, TRAIN).rules == fitted.learned_.rules
    assert not hasattr(labeller, "model_")
    X, y = TRAIN.token_sequences(), TRAIN.label_sequences()
    assert learn_rules(labeller, X, y).rules == fitted.learned_.rules


def test_learn_rules_takes_folds_recipe_and_development_data():
    recipe = Recipe(["only-one"], Screen(importance=1.0, broken=1), learner="log-ratio")
    learning = SequenceLabeller(constraints="learn", recipe=recipe, **{**QUICK, "folds": 0})
    learning.fit(TRAIN, development=OTHER)
    labeller = SequenceLabeller(**QUICK)
    learned = learn_rules(labeller, TRAIN, development=OTHER, recipe=recipe, folds=0)
    assert learned.sequences == len(OTHER)
    assert learned.rules == learning.learned_.rules
    assert (labeller.folds, labeller.recipe) == (2, None)


def test_learn_rules_from_scores(fitted):
    """The labeller's own scores of data it has not seen give what `evidence_of` gives."""
    recipe = Recipe(["only-one", "together"], learner="log-ratio")
    expected = learn_from(evidence_of(fitted, OTHER), recipe).rules
    potentials, labels = fitted.potentials(OTHER), fitted.classes_
    found = learn_rules(potentials, OTHER, labels=labels, scheme="bio", recipe=recipe)
    assert found.rules == expected
    arrays = [potentials[i].unary for i in range(len(OTHER))]
    alone = learn_rules(arrays, OTHER, labels=labels, recipe=recipe, n_jobs=1)
    assert alone.sequences == len(OTHER)
    assert alone.rules


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: learn_rules(MemoryLabeller(), *chosen(4)), "scores of labels, which MemoryLabeller has not"),
        (lambda: learn_rules(SequenceLabeller(folds=0), *chosen(4)), "set folds to 2 or more"),
        (lambda: learn_rules(SequenceLabeller(), *chosen(4), folds=1), "folds is 1"),
        (
            lambda: learn_rules(SequenceLabeller(), *chosen(4), labels=["A"]),
            "labels and n_jobs go with scores",
        ),
        (lambda: learn_rules([[[0.0]]], [["a"]], [["A"]]), "give the names of the columns"),
        (lambda: learn_rules([[[0.0]]], [["a"]], [["A"]], labels=["A", "B"]), "scores for 1 labels and 2"),
        (lambda: learn_rules([[[0.0]]], [["a"]] * 2, [["A"]] * 2, labels=["A"]), "scores for 1 sequences"),
        (
            lambda: learn_rules([[[0.0]]], [["a"] * 2], [["A"] * 2], labels=["A"]),
            "sequence 0 .* has 2 tokens",
        ),
        (lambda: learn_rules([[["x"]]], [["a"]], [["A"]], labels=["A"]), "not an array of numbers"),
        (lambda: learn_rules([[[0.0]]], [["a"]], labels=["A"]), "no labels"),
    ],
)
def test_what_rules_cannot_be_learned_from_is_one_sentence(ask, says):
    with pytest.raises(ConseqError, match=says):
        ask()


# ── scikit-learn's manner ───────────────────────────────────────────────────────────────────────


def test_clones_have_the_same_options(fitted):
    recipe = Recipe(families=["only-one"], learner=Perceptron(epochs=2))
    labeller = SequenceLabeller(constraints="learn", recipe=recipe, folds=7, c2=0.5)
    copy = clone(labeller)
    assert (copy.constraints, copy.folds, copy.c2) == ("learn", 7, 0.5)
    assert copy.recipe == recipe
    assert not hasattr(clone(fitted), "model_")
    assert clone(fitted).constraints == "learn"


def test_an_untrained_bare_learns_no_rules(fitted):
    bare = fitted.untrained()
    assert not hasattr(bare, "model_")
    assert bare.get_params() == {**fitted.get_params(), "constraints": None}


def test_learning_goes_with_fit(fitted):
    with pytest.raises(ConseqError, match="goes with fit"):
        fitted.with_constraints("learn")


# ── interruptions ───────────────────────────────────────────────────────────────────────────────


def test_interrupted_while_folds_train_the_labeller_is_trained_and_has_no_rules():
    """L-BFGS stops at the interruption and says so; the labeller itself was done before."""
    state = {"folds": 0}

    def stage(now: Stage) -> None:
        state["folds"] += now.name.startswith("training without")

    def impatient(progress: Progress) -> None:
        if state["folds"] == 2 and progress.iteration >= 2:
            raise KeyboardInterrupt

    labeller = SequenceLabeller(constraints="learn", **QUICK)
    labeller.fit(TRAIN, watch=impatient, stage=stage)
    assert state["folds"] == 2
    assert labeller.constraints_ == ()
    assert labeller.learned_ is None
    assert labeller.report_.training.status != "interrupted"
    assert labeller.predict(TEST) == SequenceLabeller(**QUICK).fit(TRAIN).predict(TEST)


def test_interrupted_while_the_model_trains_no_folds_are_trained():
    def impatient(progress: Progress) -> None:
        if progress.iteration >= 3:
            raise KeyboardInterrupt

    seen: list[Stage] = []
    labeller = SequenceLabeller(constraints="learn", **QUICK)
    labeller.fit(TRAIN, watch=impatient, stage=seen.append)
    assert labeller.report_.training.status == "interrupted"
    assert (labeller.constraints_, seen) == ((), [])
    assert len(labeller.predict(TEST)) == len(TEST)


def test_interrupted_while_rules_are_judged():
    def stage(now: Stage) -> None:
        if now.name.startswith("judging"):
            raise KeyboardInterrupt

    labeller = SequenceLabeller(constraints="learn", **{**QUICK, "max_iterations": 3})
    labeller.fit(TRAIN.select(range(20)), stage=stage)
    assert (labeller.constraints_, labeller.learned_) == ((), None)
    assert "rules" in labeller.report_.seconds


def test_trained_again_without_learning_there_are_no_rules_left(fitted):
    labeller = clone(fitted).fit(TRAIN)
    assert labeller.constraints_
    labeller.set_params(constraints=None).fit(TRAIN)
    assert (labeller.constraints_, labeller.learned_) == ((), None)


def test_another_seed_is_another_split():
    assert [p.tolist() for p in split(20, 2, 1)] != [p.tolist() for p in split(20, 2)]
    corpus = TRAIN.select(range(12))
    scores = [
        cross_fitted(SequenceLabeller(**{**QUICK, "max_iterations": 2}, random_state=seed), corpus)
        for seed in (0, 0, 1)
    ]
    unary = [evidence.potentials.unary.tolist() for evidence in scores]
    assert unary[0] == unary[1] != unary[2]


def test_the_band_of_two_stages_is_chosen_along_with_the_rules(tmp_path):
    train = citations(60, seed=0)
    recipe = Recipe(["only-one"], Screen(broken=1))
    options = {"constraints": "learn", "decoder": "twostage", "recipe": recipe}
    labeller = SequenceLabeller("ner", folds=2, n_jobs=1, **options)
    labeller.fit(train)
    assert labeller.tau_ in GRID
    evidence = cross_fitted(labeller, train)
    assert labeller.tau_ == choose_tau(evidence, labeller.constraints_)
    new = citations(12, seed=1)
    by_hand = labeller.with_constraints(labeller.constraints_)
    by_hand.decoder = TwoStage(labeller.tau_)
    assert labeller.predict(new) == by_hand.predict(new)
    labeller.save(tmp_path / "two.model")
    loaded = SequenceLabeller.load(tmp_path / "two.model")
    assert (loaded.tau_, loaded.decoder) == (labeller.tau_, "twostage")
    assert loaded.predict(new) == labeller.predict(new)
