"""The forms of rules, most of them those of their classes (`Rule.form`), and how a line is matched.

    pieces ─→ the form that fits ─→ Rule, mentions
                     none fits ─→ RuleError about the piece that the best of them stumbled over

A template consists of the words of the language (with | between spellings) and of slots in braces, which are
methods of `Reader`; `build` takes what the slots read, in their order. A `Grammar` is the forms of rules of
one sort: `CONSTRAINTS` here, `relational/grammar.py` has another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache, partial
from itertools import groupby
from typing import Any, Generic, TypeVar

from conseq import constraints as library
from conseq.constraints import scanner
from conseq.constraints.base import Constraint, Rule
from conseq.constraints.reader import Items, Mention, Mismatch, Reader, at_column
from conseq.constraints.scanner import Piece
from conseq.constraints.writing import RESERVED, SLOT
from conseq.errors import RuleError

Kind = TypeVar("Kind", bound=Rule, covariant=True)


@dataclass(frozen=True)
class Form(Generic[Kind]):
    """A form of rules; a `free` one need not say that it is hard."""

    template: str
    build: Callable[..., Kind]
    free: bool = False

    @cached_property
    def elements(self) -> tuple[tuple[str, str], ...]:
        """Each slot or word, and the phrase that the word belongs to ("" for a slot)."""
        elements: list[tuple[str, str]] = []
        for is_word, group in groupby(self.template.split(), key=lambda element: element[0].isalpha()):
            parts = list(group)
            phrase = " ".join(word.split("|")[0] for word in parts)
            elements += [(part, phrase if is_word else "" if part[0] == "{" else part) for part in parts]
        return tuple(elements)

    def read(self, reader: Reader) -> list[Any]:
        """What the slots hold."""
        values = []
        for element, phrase in self.elements:
            if phrase:
                reader.one_of(element.split("|"), phrase)
            else:
                values.append(getattr(reader, element.strip("{}"))())
        return values


def template_of(form: str, phrase: str = "") -> str:
    """The template of a kind of rule by its form, with a phrase where the form has a slot for one.

    >>> template_of(library.Share.form, "at most")
    'at most {number} % of tokens are {name}'
    """
    return SLOT.sub(lambda slot: phrase if slot[2] == "phrase" else f"{{{slot[2]}}}", form)


def forms_of(*kinds: type[Kind]) -> list[Form[Kind]]:
    """The forms that the kinds of rules state themselves."""
    return [Form(template_of(kind.form), kind) for kind in kinds]


def forms_with(kind: Callable[..., Kind], template: str, *phrases: str) -> list[Form[Kind]]:
    """The forms of a kind of rule that begins with one of several phrases."""
    return [Form(template_of(template, phrase), partial(kind, phrase)) for phrase in phrases]


@lru_cache(maxsize=1)
def forms() -> tuple[Form[Constraint], ...]:
    """All forms, made on first use."""
    of = library
    return (
        Form(template_of(of.Legal.form), of.Legal, free=True),
        *forms_of(of.Forbidden, of.Required, of.OnlySteps, of.TokenIsNot, of.TokenIs),
        *forms_with(of.Segments, of.Segments.form, "at most", "at least", "exactly"),
        Form("{sum} {comparison} {sum}", _counts),
        *forms_with(of.Share, of.Share.form, "at most", "at least"),
        *forms_of(of.FollowedBy, of.FollowedLater, of.Around),
        Form("around {test} : if {name} then {name}", partial(of.Around, implies=True)),
        *forms_of(of.FirstLast, of.NotBefore),
        Form("no {name} before each {name}", partial(of.NotBefore, each=True)),
        Form("{name} before {name}", lambda a, b, penalty: of.NotBefore(b, a, penalty=penalty)),
        *forms_of(of.Contiguous, of.IfThen, of.NotBoth, of.ExactlyOneOf),
        Form("equal tokens agree on {kind}", of.Agree),
        Form("equal tokens {test} agree on {kind}", lambda among, on, **cost: of.Agree(on, among, **cost)),
        Form("tokens {places} agree on {kind}", lambda at, on, **cost: of.Agree(on, places=at, **cost)),
        *forms_of(of.Contains, of.BeginsWith, of.EndsWith),
    )


def _counts(left: Items, relation: str, right: Items, penalty: float) -> Constraint:
    return library.Counts(*compared(left, relation, right), penalty=penalty)


def compared(left: Items, relation: str, right: Items) -> tuple[library.Sum, str, library.Sum]:
    """A comparison of sums; counts are whole numbers, so a < b is a <= b - 1."""
    shift = {"<": -1, ">": 1}.get(relation, 0)
    return _sum(left), f"{relation[0]}=", _sum([*right, shift])


def _sum(items: Items) -> library.Sum:
    terms = tuple(item for item in items if isinstance(item, library.Term))
    return library.Sum(terms, sum(item for item in items if isinstance(item, int)))


@dataclass(frozen=True)
class Grammar(Generic[Kind]):
    """The forms of rules of one sort, how their slots are read, and what to suggest as a beginning."""

    forms: Callable[[], tuple[Form[Kind], ...]]
    reader: type[Reader]
    beginnings: str

    def read(self, pieces: list[Piece]) -> tuple[Kind, list[Mention]]:
        """The rule that a line states, and the names in it; errors know their column."""
        misses: list[Mismatch] = []
        for form in self.forms():
            reader = self.reader(pieces)
            try:
                values = form.read(reader)
                penalty = reader.penalty(form.free)
            except Mismatch as miss:
                misses.append(miss)
                continue
            if reader.faults:
                raise reader.faults[0]
            with at_column(pieces[0].column):
                return form.build(*values, penalty=penalty), reader.mentions
        raise self._explanation(pieces, misses)

    def _explanation(self, pieces: list[Piece], misses: list[Mismatch]) -> RuleError:
        """What to say when no form fits: what those expected that came furthest."""
        furthest = max(miss.at for miss in misses)
        misses = [miss for miss in misses if miss.at == furthest]
        found, words = pieces[furthest], [pair for miss in misses for pair in miss.words.items()]
        close = _closest(found, words)
        opening = _closest(pieces[0], self._openings(), cutoff=0.75)
        if furthest == 0 or (furthest == 1 and not close and opening and pieces[0].value not in RESERVED):
            remedy = f"did you mean '{opening}'?" if opening else f"begin with {self.beginnings}"
            return RuleError(f"no rule begins with {pieces[0]}; {remedy}", column=pieces[0].column)
        message = next((miss.message for miss in misses if miss.message), "")
        if close or not message:
            expected = [f"'{phrase}'" for _, phrase in words] + [miss.expected for miss in misses]
            hint = f"did you mean '{close}'?" if close else _quoting(pieces, furthest)
            message = f"expected {_either(expected)}, not {found}{'; ' if hint else ''}{hint}"
        return RuleError(message, column=found.column)

    def _openings(self) -> list[tuple[str, str]]:
        """The words that rules begin with, and the phrases that they begin."""
        phrases = [phrase for _, phrase in (form.elements[0] for form in self.forms()) if phrase]
        return [(word, phrase) for phrase in phrases for word in (phrase.split()[0], phrase.replace(" ", ""))]


CONSTRAINTS: Grammar[Constraint] = Grammar(forms, Reader, "a name, or with 'at most', 'if', 'no', …")
"""The language of rules about the labels of a sequence."""


# ── errors ──────────────────────────────────────────────────────────────────────────────────────


def _quoting(pieces: list[Piece], at: int) -> str:
    """A hint for words that seem to be the rest of a name."""
    before, found = pieces[at - 1], pieces[at]
    if found.kind == scanner.WORD and found.value not in RESERVED:
        if before.kind == scanner.NUMBER and found.column == before.column + len(before.text):
            return "a name that begins with a digit stands in single quotes"
        if before.kind == scanner.WORD and before.value not in RESERVED:
            return "a name of several words stands in single quotes"
    return ""


def _closest(found: Piece, words: list[tuple[str, str]], cutoff: float = 0.6) -> str | None:
    """The phrase to suggest for a word that is nearly one of these."""
    if found.kind != scanner.WORD:
        return None
    close = get_close_matches(found.value.lower(), [word for word, _ in words], n=1, cutoff=cutoff)
    return next((phrase for word, phrase in words if close and word == close[0]), None)


def _either(expected: list[str]) -> str:
    """All that was expected, in words."""
    *most, last = dict.fromkeys(text for text in expected if text)
    return f"{', '.join(most)} or {last}" if most else last
