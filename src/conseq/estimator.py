"""scikit-learn's manner without scikit-learn: options by name, for clone, GridSearchCV and Pipeline.

    Learner(k=3), Learner(votes=Votes(k=3)) ─→ learner.k = 3 ─→ get_params() ─→ {"k": 3}

Options are attributes of their own names. Some of them may also be given together, as one object (`Group`):
it hands its fields to the attributes, which alone are kept, so `clone` and grids see single options only.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any, Generic, Self, TypeVar, overload

from conseq.errors import ConseqError

Options = TypeVar("Options")


class Group(Generic[Options]):
    """Options of an estimator as one object of a dataclass: read from its attributes, or set all at once.

    A constructor takes the object, too, or None; what it is given by itself may not differ from the object's.
    """

    def __init__(self, kind: type[Options]) -> None:
        self.kind = kind
        self.names = [field.name for field in fields(kind)]  # type: ignore[arg-type]

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        owner.__annotations__[name] = f"{self.kind.__name__} | None"  # what the constructor's signature shows

    @overload
    def __get__(self, owner: None, kind: type) -> None: ...
    @overload
    def __get__(self, owner: Estimator, kind: type) -> Options: ...
    def __get__(self, owner: Estimator | None, kind: type) -> Options | None:
        if owner is None:
            return None  # the constructor's default
        own = owner.get_params()
        return self.kind(**{name: own[name] for name in self.names if name in own})

    def __set__(self, owner: Estimator, options: Options | None) -> None:
        if options is None and not owner._made:
            return
        if not isinstance(options, self.kind):
            raise ConseqError(f"{self.name} is {options!r}; give an object of {self.kind.__name__}")
        known, plain = owner.get_params(), self.kind()
        for name in self.names:
            value, default = getattr(options, name), getattr(plain, name)
            if name not in known:
                if value != default:
                    raise ConseqError(
                        f"{type(owner).__name__} has no option {name}; leave it out of {self.name}"
                    )
                continue
            if not owner._made and known[name] not in (value, default):
                raise ConseqError(
                    f"{name} is {known[name]!r} by itself and {value!r} in {self.name}; give it once"
                )
            setattr(owner, name, value)


class Estimator:
    """A base for learners that are dataclasses with a field for each option, those of groups last.

    >>> from dataclasses import dataclass
    >>> @dataclass(eq=False, repr=False)
    ... class Learner(Estimator):
    ...     k: int = 1
    >>> Learner(k=3), Learner().set_params(k=2).get_params()
    (Learner(k=3), {'k': 2})
    """

    _made = False  # until the constructor is through

    def __post_init__(self) -> None:
        self._made = True

    @classmethod
    def _groups(cls) -> dict[str, Group[Any]]:
        bases = reversed(cls.__mro__)
        return {n: value for base in bases for n, value in vars(base).items() if isinstance(value, Group)}

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """The options by name, groups left out."""
        groups = cls._groups()
        given = inspect.signature(cls).parameters.values()
        return {option.name: option.default for option in given if option.name not in groups}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Change options by name."""
        known = [*self._groups(), *self._defaults()]
        for name in params:
            if name not in known:
                raise ValueError(f"there is no option {name!r}; there are: {', '.join(self._defaults())}")
        for name in sorted(params, key=known.index):  # groups first
            setattr(self, name, params[name])
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
        defaults = self._defaults()
        changed = {k: v for k, v in self.get_params().items() if v != defaults[k]}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"
