"""Standard input, output and error as the shell gives them: closed, full, cut off."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from tagger.errors import TaggerError

__all__ = ["or_cut_off", "or_said_aside", "said_in_a_sentence", "with_every_stream"]


def with_every_stream() -> None:
    """Put something in the place of each standard stream that is closed.

    Otherwise the next file opened would get its number, and what is meant for
    the stream. Reading a closed input, or writing to a closed output, fails as
    it does in other programs; messages to a closed error stream are lost. All
    text that goes to a file or a pipe is UTF-8, whatever the system's habit.
    """
    for name, usable, mode in (
        ("stdin", os.O_WRONLY, "r"),
        ("stdout", os.O_RDONLY, "w"),
        ("stderr", os.O_WRONLY, "w"),
    ):
        if getattr(sys, name) is None:
            # Opened the wrong way round, so that its use is an error.
            number = os.open(os.devnull, usable)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            if not stream.isatty():
                stream.reconfigure(encoding="utf-8")
            # A file name may hold bytes that are no text.
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def said_in_a_sentence() -> Iterator[None]:
    """Turn what the user can mend into one sentence and exit code 1."""
    try:
        yield
        sys.stdout.flush()  # a full disk shows here, not at exit
    except TaggerError as error:
        raise click.ClickException(str(error)) from error
    except BrokenPipeError as error:
        # The reader of our output went away (as `head` does); say nothing.
        _silence_output()
        raise click.exceptions.Exit(0) from error
    except OSError as error:
        _silence_output()
        where = error.filename or "The output"
        raise click.ClickException(
            f"{where} cannot be used: {(error.strerror or str(error)).lower()}."
        ) from error


@contextmanager
def or_cut_off() -> Iterator[None]:
    """Go on after the block where the reader of our output goes away in it.

    For what decides on the exit code, which no reader should be able to skip.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_output()


@contextmanager
def or_said_aside(sentence: str) -> Iterator[None]:
    """Say a sentence on standard error if what is printed in the block gets lost."""
    try:
        yield
        sys.stdout.flush()
    except OSError:
        click.echo(sentence, err=True)
        raise


def _silence_output() -> None:
    """Keep the interpreter from writing, and complaining, at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
