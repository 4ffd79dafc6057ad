"""`kernels/clock.py`: seconds, without those of compiling."""

from __future__ import annotations

import os
import time

import pytest
from numba import config
from numba.core.registry import CPUDispatcher

from conseq.kernels.clock import CLOCK, Clock, now
from conseq.kernels.compiled import kernel


def test_it_counts_seconds():
    begun, real = now(), time.perf_counter()
    time.sleep(0.02)
    assert 0.02 <= now() - begun <= time.perf_counter() - real + 1e-3


def test_it_stands_still_until_all_that_stopped_it_are_over():
    clock, real = Clock(), time.perf_counter()
    first = clock.now()
    with clock.stopped():
        begun = clock.now()
        with clock.stopped():
            time.sleep(0.01)
        time.sleep(0.01)
        assert clock.now() == begun
    assert begun < clock.now()
    assert clock.now() - first <= time.perf_counter() - real - 0.02


def test_an_error_lets_it_go_on():
    clock = Clock()
    with pytest.raises(ValueError, match="wrong"), clock.stopped():
        raise ValueError("wrong")
    begun = clock.now()
    time.sleep(0.001)
    assert clock.now() > begun


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_it_stands_still_while_a_kernel_is_compiled(monkeypatch):
    def slowly(dispatcher, signature):
        time.sleep(0.05)
        return compiled(dispatcher, signature)

    compiled = CPUDispatcher.compile
    monkeypatch.setattr(CPUDispatcher, "compile", slowly)

    @kernel
    def doubled(value):
        return value + value

    begun, real = now(), time.perf_counter()
    assert doubled(1.5) == 3
    assert now() - begun <= time.perf_counter() - real - 0.05


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_it_goes_on_in_a_forked_child():
    with CLOCK.stopped():
        child = os.fork()
        if not child:
            begun = now()
            time.sleep(0.001)
            os._exit(0 if now() > begun else 1)
    assert os.waitpid(child, 0)[1] == 0
