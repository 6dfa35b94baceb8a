"""What the values of fields mean: texts, labels, years and authors."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tagger import kernel
from tagger.errors import RecordError

__all__ = [
    "MAX_TEXT",
    "as_authors",
    "as_labels",
    "as_text",
    "as_year",
    "clean_text",
    "is_clean",
    "is_missing",
]

MAX_TEXT = 1_000_000
"""Longest title or abstract kept, in characters; the rest is cut with a note."""

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d{5})")
_DBLP_NUMBER = re.compile(r"\s+\d{4}$")
_LIST_GOES_ON = re.compile(
    r"[\s,;]*(?:等|\bet\.?\s+al\.?|\band\s+others|\bothers)[\s.]*$", re.IGNORECASE
)
_BETWEEN_AUTHORS = re.compile(r"\s*;\s*|,?\s+and\s+|\n+")


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for nothing: None or not-a-number."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def clean_text(text: str) -> tuple[str, bool]:
    """Return text that can be encoded and printed, and whether it was changed.

    A control character becomes a blank, a lone surrogate U+FFFD, one for one,
    so offsets stay. Tabs and line ends are kept.
    """
    if is_clean(text):
        return text, False
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", text)), True


def _is_clean(text: str) -> bool:
    """Tell whether a text can be encoded and printed as it is."""
    return not (_CONTROL.search(text) or _SURROGATE.search(text))


# Nearly all texts are, and every field of every record is asked.
is_clean: Callable[[str], bool] = getattr(kernel.compiled, "is_clean", _is_clean)


def as_text(value: Any, field: str, where: str) -> str:
    """Return a value as text: as it came if it is text, "" if it is missing.

    Raises
    ------
    RecordError
        If the value is an object or a truth value.
    """
    if isinstance(value, str):
        return value
    if is_missing(value):
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if isinstance(value, list | tuple):
        return " ".join(as_text(part, field, where) for part in value).strip()
    if isinstance(value, Mapping) and isinstance(value.get("name"), str):
        return str(value["name"])
    if isinstance(value, bool | Mapping):
        raise RecordError(
            f"{where}: field {field!r} holds {_short(value)}; expected text."
        )
    return str(value)


def as_labels(value: Any, field: str, where: str) -> tuple[str, ...] | None:
    """Return labels without repeats, () for a list of none, None for no list.

    Parameters
    ----------
    value : object
        A list, text with ``;`` between labels, or text that holds a list
        (``"['a', 'b']"``, ``"[]"``). Missing and blank text are no list.
    field, where : str
        Names for the message.

    Raises
    ------
    RecordError
        If the value, or a member of the list, is no text and no number.

    Examples
    --------
    >>> as_labels("a; b", "themes", "x:1"), as_labels([], "themes", "x:1")
    (('a', 'b'), ())
    >>> as_labels(None, "themes", "x:1") is None
    True
    """
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        value = _listed(text)
        if value is None:
            value = text.split(";")
    elif is_missing(value):
        return None
    elif isinstance(value, int | float) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list | tuple | set | frozenset):
        raise RecordError(
            f"{where}: field {field!r} holds {_short(value)}; expected a list of "
            "theme ids, or text with ';' between them."
        )
    members = sorted(value, key=str) if isinstance(value, set | frozenset) else value
    labels = (as_text(member, field, where).strip() for member in members)
    return tuple(dict.fromkeys(label for label in labels if label))


def as_year(value: Any) -> int | None:
    """Return the first year from 1500 to 2099 in a value, or None.

    Examples
    --------
    >>> as_year("2017-06-12T17:57:34Z"), as_year(2024.0), as_year("n.d.")
    (2017, 2024, None)
    """
    if isinstance(value, bool) or is_missing(value):
        return None
    if isinstance(value, int | float):
        return int(value) if 1500 <= value <= 2099 else None
    found = _YEAR.search(str(value))
    return int(found[0]) if found else None


def as_authors(value: Any, field: str, where: str) -> tuple[tuple[str, ...], bool]:
    """Return the authors in order, and whether the source says there are more.

    A name loses the four digits DBLP puts behind it.

    Examples
    --------
    >>> as_authors("Qiang Zhang 0053, Kai Lu 等", "authors", "x:1")
    (('Qiang Zhang', 'Kai Lu'), True)
    """
    if value is None:
        return (), False
    parts: list[str]
    if isinstance(value, str):
        shorter = _LIST_GOES_ON.sub("", value)
        parts, cut = list(_split_authors(shorter)), shorter != value
    elif isinstance(value, list | tuple):
        parts, cut = [_author(member, field, where) for member in value], False
        if parts and (shorter := _LIST_GOES_ON.sub("", parts[-1])) != parts[-1]:
            parts[-1], cut = shorter, True
    else:
        parts, cut = [as_text(value, field, where)], False
    names = (_DBLP_NUMBER.sub("", " ".join(part.strip(" ,").split())) for part in parts)
    return tuple(name for name in names if name), cut


def _author(value: Any, field: str, where: str) -> str:
    """Return one author's name from text or from an object with name parts."""
    if isinstance(value, Mapping) and not isinstance(value.get("name"), str):
        names = {str(k).replace("_", "").lower(): v for k, v in value.items()}
        parts = [
            names.get("given") or names.get("firstname"),
            names.get("family") or names.get("lastname") or names.get("literal"),
        ]
        if any(isinstance(part, str) for part in parts):
            return " ".join(part for part in parts if isinstance(part, str))
    return as_text(value, field, where)


def _split_authors(text: str) -> Iterable[str]:
    """Split a written author list; "Family, Given" stays one name."""
    if listed := _listed(text.strip()):
        yield from (str(name) for name in listed)
        return
    for part in _BETWEEN_AUTHORS.split(text):
        names = part.split(",")
        if all(len(name.split()) > 1 for name in names):
            yield from names
        else:
            yield part


def _listed(text: str) -> list[Any] | None:
    """Return the list that `text` writes in JSON or Python, or None."""
    if not (text.startswith("[") and text.endswith("]")) or len(text) > 100_000:
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list):
            return value
    return None


def _short(value: Any) -> str:
    """Return a value for a message, cut to one line."""
    written = repr(value)
    return written if len(written) <= 60 else written[:57] + "..."
