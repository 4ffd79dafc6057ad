"""Venues: what a citation shares → the journal's name and the place; long names in short."""

from __future__ import annotations

from random import Random

from conseq.datasets.bibliography.phrases import CITIES, REGION_OF, SUBJECTS, Setting, Subject, write
from conseq.datasets.template import draw
from conseq.datasets.words import venues as words

SHORT_WORDS = dict(entry.split() for entry in words.SHORT_WORDS)

USUAL_JOURNALS = 8
"""How many journals of each subject exist in every sample; others are made up on the spot."""
USUAL_SHARE = 0.75


def _usual_journals(subject: Subject) -> tuple[str, ...]:
    """The journals of a subject that everybody knows: the same in every sample."""
    at = Setting(Random("".join(subject.fields)), subject, 2000)
    return tuple(write(at, words.JOURNALS) for _ in range(USUAL_JOURNALS))


_USUAL = {subject: _usual_journals(subject) for subject in SUBJECTS}


def journal(at: Setting) -> str:
    """A journal: one of the usual ones of the subject, a new one, or one with a name of its own."""
    x = at.rng.random()
    if x < USUAL_SHARE:
        return draw(at.rng, _USUAL[at.subject])
    if x < 0.92:
        return write(at, words.JOURNALS)
    return at.rng.choice(words.PROPER_JOURNALS)


def location(at: Setting) -> str:
    """A city, sometimes with its country or state."""
    city = at.rng.choice(CITIES)
    return f"{city}, {REGION_OF[city]}" if at.rng.random() < 0.3 else city


def abbreviate(name: str) -> str:
    """A journal's or conference's name in short.

    >>> abbreviate('International Journal of Computational Linguistics')
    'Int. J. Computat. Linguis.'
    """
    long = [word for word in name.split() if word.lower() not in ("of", "the", "on", "in", "for", "and")]
    return " ".join(map(_short_word, long)) if len(long) > 1 else name


def _short_word(word: str) -> str:
    known = SHORT_WORDS.get(word.lower())
    if known or len(word) < 8 or not word.isalpha():
        return known or word
    return word[: round(0.6 * len(word))].rstrip("aeiou") + "."
