"""A picture of sentences: entities as coloured spans, relations as labelled arcs.  Sentences ─→ SVG, HTML

No script, no font and nothing else is fetched; colours follow whether the viewer likes it dark or light.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

from conseq.entities import Sentence
from conseq.labelled import HUES, hue
from conseq.relations.layout import (
    LEVEL,
    MARGIN,
    NAME_HEIGHT,
    SMALL,
    TEXT,
    TEXT_HEIGHT,
    Arc,
    Layout,
    fitted,
    lay_out,
    measure,
)

WIDTH, NARROWEST = 900, 200
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that a document may not hold."""
APART = 40
"""Degrees of the colour circle between two types, as long as there is room."""
ROUND, ARROW = 7.0, 4.0
"""Radius of the corners of arcs; half the width of an arrow."""

_FONT = 'font-family:system-ui,"Segoe UI",Roboto,"Noto Sans",Helvetica,Arial,sans-serif'
_LIGHT = {"page": "#fff", "text": "#1b1d22", "dim": "#5b5f68"}
_DARK = {"page": "#16181d", "text": "#e6e7ea", "dim": "#a2a6af"}


@dataclass(frozen=True)
class Picture:
    """Sentences to be shown, each with notes under it; a notebook shows them by itself.

    >>> from conseq.entities import Entity, Relation
    >>> entities = Entity("person", 0, 1), Entity("place", 2, 3)
    >>> picture = Picture([Sentence(("Ann", "left", "Rome"), entities, (Relation("live_in", 0, 1),))])
    >>> "<title>Ann left Rome · Ann → live_in → Rome</title>" in picture.svg()
    True
    """

    sentences: Sequence[Sentence]
    notes: Sequence[Sequence[str]] = ()
    width: int = WIDTH

    def svg(self) -> str:
        """One drawing, sentences one below the other."""
        drawn = [self._drawing(number) for number in range(len(self.sentences))]
        height = sum(height for _, height in drawn) or 2 * MARGIN
        parts, y = [], 0.0
        for body, high in drawn:
            parts.append(f'<g transform="translate(0 {y:.0f})">{body}</g>\n')
            y += high
        text = " ".join(_whole(sentence) for sentence in self.sentences)
        return _svg("".join(parts), self._width, height, text, f"<style>{self._style()}</style>")

    def html(self, title: str = "Entities and relations") -> str:
        """A page with a drawing for each sentence."""
        figures = []
        for number, sentence in enumerate(self.sentences):
            body, height = self._drawing(number)
            name = "" if sentence.id is None else f"<figcaption>{_clean(str(sentence.id))}</figcaption>"
            figures.append(f"<figure>{name}{_svg(body, self._width, height, _whole(sentence))}</figure>\n")
        return (
            '<!DOCTYPE html>\n<html lang="und">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{_clean(title)}</title>\n<style>{self._style()}{_PAGE}</style>\n</head>\n<body>\n"
            f"<h1>{_clean(title)}</h1>\n{''.join(figures)}</body>\n</html>\n"
        )

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.svg()}</div>'

    @property
    def _width(self) -> int:
        return max(NARROWEST, self.width)

    @cached_property
    def _classes(self) -> dict[str, dict[str, str]]:
        """Kind → type → class."""
        entities = sorted({entity.type for s in self.sentences for entity in s.entities})
        relations = sorted({relation.type for s in self.sentences for relation in s.relations})
        kinds = {"e": entities, "r": relations}
        return {kind: {name: f"{kind}{i}" for i, name in enumerate(names)} for kind, names in kinds.items()}

    def _drawing(self, number: int) -> tuple[str, float]:
        """A sentence with its notes, and how high they are."""
        sentence, classes = self.sentences[number], self._classes
        layout = lay_out(sentence, self._width)
        notes = self.notes[number] if number < len(self.notes) else ()
        own = [classes["r"][sentence.relations[arc.relation].type] for arc in layout.arcs]
        arcs = list(zip(layout.arcs, own, strict=True))
        parts = [*_drawn_boxes(layout, sentence, classes["e"]), *_drawn_words(layout)]
        parts += [_drawn_arc(layout, *arc) for arc in arcs]
        parts += [_drawn_label(layout, *arc) for arc in arcs]
        y = layout.height
        for note in notes:
            shown = fitted(note, self._width - 2 * MARGIN, SMALL)
            parts.append(f'<text class="n" x="{MARGIN:g}" y="{y:.1f}">{_clean(shown)}</text>')
            y += NAME_HEIGHT
        return "".join(parts), y

    def _style(self) -> str:
        classes = self._classes
        light, dark = (_colours(classes, is_dark) for is_dark in (False, True))
        return f"{_SHAPES}{light}@media (prefers-color-scheme:dark){{{dark}}}"


_SHAPES = (
    f".cq text{{{_FONT};font-size:{TEXT:g}px}}.cq .t{{font-size:{SMALL:g}px;font-weight:600}}"
    f".cq .n{{font-size:{SMALL:g}px}}.cq path{{fill:none;stroke-width:1.4}}"
)
_PAGE = (
    f"body{{{_FONT};margin:1rem}}h1{{font-size:1.2rem}}figure{{margin:0 0 1rem;overflow-x:auto}}"
    "figcaption{font-size:.8rem;opacity:.7}"
)


def _colours(classes: dict[str, dict[str, str]], is_dark: bool) -> str:
    """The part of the style that says what colour things have."""
    page = _DARK if is_dark else _LIGHT
    rules = [f"body,.cq .p{{background:{page['page']};color:{page['text']};fill:{page['page']}}}"]
    rules += [f".cq text{{fill:{page['text']}}}.cq .n{{fill:{page['dim']}}}"]
    box, edge, name = ("38%,24%", "45%,42%", "75%,80%") if is_dark else ("78%,90%", "50%,68%", "70%,26%")
    for type, degrees in _hues(classes["e"]).items():
        own = classes["e"][type]
        rules += [f".cq rect.{own}{{fill:hsl({degrees},{box});stroke:hsl({degrees},{edge})}}"]
        rules += [f".cq text.{own}{{fill:hsl({degrees},{name})}}"]
    line = "65%,70%" if is_dark else "60%,36%"
    for type, degrees in _hues(classes["r"]).items():
        own, colour = classes["r"][type], f"hsl({degrees},{line})"
        rules += [f".cq path.{own}{{stroke:{colour}}}.cq polygon.{own},.cq text.{own}{{fill:{colour}}}"]
    return "".join(rules)


def _hues(types: Iterable[str]) -> dict[str, int]:
    """A colour for each type: the one that it has everywhere, unless another type has one like it."""
    found: dict[str, int] = {}
    for type in types:
        around = [(hue(type) + 7 * k * (360 // HUES)) % 360 for k in range(HUES)]
        for apart in (APART, 1, 0):
            free = [h for h in around if all(_between(h, taken) >= apart for taken in found.values())]
            if free:
                found[type] = free[0]
                break
    return found


def _between(one: int, other: int) -> int:
    """Degrees between two colours."""
    return min((one - other) % 360, (other - one) % 360)


# ── markup ──────────────────────────────────────────────────────────────────────────────────────


def _clean(text: str) -> str:
    """Text for a document: what means something there is escaped, what may not stand there replaced."""
    return escape(_NOT_XML.sub("\ufffd", text))


def _whole(sentence: Sentence) -> str:
    """A sentence and its relations in words."""
    text = sentence.cut(0, len(sentence.tokens)) if sentence.tokens else ""
    names = [sentence.cut(entity.start, entity.end) for entity in sentence.entities]
    told = [f"{names[r.head]} → {r.type} → {names[r.tail]}" for r in sentence.relations]
    return " · ".join([" ".join(text.split()), *told])


def _svg(body: str, width: float, height: float, text: str, style: str = "") -> str:
    size = f'width="{width:.0f}" height="{height:.0f}"'
    box = f'viewBox="0 0 {width:.0f} {height:.0f}" class="cq" role="img"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box}><title>{_clean(text)}</title>{style}'
        f'<rect class="p" {size}/>{body}</svg>'
    )


def _drawn_boxes(layout: Layout, sentence: Sentence, classes: dict[str, str]) -> Iterable[str]:
    for box, entity in zip(layout.boxes, sentence.entities, strict=True):
        own = classes[box.type]
        y = layout.texts[box.row]
        top, bottom = y, y + TEXT_HEIGHT + NAME_HEIGHT * (box.depth + 1)
        if box.depth:  # inside another entity: a strip under it
            top = bottom - NAME_HEIGHT
        name = fitted(box.type, max(box.width - 4, SMALL), SMALL)
        whole = f"{sentence.cut(entity.start, entity.end)}: {box.type}"
        yield (
            f'<g><title>{_clean(whole)}</title><rect class="{own}" x="{box.x:.1f}" y="{top:.1f}" rx="5" '
            f'width="{box.width:.1f}" height="{bottom - top:.1f}"/>'
            f"{_text(name, box.middle, bottom - 4.5, SMALL, f't {own}')}</g>"
        )


def _drawn_words(layout: Layout) -> Iterable[str]:
    direction = ' direction="rtl"' if layout.reversed else ""
    for piece in layout.pieces:
        y = layout.texts[piece.row] + TEXT_HEIGHT - 7
        yield _text(piece.text, piece.x + piece.width / 2, y, TEXT, "", direction)


def _text(text: str, middle: float, y: float, height: float, classes: str, more: str = "") -> str:
    """Text about a middle, as wide as it was measured."""
    own = f' class="{classes}"' if classes else ""
    wide = measure(text, height)
    length = f' textLength="{wide:.1f}" lengthAdjust="spacingAndGlyphs"' if wide else ""
    return f'<text{own} x="{middle:.1f}" y="{y:.1f}" text-anchor="middle"{length}{more}>{_clean(text)}</text>'


def _drawn_arc(layout: Layout, arc: Arc, own: str) -> str:
    """From the head up, across, and down to an arrow at the tail; from and to an edge if it is elsewhere."""
    (start, end), foot, top = arc.ends, layout.texts[arc.row], _line(layout, arc)
    corner = min(ROUND, abs(end - start) / 2)
    turn = corner if end >= start else -corner
    path, arrow = f"M{start:.1f},{top:.1f}", ""
    if arc.head:
        path = f"M{start:.1f},{foot:.1f}V{top + corner:.1f}q0,{-corner:.1f} {turn:.1f},{-corner:.1f}"
    if arc.tail:
        path += f"H{end - turn:.1f}q{turn:.1f},0 {turn:.1f},{corner:.1f}V{foot - 3:.1f}"
        points = f"{end:.1f},{foot:.1f} {end - ARROW:.1f},{foot - 7:.1f} {end + ARROW:.1f},{foot - 7:.1f}"
        arrow = f'<polygon class="{own}" points="{points}"/>'
    else:
        path += f"H{end:.1f}"
    return f'<path class="{own}" d="{path}"/>{arrow}'


def _line(layout: Layout, arc: Arc) -> float:
    """How high the horizontal part of an arc is."""
    return layout.texts[arc.row] - 8 - LEVEL * (arc.level + 0.5)


def _drawn_label(layout: Layout, arc: Arc, own: str) -> str:
    """The name of a relation on its line, which it interrupts."""
    *_, middle = arc.reach(layout.width)
    wide, y = arc.label_width, _line(layout, arc)
    back = f'<rect class="p" x="{middle - wide / 2:.1f}" y="{y - 7:.1f}" width="{wide:.1f}" height="14"/>'
    return back + _text(arc.label, middle, y + 4, SMALL, f"t {own}")
