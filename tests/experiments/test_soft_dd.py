"""`python -m experiments soft-dd` on small made-up data: every row of the tables of the paper."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from conseq.errors import DataError
from experiments import EXPERIMENTS, soft_dd

NAMES = ["Ann", "Bob", "Cleo", "Dora", "Emil", "Faye"]
WORDS = ["on", "rules", "Bob", "learning", "Ann", "1984", "1999", "2001"]
SPLITS = {"train": 70, "dev": 40, "test": 30}

Token = tuple[str, str]


def citation(rng: random.Random) -> list[Token]:
    """Persons inside authors, then title and date in either order; words of titles look like both."""
    tokens: list[Token] = []
    for n in range(rng.randint(1, 3)):
        outer = "I" if n else "B"
        tokens.append((rng.choice(NAMES), f"{outer}-authors/B-person/B-first"))
        tokens.append((rng.choice(NAMES), "I-authors/I-person/B-last"))
    title = [(rng.choice(WORDS), "I-title" if i else "B-title") for i in range(rng.randint(2, 4))]
    date = [(rng.choice(["1984", "1999", "2001"]), "B-date")]
    return [*tokens, *date, *title] if rng.random() < 0.5 else [*tokens, *title, *date]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / soft_dd.FOLDER
    folder.mkdir()
    rng = random.Random(0)
    for split, count in SPLITS.items():
        sequences = [citation(rng) for _ in range(count)]
        text = "".join("".join(f"{word}\t{label}\n" for word, label in s) + "\n" for s in sequences)
        (folder / f"{split}.tsv").write_text(text)
    return folder.parent


@pytest.fixture(scope="module")
def result(data: Path) -> dict:
    """What a run reports, through JSON and back."""
    return json.loads(json.dumps(soft_dd.run(data=data, say=lambda line: None)))


def row(result: dict, name: str) -> dict:
    return next(row for row in result["rows"] if row["constraints"] == name)


def test_every_row_is_there_with_its_keys(result):
    names = [
        "viterbi",
        "none",
        "only-one",
        "hierarchical",
        "pairwise",
        "all",
        "all-hard",
        "best",
    ]
    assert [row["constraints"] for row in result["rows"]] == names
    for one in result["rows"]:
        assert {"f1", "leaf_f1", "count", "zero", "p"} <= set(one)
        assert 0 < one["f1"] <= 1
    assert row(result, "none")["p"] is None
    assert (result["pool"], result["target"]) == (SPLITS["train"], SPLITS["dev"])


def test_every_answer_under_soft_rules_is_certified(result):
    for name in soft_dd.RECIPES:
        assert row(result, name)["certified"] == 1
        assert row(result, name)["viterbi_runs"] >= 1
    assert result["certified"] == 1


def test_rules_help_and_none_is_what_stops_before_any(result):
    assert row(result, "best")["f1"] > row(result, "none")["f1"]
    first, *_, last = result["early_stopping"]
    assert (first["iterations"], first["mean_iterations"]) == (1, 1)
    assert first["f1"] == pytest.approx(row(result, "none")["f1"])
    assert first["converged"] <= last["converged"]
    means = [stop["mean_iterations"] for stop in result["early_stopping"]]
    assert means == sorted(means)


def test_tables_show_paper_and_ours(result):
    head, *rows = soft_dd.table(result)
    assert all(len(cells) == len(head) for cells in rows)
    shown = dict(zip(head, rows[5], strict=True))
    assert (shown["constraints"], shown["paper F1"]) == ("all", "95.39")
    assert shown["F1"] == f"{100 * row(result, 'all')['f1']:.2f}"
    text = soft_dd.markdown(result)
    assert text.count("\n| --- ") == 3
    assert "| 1 | 94.44 |" in text


def test_the_test_split_learns_from_dev_too(data):
    found = soft_dd.run(data=data, split="test", quick=True, say=lambda line: None)
    assert found["target"] == SPLITS["test"]
    assert found["pool"] == SPLITS["train"] + SPLITS["dev"]


def test_data_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"there is no train\.tsv here"):
        soft_dd.run(data=tmp_path)


def test_it_is_in_the_table_of_experiments():
    assert EXPERIMENTS["soft-dd"].run is soft_dd.run
