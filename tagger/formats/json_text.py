"""JSON as text: reading it without loss, and changing fields of an object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from tagger.formats.history import (
    MEMORY_FIELD,
    History,
    changed_keywords,
    check_word,
    history_of_words,
    memory_value,
    parsed_memory,
    retagged,
    rounded,
    split_words,
)
from tagger.formats.json_shapes import is_csl
from tagger.records import Tag

__all__ = ["DECODER", "NumberText", "decoded", "history", "tag_list", "tagged_object"]


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


def _whole_number(text: str) -> int | NumberText:
    """Return a whole number; one too large for any use stays text."""
    return int(text) if len(text) < 300 else NumberText(text)


# Line ends and tabs inside strings are not JSON, but harmless.
DECODER = json.JSONDecoder(
    parse_float=NumberText, parse_int=_whole_number, strict=False
)
_BLANK = " \t\r\n"
_FIRST_NAME = re.compile(r'"(?:[^"\\]|\\.)*"[ \t\r\n]*:([ \t\r\n]?)', re.DOTALL)
_ONE_LINE = re.compile(r'\{[ \t]*"[^"\\]*":([ \t\r\n]?)')
# An object without any of these has no history, and is no CSL item.
_TELLING = frozenset({"tags", MEMORY_FIELD, "type"})
_NO_HISTORY = History()


def decoded(text: str) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        If it is not JSON, or nested too deep; the message says where.
    """
    try:
        if text.startswith("{"):
            # `DECODER.decode` looks for blanks around the value, and finds few.
            value, end = DECODER.raw_decode(text)
            if end == len(text):
                return value
        return DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def tag_list(tags: Sequence[Tag]) -> list[dict[str, Any]]:
    """Return tags as they are written in JSON."""
    listed = []
    for tag in tags:
        value: dict[str, Any] = {
            "theme": tag.theme,
            "probability": rounded(tag.probability),
            "source": tag.source,
        }
        if tag.model:
            value["model"] = tag.model
        if tag.date:
            value["date"] = tag.date
        listed.append(value)
    return listed


def history(fields: Mapping[str, Any]) -> History:
    """Return the tags that an object of a JSON file holds, and their memory."""
    if is_csl(fields):
        custom = fields.get("custom")
        memory = custom.get(MEMORY_FIELD) if isinstance(custom, Mapping) else None
        return history_of_words(split_words(_keyword(fields))[1], memory)
    tags, memory = (fields.get(name) for name in _names(fields))
    written, removed = parsed_memory(memory) or ((), ())
    return History(tuple(_tag(value) for value in tags or ()), written, removed)


def tagged_object(
    text: str,
    tags: Sequence[Tag],
    *,
    ascii_only: bool = False,
    value: Mapping[str, Any] | None = None,
) -> str:
    """Return the text of a JSON object with the tags in it, all else untouched.

    `value` is the object, if it is read already.

    Examples
    --------
    >>> tagged_object('{"id":1.0}', [Tag("moe", 0.9)])
    ... # doctest: +NORMALIZE_WHITESPACE
    '{"id":1.0,"tags":[{"theme":"moe","probability":0.9,"source":"model"}],"tagger":{"written":["moe"]}}'
    """
    fields: Mapping[str, Any] = decoded(text) if value is None else value
    if fields.keys().isdisjoint(_TELLING):
        style = _ONE_LINE.match(text)
        if style and text[-1] == "}" and text[-2] not in _BLANK:
            # Nearly all records: what is new goes before the last brace.
            return f"{text[:-1]}{_members_text(tags, ascii_only, not style[1])}}}"
        changes = _first_tags(tags)
    else:
        old = history(fields)
        new = retagged(old, tags)
        find = _keyword_changes if is_csl(fields) else _tag_changes
        changes = dict(find(fields, old, new))
    return _edited(text, fields, changes, ascii_only) if changes else text


def _first_tags(tags: Sequence[Tag]) -> dict[str, Any]:
    """Return the fields to set in an object without tags or their memory."""
    new = retagged(_NO_HISTORY, tags) if tags else _NO_HISTORY
    changes: dict[str, Any] = {"tags": tag_list(new.tags)}
    if new.written:
        changes[MEMORY_FIELD] = memory_value(new, rich=True)
    return changes


def _tag_changes(
    fields: Mapping[str, Any], old: History, new: History
) -> Iterator[tuple[str, Any]]:
    """Yield the fields to set in an object whose tags are objects."""
    name, memory = _names(fields)
    held = fields.get(name) or []
    kept = [value for value in held if _tag(value).source != "model"]
    listed = kept + tag_list(new.tags[len(kept) :])
    if fields.get(name) is None or listed != held:
        yield name, listed
    remembered = memory_value(new, rich=True)
    if remembered != (fields.get(memory) or {}):
        yield memory, remembered


def _keyword_changes(
    fields: Mapping[str, Any], old: History, new: History
) -> Iterator[tuple[str, Any]]:
    """Yield the fields to set in a CSL item, whose tags are keywords."""
    held = _keyword(fields)
    for tag in new.tags:
        if tag.source == "model":
            check_word(tag.theme, ",;", str(fields.get("id")))
    changed = changed_keywords(held, old, new)
    if changed != held:
        yield "keyword", changed
    others = fields.get("custom")
    custom = dict(others) if isinstance(others, Mapping) else {}
    remembered = memory_value(new, rich=False)
    if remembered != (custom.get(MEMORY_FIELD) or {}):
        yield "custom", {**custom, MEMORY_FIELD: remembered}


def _names(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Return the fields for tags and memory, beside foreign ones if need be."""
    held = fields.get("tags")
    ours = held is None or (
        isinstance(held, list)
        and all(isinstance(v, dict) and isinstance(v.get("theme"), str) for v in held)
    )
    if ours and parsed_memory(fields.get(MEMORY_FIELD)) is not None:
        return "tags", MEMORY_FIELD
    return "model_tags", f"model_{MEMORY_FIELD}"


def _tag(value: Mapping[str, Any]) -> Tag:
    """Return the tag that an object in the list of tags is."""
    chance = value.get("probability")
    # A person who adds a tag by hand writes no number.
    source = value.get("source") or ("human" if chance is None else "model")
    return Tag(
        str(value["theme"]),
        float(chance) if isinstance(chance, int | float) else 1.0,
        str(source),
        value.get("model"),
        value.get("date"),
    )


def _keyword(fields: Mapping[str, Any]) -> str:
    """Return the keywords of a CSL item as text."""
    value = fields.get("keyword")
    return value if isinstance(value, str) else ""


def _edited(
    text: str, fields: Mapping[str, Any], changes: dict[str, Any], ascii_only: bool
) -> str:
    """Return the text of an object with members set; new ones go last."""
    opening = text.index("{") + 1
    start = _skip_blank(text, opening)
    end = text.rindex("}")
    compact = False
    if first := _FIRST_NAME.match(text, start):
        compact = not first[1]
        while text[end - 1] in _BLANK:
            end -= 1
    comma, colon = (",", ":") if compact else (", ", ": ")
    written = _encoder(ascii_only, comma, colon).encode
    edits = []
    # To find where each member stands takes longer than all the rest. Of two of one
    # name the last counts.
    known = _members(text) if changes.keys() & fields.keys() else ()
    for member in reversed(list(known)):
        if member.key in changes:
            new = written(changes.pop(member.key))
            edits.append((member.start, member.end, new))
    lead = text[opening:start]
    lead = lead if "\n" in lead or "\r" in lead else comma[1:]
    added = [f'"{name}"{colon}{written(value)}' for name, value in changes.items()]
    if fields:
        behind = "".join(f",{lead}{part}" for part in added)
    else:
        end, behind = opening, ", ".join(added)
    for at, stop, new in ((end, end, behind), *edits):
        text = text[:at] + new + text[stop:]
    return text


def _members_text(tags: Sequence[Tag], ascii_only: bool, compact: bool) -> str:
    """Return `_first_tags` as members to put behind others on one line."""
    comma, colon = (",", ":") if compact else (", ", ": ")
    if not tags:
        return f'{comma}"tags"{colon}[]'
    themes = {tag.theme for tag in tags}
    if len(themes) < len(tags) or not all(map(_is_usual, tags)):
        written = _encoder(ascii_only, comma, colon).encode
        return comma + written(_first_tags(tags))[1:-1]
    # The same, put together in a third of the time.
    listed, names = [], []
    for tag in tags:
        name = _quoted(tag.theme, ascii_only)
        text = (
            f'{{"theme"{colon}{name}{comma}"probability"{colon}'
            f'{rounded(tag.probability)!r}{comma}"source"{colon}"model"'
        )
        if tag.model:
            text += f'{comma}"model"{colon}{_quoted(tag.model, ascii_only)}'
        if tag.date:
            text += f'{comma}"date"{colon}{_quoted(tag.date, ascii_only)}'
        listed.append(text + "}")
        names.append(name)
    return (
        f'{comma}"tags"{colon}[{comma.join(listed)}]'
        f'{comma}"{MEMORY_FIELD}"{colon}{{"written"{colon}[{comma.join(names)}]}}'
    )


def _is_usual(tag: Tag) -> bool:
    """Tell whether a tag is one that a model gave."""
    return tag.source == "model" and 0.0 <= tag.probability <= 1.0


@lru_cache(maxsize=1024)
def _quoted(text: str, ascii_only: bool) -> str:
    """Return a text as JSON writes it; themes, models and days are few."""
    return json.dumps(text, ensure_ascii=ascii_only)


@lru_cache
def _encoder(ascii_only: bool, comma: str, colon: str) -> json.JSONEncoder:
    """Return what writes a value in the style of an object."""
    return json.JSONEncoder(ensure_ascii=ascii_only, separators=(comma, colon))


class _Member(NamedTuple):
    """A member of an object, and where its value stands."""

    key: str
    value: Any
    start: int
    end: int


def _members(text: str) -> Iterator[_Member]:
    """Yield the members of an object."""
    at = _skip_blank(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = DECODER.raw_decode(text, at)
        start = _skip_blank(text, _skip_blank(text, at) + 1)
        value, end = DECODER.raw_decode(text, start)
        yield _Member(key, value, start, end)
        at = _skip_blank(text, end)
        if text[at] == ",":
            at = _skip_blank(text, at + 1)


def _skip_blank(text: str, at: int) -> int:
    """Return the first position from `at` that holds no blank."""
    while text[at] in _BLANK:
        at += 1
    return at
