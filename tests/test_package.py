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
    contract |= {"load", "evaluate", "learn_rules", "tune", "Segments", "Recipe", "MemoryLearner", "Problem"}
    assert contract <= set(conseq.__all__) <= set(dir(conseq))
    assert callable(conseq.decode)
    assert callable(conseq.evaluate)


@pytest.mark.parametrize(
    "name",
    ["constraints", "datasets", "decoders", "features", "io", "labeller", "metrics", "mining", "models"],
)
def test_a_sub_package_is_an_attribute_after_the_import_alone(name):
    program = f"import conseq; print(conseq.{name}.__name__, {name!r} in dir(conseq))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"conseq.{name}", "True"]


def test_a_module_that_lacks_something_says_what():
    """Not that there is no such module of ours."""
    program = "import sys, conseq; sys.modules['numba'] = None; conseq.mining"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ModuleNotFoundError: import of numba" in done.stderr
    assert "no attribute" not in done.stderr


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
