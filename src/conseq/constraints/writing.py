r"""How the pieces of a rule are written in the language; `scanner.py` reads them back.

    name     author, B-person, a/b     bare if it is plain, else 'in single quotes'
    word     "Mr."                     in double quotes
    pattern  /\d{4}/                   between slashes, a slash in it written \/
    place    0, -1                     a number

In both kinds of quotes a backslash escapes: the quote itself, \\ \n \r \t.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from unicodedata import category

from conseq.constraints.tokens import Pattern, Places, TokenTest, Words
from conseq.errors import RuleError

START, END = "START", "END"
"""What stands before the first and after the last label of a sequence."""

RESERVED = frozenset(
    re.findall(
        r"\w+",
        """START END agree and are around at before begins both by contains contiguous count each ends equal
        exactly first followed forbid hard if is last later least legal most no not of on one only or
        penalty require segment segments steps then token tokens with""",
    )
)
"""Words of the language: in quotes they are names."""

ESCAPES = {"\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
"""What a letter after a backslash stands for in quotes; a quote stands for itself."""

_WITHIN = frozenset("_-./:+&$%@*")


def begins_name(character: str) -> bool:
    """Whether a bare name may begin so."""
    return character.isalpha() or character == "_"


def within_name(character: str) -> bool:
    """Whether the character may stand further on in a bare name; marks are the vowels of some scripts."""
    return character.isalnum() or character in _WITHIN or category(character).startswith("M")


def name(text: str) -> str:
    """A name of a label or type, in single quotes if it would not read back without.

    >>> name("person-first"), name("two words"), name("before"), name("''")
    ('person-first', "'two words'", "'before'", "'\\\\'\\\\''")
    """
    plain = text[:1] and begins_name(text[0]) and all(map(within_name, text))
    return text if plain and text not in RESERVED else _quoted(text, "'")


def names(texts: Iterable[str], between: str = " or ") -> str:
    """Several names.

    >>> names(["author", "is"])
    "author or 'is'"
    """
    return between.join(map(name, texts))


def step_end(text: str) -> str:
    """One end of a step."""
    return text if text in (START, END) else name(text)


def word(text: str) -> str:
    r"""A token.

    >>> print(word('say "x"'))
    "say \"x\""
    """
    return _quoted(text, '"')


def pattern(text: str) -> str:
    r"""A regular expression.

    >>> print(pattern(r"\d/\d"))
    /\d\/\d/
    """
    pieces = re.findall(r"\\.|.", text, flags=re.DOTALL)
    return f"/{''.join(_in_pattern.get(piece, piece) for piece in pieces)}/"


_in_pattern = {"/": r"\/", "\n": r"\n", "\r": r"\r", "\\\n": r"\n", "\\\r": r"\r"}


def test(passes: TokenTest) -> str:
    """A test of tokens.

    >>> test(Words(frozenset({"Mr.", "Dr."}))), test(Pattern("^x")), test(Places((0, -1)))
    ('"Dr." or "Mr."', '/^x/', '0 or -1')
    """
    match passes:
        case Words(words) if words:
            return " or ".join(map(word, sorted(words)))
        case Pattern(text):
            return pattern(text)
        case Places(places) if places:
            return " or ".join(map(str, places))
    raise RuleError(f"the language has no words for {passes!r}; use words, a pattern or places")


def number(value: float) -> str:
    """A number that reads back exactly, without a needless '.0'.

    >>> number(3.0), number(0.7), number(1e-9)
    ('3', '0.7', '1e-09')
    """
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(float(value))


def steps(pairs: Iterable[tuple[str, str]]) -> str:
    """Steps from one label to the next, where START and END are no names.

    >>> steps([("START", "B-x"), ("B-x", "END")])
    'START -> B-x, B-x -> END'
    """
    return ", ".join(f"{step_end(before)} -> {step_end(after)}" for before, after in pairs)


SLOT = re.compile(r"\{(\w+):(\w+)\}")
"""A slot in the form of a rule: {field:kind}."""

KINDS: Mapping[str, Callable[[Any], str]] = {
    "name": name,
    "segment": name,
    "entity": name,
    "relation": name,
    "either": name,
    "names": names,
    "entities": names,
    "step_end": step_end,
    "steps": steps,
    "test": test,
    "scheme": str,
    "phrase": str,
    "end": str,
    "integer": str,
    "number": number,
}
"""How what a field holds is written, by the kind of its slot; `Reader` reads it by a method of that name."""
SINGLE, SEVERAL = ("name", "segment", "entity", "relation", "either"), ("names", "entities")
"""The kinds that are a name, and those that are a tuple of names."""


def _quoted(text: str, quote: str) -> str:
    written = {after: "\\" + letter for letter, after in ESCAPES.items()} | {quote: "\\" + quote}
    return quote + "".join(written.get(c, c) for c in text) + quote
