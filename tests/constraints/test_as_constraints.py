"""Rules in any form: the same objects come out, or one sentence with the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from conseq.constraints import FollowedLater, IfThen, NotBoth
from conseq.constraints.language import as_constraints
from conseq.errors import RuleError
from conseq.schema import Schema

SCHEMA = Schema(["O", "x", "y"], "plain")
LINES = ["if x then y  hard", "not both x and O  penalty 2"]
RULES = (IfThen("x", "y"), NotBoth("x", "O", penalty=2.0))


def test_all_forms_are_the_same(tmp_path):
    path = tmp_path / "a.rules"
    path.write_text("\n".join(LINES))
    for form in ["\n".join(LINES), path, LINES, RULES, iter(RULES), [LINES[0], "# why", "", RULES[1]]]:
        assert as_constraints(form, SCHEMA) == RULES
    assert as_constraints(RULES[0], SCHEMA) == RULES[:1]


@pytest.mark.parametrize("nothing", [None, "", [], "# a comment", ["", "# a comment"]])
def test_no_rules(nothing):
    assert as_constraints(nothing, SCHEMA) == ()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (7, "constraints is of type int; give a text"),
        ([LINES[0], 7], "line 2: a rule is of type int"),
        ([LINES[0], "if x than y hard"], "line 2, column 6"),
        ("\nif x then z hard", "line 2, column 11"),
        ([NotBoth("x", "z")], r"'z'.*\(rule: not both x and z\)"),
        ([FollowedLater("x", "z")], "'z'"),
        (Path("absent.rules"), "absent.rules: the rules cannot be read"),
        ("if x then " + 300 * "z" + " hard", "line 1, column 11"),  # longer than the name of a file may be
    ],
)
def test_what_cannot_be_read(given, says):
    with pytest.raises(RuleError, match=says) as error:
        as_constraints(given, SCHEMA)
    assert "\n" not in str(error.value)


def test_the_name_of_a_file_is_no_rule(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my.rules").write_text(LINES[0])
    with pytest.raises(RuleError, match=r"give pathlib.Path\('my.rules'\)"):
        as_constraints("my.rules", SCHEMA)
