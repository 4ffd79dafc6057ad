"""The labeller as a whole: kinds of input, scikit-learn's manner, files, forced labels, probabilities."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from conseq import persist
from conseq.corpus import Corpus
from conseq.datasets import citations
from conseq.errors import ConseqError, DataError, InfeasibleError, ModelError, SchemaError, TemplateError
from conseq.labeller import FitReport, SequenceLabeller, base
from conseq.models.crf import ALGORITHMS, Progress

NAMES = ["Ann", "Bob", "Cleo", "Dora", "Emil"]
PLACES = ["Rome", "Oslo", "Lima", "Cairo"]


def made(n: int, seed: int) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences such as "Ann Lee likes Rome ." with BIO labels."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        person = [str(rng.choice(NAMES)), *(["Lee"] if rng.random() < 0.4 else [])]
        X.append([*person, str(rng.choice(["likes", "leaves"])), str(rng.choice(PLACES)), "."])
        y.append(["B-PER", *["I-PER"] * (len(person) - 1), "O", "B-LOC", "O"])
    return X, y


ONLINE = [name for name in ALGORITHMS if name != "lbfgs"]
X, Y = made(40, 1)
NEW, GOLD = made(15, 2)


@pytest.fixture(scope="module")
def fitted() -> SequenceLabeller:
    return SequenceLabeller("ner", n_jobs=1).fit(X, Y)


def as_dicts(sequences):
    return [[{"word": w, "upper": w[0].isupper(), "bias": 1.0} for w in s] for s in sequences]


def as_lists(sequences):
    return [[["bias", f"word={w}", f"upper={w[0].isupper()}"] for w in s] for s in sequences]


def as_corpus(sequences):
    return Corpus.from_sequences(sequences)


class TestInput:
    @pytest.mark.parametrize("form", [list, as_dicts, as_lists, as_corpus])
    def test_every_kind_is_learned_from_and_labelled(self, form):
        labeller = SequenceLabeller("ner", n_jobs=1, c2=0.1).fit(form(X), Y)
        assert labeller.predict(form(NEW)) == GOLD
        assert labeller.score(form(NEW), GOLD) == 1.0
        assert labeller.evaluate(form(NEW), GOLD).accuracy == 1.0

    def test_labels_may_stand_in_the_corpus(self):
        labeller = SequenceLabeller("ner", n_jobs=1).fit(Corpus.from_sequences(X, Y))
        assert labeller.score(Corpus.from_sequences(NEW, GOLD)) == 1.0

    def test_iterators_and_arrays(self, fitted):
        assert fitted.predict(iter(NEW)) == GOLD
        assert fitted.predict(np.array([["Ann", "likes"], ["Bob", "likes"]])) == [["B-PER", "O"]] * 2

    def test_values_scale_the_scores(self):
        labeller = SequenceLabeller(n_jobs=1, transitions=False, boundaries=False).fit(
            [[{"a": 1.0}], [{"b": 1.0}]], [["A"], ["B"]]
        )
        once, twice = (labeller.potentials([[{"a": value}]]).unary for value in (1.0, 2.0))
        assert np.allclose(twice, 2 * once)
        assert np.abs(once).max() > 0.1

    @pytest.mark.parametrize("nothing", [[], [[]], [[], []]])
    def test_nothing_to_label(self, fitted, nothing):
        assert fitted.predict(nothing) == nothing
        assert [s.tokens for s in fitted.label(nothing)] == nothing
        assert fitted.predict_marginals(nothing) == nothing

    def test_empty_sequences_among_others(self, fitted):
        mixed = [[], NEW[0], [], NEW[1]]
        assert fitted.predict(mixed) == [[], GOLD[0], [], GOLD[1]]
        assert fitted.label(mixed)[0].spans == []

    @pytest.mark.parametrize(
        ("given", "labels", "error", "says"),
        [
            ([], [], DataError, "nothing to learn from"),
            ([["a"]], None, DataError, "no labels"),
            ([["a"]], [["A", "B"]], DataError, "1 tokens and 2 labels"),
            ([["a"], ["b"]], [["A"]], DataError, "2 sequences but labels for 1"),
            ([["a", "b"]], [["A", ""]], DataError, "without a label"),
            (["a b"], [["A"]], DataError, "is a string"),
            ([["a", 1]], [["A", "B"]], DataError, "is a int"),
        ],
    )
    def test_what_cannot_be_learned_from(self, given, labels, error, says):
        with pytest.raises(error, match=says):
            SequenceLabeller(n_jobs=1).fit(given, labels)

    def test_attributes_are_needed_again(self):
        labeller = SequenceLabeller(n_jobs=1).fit(as_dicts(X), Y)
        with pytest.raises(DataError, match="trained on attributes"):
            labeller.predict(NEW)


class TestOptions:
    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("c1", -1), ("c2", -0.5), ("c2", float("nan")), ("c2", float("inf")), ("min_count", -1),
            ("delta", -1), ("period", 0), ("max_iterations", 0), ("n_jobs", 0),
            ("n_jobs", -2), ("random_state", -1), ("random_state", 0.5), ("folds", 1), ("limit", -1),
        ],
    )  # fmt: skip
    def test_values_out_of_range(self, option, value):
        with pytest.raises(ConseqError, match=f"{option} is "):
            SequenceLabeller(**{option: value}).fit(X, Y)

    def test_an_algorithm_that_does_not_exist(self):
        with pytest.raises(ConseqError, match="no algorithm 'sgd'; choose one of lbfgs, ap, adagrad"):
            SequenceLabeller(algorithm="sgd").fit(X, Y)

    @pytest.mark.parametrize("algorithm", ONLINE)
    def test_an_l1_norm_is_for_lbfgs(self, algorithm):
        with pytest.raises(ConseqError, match=f"c1 is 1.0, but the algorithm {algorithm} has no L1 norm"):
            SequenceLabeller(algorithm=algorithm, c1=1.0).fit(X, Y)

    @pytest.mark.parametrize("features", ["nre", ["word[0"], ["sufix(3)[0]"], ["tag[0]"]])
    def test_features_that_do_not_exist(self, features):
        with pytest.raises((TemplateError, DataError)):
            SequenceLabeller(features, n_jobs=1).fit(X, Y)

    def test_unknown_scheme_and_metric(self):
        with pytest.raises(SchemaError, match="bilou"):
            SequenceLabeller(scheme="bilou", n_jobs=1).fit(X, Y)
        with pytest.raises(DataError, match="no metric"):
            SequenceLabeller(scoring="f2", n_jobs=1, max_iterations=2).fit(X, Y).score(NEW, GOLD)

    def test_templates_as_strings_and_objects(self):
        from conseq.features import parse_templates

        texts = ["word[0]", "lower[-1..1]"]
        one = SequenceLabeller(texts, n_jobs=1).fit(X, Y)
        other = SequenceLabeller(parse_templates(texts), n_jobs=1).fit(X, Y)
        assert np.array_equal(one.model_.weights, other.model_.weights)

    def test_min_count_leaves_rare_attributes_out(self):
        all_ = SequenceLabeller(["word[0]"], n_jobs=1, max_iterations=2).fit(X, Y)
        few = SequenceLabeller(["word[0]"], n_jobs=1, max_iterations=2, min_count=12).fit(X, Y)
        assert few.extractor_.n_attributes < all_.extractor_.n_attributes
        with pytest.raises(DataError, match="lower min_count"):
            SequenceLabeller(["word[0]"], n_jobs=1, min_count=1000).fit(X, Y)

    def test_an_l1_term_makes_the_model_sparse(self):
        dense = SequenceLabeller("ner", n_jobs=1).fit(X, Y)
        sparse = SequenceLabeller("ner", n_jobs=1, c1=1.0, c2=0.0).fit(X, Y)
        assert sparse.report_.training.features < dense.report_.training.features / 5
        assert len(sparse.model_.weights) == sparse.report_.training.features
        assert sparse.predict(NEW) == GOLD

    def test_repr_shows_what_was_changed(self):
        assert repr(SequenceLabeller()) == "SequenceLabeller()"
        assert repr(SequenceLabeller("ner", c2=0.5)) == "SequenceLabeller(features='ner', c2=0.5)"


class TestSchemes:
    def test_iob1_becomes_bio(self):
        iob1 = [["I-PER", "I-PER", "B-PER", "O"], ["I-PER", "O", "I-LOC", "O"]]
        words = [["Ann", "Lee", "Bob", "runs"], ["Ann", "likes", "Rome", "."]]
        labeller = SequenceLabeller("ner", n_jobs=1, c2=0.01).fit(words, iob1)
        assert labeller.schema_.scheme == "bio"
        assert labeller.predict(words)[0] == ["B-PER", "I-PER", "B-PER", "O"]
        assert labeller.score(words, iob1) == 1.0

    def test_only_legal_labels_are_given(self):
        words, labels = [["a", "b"], ["b", "a"]], [["B-x", "I-x"], ["O", "O"]]
        options = {"n_jobs": 1, "c2": 0.01, "transitions": False, "boundaries": False}
        legal = SequenceLabeller(["word[0]"], **options).fit(words, labels)
        free = SequenceLabeller(["word[0]"], legal=False, **options).fit(words, labels)
        new = [["b"], ["b", "b"], ["a", "b", "b"]]
        for found in legal.predict(new):
            assert legal.schema_.spans(found) == legal.schema_.spans(found, mode="strict")
        inside = legal.schema_.vocabulary.find("I-x")
        assert legal.potentials(new).score([inside], 0) == -np.inf
        assert free.potentials(new).score([inside], 0) > -np.inf

    def test_labels_that_training_lacked_count_as_mistakes(self, fitted):
        report = fitted.evaluate([["Ann", "likes"]], [["B-PER", "B-ACT"]])
        assert report.accuracy == 0.5
        assert report.span.labels["ACT"].recall == 0.0


class TestScikitLearn:
    def test_parameters(self):
        labeller = SequenceLabeller("ner", c2=0.3)
        assert labeller.get_params()["c2"] == 0.3
        assert labeller.set_params(c2=0.7, features="chunk") is labeller
        assert (labeller.c2, labeller.features) == (0.7, "chunk")
        with pytest.raises(ValueError, match="no option 'c3'"):
            labeller.set_params(c3=1)

    def test_clone(self, fitted):
        copy = clone(fitted)
        assert copy.get_params() == fitted.get_params()
        assert not hasattr(copy, "model_")

    def test_grid_search(self):
        grid = {"c2": [0.1, 10.0], "features": ["ner", "classic"]}
        search = GridSearchCV(SequenceLabeller(n_jobs=1, max_iterations=5), grid, cv=2).fit(X, Y)
        assert search.best_score_ > 0.8
        assert search.best_estimator_.predict(NEW)

    def test_cross_validation(self):
        scores = cross_val_score(SequenceLabeller("ner", n_jobs=1, max_iterations=10), X, Y, cv=3)
        assert scores.min() > 0.8

    def test_pipeline(self):
        lower = FunctionTransformer(lambda X: [[w.lower() for w in s] for s in X])
        pipeline = Pipeline([("lower", lower), ("label", SequenceLabeller(["word[0]"], n_jobs=1))])
        pipeline.fit(X, Y)
        assert pipeline.predict([["ANN", "LIKES"]]) == [["B-PER", "O"]]
        assert pipeline.set_params(label__c2=2.0).get_params()["label__c2"] == 2.0


class TestTraining:
    def test_the_same_data_gives_the_same_model(self):
        one, two = (SequenceLabeller("ner", n_jobs=1).fit(X, Y) for _ in range(2))
        assert np.array_equal(one.model_.weights, two.model_.weights)

    def test_any_number_of_threads_gives_the_same_model_to_rounding(self):
        one, two = (SequenceLabeller("ner", n_jobs=n).fit(X, Y) for n in (1, 2))
        assert two.report_.training.objective == pytest.approx(one.report_.training.objective, rel=1e-3)
        assert one.predict(NEW) == two.predict(NEW)

    def test_development_keeps_the_best_iterate(self):
        seen: list[Progress] = []
        development = Corpus.from_sequences(NEW, [["B-LOC", *labels[1:]] for labels in GOLD])
        labeller = SequenceLabeller("ner", n_jobs=1).fit(X, Y, development=development, watch=seen.append)
        training = labeller.report_.training
        assert training.development == max(step.development for step in seen)
        assert labeller.score(development) == training.development
        assert seen[training.best_iteration - 1].development == training.development
        assert training.best_iteration < training.iterations

    def test_watching(self):
        seen: list[Progress] = []
        labeller = SequenceLabeller("ner", n_jobs=1, max_iterations=4).fit(X, Y, watch=seen.append)
        assert [step.iteration for step in seen] == [1, 2, 3, 4]
        assert all(a.objective > b.objective for a, b in pairwise(seen))
        assert labeller.report_.training.status == "limit"

    @pytest.mark.parametrize("algorithm", ONLINE)
    def test_every_algorithm_learns_and_is_kept_in_the_file(self, algorithm, fitted, tmp_path):
        labeller = SequenceLabeller("ner", algorithm=algorithm, random_state=3, n_jobs=1).fit(X, Y)
        assert labeller.predict(NEW) == GOLD
        labeller.save(tmp_path / "a.model")
        loaded = SequenceLabeller.load(tmp_path / "a.model")
        assert (loaded.algorithm, loaded.random_state) == (algorithm, 3)
        assert loaded.predict(NEW) == GOLD
        warm = SequenceLabeller("ner", algorithm=algorithm, max_iterations=1, n_jobs=1)
        assert warm.fit(X, Y, warm=fitted).predict(NEW) == GOLD

    @pytest.mark.parametrize("algorithm", ONLINE)
    def test_where_there_is_one_label_only(self, algorithm):
        """The perceptron makes no mistake, so no weight is left."""
        labeller = SequenceLabeller("ner", algorithm=algorithm, n_jobs=1).fit([["a", "b"]], [["O", "O"]])
        assert labeller.predict([["b", "c"], []]) == [["O", "O"], []]

    def test_files_from_before_there_were_algorithms(self, fitted, tmp_path):
        fitted.save(tmp_path / "new.model")
        archive = persist.load(tmp_path / "new.model")
        options = {
            k: v for k, v in archive.document["options"].items() if k not in ("algorithm", "random_state")
        }
        persist.save(
            tmp_path / "old.model", replace(archive, document={**archive.document, "options": options})
        )
        old = SequenceLabeller.load(tmp_path / "old.model")
        assert (old.algorithm, old.random_state) == ("lbfgs", 0)
        assert old.predict(NEW) == fitted.predict(NEW)

    def test_a_file_with_an_option_that_there_is_no_more(self, fitted, tmp_path):
        path = tmp_path / "old.model"
        fitted.save(path)
        archive = persist.load(path)
        options = {**archive.document["options"], "metric": "span_f1"}
        persist.save(path, replace(archive, document={**archive.document, "options": options}))
        with pytest.raises(ModelError, match=r"old.model: .*options/metric.*train the model anew"):
            SequenceLabeller.load(path)

    def test_a_warm_start_begins_where_the_other_ended(self, fitted):
        warm = SequenceLabeller("ner", n_jobs=1, max_iterations=1).fit(X, Y, warm=fitted)
        cold = SequenceLabeller("ner", n_jobs=1, max_iterations=1).fit(X, Y)
        assert warm.report_.training.objective == pytest.approx(fitted.report_.training.objective, rel=1e-3)
        assert warm.report_.training.objective < cold.report_.training.objective / 2

    def test_a_warm_start_with_other_words_and_labels(self, fitted):
        more = [*X, ["Zoe", "likes", "jazz"]], [*Y, ["B-PER", "O", "B-ART"]]
        labeller = SequenceLabeller("ner", n_jobs=1, c2=0.1).fit(*more, warm=fitted)
        assert labeller.predict([["Zoe", "likes", "jazz"]]) == [["B-PER", "O", "B-ART"]]

    def test_the_report_as_plain_values(self, fitted):
        report = fitted.report_.to_dict()
        assert "history" not in report
        assert report["labels"] == 4
        assert FitReport.from_dict(report).to_dict() == report

    def test_a_failed_fit_does_not_leave_half_a_model(self, fitted):
        labeller = clone(fitted).fit(X, Y)
        with pytest.raises(TemplateError):
            labeller.set_params(features="nre").fit([["x"]], [["OTHER"]])
        with pytest.raises(ModelError, match="not trained"):
            labeller.predict(NEW)


class TestNotTrained:
    @pytest.mark.parametrize(
        "use",
        [
            lambda lab: lab.predict(NEW),
            lambda lab: lab.predict_nbest(NEW, 2),
            lambda lab: lab.predict_marginals(NEW),
            lambda lab: lab.label(NEW),
            lambda lab: lab.potentials(NEW),
            lambda lab: lab.score(NEW, GOLD),
            lambda lab: lab.evaluate(NEW, GOLD),
            lambda lab: lab.save("nowhere.model"),
            lambda lab: SequenceLabeller(n_jobs=1).fit(X, Y, warm=lab),
        ],
    )
    def test_it_says_so(self, use):
        with pytest.raises(ModelError, match="not trained yet"):
            use(SequenceLabeller(n_jobs=1))


class TestRestrictedLabels:
    def test_allowed_labels(self, fitted):
        allowed = [[["B-LOC", "O"], None, None, None], None]
        found = fitted.predict([["Ann", "likes", "Rome", "."], NEW[0]], allowed=allowed)
        assert found[0][0] in ("B-LOC", "O")
        assert found[1] == GOLD[0]

    def test_partial_labels(self, fitted):
        corpus = Corpus.from_sequences([["Ann", "Lee", "likes"]], [["B-LOC", "", ""]])
        assert fitted.predict(corpus, partial=True)[0][0] == "B-LOC"
        assert fitted.predict(corpus)[0][0] == "B-PER"

    def test_restrictions_hold_for_every_answer(self, fitted):
        allowed = [[["O"], None, None, None]]
        sentence = [["Ann", "likes", "Rome", "."]]
        assert all(labels[0] == "O" for labels, _ in fitted.predict_nbest(sentence, 5, allowed=allowed)[0])
        marginals = fitted.predict_marginals(sentence, allowed=allowed)[0]
        assert marginals[0]["O"] == pytest.approx(1.0)
        assert all(span.start > 0 for span in fitted.label(sentence, allowed=allowed)[0].spans)

    def test_what_cannot_be_met(self, fitted):
        impossible = [[["O"], ["I-PER"]]]
        for use in (fitted.predict, fitted.label, fitted.predict_marginals):
            with pytest.raises(InfeasibleError, match=r"sequence 1 \(from 0, 'Ann Lee'\)"):
                use([["Bob"], ["Ann", "Lee"]], allowed=[None, *impossible])
        with pytest.raises(InfeasibleError, match="sequence 0"):
            fitted.predict_nbest([["Ann", "Lee"]], 2, allowed=impossible)

    def test_unknown_labels_and_wrong_shapes(self, fitted):
        with pytest.raises(SchemaError, match="does not know the label 'B-DOG'"):
            fitted.predict([["Ann"]], allowed=[[["B-DOG"]]])
        with pytest.raises(DataError, match="1 sequences but allowed labels for 2"):
            fitted.predict([["Ann"]], allowed=[None, None])
        with pytest.raises(DataError, match="1 tokens, allowed labels for 2"):
            fitted.predict([["Ann"]], allowed=[[None, None]])


class TestProbabilities:
    def test_marginals_sum_to_one_and_agree_with_the_labels(self, fitted):
        for labels, rows in zip(fitted.predict(NEW), fitted.predict_marginals(NEW), strict=True):
            assert [max(row, key=row.__getitem__) for row in rows] == labels
            assert all(sum(row.values()) == pytest.approx(1.0) for row in rows)
            assert all(tuple(row) == fitted.schema_.labels for row in rows)

    def test_the_best_of_n_is_the_prediction(self, fitted):
        for labels, best in zip(fitted.predict(NEW), fitted.predict_nbest(NEW, 4), strict=True):
            scores = [score for _, score in best]
            assert best[0][0] == labels
            assert scores == sorted(scores, reverse=True)
            assert len({tuple(found) for found, _ in best}) == len(best) == 4

    def test_span_confidences_are_probabilities(self, fitted):
        sequences = fitted.label(NEW)
        assert all(0 < span.confidence <= 1 for s in sequences for span in s.spans)
        assert [[(s.start, s.end, s.type) for s in q.spans] for q in sequences] == [
            [(s.start, s.end, s.type) for s in fitted.schema_.spans(labels)] for labels in GOLD
        ]

    def test_a_confidence_is_the_sum_over_all_labellings_with_the_segment(self, fitted):
        sentence = [["Ann", "Lee", "likes"]]
        [sequence] = fitted.label(sentence)
        [best] = fitted.predict_nbest(sentence, 4**3)
        weights = np.exp([score for _, score in best])
        for span in sequence.spans:
            place = (span.start, span.end, span.type)
            found = ([(s.start, s.end, s.type) for s in fitted.schema_.spans(y)] for y, _ in best)
            has = [place in spans for spans in found]
            assert span.confidence == pytest.approx(weights[has].sum() / weights.sum(), rel=1e-5)

    def test_label_gives_what_is_asked_for(self, fitted):
        plain = fitted.label(NEW[:2], confidences=False)
        assert all(span.confidence is None for s in plain for span in s.spans)
        assert plain[0].nbest is None
        assert plain[0].marginals is None
        rich = fitted.label(NEW[:2], nbest=2, marginals=True)
        assert [s.nbest for s in rich] == fitted.predict_nbest(NEW[:2], 2)
        expected = [[row[y] for row, y in zip(rows, s.labels, strict=True)]
                    for rows, s in zip(fitted.predict_marginals(NEW[:2]), rich, strict=True)]  # fmt: skip
        assert [s.marginals.of(s.labels) for s in rich] == expected


class TestBatches:
    @pytest.mark.parametrize("size", [1, 7, 20])
    def test_any_size_gives_the_same(self, fitted, monkeypatch, size):
        sequences = [*NEW, [], *NEW[:3]]
        allowed = [None] * len(NEW) + [[]] + [[["O"], *[None] * (len(s) - 1)] for s in NEW[:3]]
        whole = _answers(fitted, sequences, allowed)
        monkeypatch.setattr(base, "BATCH", size)
        assert _answers(fitted, sequences, allowed) == whole

    def test_messages_count_from_the_first_sequence(self, fitted, monkeypatch):
        monkeypatch.setattr(base, "BATCH", 2)
        corpus = Corpus.from_sequences([["Ann"], ["Bob"], ["Lee"]], [["O"], [""], ["I-PER"]])
        with pytest.raises(InfeasibleError, match=r"sequence 2 \(from 0"):
            fitted.predict(corpus, partial=True)
        with pytest.raises(InfeasibleError, match=r"sequence 12 \(from 0"):
            fitted.predict_ids(corpus, partial=True, first=10)


def _answers(labeller, sequences, allowed):
    return (
        labeller.predict(sequences, allowed=allowed),
        labeller.predict_nbest(sequences, 3, allowed=allowed),
        labeller.predict_marginals(sequences, allowed=allowed),
        [s.to_dict() for s in labeller.label(sequences, allowed=allowed)],
    )


class TestFiles:
    @pytest.mark.parametrize("form", [list, as_dicts])
    def test_a_loaded_model_answers_the_same(self, tmp_path, form):
        labeller = SequenceLabeller("ner", n_jobs=1).fit(form(X), Y)
        labeller.save(tmp_path / "a.model")
        loaded = SequenceLabeller.load(tmp_path / "a.model")
        assert _answers(loaded, form(NEW), None) == _answers(labeller, form(NEW), None)
        assert loaded.report_.stored() == labeller.report_.stored()

    def test_saving_twice_gives_the_same_bytes(self, fitted, tmp_path):
        fitted.save(tmp_path / "a.model")
        fitted.save(tmp_path / "b.model")
        SequenceLabeller.load(tmp_path / "a.model").save(tmp_path / "c.model")
        one, two, three = ((tmp_path / f"{name}.model").read_bytes() for name in "abc")
        assert one == two == three

    def test_lexicons_are_kept(self, tmp_path):
        lexicons = {"towns": ["Rome", "New York"]}
        labeller = SequenceLabeller(["word[0]", "lexicon(towns)[0]"], lexicons=lexicons, n_jobs=1).fit(X, Y)
        labeller.save(tmp_path / "a.model")
        loaded = SequenceLabeller.load(tmp_path / "a.model")
        assert loaded.predict([["in", "new", "york"]]) == labeller.predict([["in", "new", "york"]])
        assert clone(loaded).fit(X, Y).predict(NEW) == labeller.predict(NEW)

    def test_a_model_without_a_part(self, fitted, tmp_path):
        from dataclasses import replace

        from conseq import persist

        fitted.save(tmp_path / "a.model")
        archive = persist.load(tmp_path / "a.model")
        for name in archive.arrays:
            arrays = {key: value for key, value in archive.arrays.items() if key != name}
            persist.save(tmp_path / "b.model", replace(archive, arrays=arrays))
            with pytest.raises(ModelError, match="missing"):
                SequenceLabeller.load(tmp_path / "b.model")
        for name in ("schema", "columns", "options", "features"):
            document = {key: value for key, value in archive.document.items() if key != name}
            persist.save(tmp_path / "b.model", replace(archive, document=document))
            with pytest.raises(ModelError, match="missing"):
                SequenceLabeller.load(tmp_path / "b.model")


def test_a_sparse_model_keeps_only_attributes_with_a_weight(tmp_path):
    X = [["Ann", "sleeps", "in", "Rome"], ["Bob", "runs", "to", "Oslo"]] * 3
    y = [["B-PER", "O", "O", "B-LOC"], ["B-PER", "O", "O", "B-LOC"]] * 3
    sparse = SequenceLabeller("ner", c1=0.2, c2=0.0).fit(X, y)
    dense = SequenceLabeller("ner").fit(X, y)
    assert 0 < sparse.extractor_.n_attributes < dense.extractor_.n_attributes / 2
    assert np.diff(sparse.model_.layout.feature).min() > 0
    assert sparse.predict(X) == y
    sparse.save(tmp_path / "sparse.model")
    assert SequenceLabeller.load(tmp_path / "sparse.model").predict(X) == y


def test_words_taken_for_labels_are_refused():
    X = [["O"] * 10 for _ in range(100)]
    y = [[f"word{i}-{k}" for k in range(10)] for i in range(100)]
    with pytest.raises(
        DataError, match=r"1,000 different labels for 1,000 tokens; is this the label column\?"
    ):
        SequenceLabeller().fit(X, y)


def test_the_objective_reported_is_that_of_the_weights_kept():
    train, development = citations(30, seed=0), citations(20, seed=1)
    report = SequenceLabeller(max_iterations=12).fit(train, development=development).report_.training
    assert report.objective == report.history[report.best_iteration - 1].objective
