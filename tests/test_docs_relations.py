"""The page on relations: its examples run, its lines parse, every kind of rule, solver, format is there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import get_args

import pytest

from conseq.cli.relations.options import SentenceFormat, Solver, WrittenFormat
from conseq.constraints.relational import RELATION_RULES
from conseq.constraints.relational.language import parse_relation_rules

PAGE = Path(__file__).parents[1] / "docs" / "relations.md"
TEXT = PAGE.read_text(encoding="utf-8")
LANGUAGE = TEXT[TEXT.index("## The rules") : TEXT.index("## Scores from anywhere")]


def rows(text: str) -> list[str]:
    """The first cell of each row of the tables."""
    return [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.startswith("| ")]


LINES = [line for row in rows(LANGUAGE) for line in re.findall(r"`([^`]+)`", row)]


def test_the_examples_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 40
    report: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert results.failed == 0, "".join(report)


@pytest.mark.parametrize("line", LINES)
def test_each_line_of_the_table_parses(line: str) -> None:
    (rule,) = parse_relation_rules(f"{line}  penalty 2")
    assert rule.penalty == 2


def test_every_kind_of_rule_has_a_line() -> None:
    shown = {type(rule) for line in LINES for rule in parse_relation_rules(f"{line}  hard")}
    missing = {kind.__name__ for kind in RELATION_RULES} - {kind.__name__ for kind in shown}
    assert not missing, f"the page has no line for {', '.join(sorted(missing))}"


@pytest.mark.parametrize(
    "choice", [*get_args(Solver), *get_args(WrittenFormat), *get_args(SentenceFormat)[1:]]
)
def test_every_solver_and_format_has_a_row(choice: str) -> None:
    assert any(f"`{choice}`" in row for row in rows(TEXT)), f"the page has no row for {choice}"


def test_the_signature_is_that_of_the_function() -> None:
    import inspect

    import conseq

    shown = re.search(r"`conseq\.decode_relations\((.*?)\)`", TEXT, flags=re.DOTALL)
    assert shown is not None
    for parameter in inspect.signature(conseq.decode_relations).parameters.values():
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}".replace("'", '"')
        assert f"{parameter.name}{default}" in re.split(r",\s*", shown[1])
