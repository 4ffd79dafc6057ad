"""What a command's end means.  result or exception ─→ one sentence on standard error ─→ exit code."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec, TypeVar

import typer

from conseq.errors import ConseqError

P = ParamSpec("P")
R = TypeVar("R")

DEBUG = "CONSEQ_DEBUG"
FAILED, USAGE, INTERRUPTED = 1, 2, 130


def say(message: str) -> None:
    """A sentence for the person, on standard error."""
    print(f"conseq: {message}", file=sys.stderr, flush=True)


def misused(message: str) -> NoReturn:
    """End with a sentence about arguments that do not go together."""
    say(message)
    raise typer.Exit(USAGE)


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """A command whose exceptions become exit codes before the argument parser sees them."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        code = exit_code(lambda: command(*args, **kwargs))
        raise typer.Exit(code)

    return run


def exit_code(run: Callable[[], Any]) -> int:
    """Call `run`; say in one sentence what went wrong, if anything, and give the exit code."""
    try:
        result = run()
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except typer.Exit as end:
        return end.exit_code
    except BrokenPipeError:
        _leave_standard_output()
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except ConseqError as error:
        say(str(error))
        return FAILED
    except Exception as error:
        return _unforeseen(error)


def _unforeseen(error: Exception) -> int:
    if hasattr(error, "format_message"):  # the argument parser's
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "conseq"
        message = error.format_message().rstrip(".").replace("\n", " ")
        say(f"{message}; see {command} --help")
        return USAGE
    if os.environ.get(DEBUG):
        traceback.print_exc()
        return FAILED
    if isinstance(error, MemoryError):
        say("there is not enough memory; take less data or fewer features (--min-count)")
    elif isinstance(error, OSError) and error.strerror:
        say(f"{error.filename or 'writing'}: {error.strerror}; check the place and try again")
    else:
        shown = " ".join(str(error).split())
        kind = type(error).__name__
        say(f"internal error: {kind}: {shown}; run with {DEBUG}=1 for the traceback")
    return FAILED


def _leave_standard_output() -> None:
    """The reader has gone: let what Python still wants to flush at its end go nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # standard output is no file
        return
