"""Help that is quick and grouped: plain text, options under headings, examples as they were written.

Typer's own coloured help takes longer to import than the help may take.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand, TyperGroup

FAMILIES = "{families}"
"""What stands in a help text for the names of the families of rules."""


class Command(TyperCommand):
    """A command whose options stand under the heading (`rich_help_panel`) that each names."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        arguments = [p for p in self.params if p.param_type_name == "argument"]
        pieces = [_metavar(p) if p.required else f"[{_metavar(p)}]" for p in arguments]
        needed = [_option(p) for p in self.params if p.param_type_name == "option" and p.required]
        formatter.write_usage(ctx.command_path, " ".join([*pieces, *needed, "[OPTIONS]"]))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write([(_heading(param), _record(param)) for param in self.get_params(ctx)], formatter)


class Group(TyperGroup):
    """Commands under the heading that each names, in the order in which they were added."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage(ctx.command_path, "COMMAND …")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        commands: list[Any] = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        records = [(c.rich_help_panel, (c.name, c.get_short_help_str(100))) for c in commands]
        _write([*records, *((_heading(param), _record(param)) for param in self.get_params(ctx))], formatter)


def _write(records: Iterable[tuple[str, tuple[str, str]]], formatter: Any) -> None:
    """Headings with names and what they mean ─→ each heading once, with all under it."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for heading, record in records:
        groups.setdefault(heading, []).append(record)
    for heading, under in groups.items():
        with formatter.section(heading):
            formatter.write_dl(under)


def _option(param: Any) -> str:
    flag = getattr(param, "is_flag", False) or param.name == "help"
    names = ", ".join([*sorted(param.opts, key=len), *param.secondary_opts])
    return names if flag else f"{names} {_metavar(param)}"


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _heading(param: Any) -> str:
    if param.param_type_name == "argument":
        return "Arguments"
    return str(getattr(param, "rich_help_panel", None) or "Options")


def _record(param: Any) -> tuple[str, str]:
    text = _filled(param.help or "")
    if param.param_type_name == "argument":
        return _metavar(param), text
    default = param.default
    told = param.show_default and default is not None and not isinstance(default, bool)
    shown = f"  [{default}]" if told else ""
    return _option(param), f"{text}{shown}"


def _filled(text: str) -> str:
    """A help text with the names of the families of rules, which are imported only where it has them.

    >>> _filled("one of {families}")[:21]
    'one of only-one, hier'
    """
    if FAMILIES not in text:
        return text
    from conseq.mining import families

    return text.replace(FAMILIES, ", ".join(families.FAMILIES))
