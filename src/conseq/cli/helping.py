"""Help that is quick and grouped: plain text, options under headings, examples as they were written.

Typer's own coloured help takes longer to import than the help may take. What a help text lists in braces
comes from a table (`TABLES`), which is imported when that text is shown, not before.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from typer.core import TyperCommand, TyperGroup

TABLES = {"families": ("conseq.mining.families", "FAMILIES")}
"""Name in braces ─→ the module and the name of the table."""


class Command(TyperCommand):
    """A command whose options stand under the heading (`rich_help_panel`) that each names."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        arguments = [p for p in self.params if p.param_type_name == "argument"]
        pieces = [_metavar(p) if p.required else f"[{_metavar(p)}]" for p in arguments]
        needed = [_option(p) for p in self.params if p.param_type_name == "option" and p.required]
        formatter.write_usage(ctx.command_path, " ".join([*pieces, *needed, "[OPTIONS]"]))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            heading = "Arguments" if param.param_type_name == "argument" else _heading(param)
            groups.setdefault(heading, []).append(_record(param))
        _write(groups, formatter)


class Group(TyperGroup):
    """Commands under the heading that each names, in the order in which they were added."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage(ctx.command_path, "COMMAND …")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.format_commands(ctx, formatter)
        with formatter.section("Options"):
            formatter.write_dl([_record(p) for p in self.get_params(ctx)])

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            heading = str(getattr(command, "rich_help_panel", None) or "Commands")
            groups.setdefault(heading, []).append((name, command.get_short_help_str(100)))
        _write(groups, formatter)


def _write(groups: dict[str, list[tuple[str, str]]], formatter: Any) -> None:
    """Names and what they mean, under headings."""
    for heading, records in groups.items():
        with formatter.section(heading):
            formatter.write_dl(records)


def _option(param: Any) -> str:
    flag = getattr(param, "is_flag", False) or param.name == "help"
    names = ", ".join([*sorted(param.opts, key=len), *param.secondary_opts])
    return names if flag else f"{names} {_metavar(param)}"


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _heading(param: Any) -> str:
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
    """A help text with the names of its tables.

    >>> _filled("one of {families}")[:21]
    'one of only-one, hier'
    """
    for name, (module, table) in TABLES.items():
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", ", ".join(getattr(import_module(module), table)))
    return text
