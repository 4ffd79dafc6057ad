"""Scores of labellings.

    gold, predicted ─→ encode_all ─→ ids[T], offsets[N+1], Schema ─→ tallies (correct, predicted, gold)
    (lists of labels, corpora)                                          ├─ by type ─→ Report
                                                                        └─ by sequence ─→ bootstrap

Axes: T tokens, N sequences, Y labels, P segment types.
"""

from conseq.metrics.counts import METRICS, Counts, Encoded, Fractions, encode_all, score_ids, sequence_counts
from conseq.metrics.relations import RelationReport, evaluate_relations
from conseq.metrics.report import Confusion, Report, SpanScores, TokenScores, evaluate, evaluate_ids
from conseq.metrics.resampling import Comparison, Interval, bootstrap, paired_bootstrap

__all__ = [
    "METRICS",
    "Comparison",
    "Confusion",
    "Counts",
    "Encoded",
    "Fractions",
    "Interval",
    "RelationReport",
    "Report",
    "SpanScores",
    "TokenScores",
    "bootstrap",
    "encode_all",
    "evaluate",
    "evaluate_ids",
    "evaluate_relations",
    "paired_bootstrap",
    "score_ids",
    "sequence_counts",
]
