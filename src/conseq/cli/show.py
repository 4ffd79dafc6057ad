"""Showing results: tables and coloured text on a terminal, plain aligned lines in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from conseq.labelled import LabelledSequence

Row = Sequence[str]

_NUMBER = set("0123456789.,+-–%×() ")


def on_terminal() -> bool:
    """Whether a person looks at standard output."""
    return sys.stdout.isatty()


def console() -> Console:
    """Standard output for rich."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, emoji=False)


def show(line: str = "", style: str = "") -> None:
    """One line, in a style on a terminal."""
    if on_terminal() and style:
        console().print(line, style=style, markup=False)
    else:
        print(line)


def show_table(header: Row, rows: Iterable[Row], *, title: str = "", last_is_total: bool = False) -> None:
    """A table; columns that hold numbers only stand to the right."""
    body = [list(row) for row in rows]
    right = [_is_numeric([row[i] for row in body]) for i in range(len(header))]
    if title:
        show(title, "bold")
    if on_terminal():
        _show_rich(header, body, right, last_is_total)
        return
    widths = [max(map(len, cells)) for cells in zip(header, *body, strict=True)]
    for row in [header, *body]:
        cells = (
            c.rjust(w) if is_number else c.ljust(w)
            for c, w, is_number in zip(row, widths, right, strict=True)
        )
        print("  ".join(cells).rstrip())


def _is_numeric(cells: list[str]) -> bool:
    return any(cells) and all(set(cell) <= _NUMBER for cell in cells)


def _show_rich(header: Row, rows: list[list[str]], right: list[bool], total: bool) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for name, is_number in zip(header, right, strict=True):
        table.add_column(Text(name), justify="right" if is_number else "left")
    for i, row in enumerate(rows):
        last = total and i == len(rows) - 1
        if last:
            table.add_section()
        table.add_row(*map(Text, row), style="bold" if last else None)
    console().print(table)


def show_facts(facts: Iterable[tuple[str, str]], *, title: str = "") -> None:
    """Names and values, one a line."""
    rows = list(facts)
    width = max(len(name) for name, _ in rows)
    if not on_terminal():
        if title:
            print(title)
        for name, value in rows:
            print(f"{name.ljust(width)}  {value}")
        return
    from rich.table import Table
    from rich.text import Text

    if title:
        show(title, "bold green")
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    for name, value in rows:
        table.add_row(f"  {name}", Text(value))
    console().print(table)


def percent(fraction: float) -> str:
    """A fraction from 0 to 1 as percent.

    >>> percent(0.93217)
    '93.22'
    """
    return f"{100 * fraction:.2f}"


# ── labelled text in colour ─────────────────────────────────────────────────────────────────────


GOLDEN = (3 - 5**0.5) / 2
"""Hues this share of the colour circle apart are as different as they can be, however many there are."""


class Palette:
    """A background for each type of segment."""

    def __init__(self, types: Iterable[str]) -> None:
        self.styles = {type: _style(i) for i, type in enumerate(dict.fromkeys(types))}

    def coloured(self, sequence: LabelledSequence) -> Text:
        """The text of a sequence with its segments in colour."""
        from rich.text import Text

        text = Text()
        place = 0
        for piece, type in sequence.pieces():
            gap = _gap(sequence, place, piece)
            text.append(gap)
            text.append(piece, self.styles[type] if type else "dim")
            place += len(gap) + len(piece)
        return text

    def legend(self, types: Iterable[str] | None = None) -> Text:
        """The colours of the types; of all of them if none are named."""
        from rich.text import Text

        chosen = self.styles if types is None else dict.fromkeys(types)
        return Text(" ").join(Text(f" {type} ", self.styles[type]) for type in chosen)


def _style(number: int) -> str:
    from colorsys import hls_to_rgb

    lightness = (0.80, 0.68)[number % 2]
    red, green, blue = (round(255 * x) for x in hls_to_rgb(number * GOLDEN % 1, lightness, 0.75))
    return f"rgb(20,20,20) on rgb({red},{green},{blue})"


def _gap(sequence: LabelledSequence, place: int, piece: str) -> str:
    """What stands between the pieces so far and the next one."""
    if sequence.text is None:
        return " " if place else ""
    return sequence.text[place : sequence.text.find(piece, place)]
