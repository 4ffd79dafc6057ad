"""What the tests of the command line share: small data, a model trained on it, a way to run commands."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from conseq.cli import main

NAMES = ["Ann", "Bob", "Cleo", "Dora", "Emil", "Faye", "Gus", "Hana"]
FAMILIES = ["Lee", "Cau", "Brandt", "Okoro", "Silva"]
PLACES = ["Rome", "Oslo", "Lima", "Cairo", "Kyoto", "New York"]

Token = tuple[str, str, str]


def sentence(rng: random.Random) -> list[Token]:
    """Somebody is somewhere: (word, part of speech, BIO label) per token."""
    person = [rng.choice(NAMES), *([rng.choice(FAMILIES)] if rng.random() < 0.5 else [])]
    place = rng.choice(PLACES).split()
    verb = rng.choice(["visits", "likes", "leaves"])
    tokens = [(w, "NNP", "I-PER" if i else "B-PER") for i, w in enumerate(person)]
    tokens += [(verb, "VBZ", "O")]
    tokens += [(w, "NNP", "I-LOC" if i else "B-LOC") for i, w in enumerate(place)]
    return [*tokens, (".", ".", "O")]


def columns(sentences: Sequence[Sequence[Token]], width: int = 3) -> str:
    """Sentences as tab-separated columns, the first `width` of them."""
    return "".join("".join("\t".join(t[:width]) + "\n" for t in s) + "\n" for s in sentences)


def sentences(count: int, seed: int) -> list[list[Token]]:
    rng = random.Random(seed)
    return [sentence(rng) for _ in range(count)]


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """train.tsv, test.tsv (word, pos, label), bare.tsv (test without labels), chunk.model (from train)."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "train.tsv").write_text(columns(sentences(60, 1)))
    (folder / "test.tsv").write_text(columns(sentences(12, 2)))
    (folder / "bare.tsv").write_text(columns(sentences(12, 2), width=2))
    model = folder / "chunk.model"
    code = main(["train", str(folder / "train.tsv"), "--features", "ner", "-m", str(model), "--threads", "1"])
    assert code == 0
    return folder


@pytest.fixture
def model(data: Path) -> str:
    return str(data / "chunk.model")


@pytest.fixture
def run(outcome: Callable) -> Callable:
    """Run a command in this process: run("label", model, "-", stdin=b"…") ─→ exit code and what it wrote."""
    return partial(outcome, main)


COMMAND = [sys.executable, "-c", "import sys; from conseq.cli import main; sys.exit(main())"]
"""The command line as a process of its own."""


@pytest.fixture(scope="session")
def command() -> list[str]:
    return COMMAND


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands believe that a person looks at standard output."""
    from conseq.cli import demo, evaluate, label, show
    from conseq.cli.relations import evaluate as of_relations
    from conseq.cli.relations import label as in_sentences
    from conseq.cli.relations import scene

    for module in (demo, evaluate, label, show, of_relations, in_sentences, scene):
        monkeypatch.setattr(module, "on_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
