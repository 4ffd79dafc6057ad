"""Ctrl-C while compiled code works: an interrupt, never a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

INTERRUPTED_OFTEN = """
import _thread, threading, time
import numpy as np
from conseq.decoders.chain.marginals import ChainPosterior
from conseq.potentials import Potentials

potentials = Potentials.of(np.zeros((2, 2)))
ChainPosterior.of(potentials, 0)
caught = calls = 0

def interrupt():
    for number in range(200):
        begun = calls
        while caught < number or calls == begun:
            time.sleep(1e-4)
        _thread.interrupt_main()

threading.Thread(target=interrupt, daemon=True).start()
while caught < 200:
    try:
        while True:
            ChainPosterior.of(potentials, 0)
            calls += 1
    except (KeyboardInterrupt, SystemError):  # the latter where it came while numba made an array
        caught += 1
print("survived")
"""
"""If the kernel gave back a named tuple, this would crash at one of the first interrupts."""


def test_kernels_survive_interrupts_in_scripts_and_notebooks(tmp_path):
    script = tmp_path / "often.py"
    script.write_text(INTERRUPTED_OFTEN)
    found = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert (found.returncode, found.stdout) == (0, "survived\n"), found.stderr[-2000:]


def test_an_interrupt_waits_where_it_would_do_harm():
    from conseq.cli.interrupts import _interrupt

    finished = []

    def _numba_unpickle():
        os.kill(os.getpid(), signal.SIGINT)
        finished.append(True)

    def interrupted():
        _numba_unpickle()
        time.sleep(10)

    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.signal(signal.SIGINT, before)
    assert finished == [True]
