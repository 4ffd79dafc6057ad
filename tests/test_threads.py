"""`threads.py`: order, errors, interrupts, nesting, forks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest

from conseq.threads import balanced, cores, map_chunks, run


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_come_in_the_order_of_the_tasks(threads):
    def task(k):
        time.sleep(0.002 * (5 - k % 5))
        return k

    assert run([partial(task, k) for k in range(20)], threads) == list(range(20))


def test_one_thread_runs_inline_and_two_run_together():
    assert run([threading.get_ident], 1) == [threading.get_ident()]
    meet = threading.Barrier(2, timeout=10)
    assert sorted(run([meet.wait, meet.wait], 2)) == [0, 1]


def test_no_more_threads_than_asked_for():
    busy, most, lock = 0, 0, threading.Lock()

    def task():
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        time.sleep(0.005)
        with lock:
            busy -= 1

    run([task] * 12, 3)
    assert most <= 3


@pytest.mark.parametrize("threads", [1, 3])
def test_an_exception_reaches_the_caller_and_stops_the_rest(threads):
    begun = []

    def task(k):
        begun.append(k)
        if k == 2:
            raise KeyError("two")
        time.sleep(0.002)

    with pytest.raises(KeyError, match="two"):
        run([partial(task, k) for k in range(200)], threads)
    assert len(begun) < 200


def test_an_interrupt_from_the_keyboard_reaches_the_caller_and_stops_the_rest():
    meet, begun = threading.Barrier(2, timeout=10), []

    def interrupt():
        meet.wait()
        if threading.current_thread() is threading.main_thread():
            signal.raise_signal(signal.SIGINT)

    def task():
        begun.append(1)
        time.sleep(0.002)

    with pytest.raises(KeyboardInterrupt):
        run([interrupt, interrupt, *[task] * 200], 2)
    assert len(begun) < 200
    assert run([lambda: 1, lambda: 2], 2) == [1, 2]


def test_nested_calls_do_not_wait_for_each_other():
    def outer(k):
        return sum(run([partial(int, j) for j in range(10)], 8)) + k

    assert run([partial(outer, k) for k in range(100)], 64) == [45 + k for k in range(100)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_threads_of_its_own():
    script = """if True:
        import os, threading
        from conseq.threads import run
        def meet():
            barrier = threading.Barrier(2, timeout=10)
            return sorted(run([barrier.wait, barrier.wait], 2))
        assert meet() == [0, 1]
        child = os.fork()
        if child == 0:
            os._exit(0 if meet() == [0, 1] else 1)
        assert os.waitpid(child, 0)[1] == 0
    """
    command = [sys.executable, "-W", "ignore", "-c", script]
    assert subprocess.run(command, timeout=60, check=False).returncode == 0


def test_map_chunks_covers_the_bounds():
    assert map_chunks(lambda lo, hi: list(range(lo, hi)), np.array([0, 2, 2, 5]), 2) == [
        [0, 1],
        [],
        [2, 3, 4],
    ]
    assert map_chunks(lambda lo, hi: 1 / 0, [0], 2) == []


def test_threads_must_be_positive():
    with pytest.raises(ValueError, match="threads is 0; give 1 or more"):
        run([], 0)
    assert cores() >= 1


@pytest.mark.parametrize("seed", range(50))
def test_balanced_ranges_cover_all_sequences_evenly(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 30, size=rng.integers(0, 40))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    parts = int(rng.integers(1, 9))
    bounds = balanced(offsets, parts)
    assert bounds[0] == 0
    assert bounds[-1] == len(lengths)
    assert len(bounds) == 1 or (np.diff(bounds) > 0).all()
    assert len(bounds) <= parts + 1
    tokens = np.diff(offsets[bounds])
    assert tokens.max(initial=0) <= offsets[-1] / parts + 30
