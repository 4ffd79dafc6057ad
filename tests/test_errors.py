"""Messages stay readable whatever they quote."""

from __future__ import annotations

import numpy as np
import pytest

from conseq.constraints import Segments
from conseq.constraints.tokens import Places
from conseq.corpus import Corpus
from conseq.decoders.constrained_nbest import n_best_decodings
from conseq.errors import LONGEST_MESSAGE, ConseqError, DataError, RuleError, shortened
from conseq.metrics.resampling import resample
from conseq.potentials import Potentials
from conseq.problem import Problems
from conseq.schema import Schema
from conseq.threads import MOST_HELPERS, threads_of


@pytest.mark.parametrize("kind", [ConseqError, DataError, RuleError])
@pytest.mark.parametrize("quoted", ["x" * 100_000, "x y " * 25_000])
def test_long_names_are_cut_and_the_remedy_stays(kind, quoted):
    message = str(kind(f"the token {quoted!r} is odd; leave it out"))
    assert len(message) <= LONGEST_MESSAGE + 1
    assert message.startswith("the token 'x")
    assert message.endswith("; leave it out")


def test_ordinary_messages_are_left_alone():
    message = "a/" * 140 + ": the file is empty; give at least one sequence"
    assert shortened(message) == message


def test_numbers_from_python_are_bounded():
    with pytest.raises(RuleError, match="at most 1000000000000"):
        Segments("at most", 10**5000, "a")
    assert Places((10**30, -(10**30), 0)).mask(Corpus.from_sequences([["a", "b"]])).tolist() == [True, False]


def test_what_would_fill_the_memory_is_refused_or_bounded():
    problem = Problems.of(Potentials.of([[0.0, 1.0]] * 40), Schema(["O", "x"], "plain"), [])[0]
    with pytest.raises(ConseqError, match="at most 10,000"):
        n_best_decodings(problem, 10**9)
    with pytest.raises(DataError, match="at most 1,000,000"):
        resample(np.ones((3, 3), dtype=np.int64), 10**9, 0)
    assert threads_of(20_000) == MOST_HELPERS + 1
