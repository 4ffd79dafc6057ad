"""One labeller, used by many threads at once, also while the process is forked."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

import conseq
from conseq.datasets import citations

RULES = """exactly 1 segment of title  penalty 5
no title before author  penalty 2
count(pages) <= count(journal) + count(booktitle)  penalty 3"""

FORKS, DECODING, DEADLINE = 100, 4, 30.0


def trained() -> conseq.SequenceLabeller:
    training = conseq.Training(max_iterations=15)
    return conseq.SequenceLabeller(training=training, constraints=RULES, n_jobs=2).fit(citations(40, seed=0))


def decoded(labeller: conseq.SequenceLabeller, data: conseq.Corpus) -> list[list[str]]:
    """With rules read anew, so that what threads share is made again each time."""
    return [answer.labels for answer in labeller.with_constraints(RULES).decode(data)]


def fork_while_others_decode() -> None:
    """Each child decodes as its parent does; what is compiled in the meantime does not stop it."""
    sys.setswitchinterval(1e-5)
    labeller, data = trained(), citations(8, seed=1)
    expected, stop, wrong = decoded(labeller, data), threading.Event(), []

    def work() -> None:
        while not stop.is_set():
            if decoded(labeller, data) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(DECODING)]
    threads.append(threading.Thread(target=compile_until, args=(stop,), daemon=True))
    for thread in threads:
        thread.start()
    statuses = []
    for _ in range(FORKS):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if decoded(labeller, data) == expected and compiled(3) == 4 else 2
            finally:
                os._exit(code)
        statuses.append(awaited(child))
    stop.set()
    assert statuses == [0] * FORKS, statuses
    assert not wrong


def compiled(x: int) -> int:
    from numba import njit

    return njit(lambda y: y + 1)(x)


def compile_until(stop: threading.Event) -> None:
    while not stop.is_set():
        compiled(1)


def awaited(child: int) -> int | str:
    """The exit status of a child, which is ended at the deadline."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "late"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_children_decode_while_threads_of_the_parent_do() -> None:
    command = [sys.executable, "-W", "ignore", __file__]
    found = subprocess.run(command, timeout=300, check=False, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr[-2000:]


def test_sixteen_threads_get_the_answers_of_one() -> None:
    labeller, data = trained(), citations(8, seed=1)
    expected, end = decoded(labeller, data), time.monotonic() + 5
    answers: list[bool] = []

    def work() -> None:
        while time.monotonic() < end:
            answers.append(decoded(labeller, data) == expected)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) >= 16
    assert all(answers)


if __name__ == "__main__":
    fork_while_others_decode()
