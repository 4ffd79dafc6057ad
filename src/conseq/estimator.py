"""scikit-learn's manner without scikit-learn: options by name, for clone, GridSearchCV and Pipeline."""

from __future__ import annotations

import inspect
from typing import Any, Self


class Estimator:
    """A base for learners whose constructor only assigns its options to attributes of the same names.

    >>> class Learner(Estimator):
    ...     def __init__(self, k=1):
    ...         self.k = k
    >>> Learner(k=3), Learner().set_params(k=2).get_params()
    (Learner(k=3), {'k': 2})
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change options by name."""
        known = inspect.signature(type(self)).parameters
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"there is no option {name!r}; there are: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(two_d_array=False, string=True),
            requires_fit=True,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = {k: v for k, v in self.get_params().items() if v != defaults[k].default}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"
