"""Putting entries of one file behind those of another."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from tagger.errors import RecordError
from tagger.formats.entries import Entry, Extensible, Tagged
from tagger.formats.json_document import JsonDocument
from tagger.formats.json_lines import holds_list, json_line
from tagger.formats.opening import read_entries
from tagger.formats.output import open_target
from tagger.formats.reading import Reading
from tagger.formats.registry import kind_of
from tagger.formats.sources import open_source

__all__ = ["append_entries", "open_to_append"]

_FAMILIES = ({"json", "jsonl"}, {"csv", "tsv"})


def open_to_append(
    target: str | os.PathLike[str],
    reading: Reading,
    *,
    encoding: str | None = None,
    mapping: Mapping[str, str | Sequence[str]] | None = None,
) -> Reading:
    """Open a file that is to grow by entries of another.

    Parameters
    ----------
    target : path
        The file that is to grow.
    reading : Reading
        Of the entries to add. Those of a format that has no place for tags go
        behind JSON Lines, as which `write_entries` writes them.
    encoding, mapping
        As for `read_entries`.

    Raises
    ------
    RecordError
        If the file cannot be read, or the formats do not go together.
    """
    wanted = reading.format if reading.keeps_format else "jsonl"
    with open_source(target, encoding=encoding) as source:
        lines = source.head.text.split()
        text = source.head.text.strip()
        one = JsonDocument.recognise(source.head) and "\n" not in text
        one = one and not holds_list(text)
        named = kind_of(source.suffix)
    of_lines = wanted == "jsonl" or (named is not None and named.name == "jsonl")
    if not lines:
        raise _nothing_there(Path(target).name)
    # One object on one line is a document as well as a line.
    kind = "jsonl" if one and lines[0][0] == "{" and of_lines else None
    held = read_entries(target, format=kind, encoding=encoding, mapping=mapping)
    family = next((kinds for kinds in _FAMILIES if wanted in kinds), {wanted})
    if held.format not in family:
        held.close()
        raise RecordError(
            f"{held.name} is {held.format}, and the records of {reading.name} would "
            f"be written as {wanted}; choose another place, or replace the file with "
            "--overwrite."
        )
    return held


def append_entries(
    pairs: Iterable[Tagged],
    target: str | os.PathLike[str],
    *,
    reading: Reading,
    encoding: str | None = None,
    mapping: Mapping[str, str | Sequence[str]] | None = None,
) -> None:
    """Put entries with their tags behind those that a file holds.

    What the file holds stays as it is, tags included; tables may gain the
    columns for tags. The file gets its new content in one step, and is not
    touched if there are no pairs.

    Parameters
    ----------
    pairs : iterable of (Entry, sequence of Tag or None)
        The entries to add, in order. May be a generator over `reading`.
    target : path
        A file of records, with one at least.
    reading : Reading
        Where the entries come from: the same format as `target`, or one that
        has no place for tags if `target` is JSON Lines.
    encoding, mapping
        Of `target`, as for `read_entries`.

    Raises
    ------
    RecordError
        If the formats do not go together, or the target cannot be written.
    """
    coming = iter(pairs)
    first = next(coming, None)
    if first is None:
        return
    with open_to_append(target, reading, encoding=encoding, mapping=mapping) as held:
        layout = held.layout
        if not isinstance(layout, Extensible):
            raise _nothing_there(held.name)
        joined = _joined(held, layout, chain([first], coming), reading)
        # The columns of a table are known once its first row is read.
        start = [pair for pair in [next(joined, None)] if pair]
        with open_target(target) as out:
            layout.write(chain(start, joined), out, tagged=True)


def _joined(
    held: Reading, layout: Extensible, more: Iterable[Tagged], reading: Reading
) -> Iterator[Tagged]:
    """Yield the entries of a file as they came, and the others behind."""
    last: Entry | None = None
    for last in held:
        yield last, None
    if last is None:
        raise _nothing_there(held.name)
    for entry, tags in more:
        if reading.kinds.keys() - held.kinds.keys() or (
            held.kinds and not reading.kinds
        ):
            raise RecordError(
                f"{held.name} holds records of the kind {_kinds(held)} and "
                f"{reading.name} of the kind {_kinds(reading)}; choose another place, "
                "or replace the file with --overwrite."
            )
        if not reading.keeps_format:
            entry = json_line(entry)
        last = replace(entry, raw=layout.adopted(entry, reading.layout, last))
        if not held.n_used:
            # With more lines it could be taken for something else.
            raise _nothing_there(held.name)
        yield last, tags


def _nothing_there(name: str) -> RecordError:
    """Return the refusal of a file without a record."""
    return RecordError(
        f"{name} holds no record that others could be put behind; remove it, or "
        "replace it with --overwrite."
    )


def _kinds(reading: Reading) -> str:
    """Return the shapes of records that were known, for a message."""
    return " and ".join(reading.kinds) or "any fields"
