"""`kernels/compiled.py`: what is compiled, for which types, and who may call it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from calling import called
from numba import config, njit

from conseq.kernels.compiled import as_compiled, helper, kernel

compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


@helper
def shifted(values, by, forth):
    return values[0] + by if forth else values[0] - by


@kernel
def both(values, by):
    return shifted(values, 1, True) + shifted(values, 2, False) + shifted(values, by=by, forth=True)


def test_kernels_call_helpers():
    assert both(np.array([10.0]), 5) == 11 + 8 + 15


@compiled_only
def test_literals_compile_no_variants():
    njit(both.py_func)(np.array([10.0]), 5)  # compiled here, whatever is on disk
    assert len(shifted.signatures) == 1
    assert "Literal" not in str(shifted.signatures)


@compiled_only
def test_python_may_not_call_a_helper():
    """numba itself would jump to the address 0."""
    both(np.array([10.0]), 5)
    with pytest.raises(
        TypeError, match="shifted is compiled for kernels only; make it a @kernel, or call it"
    ):
        shifted(np.array([10.0]), 1, True)


def test_tests_may_call_a_helper():
    assert called(shifted)(np.array([10.0]), 1, True) == 11


def test_options_are_those_of_numba():
    @kernel(error_model="numpy")
    def divided(a, b):
        return a / b

    assert called(helper(error_model="numpy")(getattr(divided, "py_func", divided)))(6.0, 3.0) == 2
    if not config.DISABLE_JIT:
        assert divided(1.0, 0.0) == np.inf


def test_arrays_become_what_kernels_are_compiled_for():
    plain = np.arange(6.0).reshape(2, 3)
    fixed = plain.copy()
    fixed.flags.writeable = False
    assert as_compiled(plain, np.float64) is plain
    for given in (plain.T, plain[:, ::2], fixed, plain.astype(np.float32), plain.tolist()):
        array = as_compiled(given, np.float64)
        assert array.flags.carray
        assert array.dtype == np.float64
        assert array.tolist() == np.asarray(given).tolist()


ONE_SET_OF_TYPES = """
import sys
from conseq import SequenceLabeller
from conseq.datasets import citations
from conseq.kernels.compiled import CPUDispatcher

labeller = SequenceLabeller(features="fields", constraints="learn").fit(citations(40, seed=0))
labeller.label(citations(20, seed=1))
kernels = [module for name, module in sys.modules.items() if name.startswith("conseq.kernels.")]
found = {f for module in kernels for f in vars(module).values() if isinstance(f, CPUDispatcher)}
used = [f for f in found if f.signatures]
print(len(used), [(f.__name__, f.signatures) for f in used if len(f.signatures) > 1])
"""


@compiled_only
def test_learning_and_labelling_compile_every_kernel_for_one_set_of_types():
    """A second set would double what a first use waits for."""
    command = [sys.executable, "-c", ONE_SET_OF_TYPES]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    count, twice = answer.stdout.split(" ", 1)
    assert int(count) > 10
    assert twice.strip() == "[]"
