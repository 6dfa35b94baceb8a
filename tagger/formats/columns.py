"""Columns of a table: which hold a text, and which hold our tags."""

from __future__ import annotations

from collections.abc import Sequence

from tagger.errors import RecordError
from tagger.fields import plain_name
from tagger.formats.entries import Door
from tagger.records import Tag

__all__ = ["check_columns", "tag_cells", "tag_columns"]


def check_columns(door: Door, columns: Sequence[str]) -> None:
    """Refuse a table in which nothing can be a title or an abstract."""
    known = {door.names.get(plain_name(name), ("", 0))[0] for name in columns}
    if not known & {"title", "abstract"}:
        raise RecordError(
            f"{door.source}: no column is known to hold a title or an abstract; the "
            f"columns are {list(columns)}. Name one with --map abstract=COLUMN."
        )


def tag_columns(columns: Sequence[str]) -> tuple[str, str]:
    """Return the columns for our tags; a foreign column "tags" is left alone."""
    if "tags" in columns and "tag_probabilities" not in columns:
        return "model_tags", "model_tag_probabilities"
    return "tags", "tag_probabilities"


def tag_cells(tags: Sequence[Tag]) -> tuple[str, str]:
    """Return the themes of tags as one cell, and their probabilities.

    Examples
    --------
    >>> tag_cells([Tag("moe", 0.9), Tag("optimizers", 0.75)])
    ('moe; optimizers', '0.9; 0.75')
    """
    themes = "; ".join(tag.theme for tag in tags)
    chances = "; ".join(str(round(float(tag.probability), 4)) for tag in tags)
    return themes, chances
