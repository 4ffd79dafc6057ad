"""`conseq mine`: labelled data ─→ a file of rules with penalties, and a report of what they do."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from conseq.cli.clock import Clock, peak_mb
from conseq.cli.crf import CRFOptions
from conseq.cli.grouping import grouped
from conseq.cli.options import (
    AS_JSON,
    FEATURES,
    FOLDS,
    READING,
    REQUIRED,
    THREADS,
    TrainData,
    TrainReading,
    option,
)
from conseq.cli.outcome import misused, told_if_interrupted
from conseq.cli.progress import training_line
from conseq.cli.reading import load_crf
from conseq.cli.rule_table import show_rules, to_dict
from conseq.cli.rules import PANEL, RecipeOptions
from conseq.cli.show import show, show_json
from conseq.cli.train import Task, check_writable


@grouped
def mine(
    *,
    data: TrainData,
    output: str = option(REQUIRED, None, "RULES", "The rule file to write.", "--output", "-o"),
    dev: str | None = option(
        None, READING, "DEV", "More labelled data; with --folds 0 the rules are learned from it alone."
    ),
    model: str | None = option(
        None, READING, "MODEL",
        "A model trained on TRAIN whose mistakes the rules should mend; without it one is trained.",
        "--model", "-m",
    ),
    reading: TrainReading,
    features: str | None = FEATURES,
    folds: int = FOLDS,
    asked: RecipeOptions,
    effects: bool = option(True, PANEL, None, "Measure what leaving out each rule does."),
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:  # fmt: skip
    """Learn rules and their penalties from labelled data.

    They are written to a file to read and edit.

    The file is given to `conseq label`, `evaluate` and `train` with --constraints; a model need not be
    trained again for it. `conseq train --constraints learn` does both at once.

    \b
    Examples:
      conseq mine train.tsv -o fields.rules
      conseq mine train.tsv --dev dev.tsv --model fields.model -o fields.rules
      conseq mine train.tsv --dev dev.tsv --folds 0 --penalties svm -o fields.rules
      conseq mine addresses.tsv --families all --importance 2 -o addresses.rules
    """
    clock = Clock()
    recipe = asked.recipe()
    if not folds and dev is None:
        misused("--folds 0 learns rules from development data alone; give it with --dev")
    check_writable(output, data, dev, model)
    task = Task(data, output, reading, None, False, threads)
    with told_if_interrupted(f"; {output} was not written"), training_line() as line:
        from conseq.io.atomic import emit
        from conseq.labeller.learning import gather
        from conseq.mining import learn_from
        from conseq.mining.report import report_on

        crf = CRFOptions(dev=dev, features=features, folds=folds)  # as `train` has it
        labeller = None if model is None else load_crf(model, threads, "mining")
        if labeller is not None:
            task = replace(task, reading=task.reading.of_model(labeller))
        corpus, development = crf.read(task, ExitStack())
        labeller = crf.labeller(task, corpus) if labeller is None else labeller
        labeller.recipe, labeller.folds = recipe, folds
        evidence = gather(labeller, corpus, development, watch=line.watch, stage=line.stage)
        learned = learn_from(evidence, recipe, line.stage)
        rules = learned.constraints
        line.enter("measuring the rules")
        report = report_on(
            evidence, rules, effects=effects,
            watch=lambda k: line.enter(f"measuring rule {k} of {len(rules)}"),
        )  # fmt: skip
        emit(output, learned.to_text())
    if as_json:
        facts = {"rules_file": output, "peak_mb": peak_mb(), "seconds": clock.seconds()}
        show_json({**to_dict(learned, report), **facts})
        return
    show_rules(learned, report)
    show(f"\nWritten to {output}. Next: conseq evaluate MODEL TEST --constraints {output}", "dim")
