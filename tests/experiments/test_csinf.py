"""`python -m experiments csinf` on small made-up data, its parts by hand, the sizes of the public data."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path

import numpy as np
import pytest

from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.metrics.resampling import f1_of
from conseq.models.windows import windows
from experiments import EXPERIMENTS, csinf
from experiments.csinf_plot import plot
from experiments.csinf_tasks import TASKS, Answers, distinct, tag
from experiments.csinf_trials import Search, Setting, Study, difference

DATA = Path(os.environ.get("CONSEQ_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")

SIZES = {
    "conll2000": ((8_936, 211_727), (2_012, 47_377), 23_852),
    "conll2003": ((14_041, 203_621), (3_453, 46_435), 5_648),
    "nettalk": ((16_014, 117_450), (1_996, 14_680), 1_996),
    "cmudict": ((113_393, 849_230), (12_748, 95_655), 12_000),
    "morphology-ces": ((30_692, 240_871), (4_000, 31_219), 4_000),
    "morphology-eng": ((57_314, 579_885), (57_682, 582_025), 57_682),
}
"""Sequences and tokens of train and of test, segments or words of test, as SOURCE.md counts them."""


# ── made-up data ────────────────────────────────────────────────────────────────────────────────


def spelled(rng: random.Random) -> list[tuple[str, ...]]:
    """A word: c is k before a, o and s before e, i; an e at the end is silent; the second column is gold."""
    letters = [rng.choice("ctmp" if i % 2 == 0 else "aeio") for i in range(rng.randint(3, 6))]
    rows: list[tuple[str, ...]] = []
    for i, letter in enumerate(letters):
        after = letters[i + 1] if i + 1 < len(letters) else ""
        sound = ("s" if after in ("e", "i") else "k") if letter == "c" else letter
        rows.append((letter, "_" if letter == "e" and not after else sound))
    return rows


NAMES = {"B-NP": ("the", "DT"), "I-NP": ("cat", "NN"), "B-VP": ("saw", "VB"), "O": (".", ".")}


def chunked(rng: random.Random) -> list[tuple[str, ...]]:
    """A sentence of noun and verb phrases."""
    labels = [*["B-NP", "I-NP", "B-VP"] * rng.randint(1, 3), "O"]
    return [(w + rng.choice("xyz") if w != "." else w, t, y) for y in labels for w, t in [NAMES[y]]]


def write(folder: Path, split: str, sequences: list[list[tuple[str, ...]]], zipped: bool = False) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join("".join("\t".join(row) + "\n" for row in rows) + "\n" for rows in sequences)
    if zipped:
        (folder / f"{split}.tsv.gz").write_bytes(gzip.compress(text.encode()))
    else:
        (folder / f"{split}.tsv").write_text(text)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """nettalk (with a column of stress), cmudict and conll2000."""
    folder = tmp_path_factory.mktemp("data")
    rng = random.Random(0)
    for split, count in (("train", 150), ("dev", 40), ("test", 30)):
        words = [[(x, rng.choice("012"), y) for x, y in spelled(rng)] for _ in range(count)]
        write(folder / "nettalk", split, words)
    for split, count in (("train", 150), ("test", 30)):
        write(folder / "cmudict", split, [spelled(rng) for _ in range(count)], zipped=split == "train")
        write(folder / "conll2000", split, [chunked(rng) for _ in range(count)])
    return folder


@pytest.fixture(scope="module")
def result(data: Path) -> dict:
    """What a run reports, through JSON and back."""
    return json.loads(json.dumps(csinf.run(data=data, quick=True, say=lambda line: None)))


KEYS = {
    *("baseline", "voting", "csinf", "oracle", "base_accuracy", "sequences", "measure", "parameters"),
    *(
        "sharper",
        "csinf_voting",
        "csinf_baseline",
        "sharper_csinf",
        "curve",
        "train",
        "target",
        "classes",
        "seconds",
    ),
}


def test_every_task_that_is_there_has_its_figures(result):
    assert [name for name in TASKS if name in result] == ["conll2000", "nettalk", "cmudict"]
    for name in ("conll2000", "nettalk", "cmudict"):
        found = result[name]
        assert set(found) == KEYS
        assert all(0 < found[way] <= 1 for way in (*csinf.WAYS, "base_accuracy"))
        assert found["oracle"] >= max(found["csinf"], found["voting"])
        assert found["sequences"] >= 1
        for learner in ("single", "trigram"):
            assert {"metric", "weights", "k", "voting", "score", "rounds"} <= set(
                found["parameters"][learner]
            )
        low, high = found["csinf_voting"]["interval"]
        assert low <= found["csinf"] - found["voting"] <= high
        shares = [point["share"] for point in found["curve"]]
        assert shares == sorted(shares)
        assert found["curve"][-1]["csinf"] == found["csinf"]


def test_a_rule_that_windows_show_is_learned(result):
    assert result["nettalk"]["csinf"] > 0.7
    assert result["conll2000"]["csinf"] > 0.9


def test_the_test_split_and_data_that_is_not_there(data, tmp_path):
    found = csinf.run(data=data, split="test", quick=True, say=lambda line: None)
    assert found["nettalk"]["target"]["sequences"] == 30
    assert found["nettalk"]["train"]["sequences"] == 150
    with pytest.raises(DataError, match="there is none of conll2000"):
        csinf.run(data=tmp_path)


def test_tables_show_paper_and_ours(result):
    head, *rows = csinf.table(result)
    assert all(len(row) == len(head) for row in rows)
    shown = dict(zip(head, rows[0], strict=True))
    assert (shown["data"], shown["paper csinf"], shown["paper sequences"]) == ("conll2000", "93.1", "38.4")
    assert shown["csinf"] == f"{100 * result['conll2000']['csinf']:.1f}"
    text = csinf.markdown(result)
    assert text.count("\n| --- ") == 5
    assert "| nettalk | PHONEME | words right | 79.0 |" in text


def test_the_picture_is_written(result, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "csinf.png"
    plot(result, path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_it_is_in_the_table_of_experiments():
    assert EXPERIMENTS["csinf"].run is csinf.run
    assert EXPERIMENTS["csinf"].plot is plot


# ── parts by hand ───────────────────────────────────────────────────────────────────────────────


def test_stress_is_no_input_and_windows_have_seven_letters(data):
    train, target = TASKS["nettalk"].corpora(data, "dev")
    assert "stress" in train.columns
    found = windows(train, TASKS["nettalk"].seen)
    assert found.names == tuple(f"letter[{place}]" for place in range(-3, 4))
    assert len(target) == 40


def test_held_out_words_are_not_learned_from(data):
    train, target = TASKS["cmudict"].corpora(data, "dev")
    known, asked = ({"".join(word) for word in part.token_sequences()} for part in (train, target))
    assert not known & asked
    assert len(asked) == (len(known) + len(asked)) // 10


def answers(task: str, words: list[str], labels: list[list[str]]) -> Answers:
    corpus = Corpus.from_sequences([list(word) for word in words], labels, column="letter")
    return Answers(TASKS[task], corpus, corpus.full_labels().vocabulary)


def test_a_word_is_right_if_one_of_its_pronunciations_is_given():
    words, labels = ["AB", "AB", "CA"], [["AH", "B"], ["EY", "B"], ["K+S", "_"]]
    held = answers("cmudict", words, labels)

    def tally(*given: list[str]) -> list[int]:
        flat = held.schema.encode([label for word in given for label in word])
        return held.tally(flat)[:, 0].tolist()

    assert tally(["EY", "B"], ["EY", "B"], ["K+S", "_"]) == [1, 1]
    assert tally(["EY", "EY"], ["EY", "EY"], ["_", "K+S"]) == [0, 1], "alignment does not count"
    assert tally(["AH", "B"], ["AH", "B"], ["_", "_"]) == [1, 0]
    assert held.tally(held.gold).tolist() == [[1, 1, 1]] * 2


def test_elsewhere_every_word_counts_and_labels_must_be_the_same():
    held = answers("nettalk", ["ab", "ab"], [["x", "-"], ["-", "x"]])
    given = held.schema.encode(["x", "-", "x", "-"])
    assert held.tally(given).tolist() == [[1, 1, 1], [0, 1, 1]]


def test_names_in_iob1_become_bio(tmp_path):
    rows = [("Ann", "NNP", "I-NP", "I-PER"), ("Bob", "NNP", "I-NP", "B-PER"), (".", ".", "O", "O")]
    for split in ("train", "dev"):
        write(tmp_path / "conll2003", split, [rows, rows])
    train, target = TASKS["conll2003"].corpora(tmp_path, "dev")
    held = Answers(TASKS["conll2003"], target, train.full_labels().vocabulary)
    assert held.tally(held.gold).tolist() == [[2, 2, 2]] * 2
    assert target.full_labels().strings() == ["B-PER", "B-PER", "O"] * 2
    one = held.schema.encode(["B-PER", "O", "O"] * 2)
    assert held.tally(one).tolist() == [[1, 1, 2]] * 2


def test_tags_of_the_target_are_predicted(tmp_path):
    train = [[("IL-2", "B-DNA"), ("gene", "I-DNA"), ("binds", "O")]] * 3
    for split in ("train", "dev", "test"):
        write(tmp_path / "jnlpba", split, train)
    for split, tags in (("train", "NN\nNN\nVBZ\n\n" * 3), ("dev", "?\n?\n?\n\n" * 3)):
        (tmp_path / "jnlpba" / f"{split}.pos.txt.gz").write_bytes(gzip.compress(tags.encode()))
    known, target = TASKS["jnlpba"].corpora(tmp_path, "dev")
    assert known.columns["pos"].strings()[:3] == ["NN", "NN", "VBZ"]
    assert target.columns["pos"].strings()[:3] == ["NN", "NN", "VBZ"], "not the tags of the file"
    known, target = TASKS["jnlpba"].corpora(tmp_path, "test")
    assert len(known) == 6
    other = Corpus.from_sequences([["IL-4", "gene"]])
    assert tag(known, other).columns["pos"].strings()[1] in ("NN", "?")
    (tmp_path / "jnlpba" / "train.pos.txt.gz").write_bytes(gzip.compress(b"NN\n"))
    with pytest.raises(DataError, match="there are 1 tags for 9 tokens"):
        TASKS["jnlpba"].corpora(tmp_path, "dev")


def test_settings_are_not_repeated_and_plain_ones_come_first():
    settings = [setting for metric in Search().metrics for setting in Search().settings(metric)]
    assert len(set(settings)) == len(settings)
    assert settings[0] == Setting("overlap", "gain-ratio", 1, "majority")
    assert {setting.voting for setting in settings if setting.k == 1} == {"majority"}


def test_a_setting_is_chosen_by_the_samples_alone(data):
    train, target = TASKS["nettalk"].corpora(data, "dev")
    search = Search(
        weights=("gain-ratio",), neighbours=(3,), voting=("majority",), first=100, last=300, final=400
    )
    chosen = [Study(TASKS["nettalk"], train, part).tune("trigram", search)[0] for part in (target, train)]
    assert chosen[0] == chosen[1], "what is measured on plays no part"


def test_difference_is_that_of_the_scores_and_its_interval_holds_it():
    rng = np.random.default_rng(0)
    right = rng.random((2, 300)) < np.array([[0.5], [0.7]])
    first, second = (np.stack([r, np.ones(300), np.ones(300)], axis=1).astype(np.int64) for r in right)
    found = difference(first, second)
    expected = f1_of(second.sum(axis=0)) - f1_of(first.sum(axis=0))
    assert found["difference"] == pytest.approx(float(expected))
    assert 0 < found["interval"][0] < found["difference"] < found["interval"][1]
    assert found["p"] < 0.01


def test_equal_words_are_one():
    assert distinct(Corpus.from_sequences(["ab", "b", "ab", "ba"])).tolist() == [0, 1, 0, 2]


def test_interrupted_it_reports_what_was_finished(data, result, monkeypatch):
    def measured(name, *_):
        if name == "nettalk":
            raise KeyboardInterrupt
        return result[name]

    monkeypatch.setattr(csinf, "_measured", measured)
    said = []
    found = csinf.run(data=data, quick=True, say=said.append)
    assert "conll2000" in found
    assert not {"nettalk", "cmudict"} & found.keys()
    assert said == ["interrupted in nettalk; what was finished before follows"]
    assert len(csinf.table(found)) == 2
    assert "conll2000" in csinf.markdown(found)


def test_interrupted_before_anything_is_finished_the_caller_hears_of_it(data, monkeypatch):
    def measured(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(csinf, "_measured", measured)
    with pytest.raises(KeyboardInterrupt):
        csinf.run(data=data, quick=True)


# ── the public data ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_of_the_source(name):
    if not (DATA / TASKS[name].folder).is_dir():
        pytest.skip(f"{name} is not there; set CONSEQ_DATA to the folder with the data sets")
    train, test, units = SIZES[name]
    known, target = TASKS[name].corpora(DATA, "test")
    assert (len(known), known.n_tokens) == train
    assert (len(target), target.n_tokens) == test
    held = Answers(TASKS[name], target, known.full_labels().vocabulary)
    assert held.tally(held.gold).sum(axis=0).tolist() == [units] * 3
