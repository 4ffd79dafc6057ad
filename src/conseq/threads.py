"""One pool of threads for the whole process, handing out serial kernels that release the GIL.

    tasks (callables without arguments)   ─→ run(tasks, threads)           ─→ their results, in order
    function(lo, hi), bounds[P+1]         ─→ map_chunks(function, bounds)  ─→ its results, in order
    offsets[N+1]                          ─→ balanced(offsets, parts)      ─→ bounds[P+1]

The caller works too, and pool threads only help: so nested calls cannot wait for each other.

A process may be forked while other threads work. A `ForkLock` guards what all threads share: a fork waits
until it is free, so that the child finds the lock open and everything whole. The child has a pool of its own.
What is being compiled is finished before the fork, for a child could not use a compiler stopped half-way.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from conseq.errors import ConseqError

R = TypeVar("R")

MOST_HELPERS = 64
"""Threads the pool may ever start; it starts one only when there is work for it."""

_pool: ThreadPoolExecutor | None = None


class ForkLock:
    """A lock of a module or a class, which is free in a forked child.

    >>> with ForkLock() as lock:
    ...     lock is not None
    True
    """

    every: ClassVar[list[ForkLock]] = []

    def __init__(self) -> None:
        self._inner = threading.RLock()
        self.every.append(self)

    def __enter__(self) -> ForkLock:
        self._inner.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._inner.release()


_lock = ForkLock()


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_of(n_jobs: int | None) -> int:
    """How many threads an estimator's option means: None and −1 are all processors, and 65 the most.

    >>> threads_of(3), threads_of(None) == threads_of(-1) == cores()
    (3, True)
    """
    if n_jobs is None or n_jobs == -1:
        return cores()
    if n_jobs < 1:
        raise ConseqError(f"n_jobs is {n_jobs}; give at least 1, or None or -1 for all processors")
    return min(n_jobs, MOST_HELPERS + 1)


def run(tasks: Iterable[Callable[[], R]], threads: int = 1) -> list[R]:
    """Call every task, at most `threads` at the same time, and give the results in the tasks' order.

    If tasks raise, the others that have begun are finished, no further one begins, and the exception of
    the first (in order) that raised is raised here. An interrupt from the keyboard does the same.

    >>> run([lambda: 1, lambda: 2], threads=2)
    [1, 2]
    """
    if threads < 1:
        raise ValueError(f"threads is {threads}; give 1 or more")
    todo = deque(enumerate(tasks))  # whoever is free takes the next one
    results: list[Any] = [None] * len(todo)
    errors: dict[int, Exception] = {}

    def work() -> None:
        while todo:
            try:
                index, task = todo.popleft()
            except IndexError:  # another thread has taken the last one
                return
            try:
                results[index] = task()
            except Exception as error:
                errors[index] = error
                todo.clear()

    futures = _submit(work, min(threads, len(todo)) - 1)
    try:
        work()
    finally:  # an interrupt from the keyboard may come anywhere in the line above
        todo.clear()
        begun = [future for future in futures if not future.cancel()]
        wait(begun)
    if errors:
        raise errors[min(errors)]
    for future in begun:
        future.result()
    return results


def map_chunks(
    function: Callable[[int, int], R], bounds: Sequence[int] | NDArray[np.integer], threads: int = 1
) -> list[R]:
    """Call function(bounds[p], bounds[p+1]) for every p, as `run` does.

    >>> map_chunks(lambda lo, hi: hi - lo, [0, 2, 5], threads=2)
    [2, 3]
    """
    chunks = pairwise(int(bound) for bound in bounds)
    return run([partial(function, lo, hi) for lo, hi in chunks], threads)


def balanced(offsets: NDArray[np.integer], parts: int) -> NDArray[np.int64]:
    """Bounds[P+1] of at most `parts` ranges of whole sequences with about as many tokens each.

    >>> balanced(np.array([0, 5, 6, 7, 8, 12]), 2)
    array([0, 2, 5])
    """
    n = len(offsets) - 1
    if n and (parts == 1 or n == 1):
        return np.array([0, n])
    goals = np.linspace(offsets[0], offsets[-1], parts + 1)[1:-1]
    above = np.searchsorted(offsets, goals)
    closer = goals - offsets[np.maximum(above - 1, 0)] < offsets[above] - goals
    return np.unique(np.concatenate([[0], above - closer, [n]])).astype(np.int64)


def _submit(work: Callable[[], None], count: int) -> list[Future[None]]:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(MOST_HELPERS, thread_name_prefix="conseq")
        return [_pool.submit(work) for _ in range(min(count, MOST_HELPERS))]


# ── forks ───────────────────────────────────────────────────────────────────────────────────────────

_forking = threading.RLock()
_held = ExitStack()
"""What the thread that forks holds meanwhile; one thread forks at a time."""


def _before_fork() -> None:
    """Wait until nobody is where a child could not go on; who holds a lock may compile, never the reverse."""
    _forking.acquire()
    for lock in (*reversed(ForkLock.every), *_locks_of_compilers()):
        _held.enter_context(lock)


def _after_fork() -> None:
    _held.close()
    _forking.release()


def _in_child() -> None:
    """A forked child has none of its parent's threads."""
    global _pool
    _pool = None
    _after_fork()
    for owner, name in _cached_properties():
        vars(owner)[name].lock = threading.RLock()


def _locks_of_compilers() -> list[Any]:
    """Numba's lock and then LLVM's, as far as they are loaded: a compilation takes them in this order."""
    places = ("numba.core.compiler_lock", "global_compiler_lock"), ("llvmlite.binding.ffi", "lib")
    found = [getattr(sys.modules.get(module), name, None) for module, name in places]
    return [lock for lock in (found[0], getattr(found[1], "_lock", None)) if lock is not None]


def _cached_properties() -> list[tuple[type, str]]:
    """Until Python 3.12 a cached property has a lock for all objects, which who computes a value holds."""
    if sys.version_info >= (3, 12):
        return []
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("conseq.")]
    classes = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    return [(c, name) for c in classes for name, x in vars(c).items() if isinstance(x, cached_property)]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)
