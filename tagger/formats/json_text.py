"""JSON as text: reading it without loss, and changing one field of an object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tagger.records import Tag

__all__ = ["DECODER", "NumberText", "decoded", "tag_list", "tagged_object"]


class NumberText(float):
    """A number of a JSON file that still knows how it was written.

    An id ``1.0`` or ``1E5`` stays the text it was.
    """

    def __new__(cls, text: str) -> NumberText:
        """Read the number and keep its text."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __str__(self) -> str:
        """Return the number as it was written."""
        return self.text

    text: str


DECODER = json.JSONDecoder(parse_float=NumberText)
_BLANK = " \t\r\n"


def decoded(text: str) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        If it is not JSON, or nested too deep; the message says where.
    """
    try:
        return DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def tag_list(tags: Sequence[Tag]) -> list[dict[str, Any]]:
    """Return tags as they are written in JSON."""
    return [
        {"theme": tag.theme, "probability": round(float(tag.probability), 4)}
        for tag in tags
    ]


def tag_field(fields: Mapping[str, Any]) -> str:
    """Return the field for our tags: "tags", unless it holds something else."""
    held = fields.get("tags")
    ours = held is None or (
        isinstance(held, list)
        and all(isinstance(tag, dict) and "theme" in tag for tag in held)
    )
    return "tags" if ours else "model_tags"


def tagged_object(text: str, tags: Sequence[Tag], *, ascii_only: bool = False) -> str:
    """Return the text of a JSON object with the tags in it, all else untouched.

    Examples
    --------
    >>> tagged_object('{"id":1.0}', [Tag("moe", 0.9)])
    '{"id":1.0,"tags":[{"theme":"moe","probability":0.9}]}'
    """
    members = list(_members(text))
    fields = {key: value for key, value, _, _ in members}
    name = tag_field(fields)
    compact = bool(members) and text[members[0][2] - 1] == ":"
    written = json.dumps(
        tag_list(tags),
        ensure_ascii=ascii_only,
        separators=(",", ":") if compact else (", ", ": "),
    )
    for key, _, start, end in reversed(members):
        if key == name:
            return text[:start] + written + text[end:]
    opening = text.index("{") + 1
    if not members:
        return f'{text[:opening]}"{name}": {written}{text[opening:]}'
    end = members[-1][3]
    lead = text[opening : len(text) - len(text[opening:].lstrip(_BLANK))]
    lead = lead if "\n" in lead or "\r" in lead else " " * (not compact)
    colon = ":" if compact else ": "
    return f'{text[:end]},{lead}"{name}"{colon}{written}{text[end:]}'


def _members(text: str) -> Iterator[tuple[str, Any, int, int]]:
    """Yield key, value, and where the value starts and ends, of an object."""
    at = _skip_blank(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = DECODER.raw_decode(text, at)
        start = _skip_blank(text, _skip_blank(text, at) + 1)
        value, end = DECODER.raw_decode(text, start)
        yield key, value, start, end
        at = _skip_blank(text, end)
        if text[at] == ",":
            at = _skip_blank(text, at + 1)


def _skip_blank(text: str, at: int) -> int:
    """Return the first position from `at` that holds no blank."""
    while text[at] in _BLANK:
        at += 1
    return at
