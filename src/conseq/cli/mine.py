"""`conseq mine`: labelled data ─→ a file of rules with penalties, and a report of what they do."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from conseq.cli.clock import Clock, peak_mb
from conseq.cli.features import chosen_features
from conseq.cli.options import (
    READING,
    AsJson,
    DataFormat,
    FeaturesOption,
    Folds,
    LabelScheme,
    Threads,
    TrainColumns,
    TrainData,
    TrainFormat,
    TrainScheme,
    TrainTokens,
)
from conseq.cli.outcome import INTERRUPTED, misused, say
from conseq.cli.progress import TrainingLine, training_line
from conseq.cli.reading import Reading, as_read, load_crf, read_labelled
from conseq.cli.rule_table import show_rules, to_dict
from conseq.cli.show import show
from conseq.cli.train import check_writable

if TYPE_CHECKING:
    from conseq.corpus import Corpus
    from conseq.labeller import SequenceLabeller
    from conseq.mining import Learned, Recipe
    from conseq.mining.report import RuleReport

RULES_PANEL = "Rules"


def mine(
    data: TrainData,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="RULES", help="The rule file to write.")
    ],
    dev: Annotated[
        str | None,
        typer.Option(
            metavar="DEV",
            help="More labelled data; with --folds 0 the rules are learned from it alone.",
            rich_help_panel=READING,
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", metavar="MODEL",
            help="A model trained on TRAIN whose mistakes the rules shall mend; without it one is trained.",
            rich_help_panel=READING, show_default=False,
        ),
    ] = None,
    columns: TrainColumns = None,
    format: TrainFormat = DataFormat.auto,
    tokens: TrainTokens = None,
    scheme: TrainScheme = LabelScheme.auto,
    features: FeaturesOption = None,
    families: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", rich_help_panel=RULES_PANEL, show_default=False,
            help="Kinds of rules, with commas between: only-one, hierarchical, pairwise, together, content, "
            "adjacency, precedence, state-change, begin-end, presence; or all.",
        ),
    ] = None,
    penalties: Annotated[
        str,
        typer.Option(
            metavar="perceptron|svm|log-ratio", help="How penalties are found.", rich_help_panel=RULES_PANEL
        ),
    ] = "perceptron",
    importance: Annotated[
        float,
        typer.Option(
            metavar="X", min=0, rich_help_panel=RULES_PANEL,
            help="Keep rules that the model breaks at least X times as often as the gold labels.",
        ),
    ] = 1.2,
    broken: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, rich_help_panel=RULES_PANEL,
            help="Keep rules that the model breaks in at least N sequences.",
        ),
    ] = 3,
    most: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, rich_help_panel=RULES_PANEL, show_default=False,
            help="Keep at most N rules, those that the model breaks most often.",
        ),
    ] = None,
    folds: Folds = 5,
    effects: Annotated[
        bool,
        typer.Option(help="Measure what leaving out each rule does.", rich_help_panel=RULES_PANEL),
    ] = True,
    threads: Threads = None,
    as_json: AsJson = False,
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
    from conseq.io.atomic import emit

    clock = Clock()
    recipe = replace(chosen_recipe(families, penalties, importance, broken), most=most)
    if not folds and dev is None:
        misused("--folds 0 learns rules from development data alone; give it with --dev")
    check_writable(output)
    try:
        with training_line("F1") as line:
            task = _task(data, dev, model, Reading(format, columns, tokens, scheme), features, threads)
            task.labeller.recipe, task.labeller.folds = recipe, folds
            learned, report = _learned(task, line, effects)
            emit(output, learned.to_text())
    except KeyboardInterrupt:
        say(f"interrupted; {output} was not written")
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        facts = {"rules_file": output, "peak_mb": peak_mb(), "seconds": clock.seconds()}
        print(json.dumps({**to_dict(learned, report), **facts}, ensure_ascii=False))
        return
    show_rules(learned, report)
    show(f"\nWritten to {output}. Next: conseq evaluate MODEL TEST --constraints {output}", "dim")


class _Task(NamedTuple):
    labeller: SequenceLabeller
    corpus: Corpus
    development: Corpus | None
    is_trained: bool


def _task(
    data: str, dev: str | None, model: str | None, reading: Reading, features: str | None, threads: int | None
) -> _Task:
    """The data, and the labeller whose mistakes the rules shall mend."""
    from conseq.labeller import SequenceLabeller

    labeller = None if model is None else load_crf(model, threads, "mining")
    reading = reading if labeller is None else reading.of_model(labeller)
    corpus = read_labelled(data, reading)
    alike = replace(reading, columns=as_read(corpus, reading)["columns"])
    development = None if dev is None else read_labelled(dev, alike)
    if labeller is not None:
        return _Task(labeller, corpus, development, True)
    chosen = chosen_features(features, None, {}, list(corpus.columns))
    labeller = SequenceLabeller(**chosen.options(), scheme=str(reading.scheme), threads=threads)
    return _Task(labeller, corpus, development, False)


def _learned(task: _Task, line: TrainingLine, effects: bool) -> tuple[Learned, RuleReport]:
    from conseq.labeller.learning import gather
    from conseq.mining import learn_rules
    from conseq.mining.report import report_on

    labeller = task.labeller
    if task.development is not None and not task.is_trained:
        labeller.fit(task.corpus, watch=line.watch)
        if labeller.report_.training.status == "interrupted":
            raise KeyboardInterrupt
    evidence = gather(labeller, task.corpus, task.development, watch=line.watch, stage=line.stage)
    learned = learn_rules(evidence, labeller.recipe, line.stage)
    rules = learned.constraints
    line.enter("measuring the rules")
    return learned, report_on(
        evidence, rules, effects=effects, watch=lambda k: line.enter(f"measuring rule {k} of {len(rules)}")
    )


def chosen_recipe(families: str | None, penalties: str, importance: float, broken: int) -> Recipe:
    """How rules are to be learned."""
    from conseq.mining import FAMILIES, LEARNERS, LOG_RATIO, Recipe, Screen

    recipe = Recipe(screen=Screen(importance=importance, broken=broken))
    if families is not None:
        names = list(FAMILIES) if families == "all" else [name.strip() for name in families.split(",")]
        unknown = [name for name in names if name not in FAMILIES]
        if unknown:
            misused(f"there is no family {unknown[0]!r} of rules; there are: {', '.join(FAMILIES)}")
        recipe = replace(recipe, families=tuple(names))
    if penalties == LOG_RATIO:
        return replace(recipe, learner=LOG_RATIO)
    if penalties not in LEARNERS:
        misused(f"there are no penalties {penalties!r}; choose one of {', '.join([*LEARNERS, LOG_RATIO])}")
    return replace(recipe, learner=LEARNERS[penalties]())
