"""The labeller under rules: predictions obey them, against naive counts and enumeration; files keep them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from conseq import persist
from conseq.constraints import Constraint, NotBoth, Segments
from conseq.constraints.language import parse_constraints
from conseq.corpus import Corpus
from conseq.datasets import citations
from conseq.decoders.auto import DECODERS
from conseq.decoders.beam import Beam
from conseq.decoders.chain.viterbi import viterbi
from conseq.errors import ConseqError, InfeasibleError, ModelError, RuleError
from conseq.labeller import SequenceLabeller

WORDS = [["Ann", "likes", "Rome", "."], ["Bob", "Lee", "leaves", "Oslo", "."], ["Ann", "sees", "Bob"]]
LABELS = [["B-PER", "O", "B-LOC", "O"], ["B-PER", "I-PER", "O", "B-LOC", "O"], ["B-PER", "O", "B-PER"]]
TWO = ["Ann", "sees", "Bob"]  # two persons

ONE_PERSON = "at most 1 segment of PER  hard"
RULES = 'at most 1 segment of PER  hard\nif PER then LOC  penalty 0.5\ntoken "." is O  hard\n'


@pytest.fixture(scope="module")
def small() -> SequenceLabeller:
    return SequenceLabeller("ner", n_jobs=1).fit(WORDS, LABELS)


@pytest.fixture(scope="module")
def held_out() -> Corpus:
    return citations(60, seed=7)


@pytest.fixture(scope="module")
def reader() -> SequenceLabeller:
    """Learned too little, so that it reads some citations with two titles."""
    return SequenceLabeller("fields", n_jobs=1, max_iterations=12).fit(citations(40, seed=0))


def beginnings(labels: Sequence[str], type: str) -> int:
    """How many segments a legal BIO labelling has: one per B-."""
    return sum(label == f"B-{type}" for label in labels)


def excess(labels: Sequence[str]) -> int:
    return max(0, beginnings(labels, "PER") - 1)


class TestObeying:
    def test_a_hard_rule_is_never_broken(self, reader, held_out):
        free = [beginnings(labels, "title") for labels in reader.predict(held_out)]
        assert max(free) > 1
        bound = reader.with_constraints("at most 1 segment of title  hard")
        for found in (bound.predict(held_out), [s.labels for s in bound.label(held_out, confidences=False)]):
            assert max(beginnings(labels, "title") for labels in found) == 1
        for labels, before, after in zip(
            bound.predict(held_out), reader.predict(held_out), free, strict=True
        ):
            assert (labels == before) == (after <= 1)

    @pytest.mark.parametrize("penalty", [0.0, 0.3, 2.0, 4.0, 8.0, 1e3])
    def test_soft_rules_change_scores_by_what_they_cost(self, small, penalty):
        found = small.with_constraints(f"at most 1 segment of PER  penalty {penalty}").decode([TWO])[0]
        potentials = small.potentials([TWO])
        scores = {
            labels: potentials.score(small.schema_.encode(labels)) - penalty * excess(labels)
            for labels in product(small.schema_.labels, repeat=len(TWO))
        }
        best = max(scores, key=scores.__getitem__)
        assert found.score == pytest.approx(scores[best], rel=1e-9)
        assert tuple(found.labels) == best
        assert sum(found.violations.values()) == excess(best)
        assert found.certificate.status.name == "OPTIMAL"

    def test_every_answer_obeys(self, small):
        bound = small.with_constraints(ONE_PERSON)
        assert excess(small.predict([TWO])[0]) == 1
        corpus = Corpus.from_sequences([TWO])
        answers = [
            bound.predict([TWO])[0],
            small.schema_.decode(bound.predict_ids(corpus)),
            bound.label([TWO])[0].labels,
            bound.decode([TWO])[0].labels,
        ]
        assert all(labels == answers[0] and excess(labels) == 0 for labels in answers)
        assert bound.score([TWO], [answers[0]]) == 1.0
        assert bound.evaluate([TWO], [answers[0]]).accuracy == 1.0

    def test_forced_labels_and_rules_together(self, small):
        corpus = Corpus.from_sequences([TWO], [["", "", "B-PER"]])
        bound = small.with_constraints(ONE_PERSON)
        assert bound.predict(corpus, partial=True)[0][2] == "B-PER"
        assert excess(bound.predict(corpus, partial=True)[0]) == 0

    def test_without_rules_nothing_changes(self, reader, held_out):
        labels = viterbi(reader.potentials(held_out)).labels
        for decoder in ("auto", "viterbi"):
            plain = clone_fitted(reader, decoder=decoder)
            assert np.array_equal(plain.predict_ids(held_out), labels)
            assert all(s.certificate is None for s in plain.label(held_out, confidences=False))

    def test_decodings_without_rules(self, small):
        found = small.decode([*WORDS, []])
        assert [d.labels for d in found] == [*small.predict(WORDS), []]
        assert all(d.certificate.status.name == "OPTIMAL" for d in found)
        assert found[-1].score == 0.0

    def test_any_number_of_threads_gives_the_same(self, reader, held_out):
        rules = (
            "at most 1 segment of title hard\nno title before author penalty 1\nif author then date penalty 2"
        )
        one, two = (clone_fitted(reader.with_constraints(rules), n_jobs=n) for n in (1, 2))
        assert one.predict(held_out) == two.predict(held_out)
        pairs = zip(one.decode(held_out), two.decode(held_out), strict=True)
        assert all((a.score, a.violations) == (b.score, b.violations) for a, b in pairs)

    def test_batches_give_the_same(self, reader, held_out, monkeypatch):
        from conseq.labeller import base

        bound = reader.with_constraints("at most 1 segment of title hard\ntoken /^\\d{4}$/ is date penalty 3")
        whole = bound.predict(held_out), [d.score for d in bound.decode(held_out)]
        monkeypatch.setattr(base, "BATCH", 300)
        assert (bound.predict(held_out), [d.score for d in bound.decode(held_out)]) == whole

    @pytest.mark.parametrize("name", DECODERS)
    def test_every_decoder(self, small, name):
        rules = "at most 1 segment of PER  penalty 4"
        best = small.with_constraints(rules).decode([TWO])[0].score
        found = clone_fitted(small.with_constraints(rules), decoder=name)
        [answer] = found.decode([TWO])
        assert answer.score <= best + 1e-9
        assert answer.certificate.bound >= answer.score
        if answer.certificate.status.name == "OPTIMAL" and name != "twostage":  # whose objective is its own
            assert answer.score == pytest.approx(best)
        assert found.predict([TWO]) == [answer.labels]

    def test_a_limit_gives_an_answer_with_its_gap(self, reader, held_out):
        rules = "at most 1 segment of title penalty 2\nif author then date penalty 2"
        hasty = clone_fitted(reader.with_constraints(rules), limit=0.0)
        for found in hasty.decode(held_out):
            assert found.certificate.gap == pytest.approx(found.certificate.bound - found.score)
            assert (found.certificate.status.name == "OPTIMAL") == (found.certificate.gap < 1e-4)
        assert len(hasty.predict(held_out)) == len(held_out)

    def test_labelled_sequences_say_what_they_break(self, small):
        rule = "at most 1 segment of PER"
        [kept] = small.with_constraints(f"{rule}  hard").label([TWO])
        [broken] = small.with_constraints(f"{rule}  penalty 0.01").label([TWO])
        assert kept.violations == {}
        assert broken.violations == {rule: 1.0}
        [plain] = small.label([TWO])
        assert broken.score == pytest.approx(plain.score - 0.01)
        assert broken.certificate.status.name == "OPTIMAL"
        assert broken.to_dict()["certificate"]["gap"] == pytest.approx(0.0, abs=1e-6)

    def test_probabilities_know_the_rules_about_single_tokens(self, small):
        bound = small.with_constraints('token "Ann" is LOC  hard')
        assert bound.predict([TWO])[0][0] == "B-LOC"
        assert bound.predict_marginals([TWO])[0][0]["B-LOC"] == pytest.approx(1.0)
        assert all(labels[0] == "B-LOC" for labels, _ in bound.predict_nbest([TWO], 3)[0])


def clone_fitted(labeller: SequenceLabeller, **options: object) -> SequenceLabeller:
    """The same trained model with other options."""
    return labeller.with_constraints(labeller.constraints_).set_params(**options)


class TestGiving:
    def test_all_forms_mean_the_same(self, small, tmp_path):
        path = tmp_path / "a.rules"
        path.write_text(RULES)
        rules = parse_constraints(RULES)
        forms = [RULES, path, rules, tuple(rules), RULES.splitlines(), [rules[0], *RULES.splitlines()[1:]]]
        for form in forms:
            assert small.with_constraints(form).constraints_ == tuple(rules)
            fitted = SequenceLabeller("ner", constraints=form, max_iterations=2, n_jobs=1).fit(WORDS, LABELS)
            assert fitted.constraints_ == tuple(rules)
        assert small.with_constraints(rules[0]).constraints_ == (rules[0],)
        assert small.with_constraints(iter(rules)).constraints_ == tuple(rules)

    @pytest.mark.parametrize("nothing", [None, "none", "", [], "# a comment"])
    def test_no_rules(self, small, nothing):
        free = small.with_constraints(ONE_PERSON).with_constraints(nothing)
        assert free.constraints_ == ()
        assert free.predict([TWO]) == small.predict([TWO])

    def test_others_leave_the_labeller_as_it_is(self, small):
        bound = small.with_constraints(ONE_PERSON)
        assert small.constraints_ == ()
        assert excess(small.predict([TWO])[0]) == 1
        assert bound.with_constraints("if PER then LOC hard").constraints_ == (
            *parse_constraints("if PER then LOC hard"),
        )

    @pytest.mark.parametrize(
        ("given", "error", "says"),
        [
            (7, ConseqError, "constraints is of type int"),
            ([ONE_PERSON, 7], RuleError, "line 2: a rule is of type int"),
            ("at most 1 segment of PRE hard", RuleError, "line 1, column 22: .*did you mean 'PER'"),
            ([ONE_PERSON, "if PER than LOC hard"], RuleError, "line 2, column 8"),
            ([NotBoth("PER", "LCO")], RuleError, "did you mean 'LOC'"),
            (Path("absent.rules"), RuleError, "absent.rules: the rules cannot be read"),
        ],
    )
    def test_what_cannot_be_read(self, small, given, error, says):
        with pytest.raises(error, match=says):
            small.with_constraints(given)
        labeller = SequenceLabeller("ner", constraints=given, n_jobs=1)
        with pytest.raises(error, match=says):
            labeller.fit(WORDS, LABELS, watch=lambda _: pytest.fail("it trains before it looks at the rules"))

    def test_learning_goes_with_training(self, small):
        with pytest.raises(ConseqError, match="goes with fit"):
            small.with_constraints("learn")

    def test_the_name_of_a_file_as_text(self, small, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("my.rules").write_text(RULES)
        with pytest.raises(RuleError, match=r"give pathlib.Path\('my.rules'\)"):
            small.with_constraints("my.rules")

    def test_rules_about_tokens_need_tokens(self):
        bags = [[{"word": word} for word in sentence] for sentence in WORDS]
        with pytest.raises(RuleError, match=r'token "\." is O'):
            SequenceLabeller(constraints='token "." is O hard', n_jobs=1).fit(bags, LABELS)

    @pytest.mark.parametrize(
        ("options", "says"),
        [({"decoder": "magic"}, "choose one of auto, viterbi"), ({"limit": -1.0}, "limit is -1.0")],
    )
    def test_other_options(self, options, says):
        with pytest.raises(ConseqError, match=says):
            SequenceLabeller(**options, n_jobs=1).fit(WORDS, LABELS)

    def test_it_must_be_trained(self):
        with pytest.raises(ModelError, match="not trained yet"):
            SequenceLabeller().with_constraints(ONE_PERSON)


class TestNoLabelling:
    TOO_MANY = "at least 3 segments of LOC  hard"

    def test_predicting_names_the_sequence_and_the_rules(self, small):
        bound = small.with_constraints([ONE_PERSON, "at least 1 segment of PER hard", self.TOO_MANY])
        says = r"sequence 1 \(from 0, 'Ann likes'\) satisfies the hard rule: at least 3 segments of LOC"
        for use in (bound.predict, bound.label, bound.predict_marginals):
            with pytest.raises(InfeasibleError, match=says):
                use([["Ann", "likes", "Bob", "Rome", "."], ["Ann", "likes"]])
        corpus = Corpus.from_sequences([["Ann"]])
        with pytest.raises(InfeasibleError, match=r"sequence 7 \(from 0, 'Ann'\)"):
            bound.predict_ids(corpus, first=7)

    def test_rules_in_conflict(self, small):
        rules = ["at least 2 segments of PER hard", "if PER then LOC hard", "at most 2 segments of LOC hard"]
        says = r"these 2 hard rules together: at least 2 segments of PER; if PER then LOC; drop"
        with pytest.raises(InfeasibleError, match=says):
            small.with_constraints(rules).predict([["Ann", "Bob"]])

    def test_decoding_tells_without_raising(self, small):
        found = small.with_constraints(self.TOO_MANY).decode([["Ann"], WORDS[1]])
        assert [d.labels is None for d in found] == [True, False]
        assert found[0].certificate.status.name == "INFEASIBLE"

    def test_an_empty_sequence_that_must_have_a_segment(self, small):
        with pytest.raises(InfeasibleError, match=r"sequence 1 \(from 0\)"):
            small.with_constraints("at least 1 segment of LOC hard").predict([["Rome"], []])

    def test_a_decoder_that_finds_none_says_that_it_does_not_know(self, small):
        bound = clone_fitted(small.with_constraints(ONE_PERSON), decoder="viterbi")
        assert bound.decode([TWO])[0].certificate.status.name == "UNKNOWN"
        with pytest.raises(InfeasibleError, match=r"sequence 0 \(from 0, 'Ann sees Bob'\).*decoder auto"):
            bound.predict([TWO])


class TestFiles:
    def test_rules_decoder_and_limit_are_kept(self, tmp_path):
        options = {"constraints": RULES, "decoder": "dual", "limit": 9.0, "n_jobs": 1}
        labeller = SequenceLabeller("ner", **options).fit(WORDS, LABELS)
        labeller.save(tmp_path / "a.model")
        loaded = SequenceLabeller.load(tmp_path / "a.model")
        assert loaded.constraints_ == labeller.constraints_ == tuple(parse_constraints(RULES))
        assert (loaded.decoder, loaded.limit) == ("dual", 9.0)
        assert loaded.predict(WORDS) == labeller.predict(WORDS)
        assert isinstance(persist.load(tmp_path / "a.model").document["constraints"], str)
        assert clone(loaded).fit(WORDS, LABELS).constraints_ == labeller.constraints_
        loaded.save(tmp_path / "b.model")
        assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()

    def test_models_from_before_there_were_decoders_to_choose(self, small, tmp_path):
        small.save(tmp_path / "new.model")
        archive = persist.load(tmp_path / "new.model")
        options = {k: v for k, v in archive.document["options"].items() if k not in ("decoder", "limit")}
        document = {**archive.document, "options": options}
        persist.save(tmp_path / "old.model", replace(archive, document=document))
        old = SequenceLabeller.load(tmp_path / "old.model")
        assert (old.constraints_, old.decoder) == ((), "auto")
        assert old.predict(WORDS) == small.predict(WORDS)

    def test_rules_that_cannot_be_read(self, small, tmp_path):
        small.with_constraints(ONE_PERSON).save(tmp_path / "a.model")
        archive = persist.load(tmp_path / "a.model")
        document = {**archive.document, "constraints": "at most one PER"}
        persist.save(tmp_path / "b.model", replace(archive, document=document))
        with pytest.raises(ModelError, match=r"b.model: a rule in it cannot be read \(line 1"):
            SequenceLabeller.load(tmp_path / "b.model")

    def test_a_rule_without_a_line_in_the_language(self, small, tmp_path):
        @dataclass(frozen=True)
        class Homemade(Constraint):
            def lower(self, schema, corpus):
                return Segments("at most", 1, "PER").lower(schema, corpus)

            def line(self) -> str:
                return "one person, please"

        labeller = small.with_constraints([Homemade()])
        assert excess(labeller.predict([TWO])[0]) == 0
        with pytest.raises(ModelError, match="'one person, please  hard' is of a kind"):
            labeller.save(tmp_path / "a.model")
        assert not (tmp_path / "a.model").exists()

    def test_a_decoder_with_options_is_kept_by_name(self, small, tmp_path):
        clone_fitted(small, decoder=Beam()).save(tmp_path / "a.model")
        assert SequenceLabeller.load(tmp_path / "a.model").decoder == "beam"


class TestScikitLearn:
    def test_clone_keeps_rules(self):
        rules = parse_constraints(RULES)
        copy = clone(SequenceLabeller(constraints=rules, decoder="dual", limit=3))
        assert copy.constraints == rules
        assert (copy.decoder, copy.limit) == ("dual", 3)

    def test_grid_search_over_rules(self):
        grid = {"constraints": [None, ONE_PERSON, parse_constraints(RULES)], "decoder": ["auto", "lazy"]}
        labeller = SequenceLabeller("ner", n_jobs=1, max_iterations=10)
        search = GridSearchCV(labeller, grid, cv=2).fit(WORDS[:2] * 3, LABELS[:2] * 3)
        assert search.best_score_ > 0.5
        assert len(search.cv_results_["params"]) == 6
