"""`conseq train --tune`: options chosen on growing samples of the training data, before training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conseq.cli.outcome import say
from conseq.cli.progress import METRIC
from conseq.cli.show import percent

if TYPE_CHECKING:
    from conseq.cli.progress import TrainingLine
    from conseq.labeller import Labeller
    from conseq.optimise.progressive import Trial


def tune_on(labeller: Labeller, corpus: Any, line: TrainingLine, names: Mapping[str, str]) -> dict[str, Any]:
    """Choose options of a labeller and set them; interrupted, those that were best so far.

    names    command's name ─→ labeller's, where an option has two

    ─→ the options by the command's names, their score on held-out data, and of how many settings
    """
    from conseq.labeller.tuning import tune

    def watch(trial: Trial[Any]) -> None:
        score = "" if trial.score is None else f" · {METRIC} {percent(trial.score)} %"
        line.enter(f"trying settings · round {trial.round} · {trial.done} of {trial.of}{score}")

    line.enter("trying settings")
    best, search = tune(labeller, corpus, watch=watch)
    if search.status == "interrupted":
        say("interrupted while settings were tried; going on with the best so far")
    labeller.set_params(**best)
    settings = len(search.rounds[0].trials) if search.rounds else 1
    of_command = {own: name for name, own in names.items()}
    options = {of_command.get(name, name): value for name, value in best.items()}
    return {"options": options, "score": search.score, "settings": settings}


def tuned_sentence(tuned: dict[str, Any]) -> str:
    """What was chosen.

    >>> tuned_sentence({"options": {"c1": 0.0, "c2": 0.1}, "score": 0.9, "settings": 12})
    'c1 0.0, c2 0.1 (best of 12 settings)'
    """
    options = ", ".join(f"{name} {value}" for name, value in tuned["options"].items())
    return f"{options} (best of {tuned['settings']} settings)"
