"""A record written in a style: (record, style, random state) → labelled pieces of text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from random import Random

from conseq.datasets.bibliography.phrases import title_case
from conseq.datasets.bibliography.records import Record
from conseq.datasets.bibliography.styles import Style
from conseq.datasets.bibliography.venues import abbreviate
from conseq.datasets.template import Piece, fill
from conseq.datasets.words import venues

MONTH_SHARE = 0.5
"""How often a style that writes months writes one."""

ABBREVIATED = {"article": "journal", "conference": "booktitle"}
"""The name that a kind of publication may abbreviate."""

CASES: dict[str, Callable[[str], str]] = {"sentence": str, "title": title_case}
MONTH_FORMS: dict[str, Callable[[str], str]] = {
    "long": str,
    "short": lambda month: month if len(month) < 5 else month[:3] + ".",
}


DROP_SHARE = 0.3
"""How often a citation lacks a field that it should have, as a part of the noise."""


def write(record: Record, style: Style, rng: Random, noise: float = 0.0) -> list[Piece]:
    """The citation as pieces, field by field with what stands between them.

    >>> from conseq.datasets.people import Person
    >>> from conseq.datasets.bibliography.styles import STYLES
    >>> author = Person(('Ada',), 'Lund')
    >>> owls = Record('book', {'title': 'Owls', 'publisher': 'Finch'}, (author,), date=date(1999, 1, 1))
    >>> ''.join(text for text, label in write(owls, STYLES['harvard'], Random(0)))
    'Lund, A. 1999, Owls, Finch.'
    """
    made = _values(record, style, rng)
    if noise and rng.random() < noise * DROP_SHARE:
        del made[rng.choice([key for key, piece in made.items() if piece.label])]
    return _assembled(made, style)


def _values(record: Record, style: Style, rng: Random) -> dict[str, Piece]:
    """What the style's templates can name, each value with its label."""
    made = {key: Piece(text, key) for key, text in record.texts.items()}
    made["title"] = Piece(CASES[style.case](record.texts["title"]), "title")
    venue = ABBREVIATED.get(record.kind, "")
    if venue and rng.random() < style.short:
        made[venue] = Piece(abbreviate(made[venue].text), venue)
    if "doi" in made:
        made["doilink"] = Piece("https://doi.org/" + made["doi"].text, "doi")
    if record.date:
        made["date"] = Piece(_date(record.date, style, rng), "date")
    if record.pages:
        made["pages"] = Piece(_pages(*record.pages, style, rng), "pages")
    if style.markers and (form := rng.choice(style.markers)):
        made["marker"] = Piece(_marker(form, record, rng), "marker")
    return made | _people(record, style)


def _people(record: Record, style: Style) -> dict[str, Piece]:
    """Authors and editors; editors without authors lead the citation and are written as authors are."""
    made: dict[str, Piece] = {}
    if record.authors:
        made["author"] = Piece(style.authors.write(record.authors), "author")
    if record.editors:
        key, names = ("editor", style.editors) if record.authors else ("leader", style.authors)
        made[key] = Piece(names.write(record.editors), "editor")
        many = len(record.editors) > 1
        made["role"] = Piece(style.roles[many])
        made["eds"] = Piece("eds." if many else "ed.")
    return made


def _date(day: date, style: Style, rng: Random) -> str:
    if not style.month or rng.random() > MONTH_SHARE:
        return str(day.year)
    month = MONTH_FORMS[style.month](venues.MONTHS[day.month - 1])
    return f"{month} {day.year}"


def _pages(first: int, last: int, style: Style, rng: Random) -> str:
    x = rng.random()
    if first == last or x < 0.08:
        return str(first)
    short = x > 0.9 and 0 < first // 100 == last // 100 and last % 100 > 9
    return f"{first}{style.dash}{last % 100 if short else last}"


def _marker(form: str, record: Record, rng: Random) -> str:
    who = (record.authors or record.editors)[0].surname
    letters = who.replace(" ", "")[:3] + (f"{record.date.year % 100:02d}" if record.date else "")
    return form.format(k=rng.randrange(1, 160), L=letters)


LEFTOVERS = ("{thesis}", "{report}", "{institution}")
"""Tried after the parts of every style, for citations in which the other half of a pair was forgotten."""


def _assembled(made: dict[str, Piece], style: Style) -> list[Piece]:
    """The style's parts in order, each that has its values, with separators between."""
    pieces: list[Piece] = []
    for template in (*style.parts, *LEFTOVERS):
        part = fill(template, made)
        if part and pieces and not pieces[-1].text.endswith(" "):
            pieces.append(Piece(" " if part[0].text.startswith("(") else style.separator))
        pieces += part
    return tidy([*pieces, Piece(style.end)])


def tidy(pieces: list[Piece]) -> list[Piece]:
    """Neighbouring separators joined; no full stop after a full stop, nothing after a question mark.

    >>> tidy([Piece('Why?', 'title'), Piece(','), Piece('" '), Piece('Eds.'), Piece('. ')])
    [Piece(text='Why?', label='title'), Piece(text='" Eds. ', label=None)]
    """
    out: list[Piece] = []
    for text, label in pieces:
        before = out[-1].text[-1:] if out else ""
        if label is None and (text[:1], before) in DOUBLED:
            text = text[1:]
        if label is None and out and out[-1].label is None:
            out[-1] = Piece(out[-1].text + text)
        elif text:
            out.append(Piece(text, label))
    return out


DOUBLED = frozenset((mark, before) for mark in ".," for before in "?!,") | {(".", ".")}
"""(mark, character before it) where the mark goes."""
