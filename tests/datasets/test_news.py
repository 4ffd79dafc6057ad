"""Generated news: deterministic, well-formed, ambiguous where it should be."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter, defaultdict

import pytest

from conseq.datasets import news
from conseq.entities import types_of
from conseq.errors import DataError

SIGNATURES = {
    "work_for": ("person", "organisation"),
    "live_in": ("person", "place"),
    "orgbased_in": ("organisation", "place"),
    "located_in": ("place", "place"),
    "kill": ("person", "person"),
}


def test_the_same_seed_gives_the_same_sentences():
    assert news(80, seed=3)[:30] == news(30, seed=3)
    texts = {sentence.text for sentence in news(200, seed=0)}
    assert len(texts & {sentence.text for sentence in news(200, seed=1)}) < 5
    assert news(50, noise=0.0) != news(50, noise=0.5)


def test_the_order_of_sets_does_not_matter():
    code = "from conseq.datasets import news\nfrom hashlib import sha256\n"
    code += "print(sha256(repr(news(100)).encode()).hexdigest())"
    environment = {**os.environ, "PYTHONHASHSEED": "1234"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == hashlib.sha256(repr(news(100)).encode()).hexdigest()


@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_sentences_hold_together(noise):
    for sentence in news(400, seed=5, noise=noise):
        assert [sentence.text[a:b] for a, b in sentence.characters] == list(sentence.tokens)
        ends = [end for entity in sentence.entities for end in (entity.start, entity.end)]
        assert ends == sorted(ends), "entities stand in order and apart"
        pairs = [(relation.head, relation.tail) for relation in sentence.relations]
        assert len(set(pairs)) == len(pairs)
        for relation in sentence.relations:
            ends = sentence.entities[relation.head].type, sentence.entities[relation.tail].type
            assert ends == SIGNATURES[relation.type]


def test_everything_occurs_and_names_are_ambiguous():
    sentences = news(600)
    types = types_of(sentences)
    assert (set(types.entities), set(types.relations)) == (
        {"person", "organisation", "place"},
        set(SIGNATURES),
    )
    counts = Counter(relation.type for sentence in sentences for relation in sentence.relations)
    assert min(counts.values()) > 60
    assert sum(not sentence.relations for sentence in sentences) > 30
    kinds = defaultdict(set)
    for sentence in sentences:
        for entity in sentence.entities:
            kinds[sentence.cut(entity.start, entity.end)].add(entity.type)
    assert sum(len(found) == 3 for found in kinds.values()) > 10


def test_sizes_and_noise_are_checked():
    assert news(0) == []
    with pytest.raises(DataError, match="n must be 0 or more"):
        news(-1)
    with pytest.raises(DataError, match="give a number from 0 to 1"):
        news(1, noise=2)
