"""`kernels/reading.py` against its twin."""

from __future__ import annotations

import naive_reading
import numpy as np
import pytest
from conseq.kernels.reading import fill_rests, follow, read_best


def random_machine(seed: int) -> dict:
    """Integers as rewards, so that equal values are equal to the last bit; prices of inf forbid."""
    rng = np.random.default_rng(seed)
    length, size, states, symbols = (int(rng.integers(1, high)) for high in (6, 4, 4, 4))
    price = rng.integers(0, 3, (states, symbols)).astype(float)
    price[rng.random(price.shape) < 0.1] = np.inf
    reward = rng.integers(-2, 3, (length, size)).astype(float)
    reward[rng.random(reward.shape) < 0.1] = -np.inf
    return {
        "symbols": rng.integers(0, symbols, (2, size + 1, size + 1)),
        "open": rng.random((size + 1, size + 1)) < 0.9,
        "classes": rng.integers(0, 2, length),
        "next": rng.integers(0, states, (states, symbols)),
        "price": price,
        "start": int(rng.integers(states)),
        "reward": reward,
        "wish": rng.integers(0, size, length),
    }


@pytest.mark.parametrize("seed", range(150))
def test_the_best_reading_and_its_agreement(seed: int) -> None:
    machine = random_machine(seed)
    groups = np.full(len(machine["reward"]), -1)
    found = read_best(*machine.values(), groups)
    top, agree = naive_reading.best(machine)
    assert found == top
    if top > -np.inf:
        assert naive_reading.value(machine, tuple(groups.tolist()), machine["start"]) == top
        assert np.sum(groups == machine["wish"]) == agree


@pytest.mark.parametrize("seed", range(40))
def test_what_can_follow(seed: int) -> None:
    machine = random_machine(seed)
    length, size = machine["reward"].shape
    rests = np.empty((length, len(machine["next"]), size))
    arrays = [machine[key] for key in ("symbols", "open", "classes", "next", "price", "reward")]
    fill_rests(*arrays, rests)
    for t, q, g in np.ndindex(*rests.shape):
        assert rests[t, q, g] == naive_reading.rest(machine, t, q, g)


@pytest.mark.parametrize("seed", range(40))
def test_labellings_are_followed_one_step(seed: int) -> None:
    machine = random_machine(seed)
    rng = np.random.default_rng(seed)
    size, states = machine["reward"].shape[1], len(machine["next"])
    symbols, group_of = machine["symbols"][0], rng.integers(0, size, 5)
    last, before = rng.integers(0, size + 1, 3), rng.integers(0, states, 3)
    rests, values = rng.normal(size=(states, size)), rng.normal(size=(3, 5))
    charged, ranks, after = values.copy(), values + 1, np.empty((3, 5), dtype=np.int64)
    follow(symbols, last, group_of, before, machine["next"], machine["price"], rests, charged, ranks, after)
    for w, s in np.ndindex(3, 5):
        symbol = symbols[last[w], group_of[s]]
        state = machine["next"][before[w], symbol]
        assert after[w, s] == state
        assert charged[w, s] == values[w, s] - machine["price"][before[w], symbol]
        assert ranks[w, s] == pytest.approx(charged[w, s] + 1 + rests[state, group_of[s]])
