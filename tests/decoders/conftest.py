"""Makes the references of `tests/kernels` and the random problems of this folder importable here."""

import sys
from pathlib import Path

import pytest

from conseq.potentials import Potentials

sys.path.extend([str(Path(__file__).parents[1] / "kernels"), str(Path(__file__).parent)])


@pytest.fixture
def potentials_of():
    """A function: the chains of `naive.random_chains` as Potentials."""
    import naive

    def convert(chains: list[naive.Chain]) -> Potentials:
        unary, pairwise, start, end, offsets, kind, _ = naive.flat(chains)
        return Potentials.of(unary, pairwise, start, end, offsets, kind=kind if len(kind) else None)

    return convert
