"""A feature extractor as data: FeatureExtractor ─pack─→ Archive ─unpack─→ FeatureExtractor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conseq.features.codes import CodeIndex, TupleIndex
from conseq.features.extract import FeatureExtractor, Group
from conseq.features.sources import Memory
from conseq.features.templates import parse_templates
from conseq.persist import Archive
from conseq.vocabulary import Vocabulary


def pack(extractor: FeatureExtractor) -> Archive:
    """Everything needed to make the same attributes again."""
    sources = list(extractor.vocabularies)
    memory = extractor.memory.to_dict()
    strings = {f"source{i}": extractor.vocabularies[s].names for i, s in enumerate(sources)}
    arrays = {}
    prefixes = []
    for i, index in enumerate(extractor.indexes):
        tables = [index.final, *index.prefixes]
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
    document = archive.document
    templates = parse_templates(document["templates"])
    sources = dict.fromkeys(part.source for t in templates for part in t.parts)
    indexes = []
    for i, (radices, sizes) in enumerate(zip(document["radices"], document["sizes"], strict=True)):
        tables = [CodeIndex(archive.arrays[f"template{i}.{k}"], size) for k, size in enumerate(sizes)]
        indexes.append(TupleIndex(tuple(radices), tables[0], tuple(tables[1:])))
    return FeatureExtractor(
        templates,
        tuple(_group(g) for g in document["groups"]),
        {s: Vocabulary(archive.strings[f"source{i}"]) for i, s in enumerate(sources)},
        tuple(indexes),
        Memory.from_dict({"known": archive.strings["known"], "lexicons": document["lexicons"]}),
        Vocabulary(archive.strings["bag"]),
    )


def _group(document: Mapping[str, Any]) -> Group:
    key = tuple(t.parts[0] for t in parse_templates(document["key"]))
    return Group(key, tuple(document["templates"]))
