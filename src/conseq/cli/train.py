"""`conseq train`: labelled data ─→ a model file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from conseq.cli.clock import Clock, peak_mb
from conseq.cli.features import DEFAULT, chosen_features, read_lexicons
from conseq.cli.options import (
    MODEL,
    READING,
    TRAINING,
    Algorithm,
    AsJson,
    DataFormat,
    FeaturesOption,
    FeatureWeights,
    Folds,
    Inference,
    InferenceOption,
    LabelScheme,
    Metric,
    MetricOption,
    ModelType,
    NeighboursOption,
    Scratch,
    Search,
    SearchOption,
    ShardTokens,
    SharpnessOption,
    Threads,
    ThresholdOption,
    TrainColumns,
    TrainData,
    TrainFormat,
    TrainScheme,
    TrainTokens,
    Tune,
    Voting,
    VotingOption,
    WeightsOption,
    WindowOption,
    check_kind,
    one_of,
)
from conseq.cli.outcome import INTERRUPTED, misused, say
from conseq.cli.progress import training_line
from conseq.cli.reading import Reading, as_read, load_crf, read_labelled, stream_labelled
from conseq.cli.rule_table import to_dict
from conseq.cli.rules import LEARN, NONE, say_oddities, training_rules
from conseq.cli.show import counted, percent, show, show_facts, size
from conseq.cli.train_memory import MemoryOptions, remember
from conseq.cli.tuning import tune_on, tuned_sentence

if TYPE_CHECKING:
    from conseq.corpus import Corpus
    from conseq.labeller import FitReport, SequenceLabeller
    from conseq.shards import Shards


def train(
    ctx: typer.Context,
    data: TrainData,
    model: Annotated[
        str,
        typer.Option("--model", "-m", metavar="OUT", help="The model file to write.", rich_help_panel=MODEL),
    ],
    dev: Annotated[
        str | None,
        typer.Option(
            metavar="DEV",
            help="Labelled data that training does not see; the iterate that is best on it is kept.",
            rich_help_panel=READING,
            show_default=False,
        ),
    ] = None,
    columns: TrainColumns = None,
    format: TrainFormat = DataFormat.auto,
    tokens: TrainTokens = None,
    scheme: TrainScheme = LabelScheme.auto,
    model_type: Annotated[
        ModelType,
        typer.Option(metavar=one_of(ModelType), help="The kind of model.", rich_help_panel=MODEL),
    ] = ModelType.crf,
    features: FeaturesOption = None,
    template: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A template file of CRF++, in place of --features.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None,
    lexicon: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="A list of phrases, one a line, as a feature; may be given several times.",
            rich_help_panel=MODEL,
            show_default=False,
        ),
    ] = None,
    min_count: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Leave out attributes seen less often.", rich_help_panel=MODEL
        ),
    ] = 1,
    constraints: Annotated[
        str,
        typer.Option(
            metavar=f"none|{LEARN}|FILE",
            help="Rules that labels obey: a file with one a line, or learn, which finds rules and prices in "
            "the training data (see `conseq mine`).",
            rich_help_panel=MODEL,
        ),
    ] = NONE,
    folds: Folds = 5,
    algorithm: Annotated[
        Algorithm,
        typer.Option(
            metavar=one_of(Algorithm),
            help="L-BFGS, the averaged perceptron (which makes no use of --c2) or AdaGrad; --c1 needs lbfgs.",
            rich_help_panel=TRAINING,
        ),
    ] = Algorithm.lbfgs,
    c1: Annotated[
        float,
        typer.Option(
            metavar="X", min=0, help="Weight of the L1 norm; above 0 the model is sparse.",
            rich_help_panel=TRAINING,
        ),
    ] = 0.0,
    c2: Annotated[
        float,
        typer.Option(metavar="X", min=0, help="Weight of the squared L2 norm.", rich_help_panel=TRAINING),
    ] = 0.1,
    max_iterations: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Stop after so many; for ap and adagrad epochs, 10 and 20 unless given.",
            rich_help_panel=TRAINING,
            show_default=False,
        ),
    ] = None,
    delta: Annotated[
        float,
        typer.Option(
            metavar="X",
            min=0,
            help="Stop when the objective improved by less than this share …",
            rich_help_panel=TRAINING,
        ),
    ] = 1e-5,
    period: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="… in so many iterations.", rich_help_panel=TRAINING),
    ] = 10,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Decides the order in which ap and adagrad see the data.",
            rich_help_panel=TRAINING,
        ),
    ] = 0,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="MODEL",
            help="Start from the weights of this model.",
            rich_help_panel=TRAINING,
            show_default=False,
        ),
    ] = None,
    shard_tokens: ShardTokens = None,
    scratch: Scratch = None,
    tune: Tune = False,
    inference: InferenceOption = Inference.csinf,
    sharpness: SharpnessOption = 1.0,
    metric: MetricOption = Metric.overlap,
    weights: WeightsOption = FeatureWeights.gain_ratio,
    k: NeighboursOption = 1,
    voting: VotingOption = Voting.majority,
    search: SearchOption = Search.ib1,
    threshold: ThresholdOption = 1,
    window: WindowOption = 3,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Learn from labelled data and write a model.

    Ctrl-C ends training early and keeps what was learned so far.

    \b
    Examples:
      conseq train train.tsv --dev dev.tsv --features ner -m ner.model
      conseq train train.tsv --columns word,pos,label --template chunking.template -m chunk.model
      conseq train tagged.txt --format inline --c2 0.5 -m fields.model
      conseq train tagged.txt --constraints fields.rules -m fields.model
      conseq train train.tsv --constraints learn -m ruled.model
      conseq train train.tsv --algorithm ap --max-iterations 5 -m quick.model
      conseq train more.tsv --from ner.model --features ner -m better.model
      conseq train huge.tsv --shard-tokens 1000000 -m huge.model
      conseq train train.tsv --tune -m tuned.model
      conseq train letters.tsv --model-type memory --metric mvdm -k 5 -m phonemes.model
    """
    check_kind(ctx, str(model_type))
    if model_type is ModelType.memory:
        chosen = MemoryOptions(
            str(inference),
            sharpness,
            str(metric),
            str(weights),
            k,
            str(voting),
            str(search),
            threshold,
            window,
            str(scheme),
            threads,
        )
        with _told_if_interrupted("before all was remembered"):
            check_writable(model)
            reading = Reading(format, columns, tokens, scheme)
            remember(ctx, data, reading, chosen, constraints, tune, model, as_json)
        return  # fmt: skip
    if features is not None and template is not None:
        misused("--features and --template were both given; choose one")
    rules = training_rules(constraints)
    if rules == LEARN and not folds and dev is None:
        misused("--folds 0 learns rules from development data alone; give it with --dev")
    if rules == LEARN and folds and shard_tokens:
        misused("with --shard-tokens rules are learned from development data alone; give --folds 0 and --dev")
    if tune and shard_tokens:
        misused("--tune compares settings on samples in memory; do it without --shard-tokens, on a part")
    if scratch is not None and shard_tokens is None:
        misused("--scratch is where --shard-tokens keeps data; give both")
    with _told_if_interrupted(BEFORE):
        check_writable(model)
    reading = Reading(format, columns, tokens, scheme)
    with (
        _told_if_interrupted(BEFORE),
        training_line("F1", max_iterations, algorithm.round) as line,
        ExitStack() as stack,
    ):
        clock = Clock()
        if shard_tokens is None:
            corpus: Corpus | Shards = read_labelled(data, reading)
        else:
            folder = stack.enter_context(_scratch_folder(scratch or os.path.dirname(model) or "."))
            corpus = _shards(data, reading, folder, shard_tokens)
        remembered = as_read(corpus, reading)
        alike = Reading(format, remembered["columns"], tokens, scheme)
        development = None if dev is None else read_labelled(dev, alike)
        seconds_read = clock.seconds()
        line.enter("finding features")
        labeller = _labeller(
            corpus, features, template, lexicon or [],
            algorithm=str(algorithm), c1=c1, c2=c2, max_iterations=max_iterations, delta=delta, period=period,
            seed=seed, min_count=min_count, scheme=str(scheme), constraints=rules, folds=folds,
            threads=threads,
        )  # fmt: skip
        tuned = None
        if tune:
            if template is None and not lexicon:
                labeller.features = features or DEFAULT
            tuned = tune_on(labeller, corpus, line)
            line.enter("finding features")
        warm = None if start is None else load_crf(start, threads, "--from")
        labeller.fit(corpus, development=development, warm=warm, watch=line.watch, stage=line.stage)
        _check_interrupted(labeller.report_)
        labeller.input_ = remembered
        line.enter("writing the model")
        with _told_if_interrupted(AFTER):
            labeller.save(model)
    if labeller.report_.training.status == "interrupted":
        say(f"interrupted; the best model so far is in {model}")
    elif rules == LEARN and labeller.learned_ is None:
        say(f"interrupted while rules were learned; the model in {model} has none")
    elif rules != LEARN:
        say_oddities(labeller)
    seconds = {"read": seconds_read, **labeller.report_.seconds}
    if tuned is not None:
        seconds["tune"] = tuned.seconds
    result = {**labeller.report_.to_dict(), "peak_mb": peak_mb(), "model": model}
    result["seconds"] = {**seconds, "total": (ctx.obj or clock).seconds()}
    if tuned is not None:
        result["tuned"] = tuned.to_dict()
    if labeller.learned_ is not None:
        result["constraints"] = to_dict(labeller.learned_, None)
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        _show(result, corpus, algorithm)


BEFORE, AFTER = "before training began", "after training"


@contextmanager
def _told_if_interrupted(when: str) -> Iterator[None]:
    """Say that there is no model if the block is interrupted; training itself ends early instead."""
    try:
        yield
    except KeyboardInterrupt:
        _end_without_model(when)


class _Enough(Exception):
    pass


def check_writable(path: str) -> None:
    """Raise at once if a file could not be written there in the end."""
    from conseq.io import atomic_write

    with suppress(_Enough), atomic_write(path):
        raise _Enough


def _scratch_folder(parent: str) -> TemporaryDirectory[str]:
    """A folder that is gone in the end, however it ends."""
    try:
        return TemporaryDirectory(prefix="conseq-", dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        from conseq.errors import ConseqError

        raise ConseqError(f"{parent}: {error.strerror or error}; name a folder with --scratch") from None


def _shards(path: str, reading: Reading, folder: str, tokens: int) -> Shards:
    from conseq.shards import Shards

    return Shards.write(stream_labelled(path, reading), folder, tokens)


def _labeller(
    corpus: Corpus | Shards, features: str | None, template: str | None, lexicon: list[str], **options: Any
) -> SequenceLabeller:
    from conseq.labeller import SequenceLabeller

    lexicons = read_lexicons(lexicon)
    chosen = chosen_features(features, template, lexicons, list(corpus.columns))
    return SequenceLabeller(**chosen.options(), lexicons=lexicons or None, **options)


def _check_interrupted(report: FitReport) -> None:
    """End without a model if training was interrupted before it had learned anything."""
    if report.training.status == "interrupted" and not report.training.iterations:
        _end_without_model(BEFORE)


def _end_without_model(when: str) -> NoReturn:
    say(f"interrupted {when}; no model was written")
    raise typer.Exit(INTERRUPTED) from None


_STATUS = {
    "converged": "converged",
    "limit": "reached --max-iterations",
    "interrupted": "interrupted",
    "line search": "no further descent",
    "stopped": "stopped",
}


def _show(result: dict[str, Any], corpus: Corpus | Shards, algorithm: Algorithm) -> None:
    from conseq.shards import Shards

    sequences = corpus.n_sequences if isinstance(corpus, Shards) else len(corpus)
    held = [(sequences, "sequence"), (corpus.n_tokens, "token"), (result["labels"], "label")]
    facts = [
        ("data", ", ".join(counted(*kind) for kind in held)),
        ("features", f"{result['features']:,} on {counted(result['attributes'], 'attribute')}"),
        ("training", f"{counted(result['iterations'], algorithm.round)}, {_STATUS[result['status']]}"),
        ("objective", f"{result['objective']:,.4f}"),
    ]
    if result["development"] is not None:
        where = f"kept {algorithm.round} {result['best_iteration']}"
        facts.append(("dev F1", f"{percent(result['development'])} % ({where})"))
    if "tuned" in result:
        facts.insert(1, ("tuned", tuned_sentence(result["tuned"])))
    if "constraints" in result:
        learned = result["constraints"]
        facts.append(("rules", f"{learned['count']:,} learned, of {learned['candidates']:,} candidates"))
    facts += [
        ("time", _time(result["seconds"])),
        ("model", f"{result['model']} ({size(os.path.getsize(result['model']))})"),
    ]
    show_facts(facts, title="Trained.")
    show(f"\nNext: conseq label {result['model']} FILE", "dim")


def _time(seconds: dict[str, float]) -> str:
    """The seconds of the parts, as they add up to those of the whole.

    >>> _time({"read": 0.26, "features": 0.5, "train": 3.0, "total": 5.0})
    '5.0 s (read 0.3, features 0.5, train 3.0, start-up, compiling and writing 1.2)'
    """
    parts = {
        name: round(seconds[name], 1)
        for name in ("read", "tune", "features", "train", "rules")
        if name in seconds
    }
    rest = max(0.0, round(seconds["total"], 1) - sum(parts.values()))
    shown = [f"{name} {part:.1f}" for name, part in parts.items()]
    return f"{seconds['total']:.1f} s ({', '.join(shown)}, start-up, compiling and writing {rest:.1f})"
