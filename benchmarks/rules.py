"""Rules for the race of decoders, mined from development data by the recipes of two papers.

a trained labeller, dev ─→ Evidence ─┬─→ `count_and_order`: rules it breaks most often, log-ratio penalties
                                     │   (Fersini et al. 2014)
                                     └─→ `segment_counts`: count templates, learned or log-ratio penalties
                                         (Anzaroot et al. 2014)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conseq.constraints import Constraint
from conseq.mining import COUNTS, Evidence, Perceptron, Recipe, Screen, log_ratio
from conseq.mining.evidence import with_penalties
from conseq.mining.importance import Judged, important, judge
from conseq.mining.penalties import learned
from conseq.mining.recipe import find_candidates

ORDERED = Recipe(
    families=("only-one", "pairwise", "together", "adjacency", "begin-end", "presence"),
    screen=Screen(importance=2.0, broken=1, confidence=0.97, support=1),
)
COUNTED = Recipe(families=COUNTS, screen=Screen(importance=2.75, broken=1))


def count_and_order(evidence: Evidence, number: int) -> list[Constraint]:
    """Rules about counts and order that the model breaks most often, penalised by how rarely gold does."""
    rules = _worthy(evidence, ORDERED)
    ranked = sorted(rules, key=lambda one: (-one.by_model, one.by_gold, -one.applied))
    return with_log_ratios(ranked[:number])


def segment_counts(evidence: Evidence) -> list[Judged]:
    """The count templates of Anzaroot et al. 2014 that are important."""
    return _worthy(evidence, COUNTED)


def _worthy(evidence: Evidence, recipe: Recipe) -> list[Judged]:
    """The important rules, redundant ones among them: they are there to make work."""
    found = judge(find_candidates(evidence, recipe), evidence)
    return important(found, recipe.screen)


def with_log_ratios(rules: Sequence[Judged]) -> list[Constraint]:
    """The rules with penalties that say how rarely the gold labels violate them."""
    return [replace(r.rule, penalty=log_ratio(r.violated, r.applied)) for r in rules]


def with_learned_penalties(rules: Sequence[Judged], evidence: Evidence) -> list[Constraint]:
    """The rules with penalties learned by five passes of the perceptron, those of 0 left out."""
    bare = [one.rule for one in rules]
    return with_penalties(bare, learned(Perceptron(), evidence, bare, early=False))
