"""Attributes of entities and pairs: patterns by hand, the same for one sentence and for many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conseq.datasets import news
from conseq.entities import Entity, Relation, Sentence, types_of
from conseq.errors import DataError
from conseq.relations.columns import Between, Phrases, Tokens, entity_columns, pair_columns
from conseq.relations.features import SETS, Described, Given, RelationFeatures
from conseq.relations.hashed import hashed
from conseq.relations.lists import LISTS, entries, listed
from conseq.relations.mentions import Gold, Mentions


def pattern(text: str, *spans: tuple[int, int]) -> set[str]:
    """The patterns that the first entity (head) and the second (tail) show."""
    sentence = Sentence(tuple(text.split()), tuple(Entity("x", *span) for span in spans))
    mentions = Mentions.of([sentence], [np.array([[0, 1]])])
    tokens = Tokens(mentions)
    own = entity_columns(tokens, Phrases.of(mentions))
    columns = pair_columns(tokens, Between.of(mentions), own)
    names = ("comma", "appositive", "in-in", "title", "native-of", "based-in", "begins", "same")
    return {name for name in names if columns[name][0] >= 0}


@pytest.mark.parametrize(
    ("text", "spans", "found"),
    [
        ("He left San Jose , CA .", [(2, 4), (5, 6)], {"comma"}),
        ("John Smith , a Starbucks manager said", [(0, 2), (4, 5)], {"appositive"}),
        ("Officials in Perugia in Umbria province said", [(2, 3), (4, 5)], {"in-in"}),
        ("in Perugia , Umbria", [(1, 2), (3, 4)], {"comma", "in-in"}),
        ("the CNN reporter David McKinley said", [(3, 5), (1, 2)], {"title"}),
        ("Elizabeth Dole is a native of Salisbury , N.C.", [(0, 2), (6, 7)], {"native-of"}),
        ("K mart based in Troy , Mich. said", [(0, 2), (4, 5)], {"based-in"}),
        ("HAVANA and Havana and MADRID", [(0, 1), (2, 3)], {"begins", "same"}),
        ("Rome , Italy , said", [(2, 3), (0, 1)], set()),
        ("Rome", [(0, 1), (0, 1)], {"same"}),
    ],
)
def test_patterns(text, spans, found):
    assert pattern(text, *spans) == found


def test_what_stands_around_an_entity():
    sentence = Sentence(
        ("In", "New", "York", ",", "Ann"), (Entity("x", 1, 3),), (), ("IN", "NP", "NP", ",", "NP")
    )
    mentions = Mentions.of([sentence])
    own = entity_columns(Tokens(mentions), Phrases.of(mentions))
    for column, word in {"w-1": "In", "w+1": ",", "w+2": "Ann", "w.last": "York", "t-1": "IN"}.items():
        assert own[column][0] == hashed([word])[0], column
    assert own["w-2"][0] == own["w+3"][0] == own["acap"][0] == own["is-names"][0] == -1
    assert own["phrase"][0] == hashed(["new york"])[0]
    assert own["is-places"][0] == own["icap"][0] == own["names+2"][0] == own["places-1"][0] + 1 == 0
    assert own["length"][0] == 1


@pytest.mark.parametrize("chosen", SETS)
def test_sentences_have_the_same_attributes_alone_and_among_others(chosen):
    sentences = news(40)
    types = types_of(sentences)
    mentions = Mentions.of(sentences)
    given = Given(Gold.of(sentences, types, mentions).entities)
    everything = Described.of(mentions, chosen, given)
    features = RelationFeatures.learn(everything, chosen, min_count=2)
    at, pair_at = everything.entity_offsets, everything.pair_offsets
    entities, pairs = features.entities(everything), features.pairs(everything)
    for i in range(0, 40, 7):
        alone = Mentions.of([sentences[i]])
        own = Described.of(alone, chosen, Given(Gold.of([sentences[i]], types, alone).entities))
        for one in (own, everything.select(np.array([i]))):
            found, related = features.entities(one), features.pairs(one)
            for k in range(found.n_tokens):
                assert found.attributes(k) == entities.attributes(int(at[i]) + k)
            for k in range(related.n_tokens):
                assert related.attributes(k) == pairs.attributes(int(pair_at[i]) + k)
    assert pairs.n_attributes == features.n_attributes[1] == 2 * len(features.entity) + len(features.pair)


def test_relations_and_types_can_be_told():
    sentences = news(30)
    types, mentions = types_of(sentences), Mentions.of(sentences)
    gold = Gold.of(sentences, types, mentions)
    plain, told = (
        Described.of(mentions, "paper"),
        Described.of(mentions, "paper", Given(gold.entities, gold.relations)),
    )
    assert len(told.entities.codes) - len(plain.entities.codes) == 2 * (gold.relations > 0).sum()
    assert len(told.own.codes) > len(plain.own.codes)


def test_no_entities_and_no_sentences_are_fine():
    bare = Sentence(("nothing", "here"))
    for sentences in ([], [bare], [Sentence(())], [bare, Sentence(("Ann",), (Entity("x", 0, 1),))]):
        described = Described.of(Mentions.of(sentences), "full")
        features = RelationFeatures.learn(described, "full")
        assert features.pairs(described).n_tokens == 0


def test_a_pair_has_one_relation():
    both = Entity("x", 0, 1), Entity("x", 1, 2)
    twice = Sentence(("a", "b"), both, (Relation("R", 0, 1), Relation("S", 0, 1)))
    with pytest.raises(DataError, match=r"have the relations 'R' and 'S'"):
        Gold.of([twice], types_of([twice]), Mentions.of([twice]))
    same = replace(twice, relations=(Relation("R", 0, 1),) * 2)
    assert Gold.of([same], types_of([same]), Mentions.of([same])).relations.tolist() == [1, 0]


def test_the_lists_have_what_everybody_knows():
    known = {
        "places": ["FRANCE", "Calif.", "New York"],
        "titles": ["Mr.", "chief executive"],
        "names": ["Mary"],
    }
    for name in LISTS:
        assert all(listed(text, name) for text in known[name])
        assert all(entry and entry == entry.strip() for entry in entries(name))
    assert not any(listed(word, "places") for word in ("in", "or", "me", "us", "he"))
