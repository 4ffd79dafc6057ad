"""Rules and their penalties, learned from labelled sequences and the scores of any model.

    Evidence ─→ families ─→ candidates ─→ importance ─→ penalties ─→ Learned rules

evidence     labelled sequences with the scores of a model that has not seen them
view         a labelling, counted in all the ways that families ask for
families     kinds of rules, instantiated from data (Fersini et al. 2014, Anzaroot et al. 2014)
token_tests  tests of tokens that rules may use
clauses      conjunctions that tell a class from the others, by minimum-cost satisfiability (Fersini et al.
             2014)
predicates   what clauses are made of, and which of them are rules
importance   which rules the model breaks and the gold labels do not; redundant ones
penalties    perceptron, structured SVM, log-ratio
recipe       all of it in one go
signatures   rules about entities and relations that labelled sentences keep
relations    penalties of those, and scales of the classifiers of entities and relations
"""

from conseq.mining.evidence import Evidence
from conseq.mining.families import FAMILIES, Candidate, Screen
from conseq.mining.penalties import LEARNERS, Perceptron, StructuredSVM, log_ratio
from conseq.mining.recipe import COUNTS, LOG_RATIO, PENALTIES, Learned, LearnedRule, Recipe, Stage, learn_from
from conseq.mining.relations import LearnedRelations, RelationEvidence, learn_relation_rules

__all__ = [
    "COUNTS",
    "FAMILIES",
    "LEARNERS",
    "LOG_RATIO",
    "PENALTIES",
    "Candidate",
    "Evidence",
    "Learned",
    "LearnedRelations",
    "LearnedRule",
    "Perceptron",
    "Recipe",
    "RelationEvidence",
    "Screen",
    "Stage",
    "StructuredSVM",
    "learn_from",
    "learn_relation_rules",
    "log_ratio",
]
