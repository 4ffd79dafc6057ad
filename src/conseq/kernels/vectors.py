"""Explicit vectors for kernels whose loops LLVM cannot keep in registers by itself.

    load(line, i) ─→ LANES numbers from line[i] on ─ add, times, multiply_add, total ─→ store(line, i, vector)

`line` is a one-dimensional array, `i` its unsigned index; nothing is checked. `flat(array)` is a contiguous
array as a line, which compiles faster than reshape(-1). A vector of single precision may be stored in an
array of double precision. Processors with shorter vectors get several instructions. `prefetch(line, i)` asks
for a part of memory that will be needed soon: rows are read in an order that no processor foresees. Without
compilation (NUMBA_DISABLE_JIT) vectors are numpy arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import populate_array

LANES = 8

LINE = 64
"""Bytes that a processor fetches at once."""

Code = tuple[Any, Callable[..., Any]]
"""What an intrinsic gives numba: its signature, and a function that emits its instructions."""

LANE = ir.IntType(32)
ROUNDING = ("contract",)
"""a · b + c may be rounded once."""


class Vector(types.Type):
    """LANES numbers of one type in a register."""

    def __init__(self, dtype: types.Type) -> None:
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        element = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(element, LANES))


def _place(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    return builder.gep(context.make_array(kind)(context, builder, array).data, [index])


def _compiled(plain: Callable[..., Any]) -> Callable[[Callable[..., Code]], Any]:
    """What a function emits is an operation of compiled kernels; without compilation `plain` is."""
    return (lambda _: plain) if getattr(config, "DISABLE_JIT", False) else intrinsic


def _store_plainly(line: Any, i: int, vector: Any) -> None:
    line[int(i) : int(i) + LANES] = vector


def _same(builder: Any, number: Any, vector: ir.VectorType) -> Any:
    """A number in all lanes."""
    empty = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(empty, number, LANE(0))
    return builder.shuffle_vector(one, empty, ir.Constant(ir.VectorType(LANE, LANES), [0] * LANES))


@_compiled(lambda array: array.reshape(-1))
def flat(_: Any, array: Any) -> Code:
    if array.layout != "C":
        raise TypingError(f"flat takes contiguous arrays, not {array}")

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        whole = context.make_array(array)(context, builder, given[0])
        line = context.make_array(signature.return_type)(context, builder)
        parts = {"shape": [whole.nitems], "strides": [whole.itemsize], "itemsize": whole.itemsize}
        populate_array(line, data=whole.data, meminfo=whole.meminfo, parent=whole.parent, **parts)
        return impl_ret_borrowed(context, builder, signature.return_type, line._getvalue())

    return array.copy(ndim=1, layout="C")(array), emit


@_compiled(lambda line, i: line[int(i) : int(i) + LANES].copy())
def load(_: Any, line: Any, i: Any) -> Code:
    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        place = _place(context, builder, signature.args[0], *given)
        found = builder.load(builder.bitcast(place, kind.as_pointer()))
        found.align = line.dtype.bitwidth // 8
        return found

    return Vector(line.dtype)(line, i), emit


@_compiled(_store_plainly)
def store(_: Any, line: Any, i: Any, vector: Any) -> Code:
    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place, stored = _place(context, builder, signature.args[0], *given[:2]), given[2]
        if line.dtype != vector.dtype:
            stored = builder.fpext(stored, context.get_value_type(Vector(line.dtype)))
        stored = builder.store(stored, builder.bitcast(place, stored.type.as_pointer()))
        stored.align = line.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(line, i, vector), emit


@_compiled(lambda number: np.full(LANES, number))
def fill(_: Any, number: Any) -> Code:
    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _same(builder, given[0], context.get_value_type(signature.return_type))

    return Vector(number)(number), emit


@_compiled(lambda a, b: a + b)
def add(_: Any, a: Any, b: Any) -> Code:
    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.fadd(*given, flags=ROUNDING)

    return a(a, b), emit


@_compiled(lambda a, b: a * b)
def times(_: Any, a: Any, b: Any) -> Code:
    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.fmul(*given, flags=ROUNDING)

    return a(a, b), emit


@_compiled(lambda number, vector, sum: number * vector + sum)
def multiply_add(_: Any, number: Any, vector: Any, sum: Any) -> Code:
    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        factor = _same(builder, given[0], given[1].type)
        return builder.fadd(builder.fmul(factor, given[1], flags=ROUNDING), given[2], flags=ROUNDING)

    return sum(number, vector, sum), emit


@_compiled(lambda vector: vector.sum())
def total(_: Any, vector: Any) -> Code:
    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        (part,), size = given, LANES
        while size > 1:
            size //= 2
            low, high = (
                builder.shuffle_vector(part, part, ir.Constant(ir.VectorType(LANE, size), list(lanes)))
                for lanes in (range(size), range(size, 2 * size))
            )
            part = builder.fadd(low, high)
        return builder.extract_element(part, LANE(0))

    return vector.dtype(vector), emit


@_compiled(lambda line, i: None)
def prefetch(_: Any, line: Any, i: Any) -> Code:
    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, LANE, LANE, LANE])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        place = builder.bitcast(_place(context, builder, signature.args[0], *given), byte)
        builder.call(call, [place, LANE(0), LANE(3), LANE(1)])  # to read, keep in all caches, data
        return context.get_dummy_value()

    return types.void(line, i), emit
