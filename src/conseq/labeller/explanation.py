"""Why a token has its label.

probabilities   how likely each label is there, or how large a part of its neighbours had it
reasons         what spoke for the label: attributes with weights, or neighbours with distances
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
    """A token, its label, the probabilities of labels (the likeliest first) and reasons (the best first)."""

    token: str
    label: str
    probabilities: dict[str, float]
    reasons: list[Reason]
    count: int  # of all reasons, if more than are listed

    def to_dict(self) -> dict[str, Any]:
        return {"chances" if key == "probabilities" else key: value for key, value in asdict(self).items()}


def largest(probabilities: list[float], names: tuple[str, ...], least: float = 0.001) -> dict[str, float]:
    """Probabilities of at least `least` by name, the largest first.

    >>> largest([0.2, 0.0, 0.8], ("a", "b", "c"))
    {'c': 0.8, 'a': 0.2}
    """
    order = sorted(range(len(probabilities)), key=lambda i: -probabilities[i])
    return {names[i]: probabilities[i] for i in order if probabilities[i] >= least}
