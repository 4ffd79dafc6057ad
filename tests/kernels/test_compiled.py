"""`kernels/compiled.py`: what is compiled, for which types, and who may call it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules
from typing import get_type_hints

import numba
import numpy as np
import pytest
from calling import called
from numba import config, njit

import conseq.kernels
from conseq.kernels.compiled import CacheIndex, as_compiled, helper, kernel

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


@compiled_only
def test_no_kernel_gives_python_a_named_tuple():
    """numba calls Python to make one, and crashes if Ctrl-C comes at that moment."""
    modules = [
        import_module(f"conseq.kernels.{found.name}") for found in iter_modules(conseq.kernels.__path__)
    ]
    kernels = {
        f"{module.__name__}.{name}": getattr(value, "py_func", value)
        for module in modules
        for name, value in vars(module).items()
        if type(value) is type(both)
    }
    assert "conseq.kernels.lattice_dual.descend" in kernels
    for name, function in kernels.items():
        if function.__module__.startswith("conseq.kernels."):
            given = get_type_hints(function).get("return")
            assert not (isinstance(given, type) and issubclass(given, tuple)), name


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


@compiled_only
def test_a_cache_that_speaks_of_types_that_are_no_more_is_written_anew(tmp_path):
    index = CacheIndex(str(tmp_path), "function", source_stamp=0)
    gone = b"cconseq.kernels.violations\nGone\n."
    (tmp_path / "function.nbi").write_bytes(pickle.dumps(numba.__version__) + gone)
    assert index.load("types") is None
    index.save("types", "code")
    assert CacheIndex(str(tmp_path), "function", source_stamp=0).load("types") == "code"


@compiled_only
def test_kernels_use_that_cache():
    assert isinstance(both._cache._cache_file, CacheIndex)
