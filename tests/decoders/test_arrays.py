"""`conseq.decode`: any scores, under rules, against every labelling scored by plain definitions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import conseq
from conseq import Limits, Status, decode
from conseq.constraints import Segments
from conseq.decoders.auto import DECODERS
from conseq.decoders.ilp import ILP
from conseq.errors import ConseqError, DataError, RuleError, SchemaError, ScoreError

LABELS = ["O", "a", "b"]
Labelling = Sequence[str]


def runs(labels: Labelling, name: str) -> int:
    return sum(label == name for label, _ in itertools.groupby(labels))


MEANINGS: dict[str, Callable[[Labelling, Sequence[str]], float]] = {
    "at most 1 segment of a": lambda y, x: max(0, runs(y, "a") - 1),
    "count(a) <= count(b)": lambda y, x: max(0, runs(y, "a") - runs(y, "b")),
    "if a then b": lambda y, x: float("a" in y and "b" not in y),
    "no b before a": lambda y, x: float("b" in y and "a" in y[y.index("b") :]),
    "forbid a -> b": lambda y, x: sum(step == ("a", "b") for step in itertools.pairwise(y)),
    'token "w" is a': lambda y, x: sum(w == "w" and label != "a" for w, label in zip(x, y, strict=True)),
}


def model_score(labels: Labelling, unary, pairwise, start, end) -> float:
    path = [LABELS.index(label) for label in labels]
    if not path:
        return 0.0
    total = start[path[0]] + end[path[-1]] + sum(unary[t][y] for t, y in enumerate(path))
    step = pairwise if np.ndim(pairwise) == 3 else [pairwise] * (len(path) - 1)
    return total + sum(step[t][a][b] for t, (a, b) in enumerate(itertools.pairwise(path)))


def naive_score(labels: Labelling, words: Sequence[str], arrays, penalties: dict[str, float]) -> float:
    """The definition of the objective, where inf · 0 is 0."""
    amounts = {rule: MEANINGS[rule](list(labels), words) for rule in penalties}
    return model_score(labels, *arrays) - sum(penalties[rule] * n for rule, n in amounts.items() if n)


def ranking(words: Sequence[str], arrays, penalties: dict[str, float]) -> list[tuple[float, Labelling]]:
    """Every labelling that is possible, best first."""
    every = (list(y) for y in itertools.product(LABELS, repeat=len(words)))
    scored = [(naive_score(y, words, arrays, penalties), y) for y in every]
    return sorted((pair for pair in scored if pair[0] > -np.inf), key=lambda pair: -pair[0])


def random_case(seed: int, each_step: bool = False):
    """Words, arrays (with −inf here and there) and rules with their penalties."""
    rng = np.random.default_rng(seed)
    length = int(rng.integers(1 if each_step else 0, 6))
    words = rng.choice(["v", "w"], length).tolist()
    unary, pairwise = rng.normal(0, 2, (length, 3)), rng.normal(0, 1, (3, 3))
    if each_step:
        pairwise = rng.normal(0, 1, (length - 1, 3, 3))
    unary[rng.random(unary.shape) < 0.1] = -np.inf
    rules = rng.choice(list(MEANINGS), int(rng.integers(0, 5)), replace=False).tolist()
    penalties = {rule: np.inf if rng.random() < 0.3 else float(rng.exponential(2)) for rule in rules}
    return words, (unary, pairwise, rng.normal(size=3), rng.normal(size=3)), penalties


def text(penalties: dict[str, float]) -> str:
    lines = (
        f"{rule} {'hard' if penalty == np.inf else f'penalty {penalty!r}'}"
        for rule, penalty in penalties.items()
    )
    return "\n".join(lines)


def check(found: conseq.Decoding, words, arrays, penalties, seed: int) -> None:
    """The answer is the best of all labellings, or there is none."""
    ranked = ranking(words, arrays, penalties)
    if not ranked:
        assert (found.labels, found.certificate.status) == (None, Status.INFEASIBLE), f"seed {seed}"
        return
    assert found.certificate.status is Status.OPTIMAL, f"seed {seed}"
    assert found.score == pytest.approx(ranked[0][0]), f"seed {seed}"
    assert found.score == pytest.approx(naive_score(found.labels, words, arrays, penalties)), f"seed {seed}"
    assert found.certificate.bound >= found.score
    amounts = {rule.line(): amount for rule, amount in found.violations.items()}
    wanted = {rule: MEANINGS[rule](found.labels, words) for rule in penalties}
    assert amounts == {rule: amount for rule, amount in wanted.items() if amount}, f"seed {seed}"


# ── the best labels ─────────────────────────────────────────────────────────────────────────────


def test_one_sequence_against_every_labelling():
    for seed in range(120):
        words, arrays, penalties = random_case(seed)
        found = decode(*arrays, labels=LABELS, constraints=text(penalties), tokens=words)
        check(found, words, arrays, penalties, seed)


def test_a_step_may_have_scores_of_its_own():
    for seed in range(60):
        words, arrays, penalties = random_case(seed, each_step=True)
        found = decode(*arrays, labels=LABELS, constraints=text(penalties), tokens=words)
        check(found, words, arrays, penalties, seed)


@pytest.mark.parametrize("name", sorted(set(DECODERS) - {"auto", "twostage"}))
def test_each_decoder_by_name_keeps_its_promises(name):
    for seed in range(200, 240):
        words, arrays, penalties = random_case(seed)
        found = decode(*arrays, labels=LABELS, constraints=text(penalties), tokens=words, decoder=name)
        ranked = ranking(words, arrays, penalties)
        if found.certificate.status is Status.OPTIMAL:
            check(found, words, arrays, penalties, seed)
        if ranked:
            assert found.certificate.bound >= ranked[0][0] - 1e-6, f"seed {seed}"


def test_several_sequences_give_the_answers_of_each_alone():
    cases = [random_case(seed) for seed in range(300, 310)]
    pairwise, start, end = cases[0][1][1:]
    rules = 'at most 1 segment of a penalty 1.5\ntoken "w" is a penalty 2\nif a then b hard'
    options = {"pairwise": pairwise, "start": start, "end": end, "labels": LABELS, "constraints": rules}
    words, unary = [case[0] for case in cases], [case[1][0] for case in cases]
    together = decode(unary, tokens=words, **options)
    for i, found in enumerate(together):
        alone = decode(unary[i], tokens=words[i], **options)
        assert (found.labels, found.score) == (alone.labels, alone.score), f"sequence {i}"
        assert found.violations == alone.violations


def test_three_dimensions_are_several_sequences():
    scores = np.random.default_rng(1).normal(size=(4, 3, 2))
    listed = [found.labels for found in decode(list(scores), labels=["x", "y"])]
    assert [found.labels for found in decode(scores, labels=["x", "y"])] == listed
    assert [found.labels for found in decode(scores.tolist(), labels=["x", "y"])] == listed
    assert listed == [[["x", "y"][i] for i in row] for row in scores.argmax(axis=2)]


def test_no_sequence_and_no_token():
    assert decode([]) == []
    assert decode(np.empty((0, 5, 2)), labels=["x", "y"]) == []
    empty = decode(np.empty((0, 2)), labels=["x", "y"])
    assert (empty.labels, empty.score, empty.certificate.status) == ([], 0.0, Status.OPTIMAL)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, object])
def test_any_kind_of_numbers(dtype):
    assert decode(np.array([[1, 3], [2, 0]], dtype=dtype), labels=["x", "y"]).labels == ["y", "x"]


def test_the_n_best_are_the_first_of_the_ranking():
    for seed in range(400, 430):
        words, arrays, penalties = random_case(seed)
        found = decode(*arrays, labels=LABELS, constraints=text(penalties), tokens=words, n_best=4)
        ranked = ranking(words, arrays, penalties)[:4]
        assert [d.score for d in found.n_best] == pytest.approx([score for score, _ in ranked]), (
            f"seed {seed}"
        )
        assert len({tuple(d.labels) for d in found.n_best}) == len(ranked)
        check(found, words, arrays, penalties, seed)


# ── labels, rules, limits in every form ─────────────────────────────────────────────────────────

SCORES = np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 2.0]])
RULE = Segments("at most", 1, "name", penalty=5.0)


@pytest.mark.parametrize(
    "rules",
    [str(RULE), [str(RULE)], RULE, [RULE], (rule for rule in [RULE]), ["# a comment", "", RULE]],
    ids=["text", "lines", "rule", "rules", "generator", "mixed"],
)
def test_rules_come_as_text_lines_or_objects(rules):
    found = decode(SCORES, labels=["O", "name"], constraints=rules)
    assert found.labels == ["name", "name", "name"]
    assert found.score == 4.0


def test_rules_come_from_a_file(tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text(f"{RULE}\n", encoding="utf-8")
    assert decode(SCORES, labels=["O", "name"], constraints=path).score == 4.0
    path.write_text("at most 1 segment of nme hard\n", encoding="utf-8")
    with pytest.raises(RuleError, match=r"rules\.txt:1:22: .*did you mean 'name'"):
        decode(SCORES, labels=["O", "name"], constraints=path)


def test_labels_come_as_a_list_an_array_a_dict_or_not_at_all():
    assert decode(SCORES).labels == ["1", "0", "1"]
    assert decode(SCORES, constraints="at most 1 segment of '1' penalty 5").labels == ["1", "1", "1"]
    assert decode(SCORES, labels=np.array(["x", "y"])).labels == ["y", "x", "y"]
    assert decode(SCORES, labels={1: "y", 0: "x"}).labels == ["y", "x", "y"]


def test_the_scheme_is_seen_in_the_labels_and_forbids_nothing_by_itself():
    scores, labels = [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 0.5, 0.0]], ["O", "B-x", "I-x"]
    assert decode(scores, labels=labels).labels == ["I-x", "I-x", "O"]
    assert decode(scores, labels=labels, constraints="legal bio").labels == ["B-x", "I-x", "O"]
    two = "at least 2 segments of x  hard"  # read as conlleval does, a run of I-x is one
    assert decode(scores, labels=labels, constraints=two).labels == ["I-x", "I-x", "B-x"]
    plain = decode(scores, labels=labels, scheme="plain", constraints="at least 1 segment of B-x  hard")
    assert plain.labels == ["I-x", "I-x", "B-x"]


def test_limits_come_as_an_object_or_a_dict():
    cases = (Limits(states=10), {"states": 10})
    for limits in cases:
        with pytest.raises(ConseqError, match="more than the limit of 10"):
            decode(np.zeros((5, 2)), decoder="enumerate", limits=limits)


def test_a_decoder_comes_with_its_options():
    found = decode(SCORES, labels=["O", "name"], constraints=RULE, decoder=ILP(prune=False))
    assert (found.score, found.certificate.status) == (4.0, Status.OPTIMAL)


def test_rules_that_contradict_each_other_are_an_answer_not_an_error():
    rules = "at most 0 segments of name hard\nat least 1 segment of name hard"
    found = decode([SCORES, SCORES[:1]], labels=["O", "name"], constraints=rules)
    for one in found:
        assert (one.labels, one.certificate.status) == (None, Status.INFEASIBLE)
        assert dict(one.violations) == {}


# ── mistakes ────────────────────────────────────────────────────────────────────────────────────

NAN, INFINITE = [[0.0, np.nan]], [[0.0, 0.0], [np.inf, 0.0]]
WORD_RULE = 'token "w" is x hard'
THREE = {"unary": np.zeros((3, 2)), "labels": ["x", "y"]}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"unary": NAN}, ScoreError, "token 0 of sequence 0 .* state 1: the score is nan"),
        ({"unary": [SCORES, INFINITE]}, ScoreError, "token 1 of sequence 1 .* state 0: the score is inf"),
        ({"unary": SCORES, "start": [0, np.nan]}, ScoreError, r"start\[1\]: the score is nan"),
        ({"unary": 5}, ScoreError, "unary is of type int; give an array"),
        ({"unary": [1.0, 2.0]}, ScoreError, r"unary has the shape \(2,\); give tokens by labels"),
        ({"unary": np.zeros((2, 2, 2, 2))}, ScoreError, r"unary has the shape \(2, 2, 2, 2\)"),
        ({"unary": [[1.0, 2.0], [3.0]]}, ScoreError, "unary is not an array of numbers"),
        ({"unary": [["x", "y"]]}, ScoreError, "unary is not .* has entries of type <U1; give real numbers"),
        ({"unary": [[1j, 0]]}, ScoreError, "entries of type complex128"),
        ({"unary": [SCORES, np.zeros((2, 3))]}, ScoreError, r"unary\[1\] has scores for 3 labels .* 2"),
        ({**THREE, "pairwise": np.zeros((2, 3))}, ScoreError, r"\(2, 3\); give \(2, 2\) for all steps, or"),
        ({**THREE, "pairwise": np.zeros((3, 2, 2))}, ScoreError, r"\(3, 2, 2\); give .* or \(2, 2, 2\)$"),
        ({"unary": [SCORES], "pairwise": np.zeros((2, 2, 2))}, ScoreError, r"give \(2, 2\) for all steps$"),
        ({**THREE, "pairwise": [[1], [1, 2]]}, ScoreError, "pairwise is not an array of numbers"),
        ({**THREE, "end": [0.0]}, ScoreError, r"end has the shape \(1,\)"),
        ({**THREE, "labels": ["x"]}, ScoreError, "scores for 2 labels and 1 labels are named"),
        ({**THREE, "labels": "xy"}, SchemaError, "labels is the one string 'xy'; give a list"),
        ({**THREE, "labels": ["x", "x"]}, SchemaError, "label 'x' is listed twice"),
        ({**THREE, "labels": ["x", ""]}, SchemaError, "a label is the empty string"),
        ({**THREE, "scheme": "bilou"}, SchemaError, "no scheme 'bilou'"),
        ({**THREE, "scheme": "bio"}, SchemaError, "label 'x' does not fit scheme bio"),
        ({**THREE, "constraints": WORD_RULE}, RuleError, "looks at tokens, and none are given"),
        ({**THREE, "constraints": "legal bio"}, RuleError, "write 'legal plain'"),
        ({**THREE, "constraints": ["if x then y hard", "if x"]}, RuleError, "^line 2, column 5: expected"),
        ({**THREE, "constraints": [7]}, RuleError, "line 1: a rule is of type int; give a Constraint"),
        ({**THREE, "tokens": ["w"]}, DataError, "tokens has the length 1 and its scores have 3 rows"),
        ({**THREE, "tokens": "abc"}, DataError, "tokens is the one string 'abc'"),
        ({"unary": [SCORES], "tokens": list("abc")}, DataError, "tokens for 3 sequences and scores for 1"),
        ({"unary": [SCORES] * 2, "tokens": [list("abc"), ["a"]]}, DataError, r"tokens\[1\] has the length 1"),
        ({**THREE, "decoder": "best"}, ConseqError, "there is no decoder 'best'; choose one of auto,"),
        ({**THREE, "limits": 5}, ConseqError, "limits is 5; give Limits or a dict with some of seconds,"),
        ({**THREE, "limits": {"second": 1}}, ConseqError, "some of seconds, iterations, states"),
        ({**THREE, "n_best": 0}, ConseqError, "n_best is 0; ask for 1 labelling or more"),
        ({**THREE, "n_best": 2, "decoder": "ilp"}, ConseqError, "leave decoder at 'auto'"),
    ],
)
def test_mistakes_are_one_sentence(arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        decode(**arguments)
    assert "\n" not in str(caught.value)


def test_a_misspelt_name_in_a_rule_gets_a_suggestion_with_its_place():
    with pytest.raises(
        RuleError, match="line 2, column 22: no label or type is called 'autor'; did you mean"
    ):
        decode(SCORES, labels=["O", "author"], constraints="\nat most 1 segment of autor hard")
    with pytest.raises(RuleError, match=r"did you mean 'author'.*rule: at most 1 segment of autor"):
        decode(SCORES, labels=["O", "author"], constraints=[Segments("at most", 1, "autor")])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_best": 1.5}, "n_best is 1.5; give a whole number"),
        ({"decoder": None}, "there is no decoder None; choose one of auto"),
        ({"limits": {"seconds": float("nan")}}, "the limit of seconds is nan; give a number of at least 0"),
        ({"limits": {"states": -1}}, "the limit of states is -1; give a number of at least 0"),
    ],
)
def test_options_that_make_no_sense_get_a_sentence(options, sentence):
    with pytest.raises(ConseqError, match=sentence):
        decode([[1.0, 2.0]], **options)


def test_two_hard_counts_on_a_long_sequence_are_settled_within_the_default_limits():
    """The search must not wait for the integer program of a thousand tokens."""
    scores = np.random.default_rng(2).normal(size=(1000, 13)) * 2
    rules = "exactly 7 segments of '0'  hard\ncount('1') == count('2')  hard"
    assert decode(scores, constraints=rules).certificate.status is Status.OPTIMAL
