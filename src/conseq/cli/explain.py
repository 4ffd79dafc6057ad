"""`conseq explain`: why each token has its label."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from conseq.cli.compiling import told
from conseq.cli.grouping import grouped
from conseq.cli.options import AS_JSON, OUTPUT, STANDARD, THREADS, ModelFile, NewData, NewReading, option
from conseq.cli.reading import load_model, stream_input
from conseq.cli.show import show, show_json

if TYPE_CHECKING:
    from conseq.labeller.explanation import TokenExplanation

LIKELY = 3
"""How many labels are shown with their probabilities."""


@grouped
def explain(
    *,
    model: ModelFile,
    data: NewData = STANDARD,
    reading: NewReading,
    most: int = option(3, OUTPUT, "N", "Reasons shown for a token.", min=1),
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Label new data and say why.

    Each token with its label, how likely that is, and what speaks for it: for a memory-based model the tokens
    of the training data that are most like it, with their distances; for a conditional random field the
    attributes, and the label before, that add more to this label than to the next likely one. With --json one
    object per sequence.

    \b
    Examples:
      conseq explain phonemes.model words.tsv
      echo "A. Cau, On Sets, 1990" | conseq explain fields.model --text --most 5
    """
    labeller = load_model(model, threads)
    batches = stream_input(data, reading.of(), labeller)
    done = 0
    with told(), closing(batches):  # type: ignore[type-var]  # a generator
        for batch in batches:
            for sequence in labeller.explain(batch, most):
                if as_json:
                    show_json({"tokens": [t.to_dict() for t in sequence]})
                else:
                    if done:
                        show()
                    for token in sequence:
                        _show(token)
                done += 1


def _show(token: TokenExplanation) -> None:
    likely = [f"{label} {100 * p:.1f} %" for label, p in list(token.probabilities.items())[:LIKELY]]
    show(f"{token.token}  {token.label}  ({', '.join(likely)})", "bold")
    for reason in token.reasons:
        show(f"    {reason.weight:8.3f}  {reason.text}")
    more = token.count - len(token.reasons)
    if more > 0:
        show(f"              … and {more:,} more", "dim")
