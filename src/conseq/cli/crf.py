"""`conseq train --model-type crf`: the options of a conditional random field, and how one is trained."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from conseq.cli.features import DEFAULT, chosen_features, read_lexicons
from conseq.cli.grouping import arguments_of
from conseq.cli.options import FEATURES, FOLDS, MODEL, READING, TRAINING, option
from conseq.cli.outcome import misused
from conseq.cli.reading import as_read, load_crf, read_labelled, stream_labelled
from conseq.cli.rule_table import to_dict
from conseq.cli.rules import LEARN, RecipeOptions
from conseq.cli.show import percent
from conseq.errors import ConseqError, counted
from conseq.options import Training

if TYPE_CHECKING:
    from conseq.cli.progress import TrainingLine
    from conseq.cli.train import Task
    from conseq.corpus import Corpus
    from conseq.labeller import SequenceLabeller
    from conseq.shards import Shards


Algorithm = Literal["lbfgs", "ap", "adagrad"]

STATUS = {"limit": "reached --max-iterations", "line search": "no further descent"}
"""How training ended, where the command has other words for it."""


@dataclass(frozen=True)
class CRFOptions:
    """What is said about a conditional random field."""

    dev: str | None = option(
        None, READING, "DEV",
        "Labelled data that training does not see; the weights that do best on it are kept.",
    )  # fmt: skip
    features: str | None = FEATURES
    template: str | None = option(None, MODEL, "FILE", "A CRF++ template file, in place of --features.")
    lexicon: list[str] | None = option(
        None, MODEL, "NAME=FILE", "A list of phrases, one per line, as a feature; may be given several times."
    )
    min_count: int = option(Training.min_count, MODEL, "N", "Leave out attributes seen less often.", min=0)
    folds: int = FOLDS
    algorithm: Algorithm = option(
        "lbfgs", TRAINING, Algorithm,
        "L-BFGS, the averaged perceptron (which makes no use of --c2) or AdaGrad; --c1 needs lbfgs.",
    )  # fmt: skip
    c1: float = option(
        Training.c1, TRAINING, "X", "Weight of the L1 norm; above 0 the model is sparse.", min=0
    )
    c2: float = option(Training.c2, TRAINING, "X", "Weight of the squared L2 norm.", min=0)
    max_iterations: int | None = option(
        Training.max_iterations, TRAINING, "N",
        "Stop after N iterations; for ap and adagrad epochs, by default 10 and 20.", min=1,
    )  # fmt: skip
    delta: float = option(
        Training.delta, TRAINING, "X", "Stop when the objective improves by less than this share …", min=0
    )
    period: int = option(Training.period, TRAINING, "N", "… in N iterations.", min=1)
    seed: int = option(
        Training.random_state, TRAINING, "N",
        "Seed of the order in which ap and adagrad see the data, and of the folds.", min=0,
    )  # fmt: skip
    start: str | None = option(None, TRAINING, "MODEL", "Start from the weights of this model.", "--from")
    shard_tokens: int | None = option(
        None, TRAINING, "N",
        "For data larger than memory: keep it on disk, and at most N tokens in memory.", min=1,
    )  # fmt: skip
    scratch: str | None = option(
        None, TRAINING, "FOLDER",
        "Where --shard-tokens keeps the data until it is done; by default in the model's folder.",
    )  # fmt: skip

    model_type: ClassVar[str] = "crf"
    names: ClassVar[dict[str, str]] = {"seed": "random_state"}
    begins: ClassVar[str] = "finding features"
    unfinished: ClassVar[str] = "before training began"

    @property
    def rounds(self) -> tuple[int | None, str]:
        """How many rounds training has at most, and what a round is."""
        return self.max_iterations, "iteration" if self.algorithm == "lbfgs" else "epoch"

    def check(self, task: Task) -> None:
        """End if options do not go together."""
        learns = task.rules == LEARN
        if self.features is not None and self.template is not None:
            misused("--features and --template were both given; choose one")
        if learns and not self.folds and self.dev is None:
            misused("--folds 0 learns rules from development data alone; give it with --dev")
        if learns and self.folds and self.shard_tokens:
            misused(
                "with --shard-tokens rules are learned from development data alone; give --folds 0 and --dev"
            )
        if task.tune and self.shard_tokens:
            misused("--tune compares settings on samples in memory; do it without --shard-tokens, on a part")
        if self.scratch is not None and self.shard_tokens is None:
            misused("--scratch is where --shard-tokens keeps data; give both")

    def read(self, task: Task, stack: ExitStack) -> tuple[Corpus | Shards, Corpus | None]:
        """Training data, in memory or on disk, and development data."""
        corpus: Corpus | Shards
        if self.shard_tokens is None:
            corpus = read_labelled(task.data, task.reading)
        else:
            from conseq.shards import Shards

            parent = self.scratch or os.path.dirname(task.model) or "."
            folder = stack.enter_context(_scratch_folder(parent))
            corpus = Shards.write(stream_labelled(task.data, task.reading), folder, self.shard_tokens)
        alike = replace(task.reading, columns=as_read(corpus, task.reading)["columns"])
        return corpus, None if self.dev is None else read_labelled(self.dev, alike)

    def labeller(self, task: Task, corpus: Corpus | Shards) -> SequenceLabeller:
        """The labeller that is to be trained."""
        from conseq.features.presets import PRESETS
        from conseq.labeller import SequenceLabeller

        lexicons = read_lexicons(self.lexicon or [])
        own = arguments_of(self, SequenceLabeller)
        own |= chosen_features(self.features, self.template, lexicons, list(corpus.columns))
        preset = self.features or DEFAULT
        if task.tune and preset in PRESETS and self.template is None and not lexicons:
            own["features"] = preset  # by its name, so that others are tried
        return SequenceLabeller(
            lexicons=lexicons or None,
            scheme=task.reading.scheme,
            n_jobs=task.threads,
            constraints=task.rules,
            recipe=RecipeOptions().recipe(),
            **own,
        )

    def fit(
        self,
        labeller: SequenceLabeller,
        corpus: Corpus | Shards,
        development: Corpus | None,
        line: TrainingLine,
    ) -> None:
        """Train it; interrupted before it has learned anything, that goes on to the caller."""
        warm = None if self.start is None else load_crf(self.start, labeller.n_jobs, "--from")
        labeller.fit(corpus, development=development, warm=warm, watch=line.watch, stage=line.stage)
        training = labeller.report_.training
        if training.status == "interrupted" and not training.iterations:
            raise KeyboardInterrupt

    def cut_short(self, labeller: SequenceLabeller, task: Task) -> str | None:
        """A sentence if training was interrupted."""
        if labeller.report_.training.status == "interrupted":
            return f"interrupted; the best model so far is in {task.model}"
        if task.rules == LEARN and labeller.learned_ is None:
            return f"interrupted while rules were learned; the model in {task.model} has none"
        return None

    def result(self, labeller: SequenceLabeller) -> dict[str, Any]:
        """What is said of the trained model, as plain JSON values."""
        learned = labeller.learned_
        rules = {} if learned is None else {"constraints": to_dict(learned, None)}
        return {**labeller.report_.to_dict(), **rules}

    def facts(self, result: dict[str, Any]) -> list[tuple[str, str]]:
        """The same for people."""
        _, round = self.rounds
        ended = result["status"]
        facts = [
            ("features", f"{result['features']:,} on {counted(result['attributes'], 'attribute')}"),
            ("training", f"{counted(result['iterations'], round)}, {STATUS.get(ended, ended)}"),
            ("objective", f"{result['objective']:,.4f}"),
        ]
        if result["development"] is not None:
            where = f"kept {round} {result['best_iteration']}"
            facts.append(("dev F1", f"{percent(result['development'])} % ({where})"))
        if "constraints" in result:
            learned = result["constraints"]
            facts.append(("rules", f"{learned['count']:,} learned, of {learned['candidates']:,} candidates"))
        return facts


@contextmanager
def _scratch_folder(parent: str) -> Iterator[Path]:
    """A folder that is gone in the end, however it ends."""
    from conseq.temporary import temporary_path

    with temporary_path(Path(parent)) as folder:
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise ConseqError(f"{parent}: {error.strerror or error}; name a folder with --scratch") from None
        yield folder
