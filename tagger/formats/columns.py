"""Columns of a table: which hold a text, and which hold our tags."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TypeGuard

from tagger.errors import RecordError
from tagger.fields import plain_name
from tagger.formats.entries import Door
from tagger.formats.history import (
    MEMORY_FIELD,
    History,
    changed_words,
    check_word,
    history_of_words,
    memory_text,
    retagged,
    rounded,
    split_words,
)
from tagger.records import Tag

__all__ = [
    "history_of_cells",
    "names_a_text",
    "no_text",
    "tag_cells",
    "tag_columns",
]


def names_a_text(door: Door, columns: Sequence[str]) -> bool:
    """Tell whether a table has a column for a title or an abstract."""
    known = {door.names.get(plain_name(name), ("", 0))[0] for name in columns}
    return bool(known & {"title", "abstract"})


def no_text(door: Door, columns: Sequence[str], row: Sequence[object]) -> RecordError:
    """Return the refusal of a table in which nothing can be a title or an abstract.

    Of its first row, the longest text is taken for the abstract and the next for
    the title, to show the options to give.
    """
    texts = [(len(c), n) for n, c in zip(columns, row, strict=False) if _says(c)]
    texts.sort(reverse=True)
    abstract, title = [*(name for _, name in texts), "COLUMN", "COLUMN"][:2]
    return RecordError(
        f"{door.source}: no column is known to hold a title or an abstract; the "
        f"columns are {list(columns)}. Name them, perhaps with --map "
        f"title={shlex.quote(title)} --map abstract={shlex.quote(abstract)}."
    )


def _says(cell: object) -> TypeGuard[str]:
    """Tell whether a cell holds words."""
    return isinstance(cell, str) and any(char.isalpha() for char in cell)


def tag_columns(columns: Sequence[str]) -> tuple[str, str, str]:
    """Return the columns for tags, probabilities and memory.

    A foreign column "tags" or "tagger" is left alone.
    """
    foreign = ("tags" in columns) != (MEMORY_FIELD in columns)
    prefix = "model_" if foreign else ""
    return f"{prefix}tags", f"{prefix}tag_probabilities", f"{prefix}{MEMORY_FIELD}"


def history_of_cells(tags: str | None, memory: str | None) -> History:
    """Return the tags of a row; a tag the memory does not know is a person's."""
    return history_of_words(split_words(tags or "")[1], memory)


def tag_cells(old: History, tags: Sequence[Tag], where: str) -> tuple[str, str, str]:
    """Return the cells for themes, probabilities and memory after tagging.

    Examples
    --------
    >>> tag_cells(History(), [Tag("moe", 0.9), Tag("optimizers", 0.75)], "x:1")[:2]
    ('moe; optimizers', '0.9; 0.75')
    """
    new = retagged(old, tags)
    for tag in new.tags:
        if tag.source == "model":
            check_word(tag.theme, ",;", where)
    words = changed_words([tag.theme for tag in old.tags], old, new)
    chances = {tag.theme: str(rounded(tag.probability)) for tag in new.written}
    return (
        "; ".join(words),
        "; ".join(chances.get(word, "") for word in words),
        memory_text(new),
    )
