"""How it is written: the table of all citation styles; one is drawn for each citation.

A style is an ordered list of field templates (see `template`) and a few habits. One list serves all kinds of
publication: a template whose fields are missing or already written is skipped. Between two parts that were
written stands the style's separator, unless the first ends with a space; a part that begins with a
parenthesis follows after a space.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from conseq.datasets.bibliography.names import Names


@dataclass(frozen=True)
class Style:
    """The habits of one bibliography."""

    weight: int
    """How often the style is met, relative to the others."""
    template: str
    """Its parts with | between them; ~ is a space at the end of one."""
    authors: Names
    other_editors: Names | None = None
    """How editors are written, if not as authors are."""
    separator: str = ". "
    end: str = "."
    roles: tuple[str, str] = ("ed.", "eds.")
    """What one editor and several editors are called."""
    case: str = "sentence"
    month: str = ""
    """How the month is written, 'long' or 'short'; empty if only the year is."""
    dash: str = "-"
    short: float = 0.1
    """How often journals and conferences are abbreviated."""
    markers: tuple[str, ...] = ()
    """Forms of a mark before the citation, such as [12]."""

    @property
    def editors(self) -> Names:
        return self.other_editors or self.authors

    @cached_property
    def parts(self) -> tuple[str, ...]:
        whole = re.sub(r"\s*\n\s*", "", self.template)
        return tuple(part.strip().replace("~", " ") for part in whole.split("|"))


# fmt: off
DATED: dict[str, Style] = {
    "apa": Style(26, """
        {author}[ ({date})] | {leader} ({role})[ ({date})] | {title} |
        {journal}[, {volume}[({number})]][, {pages}] |
        In [{editor} ({role}), ]{booktitle}[ (pp. {pages})] |
        ({thesis}). {institution}[, {location}] | ({report}). [{location}: ]{institution} |
        [{series}, vol. {volume}. ][{series}. ]{location}: {publisher} | {publisher} | {note} | {doilink} |
        Retrieved from {url}
        """,
        Names("Last, F. M.", two=", & ", last=", & "), Names("F. M. Last", two=" & ", last=", & "),
        roles=("Ed.", "Eds."), dash="–"),
    "harvard": Style(9, """
        {author}[ {date}] | {leader} ({role})[ {date}] | {title} |
        {journal}[, vol. {volume}][, no. {number}][, pp. {pages}] |
        in [{editor} ({role}), ]{booktitle}[, {series}, vol. {volume}][, {publisher}][, {location}]
        [, pp. {pages}] |
        {thesis}, {institution}[, {location}] | {report}, {institution}[, {location}] |
        [{series}, volume {volume}. ][{series}. ]{publisher}[, {location}] | {note} | viewed at {url}
        """,
        Names("Last, F.M.", last=" and "), separator=", "),
    "chicago": Style(12, """
        {author}[. {date}] | {leader}, {role}[ {date}] | “{title}.”~ |
        {journal}[ {volume}[ ({number})]][: {pages}] |
        In {booktitle}[, edited by {editor}][, {pages}][. {series} {volume}] |
        {thesis}, {institution} | {report}, {institution}[, {location}] |
        [{series}, vol. {volume}. ][{series}. ]{location}: {publisher} | {publisher} | {note} | doi:{doi} |
        {url}
        """,
        Names("Last, First M.", "First M. Last", most=5), Names("First M. Last"), case="title", dash="–"),
    "acm": Style(14, """
        {author}[. {date}] | {leader} ({role})[. {date}] | {title} |
        {journal}[ {volume}][, {number}][ ({date})][, {pages}] |
        In {booktitle}[ ({series}, Vol. {volume})][, {editor} ({role})][. {publisher}][, {location}]
        [, {pages}] |
        {thesis}. {institution}[, {location}] | {report}. {institution}[, {location}] |
        [{series}, volume {volume}. ][{series}. ]{publisher}[, {location}] | {note} | {doilink} | {url}
        """,
        Names("First M. Last"), roles=("Ed.", "Eds."), dash="–"),
    "field": Style(3, """
        {author}[ ({date})]~ | {leader} ({role})[ ({date})]~ | {title} |
        {journal}[ {volume}][:{pages}] |
        In: [{editor} ({role}) ]{booktitle}[. {publisher}][, {location}][, pp {pages}] |
        {thesis}, {institution}[, {location}] | {report}, {institution}[, {location}] |
        {publisher}[, {location}] | {note} | {url}
        """,
        Names("Last FM", two=", ", last=", "), dash="–", short=0.4),
    "german": Style(1, """
        {author}[ ({date})]:~ | {leader} ({role})[ ({date})]:~ | {title} |
        in: {journal}[, Bd. {volume}][, Nr. {number}][, S. {pages}] |
        in: [{editor} ({role}): ]{booktitle}[, {location}: {publisher}][, {publisher}][, S. {pages}] |
        {thesis}, {institution}[, {location}] | {report}, {institution}[, {location}] |
        {location}: {publisher} | {publisher} | {note} | {url}
        """,
        Names("Last, F. M.", comma="; ", two="; ", last="; "), separator=", ", roles=("Hrsg.", "Hrsg.")),
    "dashes": Style(1, """
        {author}[, {date}] | {leader} ({role})[, {date}] | {title} |
        {journal}[, {volume}][ ({number})][: {pages}] |
        In: [{editor} ({role}), ]{booktitle}[. {publisher}][, {location}][: {pages}] |
        {thesis}, {institution} | {report}, {institution} |
        {publisher}[, {location}] | {note} | {url}
        """,
        Names("LAST F.", two=", ", last=", "), separator=". — "),
}
"""Styles that put the date behind the authors."""

NUMBERED: dict[str, Style] = {
    "plain": Style(26, """
        {marker}~ | {author} | {leader}, {role} | {title} |
        {journal}[, {volume}[({number})]][:{pages}][, {date}] |
        In [{editor}, {role}, ]{booktitle}[, volume {volume} of {series}][, pages {pages}][, {location}]
        [, {date}] |
        {thesis}, {institution}[, {location}][, {date}] | {report}, {institution}[, {location}][, {date}] |
        [{series}, volume {volume}. ][{series}. ]{publisher}[, {location}][, {date}] | {note} | {url} | {date}
        """,
        Names("F. M. Last"), roles=("editor", "editors"), month="long", dash="--", markers=("[{k}]",)),
    "ieee": Style(18, """
        {marker}~ | {author},~ | {leader}, {role},~ | "{title},"~ |
        {journal}[, vol. {volume}][, no. {number}][, pp. {pages}][, {date}] |
        in {booktitle}[, {editor}, {role}][, vol. {volume}, {series}][, {location}][, {date}][, pp. {pages}] |
        {thesis}, {institution}[, {location}] | {report}, {institution}[, {location}] |
        {location}: {publisher} | {publisher} | {date} | {note} | doi: {doi} | Available: {url}
        """,
        Names("F. M. Last", most=6), Names("F. M. Last"), separator=", ", roles=("Ed.", "Eds."),
        month="short", short=0.5, markers=("[{k}]", "[{k}]", "")),
    "vancouver": Style(9, """
        {marker}~ | {author} | {leader}, {role} | {title} |
        {journal}[. {date}][;{volume}[({number})]][:{pages}] |
        In: [{editor}, {role}. ]{booktitle}[. {location}: {publisher}][; {date}][. p. {pages}] |
        {thesis}. [{location}: ]{institution}[; {date}] | {report}. [{location}: ]{institution}[; {date}] |
        [{location}: ]{publisher}[; {date}] | {note} | {date} | doi:{doi} | Available from: {url}
        """,
        Names("Last FM", two=", ", last=", ", most=6, others=", et al"),
        Names("Last FM", two=", ", last=", "), roles=("editor", "editors"), short=0.5,
        markers=("{k}.", "")),
    "lncs": Style(11, """
        {marker}~ | {author}:~ | {leader} ({role}):~ | {title} |
        {journal}[ {volume}[({number})]][, {pages}][ ({date})] |
        In: [{editor} ({role}) ]{booktitle}[. {series}, vol. {volume}][, pp. {pages}][. {publisher}]
        [, {location}][ ({date})] |
        {thesis}, {institution}[, {location}][ ({date})] | {report}, {institution}[, {location}][ ({date})] |
        [{series}, vol. {volume}. ]{publisher}[, {location}][ ({date})] | {note} | {url}[ ({date})]
        """,
        Names("Last, F.M.", two=", ", last=", "), end="", dash="–", markers=("{k}.", "")),
    "nature": Style(3, """
        {author} | {leader} ({role}) | {title}.~ |
        {journal}[ {volume}][, {pages}][ ({date})] |
        in {booktitle}[ ({role} {editor})][ {pages}][ ({publisher}, {date})][ ({location}, {date})] |
        {thesis}, {institution}[ ({date})] | {report}, {institution}[ ({date})] |
        ({publisher}, {date}) | ({publisher}) | {note} | {url}[ ({date})]
        """,
        Names("Last, F. M.", two=" & ", last=" & ", most=5), Names("Last, F. M.", two=" & ", last=" & "),
        separator=" ", dash="–", short=0.5),
    "mathematics": Style(5, """
        {marker}~ | {author} | {leader} ({role}) | {title} |
        {journal}[ {volume}][ ({date})][, no. {number}][, {pages}] |
        {booktitle}[ ({editor}, {role})][, {series}, vol. {volume}][, {publisher}][, {location}][, {date}]
        [, pp. {pages}] |
        {thesis}, {institution}[, {location}][, {date}] | {report}, {institution}[, {location}][, {date}] |
        [{series}, vol. {volume}, ][{series}, ]{publisher}[, {location}][, {date}] | {note} | {url} | {date}
        """,
        Names("F. M. Last"), separator=", ", dash="--", short=0.5, markers=("[{k}]", "[{L}]", "")),
    "physics": Style(3, """
        {marker}~ | {author} | {leader}, {eds} | {title} |
        {journal}[ {volume}][, {pages}][ ({date})] |
        in {booktitle}[, {role} {editor}][ ({publisher}, {location}, {date})][ ({location}, {date})]
        [, p. {pages}] |
        {thesis}, {institution}[ ({date})] | {institution}, {report}[ ({date})] |
        ({publisher}, {location}[, {date}]) | ({publisher}[, {date}]) | {note} | {url} | ({date})
        """,
        Names("F.M. Last", most=4), Names("F.M. Last"), separator=", ", roles=("edited by", "edited by"),
        short=0.5, markers=("[{k}]", "({k})", "")),
}
"""Styles of numbered bibliographies: the date stands at the end."""

LOOSE: dict[str, Style] = {
    "footnote": Style(3, """
        {author} | {leader} ({role}) | {title} |
        {journal}[ {volume}][, no. {number}][ ({date})][: {pages}] |
        in {booktitle}[, {role} {editor}][ ({location}: {publisher}, {date})][ ({publisher}, {date})]
        [, {pages}] |
        ({thesis}, {institution}[, {date}]) | {report} ({institution}[, {date}]) |
        [{series} ]({location}: {publisher}[, {date}]) | ({publisher}[, {date}]) | {note} | {url} | {date}
        """,
        Names("First M. Last", most=3), Names("First M. Last"), separator=", ", roles=("ed.", "eds"),
        case="title", month="long", short=0.0),
    "mla": Style(4, """
        {author}.~ | {leader}, {role}.~ | "{title}."~ |
        {journal}[, vol. {volume}][, no. {number}][, {date}][, pp. {pages}] |
        {booktitle}[, edited by {editor}][, {publisher}][, {date}][, pp. {pages}] |
        {institution}, {thesis} | {institution}, {report} |
        {publisher} | {date} | {note} | {url} | doi:{doi}
        """,
        Names("Last, First M.", "First M. Last", most=2, others=", et al."), Names("First M. Last"),
        separator=", ", roles=("editor", "editors"), case="title"),
    "commas": Style(2, """
        {author} | {leader}, {role} | {title} |
        {journal}[, Vol. {volume}][, No. {number}][, {date}][, pp. {pages}] |
        {booktitle}[, {editor}, {role}][, {publisher}][, {location}][, {date}][, pp. {pages}] |
        {thesis}, {institution}[, {location}] | {report}, {institution}[, {location}] |
        {publisher}[, {location}] | {note} | {url} | {date}
        """,
        Names("Last, F. M.", last=" and "), Names("F. M. Last", last=" and "), separator=", ",
        roles=("Ed.", "Eds."), case="title", month="short", short=0.3),
    "bare": Style(1, """
        {author} | {leader} {role} | {title} |
        {journal}[ {volume}][ {pages}][ {date}] |
        {booktitle}[ {editor} {role}][ {publisher}][ {location}][ {date}][ {pages}] |
        {thesis} {institution}[ {location}] | {report} {institution}[ {location}] |
        {publisher}[ {location}] | {note} | {url} | {date}
        """,
        Names("Last FM", last=" and ", most=3), Names("F. M. Last", last=" and "), separator=" ", end="",
        short=0.4),
    "spaced": Style(1, """
        {author} | {leader}, {role} | {title} |
        {journal}[, {volume}][, {date}][, {pages}] |
        {booktitle}[, {location}][, {date}][, {editor}, {role}][, {pages}][, {publisher}] |
        {thesis}[, {date}], {institution}[, {location}] | {report}[, {date}], {institution}[, {location}] |
        {publisher}[, {location}][, {date}] | {note} | {url} | {date}
        """,
        Names("First M. Last", last=" and "), separator=", ", end="", roles=("editor", "editors"),
        case="title", month="long"),
    "terse": Style(1, """
        {marker}~ | {author} | {leader} ({role}) | {title} |
        {journal}[ {volume}][:{pages}][, {date}] |
        {booktitle}[, {role} {editor}][, {publisher}][, {date}] |
        {thesis}, {institution}[, {date}] | {report}, {institution}[, {date}] |
        {publisher}[, {date}] | {note} | {url} | {date}
        """,
        Names("Last", last=" and ", most=3), Names("Last", last=" and "), end="", short=0.5,
        markers=("{k}.", "[{L}]")),
}
"""Styles with few marks between fields: what is what must be read from the whole."""

STYLES: dict[str, Style] = DATED | NUMBERED | LOOSE
"""Every style by its name."""
