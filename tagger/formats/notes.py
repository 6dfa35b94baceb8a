"""Notes on several files as one list: what is counted is added up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tagger.wording import counted

__all__ = ["joined_notes"]

_MOST_NOTES = 20
_MOST_NAMES = 3
_COUNTED = re.compile(r"([\d,]+) records? (.*)\.", re.DOTALL)


def joined_notes(files: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Return the notes on all files, those that count records added up.

    Parameters
    ----------
    files : iterable of (str, sequence of str)
        Name of each file, and what `tagger.formats.Reading.notes` says of it.

    Examples
    --------
    >>> joined_notes([("a", ["1 record so."]), ("b", ["2 records so."])])
    ['3 records so (a, b).']
    >>> joined_notes([("a", ["1 record so."])])
    ['1 record so.']
    """
    listed = list(files)
    numbers: dict[str, int] = {}
    names: dict[str, dict[str, None]] = {}
    for name, notes in listed:
        for note in notes:
            found = _COUNTED.fullmatch(note)
            kind = found[2] if found else note
            number = int(found[1].replace(",", "")) if found else 0
            numbers[kind] = numbers.get(kind, 0) + number
            names.setdefault(kind, {})[name] = None
    joined = [
        f"{counted(number, 'record')} {kind}{_named(names[kind], len(listed))}."
        if number
        else kind
        for kind, number in numbers.items()
    ]
    if len(joined) > _MOST_NOTES:
        more = counted(len(joined) - _MOST_NOTES, "more note is", "more notes are")
        joined[_MOST_NOTES:] = [f"{more} left out."]
    return joined


def _named(names: Iterable[str], n_files: int) -> str:
    """Return in which of so many files it is, in parentheses."""
    if n_files == 1:
        return ""
    held = list(names)
    more = len(held) - _MOST_NAMES
    return f" ({', '.join(held[:_MOST_NAMES])}{f' and {more:,} more' * (more > 0)})"
