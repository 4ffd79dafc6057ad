"""Options in groups: a command takes a dataclass, the command line has an option for each of its fields.

def train(data: …, crf: CRFOptions) ─grouped─→ def train(*, data: …, dev: …, features: …, …)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer

OPTION = "option"
"""Under this name the metadata of a field describes its option."""


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer wants it: the fields of its groups in place of them, options annotated."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}
    parameters = list(_parameters(command, hints, groups))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**given, **made)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameters(
    command: Callable[..., None], hints: dict[str, Any], groups: dict[str, type]
) -> Iterator[inspect.Parameter]:
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            kinds = get_type_hints(groups[name], include_extras=True)
            for field in fields(groups[name]):
                yield _parameter(field.name, kinds[field.name], field)
        elif isinstance(parameter.default, Field):
            yield _parameter(name, hints[name], parameter.default)
        else:
            yield parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)


def _parameter(name: str, kind: Any, field: Field[Any]) -> inspect.Parameter:
    """A field, which may describe an option, as a parameter that typer understands."""
    annotation = Annotated[kind, field.metadata[OPTION]] if OPTION in field.metadata else kind
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def given_of(ctx: typer.Context, group: type) -> list[str]:
    """The options of a group that were given on the command line, as they are written."""
    written = {option.name: option.opts[0] for option in ctx.command.params}
    sources = {field.name: ctx.get_parameter_source(field.name) for field in fields(group)}
    return [written[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"]


def arguments_of(group: Any, labeller: type) -> dict[str, Any]:
    """The options of a group that a labeller has, too, by its names (`names`: group's ─→ labeller's)."""
    known = inspect.signature(labeller).parameters
    values = {group.names.get(field.name, field.name): getattr(group, field.name) for field in fields(group)}
    return {name: value for name, value in values.items() if name in known}
