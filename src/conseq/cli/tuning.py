"""`conseq train --tune`: options chosen on growing samples of the training data, before training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conseq.cli.clock import Clock
from conseq.cli.outcome import say
from conseq.cli.show import percent

if TYPE_CHECKING:
    from conseq.cli.progress import TrainingLine
    from conseq.labeller import Labeller
    from conseq.optimise.progressive import Trial


@dataclass(frozen=True)
class Tuned:
    """The options chosen, their score on held-out data, of how many settings, and the seconds it took."""

    options: dict[str, Any]
    score: float | None
    settings: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        return {"options": self.options, "score": self.score, "settings": self.settings}


def tune_on(labeller: Labeller, corpus: Any, line: TrainingLine) -> Tuned:
    """Choose options of a labeller and set them; interrupted, those that were best so far."""
    from conseq.labeller.tuning import tune

    clock = Clock()

    def watch(trial: Trial[Any]) -> None:
        score = "" if trial.score is None else f" · {line.metric} {percent(trial.score)} %"
        line.enter(f"trying settings · round {trial.round} · {trial.done} of {trial.of}{score}")

    line.enter("trying settings")
    best, search = tune(labeller, corpus, watch=watch)
    if search.status == "interrupted":
        say("interrupted while settings were tried; going on with the best so far")
    labeller.set_params(**best)
    settings = len(search.rounds[0].trials) if search.rounds else 1
    return Tuned(best, search.score, settings, clock.seconds())


def tuned_sentence(tuned: dict[str, Any]) -> str:
    """What was chosen.

    >>> tuned_sentence({"options": {"c1": 0.0, "c2": 0.1}, "score": 0.9, "settings": 12})
    'c1 0.0, c2 0.1 (best of 12 settings)'
    """
    options = ", ".join(f"{name} {value}" for name, value in tuned["options"].items())
    return f"{options} (best of {tuned['settings']} settings)"
