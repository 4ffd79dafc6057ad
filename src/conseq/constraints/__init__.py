"""Rules about whole labellings: what they mean, how they are written, and what decoders see of them.

    a line of text ─→ language ─→ Constraint ─→ lower(schema) ─→ primitives ─→ Program ─→ violations

    local      each step or token by itself      Legal Forbidden Required OnlySteps TokenIs TokenIsNot
    counts     how many segments or tokens       Segments Counts Share Contiguous
    order      what follows or precedes what     FollowedBy FollowedLater Around FirstLast NotBefore
    together   what appears in one sequence      IfThen NotBoth ExactlyOneOf
    agreement  equal tokens, equal labels        Agree
    content    the tokens of a segment           Contains BeginsWith EndsWith

A new rule is a class in one of these modules, an entry in `__all__` and a form in the language.
"""

from conseq.constraints.agreement import Agree
from conseq.constraints.base import HARD, Constraint
from conseq.constraints.content import BeginsWith, Contains, EndsWith
from conseq.constraints.counts import Contiguous, Counts, Segments, Share, Sum, Term
from conseq.constraints.local import Forbidden, Legal, OnlySteps, Required, TokenIs, TokenIsNot, seen_steps
from conseq.constraints.order import Around, FirstLast, FollowedBy, FollowedLater, NotBefore
from conseq.constraints.primitives import Automaton, Counter, Linear, Primitive
from conseq.constraints.together import ExactlyOneOf, IfThen, NotBoth
from conseq.constraints.tokens import Pattern, Places, Repeated, TokenTest, Words

__all__ = [
    "CONSTRAINTS",
    "HARD",
    "Agree",
    "Around",
    "Automaton",
    "BeginsWith",
    "Constraint",
    "Contains",
    "Contiguous",
    "Counter",
    "Counts",
    "EndsWith",
    "ExactlyOneOf",
    "FirstLast",
    "FollowedBy",
    "FollowedLater",
    "Forbidden",
    "IfThen",
    "Legal",
    "Linear",
    "NotBefore",
    "NotBoth",
    "OnlySteps",
    "Pattern",
    "Places",
    "Primitive",
    "Repeated",
    "Required",
    "Segments",
    "Share",
    "Sum",
    "Term",
    "TokenIs",
    "TokenIsNot",
    "TokenTest",
    "Words",
    "seen_steps",
]

CONSTRAINTS: tuple[type[Constraint], ...] = tuple(
    kind
    for kind in map(globals().get, __all__)
    if isinstance(kind, type) and issubclass(kind, Constraint) and kind is not Constraint
)
"""Every kind of rule: those that are imported here."""
