"""How kernels are compiled: `kernel` for what Python calls, `helper` for what only kernels call.

    function over arrays and numbers ─→ @kernel ─→ compiled on first use, kept on disk, releases the GIL
                                     ─→ @helper ─→ compiled into the kernels that call it

Compiling is what a first use waits for, so every function is to be compiled once, for one set of types:
scores are float64, arrays are contiguous and writable (`as_compiled`), and a literal in a call (`f(x, 0)`),
for which numba would compile a variant of its own, is taken as a number like any other.

What compiling costs, in seconds of a processor (numba 0.68; what is cheap is written as it stands):

    a[i:j] = b[k:l]             1.2 for the first, 0.12 for each further one: the error message for shapes
                                that differ is compiled, too. A loop costs 0.01, a[:] = number less
    sorting                     0.7
    max, min of an array        0.3 for the first of its types, 0.01 for a further one
    np.zeros, np.full, sum      0.1 and 0.01, also reshape (`vectors.flat` is cheap)
    np.empty, copy              0.05 and 0.01
    calls from Python           0.015, and 0.003 for each array among the arguments: helpers have no entry
    a function that is called   is optimised again with its caller, so a chain of 8 functions takes twice as
                                long as 2 chains of 4. A helper that one function calls, once, is best
                                inlined, @helper(inline="always"); one that several call is not
    a, b = tuple                a tenth more than arguments; the fields of a NamedTuple cost nothing
    a loop, an if, an operator  0.007, 0.002, 0.0005: all in all it is the length that counts
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar, overload

import numpy as np
from numba import config, types
from numba.core.caching import IndexDataCacheFile
from numba.core.registry import CPUDispatcher
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conseq.kernels.clock import CLOCK

Array = NDArray[Any]
Function = TypeVar("Function", bound=Callable[..., Any])


class CacheIndex(IndexDataCacheFile):
    """What the cache on disk has of a function; of types that an earlier version had, and this has not,
    nothing."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (AttributeError, ImportError):
            return {}


class _Kernel(CPUDispatcher):
    """A compiled function with one variant for one set of types, whatever the literals in calls of it."""

    _cache: Any

    def enable_caching(self) -> None:
        super().enable_caching()
        self._cache._cache_file.__class__ = CacheIndex

    def compile(self, sig: Any) -> Any:
        with CLOCK.stopped():
            return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What numba asks for when another compiled function calls this one."""
        args = tuple(types.unliteral(given) for given in args)
        return super().get_call_template(args, {name: types.unliteral(given) for name, given in kws.items()})


class _Helper(_Kernel):
    """Has no entry for calls from Python."""

    def __call__(self, *args: Any, **kws: Any) -> Any:
        name = self.py_func.__name__
        raise TypeError(f"{name} is compiled for kernels only; make it a @kernel, or call it from one")


class _Decorator(Protocol):
    @overload
    def __call__(self, function: Function) -> Function: ...
    @overload
    def __call__(self, **options: Any) -> Callable[[Function], Function]: ...


def _decorator(made: type[_Kernel], **always: bool) -> _Decorator:
    def decorate(function: Function | None = None, **options: Any) -> Any:
        if function is None:
            return partial(decorate, **options)
        if config.DISABLE_JIT:  # type: ignore[attr-defined]  # numba sets it from the environment
            return function
        dispatcher = made(function, targetoptions={"nopython": True, "nogil": True, **always, **options})
        dispatcher.enable_caching()
        return dispatcher

    return decorate


kernel = _decorator(_Kernel, no_cfunc_wrapper=True)
"""A function that Python calls; options are numba's."""

helper = _decorator(_Helper, no_cfunc_wrapper=True, no_cpython_wrapper=True)
"""A function that only compiled functions call; options are numba's."""


def as_compiled(values: ArrayLike, dtype: DTypeLike) -> Array:
    """An array of this type, contiguous, aligned and writable, without copying where it is one already.

    >>> as_compiled(np.arange(6).reshape(2, 3).T, np.float64).flags.c_contiguous
    True
    """
    array = np.asarray(values, dtype)
    return array if array.flags.carray else array.copy()
