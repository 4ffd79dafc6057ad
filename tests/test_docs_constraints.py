"""The guide to rules: its examples run, its lines parse, and every kind of rule and decoder is in it."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from conseq.constraints import CONSTRAINTS
from conseq.constraints.language import parse_constraints
from conseq.constraints.relational import RELATION_RULES
from conseq.constraints.relational.language import parse_relation_rules
from conseq.decoders.auto import DECODERS
from conseq.problem import Status

GUIDE = Path(__file__).parents[1] / "docs" / "constraints.md"
TEXT = GUIDE.read_text(encoding="utf-8")
RELATIONAL = TEXT[TEXT.index("## Rules about entities") : TEXT.index("## On the command line")]
LANGUAGE = TEXT[TEXT.index("## The language") : TEXT.index("## Certificates")]


def rows(text: str) -> list[str]:
    """The first cell of each row of the tables."""
    return [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.startswith("| ")]


LINES = [line for row in rows(LANGUAGE) for line in re.findall(r"`([^`]+)`", row)]


def test_the_examples_run():
    blocks = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    assert len(blocks) > 5
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, GUIDE.name, str(GUIDE), 0)
    assert len(test.examples) > 30
    report: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert results.failed == 0, "".join(report)


@pytest.mark.parametrize("line", LINES)
def test_each_line_of_the_tables_parses(line):
    (rule,) = parse_constraints(f"{line}  penalty 2")
    assert rule.penalty == 2


def test_every_kind_of_rule_has_a_line():
    shown = {type(rule) for line in LINES for rule in parse_constraints(f"{line}  hard")}
    missing = {kind.__name__ for kind in CONSTRAINTS} - {kind.__name__ for kind in shown}
    assert not missing, f"the guide has no line for {', '.join(sorted(missing))}"


RELATION_LINES = [line for row in rows(RELATIONAL) for line in re.findall(r"`([^`]+)`", row)]


@pytest.mark.parametrize("line", RELATION_LINES)
def test_each_line_about_relations_parses(line):
    (rule,) = parse_relation_rules(f"{line}  penalty 2")
    assert rule.penalty == 2


def test_every_kind_of_rule_about_relations_has_a_line():
    shown = {type(rule) for line in RELATION_LINES for rule in parse_relation_rules(f"{line}  hard")}
    assert shown == set(RELATION_RULES)


@pytest.mark.parametrize("name", [*DECODERS, *(status.name for status in Status)])
def test_every_decoder_and_status_has_a_row(name):
    assert any(name == row.strip("`") for row in rows(TEXT)), f"the guide has no row for {name}"


def test_the_signature_is_that_of_the_function():
    import inspect

    import conseq

    shown = re.search(r"`conseq\.decode\((.*?)\)`", TEXT, flags=re.DOTALL)
    assert shown is not None
    for parameter in inspect.signature(conseq.decode).parameters.values():
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}".replace("'", '"')
        assert f"{parameter.name}{default}" in re.split(r",\s*", shown[1])
