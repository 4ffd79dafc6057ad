"""`labeller/memory.py`: the whole task with a memory, against its parts and by hand."""

from __future__ import annotations

import numpy as np
import pytest

import conseq
from conseq import Corpus, SequenceLabeller
from conseq.datasets import addresses
from conseq.decoders.auto import Auto
from conseq.errors import ConseqError, DataError, InfeasibleError, ModelError
from conseq.labeller import LABELLERS, MemoryLabeller, load
from conseq.models.distributions import distributions
from conseq.models.memory import MemoryLearner
from conseq.models.trigrams import Predictions, TrigramClasses
from conseq.models.windows import windows

TRAIN, TEST = addresses(120, seed=1), addresses(30, seed=2)


@pytest.fixture(scope="module", params=["csinf", "single"])
def fitted(request):
    return MemoryLabeller(inference=request.param, n_jobs=2).fit(TRAIN)


@pytest.fixture(scope="module")
def trigrams():
    return MemoryLabeller(k=3, n_jobs=1).fit(TRAIN)


def predictions(**options) -> Predictions:
    """What a learner of the windows predicts for TEST."""
    classes, ids = TrigramClasses.of(TRAIN)
    learner = MemoryLearner(n_jobs=1, **options).fit(strings(TRAIN), ids.tolist())
    return Predictions.of(classes, distributions(learner, strings(TEST)), TEST.offsets)


def strings(corpus):
    return windows(corpus, list(corpus.columns)).strings()


def test_single_classes_are_the_learners_own():
    """Windows as rows of strings through `MemoryLearner` give what the labeller gives."""
    fitted = MemoryLabeller(inference="single", n_jobs=2).fit(TRAIN)
    learner = MemoryLearner(n_jobs=1).fit(strings(TRAIN), TRAIN.full_labels().strings())
    assert fitted.schema_.decode(fitted.predict_ids(TEST)) == learner.predict(strings(TEST))


def test_trigrams_are_reconciled(trigrams):
    found = predictions(k=3)
    assert trigrams.schema_.decode(trigrams.predict_ids(TEST)) == found.names(found.csinf())


def test_weights_are_sharpened_and_the_file_knows(tmp_path):
    sharp = MemoryLabeller(k=5, sharpness=4.0, n_jobs=1).fit(TRAIN)
    found = predictions(k=5)
    labels = sharp.schema_.decode(sharp.predict_ids(TEST))
    assert labels == found.names(found.sharpened(4.0).csinf()) != found.names(found.csinf())
    sharp.save(tmp_path / "m.model")
    again = load(tmp_path / "m.model")
    assert again.sharpness == 4.0
    assert again.schema_.decode(again.predict_ids(TEST)) == labels


def test_what_it_has_seen_it_knows(fitted):
    assert fitted.score(TRAIN) > 0.99
    assert fitted.score(TEST) > 0.6
    assert fitted.report_.instances == TRAIN.n_tokens


def test_decodings_say_the_same_as_the_labels(fitted):
    few = TEST.select(range(6))
    found = fitted.decode(few)
    assert [d.labels for d in found] == fitted.predict(few)
    assert {d.certificate.status.name for d in found} == {"OPTIMAL"}
    if fitted.inference == "csinf":
        (answers,) = fitted.answers(few)
        assert [d.score for d in found] == pytest.approx(answers.decodings.scores.tolist())
        by_core = [Auto().decode(problem).score for problem in answers.decodings.problems]
        assert by_core == pytest.approx([d.score for d in found])


def test_rules_are_kept(fitted):
    few = TEST.select(range(8))
    kind = max(fitted.schema_.types(), key=lambda t: sum(t in s for s in few.label_sequences()))
    none = fitted.with_constraints(f"at most 0 segments of '{kind}'  hard")
    assert not any(label.endswith(kind) for labels in none.predict(few) for label in labels)
    assert none.constraints_
    sequences = none.label(few, confidences=False)
    assert all(s.certificate.status.name == "OPTIMAL" for s in sequences)
    assert fitted.predict(few) == fitted.with_constraints(None).predict(few)


def test_rules_count_what_is_broken(trigrams):
    few = TEST.select(range(8))
    ruled = trigrams.with_constraints("at most 0 segments of PlaceName  penalty 0.001")
    (found,) = ruled.answers(few)
    with_city = sum(any(y == "PlaceName" for y in labels) for labels in trigrams.predict(few))
    assert found.broken_without_rules().tolist() == [with_city]
    assert found.broken().tolist() == [with_city]


def test_probabilities_are_shares_of_votes(fitted):
    rows = fitted.predict_marginals(TEST.select(range(4)))
    for token in (t for sequence in rows for t in sequence):
        assert sum(token.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("rules", [None, "at most 0 segments of PlaceName  hard"])
def test_class_trigrams_give_the_n_best(trigrams, rules):
    few = TEST.select(range(6))
    labeller = trigrams.with_constraints(rules)
    for best, found in zip(labeller.predict_nbest(few, 3), labeller.decode(few), strict=True):
        (labels, score), *others = best
        assert (labels, score) == (found.labels, pytest.approx(found.score))
        assert [s for _, s in others] == sorted((s for _, s in others if s <= score), reverse=True)
        assert len({tuple(labels) for labels, _ in best}) == len(best)


def test_class_trigrams_keep_labels_that_are_given(trigrams):
    few = TEST.select(range(4))
    rows, kind = few.token_sequences(), trigrams.schema_.labels[1]
    half = Corpus.from_sequences(rows, [[kind if i == 1 else "" for i in range(len(row))] for row in rows])
    assert [labels[1] for labels in trigrams.predict(half, partial=True)] == [kind] * 4
    free = Corpus.from_sequences(rows, [[""] * len(row) for row in rows])
    assert trigrams.predict(free, partial=True) == trigrams.predict(few)


def test_a_token_that_may_take_no_label_is_an_error_of_its_sequence(fitted):
    few = TEST.select(range(2))
    nothing = [None, [[]] * int(few.lengths[1])]
    with pytest.raises(InfeasibleError, match=r"sequence 1 .* has no legal labelling that keeps the forced"):
        fitted.predict(few, allowed=nothing)
    first, second = fitted.decode(few, allowed=nothing)
    assert first.labels is not None
    assert second.certificate.status.name == "INFEASIBLE"


def test_single_classes_keep_labels_that_are_given():
    single = MemoryLabeller(inference="single", n_jobs=1).fit([["a", "b"]] * 2, [["x", "y"], ["x", "x"]])
    given = Corpus.from_sequences([["a", "b"]], [["y", ""]])
    assert single.predict(given, partial=True)[0][0] == "y"
    ((best, *_),) = single.predict_nbest([["a", "b"]], 4)
    assert best[0] == single.predict([["a", "b"]])[0]


def test_a_file_gives_the_same_labeller(fitted, tmp_path):
    path = tmp_path / "a.model"
    fitted.save(path)
    for loaded in (MemoryLabeller.load(path), load(path)):
        assert type(loaded) is MemoryLabeller
        assert loaded.predict(TEST) == fitted.predict(TEST)
        assert loaded.explain(TEST.select([0])) == fitted.explain(TEST.select([0]))
        assert loaded.report_.stored() == fitted.report_.stored()
    with pytest.raises(ModelError, match="of the type 'memory'; here goes crf"):
        SequenceLabeller.load(path)


def test_every_kind_of_labeller_has_a_type_of_its_own():
    assert len({kind.model_type for kind in LABELLERS}) == len(LABELLERS)


def test_neighbours_explain(trigrams):
    """A window that training has is its own nearest neighbour; the others are those of `MemoryLearner`."""
    (tokens,) = trigrams.explain(TRAIN.select([0]), most=4)
    word, label = TRAIN[0].tokens, TRAIN[0].labels
    assert tokens[0].reasons[0].text == f"[{word[0]}] {' '.join(word[1:4])} → {label[0]}"
    assert [t.reasons[0].weight for t in tokens] == [0.0] * len(word)
    (tokens,) = trigrams.explain(TEST.select([0]), most=4)
    learner = MemoryLearner(k=3, n_jobs=1).fit(strings(TRAIN), TrigramClasses.of(TRAIN)[1].tolist())
    for token, near in zip(tokens, learner.kneighbors(strings(TEST.select([0]))), strict=True):
        distances = [distance for distance, members in near for _ in members]
        assert [r.weight for r in token.reasons] == pytest.approx(distances[:4])
        assert token.count == len(distances)
        assert sum(token.probabilities.values()) == pytest.approx(1, abs=0.02)


def test_instances_that_are_no_sequences_show_all_their_columns():
    rows = Corpus.from_columns({"a": ["x", "y"], "b": ["1", "2"]}, [2], ["A", "B"])
    labeller = MemoryLabeller(window=0, inference="single", n_jobs=1).fit(rows)
    ((first, second),) = labeller.explain(rows)
    assert [first.reasons[0].text, second.reasons[0].text] == ["x 1 → A", "y 2 → B"]


def test_iob1_becomes_bio():
    labels = [["I-x", "B-x", "O"], ["O", "I-x", "I-x"]] * 3
    labeller = MemoryLabeller(n_jobs=1).fit([["a", "b", "c"], ["d", "a", "b"]] * 3, labels)
    assert str(labeller.source_scheme_) == "iob1"
    assert labeller.predict([["a", "b", "c"]]) == [["B-x", "B-x", "O"]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"inference": "odd"}, "there is no inference 'odd'"),
        ({"sharpness": 0.0}, "sharpness is 0.0; give a number above 0"),
        ({"sharpness": float("nan")}, "sharpness is nan"),
        ({"window": -1}, "window is -1"),
        ({"distance": "numeric"}, "choose another distance than numeric"),
        ({"distance": "odd"}, "there is no distance 'odd'"),
        ({"k": 0}, "k is 0"),
        ({"voting": "odd"}, "there is no voting 'odd'"),
        ({"decoder": "odd"}, "odd"),
    ],
)
def test_bad_options_get_a_sentence(options, words):
    with pytest.raises(ConseqError, match=words):
        MemoryLabeller(**options).fit([["a"]], [["x"]])


def test_bad_data_gets_a_sentence(trigrams):
    with pytest.raises(DataError, match="looks at columns of values"):
        MemoryLabeller().fit([[{"a": 1.0}]], [["x"]])
    with pytest.raises(ModelError, match="not trained"):
        MemoryLabeller().predict([["a"]])
    two = MemoryLabeller().fit(Corpus.from_columns({"word": ["a"], "pos": ["b"]}, [1], ["x"]))
    with pytest.raises(DataError, match="needs the column 'pos'; the input has: word"):
        two.predict([["a"]])
    assert trigrams.predict([]) == []
    assert trigrams.predict([[]]) == [[]]


def test_it_is_part_of_the_package():
    assert conseq.MemoryLabeller is MemoryLabeller


def test_threads_change_nothing():
    one, two = (MemoryLabeller(k=3, distance="mvdm", n_jobs=n).fit(TRAIN) for n in (1, 2))
    assert np.array_equal(one.predict_ids(TEST), two.predict_ids(TEST))
