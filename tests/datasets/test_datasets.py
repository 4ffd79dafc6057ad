"""Every built-in data set: the same seed gives the same bytes, tokens fit their texts, sizes are checked."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from conseq import datasets
from conseq.corpus import Corpus
from conseq.errors import DataError
from conseq.tokens import by_words

EACH = pytest.mark.parametrize("name", datasets.names())


def digest(corpus: Corpus) -> str:
    """A fingerprint of all that a corpus holds."""
    assert corpus.source is not None
    parts = (corpus.source.texts, corpus.token_sequences(), corpus.label_sequences())
    return hashlib.sha256(repr(parts).encode() + corpus.source.characters.tobytes()).hexdigest()


@EACH
def test_the_same_seed_gives_the_same_corpus(name: str) -> None:
    assert digest(datasets.load(name, 200, seed=3)) == digest(datasets.load(name, 200, seed=3))


@pytest.mark.parametrize("hash_seed", ["0", "1234"])
def test_the_order_of_sets_does_not_matter(hash_seed: str) -> None:
    """String hashes differ from process to process; the corpora must not."""
    code = (
        "from hashlib import sha256; from conseq import datasets\n"
        "for name in datasets.names():\n"
        "    print(sha256(repr(datasets.load(name, 100).source.texts).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    out = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    expected = [
        hashlib.sha256(repr(datasets.load(name, 100).source.texts).encode()).hexdigest()  # type: ignore[union-attr]
        for name in datasets.names()
    ]
    assert out.stdout.split() == expected


@EACH
def test_a_smaller_sample_begins_a_larger_one(name: str) -> None:
    small, large = datasets.load(name, 30), datasets.load(name, 80)
    assert digest(small) == digest(large.select(range(30)))


@EACH
def test_seeds_differ_and_noise_shows(name: str) -> None:
    texts = datasets.load(name, 200, seed=0).source.texts
    assert len(set(texts) & set(datasets.load(name, 200, seed=1).source.texts)) < 5
    clean = datasets.load(name, 200, noise=0.0).source.texts
    assert texts != clean != datasets.load(name, 200, noise=0.5).source.texts


@EACH
@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_every_token_stands_in_its_text(name: str, noise: float) -> None:
    for sequence in datasets.load(name, 300, seed=5, noise=noise):
        assert [sequence.text[a:b] for a, b in sequence.characters] == sequence.tokens
        covered = "".join(sequence.tokens)
        assert covered == re.sub(r"\s", "", sequence.text)


@EACH
@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_tokens_are_those_of_the_default_tokeniser(name: str, noise: float) -> None:
    """A model trained here must meet the same tokens when a user types such a text."""
    for sequence in datasets.load(name, 500, seed=6, noise=noise):
        assert by_words(sequence.text) == sequence.characters


@EACH
@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_every_sequence_has_tokens_and_labelled_ones(name: str, noise: float) -> None:
    corpus = datasets.load(name, 500, seed=7, noise=noise)
    assert corpus.lengths.min() >= 2
    assert all(set(labels) - {"O", ""} for labels in corpus.label_sequences())
    assert all(text == text.strip() for text in corpus.source.texts)


@EACH
def test_held_out_samples_have_words_of_their_own(name: str) -> None:
    train, test = (
        {
            token.lower()
            for tokens in datasets.load(name, 300, seed=seed).token_sequences()
            for token in tokens
        }
        for seed in (0, 1)
    )
    assert 0.2 < len(test - train) / len(test) < 0.8


@EACH
@pytest.mark.parametrize("n", [0, 1])
def test_small_sizes(name: str, n: int) -> None:
    corpus = datasets.load(name, n)
    assert len(corpus) == n
    assert corpus.source.characters.shape == (corpus.n_tokens, 2)
    assert corpus.source.characters.dtype == np.int32


@EACH
def test_what_cannot_be_made_is_said_in_a_sentence(name: str) -> None:
    with pytest.raises(DataError, match="cannot make -1 examples; n must be 0 or more"):
        datasets.load(name, -1)
    with pytest.raises(DataError, match=r"noise 1\.5 is no share"):
        datasets.load(name, 1, noise=1.5)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(DataError, match="no data set 'poems'; choose one of citations, addresses"):
        datasets.load("poems", 1)
