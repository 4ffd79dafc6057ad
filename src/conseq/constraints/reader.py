"""Reads the pieces of a line from left to right: one method per slot that a form of rules may have.

A piece that does not fit raises `Mismatch`, and another form is tried; a piece that fits but has a bad value
(a negative penalty, a broken pattern) is kept as a fault, and reported once the whole form has matched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from conseq.constraints import scanner
from conseq.constraints.counts import LARGEST, Term
from conseq.constraints.scanner import Piece
from conseq.constraints.tokens import Pattern, Places, TokenTest, Words
from conseq.constraints.writing import END, RESERVED, START
from conseq.errors import RuleError
from conseq.schema.scheme import Scheme

COMPARISONS = ("<=", ">=", "==", "<", ">")
PENALTY_WORDS = ("hard", "penalty")


@dataclass
class Mismatch(Exception):
    """A form does not fit from the piece numbered `at`: what it has there instead.

    words       what could have been written there ─→ the phrase to suggest for it
    expected    what to say otherwise, where it is no word
    message     what to say in place of all that
    """

    at: int
    words: dict[str, str]
    expected: str = ""
    message: str = ""


class Mention(NamedTuple):
    """A name in a rule, and the slot it stands in: "name", "segment", "label" or "step"."""

    slot: str
    name: str
    column: int


Items = list[int | Term]
"""What a sum adds up."""


@contextmanager
def at_column(column: int) -> Iterator[None]:
    """Rules that are refused inside are so at this column."""
    try:
        yield
    except RuleError as error:
        raise RuleError(error.message, column=column) from None


class Reader:
    """A place in the pieces of a line."""

    def __init__(self, pieces: list[Piece]) -> None:
        self.pieces = pieces
        self.at = 0
        self.mentions: list[Mention] = []
        self.faults: list[RuleError] = []

    # ── single pieces ───────────────────────────────────────────────────────────────────────────

    @property
    def piece(self) -> Piece:
        return self.pieces[self.at]

    def take(self) -> Piece:
        self.at += 1
        return self.pieces[self.at - 1]

    def sees(self, *texts: str) -> bool:
        """Whether one of these words or symbols comes next."""
        return self.piece.kind in (scanner.WORD, scanner.SYMBOL) and self.piece.value in texts

    def accept(self, *texts: str) -> bool:
        """Takes the next word or symbol if it is one of these."""
        found = self.sees(*texts)
        self.at += found
        return found

    def one_of(self, texts: Iterable[str], phrase: str | None = None) -> str:
        """The next word or symbol, which must be one of these."""
        texts = tuple(texts)
        if not self.sees(*texts):
            raise Mismatch(self.at, {text: phrase or text for text in texts})
        return self.take().value

    def of_kind(self, kind: int, expected: str) -> Piece:
        if self.piece.kind != kind:
            raise Mismatch(self.at, {}, expected)
        return self.take()

    def several(self, slot: Callable[[], Any], *separators: str) -> tuple[Any, ...]:
        """What a slot reads, once or more, with one of the separators between."""
        values = [slot()]
        while self.accept(*separators):
            values.append(slot())
        return tuple(values)

    def fault(self, message: str, piece: Piece) -> None:
        self.faults.append(RuleError(message, column=piece.column))

    # ── names ───────────────────────────────────────────────────────────────────────────────────

    def name(self, slot: str = "name") -> str:
        """A label or a type."""
        piece = self.piece
        if piece.kind == scanner.WORD and piece.value in RESERVED:
            remedy = "write it in single quotes if it is a name"
            raise Mismatch(self.at, {}, "a name", f"expected a name, not the reserved word {piece}; {remedy}")
        if piece.kind not in (scanner.WORD, scanner.NAME):
            hint = f"expected a name, not {piece}; write it in single quotes if it is a name"
            raise Mismatch(self.at, {}, "a name", hint if piece.kind == scanner.NUMBER else "")
        if not piece.value:
            self.fault("the name is empty; write a label or a type between the quotes", piece)
        self.mentions.append(Mention(slot, piece.value, piece.column))
        return self.take().value

    def segment(self) -> str:
        return self.name("segment")

    def names(self) -> tuple[str, ...]:
        return self.several(self.name, "or", ",")

    def step_end(self, slot: str = "step") -> str:
        if self.sees(START, END):
            return self.take().value
        return self.name(slot)

    def step(self) -> tuple[str, str]:
        before = self.step_end("label")
        self.one_of(["->"])
        return before, self.step_end("label")

    def steps(self) -> tuple[tuple[str, str], ...]:
        return self.several(self.step, ",")

    # ── numbers ─────────────────────────────────────────────────────────────────────────────────

    def number(self) -> float:
        piece = self.of_kind(scanner.NUMBER, "a number")
        value = float(piece.value)
        if value == float("inf"):
            self.fault(f"{piece} is too large a number; give a smaller one", piece)
        return value

    def integer(self, least: int | None = 0) -> int:
        """A whole number, of either sign if `least` is None."""
        first = self.piece
        sign = -1 if self.accept("-") else 1
        text = self.of_kind(scanner.NUMBER, "a number").value
        if not text.isdecimal():
            self.fault(f"'{text}' is no whole number; write one in digits alone", first)
            return 0
        if len(text.lstrip("0")) > len(str(LARGEST)) or int(text) > LARGEST:
            self.fault(f"'{text}' is too large a number; give one of at most {LARGEST}", first)
            return 0
        value = sign * int(text)
        if least is not None and value < least:
            self.fault(f"{value} is too small a number; give one of at least {least}", first)
        return value

    def place(self) -> int:
        return self.integer(least=None)

    def places(self) -> tuple[int, ...]:
        return self.several(self.place, ",")

    # ── tests of tokens ─────────────────────────────────────────────────────────────────────────

    def test(self) -> TokenTest:
        """Words, a pattern or places."""
        if self.piece.kind == scanner.TOKEN:
            return Words(frozenset(self.several(self.word, "or")))
        if self.piece.kind == scanner.PATTERN:
            return self.pattern()
        if self.piece.kind == scanner.NUMBER or self.sees("-"):
            return Places(self.several(self.place, "or"))
        raise Mismatch(self.at, {}, 'a token in double quotes ("w"), a pattern (/p/) or a place (0)')

    def word(self) -> str:
        return self.of_kind(scanner.TOKEN, "a token in double quotes").value

    def pattern(self) -> Pattern:
        piece = self.take()
        pattern = Pattern(piece.value)
        try:
            pattern.compiled  # noqa: B018 – compiling is what finds the mistake
        except RuleError as error:
            self.fault(error.message, piece)
        return pattern

    # ── choices ─────────────────────────────────────────────────────────────────────────────────

    def scheme(self) -> str:
        return self.one_of(Scheme)

    def kind(self) -> str:
        return self.one_of(["label", "type"])

    def comparison(self) -> str:
        return self.one_of(COMPARISONS)

    # ── sums of counts ──────────────────────────────────────────────────────────────────────────

    def sum(self) -> Items:
        items = [self._item(-1 if self.accept("-") else 1)]
        while self.sees("+", "-"):
            items.append(self._item(-1 if self.take().value == "-" else 1))
        return items

    def _item(self, sign: int) -> int | Term:
        weight = sign
        if self.piece.kind == scanner.NUMBER:
            weight *= self.integer()
            if not self.accept("*") and not self.sees("count", "tokens"):
                return weight
        elif not self.sees("count", "tokens"):
            raise Mismatch(self.at, {"count": "count(A)", "tokens": "tokens(A)"}, "a number")
        unit = self.one_of(["count", "tokens"])
        self.one_of(["("])
        name = self.name("segment" if unit == "count" else "name")
        test = self.test() if self.accept("at") else None
        self.one_of([")"])
        return Term(weight, name, unit, test)

    # ── the end of a rule ───────────────────────────────────────────────────────────────────────

    def penalty(self, optional: bool = False) -> float:
        """The penalty, inf if the rule is hard."""
        if optional and self.piece.kind == scanner.STOP:
            return float("inf")
        if not self.sees(*PENALTY_WORDS):
            missing = "the rule does not say what it costs; end it with 'hard' or 'penalty NUMBER'"
            at_end = self.piece.kind == scanner.STOP
            raise Mismatch(self.at, {word: word for word in PENALTY_WORDS}, message=missing if at_end else "")
        penalty = float("inf") if self.take().value == "hard" else self._amount()
        if self.piece.kind != scanner.STOP:
            raise Mismatch(self.at, {}, message=f"only a comment may follow the penalty; remove {self.piece}")
        return penalty

    def _amount(self) -> float:
        first = self.piece
        sign = -1 if self.accept("-") else 1
        value = sign * (float(self.take().value) if self.sees("inf", "nan") else self.number())
        if not value >= 0:
            self.fault(f"the penalty is {value:g}; give a number of at least 0, or write 'hard'", first)
        return value
