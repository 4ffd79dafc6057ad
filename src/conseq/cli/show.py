"""Showing results: tables and coloured text on a terminal, plain aligned lines in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from conseq.cli.outcome import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from conseq.labelled import LabelledSequence

Names = Sequence[str]

LEAST_WORDS = 12
"""Characters that a column of words has at least in a table."""

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
        console().print(visible(line), style=style, markup=False)
    else:
        print(line)


def show_json(values: object) -> None:
    """Plain values as one line of JSON."""
    print(json.dumps(values, ensure_ascii=False))


def fits(header: Names, rows: list[list[str]]) -> bool:
    """Whether a table has room in the width of the terminal; in a pipe there is always room."""
    if not on_terminal():
        return True
    screen = console()
    unbounded = screen.options.update(max_width=1 << 20)
    return screen.measure(_rich_table(header, rows), options=unbounded).maximum <= screen.width


def show_table(
    header: Names, rows: Iterable[Sequence[object]], *, title: str = "", last_is_total: bool = False
) -> None:
    """A table; columns that hold numbers only stand to the right."""
    body = [list(map(str, row)) for row in rows]
    if title:
        show(title, "bold")
    right = _numeric(header, body)
    if on_terminal():
        if _squeezed(header, body, right):
            _show_blocks(header, body)
        else:
            console().print(_rich_table(header, body, last_is_total))
        return
    widths = [max(map(len, cells)) for cells in zip(header, *body, strict=True)]
    for row in [header, *body]:
        cells = (
            c.rjust(w) if is_number else c.ljust(w)
            for c, w, is_number in zip(row, widths, right, strict=True)
        )
        print("  ".join(cells).rstrip())


def _squeezed(header: Names, rows: list[list[str]], right: list[bool]) -> bool:
    """Whether the numbers of a table leave no room for its words on this terminal."""
    widths = (max(map(len, cells)) for cells in zip(header, *rows, strict=True))
    needed = (w if is_number else min(w, LEAST_WORDS) for w, is_number in zip(widths, right, strict=True))
    return sum(needed) + 2 * len(header) + 1 > console().width


def _show_blocks(header: Names, rows: list[list[str]]) -> None:
    """A table for a narrow terminal: each row over several lines."""
    from rich.text import Text

    screen = console()
    for first, *others in rows:
        pairs = (f"{name} {cell}".strip() for name, cell in zip(header[1:], others, strict=True))
        screen.print(Text(visible(first), "bold"))
        screen.print(Text(visible("  " + ", ".join(pairs))))
    screen.print()


def _numeric(header: Names, rows: list[list[str]]) -> list[bool]:
    """Whether each column holds numbers only."""
    columns = [[row[i] for row in rows] for i in range(len(header))]
    return [any(cells) and all(set(cell) <= _NUMBER for cell in cells) for cells in columns]


def _rich_table(header: Names, rows: list[list[str]], total: bool = False) -> Table:
    """A table that breaks long names in two rather than shorten them."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for name, is_number in zip(header, _numeric(header, rows), strict=True):
        table.add_column(
            Text(name), justify="right" if is_number else "left", no_wrap=is_number, overflow="fold"
        )
    for i, row in enumerate(rows):
        last = total and i == len(rows) - 1
        if last:
            table.add_section()
        table.add_row(*(Text(visible(cell)) for cell in row), style="bold" if last else None)
    return table


def show_facts(facts: Iterable[tuple[str, str]], *, title: str = "") -> None:
    """Names and values, one per line."""
    rows = list(facts)
    width = max(len(name) for name, _ in rows)
    if title:
        show(title, "bold green")
    if not on_terminal():
        for name, value in rows:
            print(f"{name.ljust(width)}  {value}")
        return
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    for name, value in rows:
        table.add_row(f"  {name}", Text(visible(value)))
    console().print(table)


def percent(fraction: float) -> str:
    """A fraction from 0 to 1 as percent.

    >>> percent(0.93217)
    '93.22'
    """
    return f"{100 * fraction:.2f}"


def size(n_bytes: int) -> str:
    """The size of a file.

    >>> size(4_321), size(1_234_567)
    ('4.3 kB', '1.2 MB')
    """
    return f"{n_bytes / 1e3:.1f} kB" if n_bytes < 1e5 else f"{n_bytes / 1e6:.1f} MB"


# ── labelled text in colour ─────────────────────────────────────────────────────────────────────


BACKGROUNDS = (
    117, 172, 205, 49, 105, 223, 149, 203, 139, 72, 221, 173,
    213, 44, 111, 35, 217, 143, 142, 219, 189, 114, 43, 215,
)  # fmt: skip
"""Light colours of the 256 that terminals have, each as different as can be from those before it."""

ROUNDS = ("", "underline ", "bold ", "italic ")
"""What tells types with the same background apart."""


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
            text.append(visible(gap))
            text.append(visible(piece), self.styles[type] if type else "dim")
            place += len(gap) + len(piece)
        return text

    def legend(self, types: Iterable[str] | None = None) -> Text:
        """The colours of the types; of all of them if none are named."""
        from rich.text import Text

        chosen = self.styles if types is None else dict.fromkeys(types)
        return Text(" ").join(Text(visible(f" {type} "), self.styles[type]) for type in chosen)


def _style(number: int) -> str:
    turn, place = divmod(number, len(BACKGROUNDS))
    return f"{ROUNDS[turn % len(ROUNDS)]}color(16) on color({BACKGROUNDS[place]})"


def _gap(sequence: LabelledSequence, place: int, piece: str) -> str:
    """What stands between the pieces so far and the next one."""
    if sequence.text is None:
        return " " if place else ""
    return sequence.text[place : sequence.text.find(piece, place)]
