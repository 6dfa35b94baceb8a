"""The command line: parse, call one function of the library, print.

Data goes to standard output, all else to standard error. Exit code 0: done;
1: an expected failure, said in one sentence; 2: wrong usage.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import click

from tagger.cli.stopping import stopped_by_signals
from tagger.cli.streams import said_in_a_sentence, with_every_stream

__all__ = ["main"]

_COMMANDS = ("predict", "tag", "train", "evaluate", "inspect", "info")
"""In the order of work; each is the function of this name in the module of it."""
_WITHOUT_MATRICES = ("predict", "tag", "info")


class _Group(click.Group):
    """Loads the command that is called, and no other."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        with_every_stream()
        return super().main(*args, **kwargs)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with said_in_a_sentence():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with stopped_by_signals(), said_in_a_sentence():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        if name in _WITHOUT_MATRICES:
            # To start threads that never multiply takes a third of numpy's start.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        command: click.Command = getattr(import_module(f"tagger.cli.{name}"), name)
        return command


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
