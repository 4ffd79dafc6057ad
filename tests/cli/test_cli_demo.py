"""`conseq demo`: it runs, tells its story, and what it keeps can be used."""

from __future__ import annotations

import json
import re

import pytest

from conseq.cli.demo import ADDRESS_RULES, ANOTHER
from conseq.cli.examples import Mended, mended
from conseq.constraints.language import parse_constraints
from conseq.datasets import load
from conseq.labelled import LabelledSequence, LabelledSpan
from conseq.labeller import SequenceLabeller
from conseq.schema import Schema

CITATIONS = """
at most 1 segment of author                        hard
at most 1 segment of date                          hard
at most 1 segment of journal                       hard
at most 1 segment of booktitle                     hard
at most 1 segment of volume                        hard
not both journal and booktitle                     hard
not both journal and publisher                     hard
no title before author                             hard
exactly 1 segment of title                         penalty 5
count(author) + count(editor) >= 1                 penalty 5
count(pages) <= count(journal) + count(booktitle)  penalty 3
if number then volume                              penalty 3
"""
RULES = {"citations": CITATIONS, "addresses": ADDRESS_RULES}

HEADINGS = [
    "Learning from citations",
    "Reading new citations",
    "Rules about the whole citation",
    "What the rules change",
    "Where a rule decided",
    "It says when it is not sure",
    "Tell it one label, and the rest follows",
    "Learning from addresses",
    "Who lives where, who works for whom",
    "What to do next",
]


@pytest.fixture(scope="module", autouse=True)
def small():
    """Held-out data of a size for tests."""
    from conseq.cli import demo

    patch = pytest.MonkeyPatch()
    patch.setattr(demo, "HELD_OUT", 40)
    yield
    patch.undo()


def test_the_story_in_a_pipe(run, tmp_path):
    kept = tmp_path / "kept"
    found = run("demo", "--size", 60, "--save", kept)
    assert found.code == 0, found.err
    lines = found.out.splitlines()
    assert [line for line in lines if line in HEADINGS] == HEADINGS
    assert any(line.startswith("    author ") for line in lines)
    assert "\x1b" not in found.out
    model, test = kept / "citations.model", kept / "citations-test.tsv"
    assert shown(lines, "whole fields, F1") == [
        measured(run, model, test),
        measured(run, model, test, "--constraints", kept / "citations.rules"),
    ]
    text = run("label", kept / "addresses.model", kept / "addresses.txt", "--text", "--format", "spans")
    assert text.code == 0


def shown(lines: list[str], name: str) -> list[str]:
    """The first row of a table that begins so: its numbers."""
    row = next(line for line in lines if line.startswith(name))
    return re.findall(r"\d+\.\d+", row)


def measured(run, *arguments: object) -> str:
    """F1 in percent, as `conseq evaluate` finds it."""
    return f"{100 * json.loads(run('evaluate', *arguments, '--json').out)['span']['f1']:.2f}"


@pytest.mark.usefixtures("terminal")
def test_the_story_on_a_terminal(run):
    found = run("demo", "--size", 40, "--seed", 3)
    assert found.code == 0, found.err
    assert "\x1b[" in found.out
    places = [found.out.find(heading) for heading in HEADINGS if heading in found.out]
    assert places == sorted(places)
    assert len(places) >= 7


def test_few_examples_lack_fields_that_rules_name(run):
    assert run("demo", "--size", 10).code == 0


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seed", [0, ANOTHER])
def test_the_rules_hold_in_the_data(name, seed):
    """Hard ones always, soft ones where nothing is mistyped or forgotten."""
    for noise, rules in [
        (0.0, parse_constraints(RULES[name])),
        (0.1, [rule for rule in parse_constraints(RULES[name]) if rule.is_hard]),
    ]:
        corpus = load(name, 300, seed, noise)
        schema = Schema(corpus.full_labels().vocabulary.names, "bio" if name == "citations" else "plain")
        for rule in rules:
            broken = [s.text for s in corpus if rule.violation(s.labels, schema, s.tokens)]
            assert not broken, f"{rule} (seed {seed}, noise {noise})"


@pytest.fixture(scope="module")
def found():
    """A model, new citations, and examples of what rules mend there."""
    corpus = load("citations", 100, ANOTHER)
    labeller = SequenceLabeller("fields", n_jobs=1).fit(load("citations", 60, 0))
    return labeller, corpus, mended(labeller, parse_constraints(RULES["citations"]), corpus, 3)


class TestMended:
    def test_the_rule_alone_decides(self, found):
        labeller, corpus, examples = found
        assert examples
        place = {sequence.text: i for i, sequence in enumerate(corpus)}
        for example in examples:
            alone = corpus.select([place[example.before.text]])
            assert labeller.predict(alone) == [example.before.labels] != [example.after.labels]
            assert labeller.with_constraints([example.rule]).predict(alone) == [example.after.labels]
            assert example.right == (example.after.labels == alone[0].labels)
            schema = labeller.schema_
            assert example.rule.violation(example.before.labels, schema) > 0
            assert example.rule.violation(example.after.labels, schema) == 0

    def test_no_rule_and_no_sequence_twice(self, found):
        examples = found[-1]
        assert len({example.rule for example in examples}) == len(examples)
        assert len({example.before.text for example in examples}) == len(examples)

    def test_segments_stand_beside_those_they_overlap(self):
        (rule,) = parse_constraints("at most 1 segment of x  hard")
        before, after = reading((0, 1, "x"), (1, 2, "x"), (3, 4, "z")), reading((0, 2, "x"), (2, 3, "y"))
        cut = [
            [span and (span.start, span.end, span.type) for span in row]
            for row in Mended(before, after, rule, True, True).rows()
        ]
        assert cut == [
            [(0, 1, "x"), (0, 2, "x")],
            [(1, 2, "x"), None],
            [None, (2, 3, "y")],
            [(3, 4, "z"), None],
        ]


def reading(*spans: tuple[int, int, str]) -> LabelledSequence:
    tokens = ["a", "b", "c", "d"]
    cut = [LabelledSpan(start, end, type, " ".join(tokens[start:end])) for start, end, type in spans]
    return LabelledSequence(tokens, ["O"] * 4, cut, 0.0)
