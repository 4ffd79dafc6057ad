"""Bibliographic citations: (n, seed, noise) → records → styles → labelled pieces → `Corpus`."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from conseq.corpus import Corpus
from conseq.datasets.bibliography.records import record
from conseq.datasets.bibliography.styles import STYLES
from conseq.datasets.bibliography.writing import assemble, values
from conseq.datasets.noise import disturb
from conseq.datasets.rendering import Piece, bio, check_request, to_corpus

DROP_SHARE = 0.3
"""How often a citation lacks a field that it should have, as a part of the noise."""

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
    check_request(n, noise)
    return to_corpus(_examples(n, Random(f"citations {seed}"), noise), bio)


def _examples(n: int, rng: Random, noise: float) -> Iterator[list[Piece]]:
    for _ in range(n):
        style = rng.choice(_STYLES)
        made = values(record(rng), style, rng)
        if noise and rng.random() < noise * DROP_SHARE:
            _forget(made, rng)
        yield disturb(assemble(made, style), rng, noise)


def _forget(made: dict[str, Piece], rng: Random) -> None:
    """Leave out one field."""
    del made[rng.choice([key for key, piece in made.items() if piece.label])]
