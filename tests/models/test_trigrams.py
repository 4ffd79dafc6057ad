"""Class trigrams: classes and windows by hand, voting and inference by their definitions, rules, bases."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import naive_csinf as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conseq.constraints.language import as_constraints
from conseq.corpus import Corpus
from conseq.decoders.auto import find_decoder
from conseq.decoders.constrained_nbest import n_best_decodings
from conseq.decoders.enumeration import all_scores, labellings
from conseq.errors import ConseqError, DataError, SchemaError, ScoreError
from conseq.models import csinf
from conseq.models.distributions import Distributions, distributions, softmax
from conseq.models.trigrams import OUTSIDE, Predictions, TrigramClasses
from conseq.models.windows import windows
from conseq.problem import Status
from conseq.schema import Schema
from conseq.vocabulary import Vocabulary

LABELS = Vocabulary(["a", "b", "c"])
SEEDS = st.integers(0, 2**32 - 1)


def predictions_of(cases: list[naive.Case]) -> Predictions:
    indptr, cls, share, winner, parts, offsets = naive.arrays(cases)
    found = Distributions.of(range(len(parts)), indptr, cls, share, winner)
    return Predictions.of(TrigramClasses(LABELS, parts), found, offsets)


def one(*trigrams: tuple[str, float]) -> Predictions:
    """One sequence whose tokens predict these trigrams ("_ab") with these shares, and nothing else."""
    labels = {"_": None, **{name: i for i, name in enumerate(LABELS)}}
    cases = [[(tuple(labels[name] for name in text), share)] for text, share in trigrams]
    return predictions_of([naive.Case(cases, [0] * len(cases))])


# ── classes and windows ─────────────────────────────────────────────────────────────────────────

CORPUS = Corpus.from_sequences([list("abc"), [], list("b")], [["X", "Y", "X"], [], ["Y"]], column="letter")


class TestClasses:
    def test_a_class_is_the_labels_before_at_and_after_a_token(self):
        classes, ids = TrigramClasses.of(CORPUS)
        assert [classes.names()[k] for k in ids] == ["_ X Y", "X Y X", "Y X _", "_ Y _"]
        assert classes.encode(CORPUS).tolist() == ids.tolist()

    def test_classes_and_labels_that_were_not_seen(self):
        classes, _ = TrigramClasses.of(CORPUS)
        other = Corpus.from_sequences([list("ab"), list("b"), list("xy")], [["X", "X"], ["Y"], ["X", "Z"]])
        assert classes.encode(other).tolist() == [-1, -1, 3, -1, -1]
        assert (classes.label_ids(other)[:4] >= 0).all()
        assert classes.label_ids(other)[4] not in (*range(len(classes.labels)), OUTSIDE)

    def test_repeated_classes_have_one_number(self):
        classes, ids = TrigramClasses.of(Corpus.joined([CORPUS, CORPUS]))
        assert len(classes) == 4
        assert ids.tolist() == [0, 1, 2, 3] * 2

    def test_labels_are_needed(self):
        with pytest.raises(DataError, match="no labels"):
            TrigramClasses.of(CORPUS.with_labels(None))


class TestWindows:
    def test_by_hand(self):
        corpus = Corpus.from_columns({"w": ["A", "B", "C"], "p": ["x", "y", "x"]}, [2, 1])
        found = windows(corpus, ["w", "p"], 1, 2)
        assert found.names == ("w[-1]", "w[0]", "w[1]", "w[2]", "p[-1]", "p[0]", "p[1]", "p[2]")
        assert found.strings() == [
            ["", "A", "B", "", "", "x", "y", ""],
            ["A", "B", "", "", "x", "y", "", ""],
            ["", "C", "", "", "", "x", "", ""],
        ]

    def test_other_data_has_the_same_ids_and_unseen_values_none(self):
        seen = windows(CORPUS, ["letter"], 1, 0)
        other = windows(Corpus.from_sequences([list("cxa")], column="letter"), ["letter"], 1, 0, like=seen)
        assert other.strings() == [["", "c"], ["c", "?"], ["?", "a"]]
        hot = other.one_hot()
        assert hot.shape == (3, seen.one_hot().shape[1])
        assert hot.sum(axis=1).ravel().tolist() == [[2, 1, 1]]
        assert seen.one_hot()[0].indices.tolist() == [0, 5]  # the boundary; the first letter, after 4 values

    def test_seven_letters_are_the_default(self):
        assert windows(CORPUS, ["letter"]).ids.shape == (4, 7)

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ({"columns": ["word"]}, "no column 'word'; choose among letter"),
            ({"columns": []}, "at least one column"),
            ({"columns": ["letter"], "left": -1}, "at least 0"),
            ({"columns": ["letter"], "like": windows(CORPUS, ["letter"], 1, 1)}, "should be like"),
        ],
    )
    def test_mistakes_are_sentences(self, arguments, says):
        with pytest.raises(DataError, match=says):
            windows(CORPUS, **arguments)


# ── what a base says ────────────────────────────────────────────────────────────────────────────


class TestDistributions:
    def test_the_largest_shares_are_kept_and_add_up_to_one(self):
        found = Distributions.from_dense([[0.5, 0.1, 0.3], [0.0, 0.0, 0.0]], ["x", "y", "z"], most=2)
        assert found.cls[: found.indptr[1]].tolist() == [0, 2]
        assert found.share[: found.indptr[1]] == pytest.approx([0.625, 0.375])
        assert found.names() == ["x", "x"]
        assert found.confidence == pytest.approx([0.625, 0.5])

    def test_decision_values_become_shares_by_softmax(self):
        assert softmax([[0.0, np.log(3)]]) == pytest.approx(np.array([[0.25, 0.75]]))
        assert softmax([np.log(3)]) == pytest.approx(np.array([[0.25, 0.75]]))
        assert softmax([[0.0, np.log(3)]], sharpness=2) == pytest.approx(np.array([[0.1, 0.9]]))

    def test_a_learner_that_classifies_is_taken_at_its_word(self):
        answer = SimpleNamespace(winner=[1, 0], indptr=[0, 2, 3], cls=[0, 1, 0], share=[0.5, 0.5, 1.0])
        base = SimpleNamespace(classify=lambda rows: answer, classes_=["p", "q"])
        found = distributions(base, None)
        assert found.names() == ["q", "p"]  # though the shares are equal
        assert found.confidence.tolist() == [0.5, 1.0]

    def test_no_rows(self):
        base = SimpleNamespace(predict_proba=lambda rows: rows, classes_=[0, 1])
        assert len(distributions(base, np.empty((0, 2)))) == 0

    @pytest.mark.parametrize(
        ("make", "says"),
        [
            (lambda: Distributions.from_dense([[1.0]], ["a", "b"]), "one column per class"),
            (lambda: Distributions.from_dense([[1.0, -1.0]], ["a", "b"]), "row 0, class 1"),
            (lambda: Distributions.from_dense([[1.0, np.nan]], ["a", "b"]), "nan is no probability"),
            (lambda: Distributions.from_dense([[1.0, 0.0]], ["a", "b"], most=0), "at least 1 class"),
            (lambda: Distributions.of(["a"], [0, 1], [1], [1.0], [0]), "there are 1 classes"),
            (lambda: Distributions.of(["a"], [0, 2], [0], [1.0], [0]), "indptr must rise"),
            (lambda: Distributions.of(["a"], [0, 1], [0], [1.0, 1.0], [0]), "give one each"),
            (lambda: Distributions.of(["a"], [0, 1], [0], [-1.0], [0]), "a share is negative"),
            (lambda: distributions(SimpleNamespace(classes_=[0]), [[0]]), "gives no confidences"),
            (lambda: distributions(SimpleNamespace(predict_proba=1), [[0]]), "train it first"),
        ],
    )
    def test_mistakes_are_sentences(self, make, says):
        with pytest.raises(ScoreError, match=says):
            make()


# ── voting, inference, oracle ───────────────────────────────────────────────────────────────────


class TestVoting:
    def test_two_of_three_win_against_confidence(self):
        found = one(("_aa", 0.1), ("abb", 0.9), ("ab_", 0.1))
        assert found.names(found.voting()) == ["a", "a", "b"]

    def test_three_that_differ_are_settled_by_confidence(self):
        found = one(("_ab", 0.5), ("acc", 0.4), ("aac", 0.9), ("ac_", 0.9))
        assert found.names(found.voting())[1] == "a"

    def test_equal_confidence_leaves_it_to_the_token_s_own_trigram(self):
        found = one(("_ab", 0.5), ("acc", 0.5), ("aac", 0.5), ("ac_", 0.5))
        assert found.names(found.voting())[1] == "c"

    def test_at_the_ends_two_predictions_are_settled_by_confidence(self):
        found = one(("_ab", 0.3), ("bc_", 0.8))
        assert found.names(found.voting()) == ["b", "c"]

    def test_boundary_marks_do_not_vote(self):
        found = one(("_a_", 0.3), ("_b_", 0.8), ("_c_", 0.8))
        assert found.names(found.voting()) == ["a", "b", "c"]

    def test_sequences_do_not_vote_for_each_other(self):
        alone = naive.Case([[((None, 0, 1), 1.0)]], [0])
        assert predictions_of([alone, alone]).voting().tolist() == [0, 0]

    def test_no_tokens(self):
        assert predictions_of([naive.Case([], [])]).voting().tolist() == []


@settings(deadline=None, max_examples=60)
@given(seed=SEEDS)
def test_inference_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    cases = [naive.random_case(rng, 3) for _ in range(5)]
    predictions = predictions_of(cases)
    labels, totals = predictions.solve()
    pieces = np.split(labels, predictions.offsets[1:-1])
    assert [tuple(piece.tolist()) for piece in pieces] == [case.best() for case in cases]
    assert totals.tolist() == [case.total(case.best()) for case in cases]
    assert predictions.sequences() == [len(case.candidates()) for case in cases]
    assert predictions.mean_sequences() == pytest.approx(np.mean(predictions.sequences()))


@settings(deadline=None, max_examples=30)
@given(seed=SEEDS)
def test_sharper_weights_are_powers(seed):
    rng = np.random.default_rng(seed)
    cases = [replace(naive.random_case(rng, 3), sharpness=2) for _ in range(5)]
    labels, totals = predictions_of(cases).sharpened(2).solve()
    assert labels.tolist() == [label for case in cases for label in case.best()]
    assert totals.tolist() == [case.total(case.best()) for case in cases]


def test_sharpness_one_changes_nothing_and_zero_is_refused():
    found = one(("_ab", 0.5), ("cb_", 1.0))
    assert found.sharpened(1) is found
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ScoreError, match="sharpness is"):
            found.sharpened(wrong)


def test_threads_give_the_same():
    rng = np.random.default_rng(3)
    cases = [naive.random_case(rng, 3) for _ in range(40)]
    assert predictions_of(cases).csinf(threads=2).tolist() == predictions_of(cases).csinf().tolist()


def test_the_oracle_takes_the_right_label_wherever_it_is_proposed():
    found = one(("_ab", 1.0), ("cb_", 1.0))
    assert found.names(found.oracle([2, 0])) == ["c", "b"]
    assert found.names(found.oracle([-2, 1])) == ["a", "b"]
    with pytest.raises(DataError, match="2 tokens"):
        found.oracle([0])


def test_very_many_sequences_are_counted_exactly():
    n = 900
    near = [[((1, 0, 2), 1.0)]] * n
    assert predictions_of([naive.Case(near, [0] * n)]).sequences() == [3 ** (n - 2) * 4]


@pytest.mark.parametrize(
    ("classes", "offsets", "says"),
    [
        ([0, 7], [0, 1], "none of the 2 trigram classes"),
        (["x", "y"], [0, 1], "none of the 2 trigram classes"),
        ([0, 1], [0, 2], "1 tokens that were classified"),
    ],
)
def test_classes_and_offsets_must_fit(classes, offsets, says):
    trigrams = TrigramClasses(LABELS, np.array([[-1, 0, 1], [0, 1, -1]], dtype=np.int32))
    with pytest.raises(ScoreError, match=says):
        Predictions.of(trigrams, Distributions.from_dense([[0.5, 0.5]], classes), offsets)


# ── rules ───────────────────────────────────────────────────────────────────────────────────────

RULES = [
    "at most 1 segment of a",
    "at least 1 segment of b",
    "if a then b",
    "no b before a",
    "tokens(c) <= 1",
    'token "x" is a',
    "first a -> last b",
]


def best_by_definition(case: naive.Case, rules: list, tokens: list[str], every: bool = False) -> float:
    """The most weight less penalties over the candidates (or all labellings); −inf if there are none."""
    schema = Schema(LABELS, "plain")
    candidates = case.candidates()
    if every:
        candidates = list(product(range(3), repeat=len(case)))
    best = -np.inf
    for labelling in candidates:
        names = LABELS.decode(labelling)
        paid = sum(rule.cost(rule.violation(names, schema, tokens)) for rule in rules)
        best = max(best, case.total(labelling) - paid)
    return best


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS, decoder=st.sampled_from(["auto", "lazy", "wcsp", "ilp"]), every=st.booleans())
def test_with_rules_the_answer_is_that_of_the_definition(seed, decoder, every):
    rng = np.random.default_rng(seed)
    cases = [naive.random_case(rng, 3, 4) for _ in range(2)]
    chosen = rng.choice(RULES, int(rng.integers(0, 4)), replace=False).tolist()
    penalties = ["hard" if rng.random() < 0.3 else f"penalty {rng.uniform(0, 2):.2f}" for _ in chosen]
    rules = [f"{line}  {penalty}" for line, penalty in zip(chosen, penalties, strict=True)]
    tokens = [[str(x) for x in rng.choice(["x", "y"], len(case))] for case in cases]
    predictions = predictions_of(cases)
    parsed = as_constraints("\n".join(rules), Schema(LABELS, "plain"))
    found = csinf.decode(
        predictions, "\n".join(rules), decoder, corpus=Corpus.from_sequences(tokens), any_label=every
    )
    for case, answer, words in zip(cases, found, tokens, strict=True):
        wanted = best_by_definition(case, parsed, words, every)
        assert answer.certificate.status is (Status.OPTIMAL if wanted > -np.inf else Status.INFEASIBLE)
        assert answer.score == pytest.approx(wanted, abs=1e-6)


@settings(deadline=None, max_examples=30)
@given(seed=SEEDS)
def test_each_candidate_has_one_path_of_states_with_its_weight(seed):
    """So n-best lists and marginals count it once."""
    case = naive.random_case(np.random.default_rng(seed), 2, 4)
    (problem,) = csinf.problems(predictions_of([case]))
    states = np.concatenate(labellings(problem))
    scores = all_scores(problem, states)
    paths = [tuple(problem.label_of[row].tolist()) for row in states[scores > -np.inf]]
    assert sorted(paths) == sorted(case.candidates())
    assert scores[scores > -np.inf] == pytest.approx([case.total(path) for path in paths])


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS, n=st.integers(1, 5))
def test_the_n_best_are_those_of_the_definition(seed, n):
    case = naive.random_case(np.random.default_rng(seed), 3)
    (problem,) = csinf.problems(predictions_of([case]))
    found = n_best_decodings(problem, n)
    totals = sorted(map(case.total, case.candidates()), reverse=True)[:n]
    assert [d.score for d in found] == pytest.approx(totals)
    for decoding in found:
        labels = tuple(LABELS.encode(decoding.labels).tolist())
        assert labels in case.candidates()
        assert case.total(labels) == pytest.approx(decoding.score)


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS)
def test_labels_that_are_allowed_restrict_the_proposals(seed):
    rng = np.random.default_rng(seed)
    case = naive.random_case(rng, 3)
    allowed = rng.random((len(case), 3)) < 0.6
    allowed[np.arange(len(case)), rng.integers(0, 3, len(case))] = True
    (found,) = csinf.decode(predictions_of([case]), schema=Schema(LABELS.names, "plain"), allowed=allowed)
    every = [set(np.flatnonzero(row).tolist()) for row in allowed]
    choices = [set(case.proposals(t)) & own or own for t, own in enumerate(every)]
    assert all(y in own for y, own in zip(LABELS.encode(found.labels).tolist(), choices, strict=True))
    assert found.score == pytest.approx(max(map(case.total, product(*choices))))


def test_a_rule_that_no_proposal_keeps():
    """Within the domains there is no answer; among all labels there is."""
    found = one(("_aa", 1.0), ("aa_", 1.0))
    assert csinf.decode(found, "at least 1 segment of b  hard")[0].certificate.status is Status.INFEASIBLE
    (answer,) = csinf.decode(found, "at least 1 segment of b  hard", any_label=True)
    assert sorted(answer.labels) == ["a", "b"]


def test_without_rules_the_decoders_agree_with_the_kernel():
    rng = np.random.default_rng(5)
    predictions = predictions_of([naive.random_case(rng, 3, 12) for _ in range(20)])
    _, totals = predictions.solve()
    for name in ("auto", "viterbi"):
        assert [d.score for d in csinf.decode(predictions, decoder=name)] == pytest.approx(totals.tolist())
        each = [find_decoder(name).decode(problem).score for problem in csinf.problems(predictions)]
        assert each == pytest.approx(totals.tolist())


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS, any_label=st.booleans(), restricted=st.booleans())
def test_a_batch_is_its_sequences_one_by_one(seed, any_label, restricted):
    """Whoever answers, the kernel or a decoder: labels, states and scores belong together."""
    rng = np.random.default_rng(seed)
    predictions = predictions_of([naive.random_case(rng, 3, 6) for _ in range(12)])
    allowed = None
    if restricted:
        allowed = rng.random((predictions.n_tokens, 3)) < 0.7
        allowed[np.arange(len(allowed)), rng.integers(0, 3, len(allowed))] = True
    rules = "at most 1 segment of a  penalty 0.7\nnot both a and b  hard"
    options = {"schema": Schema(LABELS.names, "plain"), "any_label": any_label, "allowed": allowed}
    found = csinf.decode(predictions, rules, **options)
    for i, (decoding, problem) in enumerate(zip(found, found.problems, strict=True)):
        alone = find_decoder("auto").decode(problem)
        assert decoding.certificate.status is alone.certificate.status
        assert decoding.score == pytest.approx(alone.score)
        a, b = found.problems.offsets[i : i + 2]
        if decoding.states is None:
            assert (found.labels[a:b] == -1).all()
            continue
        assert problem.score(decoding.states) == pytest.approx(decoding.score)
        assert LABELS.decode(found.labels[a:b]) == decoding.labels
    threads = csinf.decode(predictions, rules, threads=2, **options)
    for name in ("states", "scores", "bounds", "iterations"):
        assert getattr(threads, name).tolist() == getattr(found, name).tolist()


def test_where_rules_leave_no_proposal_all_labels_are_tried():
    rng = np.random.default_rng(3)
    predictions = predictions_of([naive.random_case(rng, 3, 4) for _ in range(30)])
    problems = csinf.problems(predictions, "at least 1 segment of c  hard\nat most 1 segment of c  penalty 1")
    strict, found = csinf.decode_all(problems), csinf.decode_all(problems, fall_back=True)
    empty = np.diff(problems.offsets) == 0
    none = np.isneginf(strict.scores) & ~empty
    assert 0 < none.sum() < len(problems)
    assert found.problems.any_label.tolist() == np.isneginf(strict.scores).tolist()
    assert (found.scores[~empty] > -np.inf).all()
    assert found.scores[~none].tolist() == strict.scores[~none].tolist()
    every = csinf.decode_all(problems.with_any_label(np.arange(len(problems))))
    assert found.scores[none] == pytest.approx(every.scores[none])
    for decoding, is_empty in zip(found, empty.tolist(), strict=True):
        assert is_empty or "c" in decoding.labels
    for name in ("ilp", "lazy"):
        same = csinf.decode_all(problems, name, fall_back=True)
        assert same.scores == pytest.approx(found.scores)


def test_a_sequence_that_does_not_exist():
    problems = csinf.problems(one(("_ab", 1.0), ("ab_", 1.0)))
    assert problems[-1].n_tokens == problems[0].n_tokens == 2
    for batch in (problems, csinf.decode_all(problems)):
        for i in (1, -2):
            with pytest.raises(IndexError, match=r"sequence -?[12] of 1"):
                batch[i]


def test_mistakes_about_rules_are_sentences():
    found = one(("_ab", 1.0), ("ab_", 1.0))
    with pytest.raises(DataError, match="other sequences"):
        csinf.problems(found, corpus=Corpus.from_sequences([["x"]]))
    with pytest.raises(SchemaError, match="lacks the label 'c'"):
        csinf.problems(found, schema=Schema(["a", "b"], "plain"))
    with pytest.raises(ConseqError, match="tokens"):
        csinf.problems(found, 'token "x" is a  hard')


# ── classifiers ─────────────────────────────────────────────────────────────────────────────────


def made_up(seed: int, n: int) -> Corpus:
    """x is read as what follows it, w and y are told apart by chance alone, but never both in a word."""
    rng = np.random.default_rng(seed)
    words, labels = [], []
    for _ in range(n):
        kind = str(rng.choice(["W", "Y"]))
        word = [str(c) for c in rng.choice(list("abx"), int(rng.integers(2, 7)))]
        words.append(["k" if kind == "W" else "l", *word])
        labels.append([kind, *(kind if c == "x" else c.upper() for c in word)])
    return Corpus.from_sequences(words, labels, column="letter")


def bases() -> dict:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    return {
        "svm": LinearSVC(random_state=0),
        "forest": RandomForestClassifier(10, random_state=0),
        "logistic": LogisticRegression(max_iter=300),
    }


@pytest.mark.parametrize("name", ["svm", "forest", "logistic"])
def test_any_classifier_can_be_the_base(name):
    """Windows reach two letters back, so what an x stands for must be handed on from label to label."""
    train, test = made_up(0, 150), made_up(1, 60)
    seen = windows(train, ["letter"], 2, 2)
    rows = windows(test, ["letter"], 2, 2, like=seen).one_hot()
    classes, ids = TrigramClasses.of(train)
    gold = classes.label_ids(test)
    single = distributions(bases()[name].fit(seen.one_hot(), train.labels.ids), rows)
    baseline = np.array([int(k) for k in single.names()])
    predictions = Predictions.of(
        classes, distributions(bases()[name].fit(seen.one_hot(), ids), rows), test.offsets
    )
    right = {
        "baseline": (baseline == gold).mean(),
        "voting": (predictions.voting() == gold).mean(),
        "csinf": (predictions.csinf() == gold).mean(),
        "oracle": (predictions.oracle(gold) == gold).mean(),
    }
    assert right["oracle"] >= max(right.values())
    assert min(right.values()) > 0.85, right
    strict = csinf.decode(predictions, "not both W and Y  hard", find_decoder("auto"), any_label=True)
    assert not any({"W", "Y"} <= set(answer.labels) for answer in strict)
