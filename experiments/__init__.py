"""Experiments of published papers, run by `python -m experiments NAME`: a table name → Experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from experiments import csinf, csinf_plot, relations, soft_dd, soft_ilp


@dataclass(frozen=True)
class Experiment:
    """`run(data=…, split=…, quick=…, say=…)` gives plain JSON values; `table` shows them as rows, the head
    first, and `markdown` as a text, both with the paper's figures next to ours; `plot` writes
    a picture of them."""

    run: Callable[..., dict[str, Any]]
    table: Callable[[dict[str, Any]], list[list[str]]]
    markdown: Callable[[dict[str, Any]], str]
    about: str
    plot: Callable[[dict[str, Any], str], None] | None = None
    split: str = "dev"  # what is measured on unless it is said


EXPERIMENTS: dict[str, Experiment] = {
    "soft-ilp": Experiment(
        soft_ilp.run,
        soft_ilp.table,
        soft_ilp.markdown,
        "Fersini et al. 2014: rules learned from data, two-stage inference; us50, conll2003, cora",
    ),
    "csinf": Experiment(
        csinf.run,
        csinf.table,
        csinf.markdown,
        "Canisius et al. 2006: class trigrams of a memory-based learner, voting and constraint satisfaction "
        "inference; conll2000, conll2003, jnlpba, nettalk, cmudict, morphology",
        csinf_plot.plot,
    ),
    "soft-dd": Experiment(
        soft_dd.run,
        soft_dd.table,
        soft_dd.markdown,
        "Anzaroot et al. 2014: soft constraints with learned penalties, dual decomposition; umass_citation",
    ),
    "relations": Experiment(
        relations.run,
        relations.table,
        relations.markdown,
        "Roth and Yih 2004: entities and relations decided together; cross-validation over all of conll04",
        split="test",
    ),
}

__all__ = ["EXPERIMENTS", "Experiment"]
