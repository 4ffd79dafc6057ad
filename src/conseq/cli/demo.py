"""`conseq demo`: learn from a few examples, obey rules, read what was never seen, and tell a person about it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from conseq.cli.examples import Doubt, Hint, Mended, doubt, hint, mended
from conseq.cli.progress import training_line
from conseq.cli.show import Palette, console, counted, on_terminal, percent, show, show_table, side_by_side
from conseq.cli.summary import decode_all

if TYPE_CHECKING:
    from conseq.cli.summary import Summary
    from conseq.constraints.base import Constraint
    from conseq.corpus import Corpus
    from conseq.labelled import LabelledSequence
    from conseq.labeller import SequenceLabeller
