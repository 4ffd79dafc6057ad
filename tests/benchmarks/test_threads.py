"""One labeller, used by many threads at once, also while the process is forked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from random import Random

import pytest

from benchmarks import threads

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def test_threads_and_forked_children_answer_as_one_thread_does():
    """In a process of its own, because it forks."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks", "threads"]
    command += ["--seconds", "3", "--times", "10", "--json"]
    found = subprocess.run(command, timeout=600, check=False, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr[-2000:]
    result = json.loads(found.stdout)
    assert result["answers"] > result["threads"] == 16
    assert result["forks"] == 10


def test_a_wrong_answer_an_error_and_a_thread_without_end_are_counted(monkeypatch):
    shared, forever = threads.Shared.trained(), threading.Event()
    monkeypatch.setattr(threads, "LATEST", 0.2)
    shared.expected[0] = "something else"
    shared.questions[1] = lambda labeller: {}["key"]
    with shared.asked_by(0, Random(0), lambda stop: forever.wait(30)):
        for number in range(3):
            shared.ask(number)
    forever.set()
    assert shared.counts == {"answers": 3, "different": 1, "raised": 1, "right": 1, "stuck": 1}
    counts = dict.fromkeys(threads.COUNTS, 0)
    for kind in threads.FAILURES:
        assert threads.failed({**counts, kind: 1})
    assert not threads.failed(counts)
