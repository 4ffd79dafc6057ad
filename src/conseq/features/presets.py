"""Templates for the usual tasks, by name: `PRESETS["ner"]` ─→ templates.

The names `word`, `lower`, … look at the token column, whatever it is called. A preset that can use a second
column (`pos`, `chunk`) takes it where the data has it.
"""

from __future__ import annotations

from collections.abc import Sequence

from conseq.errors import TemplateError
from conseq.features.sources import Source
from conseq.features.templates import Template, parse_templates

_CHUNK = """
word[-2..2]
word[-1] & word[0]
word[0] & word[1]
"""

_CHUNK_COLUMN = """
{c}[-2..2]
{c}[-2] & {c}[-1]
{c}[-1] & {c}[0]
{c}[0] & {c}[1]
{c}[1] & {c}[2]
{c}[-2] & {c}[-1] & {c}[0]
{c}[-1] & {c}[0] & {c}[1]
{c}[0] & {c}[1] & {c}[2]
"""

_WORD_PARTS = """
prefix(1)[0]
prefix(2)[0]
prefix(3)[0]
prefix(4)[0]
suffix(1)[0]
suffix(2)[0]
suffix(3)[0]
suffix(4)[0]
"""

_NER = (
    """
bias[0]
word[-1..1]
lower[-2..2]
lower[-1] & lower[0]
lower[0] & lower[1]
shape[0]
short-shape[-2..2]
short-shape[-1] & short-shape[0]
short-shape[0] & short-shape[1]
short-shape[-1] & short-shape[0] & short-shape[1]
short-shape[-1] & lower[0]
lower[-1] & short-shape[0]
digits[0]
first[0] & short-shape[0]
suffix(3)[-1]
suffix(3)[1]
match(/^[A-Z]\\.$/)[-1..1]
match(/^[A-Z]+$/)[0]
match(/^[A-Z].*[A-Z]/)[0]
match(/-/)[0]
match(/^[IVXLCDM]+$/)[0]
"""
    + _WORD_PARTS
)

_NER_COLUMN = """
{c}[-2..2]
{c}[-1] & {c}[0]
{c}[0] & {c}[1]
{c}[-1] & {c}[0] & {c}[1]
{c}[0] & short-shape[0]
"""

_FIELDS = (
    """
bias[0]
word[-2..2]
lower[-3..3]
lower[-1] & lower[0]
lower[0] & lower[1]
lower[-2] & lower[-1]
lower[1] & lower[2]
short-shape[-2..2]
short-shape[-1] & short-shape[0]
short-shape[0] & short-shape[1]
short-shape[-1] & short-shape[0] & short-shape[1]
short-shape[-2] & short-shape[-1] & short-shape[0]
short-shape[0] & short-shape[1] & short-shape[2]
shape[0]
digits[-1..1]
length[0]
position(10)[0]
position(10)[0] & short-shape[0]
first[0]
last[0]
unknown[0]
lower[-1] & short-shape[0]
short-shape[0] & lower[1]
match(/^(19|20)\\d\\d[a-z]?\\W*$/)[-1..1]
match(/^\\d+\\W*$/)[-1..1]
match(/^\\d+\\s*[-–—]+\\s*\\d+\\W*$/)[-1..1]
match(/^[A-Z]\\.?,?$/)[-2..2]
match(/^\\W+$/)[-2..2]
match(/[.]$/)[-1..0]
match(/[,]$/)[-1..0]
match(/^["'“‘`]/)[-1..1]
match(/["'”’]\\W*$/)[-1..1]
match(/^[(\\[]/)[-1..1]
match(/[)\\]]\\W*$/)[-1..1]
match(/^(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/)[-1..1]
match(/^(?i:pp?|pages?|vol|volume|no|number|eds?|editors?|in|proc|proceedings|university|press|thesis|report|technical|journal|conference|institute|dept|department)\\W*$/)[-2..2]
match(/^(?i:https?:|www|doi|10\\.\\d)/)[0]
"""
    + _WORD_PARTS
)

_LANDMARKS = ("year", "quote", "in", "initial", "editor", "low", "journal", "pages")
"""Kinds of tokens that tell, by how many came before and are to come, which part of a record this is."""

_RECORD = (
    "".join(f"seen({k})[0] & kind[0]\nahead({k})[0] & kind[0]\n" for k in _LANDMARKS)
    + """
seen(low)[0] & seen(year)[0] & kind[0]
seen(low)[0] & ahead(year)[0] & kind[0]
seen(low)[0] & ahead(low)[0] & kind[0]
seen(low)[0] & seen(in)[0] & kind[0]
seen(low)[0] & seen(initial)[0] & ahead(initial)[0] & kind[0]
seen(low)[0] & kind[-1] & kind[0]
seen(low)[0] & kind[0] & kind[1]
seen(year)[0] & kind[-1] & kind[0]
seen(year)[0] & kind[0] & kind[1]
seen(in)[0] & kind[-1] & kind[0]
seen(in)[0] & kind[0] & kind[1]
seen(editor)[0] & kind[-1] & kind[0]
seen(editor)[0] & kind[0] & kind[1]
segment(start)[-1..1]
segment(kind)[0]
segment(previous)[0]
segment(next)[0]
segment(previous)[0] & segment(kind)[0]
segment(kind)[0] & segment(next)[0]
"""
)

_LETTERS = """
bias[0]
word[-4..4]
word[-1] & word[0]
word[0] & word[1]
word[-2] & word[-1] & word[0]
word[-1] & word[0] & word[1]
word[0] & word[1] & word[2]
word[-3] & word[-2] & word[-1] & word[0]
word[-2] & word[-1] & word[0] & word[1]
word[-1] & word[0] & word[1] & word[2]
word[0] & word[1] & word[2] & word[3]
word[-2] & word[-1] & word[0] & word[1] & word[2]
word[-3] & word[-2] & word[-1] & word[0] & word[1]
word[-1] & word[0] & word[1] & word[2] & word[3]
word[-4] & word[-3] & word[-2] & word[-1] & word[0]
word[0] & word[1] & word[2] & word[3] & word[4]
word[-3] & word[-2] & word[-1] & word[0] & word[1] & word[2] & word[3]
"""

_CLASSIC = """
word[0]
unknown[0]
match(/^[A-Z]/)[0]
match(/^[A-Z]+$/)[0]
match(/^[a-z]+$/)[0]
match(/^[A-Z][a-z]+$/)[0]
match(/^[A-Z]\\.?$/)[0]
match(/^\\d+$/)[0]
match(/\\d/)[0]
match(/^\\d{4}$/)[0]
match(/^\\d{5}$/)[0]
match(/^[A-Za-z]+\\d+/)[0]
match(/^\\W+$/)[0]
match(/^[.]$/)[0]
match(/^,$/)[0]
match(/-/)[0]
match(/[.]$/)[0]
match(/^[A-Z].*[A-Z]/)[0]
"""

PRESETS: dict[str, tuple[str, str, str]] = {
    "chunk": (_CHUNK, _CHUNK_COLUMN, _CHUNK_COLUMN),
    "ner": (_NER, _NER_COLUMN, "{c}[0]\n"),
    "fields": (_FIELDS + _RECORD, "{c}[-1..1]\n", "{c}[-1..1]\n"),
    "letters": (_LETTERS, "", ""),
    "classic": (_CLASSIC, "", ""),
}
"""name → (templates over the token column, over a second column, over each further one).

chunk: words and tags in a window (CRF++'s chunking example). ner: named entities in text; a second column is
taken for part-of-speech tags. fields: citations, addresses and other records. letters: letters to phonemes,
morphemes. classic: the plain families Word, Unknown and ConcatRegex of Fersini et al. 2014 (Edge, Start and
End are the chain's own weights).
"""


def preset(name: str, columns: Sequence[str]) -> tuple[Template, ...]:
    """The templates of a preset for data with these observed columns, the tokens first.

    >>> len(preset("chunk", ["word"])), len(preset("chunk", ["word", "pos"]))
    (7, 19)
    """
    if name not in PRESETS:
        raise TemplateError(f"there is no preset {name!r}; there are: {', '.join(PRESETS)}")
    tokens, second, further = PRESETS[name]
    shapes = [second] + [further] * len(columns)
    pairs = zip(shapes, columns[1:], strict=False)
    text = tokens + "".join(shape.format(c=Source("value", "", column)) for shape, column in pairs)
    return parse_templates(text.splitlines())
