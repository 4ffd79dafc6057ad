"""Results that are kept for the next time, in a bounded number of bytes.

    owner.kept, function, arguments ─→ the result, worked out only if it is not held any more

What is worked out of a schema is kept with it, and goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from conseq.threads import ForkLock

MOST_BYTES = 64 << 20
"""What is kept with one owner at most."""
LATER = 3
"""A result may grow to this times its size by what is worked out of it later (`cached_property`)."""

Result = TypeVar("Result")

_lock = ForkLock()


class Kept:
    """Results by their keys; those used longest ago go when there are too many bytes.

    >>> kept = Kept(100_000)
    >>> kept.get("zeros", lambda: np.zeros(1000)) is kept.get("zeros", lambda: np.zeros(1000))
    True
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self.n_bytes = 0
        self._held: dict[Hashable, tuple[Any, int]] = {}

    def get(
        self, key: Hashable, make: Callable[[], Result], weigh: Callable[[Result], int] | None = None
    ) -> Result:
        """The result of a key, made if it is not held; it counts for what `weigh` says, if that is given."""
        with _lock:
            if key in self._held:
                self._held[key] = self._held.pop(key)  # the last is the one used last
                found: Result = self._held[key][0]
                return found
        made = make()
        size = LATER * size_of(made) if weigh is None else weigh(made)
        with _lock:
            if key not in self._held and size <= self.most_bytes:
                self._held[key] = made, size
                self.n_bytes += size
            while self.n_bytes > self.most_bytes:
                self.n_bytes -= self._held.pop(next(iter(self._held)))[1]
        return made


Function = TypeVar("Function", bound=Callable[..., Any])


def kept(function: Function) -> Function:
    """Let the first argument, which has a `Kept` called `kept`, keep the results of a function."""

    @wraps(function)
    def remembering(owner: Any, /, *args: Any, **kwargs: Any) -> Any:
        key = function, args, tuple(kwargs.items())
        return owner.kept.get(key, lambda: function(owner, *args, **kwargs))

    return cast(Function, remembering)


def size_of(value: Any) -> int:
    """About how many bytes a result holds: its arrays, those inside tuples and objects, and a little for
    each.

    >>> size_of((np.zeros(1000), "a"))
    8193
    """
    if isinstance(value, np.ndarray):
        repeated = [size for size, stride in zip(value.shape, value.strides, strict=True) if stride]
        return 64 + value.itemsize * int(np.prod(repeated))
    if isinstance(value, str):
        return 64 + len(value)
    parts = value if isinstance(value, (tuple, list)) else getattr(value, "__dict__", {}).values()
    return 64 + sum(size_of(part) for part in parts)
