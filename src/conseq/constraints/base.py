"""What a rule is: something that should hold of a whole answer, with a penalty; and what a constraint is.

constraint.lower(schema, corpus) ─→ primitives;  violation = Σ of theirs;  cost = penalty · violation
str(rule)                        ─→ its line in the language (`language.py` reads it back)

A `Rule` knows how it is written and what it costs. A `Constraint` is a rule about the labels of a sequence;
rules about entities and relations are in `relational/`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from conseq.constraints import writing
from conseq.constraints.primitives import Primitive, run, token_classes
from conseq.constraints.writing import END, START
from conseq.corpus import Corpus
from conseq.errors import RuleError
from conseq.schema import Schema

HARD = math.inf
"""The penalty of a rule that must not be broken."""
HIGHEST = 1e100
"""The highest penalty of a soft rule, so that sums of them stay finite."""


@dataclass(frozen=True)
class Rule:
    """A rule about whole answers. Subclasses are frozen dataclasses, equal if all their fields are.

    penalty     what one unit of violation costs in the model's log scores; inf: it must not be broken
    varies      whether what it is lowered to depends on the sequence, not on the labels or types alone
    form        how the language writes the rule: words, and a slot {field:kind} for each field that it states
    different   whether the names that it relates must be different ones
    """

    penalty: float = field(default=HARD, kw_only=True)

    varies: ClassVar[bool] = False
    form: ClassVar[str] = ""
    slots: ClassVar[list[tuple[str, str]]] = []  # the fields and kinds in the form
    different: ClassVar[bool] = False

    def __init_subclass__(cls, *, form: str = "", different: bool = False) -> None:
        if form:
            cls.form, cls.slots, cls.different = form, writing.SLOT.findall(form), different

    def __post_init__(self) -> None:
        if not self.penalty >= 0:
            raise RuleError(f"the penalty is {self.penalty}; give a number of at least 0, or inf for hard")
        if HIGHEST < self.penalty < HARD:
            raise RuleError(f"the penalty is {self.penalty}; give at most {HIGHEST:g}, or make the rule hard")
        for slot, kind in self.slots:
            if kind in writing.SEVERAL:
                _check_names(getattr(self, slot))
        if self.different and len(set(self.names)) == 1:
            raise RuleError(f"the rule relates {self.names[0]!r} to itself; give two different names")

    def line(self) -> str:
        """The rule in the language, without its penalty."""
        return writing.SLOT.sub(lambda slot: writing.KINDS[slot[2]](getattr(self, slot[1])), self.form)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of labels, types and relations that the rule mentions."""
        found: list[str] = []
        for slot, kind in self.slots:
            held = getattr(self, slot)
            if kind in writing.SEVERAL:
                found += held
            elif kind in writing.SINGLE or (kind == "step_end" and held not in (START, END)):
                found.append(held)
        return tuple(found)

    @property
    def is_hard(self) -> bool:
        return self.penalty == HARD

    @property
    def penalty_text(self) -> str:
        """The penalty as the language writes it: `hard`, or `penalty` and a number."""
        return "hard" if self.is_hard else f"penalty {writing.number(self.penalty)}"

    def __str__(self) -> str:
        return f"{self.line()}  {self.penalty_text}"

    def cost(self, violation: float) -> float:
        """penalty · violation, where a hard rule that holds costs nothing."""
        return self.penalty * violation if violation else 0.0


@dataclass(frozen=True)
class Constraint(Rule, ABC):
    """A rule about the labels of a sequence."""

    @abstractmethod
    def lower(self, schema: Schema, corpus: Corpus | None) -> Sequence[Primitive]:
        """The primitives whose violations add up to this rule's; the corpus is None unless it `varies`."""

    def violation(self, labels: Sequence[str], schema: Schema, tokens: Sequence[str] | None = None) -> float:
        """How much one labelling breaks the rule; 0 if it holds."""
        corpus = sequence_corpus(len(labels), tokens)
        ids = np.asarray(schema.encode(labels))
        return sum(
            run(primitive, ids, token_classes(primitive.tests, corpus))
            for primitive in self.lower(schema, corpus if self.varies else None)
        )


def sequence_corpus(length: int, tokens: Sequence[str] | None) -> Corpus:
    """A corpus of one sequence, with or without its tokens."""
    if tokens is None:
        return Corpus({}, np.array([0, length], dtype=np.int64))
    return Corpus.from_sequences([list(tokens)])


def check_choice(what: str, given: str, known: Sequence[str]) -> None:
    """Raise if a field has none of the values it may have."""
    if given not in known:
        choices = ", ".join(repr(one) for one in known)
        raise RuleError(f"the {what} is {given!r}; choose one of {choices}")


def _check_names(names: Sequence[str]) -> None:
    """Raise unless the names are a tuple of different names, at least one."""
    if isinstance(names, str) or not names:
        raise RuleError(f"the rule names {names!r} where a tuple of names should be; name at least one")
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise RuleError(f"the rule names {twice!r} twice; name it once")
