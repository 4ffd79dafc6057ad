"""From evidence to rules with penalties, in one go.

Evidence ─→ families ─→ candidates ─→ judged, important, not redundant ─→ penalties ─→ LearnedRules
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conseq.constraints.base import Constraint
from conseq.constraints.language import format_constraints
from conseq.constraints.names import inside
from conseq.errors import ConseqError
from conseq.mining.evidence import Evidence
from conseq.mining.families import FAMILIES, Candidate, Screen
from conseq.mining.importance import Judged, important, judge, without_redundant
from conseq.mining.penalties import Learner, Pass, Perceptron, StructuredSVM, learned, log_ratio
from conseq.mining.view import Names, View

COUNTS = ("only-one", "hierarchical", "pairwise")
"""The templates of Anzaroot et al. 2014."""

LOG_RATIO = "log-ratio"

PENALTIES: Mapping[str, tuple[Learner, ...]] = {
    Perceptron.name: (Perceptron(), Perceptron(step=1.0)),
    StructuredSVM.name: (StructuredSVM(),),
    LOG_RATIO: (),
}
"""By name: the learners of penalties to choose from; none where nothing is learned."""


@dataclass(frozen=True)
class Recipe:
    """How rules are learned.

    families      which kinds of rules are looked for, of `FAMILIES`
    screen        what a rule must show to be taken
    most          the most rules to keep: those that the model breaks in most sequences beyond the gold labels
    learner       what learns the penalties: a name of `PENALTIES`, an object, or several to choose from;
                  "log-ratio" needs no learning (Fersini et al. 2014)
    early         choose the learner and its number of passes on held-out halves of the evidence
    scoring       what that choice looks at
    """

    families: Sequence[str] = (*COUNTS, "together", "state-change", "adjacency", "begin-end")
    screen: Screen = field(default_factory=Screen)
    most: int | None = None
    learner: Learner | Sequence[Learner] | str = Perceptron.name
    early: bool = True
    scoring: str = "span_f1"

    def check(self) -> None:
        """Raise if a name is not known."""
        unknown = [name for name in self.families if name not in FAMILIES]
        if unknown:
            raise ConseqError(f"there is no family {unknown[0]!r} of rules; there are {', '.join(FAMILIES)}")
        if isinstance(self.learner, str) and self.learner not in PENALTIES:
            known = ", ".join(PENALTIES)
            raise ConseqError(f"there is no learner {self.learner!r}; give an object, or one of {known}")


class LearnedRule(Judged):
    """A rule with its penalty and why it is there.

    applied, violated    how often it could be broken by the gold labels, and was
    by_gold, by_model    sequences that break it
    """

    def comment(self) -> str:
        """What a rule file says behind the rule."""
        importance = "∞" if self.importance == float("inf") else f"{self.importance:.1f}"
        return f"held {self.held}/{self.applied}, model breaks it {self.by_model} ×, importance {importance}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; an infinite importance is None."""
        return {
            "rule": self.rule.line(),
            "penalty": self.rule.penalty,
            "family": self.family,
            "support": self.applied,
            "held": self.held,
            "violated": self.violated,
            "gold_sequences": self.by_gold,
            "model_sequences": self.by_model,
            "importance": None if self.importance == float("inf") else self.importance,
        }


@dataclass(frozen=True)
class Learned:
    """What was learned: the rules with a penalty, the highest first, and how many there were on the way."""

    rules: tuple[LearnedRule, ...]
    without_penalty: tuple[Constraint, ...]  # important and not redundant, but not worth a penalty
    candidates: int
    sequences: int

    @property
    def constraints(self) -> list[Constraint]:
        return [learned.rule for learned in self.rules]

    @property
    def judged(self) -> int:
        """How many rules penalties were learned for."""
        return len(self.rules) + len(self.without_penalty)

    @property
    def zero(self) -> float:
        """The share of the rules whose penalty was learned to be 0."""
        return 1 - len(self.rules) / self.judged if self.judged else 0.0

    def to_text(self) -> str:
        """A rule file that people can read and edit."""
        head = (
            f"# {len(self.rules)} rules of {self.candidates:,} candidates, learned from {self.sequences:,} "
            "labelled sequences.\n# Edit as you like: the model need not be trained again.\n"
        )
        comments = [learned.comment() for learned in self.rules]
        return head + format_constraints(self.constraints, comments)


@dataclass(frozen=True)
class Stage:
    """What learning is about to do, or a pass of it."""

    name: str
    done: Pass | None = None


Watch = Callable[[Stage], None]


def learn_from(evidence: Evidence, recipe: Recipe | None = None, watch: Watch = lambda _: None) -> Learned:
    """Find rules and penalties for them.

    evidence    labelled sequences with the scores of a model that did not learn from them
    """
    recipe = Recipe() if recipe is None else recipe
    recipe.check()
    watch(Stage("looking for rules"))
    candidates = find_candidates(evidence, recipe)
    watch(Stage(f"judging {len(candidates):,} rules"))
    chosen = choose(candidates, evidence, recipe)
    penalties = learn_penalties(chosen, evidence, recipe, watch)
    pairs = list(zip(chosen, penalties, strict=True))
    rules = [replace(one, rule=replace(one.rule, penalty=c), trace=b"") for one, c in pairs if c > 0]
    kept = sorted((LearnedRule(**vars(one)) for one in rules), key=lambda one: -one.rule.penalty)
    without = tuple(one.rule for one, c in pairs if c == 0)
    return Learned(tuple(kept), without, len(candidates), len(evidence))


def find_candidates(evidence: Evidence, recipe: Recipe) -> list[Candidate]:
    """All rules of the families that pass the screen, and name nothing that the model cannot give.

    Development data may have labels that the model has never seen: it could not even read rules about them.
    """
    names = Names.of(evidence.schema)
    gold = View(names, evidence.corpus, evidence.gold)
    model = View(names, evidence.corpus, evidence.predicted)
    found = (c for family in recipe.families for c in FAMILIES[family](gold, model, recipe.screen))
    return list({c.rule: c for c in found if _can_be_given(c.rule.names, evidence)}.values())


def _can_be_given(names: Sequence[str], evidence: Evidence) -> bool:
    """Whether each of the names has a label that the model knows."""
    return all((inside(evidence.schema, name)[:-1] & evidence.known).any() for name in names)


def choose(candidates: Sequence[Candidate], evidence: Evidence, recipe: Recipe) -> list[Judged]:
    """The candidates that are worth learning a penalty for."""
    worth = without_redundant(important(judge(candidates, evidence), recipe.screen))
    worth.sort(key=lambda one: one.by_gold - one.by_model)
    return worth[: recipe.most]


def learn_penalties(
    chosen: Sequence[Judged], evidence: Evidence, recipe: Recipe, watch: Watch = lambda _: None
) -> list[float]:
    """What each rule should cost, [K]."""
    learners = PENALTIES[recipe.learner] if isinstance(recipe.learner, str) else recipe.learner
    if learners == ():
        return [log_ratio(one.violated, one.applied) for one in chosen]
    name = f"learning {len(chosen):,} penalties"
    watch(Stage(name))
    return learned(
        learners,
        evidence,
        [one.rule for one in chosen],
        early=recipe.early,
        metric=recipe.scoring,
        watch=lambda done: watch(Stage(name, done)),
    ).tolist()
