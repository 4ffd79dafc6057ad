"""What type checkers know of the public surface: `make lint` runs mypy over this file, the tests run it."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import conseq
from conseq.datasets import addresses

ROWS = [[0.0, -1.0], [-1.0, 0.0]]


def test_what_decode_gives_depends_on_what_it_gets() -> None:
    one = conseq.decode(ROWS)
    assert assert_type(one, conseq.Decoding).labels == ["0", "1"]
    array: NDArray[np.float64] = np.array(ROWS)
    several = conseq.decode([array, array])
    assert len(assert_type(several, list[conseq.Decoding])) == 2
    nested = conseq.decode([ROWS, ROWS])
    assert len(assert_type(nested, list[conseq.Decoding])) == 2
    either = assert_type(conseq.decode(array), conseq.Decoding | list[conseq.Decoding])
    assert not isinstance(either, list)
    assert isinstance(conseq.decode(array[None]), list)


def test_names_and_sub_packages_have_types(tmp_path: Path) -> None:
    corpus = addresses(12)
    labeller = conseq.SequenceLabeller(n_jobs=1, training=conseq.Training(max_iterations=2)).fit(corpus)
    assert_type(labeller, conseq.SequenceLabeller)
    assert_type(labeller.training, conseq.Training)
    assert_type(labeller.rules.folds, int)
    assert_type(conseq.evaluate(corpus, labeller.predict(corpus)), conseq.Report)
    labeller.save(tmp_path / "a.model")
    assert_type(conseq.load(tmp_path / "a.model"), conseq.Labeller)
    recipe = conseq.Recipe(["only-one"], learner="log-ratio")
    assert_type(conseq.learn_rules(labeller, corpus, folds=2, recipe=recipe), conseq.Learned)
    assert conseq.mining.FAMILIES
    assert conseq.metrics.evaluate is conseq.evaluate
