"""`kernels/vectors.py`: arrays as lines; the vectors themselves are tested by the kernels that use them."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config
from numba.core.errors import TypingError

from conseq.kernels.compiled import kernel
from conseq.kernels.vectors import flat


@kernel
def doubled(array):
    line = flat(array)
    for i in range(line.size):
        line[i] *= 2
    return line


@pytest.mark.parametrize("shape", [(4,), (2, 3), (0, 3), (2, 3, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_a_line_has_all_numbers_of_an_array_and_its_memory(shape, dtype):
    array = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    expected = (2 * array).ravel().tolist()
    line = doubled(array)
    assert line.tolist() == array.ravel().tolist() == expected
    assert line.dtype == dtype


def test_a_line_keeps_its_memory():
    lines = [doubled(np.full((100, 100), float(i))) for i in range(20)]
    assert [line.tolist() for line in lines] == [[2.0 * i] * 10_000 for i in range(20)]


@pytest.mark.skipif(config.DISABLE_JIT, reason="numpy copies")
def test_only_contiguous_arrays_are_lines():
    with pytest.raises(TypingError, match="flat takes contiguous arrays"):
        doubled(np.zeros((4, 4))[:, ::2])
