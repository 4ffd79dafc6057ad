"""What is kept for the next time stays within its bytes."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np

import conseq
from conseq.kept import Kept, kept, size_of

FORMS = (
    "if {} then {}",
    "at most 2 segments of {}",
    "no {} before {}",
    "{} followed by {}",
    "each {} contains /x/",
)


class Owner:
    def __init__(self, most_bytes: int) -> None:
        self.kept, self.calls = Kept(most_bytes), 0


@kept
def zeros(owner: Owner, n: int) -> np.ndarray:
    owner.calls += 1
    return np.zeros(n)


def test_what_was_used_last_is_kept() -> None:
    owner = Owner(100_000)
    first = zeros(owner, 1000)
    zeros(owner, 1001)
    zeros(owner, 1002)
    assert zeros(owner, 1000) is first
    assert owner.calls == 3
    zeros(owner, 1003)
    zeros(owner, 1004)  # about 24,000 bytes each with what may come of them: the fifth is one too many
    assert zeros(owner, 1000) is first
    assert owner.calls == 5
    zeros(owner, 1001)
    assert owner.calls == 6
    assert 0 < owner.kept.n_bytes <= 100_000


def test_what_is_larger_than_all_may_be_is_not_kept() -> None:
    owner = Owner(100_000)
    small = zeros(owner, 10)
    zeros(owner, 1_000_000)
    zeros(owner, 1_000_000)
    assert owner.calls == 3
    assert zeros(owner, 10) is small


def test_repeated_rows_are_counted_once() -> None:
    assert size_of(np.zeros((500, 500))) > 2_000_000
    assert size_of(np.broadcast_to(np.zeros(500), (500, 500))) < 5000


def decode(name: str, n_labels: int, n_rules: int) -> conseq.Decoding:
    labels = ["O", *(f"{name}{i}" for i in range(1, n_labels))]
    pairs = np.random.default_rng(0).integers(1, n_labels, (n_rules, 2)).tolist()
    named = [(labels[a], labels[b if b != a else a % (n_labels - 1) + 1]) for a, b in pairs]
    rules = [f"{FORMS[k % len(FORMS)].format(*pair)}  penalty 1" for k, pair in enumerate(named)]
    scores = np.zeros((6, n_labels))
    scores[:, 0] = 1.0
    return conseq.decode(scores, labels=labels, constraints=rules, tokens=list("abcxyz"))


def test_large_tables_of_labels_are_let_go() -> None:
    """The tables of one such set of labels come to some 350 MB."""
    decode("Z", 5, 5)
    gc.collect()
    tracemalloc.start()
    try:
        for name in "AB":
            assert decode(name, 300, 200).certificate.status.name == "OPTIMAL"
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 2 * 80_000_000
    finally:
        tracemalloc.stop()


def test_rules_of_one_set_of_labels_are_kept() -> None:
    """Decoding again lowers nothing again."""
    first, again = decode("A", 20, 100), decode("A", 20, 100)
    assert [c.primitive for c in first.problem.charges] == [c.primitive for c in again.problem.charges]
