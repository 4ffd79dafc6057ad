"""`python -m benchmarks crf` on small made-up data: the same function on both sides, and what is reported."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks import BENCHMARKS, crf, crf_growth, crf_peer, crf_plot, crf_tables, crf_user, crf_whole
from benchmarks.__main__ import main
from benchmarks.presets import TASKS, Task
from conseq.corpus import Bags, Corpus
from conseq.datasets import addresses, citations
from conseq.errors import ConseqError, DataError
from conseq.features import FeatureExtractor, parse_crfpp, preset
from conseq.io import write
from conseq.vocabulary import Vocabulary

pytest.importorskip("pycrfsuite")

NAMES = ["Ann", "Bob", "Cleo", "Dora", "Emil", "Faye"]
PLACES = ["Rome", "Oslo", "Lima", "New York", "Bob"]
TIGHT = {"delta": 1e-7}


def sentence(rng: random.Random) -> list[tuple[str, ...]]:
    """Word, tag, chunk and name (IOB1) per token; some names are places, too."""
    tokens = [(rng.choice(NAMES), "NNP", "B-NP", "I-PER")]
    tokens.append((rng.choice(["sees", "likes", "left"]), "VBZ", "B-VP", "O"))
    if rng.random() < 0.4:
        tokens += [("the", "DT", "B-NP", "O"), (rng.choice(["sea", "river"]), "NN", "I-NP", "O")]
        tokens.append(("near", "IN", "B-PP", "O"))
    for i, word in enumerate(rng.choice(PLACES).split()):
        tokens.append((word, "NNP", "I-NP" if i else "B-NP", "I-LOC"))
    return tokens


STOPPED, STOPPED_AFTER = "umass_citation", 15


def corpus(n: int, seed: int, *fields: int) -> Corpus:
    """Sentences with these of the four fields, the label last."""
    rng = random.Random(seed)
    made = [sentence(rng) for _ in range(n)]
    flat = [[token[f] for s in made for token in s] for f in fields]
    names = ("word", "pos", "chunk")[: len(fields) - 1]
    return Corpus.from_columns(dict(zip(names, flat[:-1], strict=True)), [len(s) for s in made], flat[-1])


MADE = {
    "conll2000": lambda seed, n: corpus(n, seed, 0, 1, 2),
    "conll2003": lambda seed, n: corpus(n, seed, 0, 1, 2, 3),
    "umass_citation": lambda seed, n: citations(n // 2, seed=seed),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three of the four data sets, one of them packed."""
    folder = tmp_path_factory.mktemp("data")
    for name, make in MADE.items():
        (folder / name).mkdir()
        write(make(1, 60), folder / name / "train.tsv", "columns")
        write(make(2, 20), folder / name / "test.tsv", "columns")
    plain = folder / "conll2003" / "train.tsv"
    (folder / "conll2003" / "train.tsv.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    return folder


def silent(line: str) -> None:
    """Nobody listens."""


# ── the same function on both sides ─────────────────────────────────────────────────────────────


def of_ids(pairs: Sequence[tuple[int, float]]) -> dict[str, float]:
    return {f"a{i}": value for i, value in pairs}


@pytest.mark.parametrize(("name", "made"), [("ner", corpus(30, 5, 0, 1, 2)), ("fields", addresses(20))])
def test_strings_are_the_attributes_of_the_design(name, made):
    _, design = FeatureExtractor.learn(made, preset(name, list(made.columns)))
    flat = [token for items in crf_peer.attribute_strings(design, made.offsets) for token in items]
    assert [len(items) for items in crf_peer.attribute_strings(design, made.offsets)] == made.lengths.tolist()
    for t, token in enumerate(flat):
        assert sorted(token) == sorted(of_ids(design.attributes(t)))


def test_values_of_attributes_are_kept():
    vocabulary, ids = Vocabulary.build(["x", "y", "x"])
    bags = Bags(np.array([0, 2, 3]), ids, np.array([0.5, 2.0, 1.0], np.float32), vocabulary)
    made = Corpus.from_columns({}, [1, 1], ["A", "B"], bags=bags)
    _, design = FeatureExtractor.learn(made, [])
    found = list(crf_peer.attribute_strings(design, made.offsets))
    assert found == [[of_ids(design.attributes(0))], [of_ids(design.attributes(1))]]
    assert sorted(found[0][0].values()) == [0.5, 2.0]


RACES = {
    "chunk by hand": crf.Race.of(
        "conll2000", TASKS["conll2000"], corpus(60, 1, 0, 1, 2), corpus(9, 2, 0, 1, 2)
    ),
    "ner": crf.Race.of("conll2003", TASKS["conll2003"], corpus(60, 1, 0, 1, 2, 3), corpus(9, 2, 0, 1, 2, 3)),
    "fields": crf.Race.of("made up", Task("fields"), citations(30, seed=1), citations(9, seed=2)),
    "plain": crf.Race.of("made up", Task("fields"), addresses(30, seed=1), addresses(9, seed=2)),
}


@pytest.mark.parametrize("name", RACES)
def test_both_toolkits_reach_the_same_objective_with_as_many_weights(tmp_path, name):
    race = RACES[name]
    given = race.given()
    report = race.labeller(1, **TIGHT).fit(race.train).report_.training
    trainer = crf_peer.trainer_of(given.train(), race.train.label_sequences(), **TIGHT)
    trained = crf_peer.train(trainer, tmp_path / "model")
    assert report.status in ("converged", "line search"), "or no further descent in single precision"
    assert report.objective == pytest.approx(trained.curve[-1][0], rel=1e-4)
    assert report.features == trained.weights
    assert (given.begins == crf_peer.COLUMNS) == (name == "chunk by hand")


def test_the_clock_of_crfsuite_runs_forward_and_counts_evaluations(tmp_path):
    race = RACES["ner"]
    trainer = crf_peer.trainer_of(race.given().train(), race.train.label_sequences(), max_iterations=7)
    trained = crf_peer.train(trainer, tmp_path / "model")
    clock = [seconds for _, seconds in trained.curve]
    assert len(clock) == len(trained.trials) == 7
    assert clock == sorted(clock)
    assert 0 < clock[0] <= clock[-1] <= trained.seconds
    assert trained.evaluations == 1 + sum(trained.trials) >= 8


def test_labels_of_both_sides_are_bio():
    race = RACES["ner"]
    assert set(race.schema.labels) == {"B-PER", "B-LOC", "I-LOC", "O"}
    assert set(race.test.full_labels().vocabulary) <= set(race.schema.labels)
    assert race.train.n_tokens == corpus(60, 1, 0, 1, 2, 3).n_tokens


# ── ratios ──────────────────────────────────────────────────────────────────────────────────────


def side(curve: list[tuple[float, float]], limited: bool = False, **seconds: float) -> dict:
    return {"seconds": seconds, "curve": curve, "objective": curve[-1][0], "limited": limited}


def test_the_same_objective_is_the_worse_of_the_two_last_ones():
    peer = side([(9.0, 10.0), (5.0, 20.0), (4.0, 40.0)], train=50.0, label_raw=3.0)
    ours = side([(7.0, 1.0), (4.5, 2.0)], train=4.0, label_raw=1.0, features=1.0)
    assert crf.ratios(peer, ours) == {"train": 12.5, "label_raw": 3.0, "train_to_same_objective": 40.0 / 2.0}


def test_training_to_the_end_is_not_compared_where_crfsuite_was_stopped():
    peer = side([(9.0, 10.0), (5.0, 20.0)], limited=True, train=20.0)
    ours = side([(7.0, 1.0), (5.0, 2.0), (3.0, 8.0)], train=9.0)
    assert crf.ratios(peer, ours) == {"train_to_same_objective": 10.0}


def test_seconds_of_an_evaluation_leave_the_start_out():
    assert crf_peer.per_evaluation([5.0, 6.0, 9.0], [3, 4, 7]) == 1.0
    assert crf_peer.per_evaluation([6.0], [3]) == 2.0


# ── the whole run ───────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def said() -> list[str]:
    return []


@pytest.fixture(scope="module")
def result(data: Path, said: list[str]) -> dict:
    """What a full run reports, through JSON and back; CRFsuite is stopped early on one set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(crf.LIMITS, STOPPED, STOPPED_AFTER)
        return json.loads(json.dumps(crf.run(data=data, say=said.append)))


def test_every_set_has_both_sides_and_positive_ratios(result):
    assert list(result["sets"]) == list(MADE)
    for name, found in result["sets"].items():
        assert found["data"]["preset"] == TASKS[name].preset
        assert list(found["conseq"]) == list(found["ratios"]) == ["2", "1"]
        peer = found["crfsuite"]
        assert {"train", "per_evaluation", "label_raw", "label_given"} <= peer["seconds"].keys()
        for n, ours in found["conseq"].items():
            assert ours["threads"] == int(n)
            assert ours["weights"] == peer["weights"]
            assert all(ratio > 0 for ratio in found["ratios"][n].values())
            speed = found["data"]["test_tokens"] / ours["seconds"]["label_raw"]
            assert ours["tokens_per_second"]["label_raw"] == pytest.approx(speed)
            assert 0.5 < ours["f1"] <= 1
        assert found["compile_seconds"] > 0


def test_features_are_raced_on_chunks_alone(result):
    for name, found in result["sets"].items():
        assert ("features" in found["ratios"]["2"]) == (name == "conll2000")
        begins = "columns" if name == "conll2000" else "strings"
        assert found["crfsuite"]["label_raw_from"] == begins


def test_crfsuite_is_stopped_where_it_takes_long_and_that_is_told(result, said):
    for name, found in result["sets"].items():
        peer = found["crfsuite"]
        assert peer["max_iterations"] == (STOPPED_AFTER if name == STOPPED else crf.LIMITS[name])
        assert peer["limited"] is (name == STOPPED)
        assert ("train" in found["ratios"]["2"]) is not peer["limited"]
        if not peer["limited"]:
            assert found["conseq"]["2"]["objective"] == pytest.approx(peer["objective"], rel=1e-3)
    assert result["sets"][STOPPED]["crfsuite"]["iterations"] == STOPPED_AFTER
    assert any("stopped after 15 iterations" in line for line in said)


def test_a_set_that_is_not_there_is_skipped_with_a_line(result, said, data):
    assert result["skipped"] == ["jnlpba"]
    assert f"jnlpba: skipped, there is no train.tsv and test.tsv of it in {data}" in said


def test_whole_processes_growth_and_versions_are_reported(result):
    whole, growth = result["whole"], result["growth"]
    assert whole["ratios"]["seconds"] == whole["crfsuite"]["seconds"] / whole["conseq"]["seconds"]
    assert min(whole[name]["peak_mb"] for name in ("crfsuite", "conseq")) > 5
    first = growth["data"][-1]
    assert [row["labels"] for row in growth["labels"]] == [n * first["labels"] for n in crf_growth.SPLITS]
    assert [row["templates"] for row in growth["attributes"]] == [19, 29, 39]
    shares = [row["sequences"] for row in growth["data"]]
    assert shares == [15, 30, 60]
    assert all(ratio > 0 for ratio in growth["ratios"].values())
    assert result["peers"]["python-crfsuite"] == result["machine"]["versions"]["python-crfsuite"]


def test_tables(result):
    head, *rows = crf_tables.table(result)
    assert [row[0] for row in rows] == list(MADE)
    assert all(len(row) == len(head) for row in rows)
    stopped = rows[2][head.index("training: CRFsuite (s)")]
    assert stopped.endswith("*")
    tables = crf_tables.further(result)
    titles = list(tables)
    assert titles[2].endswith(f"* CRFsuite was stopped after {STOPPED_AFTER} iterations")
    assert titles[3] == "whole training processes on conll2000"
    assert [title.split()[5] for title in titles[4:]] == ["data", "labels", "attributes"]
    for first, *others in tables.values():
        assert all(len(row) == len(first) for row in others)
    text = BENCHMARKS["crf"].markdown(result)
    assert sum(line.startswith("| --- |") for line in text.splitlines()) == 1 + len(tables)
    assert "Whole training processes on conll2000:\n\n|  | CRFsuite | conseq, 2 threads |" in text


def test_the_plot_is_a_png_file(result, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "race.png"
    crf_plot.plot(result, path)
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert [file.name for file in tmp_path.iterdir()] == ["race.png"]


def test_a_plot_without_matplotlib_is_a_sentence(monkeypatch, result, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConseqError, match=r"a plot needs matplotlib; install it with"):
        crf_plot.plot(result, tmp_path / "race.png")


def test_a_quick_run_of_chosen_sets(data, capsys):
    """Every eighth training sequence, and neither whole processes nor growth without chunks."""
    command = ["crf", "--quick", "--json", "--sets", "umass_citation", "--data", str(data)]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found["sets"]) == ["umass_citation"]
    assert found["quick"] is True
    assert found["sets"]["umass_citation"]["data"]["sequences"] == 4
    assert "whole" not in found
    assert "growth" not in found


def test_quick_takes_chunks_alone():
    assert crf._wanted(None, quick=True) == ["conll2000"]
    assert crf._wanted(None, quick=False) == list(crf.SETS)
    assert crf._wanted(["jnlpba", "conll2000"], quick=True) == ["conll2000", "jnlpba"]


def test_data_that_is_not_there_and_unknown_sets_are_sentences(tmp_path):
    with pytest.raises(DataError, match="there is none of conll2000, conll2003, umass_citation, jnlpba"):
        crf.run(data=tmp_path)
    with pytest.raises(ConseqError, match=r"there is no set 'cora' in this race; there are: conll2000"):
        crf.run(data=tmp_path, sets=["cora"])


def test_without_crfsuite_there_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    with pytest.raises(ConseqError, match=r"the race needs python-crfsuite; install it with"):
        crf.run(data=tmp_path)


# ── whole processes ─────────────────────────────────────────────────────────────────────────────


def test_the_template_of_whole_processes_is_the_preset():
    parsed = parse_crfpp(crf_whole.TEMPLATE, ["word", "pos"])
    assert set(parsed.templates) == set(preset("chunk", ["word", "pos"]))
    assert parsed.transitions


def test_the_script_of_a_user_reads_what_was_written_and_needs_no_conseq(tmp_path):
    made = corpus(5, 3, 0, 1, 2)
    write(made, tmp_path / "train.tsv", "columns")
    read = list(crf_user.sentences(str(tmp_path / "train.tsv")))
    assert read == [(s.column("word"), s.column("pos"), s.labels) for s in made]
    source = Path(crf_user.__file__).read_text()
    subprocess.run(
        [sys.executable, "-P", crf_user.__file__, tmp_path / "train.tsv", tmp_path / "model"], check=True
    )
    assert (tmp_path / "model").stat().st_size > 0
    assert "import conseq" not in source
    assert "from conseq" not in source


def test_the_memory_of_this_process_is_not_counted_as_that_of_another():
    large = np.ones(50_000_000)  # 400 MB
    found = crf_whole.watched([sys.executable, "-I", "-S", "-c", "pass"])
    assert found["peak_mb"] < 200
    assert found["seconds"] > 0
    assert large[-1] == 1


def test_a_process_that_fails_gives_a_sentence():
    with pytest.raises(ConseqError, match=r"a training process of the race failed: .*no such thing"):
        crf_whole.watched([sys.executable, "-c", "import sys; sys.exit('no such thing')"])
