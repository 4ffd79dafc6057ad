"""How `conseq label` writes its answers.  model, batch ─→ text, by `FORMATS`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from conseq.cli.outcome import visible

if TYPE_CHECKING:
    from rich.console import Console

    from conseq.cli.show import Palette
    from conseq.corpus import Corpus
    from conseq.labelled import LabelledSequence
    from conseq.labeller import Labeller

_BREAKING = re.compile("[\\\\\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
"""What ends a cell or a line for one reader or another, and the backslash."""

UNSURE = 0.9
"""A segment with less confidence than this shows it on a terminal."""


Wanted = Mapping[str, Any]
"""`partial`, `nbest` and `marginals`, as `Labeller.label` takes them."""

Writer = Callable[["Labeller", "Corpus", Wanted, int], str]
"""model, batch, what is wanted, sequences before the batch ─→ text."""


def as_columns(labeller: Labeller, batch: Corpus, wanted: Wanted, first: int) -> str:
    """The input's columns and the label; nothing is done per token but joining strings."""
    from conseq.io import format_columns

    if not (wanted["nbest"] or wanted["marginals"]):
        ids = labeller.predict_ids(batch, partial=wanted["partial"], first=first)
        return format_columns(batch, labeller.schema_.decode(ids))
    sequences = labeller.label(batch, confidences=False, first=first, **wanted)
    if wanted["nbest"]:
        return _nbest_columns(batch, sequences)
    labels = list(chain.from_iterable(sequence.labels for sequence in sequences))
    probabilities = chain.from_iterable(_probabilities(sequence, sequence.labels) for sequence in sequences)
    return format_columns(batch, labels, list(probabilities))


def _nbest_columns(batch: Corpus, sequences: Iterable[LabelledSequence]) -> str:
    """A block per labelling, after a line `# rank score`."""
    from conseq.io import format_columns

    separator = getattr(batch, "separator", "\t")
    blocks = format_columns(batch).split("\n\n")
    parts = []
    for block, sequence in zip(blocks, sequences, strict=False):
        lines = block.split("\n")
        for rank, (labels, score) in enumerate(sequence.nbest or [], 1):
            further = [labels, *([_probabilities(sequence, labels)] if sequence.marginals else [])]
            rows = map(separator.join, zip(lines, *further, strict=True))
            parts.append(f"# {rank} {score:.6f}\n" + "\n".join(rows) + "\n\n")
    return "".join(parts)


def _probabilities(sequence: LabelledSequence, labels: Sequence[str]) -> list[str]:
    """`label:probability` of each token."""
    if sequence.marginals is None:
        return []
    found = sequence.marginals.of(list(labels))
    return [f"{label}:{chance:.6f}" for label, chance in zip(labels, found, strict=True)]


def as_jsonl(labeller: Labeller, batch: Corpus, wanted: Wanted, first: int) -> str:
    """One object per sequence."""
    sequences = labeller.label(batch, first=first, **wanted)
    return "".join(json.dumps(sequence.to_dict(), ensure_ascii=False) + "\n" for sequence in sequences)


def as_spans(labeller: Labeller, batch: Corpus, wanted: Wanted, first: int) -> str:
    """A line per segment: sequence, start, end, type, confidence (empty if not known), text; tabs between.

    Tabs and line breaks in the text are written as escapes, and a backslash as two.
    """
    lines = []
    for number, sequence in enumerate(labeller.label(batch, first=first, **wanted), first):
        for span in sequence.spans:
            sure = "" if span.confidence is None else f"{span.confidence:.4f}"
            lines.append(
                f"{number}\t{span.start}\t{span.end}\t{escaped(span.type)}\t{sure}\t{escaped(span.text)}\n"
            )
    return "".join(lines)


def escaped(text: str) -> str:
    r"""Text for a cell of a line: tabs, line breaks, backslashes as Python writes them in a string.

    >>> print(escaped("a\\b\tc\u2028"))
    a\\b\tc\u2028
    """
    return _BREAKING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def as_inline(labeller: Labeller, batch: Corpus, wanted: Wanted, first: int) -> str:
    """The texts with their segments in tags, a line each."""
    from dataclasses import replace

    from conseq.corpus import Column
    from conseq.io import format_inline
    from conseq.schema import Scheme, convert_column

    schema = labeller.schema_
    ids = labeller.predict_ids(batch, partial=wanted["partial"], first=first)
    found = Column(ids, schema.vocabulary)
    if schema.scheme is Scheme.BIOES:
        found = convert_column(found, batch.offsets, Scheme.BIOES, Scheme.BIO)
    return format_inline(replace(batch, labels=found))


FORMATS: dict[str, Writer] = {
    "columns": as_columns,
    "jsonl": as_jsonl,
    "spans": as_spans,
    "inline": as_inline,
}
"""Every way to write by its name."""


def show_spans(
    screen: Console, palette: Palette, labeller: Labeller, batch: Corpus, wanted: Wanted, first: int
) -> None:
    """Coloured text for a person, with the segments that the model is not sure of."""
    from rich.table import Table
    from rich.text import Text

    for number, sequence in enumerate(labeller.label(batch, first=first, **wanted), first):
        block = Table.grid(padding=(0, 2))
        block.add_row(Text(f"{number:>4}", "dim"), palette.coloured(sequence))
        for span in sequence.spans:
            if span.confidence is not None and span.confidence < UNSURE:
                doubt = f"{span.type} {100 * span.confidence:.0f} % sure: {span.text}"
                block.add_row("", Text(visible(doubt), "yellow"))
        for line in sequence.violations:
            block.add_row("", Text(visible(f"breaks the rule: {line}"), "yellow"))
        screen.print(block)
