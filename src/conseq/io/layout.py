"""What the columns of a file mean.  first data line + what the user asked for → `Layout`.

columns=None        1 column → word; 2 → word, label; 3 → word, pos, label; more → word, col2, …, label
columns=(names…)    `_` or `-` skips a column; `label` (else the last) holds the labels
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from conseq.corpus import WORD
from conseq.errors import DataError, counted
from conseq.io.source import Block

LABEL = "label"
SKIPPED = ("_", "-")
TAB, BLANK = "\t", " "
DOCSTART = "-DOCSTART-"
_CELLS = re.compile(r"[^ \t]+")


@dataclass
class ColumnOptions:
    """How to read columns; `conseq.io.read` explains the options."""

    columns: str | Iterable[str] | None = None
    label: str | None = LABEL
    label_optional: bool = False
    partial: bool = False

    def names(self) -> tuple[str, ...] | None:
        """The names given, checked: at least one column to keep, none twice."""
        if self.columns is None:
            return None
        given = self.columns.split(",") if isinstance(self.columns, str) else self.columns
        names = tuple(name.strip() for name in given)
        kept = [name for name in names if name not in SKIPPED]
        if not kept or "" in kept or len(set(kept)) < len(kept):
            raise DataError(
                f"{', '.join(names)!r} cannot name columns; give each column a name of its own, "
                "`_` for one to skip"
            )
        return names


@dataclass(frozen=True)
class Layout:
    """The columns of one file.

    `separator` is what cells are split at (a tab, or runs of blanks), `roles` has a name per cell
    (skipped cells have one of SKIPPED), `label` is the number of the label cell. `line` is the line
    that decided.
    """

    separator: str
    roles: tuple[str, ...]
    label: int | None
    partial: bool
    line: int

    @property
    def width(self) -> int:
        return len(self.roles)

    @property
    def kept(self) -> dict[str, int]:
        """Name → cell of each column other than the labels; the column of the words first."""
        cells = {name: i for i, name in enumerate(self.roles) if name not in SKIPPED and i != self.label}
        return dict(sorted(cells.items(), key=lambda item: item[0] != WORD))

    @property
    def needed(self) -> tuple[int, ...]:
        """The cells that may not be empty: the word, and the label unless some are open."""
        word = next(iter(self.kept.values()))
        return (word,) if self.label is None or self.partial else (word, self.label)

    @property
    def paddable(self) -> bool:
        """Whether a line may lack its last cell: an empty label of a partly labelled, tabbed file."""
        return self.partial and self.separator == TAB and self.label == self.width - 1

    def padded(self, rows: list[str]) -> list[str]:
        """The rows, with the tab before an empty last label put in where it may be missing."""
        if not self.paddable:
            return rows
        short = self.width - 2
        return [row + TAB if row.count(TAB) == short else row for row in rows]


def split_cells(line: str, separator: str) -> list[str]:
    """The cells of a line.

    >>> split_cells("New York\\tNNP", TAB), split_cells(" New  York ", BLANK)
    (['New York', 'NNP'], ['New', 'York'])
    """
    return line.split(TAB) if separator == TAB else _CELLS.findall(line)


def is_blank(line: str) -> bool:
    """Whether a line holds no token: blanks only, or the mark before a document.

    >>> is_blank(" \\t"), is_blank("-DOCSTART- -X- O O"), is_blank("-DOCSTART-s NN O")
    (True, True, False)
    """
    if line.startswith(DOCSTART):
        return line[len(DOCSTART) : len(DOCSTART) + 1] in ("", BLANK, TAB)
    return not line.strip(BLANK + TAB)


def layout_of(block: Block, options: ColumnOptions) -> Layout | None:
    """The layout that the first data line of a block decides; None if the block has no data line."""
    lines = ((number, line.decode(errors="replace")) for number, line in block.lines())
    data = ((number, line) for number, line in lines if not is_blank(line))
    number, first = next(data, (0, ""))
    if not number:
        return None
    separator = _separator(first, options.partial)
    found = len(split_cells(first, separator))
    names = options.names()
    if names is None:
        if options.partial:  # the first line may lack its empty last cell
            found = max([found, *(len(split_cells(line, separator)) for _, line in data)])
        names = _usual_names(found, options.label)
    layout = Layout(separator, names, _label_cell(names, options.label), options.partial, number)
    return _fitted(layout, found, options.label_optional, block)


def _separator(line: str, partial: bool) -> str:
    """A tab where the line has one. A line of one cell says nothing; empty labels need the tab."""
    alone = len(split_cells(line, BLANK)) == 1
    return TAB if TAB in line or (partial and alone) else BLANK


def _usual_names(width: int, label: str | None) -> tuple[str, ...]:
    """The names of columns that the user did not name.

    >>> _usual_names(2, LABEL), _usual_names(4, LABEL), _usual_names(2, None)
    (('word', 'label'), ('word', 'col2', 'col3', 'label'), ('word', 'col2'))
    """
    names = [WORD, *(f"col{i}" for i in range(2, width + 1))]
    if label is not None and width > 1:
        names[1:] = ["pos", label] if width == 3 else [*names[1:-1], label]
    return tuple(names)


def _label_cell(names: tuple[str, ...], label: str | None) -> int | None:
    """The column of that name, else the last, if it leaves a column for the words."""
    if label is None:
        return None
    if label in names:
        return names.index(label)
    kept = [name for name in names if name not in SKIPPED]
    return len(names) - 1 if len(kept) > 1 and names[-1] == kept[-1] else None


def _fitted(layout: Layout, found: int, label_optional: bool, block: Block) -> Layout:
    """The layout, without its label column if the file lacks it; an error if the file does not fit."""
    short = found == layout.width - 1
    if found == layout.width or (short and layout.paddable):
        return layout
    if short and label_optional and layout.label is not None:
        roles = layout.roles[: layout.label] + layout.roles[layout.label + 1 :]
        return replace(layout, roles=roles, label=None)
    raise block.error(
        f"{counted(found, 'column')} where {layout.width} are named ({', '.join(layout.roles)}); "
        "name every column in order, `_` for one to skip",
        layout.line,
    )
