"""`features/presets.py`: every preset works on data with one column and with more."""

from __future__ import annotations

import pytest

from conseq.corpus import Corpus
from conseq.errors import TemplateError
from conseq.features import PRESETS, FeatureExtractor, preset

COLUMNS = {
    "form": ["Ms.", "Haag", "plays", "Elianti", "(", "1987", ")", ".", "pp", "3-14"],
    "pos": ["NNP", "NNP", "VBZ", "NNP", "(", "CD", ")", ".", "NN", "CD"],
    "lower": list("abcdefghij"),
    "odd name": list("ABABABABAB"),
}


@pytest.mark.parametrize("columns", [1, 2, 4])
@pytest.mark.parametrize("name", PRESETS)
def test_presets_give_attributes_to_every_token(name, columns):
    chosen = dict(list(COLUMNS.items())[:columns])
    corpus = Corpus.from_columns(chosen, [4, 0, 5, 1])
    templates = preset(name, list(chosen))
    extractor, design = FeatureExtractor.learn(corpus, templates)
    found = [extractor.names([a for a, _ in design.attributes(t)]) for t in range(10)]
    assert all(f"word[0]={token}" in names for token, names in zip(COLUMNS["form"], found, strict=True))
    further = [c for c in list(chosen)[1:] if PRESETS[name][1]]
    spelled = {"pos": "pos[0]=CD", "lower": "'lower'[0]=f", "odd name": "'odd name'[0]=B"}
    assert all(spelled[c] in found[5] for c in further)


def test_presets_tell_a_year_and_a_range_of_pages():
    corpus = Corpus.from_columns({"word": COLUMNS["form"]}, [10])
    extractor, design = FeatureExtractor.learn(corpus, preset("fields", ["word"]))
    year, pages = (extractor.names([a for a, _ in design.attributes(t)]) for t in (5, 9))
    assert any(n.startswith("match(/^(19|20)") and n.endswith("[0]=1") for n in year)
    assert "short-shape[0]=d-d" in pages
    assert not any(n.startswith("match(/^(19|20)") and n.endswith("[0]=1") for n in pages)


def test_fields_tell_what_came_before_and_what_segment_this_is():
    corpus = Corpus.from_columns({"word": COLUMNS["form"]}, [10])
    extractor, design = FeatureExtractor.learn(corpus, preset("fields", ["word"]))
    name, pages = (extractor.names([a for a, _ in design.attributes(t)]) for t in (1, 9))
    assert {"seen(year)[0] & kind[0]=0|cap", "ahead(year)[0] & kind[0]=1|cap"} <= set(name)
    assert {"seen(year)[0] & kind[0]=1|range", "seen(pages)[0] & kind[0]=1|range"} <= set(pages)
    assert "segment(kind)[0]=pages" in pages


def test_an_unknown_preset_names_those_there_are():
    with pytest.raises(TemplateError, match="there is no preset 'nre'; there are: chunk, ner"):
        preset("nre", ["word"])
