"""Every bad input gives one sentence on standard error and exit code 1, and changes nothing."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from conseq.persist import KIND, VERSION

GOOD = "Ann B-PER\nruns O\n\n"


@pytest.fixture
def fails(run):
    """Run a command that must fail; gives its sentence."""

    def go(*arguments: object, stdin: bytes = b"") -> str:
        found = run(*arguments, stdin=stdin)
        assert found.code == 1
        assert found.out == ""
        assert found.err.startswith("conseq: ")
        assert found.err.count("\n") == 1
        assert "Traceback" not in found.err
        assert "internal error" not in found.err
        return found.err

    return go


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "the file is empty"),
        ("\n\n \n", "has no tokens"),
        ("a b O\nc O\n", "train.tsv:2: 2 columns where line 1 has 3"),
        ("word\nalone\n", "there are no labels"),
        ("a\tO\nb\t\n", "train.tsv:2: the label is empty"),
        (b"caf\xe9 O\n", "is not UTF-8"),
        ("a B-x\nb I\n", "'I'"),
    ],
)
def test_training_data(fails, tmp_path, content, says):
    source = tmp_path / "train.tsv"
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert says in fails("train", source, "-m", tmp_path / "x.model", "--scheme", "bio")
    assert not (tmp_path / "x.model").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--features", "nre"], "presets: chunk, ner, fields, letters, classic"),
        (["--features", "FILE:sufix(3)[0]"], "there is no attribute 'sufix'"),
        (["--features", "FILE:word[0"], "features.txt: template 1, column 1"),
        (["--features", "FILE:pos[0]"], "the features need the column 'pos'"),
        (["--features", "FILE:# nothing"], "has no templates"),
        (["--features", "FILE:lexicon(towns)[0]"], "--lexicon towns=FILE"),
        (["--template", "FILE:U00:%x[0,7]"], "column 7"),
        (["--template", "FILE:X00:%x[0,0]"], "starts with U or B"),
        (["--template", "absent.txt"], "absent.txt: there is no such file"),
        (["--lexicon", "towns=absent.txt"], "absent.txt: there is no such file"),
        (["--min-count", "99"], "lower min_count"),
        (["--c2", "inf"], "c2 is inf"),
        (["--columns", "word,pos,label"], "2 columns where 3 are named"),
        (["--dev", "absent.tsv"], "absent.tsv: there is no such file"),
        (["--from", "absent.model"], "there is no such model file"),
        (["--scheme", "bioes"], "bioes"),
    ],
)
def test_options_of_training(fails, tmp_path, options, says):
    source = tmp_path / "train.tsv"
    source.write_text(GOOD.replace("B-PER", "PER") if "bioes" in options else GOOD * 3)
    written = [option.partition("FILE:") for option in options]
    (tmp_path / "features.txt").write_text("".join(rest for _, mark, rest in written if mark))
    given = [tmp_path / "features.txt" if mark else option for option, mark, _ in written]
    assert says in fails("train", source, "-m", tmp_path / "x.model", *given)


def test_a_missing_file(fails, model, tmp_path):
    absent = tmp_path / "absent.tsv"
    says = "absent.tsv: there is no such file"
    assert says in fails("train", absent, "-m", tmp_path / "x")
    assert says in fails("label", model, absent)
    assert says in fails("evaluate", model, absent)
    assert "this is a directory" in fails("label", model, tmp_path)


@pytest.mark.parametrize("command", ["label", "evaluate"])
def test_models(fails, data, model, tmp_path, command):
    test = data / "test.tsv"
    whole = (data / "chunk.model").read_bytes()
    bad = tmp_path / "bad.model"
    assert "there is no such model file" in fails(command, bad, test)
    bad.write_bytes(whole[: len(whole) // 2])
    assert "damaged or cut off" in fails(command, bad, test)
    bad.write_text("This is a text.\n")
    assert "not a conseq model" in fails(command, bad, test)
    bad.write_bytes(_newer(whole))
    assert "written by a newer conseq (format 99" in fails(command, bad, test)
    with zipfile.ZipFile(bad, "w") as zipped:
        zipped.writestr("model.json", json.dumps({"kind": KIND, "version": VERSION}))
    assert "missing" in fails(command, bad, test)
    with zipfile.ZipFile(bad, "w") as zipped:
        zipped.writestr("model.json", json.dumps({"kind": KIND, "version": 1}))
    assert "written by an older conseq (format 1" in fails(command, bad, test)


def _newer(model: bytes) -> bytes:
    """The model with the version 99 in its document."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(model)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "model.json":
                content = json.dumps({**json.loads(content), "version": 99}).encode()
            new.writestr(name, content)
    return target.getvalue()


@pytest.mark.parametrize(
    ("options", "stdin", "says"),
    [
        ([], b"", "the file is empty"),
        ([], b"\n\n", "has no tokens"),
        ([], b"a\nb\n", "1 column where 3 are named"),
        ([], b"a\tb\n\na\tb\tc\td\n", ":3: 4 columns where line 1 has 2"),
        (["--partial"], b"Ann\tNNP\tB-DOG\n", "does not know the label 'B-DOG'"),
        (["--partial"], b"Ann\tNNP\tO\nLee\tNNP\tI-PER\n", "no legal labelling that keeps the forced"),
        (["--text"], b"Ann runs\n", "the features need the column 'pos'"),
        (["--columns", "word,word,label"], b"a\tb\tc\n", "give each column a name of its own"),
        (["-o", "no/where/out.tsv"], b"a\tb\n", "there is no directory"),
        (["--input-format", "jsonl"], b"[1]\n", "not an object"),
    ],
)
def test_data_to_label(fails, model, options, stdin, says):
    assert says in fails("label", model, *options, stdin=stdin)


def test_test_data_without_labels(fails, model, data):
    says = fails("evaluate", model, data / "bare.tsv")
    assert "bare.tsv: the label column is missing (expected: word, pos, label)" in says
    assert "evaluate needs labelled data" in says


@pytest.mark.parametrize("command", [["train", "{}", "-m", "{}"], ["mine", "{}", "-o", "{}"]])
def test_what_is_learned_from_is_not_written_over(run, tmp_path, command):
    source = tmp_path / "train.tsv"
    source.write_text(GOOD)
    found = run(*[part.format(source) for part in command])
    assert (found.code, found.out, source.read_text()) == (2, "", GOOD)
    assert "train.tsv is the data to learn from; give another file" in found.err
    command[-1] = "-"
    assert "give its name instead of -" in run(*[part.format(source) for part in command]).err
