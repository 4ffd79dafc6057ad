"""`models/layout.py`: the weights that training data calls for, against counting by hand and pair by pair."""

from __future__ import annotations

from collections import Counter

import naive_chain as naive
import numpy as np
import pytest

from conseq.models.layout import Layout, Shard, observe_all

SEEDS = range(20)


def counted(chains):
    """Events of all sequences, which of them happened at all, and Σ |value| of each attribute."""
    events, seen, contexts = Counter(), set(), Counter()
    for bags, labels in chains.sequences():
        found = naive.events(bags, labels)
        seen |= set(found)
        for key, count in found.items():
            events[key] += count
            if key[0] == "move":
                contexts["from", key[1]] += count
        for bag in bags:
            for attribute, value in bag:
                contexts["attribute", attribute] += abs(value)
        contexts["sequences"] += bool(labels)
    return events, seen, contexts


def context_of(key, contexts):
    kind = key[0]
    if kind == "state":
        return contexts["attribute", key[1]]
    return contexts["from", key[1]] if kind == "move" else contexts["sequences"]


@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_weights_and_counts_equal_those_counted_pair_by_pair(seed, values):
    chains = naive.random_chains(seed, values=values)
    layout, observed = observe_all(*chains.as_shards)
    events, seen, contexts = counted(chains)
    keys = naive.keys(layout)
    assert len(keys) == len(set(keys)) == layout.size
    assert set(keys) == seen
    assert observed.events == pytest.approx([events[k] for k in keys], abs=1e-6)
    assert observed.contexts == pytest.approx([context_of(k, contexts) for k in keys], abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS[:5])
def test_state_weights_are_ordered_by_attribute_and_label(seed):
    """Warm starts look weights up by bisection and rely on it."""
    layout, _ = observe_all(*naive.random_chains(seed).as_shards)
    keys = [k for k in naive.keys(layout) if k[0] == "state"]
    assert keys == sorted(keys)


def test_transitions_and_boundaries_can_be_left_out():
    chains = naive.random_chains(4, n_labels=3, lengths=[3, 2, 4])
    kinds = {
        (transitions, boundaries): {
            k[0]
            for k in naive.keys(
                observe_all(*chains.as_shards, transitions=transitions, boundaries=boundaries)[0]
            )
        }
        for transitions in (True, False)
        for boundaries in (True, False)
    }
    assert kinds == {
        (True, True): {"state", "move", "start", "end"},
        (True, False): {"state", "move"},
        (False, True): {"state", "start", "end"},
        (False, False): {"state"},
    }


def test_a_value_of_zero_is_still_a_weight():
    """As in CRFsuite; and a label that a design's attribute never met has none."""
    design = naive.Design(
        np.array([[0], [1]], np.int32),
        np.array([0, 1, 2]),
        np.array([0, 1], np.int32),
        np.zeros(2, np.float32),
        3,
    )
    layout, observed = observe_all([Shard(design, np.array([1, 0], np.int32), np.array([0, 2]))], 2)
    assert naive.keys(layout)[:2] == [("state", 0, 1), ("state", 1, 0)]
    assert observed.events[:2].tolist() == [0, 0]


def test_empty_sequences_make_no_transition_between_their_neighbours():
    chains = naive.random_chains(1, n_labels=2, lengths=[1, 0, 1, 0])
    chains.labels[:] = [0, 1]
    layout, _ = observe_all(*chains.as_shards)
    assert [k for k in naive.keys(layout) if k[0] != "state"] == [
        ("start", 0),
        ("start", 1),
        ("end", 0),
        ("end", 1),
    ]


@pytest.mark.parametrize("lengths", [[], [0, 0]])
def test_without_tokens_there_are_no_weights(lengths):
    chains = naive.random_chains(1, n_labels=3, lengths=np.array(lengths, dtype=np.int64))
    layout, observed = observe_all(*chains.as_shards)
    assert layout.size == len(observed.events) == len(observed.contexts) == 0
    assert len(layout.feature) == chains.design.n_attributes + 1


def test_chain_tables_go_to_the_vector_and_back():
    layout = Layout(
        3,
        np.array([0, 2]),
        np.array([0, 2], np.int32),
        np.array([[0, 1], [2, 2]], np.int32),
        np.array([1], np.int32),
        np.array([0, 2], np.int32),
    )
    vector = np.arange(1.0, 8.0)
    pairwise, start, end = layout.chain(vector)
    assert layout.state(vector).tolist() == [1, 2]
    assert pairwise.tolist() == [[0, 3, 0], [0, 0, 0], [0, 0, 4]]
    assert (start.tolist(), end.tolist()) == ([0, 5, 0], [6, 0, 7])
    copy = np.zeros(7)
    layout.put_chain(copy, pairwise, start, end)
    assert copy.tolist() == [0, 0, *vector[2:]]
