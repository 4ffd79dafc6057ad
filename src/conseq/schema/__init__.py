"""Labels, how they are written, and the segments they stand for.

    label strings ─→ scheme (how to parse one) ─→ LabelTables (arrays over labels and pairs of labels)
                                                      │
            ids[T], offsets[N+1] ─→ read_spans ───────┤─→ SpanArrays, Span
            spans                ─→ write_spans ──────┤─→ labels
            labels of any look   ─→ read_freely ──────┤─→ spans     (write_paths: labels without letters)
            labels of one scheme ─→ convert ──────────┤─→ labels of another
                                                      └─→ Schema: all of it behind one object

No other part of conseq knows what `B-` means.
Axes: T tokens, N sequences, Y labels, L levels (1 unless hierarchical), P segment types.
"""

from conseq.schema.conversion import convert, convert_column
from conseq.schema.core import Schema
from conseq.schema.scheme import AUTO, OUTSIDE, Scheme, detect_scheme, parse_label
from conseq.schema.spans import MODES, Span, SpanArrays, read_freely
from conseq.schema.writing import write_paths, write_spans

__all__ = [
    "AUTO",
    "MODES",
    "OUTSIDE",
    "Schema",
    "Scheme",
    "Span",
    "SpanArrays",
    "convert",
    "convert_column",
    "detect_scheme",
    "parse_label",
    "read_freely",
    "write_paths",
    "write_spans",
]
