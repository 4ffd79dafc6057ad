"""What a command's end means.  result or exception ─→ one sentence on standard error ─→ exit code."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import typer
from typer.main import get_command

from conseq.errors import ConseqError, shortened

DEBUG = "CONSEQ_DEBUG"
FAILED, USAGE, INTERRUPTED = 1, 2, 130

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters but tab and line feed."""


def say(message: str) -> None:
    """A sentence for the person, on standard error; nothing happens where nobody can read it."""
    with suppress(OSError):
        print(f"conseq: {visible(shortened(message))}", file=sys.stderr, flush=True)


def visible(text: str) -> str:
    """Text whose control characters are written as escapes, so that they cannot steer a terminal.

    >>> visible("red: \x1b[31m")
    'red: \\\\x1b[31m'
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def misused(message: str) -> NoReturn:
    """End with a sentence about arguments that do not go together."""
    say(message)
    raise typer.Exit(USAGE)


@contextmanager
def told_if_interrupted(message: str) -> Iterator[None]:
    """Say what an interrupt of the block means, and end."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"interrupted{message}")
        raise typer.Exit(INTERRUPTED) from None


def run_app(app: typer.Typer, program: str, arguments: Sequence[str], **context: Any) -> int:
    """Run a command line, whose argument parser handles no exceptions itself, and give the exit code."""
    command = get_command(app)

    def run() -> None:
        with command.make_context(program, list(arguments), **context) as made:
            command.invoke(made)

    return exit_code(run)


def exit_code(run: Callable[[], None]) -> int:
    """Call `run`; say in one sentence what went wrong, if anything, and give the exit code."""
    code = 0
    try:
        try:
            run()
        except typer.Exit as end:
            code = end.exit_code
        sys.stdout.flush()
        return code
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
    elif isinstance(error, OSError) and error.errno == errno.EBADF and error.filename is None:
        _leave_standard_output()
        say("standard output is closed; leave it open, or send it to a file")
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
