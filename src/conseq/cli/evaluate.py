"""`conseq evaluate`: a model and labelled data ─→ scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from conseq.cli.compiling import told
from conseq.cli.grouping import grouped
from conseq.cli.options import (
    AS_JSON,
    COLUMNS,
    OUTPUT,
    READING,
    THREADS,
    TOKENS,
    DataFormat,
    ModelFile,
    Tokens,
    option,
)
from conseq.cli.outcome import say
from conseq.cli.reading import Reading, load_model, read_gold
from conseq.cli.rules import Decoding
from conseq.cli.show import fits, on_terminal, percent, show, show_facts, show_json, show_table
from conseq.cli.summary import Summary, decode_all

if TYPE_CHECKING:
    from conseq.metrics import Confusion, Interval, Report

MOST_CONFUSIONS = 5
MOST_LISTED = 40
MOST_RULES = 20
MOST_LABELS = 24
"""Of more labels than this the matrix of confusions is not shown, but listed."""


@grouped
def evaluate(
    *,
    model: ModelFile,
    data: Annotated[str, typer.Argument(metavar="TEST", help="Labelled data; `-` is standard input.")],
    columns: str | None = COLUMNS,
    format: DataFormat = option("auto", READING, DataFormat, "How the data is written."),
    tokens: Tokens | None = TOKENS,
    decoding: Decoding,
    confusion: bool = option(False, OUTPUT, None, "Which label was taken for which.", "--confusion"),
    bootstrap: int = option(
        0, OUTPUT, "N",
        "A 95 % interval of the F1 of segments, from N samples of the sequences.", min=0, show_default=False,
    ),
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:  # fmt: skip
    """Compare a model's labels with the labels of test data.

    Segments count as conlleval counts them: right if first token, last token and type are right.

    \b
    Examples:
      conseq evaluate ner.model test.tsv
      conseq evaluate ner.model test.tsv --bootstrap 1000 --confusion
      conseq evaluate fields.model test.tsv --constraints fields.rules
      conseq evaluate ner.model test.tsv --json
    """
    from conseq.metrics import bootstrap as resampled
    from conseq.metrics import evaluate_ids

    labeller = decoding.of_model(load_model(model, threads))
    corpus = read_gold(data, Reading(format, columns, tokens).of_model(labeller))
    gold, schema = labeller.gold_ids(corpus)
    unseen = schema.labels[len(labeller.schema_) :]
    if unseen:
        say(f"note: the model never saw {', '.join(map(repr, unseen))}; such tokens count as mistakes")
    with told():
        predicted, summary = decode_all(labeller, corpus)
    report = evaluate_ids(gold, predicted, corpus.offsets, schema)
    interval = None
    if bootstrap:
        right, found = (corpus.split(schema.decode(ids)) for ids in (gold, predicted))
        interval = resampled(right, found, schema, samples=bootstrap)
    if as_json:
        show_json(_as_dict(report, summary, interval, confusion))
    else:
        _show(report, summary, interval, confusion)


def _as_dict(report: Report, summary: Summary, interval: Interval | None, confusion: bool) -> dict[str, Any]:
    result = {**report.to_dict(), "decoding": summary.to_dict()}
    if interval is not None:
        result["interval"] = list(interval)
    if confusion:
        table = report.confusion
        result["confusion"] = {"labels": list(table.labels), "matrix": table.matrix.tolist()}
    return result


def _show(report: Report, summary: Summary, interval: Interval | None, confusion: bool) -> None:
    show_scores(report)
    total = report.span.total
    between = "" if interval is None else f"  (95 %: {percent(interval.low)} – {percent(interval.high)})"
    show_facts(
        [
            ("segments", f"F1 {percent(total.f1)} %{between}"),
            ("tokens", f"{percent(report.accuracy)} % right of {report.tokens:,}"),
            (
                "sequences",
                f"{percent(report.sequence_accuracy)} % without a mistake of {summary.sequences:,}",
            ),
            (
                "labels",
                f"micro F1 {percent(report.token.micro.f1)} %, macro F1 {percent(report.token.macro.f1)} %",
            ),
            ("decoding", summary.sentence()),
            ("speed", f"{summary.tokens_per_second:,.0f} tokens a second"),
        ]
    )
    _show_rules(summary)
    worst = report.confusion.top(MOST_CONFUSIONS)
    if confusion:
        show()
        _show_confusion(report.confusion)
    elif worst:
        show()
        show_table(["gold", "labelled", "tokens"], worst, title="Most frequent mistakes")


def _show_rules(summary: Summary) -> None:
    """How many sequences break each rule without the rules, and under them."""
    if not summary.before:
        return
    counts = [(line, n, summary.after[line]) for line, n in summary.before.items()]
    broken = sorted((row for row in counts if any(row[1:])), key=lambda row: (-row[1], -row[2]))
    show()
    if not broken:
        show("No sequence breaks the rules, with or without them.")
        return
    shown = broken[:MOST_RULES]
    few = "" if len(shown) == len(counts) else f", {len(shown)} of {len(counts):,} rules"
    show_table(["rule", "without rules", "with"], shown, title=f"Sequences that break a rule{few}")


def show_scores(report: Report) -> None:
    """Precision, recall and F1 of each type of segment and of all."""
    by_type = sorted(report.span.labels.items(), key=lambda item: -item[1].gold)
    counts = [*by_type, ("all", report.span.total)]
    rows = [[name, *map(percent, (c.precision, c.recall, c.f1)), c.gold] for name, c in counts]
    show_table(["segment", "precision", "recall", "F1", "gold"], rows, last_is_total=True)
    if not on_terminal():  # where tables have room around them
        show()


def _show_confusion(confusion: Confusion) -> None:
    used = [i for i, counts in enumerate(confusion.matrix + confusion.matrix.T) if counts.any()]
    header = ["gold \\ labelled", *(confusion.labels[i] for i in used)]
    body = [[confusion.labels[i], *(str(confusion.matrix[i, j] or "") for j in used)] for i in used]
    if len(used) <= MOST_LABELS and fits(header, body):
        show_table(header, body, title="Confusions (tokens)")
        return
    mistakes = confusion.top(len(confusion.labels) ** 2)
    if not mistakes:
        show("No token was labelled wrongly.")
        return
    shown = mistakes[:MOST_LISTED]
    few = (
        "" if len(shown) == len(mistakes) else f", the {len(shown)} most frequent of {len(mistakes):,} kinds"
    )
    show_table(["gold", "labelled", "tokens"], shown, title=f"Confusions{few}")
