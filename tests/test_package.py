"""What `import conseq` offers: every name is there, and importing it loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import conseq


@pytest.mark.parametrize("name", conseq.__all__)
def test_each_name_is_found(name):
    assert getattr(conseq, name) is not None


def test_the_names_of_the_contract_are_offered():
    contract = {"decode", "parse_constraints", "word_scores", "Limits", "Status", "SequenceLabeller"}
    assert contract <= set(conseq.__all__)
    assert callable(conseq.decode)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        conseq.nothing  # noqa: B018


def test_the_import_loads_nothing_heavy():
    program = (
        "import sys, conseq; print([m for m in ('numpy', 'numba', 'scipy', 'highspy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_function_stays_a_function_when_the_decoders_are_imported():
    import conseq.decoders.arrays

    assert conseq.decode is conseq.decoders.arrays.decode


def test_the_module_exits_as_the_command_does():
    """`python -m conseq` is used where there is no script; a failure must not pass for success."""
    found = subprocess.run(
        [sys.executable, "-m", "conseq", "evaluate", "no.model", "no.tsv"], capture_output=True, text=True
    )
    assert found.returncode == 1
    assert "no.model" in found.stderr
