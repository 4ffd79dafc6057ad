"""Instances in TiMBL's formats: one per line, its values and then its class.

Columns   values between blanks or tabs         C4.5   values between commas, no blanks in the line
"""

from __future__ import annotations

from conseq.io.source import Input, load

COMMA = ","


def read_instances(source: Input) -> tuple[list[list[str]], list[str]]:
    """The rows of values and the classes; the first line says what separates them.

    >>> import io
    >>> read_instances(io.BytesIO(b"a,x,one\\nb,y,two\\n"))
    ([['a', 'x'], ['b', 'y']], ['one', 'two'])
    """
    block = load(source)
    rows: list[list[str]] = []
    classes: list[str] = []
    separator: str | None = None
    for number, line in block.text_lines():
        if not rows:
            separator = COMMA if COMMA in line and len(line.split()) == 1 else None
        *row, name = line.strip().split(separator)
        if not row:
            raise block.error("there is only one column; give values and then the class", number)
        if rows and len(row) != len(rows[0]):
            raise block.error(
                f"{len(row) + 1} columns where the lines above have {len(rows[0]) + 1}; "
                "give every line the same columns",
                number,
            )
        rows.append(row)
        classes.append(name)
    if not rows:
        raise block.error("the file has no instances; give at least one line that is not blank")
    return rows, classes
