"""Bibliographic citations: (n, seed, noise) → records → styles → labelled pieces → `Corpus`."""

from __future__ import annotations

from random import Random

from conseq.corpus import Corpus
from conseq.datasets.bibliography.records import record
from conseq.datasets.bibliography.styles import STYLES
from conseq.datasets.bibliography.writing import write
from conseq.datasets.rendering import generated
from conseq.datasets.template import Piece

_STYLES = tuple(style for style in STYLES.values() for _ in range(style.weight))


def citations(n: int, seed: int = 0, noise: float = 0.1) -> Corpus:
    """`n` citations in twenty styles, labelled by field (BIO), with their texts.

    Fields: author, editor, title, booktitle, journal, series, volume, number, pages, date, publisher,
    location, institution, thesis, report, note, doi, url, marker.  What stands between fields is O: commas,
    quotes, `In`, `vol.`, `pp.`, `(eds.)`.  Another seed gives another sample with surnames and title words of
    its own; the first citations of a larger sample are those of a smaller one.

    >>> cited = citations(14, seed=1)[3]
    >>> cited.text[:50]
    '24. Kapoor, C.: An approach to plurals based on th'
    >>> list(zip(cited.tokens, cited.labels))[2:8]  # doctest: +NORMALIZE_WHITESPACE
    [('Kapoor', 'B-author'), (',', 'I-author'), ('C', 'I-author'), ('.', 'I-author'), (':', 'O'),
     ('An', 'B-title')]

    With noise 0 these hold of every citation, in the language of constraints:

        at most 1 segment of X              for every field X
        exactly 1 segment of title
        count(author) + count(editor) >= 1
        no title before author
        not both journal and booktitle
        if thesis then institution
        if report then institution
        if number then volume
        count(volume) <= count(journal) + count(series)
        count(pages) <= count(journal) + count(booktitle)
        count(editor) <= count(booktitle) + count(publisher)
        not both thesis and publisher
        not both journal and publisher
    """
    return generated(_one, "citations", n, seed, noise, "bio")


def _one(rng: Random, noise: float) -> list[Piece]:
    style = rng.choice(_STYLES)
    return write(record(rng), style, rng, noise)
