"""A pattern that Python's `re` needs ages for is found at once wherever one can be given."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import conseq
from conseq.errors import RuleError, TemplateError
from conseq.features import FeatureExtractor

SLOW = "(a+)+$"
WORD = "a" * 10_000
SEQUENCES = [["x", WORD + "b", "y"], [WORD, "y"]]
LABELS = [["A", "A", "B"], ["A", "B"]]


@pytest.fixture(autouse=True)
def in_a_moment():
    """Nothing here takes long, apart from compiling kernels."""
    start = time.perf_counter()
    yield
    assert time.perf_counter() - start < 60


def test_rules_search_in_linear_time() -> None:
    [rule] = conseq.parse_constraints(f"each A contains /{SLOW}/  hard")
    corpus = conseq.Corpus.from_sequences(SEQUENCES)
    start = time.perf_counter()
    assert rule.test.mask(corpus).tolist() == [False, False, False, True, False]
    assert time.perf_counter() - start < 1


def test_templates_search_in_linear_time() -> None:
    corpus = conseq.Corpus.from_sequences(SEQUENCES, labels=LABELS)
    start = time.perf_counter()
    extractor, _ = FeatureExtractor.learn(corpus, [f"match(/{SLOW}/)[0]"])
    assert extractor.names() == [f"match(/{SLOW}/)[0]=1"]
    assert time.perf_counter() - start < 1


def test_loaded_models_search_in_linear_time(tmp_path: Path) -> None:
    training = conseq.Training(max_iterations=5)
    labeller = conseq.SequenceLabeller(
        features=["word[0]", f"match(/{SLOW}/)[0]"],
        constraints=f"each A contains /{SLOW}/  penalty 3",
        training=training,
        n_jobs=1,
    )
    labeller.fit(SEQUENCES, LABELS).save(tmp_path / "model.conseq")
    loaded = conseq.load(tmp_path / "model.conseq")
    expected = labeller.predict(SEQUENCES)
    start = time.perf_counter()
    assert loaded.predict(SEQUENCES) == expected
    assert time.perf_counter() - start < 1


def test_patterns_that_cannot_be_searched_for_are_refused_with_their_place() -> None:
    with pytest.raises(RuleError, match=r"line 2, column 17: the pattern .* refers back to a group"):
        conseq.parse_constraints("no A before B  hard\neach A contains /(a)\\1/  hard")
    with pytest.raises(TemplateError, match=r"template 1, column 1: the pattern .* is too large"):
        FeatureExtractor.learn(conseq.Corpus.from_sequences(SEQUENCES), ["match(/x{1,99999}/)[0]"])
