"""Styles of numbered bibliographies: the date stands at the end."""

from __future__ import annotations

from conseq.datasets.bibliography.names import Names
from conseq.datasets.bibliography.styles.base import HOUSE_FIRST, REPORT, THESIS, Style

NUMBERED: dict[str, Style] = {
    "plain": Style(
        Names("F. M. Last"),
        Names("F. M. Last"),
        (
            "{marker} ",
            "{author}",
            "{leader}, {role}",
            "{title}",
            "{journal}[, {volume}[({number})]][:{pages}][, {date}]",
            (
                "In [{editor}, {role}, ]{booktitle}[, volume {volume} of {series}][, pages {pages}]"
                "[, {location}][, {date}]"
            ),
            f"{THESIS}[, {{date}}]",
            f"{REPORT}[, {{date}}]",
            f"{HOUSE_FIRST}[, {{date}}]",
            "{note}",
            "{url}",
            "{date}",
        ),
        26,
        roles=("editor", "editors"),
        month="long",
        dash="--",
        markers=("[{k}]",),
    ),
    "ieee": Style(
        Names("F. M. Last", most=6),
        Names("F. M. Last"),
        (
            "{marker} ",
            "{author}, ",
            "{leader}, {role}, ",
            '"{title}," ',
            "{journal}[, vol. {volume}][, no. {number}][, pp. {pages}][, {date}]",
            (
                "in {booktitle}[, {editor}, {role}][, vol. {volume}, {series}][, {location}][, {date}]"
                "[, pp. {pages}]"
            ),
            THESIS,
            REPORT,
            "{location}: {publisher}",
            "{publisher}",
            "{date}",
            "{note}",
            "doi: {doi}",
            "Available: {url}",
        ),
        18,
        separator=", ",
        roles=("Ed.", "Eds."),
        month="short",
        short=0.5,
        markers=("[{k}]", "[{k}]", ""),
    ),
    "vancouver": Style(
        Names("Last FM", two=", ", last=", ", most=6, others=", et al"),
        Names("Last FM", two=", ", last=", "),
        (
            "{marker} ",
            "{author}",
            "{leader}, {role}",
            "{title}",
            "{journal}[. {date}][;{volume}[({number})]][:{pages}]",
            "In: [{editor}, {role}. ]{booktitle}[. {location}: {publisher}][; {date}][. p. {pages}]",
            "{thesis}. [{location}: ]{institution}[; {date}]",
            "{report}. [{location}: ]{institution}[; {date}]",
            "[{location}: ]{publisher}[; {date}]",
            "{note}",
            "{date}",
            "doi:{doi}",
            "Available from: {url}",
        ),
        9,
        roles=("editor", "editors"),
        short=0.5,
        markers=("{k}.", ""),
    ),
    "lncs": Style(
        Names("Last, F.M.", two=", ", last=", "),
        Names("Last, F.M.", two=", ", last=", "),
        (
            "{marker} ",
            "{author}: ",
            "{leader} ({role}): ",
            "{title}",
            "{journal}[ {volume}[({number})]][, {pages}][ ({date})]",
            (
                "In: [{editor} ({role}) ]{booktitle}[. {series}, vol. {volume}][, pp. {pages}]"
                "[. {publisher}][, {location}][ ({date})]"
            ),
            "{thesis}, {institution}[, {location}][ ({date})]",
            "{report}, {institution}[, {location}][ ({date})]",
            "[{series}, vol. {volume}. ]{publisher}[, {location}][ ({date})]",
            "{note}",
            "{url}[ ({date})]",
        ),
        11,
        dash="–",
        end="",
        markers=("{k}.", ""),
    ),
    "nature": Style(
        Names("Last, F. M.", two=" & ", last=" & ", most=5),
        Names("Last, F. M.", two=" & ", last=" & "),
        (
            "{author}",
            "{leader} ({role})",
            "{title}. ",
            "{journal}[ {volume}][, {pages}][ ({date})]",
            "in {booktitle}[ ({role} {editor})][ {pages}][ ({publisher}, {date})][ ({location}, {date})]",
            "{thesis}, {institution}[ ({date})]",
            "{report}, {institution}[ ({date})]",
            "({publisher}, {date})",
            "({publisher})",
            "{note}",
            "{url}[ ({date})]",
        ),
        3,
        separator=" ",
        short=0.5,
        dash="–",
    ),
    "mathematics": Style(
        Names("F. M. Last"),
        Names("F. M. Last"),
        (
            "{marker} ",
            "{author}",
            "{leader} ({role})",
            "{title}",
            "{journal}[ {volume}][ ({date})][, no. {number}][, {pages}]",
            (
                "{booktitle}[ ({editor}, {role})][, {series}, vol. {volume}][, {publisher}]"
                "[, {location}][, {date}][, pp. {pages}]"
            ),
            f"{THESIS}[, {{date}}]",
            f"{REPORT}[, {{date}}]",
            "[{series}, vol. {volume}, ][{series}, ]{publisher}[, {location}][, {date}]",
            "{note}",
            "{url}",
            "{date}",
        ),
        5,
        separator=", ",
        short=0.5,
        dash="--",
        markers=("[{k}]", "[{L}]", ""),
    ),
    "physics": Style(
        Names("F.M. Last", most=4),
        Names("F.M. Last"),
        (
            "{marker} ",
            "{author}",
            "{leader}, {eds}",
            "{title}",
            "{journal}[ {volume}][, {pages}][ ({date})]",
            (
                "in {booktitle}[, {role} {editor}][ ({publisher}, {location}, {date})]"
                "[ ({location}, {date})][, p. {pages}]"
            ),
            "{thesis}, {institution}[ ({date})]",
            "{institution}, {report}[ ({date})]",
            "({publisher}, {location}[, {date}])",
            "({publisher}[, {date}])",
            "{note}",
            "{url}",
            "({date})",
        ),
        3,
        separator=", ",
        roles=("edited by", "edited by"),
        short=0.5,
        markers=("[{k}]", "({k})", ""),
    ),
}
