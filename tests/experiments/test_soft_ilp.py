"""The experiment of Fersini et al. 2014, end to end on small generated data, and its parts by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conseq.constraints import FollowedBy, Segments
from conseq.corpus import Corpus
from conseq.datasets import addresses
from conseq.errors import DataError
from conseq.io import write
from conseq.mining import Evidence
from conseq.potentials import Potentials
from conseq.schema import Schema
from experiments import EXPERIMENTS, soft_ilp
from experiments.common import markdown_table, p_values, present, read_splits, rest, some
from experiments.soft_ilp_methods import (
    FIVE,
    METHODS,
    NO_RULES,
    SOFT,
    TWO_STAGE,
    VITERBI,
    Chooser,
    Families,
    LogRatio,
    Method,
    surely,
)
from experiments.soft_ilp_trials import accuracy_not_o, clause_report


def written(folder: Path, split: str, corpus: Corpus) -> None:
    folder.mkdir(exist_ok=True)
    write(Corpus(dict(corpus.columns), corpus.offsets, corpus.labels), folder / f"{split}.tsv", "columns")


PARTS = ("AddressNumber", "StreetName", "PlaceName", "StateName", "ZipCode")


def coarse(corpus: Corpus) -> Corpus:
    """The main parts of addresses alone, so that there are few rules."""
    return corpus.with_labels(
        label if label in PARTS else "other" for label in corpus.full_labels().strings()
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """us50 and cora with few and simple sequences."""
    folder = tmp_path_factory.mktemp("data")
    for name, splits in (("us50", ("train", "test")), ("cora", ("train", "dev", "test"))):
        for seed, split in enumerate(splits):
            written(folder / name, split, coarse(addresses(18 if split == "train" else 8, seed=seed)))
    return folder


@pytest.fixture(scope="module")
def result(data: Path) -> dict:
    said: list[str] = []
    found = soft_ilp.run(data=data, quick=True, say=said.append)
    assert any(line.startswith("cora") for line in said)
    return found


# ── the whole experiment ────────────────────────────────────────────────────────────────────────


def test_the_result_is_plain_json_with_a_row_per_features_and_method(result):
    assert json.loads(json.dumps(result)) == result
    assert (result["split"], result["quick"]) == ("dev", True)
    assert [name for name in soft_ilp.TASKS if name in result] == ["us50", "cora"]
    for found in (result["us50"], result["cora"]):
        keys = [(row["features"], row["method"]) for row in found["rows"]]
        assert keys == [(f, m) for f in ("classic", "fields") for m in METHODS]


def test_rows_have_scores_choices_and_certificates(result):
    for row in result["cora"]["rows"]:
        assert 0 <= row["accuracy"] <= 1
        assert set(row["micro"]) == set(row["macro"]) == {"precision", "recall", "f1"}
        assert all(
            set(scores) == {"precision", "recall", "f1", "support"} for scores in row["labels"].values()
        )
        assert 0 <= row["certified"] <= 1
        assert (row["p"] is None) == (row["method"] == VITERBI)
        assert {"rules", "tau", "inference", "seconds"} <= row.keys()
        if row["inference"] == VITERBI:
            assert (row["rules"], row["tau"]) == (0, 1)


def test_the_table_and_the_markdown_have_the_papers_figures(result):
    rows = soft_ilp.table(result)
    assert all(len(row) == len(rows[0]) for row in rows)
    paper = {(row[0], row[1], row[2]): row[3] for row in rows[1:]}
    assert paper["cora", "classic", "all"] == "93.99"
    assert paper["us50", "classic", "all"] == "–"
    text = soft_ilp.markdown(result)
    assert "## us50" in text
    assert "| classic | all | author | 95.19 |" in text


def test_split_test_trains_on_train_alone_and_measures_the_splits_of_the_paper(data):
    (train, target) = next(soft_ilp.TASKS["cora"].pairs(data / "cora", "test", quick=False))
    assert (len(train), len(target)) == (18, 16)
    (train, target) = next(soft_ilp.TASKS["us50"].pairs(data / "us50", "test", quick=False))
    assert (len(train), len(target)) == (18, 8)


def test_split_dev_never_reads_test_data(data):
    train = read_splits(data / "cora", ["train"])[0].token_sequences()
    pairs = list(soft_ilp.TASKS["cora"].pairs(data / "cora", "dev", quick=False))
    held_out = [tokens for _, part in pairs for tokens in part.token_sequences()]
    assert sorted(held_out) == sorted(train)
    for rest_of_it, part in pairs:
        assert len(rest_of_it) + len(part) == len(train)


@pytest.mark.parametrize(("split", "folds"), [("test", 1), ("dev", soft_ilp.QUICK_FOLDS)])
def test_a_quick_run_takes_some_sequences_only(data, split, folds):
    task = replace(soft_ilp.TASKS["cora"], some=10)
    pairs = list(task.pairs(data / "cora", split, quick=True))
    assert len(pairs) == folds
    train, target = pairs[0]
    assert (len(train), len(target)) == ((10, 10) if split == "test" else (8, 2))
    enough = replace(task, some=1000)
    assert len(next(enough.pairs(data / "cora", "test", quick=True))[0]) == 18


def test_every_experiment_has_its_functions():
    for experiment in EXPERIMENTS.values():
        assert callable(experiment.run)
        assert experiment.about


def test_some_sequences_are_evenly_from_all():
    corpus = Corpus.from_columns({"word": [str(i) for i in range(11)]}, [1] * 11, ["x"] * 11)
    assert [words for (words,) in some(corpus, 3).token_sequences()] == ["0", "5", "10"]
    assert some(corpus, 100).token_sequences() == corpus.token_sequences()


# ── methods ─────────────────────────────────────────────────────────────────────────────────────

SCHEMA = Schema(["a", "b", "c"], "plain")


def evidence(sequences: int = 12) -> Evidence:
    """Each sequence is a b c; the model takes the last token for a by half a point in every second one."""
    corpus = Corpus.from_sequences([["x", "y", "z"]] * sequences, [["a", "b", "c"]] * sequences)
    unary = np.zeros((3 * sequences, 3))
    for i in range(sequences):
        unary[3 * i : 3 * i + 3] = 4 * np.eye(3)
        if i % 2:
            unary[3 * i + 2, 0] = 4.5
    gold = np.tile(np.arange(3, dtype=np.int32), sequences)
    return Evidence.of(corpus, SCHEMA, gold, Potentials.of(unary, offsets=corpus.offsets))


def test_gains_count_tokens_of_the_sequences_that_break_a_rule():
    found = evidence()
    once = (Segments("at most", 1, "a", penalty=2.0),)
    assert Method(SOFT, once).gains(found).tolist() == [1] * 6
    assert Method(TWO_STAGE, once, 0.9).gains(found).tolist() == [1] * 6
    assert Method(TWO_STAGE, once, 1.0).gains(found).sum() == 0
    assert Method(SOFT, (FollowedBy("a", "c", penalty=9.0),)).gains(found).sum() < 0
    assert len(NO_RULES.gains(found)) == 0


def test_a_method_that_helps_is_chosen_and_one_that_does_not_is_not():
    found = evidence()
    chosen = Chooser(found).choose(METHODS["all"])
    assert chosen.rules
    assert (chosen.decode(found).labels == found.gold).all()
    assert Chooser(found).choose([]) is NO_RULES
    assert Chooser(found).choose(METHODS["state-change"]) is NO_RULES  # there are no marks


def test_log_ratio_methods_come_one_per_tau_and_scale_with_the_same_rules():
    plan = LogRatio(Families(FIVE), taus=(0.9, 0.8), scales=(1.0, 0.5))
    narrow, wide, full, half = plan.methods(evidence())
    assert (narrow.tau, wide.tau, full.tau, half.tau) == (0.9, 0.8, None, None)
    assert narrow.rules == wide.rules == full.rules
    assert [rule.penalty / 2 for rule in full.rules] == [rule.penalty for rule in half.rules]


def test_gains_are_discounted_by_their_standard_error():
    assert surely(np.zeros(0, dtype=np.int64)) == 0
    assert surely(np.array([1] * 4)) == 3  # 4 − ½ √4
    assert surely(np.array([4])) == 2


def test_clauses_find_rules_of_the_families():
    found = clause_report(evidence())
    assert 0 < found["both"] <= min(found["rules"], found["families"])
    assert sum(found["by_family"].values()) == found["rules"]


def test_accuracy_without_o_counts_what_either_side_names():
    assert accuracy_not_o([["O", "x"], ["x"]], [["x", "x"], ["O"]]) == pytest.approx(1 / 3)
    assert accuracy_not_o([["O"]], [["O"]]) == 0


# ── what experiments share ──────────────────────────────────────────────────────────────────────


def test_missing_splits_and_data_sets_are_named(data, tmp_path):
    with pytest.raises(DataError, match=r"there is no dev\.tsv"):
        read_splits(data / "us50", ["train", "dev"])
    with pytest.raises(DataError, match="there is none of us50, cora in"):
        present(tmp_path, ["us50", "cora"])
    assert present(data, ["cora", "conll2003"]) == ["cora"]


def test_the_rest_of_a_part():
    assert rest(5, np.array([1, 3])).tolist() == [0, 2, 4]


def test_equal_labellings_differ_by_chance_only():
    gold = [["B-x", "O"], ["O", "B-x"]]
    assert p_values(gold, gold, gold) == {"accuracy": 1.0, "span_f1": 1.0}
    wrong = [["O", "O"], ["B-x", "O"]] * 20
    assert p_values(gold * 20, wrong, gold * 20)["accuracy"] < 0.01


def test_markdown_tables_have_a_line_under_the_head():
    assert markdown_table([["a", "b"], ["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
