"""What `conseq` offers, name by name with signatures, is what `public_surface.txt` says.

A change of the surface on purpose: `python tests/test_public_surface.py` writes the file anew.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import conseq
from conseq import errors
from conseq.constraints import CONSTRAINTS
from conseq.decoders.auto import DECODERS
from conseq.labeller import LABELLERS

SNAPSHOT = Path(__file__).with_name("public_surface.txt")
STUB = Path(conseq.__file__).with_suffix(".pyi")


def surface() -> str:
    """A line for each name, and for each method and property of a class that its bases have not like so."""
    return "".join(f"{line}\n" for name in conseq.__all__ for line in described(name, getattr(conseq, name)))


def described(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, type) and issubclass(value, Enum):
        yield f"class {name}: {', '.join(value.__members__)}"
    elif isinstance(value, type):
        bases = [base for base in value.__mro__[1:] if getattr(conseq, base.__name__, None) is base]
        known = {line for base in bases for line in lines_of(base)}
        named = "".join(f", a {base.__name__}" for base in bases[:1])
        yield f"class {name}{signature(value)}{named}"
        yield from (f"    {name}{line}" for line in lines_of(value) if line not in known)
    else:
        yield f"{name}{signature(value)}" if callable(value) else f"{name} = {value!r}"


def lines_of(kind: type) -> list[str]:
    """A line for each method and property."""
    found = sorted(members(kind).items())
    return [f".{name}{signature(member) if callable(member) else ''}" for name, member in found]


def members(kind: type) -> dict[str, Any]:
    """What a class and its bases define for users; the fields of a dataclass stand in its signature."""
    fields = getattr(kind, "__dataclass_fields__", {})
    own = [vars(base) for base in reversed(kind.__mro__) if base.__module__.startswith("conseq")]
    names = {name for one in own for name in one if not name.startswith("_") and name not in fields}
    return {name: inspect.getattr_static(kind, name) for name in names} | {
        name: getattr(kind, name) for name in names if inspect.ismethod(getattr(kind, name))
    }


def signature(value: Any) -> str:
    """As it is written, without self."""
    if isinstance(value, type) and value.__init__ is Exception.__init__:
        return "(*args)"
    if getattr(value, "_is_protocol", False):
        return ", a protocol"
    found = inspect.signature(value)
    parts = []
    for parameter in found.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        if parameter.name != "self":
            parts.append(written(parameter))
    shown = "" if isinstance(value, type) else annotated(" -> ", found.return_annotation)
    return f"({', '.join(parts)}){shown}"


def written(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = f"{stars}{parameter.name}{annotated(': ', parameter.annotation)}"
    if parameter.default is parameter.empty:
        return text
    default = repr(parameter.default)
    return f"{text} = {'…' if ' at 0x' in default else default}"


def annotated(before: str, annotation: Any) -> str:
    if annotation is inspect.Signature.empty:
        return ""
    return before + (annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))


def test_the_surface_is_what_it_was():
    assert surface() == SNAPSHOT.read_text(encoding="utf-8"), (
        "the public surface has changed; if it should, run: python tests/test_public_surface.py"
    )


def test_every_kind_of_rule_decoder_labeller_and_error_has_a_name():
    wrong = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, Exception)]
    kinds = [*CONSTRAINTS, *DECODERS.values(), *LABELLERS, *wrong]
    for kind in kinds:
        assert getattr(conseq, kind.__name__) is kind
        assert kind.__name__ in conseq.__all__


def test_type_checkers_see_the_same_names():
    """The stub imports each name from its home, where the package finds it, and modules that there are."""
    names, modules = {}, []
    for node in ast.walk(ast.parse(STUB.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                assert alias.asname == alias.name
                if node.module == "conseq":
                    modules.append(alias.name)
                else:
                    names[alias.name] = node.module
    assert names == conseq._HOME
    assert set(modules) <= set(dir(conseq))
    assert {"constraints", "decoders", "features", "metrics", "mining", "models"} <= set(modules)


if __name__ == "__main__":
    SNAPSHOT.write_text(surface(), encoding="utf-8")
