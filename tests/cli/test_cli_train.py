"""`conseq train` from the outside: what it writes, prints and refuses."""

from __future__ import annotations

import gzip
import json
import re
import signal
import subprocess
import sys
import threading

import pytest

from conseq.labeller import SequenceLabeller

KEYS = {
    "seconds", "iterations", "evaluations", "objective", "features", "attributes", "labels", "threads",
    "peak_mb", "status", "development", "best_iteration", "model",
}  # fmt: skip

CRFPP = "# unigrams\nU00:%x[-1,0]\nU01:%x[0,0]\nU02:%x[0,0]/%x[0,1]\n\nB\n"


@pytest.fixture
def train(run, data, tmp_path):
    """Train quickly: train(*more) ─→ outcome and the model's path."""

    def go(*more, source=data / "train.tsv"):
        path = tmp_path / "out.model"
        return run("train", source, "-m", path, "--threads", 1, "--max-iterations", 8, *more), path

    return go


def test_json_has_the_keys_of_the_contract_and_nothing_else_is_printed(train, data):
    found, path = train("--json", "--dev", data / "test.tsv", "--features", "ner")
    result = json.loads(found.out)
    assert found.code == 0
    assert found.err == ""
    assert found.out.count("\n") == 1
    assert set(result) == KEYS
    assert set(result["seconds"]) == {"read", "features", "train", "total"}
    assert result["seconds"]["total"] >= sum(v for k, v in result["seconds"].items() if k != "total")
    assert result["labels"] == 5
    assert result["threads"] == 1
    assert 0 < result["development"] <= 1
    assert result["iterations"] <= 8
    assert result["model"] == str(path)
    assert path.is_file()


def test_the_summary_in_a_pipe_is_plain_lines(train):
    found, path = train()
    lines = found.out.splitlines()
    assert lines[0] == "Trained."
    assert [line.split()[0] for line in lines[1:7]] == [
        "data", "features", "training", "objective", "time", "model",
    ]  # fmt: skip
    assert f"conseq label {path}" in lines[-1]
    assert "\x1b" not in found.out


def test_development_data_chooses_the_iterate(train, data):
    found, _ = train("--json", "--dev", data / "test.tsv")
    result = json.loads(found.out)
    assert 1 <= result["best_iteration"] <= result["iterations"]
    none, _ = train("--json")
    assert json.loads(none.out)["development"] is None


@pytest.mark.parametrize("kind", ["gzip", "jsonl", "inline", "stdin"])
def test_every_kind_of_input(run, data, tmp_path, kind):
    from conseq.io import read, write

    corpus = read(data / "train.tsv")
    path, more = tmp_path / "train.tsv.gz", []
    stdin = b""
    if kind == "gzip":
        path.write_bytes(gzip.compress((data / "train.tsv").read_bytes()))
    elif kind == "stdin":
        path, stdin = "-", (data / "train.tsv").read_bytes()
    else:
        path = tmp_path / f"train.{kind}"
        write(corpus, path, kind)
        more = ["--features", "classic"]
    model = tmp_path / "a.model"
    found = run(
        "train", path, "-m", model, "--max-iterations", 5, "--threads", 1, "--json", *more, stdin=stdin
    )
    assert found.code == 0, found.err
    assert json.loads(found.out)["labels"] == 5
    labelled = run("label", model, "--text", "--format", "inline", stdin=b"Ann likes Rome .\n")
    if kind in ("jsonl", "inline"):
        assert labelled.out == "<PER>Ann</PER> likes <LOC>Rome</LOC> .\n"


def test_iob1_becomes_bio(train, run, tmp_path):
    source = tmp_path / "iob1.tsv"
    source.write_text("Ann I-PER\nLee I-PER\nBob B-PER\nruns O\n\n" * 5 + "Bob I-PER\nruns O\n\n" * 5)
    found, path = train("--json", source=source)
    assert found.code == 0
    assert SequenceLabeller.load(path).schema_.labels == ("B-PER", "I-PER", "O")
    assert run("label", path, source).out.split("\n")[0] == "Ann I-PER B-PER"
    evaluated = json.loads(run("evaluate", path, source, "--json").out)
    assert evaluated["span"]["f1"] == 1.0


def test_a_crfpp_template_has_no_start_and_end_weights(train, tmp_path):
    template = tmp_path / "template"
    template.write_text(CRFPP)
    found, path = train("--template", template, "--columns", "word,pos,label")
    assert found.code == 0
    labeller = SequenceLabeller.load(path)
    assert [str(t) for t in labeller.extractor_.templates] == ["word[-1]", "word[0]", "word[0] & pos[0]"]
    assert labeller.transitions
    assert not labeller.boundaries
    template.write_text(CRFPP.replace("\nB\n", "\n"))
    _, path = train("--template", template)
    assert not SequenceLabeller.load(path).transitions


def test_features_from_a_file_and_a_lexicon(train, tmp_path):
    (tmp_path / "features.txt").write_text("# mine\nword[0]\nsuffix(2)[-1..1]  # parts\n")
    (tmp_path / "towns.txt").write_text("Rome\nNew York\n\n")
    found, path = train(
        "--features", tmp_path / "features.txt", "--lexicon", f"towns={tmp_path / 'towns.txt'}"
    )
    assert found.code == 0
    templates = [str(t) for t in SequenceLabeller.load(path).extractor_.templates]
    assert templates == [
        "word[0]", "suffix(2)[-1]", "suffix(2)[0]", "suffix(2)[1]",
        "lexicon(towns)[-1]", "lexicon(towns)[0]", "lexicon(towns)[1]",
    ]  # fmt: skip
    (tmp_path / "features.txt").write_text("word[0]\nlexicon(towns)[0]\n")
    _, path = train("--features", tmp_path / "features.txt", "--lexicon", f"towns={tmp_path / 'towns.txt'}")
    assert len(SequenceLabeller.load(path).extractor_.templates) == 2


def test_starting_from_a_model_begins_where_it_ended(train, run, data, tmp_path):
    whole = json.loads(
        run("train", data / "train.tsv", "-m", tmp_path / "a", "--features", "ner", "--json").out
    )
    short = ["--json", "--features", "ner", "--max-iterations", 1]
    cold, _ = train(*short)
    warm, _ = train(*short, "--from", tmp_path / "a")
    assert json.loads(warm.out)["objective"] == pytest.approx(whole["objective"], rel=1e-3)
    assert json.loads(warm.out)["objective"] < json.loads(cold.out)["objective"]


def test_the_model_remembers_how_its_data_was_read(run, tmp_path):
    source = tmp_path / "odd.tsv"
    source.write_text("1\tB-PER\tAnn\n2\tO\truns\n\n" * 5)
    model = tmp_path / "odd.model"
    options = ["--columns", "_,label,word", "--max-iterations", 5]
    assert run("train", source, "-m", model, *options).code == 0
    assert run("label", model, source).out.startswith("1\tB-PER\tAnn\tB-PER\n")
    bare = run("label", model, stdin=b"1\tAnn\n2\truns\n")
    assert bare.out == "1\tAnn\tB-PER\n2\truns\tO\n\n"
    assert json.loads(run("evaluate", model, source, "--json").out)["accuracy"] == 1.0


def test_a_missing_folder_is_found_before_anything_is_read(run, tmp_path):
    found = run("train", tmp_path / "absent.tsv", "-m", tmp_path / "no" / "where.model")
    assert found.code == 1
    assert "there is no directory" in found.err


def test_a_failure_keeps_the_model_that_was_there(train, tmp_path):
    (tmp_path / "out.model").write_bytes(b"precious")
    (tmp_path / "bad.tsv").write_text("a b O\nc O\n")
    found, path = train(source=tmp_path / "bad.tsv")
    assert found.code == 1
    assert path.read_bytes() == b"precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.tsv", "out.model"]


def test_an_interrupt_before_the_first_iteration_writes_nothing(train, monkeypatch):
    from conseq.models.objective import ChainObjective

    def interrupt(self, weights):
        raise KeyboardInterrupt

    monkeypatch.setattr(ChainObjective, "__call__", interrupt)
    found, path = train()
    assert found.code == 130
    assert "no model was written" in found.err
    assert not path.exists()


def test_an_interrupt_before_training_writes_nothing(train, monkeypatch):
    from conseq.features import FeatureExtractor

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(FeatureExtractor, "learn", interrupt)
    found, path = train()
    assert (found.code, found.out) == (130, "")
    assert found.err == "conseq: interrupted before training began; no model was written\n"
    assert not path.exists()


@pytest.mark.parametrize(
    ("algorithm", "round"), [("lbfgs", "iteration"), ("ap", "epoch"), ("adagrad", "epoch")]
)
def test_every_algorithm_trains_and_says_what_it_counts(run, train, data, algorithm, round):
    found, path = train("--algorithm", algorithm, "--dev", data / "test.tsv", "--features", "ner")
    facts = dict(line.split(maxsplit=1) for line in found.out.splitlines()[1:8])
    assert found.code == 0
    assert re.match(rf"\d {round}s?, (converged|reached --max-iterations)", facts["training"])
    assert f"(kept {round} " in found.out
    assert SequenceLabeller.load(path).algorithm == algorithm
    assert run("label", path, data / "bare.tsv").code == 0


def test_the_seed_is_an_option(train):
    """Seeds of the order, which the report of the perceptron's first epoch shows."""
    short = ["--json", "--algorithm", "ap", "--features", "ner"]
    found = [json.loads(train(*short, "--seed", seed)[0].out) for seed in (1, 1, 2)]
    assert found[0]["features"] == found[1]["features"]
    assert (found[0]["features"], found[0]["iterations"]) != (found[2]["features"], found[2]["iterations"])


@pytest.mark.parametrize("algorithm", ["ap", "adagrad"])
def test_an_l1_norm_is_refused_where_there_is_none(train, algorithm):
    found, path = train("--algorithm", algorithm, "--c1", 0.5)
    assert found.code == 1
    assert found.err == (
        f"conseq: c1 is 0.5, but the algorithm {algorithm} has no L1 norm; set c1 to 0, or choose lbfgs\n"
    )
    assert not path.exists()


def test_an_unknown_algorithm_is_one_sentence(train):
    found, _ = train("--algorithm", "sgd")
    assert found.code == 2
    assert found.err.count("\n") == 1
    assert "'sgd' is not one of 'lbfgs', 'ap', 'adagrad'" in found.err


def test_one_is_singular_and_the_parts_of_the_time_add_up(train, tmp_path):
    (tmp_path / "one.tsv").write_text("Ann\tPER\nruns\tO\n")
    found, _ = train("--features", "classic", source=tmp_path / "one.tsv")
    facts = dict(line.split(maxsplit=1) for line in found.out.splitlines()[1:7])
    assert facts["data"] == "1 sequence, 2 tokens, 2 labels"
    assert facts["model"].endswith(" kB)")
    total, *parts = map(float, re.findall(r"\d+\.\d", facts["time"]))
    assert len(parts) == 4
    assert sum(parts) == pytest.approx(total, abs=0.11)


def test_progress_is_shown_in_percent():
    from conseq.cli.compiling import Compilation
    from conseq.cli.progress import TrainingLine
    from conseq.models.crf import Progress

    line = TrainingLine(None, Compilation(), "iteration")
    line.watch(Progress(1, 10.0, 1, 0.1, 0.9312))
    assert "dev F1 93.12 % ·" in line.text()
    line.watch(Progress(2, 9.0, 2, 0.2, 0.9))
    assert "dev F1 90.00 % (best 93.12 % at 1)" in line.text()


def test_progress_counts_epochs():
    from conseq.cli.compiling import Compilation
    from conseq.cli.progress import TrainingLine
    from conseq.models.crf import Progress

    line = TrainingLine(10, Compilation(), "epoch")
    line.watch(Progress(3, 12.0, 3, 0.1, None))
    assert "epoch 3 of 10 · objective 12.0 ·" in line.text()


SLOW = """
import sys, time
from conseq.cli import main, progress
watch = progress.TrainingLine.watch
def slowly(self, step):
    watch(self, step)
    print("iteration", file=sys.stderr, flush=True)
    time.sleep(0.3)
progress.TrainingLine.watch = slowly
sys.exit(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
def test_ctrl_c_keeps_the_best_so_far(run, data, tmp_path):
    path = tmp_path / "early.model"
    arguments = ["train", data / "train.tsv", "-m", path, "--json", "--threads", "2"]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    guard = threading.Timer(60, process.kill)
    guard.start()
    try:
        for _ in range(2):
            assert process.stderr.readline() == b"iteration\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    finally:
        guard.cancel()
    assert process.returncode == 0, err
    assert json.loads(out)["status"] == "interrupted"
    assert b"interrupted; the best model so far is in" in err
    assert b"Traceback" not in err
    assert run("label", path, data / "bare.tsv").code == 0


def test_templates_of_a_file_are_kept_while_options_are_tuned(train, tmp_path):
    (tmp_path / "features.txt").write_text("word[0]\nsuffix(2)[0]\n")
    found, path = train("--features", tmp_path / "features.txt", "--tune", "--json")
    assert found.code == 0, found.err
    assert set(json.loads(found.out)["tuned"]["options"]) == {"c1", "c2"}
    assert len(SequenceLabeller.load(path).extractor_.templates) == 2


# ── data on disk ────────────────────────────────────────────────────────────────────────────────


def test_training_from_disk_gives_the_same_model_and_leaves_nothing_behind(train, data, tmp_path):
    whole, _ = train("--json")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    parts, path = train("--json", "--shard-tokens", 50, "--scratch", scratch)
    assert parts.code == 0, parts.err
    one, other = json.loads(whole.out), json.loads(parts.out)
    assert one["objective"] == pytest.approx(other["objective"], rel=1e-4)
    assert (one["features"], one["attributes"]) == (other["features"], other["attributes"])
    assert list(scratch.iterdir()) == []
    assert {file.name for file in tmp_path.iterdir()} == {"out.model", "scratch"}
    assert SequenceLabeller.load(path).input_["columns"][-1] == "label"
    shown, _ = train("--shard-tokens", 50)
    assert "sequences" in shown.out.splitlines()[1]
    assert {file.name for file in tmp_path.iterdir()} == {"out.model", "scratch"}


def test_training_from_disk_refuses_what_it_cannot_do(train, tmp_path):
    found, _ = train("--shard-tokens", 50, "--constraints", "learn")
    assert (found.code, "--folds 0 and --dev" in found.err) == (2, True)
    found, _ = train("--scratch", tmp_path)
    assert (found.code, "give both" in found.err) == (2, True)
    found, _ = train("--shard-tokens", 50, "--scratch", tmp_path / "nowhere")
    assert found.code == 1
    assert found.err.count("\n") == 1
    assert "name a folder with --scratch" in found.err
    bad = tmp_path / "bad.tsv"
    bad.write_text("a\tx\nb\n\n")
    found, _ = train("--shard-tokens", 50, source=bad)
    assert found.code == 1
    assert found.err.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["bad.tsv"]
