"""Damaged files, read as the command line reads them.

seed, number ─→ a kind of file ─→ one that is fine ─→ damaged ─→ read it, do with it what a command would
    ─→ nothing, or a ConseqError: fine · any other exception: a traceback · no memory: a crash
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.mutate import mutated_model
from benchmarks.mutate_text import mutated_text
from benchmarks.random_rules import random_rules
from benchmarks.soak_crew import Findings, Task
from conseq import MemoryLabeller, SequenceLabeller
from conseq.cli.features import chosen_features
from conseq.cli.reading import load_model
from conseq.constraints import HARD
from conseq.constraints.language import format_constraints, read_constraints
from conseq.corpus import Corpus
from conseq.datasets import addresses, citations
from conseq.decoders.auto import decode_all
from conseq.decoders.base import Limits
from conseq.errors import ConseqError
from conseq.features import FeatureExtractor
from conseq.features.presets import PRESETS
from conseq.io import FORMATS, read, stream
from conseq.potentials import Potentials
from conseq.problem import Problems
from conseq.schema import Schema

Rng = np.random.Generator

LOUD = ("Traceback (most recent call last)", "internal error")
"""What nobody should find on standard error."""
TAGS = Schema(["O", "B-a", "I-a", "B-b", "I-b"], "bio")
WORDS = Corpus.from_sequences([["x", ",", "7", "x"], [], ["42"]])
RULES = 12
SEQUENCES = 8
CRFPP = """# words and tags
U00:%x[-1,0]
U01:%x[0,0]
U02:%x[0,0]/%x[1,0]
U03:%x[-1,1]/%x[0,1]
B
"""


@dataclass(frozen=True)
class Kind:
    """A kind of file: some that are fine, what reads them, how they are damaged."""

    suffix: str
    originals: Callable[[], list[bytes]]
    read: Callable[[Path, Rng], None]
    mutate: Callable[[Rng, bytes], bytes] = mutated_text


def run(task: Task) -> Findings:
    """Read one damaged file."""
    findings, (rng, name) = begun(task), _drawn(task)
    kind = KINDS[name]
    originals = kind.originals()
    data = kind.mutate(rng, originals[int(rng.integers(len(originals)))])
    with tempfile.TemporaryDirectory() as folder, heard(Path(folder) / "stderr") as loud:
        path = Path(folder) / f"input{kind.suffix}"
        path.write_bytes(data)
        try:
            kind.read(path, rng)
        except ConseqError:
            pass
        except MemoryError:
            findings.report("crashes", _last(), **findings.about)
        except Exception:
            findings.report("tracebacks", _last(), **findings.about)
        if said := loud():
            findings.report("tracebacks", said, **findings.about)
    return findings


def begun(task: Task) -> Findings:
    """What counts of a task even if it never ends."""
    findings = Findings(task)
    if task.part == "inputs":
        findings.about["file"] = name = _drawn(task)[1]
        findings.count("inputs")
        findings.count("models", name == "model")
    return findings


def _drawn(task: Task) -> tuple[Rng, str]:
    """The kind of file, and what draws the rest."""
    rng = np.random.default_rng(task.entropy)
    return rng, list(KINDS)[int(rng.integers(len(KINDS)))]


def _last() -> str:
    return traceback.format_exc(limit=-3)[-2000:]


@contextmanager
def heard(path: Path) -> Iterator[Callable[[], str]]:
    """What a block writes to standard error goes to a file; the function gives it if it is a traceback."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(path, "wb") as file:
        os.dup2(file.fileno(), 2)

    def loud() -> str:
        text = path.read_text(errors="replace") if path.stat().st_size else ""
        return text[-2000:] if any(sign in text for sign in LOUD) else ""

    try:
        yield loud
    finally:
        os.dup2(kept, 2)
        os.close(kept)


# ── files that are fine ─────────────────────────────────────────────────────────────────────────


def prepare() -> None:
    """Make all the files, before processes share them."""
    for kind in KINDS.values():
        kind.originals()


@cache
def _written(format: str) -> list[bytes]:
    return [
        FORMATS[format].format(corpus).encode() for corpus in (citations(3, seed=0), addresses(3, seed=0))
    ]


@cache
def _rules() -> list[bytes]:
    found = []
    for seed in range(4):
        rules = random_rules(np.random.default_rng(seed), TAGS, RULES, (0.5, 2.0, 1e6, HARD))
        found.append(format_constraints(rules).encode())
    return found


@cache
def _templates() -> list[bytes]:
    return [tokens.encode() for tokens, _, _ in PRESETS.values()]


@cache
def _models() -> list[bytes]:
    corpus = addresses(12, seed=0)
    rules = "if PlaceName then StateName  penalty 2\nat most 1 segment of StateName  hard\n"
    crf = SequenceLabeller(["word[-1..1]", "suffix(2)[0]"], constraints=rules, max_iterations=5, n_jobs=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        found = []
        for labeller in (crf, MemoryLabeller(n_jobs=1)):
            labeller.fit(corpus).save(path)
            found.append(path.read_bytes())
    return found


# ── what commands do with them ──────────────────────────────────────────────────────────────────


def _read_corpus(format: str, path: Path, rng: Rng) -> None:
    chosen = format if rng.random() < 0.7 else "auto"
    corpus = read(path, chosen)
    if corpus.labels is not None:
        Schema.infer(list(corpus.labels.vocabulary))
    for batch in stream(path, format, max_tokens=50):
        FORMATS["jsonl"].format(batch)


def _read_rules(path: Path, rng: Rng) -> None:
    rules = read_constraints(path, TAGS)
    format_constraints(rules)
    scores = Potentials.of(rng.normal(size=(WORDS.n_tokens, len(TAGS))), offsets=WORDS.offsets)
    decode_all(Problems.of(scores, TAGS, rules, WORDS), limits=Limits(seconds=1.0))


def _read_templates(path: Path, rng: Rng) -> None:
    chosen = chosen_features(str(path), None, {}, ["word"])
    FeatureExtractor.learn(WORDS, chosen["features"])


def _read_crfpp(path: Path, rng: Rng) -> None:
    chosen_features(None, str(path), {}, ["word", "pos"])


def _use_model(path: Path, rng: Rng) -> None:
    labeller = load_model(str(path), 1)
    labeller.label([["12", "Main", "Street", ",", "Springfield"], ["x"], []])


def _corpus_kind(format: str, suffix: str) -> Kind:
    return Kind(suffix, lambda: _written(format), lambda path, rng: _read_corpus(format, path, rng))


KINDS: dict[str, Kind] = {
    "columns": _corpus_kind("columns", ".tsv"),
    "jsonl": _corpus_kind("jsonl", ".jsonl"),
    "inline": _corpus_kind("inline", ".txt"),
    "text": _corpus_kind("text", ".txt"),
    "rules": Kind(".rules", _rules, _read_rules),
    "templates": Kind(".txt", _templates, _read_templates),
    "crfpp": Kind(".txt", lambda: [CRFPP.encode()], _read_crfpp),
    "model": Kind(
        ".conseq",
        _models,
        lambda path, rng: _use_model(path, rng),
        lambda rng, data: mutated_model(rng, data),
    ),
}
"""Every kind of file that a user gives."""
