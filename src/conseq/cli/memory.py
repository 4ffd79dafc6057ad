"""`conseq train --model-type memory`: the options of a model that remembers, and how one is made."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

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


class Inference(StrEnum):
    """What a memory-based model classifies tokens into: trigrams of labels, reconciled then, or labels."""

    csinf = "csinf"
    single = "single"


class Metric(StrEnum):
    overlap = "overlap"
    mvdm = "mvdm"
    jensen_shannon = "jensen-shannon"
    jeffrey = "jeffrey"


class FeatureWeights(StrEnum):
    gain_ratio = "gain-ratio"
    information_gain = "information-gain"
    chi_squared = "chi-squared"
    shared_variance = "shared-variance"
    none = "none"


class Voting(StrEnum):
    majority = "majority"
    inverse_distance = "inverse-distance"
    inverse_linear = "inverse-linear"
    exponential_decay = "exponential-decay"


class Search(StrEnum):
    ib1 = "ib1"
    igtree = "igtree"


@dataclass(frozen=True)
class MemoryOptions:
    """What is said about a memory."""

    inference: Annotated[
        Inference,
        option(
            MEMORY, Inference, "Classify into trigrams of labels and reconcile them, or each token by itself."
        ),
    ] = Inference.csinf  # fmt: skip
    sharpness: Annotated[
        float,
        option(
            MEMORY, "X",
            "With csinf, weights of predicted trigrams to this power; a higher one trusts agreement more.",
        ),
    ] = 1.0  # fmt: skip
    metric: Annotated[
        Metric,
        option(MEMORY, Metric, "How far apart values are: equal or not, or by the labels they go with."),
    ] = Metric.overlap
    weights: Annotated[
        FeatureWeights, option(MEMORY, FeatureWeights, "What makes one feature count more than another.")
    ] = FeatureWeights.gain_ratio
    k: Annotated[int, option(MEMORY, "N", "Nearest distances that vote.", "-k", min=1)] = NeighbourOptions.k
    voting: Annotated[Voting, option(MEMORY, Voting, "How much the vote of a neighbour weighs.")] = (
        Voting.majority
    )
    search: Annotated[
        Search, option(MEMORY, Search, "Exact search for neighbours, or one quick descent of a tree.")
    ] = Search.ib1
    threshold: Annotated[
        int,
        option(MEMORY, "N", "Values seen less often are only equal or not, whatever the metric.", min=1),
    ] = NeighbourOptions.threshold
    window: Annotated[int, option(MEMORY, "N", "How many tokens to the left and right are seen.", min=0)] = 3

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

        neighbours = NeighbourOptions(
            str(self.metric), str(self.weights), self.k, str(self.voting), str(self.search),
            threshold=self.threshold,
        )  # fmt: skip
        return MemoryLabeller(
            window=self.window,
            inference=str(self.inference),
            sharpness=self.sharpness,
            scheme=str(task.reading.scheme),
            n_jobs=task.threads,
            neighbours=neighbours,
            constraints=task.rules,
        )

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
