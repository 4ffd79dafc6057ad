"""Why a token has its label.

chances   how likely each label is there, or how large a part of its neighbours had it
reasons   what spoke for the label: attributes with weights, or neighbours with distances
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Reason:
    """An attribute and how much more it adds to the label than to the next likely one; or a neighbour and how
    far it is."""

    text: str
    weight: float


@dataclass(frozen=True)
class TokenExplanation:
    """A token, its label, the chances of labels (the likeliest first), and the reasons (the best first)."""

    token: str
    label: str
    chances: dict[str, float]
    reasons: list[Reason]
    count: int  # of all reasons, if more than are listed

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def largest(chances: list[float], names: tuple[str, ...], least: float = 0.001) -> dict[str, float]:
    """Chances of at least so much by name, the largest first.

    >>> largest([0.2, 0.0, 0.8], ("a", "b", "c"))
    {'c': 0.8, 'a': 0.2}
    """
    order = sorted(range(len(chances)), key=lambda i: -chances[i])
    return {names[i]: chances[i] for i in order if chances[i] >= least}
