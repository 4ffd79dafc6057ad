"""`conseq train --model-type memory`: the options of a model that remembers, and how one is made."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from conseq.cli.grouping import arguments_of
from conseq.cli.options import option
from conseq.cli.outcome import misused
from conseq.cli.reading import read_labelled
from conseq.cli.rules import LEARN
from conseq.options import NeighbourOptions

if TYPE_CHECKING:
    from conseq.cli.progress import TrainingLine
    from conseq.cli.train import Task
    from conseq.corpus import Corpus
    from conseq.labeller import MemoryLabeller

MEMORY = "Memory (--model-type memory)"


Inference = Literal["csinf", "single"]
Metric = Literal["overlap", "mvdm", "jensen-shannon", "jeffrey"]
FeatureWeights = Literal["gain-ratio", "information-gain", "chi-squared", "shared-variance", "none"]
Voting = Literal["majority", "inverse-distance", "inverse-linear", "exponential-decay"]
Search = Literal["ib1", "igtree"]
"""Choices, as in `conseq.cli.options`."""


@dataclass(frozen=True)
class MemoryOptions:
    """What is said about a memory."""

    inference: Inference = option(
        "csinf", MEMORY, Inference,
        "Classify into trigrams of labels and reconcile them, or each token by itself.",
    )  # fmt: skip
    sharpness: float = option(
        1.0, MEMORY, "X",
        "With csinf, weights of predicted trigrams to this power; a higher one trusts agreement more.",
    )  # fmt: skip
    metric: Metric = option(
        "overlap", MEMORY, Metric, "How far apart values are: equal or not, or by the labels they go with."
    )
    weights: FeatureWeights = option(
        "gain-ratio", MEMORY, FeatureWeights, "What makes one feature count more than another."
    )
    k: int = option(NeighbourOptions.k, MEMORY, "N", "Nearest distances that vote.", "-k", min=1)
    voting: Voting = option("majority", MEMORY, Voting, "How much the vote of a neighbour weighs.")
    search: Search = option(
        "ib1", MEMORY, Search, "Exact search for neighbours, or one quick descent of a tree."
    )
    threshold: int = option(
        NeighbourOptions.threshold, MEMORY, "N",
        "Values seen less often are only equal or not, whatever the metric.", min=1,
    )  # fmt: skip
    window: int = option(3, MEMORY, "N", "How many tokens to the left and right are seen.", min=0)

    model_type: ClassVar[str] = "memory"
    names: ClassVar[dict[str, str]] = {"metric": "distance", "search": "algorithm"}
    begins: ClassVar[str] = "remembering"
    unfinished: ClassVar[str] = "before all was remembered"
    rounds: ClassVar[tuple[int | None, str]] = None, "step"

    def check(self, task: Task) -> None:
        """End if options do not go together."""
        if task.rules == LEARN:
            misused("--constraints learn is for --model-type crf; give a file of rules")

    def read(self, task: Task, stack: ExitStack) -> tuple[Corpus, None]:
        """Training data; there is no use for development data."""
        return read_labelled(task.data, task.reading), None

    def labeller(self, task: Task, corpus: Corpus) -> MemoryLabeller:
        """The labeller that is to remember."""
        from conseq.labeller import MemoryLabeller

        own = arguments_of(self, MemoryLabeller)
        return MemoryLabeller(scheme=task.reading.scheme, n_jobs=task.threads, constraints=task.rules, **own)

    def fit(self, labeller: MemoryLabeller, corpus: Corpus, development: None, line: TrainingLine) -> None:
        """Remember the data."""
        labeller.fit(corpus)

    def cut_short(self, labeller: MemoryLabeller, task: Task) -> None:
        """It remembers all or nothing."""

    def result(self, labeller: MemoryLabeller) -> dict[str, Any]:
        """What is said of the memory, as plain JSON values: the keys of every model, and its own."""
        report = labeller.report_
        size = {"features": len(report.weights), "attributes": sum(map(len, labeller.windows_.vocabularies))}
        return {"iterations": 0, "evaluations": 0, "objective": None, **size, **report.to_dict()}

    def facts(self, result: dict[str, Any]) -> list[tuple[str, str]]:
        """The same for people."""
        heaviest = sorted(result["weights"].items(), key=lambda item: -item[1])[:5]
        return [
            ("memory", f"{result['distinct']:,} different windows, {result['classes']:,} classes"),
            ("weights", ", ".join(f"{name} {weight:.3f}" for name, weight in heaviest) + " …"),
        ]
