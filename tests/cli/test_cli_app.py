"""The frame of the command line: help, version, exit codes, what is imported when."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import get_args

import pytest
import typer

from conseq.cli import outcome
from conseq.cli.app import COMMANDS, GROUPS
from conseq.cli.clock import Clock, peak_mb
from conseq.cli.crf import Algorithm, CRFOptions
from conseq.cli.memory import FeatureWeights, Inference, MemoryOptions, Metric, Search, Voting
from conseq.cli.options import Decoder, InputFormat, LabelScheme, OutputFormat, Tokens
from conseq.cli.reading import Reading
from conseq.cli.rules import RecipeOptions
from conseq.cli.train import MODELS, ModelType, Task
from conseq.cli.writing import FORMATS as WRITERS
from conseq.corpus import Corpus
from conseq.decoders.auto import DECODERS
from conseq.errors import ConseqError
from conseq.features.presets import PRESETS, preset
from conseq.io import FORMATS
from conseq.labeller import LABELLERS, MemoryLabeller, SequenceLabeller
from conseq.labeller.memory import CSINF, SINGLE
from conseq.mining import FAMILIES, Recipe
from conseq.models import memory
from conseq.models.crf import ALGORITHMS
from conseq.schema import Scheme
from conseq.tokens import TOKENISERS

NAMES = [command.__name__ for commands in COMMANDS.values() for command in commands]


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_lists_every_command_under_its_heading(run, arguments):
    found = run(*arguments)
    assert found.code == 0
    assert found.err == ""
    for heading, commands in COMMANDS.items():
        section = found.out.split(f"{heading}:\n")[1].split("\n\n")[0]
        groups = [name for name, under in GROUPS.items() if under == heading]
        assert [line.split()[0] for line in section.splitlines()] == [c.__name__ for c in commands] + groups


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_has_examples_and_help_for_every_option(run, name):
    found = run(name, "--help")
    assert found.code == 0
    assert f"Usage: conseq {name}" in found.out
    assert f"Examples:\n    conseq {name}" in found.out or f"\n    conseq {name}" in found.out
    options = found.out.split("Arguments:")[-1] if "Arguments:" in found.out else found.out
    alone = [line for line in options.splitlines() if line.startswith("  --") and len(line.split()) < 2]
    assert alone == []


@pytest.mark.parametrize("arguments", [[], *([name] for name in NAMES)])
def test_help_is_about_what_users_do(run, arguments):
    """Nothing about development: no races and experiments, no folder that a user does not have."""
    text = run(*arguments, "--help").out
    assert not re.search(r"bench|experiment|reproduce|shared/|CONSEQ_DATA|/work|/home", text)


def test_help_names_every_preset(run):
    text = run("train", "--help").out
    assert all(name in text for name in PRESETS)


def test_choices_are_those_of_the_tables():
    assert set(get_args(InputFormat)) == {"auto", *FORMATS}
    assert set(get_args(OutputFormat)) == set(WRITERS)
    assert set(get_args(Tokens)) == set(TOKENISERS)
    assert list(get_args(Decoder)) == list(DECODERS)
    assert list(get_args(Algorithm)) == list(ALGORITHMS)
    of_symbols = set(memory.DISTANCES) - {"numeric"}  # of which columns have no use
    assert set(get_args(Metric)) == of_symbols
    assert set(get_args(FeatureWeights)) == set(memory.WEIGHTS)
    assert set(get_args(Voting)) == set(memory.VOTING)
    assert set(get_args(Search)) == set(memory.ALGORITHMS)
    assert set(get_args(Inference)) == {CSINF, SINGLE}
    assert [kind.model_type for kind in MODELS] == list(get_args(ModelType))
    assert set(get_args(ModelType)) == {kind.model_type for kind in LABELLERS}
    assert set(get_args(LabelScheme)) == {"auto", *map(str, Scheme)}


@pytest.mark.parametrize(
    ("options", "labeller"), [(CRFOptions, SequenceLabeller), (MemoryOptions, MemoryLabeller)]
)
def test_a_command_without_options_means_a_labeller_without_options(options, labeller):
    corpus = Corpus.from_sequences([["a"]], [["O"]])
    task = Task("train.tsv", "out.model", Reading(), None, False, None)
    asked, plain = options().labeller(task, corpus).get_params(), labeller().get_params()
    if options is CRFOptions:  # which names what is left out there
        plain |= {"features": preset(plain["features"], ["word"]), "recipe": Recipe()}
    assert asked == plain


def test_rules_are_learned_by_one_recipe():
    """What `mine` does by itself is what `train --constraints learn` does, and what Python does."""
    assert RecipeOptions().recipe() == Recipe()


def test_help_names_every_family_of_rules(run):
    text = " ".join(run("mine", "--help").out.replace("-\n", "-").split()).replace("- ", "-")
    assert ", ".join(FAMILIES) in text


def test_version(run):
    from conseq import __version__

    assert run("--version").out == f"conseq {__version__}\n"


def test_help_imports_nothing_heavy():
    heavy = ["numpy", "numba", "scipy", "rich.table", "conseq.labeller", "conseq.io"]
    script = (
        "import sys; from conseq.cli import main; main(['--help']); "
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tarin"], "No such command"),
        (["train"], "TRAIN"),
        (["train", "x.tsv"], "--model"),
        (["train", "x.tsv", "-m", "x", "--scheme", "bilou"], "bilou"),
        (["train", "x.tsv", "-m", "x", "--c2", "-1"], "--c2"),
        (["train", "x.tsv", "-m", "x", "--c2", "much"], "--c2"),
        (["train", "x.tsv", "-m", "x", "--threads", "0"], "--threads"),
        (["train", "x.tsv", "-m", "x", "--features", "ner", "--template", "t"], "choose one"),
        (["train", "x.tsv", "-m", "x", "--constraints", "learn", "--folds", "0"], "give it with --dev"),
        (["mine", "x.tsv", "-o", "x", "--folds", "0"], "give it with --dev"),
        (["mine", "x.tsv", "-o", "x", "--families", "pairs"], "no family 'pairs'"),
        (["mine", "x.tsv", "-o", "x", "--penalties", "boosting"], "no penalties 'boosting'"),
        (
            ["label", "x", "--decoder", "magic"],
            "'auto', 'viterbi', 'lazy', 'dual', 'messages', 'ilp', 'twostage',",
        ),
        (["evaluate", "x", "y", "--decoder", "magic"], "--decoder"),
        (["label", "x", "--limit", "-1"], "--limit"),
        (["label", "x", "--formt", "jsonl"], "--formt"),
        (["label", "x", "--format", "spans", "--nbest", "2"], "--nbest"),
        (["label", "x", "--text", "--input-format", "jsonl"], "--text"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(run, arguments, says):
    found = run(*arguments)
    assert found.code == 2
    assert found.out == ""
    assert found.err.count("\n") == 1
    assert found.err.startswith("conseq: ")
    assert says in found.err


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (ConseqError("it is so"), 1, "conseq: it is so\n"),
        (
            ZeroDivisionError("by\nzero"),
            1,
            "internal error: ZeroDivisionError: by zero; run with CONSEQ_DEBUG=1",
        ),
        (MemoryError(), 1, "not enough memory"),
        (OSError(28, "No space left on device", "x.tsv"), 1, "x.tsv: No space left"),
        (KeyboardInterrupt(), 130, ""),
        (typer.Exit(7), 7, ""),
        (BrokenPipeError(32, "Broken pipe"), 0, ""),
    ],
)
def test_exit_codes(error, code, says, capsys, monkeypatch):
    def fail():
        raise error

    monkeypatch.setattr(outcome, "_leave_standard_output", lambda: None)
    monkeypatch.delenv("CONSEQ_DEBUG", raising=False)
    assert outcome.exit_code(fail) == code
    printed = capsys.readouterr().err
    assert says in printed
    assert printed.count("\n") == (1 if says else 0)


def test_debug_shows_the_traceback(capsys, monkeypatch):
    monkeypatch.setenv("CONSEQ_DEBUG", "1")
    assert outcome.exit_code(lambda: 1 / 0) == 1
    assert "Traceback" in capsys.readouterr().err


def test_the_clock_of_a_process_counts_its_start():
    assert Clock.of_process().seconds() > Clock().seconds() >= 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell")
def test_peak_memory():
    assert 10 < peak_mb() < 1e5
