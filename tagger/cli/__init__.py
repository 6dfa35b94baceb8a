"""The command line: parse, call one function of the library, print.

Data goes to standard output, all else to standard error. Exit code 0: done;
1: an expected failure, said in one sentence; 2: wrong usage.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from tagger.cli.evaluate import evaluate
from tagger.cli.info import info
from tagger.cli.inspect import inspect
from tagger.cli.predict import predict
from tagger.cli.tag import tag
from tagger.cli.train import train
from tagger.errors import TaggerError

__all__ = ["main"]


class _Group(click.Group):
    """Turns what the user can mend into one sentence and exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # a full disk shows here, not at exit
            return result
        except TaggerError as error:
            raise click.ClickException(str(error)) from error
        except BrokenPipeError:
            # The reader of our output went away (as `head` does); say nothing.
            _silence_output()
            ctx.exit(0)
        except OSError as error:
            _silence_output()
            where = error.filename or "The output"
            raise click.ClickException(
                f"{where} cannot be used: {error.strerror or error}."
            ) from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of work, not of the alphabet


def _silence_output() -> None:
    """Keep the interpreter from writing, and complaining, at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="paper-tagger", message="%(version)s")
def main() -> None:
    """Tag scientific papers with the themes they are about.

    \b
    Examples:
      tagger predict abstract.txt
      tagger tag new.jsonl -o tagged.jsonl
      tagger train labelled.jsonl --themes themes.toml -o my-model
    """


for _command in (predict, tag, train, evaluate, inspect, info):
    main.add_command(_command)
