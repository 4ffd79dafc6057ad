"""`conseq label` from the outside: every input, every output, pipes."""

from __future__ import annotations

import gzip
import json
import select
import subprocess
import sys
import threading

import pytest

from conseq.cli.show import Palette
from conseq.io import Format, read, write
from conseq.labeller import SequenceLabeller

SENTENCE = b"Ann\tNNP\nLee\tNNP\nlikes\tVBZ\nNew\tNNP\nYork\tNNP\n.\t.\n\n"
LABELS = ["B-PER", "I-PER", "O", "B-LOC", "I-LOC", "O"]


def last_cells(text: str) -> list[str]:
    return [line.split("\t")[-1] for line in text.splitlines() if line]


def test_the_label_column_may_be_there_or_not(run, model, data):
    with_labels = run("label", model, data / "test.tsv")
    without = run("label", model, data / "bare.tsv")
    assert with_labels.code == without.code == 0
    assert last_cells(with_labels.out) == last_cells(without.out)
    given = (data / "test.tsv").read_text().splitlines()
    assert [line.rpartition("\t")[0] for line in with_labels.out.splitlines()] == given


def test_labels_are_those_of_the_python_interface(run, model, data):
    found = run("label", model, data / "bare.tsv")
    corpus = read(data / "test.tsv")
    predicted = SequenceLabeller.load(model).predict(corpus)
    assert last_cells(found.out) == [label for labels in predicted for label in labels]


@pytest.mark.parametrize("arguments", [["-"], []])
def test_standard_input(run, model, arguments):
    found = run("label", model, *arguments, stdin=SENTENCE)
    assert last_cells(found.out) == LABELS
    assert found.err == ""


def test_blanks_between_cells_stay_blanks(run, model):
    found = run("label", model, stdin=b"Ann  NNP\nruns VBZ\n")
    assert found.out == "Ann  NNP B-PER\nruns VBZ O\n\n"


def test_gzip(run, model, data, tmp_path):
    packed = tmp_path / "bare.tsv.gz"
    packed.write_bytes(gzip.compress((data / "bare.tsv").read_bytes()))
    assert run("label", model, packed).out == run("label", model, data / "bare.tsv").out


@pytest.mark.parametrize("kind", ["jsonl", "inline"])
def test_files_in_other_formats_are_recognised(run, data, tmp_path, kind):
    source = tmp_path / f"test.{kind}"
    write(read(data / "test.tsv"), source, kind)
    model = tmp_path / "words.model"
    run("train", data / "train.tsv", "-m", model, "--columns", "word,_,label", "--max-iterations", 20)
    found = run("label", model, source, "--format", "jsonl")
    assert found.code == 0
    labels = [json.loads(line)["labels"] for line in found.out.splitlines()]
    assert labels == SequenceLabeller.load(model).predict(read(data / "test.tsv"))


def test_json_lines_in_a_pipe_are_recognised(run, data, tmp_path):
    model = tmp_path / "words.model"
    run("train", data / "train.tsv", "-m", model, "--columns", "word,_,label", "--max-iterations", 20)
    lines = b'{"tokens": ["Ann", "likes", "Rome"]}\n{"tokens": ["Bob"]}\n'
    found = run("label", model, "--format", "jsonl", stdin=lines)
    assert [json.loads(line)["tokens"] for line in found.out.splitlines()] == [
        ["Ann", "likes", "Rome"],
        ["Bob"],
    ]
    packed = run("label", model, "--format", "jsonl", stdin=gzip.compress(lines))
    assert packed.out == found.out
    braces = run("label", model, stdin=b"{}\tX\n{\tX\n")
    assert [line.split("\t")[0] for line in braces.out.splitlines()] == ["{}", "{", ""]


def test_no_best_labelling_is_wrong_usage(run, model):
    found = run("label", model, "--nbest", 0, stdin=SENTENCE)
    assert (found.code, found.out) == (2, "")
    assert "--nbest" in found.err


def test_partial_labels_are_kept_and_the_others_follow(run, model):
    forced = b"Ann\tNNP\tB-LOC\nLee\tNNP\t\nlikes\tVBZ\nRome\tNNP\tB-PER\n"
    found = run("label", model, "--partial", stdin=forced)
    assert found.code == 0
    cells = last_cells(found.out)
    assert cells[0] == "B-LOC"
    assert cells[3] == "B-PER"
    assert cells[1] != "I-PER"  # it would continue what the forced label does not begin
    ignored = run("label", model, stdin=forced.replace(b"\t\n", b"\tO\n").replace(b"VBZ\n", b"VBZ\tO\n"))
    assert last_cells(ignored.out)[0] == "B-PER"


def test_jsonl(run, model):
    found = run("label", model, "--format", "jsonl", stdin=SENTENCE)
    record = json.loads(found.out)
    assert list(record) == ["tokens", "labels", "spans", "score"]
    assert record["labels"] == LABELS
    assert [(s["start"], s["end"], s["type"], s["text"]) for s in record["spans"]] == [
        (0, 2, "PER", "Ann Lee"),
        (3, 5, "LOC", "New York"),
    ]
    assert all(set(s) == {"start", "end", "type", "text", "confidence"} for s in record["spans"])
    assert all(0 < s["confidence"] <= 1 for s in record["spans"])


def test_nbest_and_marginals_in_jsonl(run, model):
    found = run("label", model, "--format", "jsonl", "--nbest", 3, "--marginals", stdin=SENTENCE)
    record = json.loads(found.out)
    scores = [best["score"] for best in record["nbest"]]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert record["nbest"][0]["labels"] == LABELS
    assert scores[0] == pytest.approx(record["score"])
    for marginal, label in zip(record["marginals"], LABELS, strict=True):
        assert sum(marginal.values()) == pytest.approx(1, abs=1e-5)
        assert max(marginal, key=marginal.get) == label


def test_marginals_in_columns(run, model):
    found = run("label", model, "--marginals", stdin=SENTENCE)
    rows = [line.split("\t") for line in found.out.splitlines() if line]
    assert [row[-2] for row in rows] == LABELS
    for row in rows:
        label, chance = row[-1].split(":")
        assert label == row[-2]
        assert 0 < float(chance) <= 1
        assert len(chance) == 8


def test_nbest_in_columns(run, model):
    found = run("label", model, "--nbest", 2, "--marginals", stdin=SENTENCE + b"Bob\tNNP\n\n")
    blocks = [block.splitlines() for block in found.out.strip().split("\n\n")]
    assert [block[0].split()[:2] for block in blocks] == [["#", "1"], ["#", "2"]] * 2
    assert float(blocks[0][0].split()[2]) >= float(blocks[1][0].split()[2])
    assert [line.split("\t")[2] for line in blocks[0][1:]] == LABELS
    assert [line.split("\t")[2] for line in blocks[1][1:]] != LABELS
    assert [len(block) for block in blocks] == [7, 7, 2, 2]


def test_spans_are_tab_separated_in_a_pipe(run, model):
    found = run("label", model, "--format", "spans", stdin=SENTENCE * 2)
    rows = [line.split("\t") for line in found.out.splitlines()]
    assert [row[:4] + row[5:] for row in rows] == [
        [number, *span]
        for number in "01"
        for span in [["0", "2", "PER", "Ann Lee"], ["3", "5", "LOC", "New York"]]
    ]
    assert all(0 < float(row[4]) <= 1 for row in rows)


@pytest.mark.usefixtures("terminal")
def test_spans_are_coloured_text_on_a_terminal(run, model):
    found = run("label", model, "--format", "spans", stdin=SENTENCE)
    assert "\x1b[" in found.out
    assert " PER " in found.out.splitlines()[0]
    assert "Ann Lee" in found.out


def test_types_have_colours_of_their_own_on_terminals_with_256():
    from rich.color import ColorSystem
    from rich.style import Style

    palette = Palette(f"t{i}" for i in range(60))
    styles = [Style.parse(style) for style in palette.styles.values()]
    backgrounds = [style.bgcolor.downgrade(ColorSystem.EIGHT_BIT) for style in styles]
    assert len(set(backgrounds[:24])) == 24
    assert len(set(palette.styles.values())) == 60


def test_inline(run, model):
    found = run("label", model, "--format", "inline", stdin=SENTENCE)
    assert found.out == "<PER>Ann Lee</PER> likes <LOC>New York</LOC> .\n"


@pytest.mark.parametrize("scheme", ["bioes", "plain"])
def test_other_schemes_inline(run, tmp_path, scheme):
    labels = {"bioes": ["B-A", "E-A", "O", "S-B"], "plain": ["A", "A", "O", "B"]}[scheme]
    lines = "".join(f"{w}\t{y}\n" for w, y in zip("abcd", labels, strict=True))
    (tmp_path / "train.tsv").write_text(f"{lines}\n" * 5)
    model = tmp_path / "x.model"
    assert run("train", tmp_path / "train.tsv", "-m", model, "--max-iterations", 10).code == 0
    found = run("label", model, tmp_path / "train.tsv", "--format", "inline")
    assert found.out.splitlines()[0] == "<A>a b</A> c <B>d</B>"


def test_text_keeps_its_original_form(run, data, tmp_path):
    model = tmp_path / "words.model"
    run("train", data / "train.tsv", "-m", model, "--columns", "word,_,label", "--max-iterations", 30)
    text = b"Ann  likes Rome.\n\nBob leaves Oslo.\n"
    found = run("label", model, "--text", "--format", "jsonl", stdin=text)
    first, second = map(json.loads, found.out.splitlines())
    assert first["text"] == "Ann  likes Rome."
    assert first["tokens"] == ["Ann", "likes", "Rome", "."]
    assert second["spans"][1]["text"] == "Oslo"
    whole = run("label", model, "--text", "--tokens", "whitespace", stdin=text)
    assert whole.out.splitlines()[2].startswith("Rome.\t")


def test_output_is_written_whole_or_not_at_all(run, model, data, tmp_path):
    target = tmp_path / "out.tsv"
    found = run("label", model, data / "bare.tsv", "-o", target)
    assert (found.code, found.out) == (0, "")
    kept = target.read_text()
    assert kept == run("label", model, data / "bare.tsv").out
    bad = (data / "bare.tsv").read_bytes() + b"one cell\tx\ty\tz\n"
    assert run("label", model, "-o", target, stdin=bad).code == 1
    assert target.read_text() == kept
    assert [p.name for p in tmp_path.iterdir()] == ["out.tsv"]


def test_packed_output(run, model, tmp_path):
    run("label", model, "-o", tmp_path / "out.gz", stdin=SENTENCE)
    text = gzip.decompress((tmp_path / "out.gz").read_bytes()).decode()
    assert last_cells(text) == LABELS


def test_messages_count_sequences_over_all_batches(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr(Format.stream, "__kwdefaults__", {"max_tokens": 1})
    source = tmp_path / "forced.tsv"
    source.write_text("Ann\tNNP\t\n\n" * 3 + "Ann\tNNP\tI-PER\n\n")
    found = run("label", model, source, "--partial")
    assert found.code == 1
    assert "sequence 3 (from 0" in found.err


def test_an_answer_comes_as_soon_as_its_sequence_is_complete(command, model):
    process = subprocess.Popen(
        [*command, "label", model, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    guard = threading.Timer(60, process.kill)
    guard.start()
    try:
        for _ in range(2):
            process.stdin.write(b"Ann\tNNP\nruns\tVBZ\n\n")
            answer = b""
            while not answer.endswith(b"\n\n"):
                assert select.select([process.stdout], [], [], 30)[0], "no answer"
                answer += process.stdout.read(100)
            assert answer == b"Ann\tNNP\tB-PER\nruns\tVBZ\tO\n\n"
        process.stdin.close()
        assert process.wait() == 0
        assert process.stdout.read() == b""
    finally:
        guard.cancel()
        process.stdout.close()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close otherwise there")
def test_a_reader_that_leaves_ends_it_quietly(command, model, tmp_path):
    source = tmp_path / "long.tsv"
    source.write_bytes(SENTENCE * 20_000)
    process = subprocess.Popen(
        [*command, "label", model, str(source)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    guard = threading.Timer(60, process.kill)
    guard.start()
    try:
        assert process.stdout.readline() == b"Ann\tNNP\tB-PER\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0
    finally:
        guard.cancel()
        process.stderr.close()
