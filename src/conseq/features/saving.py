"""A feature extractor as data: FeatureExtractor ─pack─→ Archive ─unpack─→ FeatureExtractor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from conseq.archive import Archive
from conseq.features import codes
from conseq.features.codes import CodeIndex, TupleIndex
from conseq.features.extract import FeatureExtractor, Group
from conseq.features.sources import Memory, Source
from conseq.features.templates import Template, parse_templates
from conseq.vocabulary import Vocabulary


def pack(extractor: FeatureExtractor) -> Archive:
    """Everything needed to make the same attributes again."""
    sources = list(extractor.vocabularies)
    memory = extractor.memory.to_dict()
    strings = {f"source{i}": extractor.vocabularies[s].names for i, s in enumerate(sources)}
    arrays = {}
    prefixes = []
    for i, index in enumerate(extractor.indexes):
        tables = [index.final, *index.prefixes.values()]
        prefixes.append([table.size for table in tables])
        arrays.update({f"template{i}.{k}": table.codes for k, table in enumerate(tables)})
    document = {
        "templates": [str(t) for t in extractor.templates],
        "groups": [
            {"key": [str(p) for p in g.key], "templates": list(g.templates)} for g in extractor.groups
        ],
        "radices": [list(index.radices) for index in extractor.indexes],
        "sizes": prefixes,
        "lexicons": memory["lexicons"],
    }
    return Archive(document, {**strings, "known": memory["known"], "bag": extractor.bag.names}, arrays)


def unpack(archive: Archive) -> FeatureExtractor:
    """The extractor that was packed."""
    templates = parse_templates(archive.field("templates", list[str]))
    written = [str(template) for template in templates]
    archive.check(written == archive.field("templates", list[str]), "a template is written in another way")
    sources = dict.fromkeys(part.source for t in templates for part in t.parts)
    vocabularies = {s: Vocabulary(archive.texts(f"source{i}")) for i, s in enumerate(sources)}
    lexicons = archive.field("lexicons", dict[str, list[str]])
    memory = Memory.from_dict({"known": archive.texts("known"), "lexicons": lexicons})
    for source in sources:
        given = source.name != "lexicon" or source.argument in memory.lexicons
        archive.check(given, f"the lexicon {source.argument!r} is missing")
    return FeatureExtractor(
        templates,
        _groups(archive, templates),
        vocabularies,
        _indexes(archive, templates, vocabularies),
        memory,
        Vocabulary(archive.texts("bag")),
    )


def _groups(archive: Archive, templates: Sequence[Template]) -> tuple[Group, ...]:
    """The groups, which have every template once, and a key of which all their templates are functions."""
    documents = archive.field("groups", list[dict[str, list[str] | list[int]]])
    known = all(document.keys() == {"key", "templates"} for document in documents)
    archive.check(known, "a group of templates should have a key of texts, and templates by number")
    numbers = [i for document in documents for i in document["templates"]]
    once = len(numbers) == len(templates) and set(numbers) == set(range(len(templates)))
    archive.check(once, "the groups do not have each template once")
    groups = tuple(Group.of(document["templates"], templates) for document in documents)
    for group, document in zip(groups, documents, strict=True):
        given = set(document["key"])
        archive.check(given == set(map(str, group.key)), "a group of templates has another key")
    return groups


def _indexes(
    archive: Archive, templates: Sequence[Template], vocabularies: Mapping[Source, Vocabulary]
) -> tuple[TupleIndex, ...]:
    """The tuples of each template; how large their codes can be follows from the vocabularies."""
    reach = max((template.reach for template in templates), default=0)
    radices = [[len(vocabularies[part.source]) + 2 * reach for part in t.parts] for t in templates]
    archive.check(archive.field("radices", list[list[int]]) == radices, "the radices are of other strings")
    sizes = archive.field("sizes", list[list[int]])
    archive.check(len(sizes) == len(templates), "there are not as many sizes as templates")
    return tuple(_index(archive, i, own, sizes[i]) for i, own in enumerate(radices))


def _index(archive: Archive, i: int, radices: Sequence[int], sizes: Sequence[int]) -> TupleIndex:
    prefixes: dict[int, CodeIndex] = {}

    def table(k: int, size: int) -> CodeIndex:
        known = k < len(sizes) and sizes[k] == size
        archive.check(known, f"the sizes of template {i} are of other strings")
        return CodeIndex(
            archive.array(f"template{i}.{k}", np.int64, [None], 0, size - 1, distinct=True), size
        )

    size = radices[0]
    for part, radix in enumerate(radices[1:], 1):
        if size * radix >= codes.LIMIT:
            prefixes[part] = table(len(prefixes) + 1, size)
            size = len(prefixes[part].codes)
        size *= radix
    archive.check(len(sizes) == len(prefixes) + 1, f"template {i} has too many sizes")
    return TupleIndex(tuple(radices), table(0, size), prefixes)
