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

    >>> corpus = citations(100, seed=1)
    >>> corpus[7].text
    'x'
    >>> corpus[7].tokens[:3], corpus[7].labels[:3]
    'x'

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
    """Leave out one field, the title seldom."""
    fields = [key for key, piece in made.items() if piece.label]
    forgotten = rng.choice(fields)
    if forgotten != "title" or rng.random() < 0.2:
        del made[forgotten]
