"""The forms of rules about entities and relations, and how their slots are read."""

from __future__ import annotations

from functools import lru_cache

from conseq.constraints import relational as library
from conseq.constraints import scanner
from conseq.constraints.counts import AT_LEAST, AT_MOST, EXACTLY, Term
from conseq.constraints.grammar import Form, Grammar, compared, forms_of, forms_with
from conseq.constraints.reader import Items, Mismatch, Reader
from conseq.constraints.relational.base import RelationRule
from conseq.constraints.relational.clauses import SAME, Atom, Literal
from conseq.constraints.writing import RESERVED


class RelationReader(Reader):
    """Reads the slots that rules about entities and relations have beside those of others."""

    # ── names; the slot of a mention says what the name must be ─────────────────────────────────

    def entity(self) -> str:
        return self.name("entity")

    def relation(self) -> str:
        return self.name("relation")

    def either(self) -> str:
        return self.name("either")

    def entities(self) -> tuple[str, ...]:
        return self.several(self.entity, "or")

    def end(self) -> str:
        return self.one_of(["head", "tail"])

    def _item(self, sign: int) -> int | Term:
        """A number, or a weight and a count of entities or relations."""
        weight = sign
        if self.piece.kind == scanner.NUMBER:
            weight *= self.integer()
            if not self.accept("*") and not self.sees("count"):
                return weight
        elif not self.sees("count"):
            raise Mismatch(self.at, {"count": "count(A)"}, "a number")
        self.one_of(["count"])
        self.one_of(["("])
        name = self.either()
        self.one_of([")"])
        return Term(weight, name)

    # ── clauses ─────────────────────────────────────────────────────────────────────────────────

    def conditions(self) -> tuple[Literal, ...]:
        return self.several(self.literal, "and")

    def conclusions(self) -> tuple[Literal, ...]:
        return self.several(self.literal, "or")

    def literal(self) -> Literal:
        holds = not self.accept("not")
        return Literal(self.atom(), holds)

    def atom(self) -> Atom:
        first = self.piece
        atom = self._atom()
        if len(set(atom.variables)) < len(atom.variables):
            self.fault(f"'{atom}' relates an entity to itself; name two different variables", first)
        return atom

    def _atom(self) -> Atom:
        if self.piece.kind in (scanner.TOKEN, scanner.PATTERN):
            test = self.test()
            self.one_of(["between"])
            return library.Between(self.variable(), self.both("and"), test)
        following = self.pieces[min(self.at + 1, len(self.pieces) - 1)]
        if following.kind == scanner.WORD and following.value == "before":
            return library.Before(self.variable(), self.both("before"))
        if self.sees(SAME):
            self.take()
            self.one_of(["("])
            same = library.Same(self.variable(), self.both(","))
            self.one_of([")"])
            return same
        return self._decided()

    def _decided(self) -> Atom:
        """A type of one entity, or a relation of two."""
        first = self.piece
        name = self.name()
        mention = self.mentions.pop()
        if not self.accept("("):
            raise Mismatch(self.at, {"(": "(", "before": "before"})
        variables = self.several(self.variable, ",")
        self.one_of([")"])
        if len(variables) > 2:
            self.fault(f"{first} has {len(variables)} variables; a type has one and a relation two", first)
        if len(variables) == 1:
            self.mentions.append(mention._replace(slot="entity"))
            return library.IsA(name, *variables)
        self.mentions.append(mention._replace(slot="relation"))
        return library.Related(name, *variables[:2])

    def both(self, separator: str) -> str:
        """The second of two variables, behind what separates them."""
        self.one_of([separator])
        return self.variable()

    def variable(self) -> str:
        piece = self.piece
        plain = piece.kind == scanner.WORD and piece.value not in RESERVED
        if not plain or not piece.value.isidentifier() or not piece.value.islower():
            message = f"a variable is a word in lower case, as in R(a, b), not {piece}"
            raise Mismatch(self.at, {}, "a variable", message)
        return self.take().value


@lru_cache(maxsize=1)
def forms() -> tuple[Form[RelationRule], ...]:
    """All forms, made on first use."""
    of = library
    phrases = (AT_MOST, AT_LEAST, EXACTLY)
    return (
        *forms_of(of.ArgumentTypes, of.PairLimit, of.Symmetric, of.Inverse, of.Acyclic),
        *forms_with(of.Degree, of.Degree.form, *phrases),
        *forms_with(of.HowMany, of.HowMany.form, *phrases),
        Form("{sum} {comparison} {sum}", _counts),
        Form("if {conditions} then {conclusions}", of.Clause),
        *forms_of(of.MentionsAgree, of.NoOverlap),
        Form("entities do not overlap", of.NoOverlap),
    )


def _counts(left: Items, comparison: str, right: Items, penalty: float) -> RelationRule:
    return library.RelationCounts(*compared(left, comparison, right), penalty=penalty)


RELATION_RULES: Grammar[RelationRule] = Grammar(
    forms, RelationReader, "a name, or with 'at most', 'if', 'count', …"
)
"""The language of rules about entities and relations."""
