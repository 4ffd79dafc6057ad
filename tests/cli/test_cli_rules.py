"""Rules on the command line: --constraints, --decoder and --limit of train, label and evaluate."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from conseq.cli.rules import Decoding
from conseq.cli.summary import Summary
from conseq.decoders.auto import DECODERS
from conseq.io import read
from conseq.labeller import SequenceLabeller
from conseq.options import SECONDS

GOLD = (
    "Ann\tNNP\tB-PER\nlikes\tVBZ\tO\nRome\tNNP\tB-LOC\nBob\tNNP\tB-PER\nlikes\tVBZ\tO\nOslo\tNNP\tB-LOC\n\n"
)
TWO = "".join(line.rpartition("\t")[0] + "\n" for line in GOLD.splitlines()).encode()  # persons, and places
BOTH = "not both PER and LOC"
ONE = "at most 1 segment of PER"


@pytest.fixture
def rules(tmp_path):
    """Write rules to a file: rules("…  hard", …) ─→ its path."""

    def write(*lines: str, name: str = "my.rules") -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


def labels(text: str) -> list[str]:
    return [line.split("\t")[-1] for line in text.splitlines() if line]


@pytest.fixture(scope="module")
def ruled(data):
    """A model that was trained with a rule."""
    from conseq.cli import main

    (data / "one.rules").write_text(f"{ONE}  hard\n")
    path = data / "ruled.model"
    arguments = ["train", data / "train.tsv", "--features", "ner", "--constraints", data / "one.rules"]
    assert main([*map(str, arguments), "-m", str(path), "--threads", "1"]) == 0
    return path


class TestTraining:
    def test_the_model_keeps_its_rules(self, run, ruled, model):
        assert [str(rule) for rule in SequenceLabeller.load(ruled).constraints_] == [f"{ONE}  hard"]
        assert labels(run("label", model, stdin=TWO).out).count("B-PER") == 2
        assert labels(run("label", ruled, stdin=TWO).out).count("B-PER") == 1

    def test_none_is_the_default(self, run, data, model, tmp_path):
        target = tmp_path / "none.model"
        options = ["--features", "ner", "--constraints", "none", "--max-iterations", 2]
        assert run("train", data / "train.tsv", "-m", target, *options).code == 0
        assert SequenceLabeller.load(target).constraints_ == SequenceLabeller.load(model).constraints_ == ()

    def test_a_typo_is_told_before_training_and_leaves_no_model(self, run, data, rules, tmp_path):
        path = rules("# rules of ours", "", "at most 1 segment of PRE  hard")
        found = run("train", data / "train.tsv", "-m", tmp_path / "x.model", "--constraints", path)
        assert (found.code, found.out) == (1, "")
        assert found.err.startswith(f"conseq: {path}:3:22: ")
        assert "did you mean 'PER'?" in found.err
        assert found.err.count("\n") == 1
        assert not (tmp_path / "x.model").exists()


class TestLabelling:
    def test_a_file_replaces_and_none_removes(self, run, ruled, model, rules):
        other = run("label", ruled, "--constraints", rules("at least 3 segments of LOC  hard"), stdin=TWO)
        assert labels(other.out).count("B-LOC") == 3
        assert (
            run("label", ruled, "--constraints", "none", stdin=TWO).out == run("label", model, stdin=TWO).out
        )
        both = run("label", model, "--constraints", rules(f"{ONE}  hard"), stdin=TWO)
        assert both.out == run("label", ruled, stdin=TWO).out

    def test_every_format_obeys(self, run, ruled):
        found = {
            kind: run("label", ruled, "--format", kind, stdin=TWO).out
            for kind in ("columns", "jsonl", "spans", "inline")
        }
        assert labels(found["columns"]) == json.loads(found["jsonl"])["labels"]
        assert [line.split("\t")[3] for line in found["spans"].splitlines()].count("PER") == 1
        assert found["inline"].count("<PER>") == 1

    def test_certificates_in_jsonl(self, run, model, rules):
        path = rules(f"{ONE}  penalty 0.01", "if LOC then PER  hard")
        record = json.loads(run("label", model, "--constraints", path, "--format", "jsonl", stdin=TWO).out)
        plain = json.loads(run("label", model, "--format", "jsonl", stdin=TWO).out)
        assert list(record) == ["tokens", "labels", "spans", "score", "certificate", "violations"]
        assert record["labels"] == plain["labels"]
        assert record["violations"] == {ONE: 1.0}
        assert record["score"] == pytest.approx(plain["score"] - 0.01)
        certificate = record["certificate"]
        assert list(certificate) == ["status", "bound", "gap", "iterations", "seconds"]
        assert certificate["status"] == "OPTIMAL"
        assert certificate["bound"] == pytest.approx(record["score"])
        assert certificate["gap"] <= 1e-5
        assert certificate["iterations"] >= 1
        assert "certificate" not in plain

    def test_confidences_that_cost_too_much_are_left_open(self, run, model, rules):
        long = (TWO.strip(b"\n") + b"\n") * 60
        path = rules(
            *(f"count(PER) <= {k} count(LOC)  penalty 0.{k}" for k in range(1, 6)), "if LOC then PER  hard"
        )
        given = ("label", model, "--constraints", path)
        record = json.loads(run(*given, "--format", "jsonl", stdin=long).out)
        assert record["spans"]
        assert {span["confidence"] for span in record["spans"]} == {None}
        lines = [line.split("\t") for line in run(*given, "--format", "spans", stdin=long).out.splitlines()]
        assert [line[3:5] for line in lines] == [[span["type"], ""] for span in record["spans"]]

    def test_threads_do_not_matter(self, run, ruled, data):
        one, two = (run("label", ruled, data / "bare.tsv", "--threads", n) for n in (1, 2))
        assert one == two

    @pytest.mark.parametrize("decoder", DECODERS)
    def test_every_decoder(self, run, model, rules, decoder):
        path = rules(f"{ONE}  penalty 2")
        found = run("label", model, "--constraints", path, "--decoder", decoder, "--limit", 20, stdin=TWO)
        assert (found.code, found.err) == (0, "")
        assert len(labels(found.out)) == 6

    def test_a_limit_that_bites_is_noted(self, run, model, rules, data):
        given = ["label", model, "--constraints", rules(f"{ONE}  penalty 2"), "--decoder", "ilp"]
        found = run(*given, "--limit", "1e-9", stdin=TWO)
        assert (found.code, len(labels(found.out))) == (0, 6)
        assert "note: the limit of 1e-09 seconds stopped the search for 1 of 1 sequences" in found.err
        assert "others may score up to 2 more: raise --limit" in found.err
        for none in ("0", "none", "60"):
            found = run(*given, "--limit", none, stdin=TWO)
            assert (found.code, found.err) == (0, "")
        (data / "two.tsv").write_text(GOLD)
        given[0] = "evaluate"
        found = run(*given, "--limit", "1e-9", data / "two.tsv")
        assert "stopped the search for 1 of 1 sequences" in found.err
        assert run(*given, data / "two.tsv").err == ""

    @pytest.mark.parametrize("limit", ["soon", "-1", "nan", ""])
    def test_what_is_no_limit_is_refused(self, run, model, limit):
        found = run("label", model, "--limit", limit, stdin=TWO)
        assert found.code == 2
        assert "is not a number of seconds; give one from 0, or none" in found.err

    def test_the_limit_of_a_model_is_the_usual_one(self, model):
        labeller = SequenceLabeller.load(model)
        assert Decoding().of_model(labeller).limit == SECONDS
        assert Decoding(limit=math.inf).of_model(labeller).limit == math.inf

    def test_a_decoder_is_used(self, run, model, rules):
        options = ["--constraints", rules(f"{ONE}  penalty 1000"), "--format", "jsonl"]
        viterbi = json.loads(run("label", model, *options, "--decoder", "viterbi", stdin=TWO).out)
        assert viterbi["violations"] == {ONE: 1.0}
        assert viterbi["certificate"]["status"] == "FEASIBLE"
        assert viterbi["certificate"]["gap"] == pytest.approx(1000)
        assert json.loads(run("label", model, *options, stdin=TWO).out)["violations"] == {}

    def test_the_options_reach_the_labeller(self, model):
        labeller = Decoding(decoder="dual", limit=3.0).of_model(SequenceLabeller.load(model))
        assert (labeller.decoder, labeller.limit) == ("dual", 3.0)
        labeller = Decoding().of_model(labeller)
        assert (labeller.decoder, labeller.limit) == ("dual", 3.0)

    @pytest.mark.usefixtures("terminal")
    def test_broken_rules_on_a_terminal(self, run, model, rules):
        path = rules(f"{ONE}  penalty 0.01")
        found = run("label", model, "--constraints", path, "--format", "spans", stdin=TWO)
        assert f"breaks the rule: {ONE}" in found.out

    def test_what_cannot_be_met(self, run, model, rules, tmp_path):
        path = rules("at least 2 segments of PER  hard", f"{ONE}  penalty 1", "if PER then LOC  hard")
        target = tmp_path / "out.tsv"
        source = TWO + b"Ann\tNNP\nBob\tNNP\n\n"
        found = run("label", model, "--constraints", path, "-o", target, stdin=source)
        assert (found.code, found.out) == (1, "")
        assert found.err.count("\n") == 1
        assert "sequence 1 (from 0, 'Ann Bob')" in found.err
        assert "2 hard rules together: at least 2 segments of PER; if PER then LOC" in found.err
        assert ONE not in found.err
        assert not target.exists()


class TestEvaluating:
    def test_rules_broken_before_and_after(self, run, model, data, rules, tmp_path):
        source = tmp_path / "more.tsv"
        source.write_text((data / "test.tsv").read_text() + GOLD)
        path = rules(f"{ONE}  hard", f"{BOTH}  penalty 0.001", "if LOC then PER  penalty 1")
        result = json.loads(run("evaluate", model, source, "--constraints", path, "--json").out)
        labeller = SequenceLabeller.load(model)
        corpus = read(source, columns="word,pos,label")
        before = [naive(found) for found in labeller.predict(corpus)]
        after = [naive(found) for found in labeller.with_constraints(path).predict(corpus)]
        assert result["decoding"]["violations"] == {"before": counts(before), "after": counts(after)}
        assert counts(before) == {ONE: 1, BOTH: 13, "if LOC then PER": 0}
        assert counts(after)[ONE] == 0
        assert result["decoding"]["certified"] == result["decoding"]["sequences"] == 13
        assert result["decoding"]["mean_iterations"] > 1

    def test_rules_about_single_tokens_are_broken_before(self, run, model, data, rules):
        line = 'token "likes" is LOC'
        options = ["--constraints", rules(f"{line}  hard"), "--json"]
        result = json.loads(run("evaluate", model, data / "test.tsv", *options).out)
        sentences = (data / "test.tsv").read_text().split("\n\n")
        broken = sum("likes\tVBZ\tO" in sentence for sentence in sentences)
        assert broken > 0
        assert result["decoding"]["violations"] == {"before": {line: broken}, "after": {line: 0}}

    def test_the_model_has_rules_of_its_own(self, run, ruled, data, rules):
        def broken(*options: object) -> dict:
            result = json.loads(run("evaluate", ruled, data / "test.tsv", "--json", *options).out)
            return result["decoding"]["violations"]["after"]

        assert broken() == {ONE: 0}
        assert broken("--constraints", "none") == {}
        assert broken("--constraints", rules(f"{BOTH}  hard")) == {BOTH: 0}

    def test_scores_are_those_of_the_python_interface(self, run, model, data, rules):
        path = rules(f"{BOTH}  hard")
        result = json.loads(run("evaluate", model, data / "test.tsv", "--constraints", path, "--json").out)
        report = SequenceLabeller.load(model).with_constraints(path).evaluate(read(data / "test.tsv"))
        assert {key: result[key] for key in report.to_dict()} == report.to_dict()
        assert report.accuracy < 1

    def test_a_decoder_that_proves_less(self, run, model, data, rules):
        options = ["--constraints", rules(f"{BOTH}  penalty 9"), "--decoder", "viterbi"]
        decoding = json.loads(run("evaluate", model, data / "test.tsv", "--json", *options).out)["decoding"]
        assert decoding["violations"]["before"] == decoding["violations"]["after"] == {BOTH: 12}
        assert decoding["certified"] == 0

    def test_what_a_person_sees(self, run, model, data, rules):
        path = rules(f"{BOTH}  hard", f"{ONE}  hard")
        lines = run("evaluate", model, data / "test.tsv", "--constraints", path).out.splitlines()
        assert any("12 of 12 certified, " in line and "Viterbi runs on average" in line for line in lines)
        at = lines.index("Sequences that break a rule, 1 of 2 rules")
        assert lines[at + 1].split() == ["rule", "without", "rules", "with"]
        assert lines[at + 2].split() == [*BOTH.split(), "12", "0"]
        path = rules(f"{ONE}  hard")
        found = run("evaluate", model, data / "test.tsv", "--constraints", path).out
        assert "No sequence breaks the rules, with or without them" in found
        assert "rule" not in run("evaluate", model, data / "test.tsv").out


def naive(labels: list[str]) -> dict[str, bool]:
    """Which of three rules a labelling breaks, from its B- labels alone."""
    persons, places = labels.count("B-PER"), labels.count("B-LOC")
    return {
        ONE: persons > 1,
        BOTH: persons > 0 and places > 0,
        "if LOC then PER": places > 0 and persons == 0,
    }


def counts(broken: list[dict[str, bool]]) -> dict[str, int]:
    return {line: sum(row[line] for row in broken) for line in broken[0]}


@pytest.mark.parametrize("command", ["label", "evaluate"])
class TestRuleFiles:
    @pytest.mark.parametrize(
        ("lines", "place", "says"),
        [
            ([f"{ONE}  hard", "if PER than LOC  hard"], "2:8", "then"),
            (["no LCO before PER  hard"], "1:4", "did you mean 'LOC'?"),
            ([ONE], "1:25", "'hard' or 'penalty NUMBER'"),
            (["at most 1 segment of PER  penalty -2"], "1:35", "at least 0"),
        ],
    )
    def test_mistakes_have_a_place(self, run, model, data, rules, command, lines, place, says):
        path = rules(*lines)
        found = run(command, model, data / "test.tsv", "--constraints", path)
        assert (found.code, found.out) == (1, "")
        assert found.err.startswith(f"conseq: {path}:{place}: ")
        assert says in found.err
        assert found.err.count("\n") == 1

    def test_a_missing_file(self, run, model, data, command, tmp_path):
        found = run(command, model, data / "test.tsv", "--constraints", tmp_path / "absent.rules")
        assert (found.code, found.out) == (1, "")
        assert "absent.rules: the rules cannot be read" in found.err

    def test_learning_is_for_training(self, run, model, data, command):
        found = run(command, model, data / "test.tsv", "--constraints", "learn")
        assert (found.code, found.out) == (2, "")
        assert "rules are learned by `conseq train`" in found.err

    def test_what_is_odd_is_a_note(self, run, model, data, rules, command):
        path = rules(f"{ONE}  hard", f"{ONE}  hard")
        options = ["--json"] if command == "evaluate" else ["--format", "jsonl"]
        found = run(command, model, data / "test.tsv", "--constraints", path, *options)
        assert found.code == 0
        assert found.err == f"conseq: note: '{ONE}' is stated 2 times: all are hard, so one is enough\n"
        assert all(json.loads(line) for line in found.out.splitlines())


@pytest.mark.parametrize(
    ("decoder", "word"), [("auto", "Viterbi run"), ("lazy", "Viterbi run"), ("ilp", "step")]
)
def test_only_decoders_that_run_viterbi_speak_of_its_runs(decoder, word):
    made = Summary(4, 20, 4, 6.0, 1.0, {}, {}, decoder)
    assert made.sentence() == f"4 of 4 certified, 1.50 {word}s on average"
