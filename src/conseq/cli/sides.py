"""Two readings of a sequence side by side.  Mended ─→ rows of segments, as text or in colour

Without rules on the left, with them on the right; `Mended.rows` says which segments.
"""

from __future__ import annotations

import textwrap
from itertools import zip_longest
from typing import TYPE_CHECKING

from conseq.cli.show import Palette, console

if TYPE_CHECKING:
    from rich.text import Text

    from conseq.cli.examples import Mended
    from conseq.labelled import LabelledSpan

TITLES = ("without rules", "with rules")
WIDTH, WIDEST, GAP = 80, 110, 2
"""Characters of a line in a pipe, at most on a terminal, and between the two sides."""


def print_sides(found: Mended) -> None:
    """The two readings as aligned lines."""
    width = (WIDTH - 2 * GAP) // 2
    cells = [[_wrapped(span, width) for span in row] for row in found.rows()]
    for left, right in [([TITLES[0]], [TITLES[1]]), *cells]:
        for pair in zip_longest(left, right, fillvalue=""):
            print((" " * GAP).join(["", *(part.ljust(width) for part in pair)]).rstrip())


def _wrapped(span: LabelledSpan | None, width: int) -> list[str]:
    return [] if span is None else textwrap.wrap(f"[{span.type}] {span.text}", width, subsequent_indent="  ")


def colour_sides(found: Mended, palette: Palette) -> None:
    """The two readings as wide as the terminal, up to a point."""
    from rich.table import Table

    screen = console()
    table = Table.grid(padding=(0, GAP), expand=True)
    for _ in TITLES:
        table.add_column(ratio=1, overflow="fold")
    table.add_row(*TITLES, style="dim")
    for row in found.rows():
        table.add_row(*(_coloured(span, palette) for span in row))
    screen.print(table, width=min(screen.width, WIDEST))


def _coloured(span: LabelledSpan | None, palette: Palette) -> Text:
    from rich.text import Text

    if span is None:
        return Text()
    return Text.assemble((f" {span.type} ", palette.styles[span.type]), f" {span.text}")
