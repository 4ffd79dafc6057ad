"""Rules about the entities and relations of a sentence.

    a line of text ─→ language ─→ RelationRule ─→ lower(types, candidates) ─→ Sums ─→ solvers

    relations   what a relation relates     ArgumentTypes
                what it says of others      PairLimit Symmetric Inverse Acyclic
    counts      how many there are          HowMany Degree RelationCounts
    clauses     if some things hold         Clause
    mentions    of the same thing           MentionsAgree
                that share tokens           NoOverlap

A new rule is a class in one of these modules, an entry in `__all__` and a form in `grammar.py`.
"""

from conseq.constraints.relational.base import RelationRule, indicators
from conseq.constraints.relational.clauses import (
    Atom,
    Before,
    Between,
    Clause,
    IsA,
    Literal,
    Related,
    Same,
)
from conseq.constraints.relational.counts import Degree, HowMany, RelationCounts
from conseq.constraints.relational.mentions import MentionsAgree, NoOverlap
from conseq.constraints.relational.relations import Acyclic, ArgumentTypes, Inverse, PairLimit, Symmetric
from conseq.constraints.relational.sums import Sums

__all__ = [
    "RELATION_RULES",
    "Acyclic",
    "ArgumentTypes",
    "Atom",
    "Before",
    "Between",
    "Clause",
    "Degree",
    "HowMany",
    "Inverse",
    "IsA",
    "Literal",
    "MentionsAgree",
    "NoOverlap",
    "PairLimit",
    "Related",
    "RelationCounts",
    "RelationRule",
    "Same",
    "Sums",
    "Symmetric",
    "indicators",
]

RELATION_RULES: tuple[type[RelationRule], ...] = tuple(
    kind
    for kind in map(globals().get, __all__)
    if isinstance(kind, type) and issubclass(kind, RelationRule) and kind is not RelationRule
)
"""Every kind of rule about entities and relations: those that are imported here."""
