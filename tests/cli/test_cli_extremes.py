"""Numbers, names and characters beyond all measure, closed outputs: one sentence, no traceback."""

from __future__ import annotations

import ast
import subprocess

import pytest

HUGE = "9" * 5000
LONG = "q" * 100_000
LONGEST_SENTENCE = 2500


@pytest.fixture
def fails(run):
    """Run a command that must fail with one sentence of bearable length; gives the sentence."""

    def go(*arguments: object) -> str:
        found = run(*arguments)
        assert found.code in (1, 2)
        assert found.err.startswith("conseq: ")
        assert found.err.count("\n") == 1
        assert "internal error" not in found.err
        assert len(found.err) < LONGEST_SENTENCE
        return found.err

    return go


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (f"at most {HUGE} segments of PER  hard", "is too large a number; give one of at most 1000000000000"),
        (f"{HUGE} tokens(PER) <= 3  hard", "too large a number"),
        (f"tokens(PER) <= {HUGE}  hard", "too large a number"),
        (f"tokens(PER at {HUGE}) <= 1  hard", "too large a number"),
        ("tokens(PER at 99999999999999999999) <= 1  hard", "too large a number"),
        ("at most 99999999999999999999 segments of PER  hard", "too large a number"),
        (f"at most 1 segments of PER  penalty {HUGE}", "too large a number; give a smaller one"),
        ("at most 1 segments of PER  penalty 1e999", "'1e999' is too large a number"),
        ("tokens(PER at /x{1,99999999999}/) <= 1  hard", "the repetition number is too large"),
        (f"tokens(PER at /x{{1,{HUGE}}}/) <= 1  hard", "is not a regular expression"),
        ("tokens(PER at /" + "(" * 3000 + "a" + ")" * 3000 + "/) <= 1  hard", "nested deeper than 50"),
        (f"tokens({LONG}) <= 1  hard", "no label or type is called"),
        (f"at most {LONG}", "expected a number"),
        (f"if '{LONG}' then then PER  hard", "1:"),
    ],
)
def test_rules(fails, data, model, tmp_path, rule, says):
    rules = tmp_path / "x.rules"
    rules.write_text(rule)
    assert says in fails("label", model, data / "bare.tsv", "--constraints", rules)


def test_an_infinite_penalty_that_is_written_as_such_is_hard():
    from conseq import parse_constraints

    (rule,) = parse_constraints("at most 1 segments of a  penalty inf")
    assert rule.is_hard


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"tokens": ["a"], "n": ' + HUGE + "}", "this is not JSON that can be read"),
        ('{"tokens": ["a"], "spans": [{"start": ' + HUGE + ', "end": 1, "type": "x"}]}', "not JSON"),
        ('{"tokens": ["a\\ud800"]}', r"x.jsonl:1: \ud800 is half of a character"),
        ('{"text": "a\\uD800 b"}', r"\ud800 is half of a character"),
        ('{"tokens": ["a"], "labels": ["\\udc00"]}', r"\udc00 is half of a character"),
        ('{"tokens": ["a"], "spans": [{"start": 0, "end": 1, "type": "' + LONG + '/"}]}', "a span cannot"),
        ('{"tokens": ["' + LONG + '"], "text": "abc"}', "is not in the rest of the text"),
    ],
)
@pytest.mark.parametrize("command", ["label", "train"])
def test_json_lines(fails, model, tmp_path, line, says, command):
    source = tmp_path / "x.jsonl"
    source.write_text(line + "\n")
    options = [model, source] if command == "label" else [source, "-m", tmp_path / "x.model"]
    assert says in fails(command, *options)


def test_both_halves_of_a_character_are_read(tmp_path):
    source = tmp_path / "x.jsonl"
    source.write_text('{"tokens": ["\\ud83d\\ude00"], "x": "\\\\udead"}\n')
    from conseq.io import read

    assert read(source)[0].tokens == ["😀"]


@pytest.mark.parametrize(
    "options",
    [["--nbest", HUGE], ["--nbest", "1000000000"], ["--threads", HUGE], ["--format", LONG], ["--" + LONG]],
)
def test_options_of_label(fails, data, model, options):
    fails("label", model, data / "bare.tsv", *options)


@pytest.mark.parametrize("samples", [HUGE, "1000000000"])
def test_samples(fails, data, model, samples):
    fails("evaluate", model, data / "test.tsv", "--bootstrap", samples)


def test_long_names_of_files_are_cut(fails, data, model):
    assert "…" in fails("label", model, LONG)
    assert "…" in fails("label", LONG, data / "bare.tsv")


def test_far_more_threads_than_processors_are_no_harm(run, data, model):
    answer = run("label", model, data / "bare.tsv", "--threads", "20000")
    assert answer.code == 0
    assert answer.out == run("label", model, data / "bare.tsv", "--threads", "1").out


# ── closed outputs ──────────────────────────────────────────────────────────────────────────────


def in_shell(command, line: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `line` in a shell, where "$@" is the command with its arguments."""
    given = ["bash", "-c", line, "bash", *command, *map(str, arguments)]
    return subprocess.run(given, capture_output=True, text=True, timeout=120, check=False)


def test_a_closed_output_is_said(command, data, model):
    found = in_shell(command, '"$@" >&-', "label", model, data / "bare.tsv")
    assert found.returncode == 1
    assert found.stderr == "conseq: standard output is closed; leave it open, or send it to a file\n"


def test_a_closed_output_is_not_the_model_file(command, data, tmp_path):
    model = tmp_path / "x.model"
    found = in_shell(command, '"$@" >&-', "train", data / "train.tsv", "-m", model, "--max-iterations", 2)
    assert found.returncode == 1
    assert "standard output is closed" in found.stderr
    assert model.read_bytes().startswith(b"PK")


def test_a_closed_error_output_changes_nothing(command, data, model):
    expected = in_shell(command, '"$@"', "label", model, data / "bare.tsv")
    assert in_shell(command, '"$@" 2>&-', "label", model, data / "bare.tsv").stdout == expected.stdout
    assert in_shell(command, '"$@" 2>&-', "label", model, data / "missing.tsv").returncode == 1


def test_a_reader_that_goes_early_ends_it_quietly(command, data, model, tmp_path):
    long = tmp_path / "long.tsv"
    long.write_text((data / "bare.tsv").read_text() * 500)
    found = in_shell(command, '"$@" | head -1; exit ${PIPESTATUS[0]}', "label", model, long)
    assert (found.returncode, found.stderr, found.stdout.count("\n")) == (0, "", 1)


def test_nobody_reads_the_sentence_and_the_exit_code_still_tells(command, data, model):
    line = '{ "$@"; echo $? >&3; } 3>&1 2>&1 >/dev/null | cat'
    assert in_shell(command, line, "label", model, data / "missing.tsv").stdout.endswith("1\n")
    line = '{ sleep 0.2; "$@" 2>&1 >/dev/null; echo $? >&3; } 3>&2 | true'
    assert in_shell(command, line, "label", model, data / "missing.tsv").stderr == "1\n"


# ── characters that mean something to a terminal or a table ─────────────────────────────────────


def test_tabs_and_line_breaks_in_segments_are_escaped_and_can_be_read_back():
    from conseq.cli.writing import escaped

    text = "a\tb\nc\r\\t\u2028\x85=1+1 é"
    cell = escaped(text)
    assert len(cell.splitlines()) == 1
    assert "\t" not in cell
    assert ast.literal_eval(f'"{cell}"') == text


def test_segments_with_a_tab_are_one_line_of_six_cells(run, model, tmp_path):
    source = tmp_path / "x.jsonl"
    words = '["Ann", "Lee", "visits", "New", "York", "."], "pos": ["NNP", "NNP", "VBZ", "NNP", "NNP", "."]'
    source.write_text('{"text": "Ann\\tLee visits New\\nYork .", "tokens": ' + words + "}\n")
    lines = run("label", model, source, "--format", "spans").out.splitlines()
    assert [line.split("\t")[5] for line in lines] == ["Ann\\tLee", "New\\nYork"]


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("format", ["columns", "jsonl", "spans"])
def test_control_characters_do_not_reach_a_terminal(run, model, tmp_path, format):
    source = tmp_path / "x.tsv"
    source.write_text("A\x1b[31mnn\tNNP\nvisits\tVBZ\n\n")
    found = run("label", model, source, "--format", format)
    assert found.code == 0
    assert "\x1b[31m" not in found.out


def test_control_characters_in_errors_are_escaped(fails, model, data, tmp_path):
    assert "\\x1b[31m" in fails("label", model, tmp_path / "no\x1b[31m.tsv")
