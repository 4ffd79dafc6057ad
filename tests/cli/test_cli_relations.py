"""`conseq relations`: train, label, evaluate; what they write, and what they say of bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import pytest

from conseq.cli.relations.app import COMMANDS
from conseq.cli.relations.label import BRAT, DOCUMENTS, LINES
from conseq.cli.relations.options import SentenceFormat, Solver, WrittenFormat
from conseq.cli.show import Palette
from conseq.datasets import news
from conseq.decoders.variables.solvers import SOLVERS
from conseq.entities import Sentence
from conseq.io.sentences import SENTENCE_FORMATS, format_sentences, read_sentences

TEST = news(25, seed=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """train.jsonl, test.jsonl, news.model."""
    from conseq.cli import main

    folder = tmp_path_factory.mktemp("relations")
    (folder / "train.jsonl").write_text(format_sentences(news(120, seed=0)))
    (folder / "test.jsonl").write_text(format_sentences(TEST))
    command = ["relations", "train", str(folder / "train.jsonl"), "-m", str(folder / "news.model")]
    assert main([*command, "--threads", "1"]) == 0
    return folder


@pytest.fixture
def ask(run, folder, monkeypatch):
    """Run a command of `conseq relations` in the folder."""
    monkeypatch.chdir(folder)
    return lambda *arguments, **more: run("relations", *arguments, **more)


def records(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


# ── help ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_lists_the_commands(ask, arguments):
    found = ask(*arguments)
    assert found.code == 0
    section = found.out.split("Commands:\n")[1].split("\n\n")[0]
    named = [line.split()[0] for line in section.splitlines() if line.startswith("  ") and line[2] != " "]
    assert named == [command.__name__ for command in COMMANDS]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(ask, command):
    found = ask(command.__name__, "--help")
    assert found.code == 0
    assert f"Examples:\n    conseq relations {command.__name__}" in found.out


def test_choices_are_those_of_the_tables():
    assert set(get_args(SentenceFormat)) == {"auto", *SENTENCE_FORMATS}
    assert set(get_args(WrittenFormat)) == {*LINES, *DOCUMENTS, BRAT}
    assert set(get_args(Solver)) == set(SOLVERS)


# ── training ────────────────────────────────────────────────────────────────────────────────────


def test_training_tells_what_it_did(ask, folder):
    found = ask("train", "train.jsonl", "--dev", "test.jsonl", "-m", "x.model", "--json")
    assert found.code == 0, found.err
    (said,) = records(found.out)
    assert said["sentences"] == 120
    assert said["types"]["entities"] == ["organisation", "person", "place"]
    assert "kill(person, person)  hard" in said["constraints"]
    assert 0.5 < said["development"]["entities"]["f1"] <= 1
    assert set(said["seconds"]) == {"read", "train", "total"}
    assert said["model"] == "x.model"


def test_training_for_people(ask):
    found = ask("train", "train.jsonl", "--constraints", "none", "-m", "plain.model")
    assert found.code == 0, found.err
    assert "organisation, person, place" in found.out
    assert "Rules\n" not in found.out


@pytest.mark.parametrize(
    "options", [["--classifier", "winnow"], ["--approach", "basic"], ["--approach", "pipeline"]]
)
def test_every_kind_of_model_is_trained_and_used(ask, options):
    assert ask("train", "train.jsonl", "-m", "y.model", *options).code == 0
    found = ask("evaluate", "y.model", "test.jsonl", "--json")
    assert found.code == 0, found.err
    assert records(found.out)[0]["entities"]["f1"] > 0.4


def test_boundaries_can_be_predicted(ask):
    assert ask("train", "train.jsonl", "-m", "raw.model", "--boundaries", "predicted").code == 0
    text = "Ann Lee, a spokesman for Tran Bank, said so.\n"
    found = ask("label", "raw.model", stdin=text.encode())
    assert found.code == 0, found.err
    (said,) = records(found.out)
    assert said["text"] == text.strip()
    assert said["certificate"]["status"] == "OPTIMAL"


def test_rules_of_a_file(ask, folder):
    (folder / "own.rules").write_text(
        "# mine\nat most 1 relation per pair  hard\nlive_in(person, place)  penalty 2\n"
    )
    found = ask("train", "train.jsonl", "--constraints", "own.rules", "-m", "own.model", "--json")
    assert records(found.out)[0]["constraints"] == [
        "at most 1 relation per pair  hard",
        "live_in(person, place)  penalty 2",
    ]


# ── labelling ───────────────────────────────────────────────────────────────────────────────────


def test_json_lines_say_everything(ask, folder):
    found = ask("label", "news.model", "test.jsonl")
    assert found.code == 0, found.err
    said = records(found.out)
    assert [record["id"] for record in said] == list(range(len(TEST)))
    assert all(record["certificate"]["status"] == "OPTIMAL" for record in said)
    assert [record["text"] for record in said] == [sentence.text for sentence in TEST]
    (folder / "found.jsonl").write_text(found.out)
    places = [
        [(e.start, e.end) for e in sentence.entities] for sentence in read_sentences(folder / "found.jsonl")
    ]
    assert places == [[(e.start, e.end) for e in sentence.entities] for sentence in TEST]


def test_types_and_relations_of_the_input_are_ignored(ask):
    bare = [{**json.loads(format_sentences([s])), "relations": []} for s in TEST]
    for record in bare:
        record["entities"] = [{**entity, "type": "?"} for entity in record["entities"]]
    text = "".join(json.dumps(record) + "\n" for record in bare)
    given = ask("label", "news.model", "test.jsonl", "--format", "spacy").out
    assert ask("label", "news.model", "--format", "spacy", stdin=text.encode()).out == given


@pytest.mark.parametrize("format", ["jsonl", "spacy"])
def test_lines_read_back(ask, folder, format):
    found = ask("label", "news.model", "test.jsonl", "--format", format, "-o", f"out.{format}")
    assert (found.code, found.out) == (0, ""), found.err
    assert len(read_sentences(folder / f"out.{format}", format)) == len(TEST)


def test_brat_has_two_files(ask, folder):
    assert ask("label", "news.model", "test.jsonl", "--format", "brat", "-o", "out").code == 0
    read = read_sentences(folder / "out.ann")
    assert [len(s.entities) for s in read] == [len(s.entities) for s in TEST]
    found = ask("label", "news.model", "out.ann", "--format", "jsonl")
    assert [record["id"] for record in records(found.out)][:2] == ["out:1", "out:2"]
    found = ask("label", "news.model", "test.jsonl", "--format", "brat")
    assert found.code == 2
    assert "name them with -o" in found.err


def test_text_for_people(ask):
    sentence = news(11, seed=1)[10]
    found = ask("label", "news.model", "--format", "text", stdin=format_sentences([sentence]).encode())
    assert found.code == 0, found.err
    first, *rest = found.out.splitlines()
    assert first.startswith("[person Mei Rivers], who runs [")
    assert all(line.startswith("    ") for line in rest if line)


def test_a_text_without_entities_is_noted(ask):
    found = ask("label", "news.model", "--format", "text", stdin=b"Ann left.")
    assert found.code == 0
    assert found.out.startswith("Ann left.\n")
    assert "note: no sentence has an entity" in found.err


def test_pictures(ask, folder):
    assert ask("label", "news.model", "test.jsonl", "--format", "html", "-o", "out.html").code == 0
    assert (folder / "out.html").read_text().count("<figure>") == len(TEST)
    found = ask("label", "news.model", "test.jsonl", "--format", "svg")
    ElementTree.fromstring(found.out)


@pytest.mark.usefixtures("terminal")
def test_colours_on_a_terminal(ask):
    found = ask("label", "news.model", "test.jsonl")
    assert found.code == 0, found.err
    assert "\x1b[" in found.out
    assert " organisation " in found.out.splitlines()[0]
    assert "→" in found.out


def test_rules_can_be_added_and_replaced(ask, folder):
    def kills(*options: str) -> list[int]:
        found = ask("label", "news.model", "test.jsonl", *options)
        assert found.code == 0, found.err
        return [sum(r["type"] == "kill" for r in record["relations"]) for record in records(found.out)]

    assert max(kills("--rule", "at most 0 kill  hard")) == 0
    assert set(kills("--rule", "exactly 1 kill  hard")) == {1}
    assert sum(kills("--rule", "at least 1 kill  penalty 0.001")) == sum(kills())
    (folder / "no.rules").write_text("count(kill) <= 0  hard\n")
    assert max(kills("--constraints", "no.rules")) == 0
    assert max(kills("--constraints", "no.rules", "--rule", "at least 1 live_in  penalty 0.1")) == 0


@pytest.mark.parametrize("solver", get_args(Solver))
def test_every_solver_can_be_named(ask, solver):
    few = ["--constraints", "none"] if solver == "elimination" else []  # of sums over all pairs it says so
    found = ask("label", "news.model", "test.jsonl", "--solver", solver, *few)
    assert found.code == 0, found.err
    assert len(found.out.splitlines()) == len(TEST)


# ── evaluation ──────────────────────────────────────────────────────────────────────────────────


def test_evaluation_as_json(ask):
    found = ask("evaluate", "news.model", "test.jsonl", "--json")
    assert found.code == 0, found.err
    (said,) = records(found.out)
    assert said["quality"] == 1.0
    assert 0.5 < said["relations"]["f1"] <= said["by_place"]["f1"] <= 1
    assert set(said["entities"]["labels"]) == {"organisation", "person", "place"}
    assert said["decoding"]["sentences"] == said["decoding"]["certified"] == len(TEST)
    assert 0 <= said["decoding"]["milliseconds"]["median"] <= said["decoding"]["milliseconds"]["p99"]


def test_evaluation_for_people(ask, folder):
    (folder / "soft.rules").write_text("at most 0 live_in  penalty 0.001\n")
    found = ask("evaluate", "news.model", "test.jsonl", "--constraints", "soft.rules")
    assert found.code == 0, found.err
    assert "between right places" in found.out
    assert "Broken rules" in found.out
    assert "at most 0 live_in" in found.out


def test_unseen_types_are_noted(ask):
    record = {"tokens": ["a", "b"], "entities": [{"type": "ship", "start": 0, "end": 1}]}
    found = ask("evaluate", "news.model", "-", stdin=json.dumps(record).encode())
    assert found.code == 0
    assert "note: the model never saw 'ship'" in found.err


# ── what goes wrong ─────────────────────────────────────────────────────────────────────────────


def put(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the file is empty"),
        ("not JSON {", "bad.jsonl:1: column 1: this is not JSON"),
        ('{"tokens": ["a"]}', "no sentence has an entity"),
        (
            '{"tokens": ["a"], "entities": [{"type": "x", "start": 0, "end": 4}]}',
            "bad.jsonl:1: entity 0 spans the tokens 0 to 4 of 1",
        ),
        (
            '{"tokens": ["a"], "entities": [{"type": "x", "start": 0, "end": 1}], '
            '"relations": [{"type": "r", "head": 0, "tail": 0}]}',
            "relates an entity to itself",
        ),
    ],
)
@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_bad_data_is_one_sentence(ask, folder, command, text, says):
    put(folder, "bad.jsonl", text)
    arguments = ["bad.jsonl", "-m", "bad.model"] if command == "train" else ["news.model", "bad.jsonl"]
    found = ask(command, *arguments)
    assert (found.code, found.out) == (1, "")
    assert says in found.err
    assert found.err.count("\n") == 1
    assert not (folder / "bad.model").exists()


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("exactly 1 kil  hard", "--rule 'exactly 1 kil  hard', column 11: no type or relation"),
        ("kill(person, persn)  hard", "did you mean 'person'"),
        ("no such rule", "no rule begins with 'no'"),
        ("if kill(a, a) then live_in(a, a)  hard", "relates an entity to itself"),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_read(ask, rule, says):
    found = ask("label", "news.model", "test.jsonl", "--rule", rule)
    assert (found.code, found.out) == (1, "")
    assert says in found.err
    assert found.err.count("\n") == 1


def test_contradictory_rules_are_blamed(ask, folder):
    (folder / "kept.jsonl").write_text("what was there")
    rules = ["--rule", "exactly 1 kill  hard", "--rule", "at most 0 kill  hard"]
    found = ask("label", "news.model", "test.jsonl", *rules, "-o", "kept.jsonl")
    assert found.code == 1
    assert found.err.count("\n") == 1
    assert "exactly 1 kill" in found.err
    assert "at most 0 kill" in found.err
    assert "live_in(" not in found.err
    assert (folder / "kept.jsonl").read_text() == "what was there"


@pytest.mark.parametrize("damage", ["cut", "foreign", "labels"])
def test_models_that_cannot_be_used(ask, run, folder, damage, model):
    name = "damaged.model"
    if damage == "cut":
        (folder / name).write_bytes((folder / "news.model").read_bytes()[:-100])
    elif damage == "foreign":
        (folder / name).write_text("not a model")
    else:
        name = model
    found = ask("label", name, "test.jsonl")
    assert (found.code, found.out) == (1, "")
    assert found.err.count("\n") == 1
    assert "internal error" not in found.err


def test_a_model_of_relations_is_refused_elsewhere(run, folder):
    found = run("label", folder / "news.model", stdin=b"a\tb\n")
    assert found.code == 1
    assert found.err.count("\n") == 1
    assert "internal error" not in found.err


def test_the_data_is_not_overwritten(ask):
    found = ask("train", "train.jsonl", "-m", "train.jsonl")
    assert found.code == 2
    assert "is the data to learn from" in found.err


def test_a_closed_pipe_is_no_error(folder, command):
    line = [*command, "relations", "label", str(folder / "news.model"), str(folder / "test.jsonl")]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.usefixtures("terminal")
def test_a_narrow_terminal_loses_no_name(ask, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    found = ask("evaluate", "news.model", "test.jsonl")
    assert found.code == 0, found.err
    for name in ("organisation", "orgbased_in", "live_in"):
        assert name in found.out


def test_pieces_of_a_sentence_are_the_whole_text():
    from conseq.cli.relations.writing import pieces_of

    for sentence in TEST:
        assert "".join(text for text, _ in pieces_of(sentence)) == sentence.text
        bare = Sentence(sentence.tokens, sentence.entities)
        assert "".join(text for text, _ in pieces_of(bare)) == " ".join(sentence.tokens)


def test_a_palette_has_a_colour_for_each_type():
    assert len(set(Palette(["a", "b", "c"]).styles.values())) == 3


def test_help_is_quick():
    script = "import sys; from conseq.cli import main; main(['relations', 'train', '--help']); "
    script += (
        "print([n for n in ('numpy', 'conseq.io', 'conseq.relations') if n in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stderr.strip() == "[]"
