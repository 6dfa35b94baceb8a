"""BibTeX as text: where its entries and fields stand, and what they say.

Parsers of BibTeX (bibtexparser, pybtex) hold a whole file and give no places in
it, so they cannot give a file back with one field changed. The tests compare
what is read here with what bibtexparser reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tagger.formats.text_stream import LINE_COST, check_size

__all__ = [
    "MONTHS",
    "Block",
    "Field",
    "ParsedEntry",
    "blocks",
    "next_block",
    "parsed_entry",
]

MONTHS = dict(
    zip(
        "jan feb mar apr may jun jul aug sep oct nov dec".split(),
        "January February March April May June July August September October "
        "November December".split(),
        strict=True,
    )
)
# A line that starts an entry ends the one before, closed or not.
_STARTS = re.compile(
    r"[ \t]*@[ \t]*(?:(?:string|preamble|comment)[ \t]*[{(]"
    r"|[a-z][\w-]*[ \t]*[{(][ \t]*[^\s,{}()\"=]*[ \t]*,)",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"(?:^|(?<=[\s})]))@\s*([A-Za-z][\w-]*)\s*([{(])", re.MULTILINE)
_BRACES = re.compile(r"[{}]")
_BRACES_OR_END = re.compile(r'[{})"]')
_BRACES_OR_QUOTE = re.compile(r'[{}"]')
_KEY = re.compile(r"\s*([^\s,{}=\"]*)\s*(?:,|(?=[})]\Z))")
_NAME = re.compile(r"[\s,]*([^\s,={}\"#()]+)\s*=\s*")
_BARE = re.compile(r"[^\s,#{}\"=]+")
_JOINT = re.compile(r"\s*#\s*")
_REST = re.compile(r"[\s,]*")


class Field(NamedTuple):
    """A field of an entry: its name, its value, and where the value stands."""

    name: str
    value: str
    name_start: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    """An entry: its key, its fields, and where more fields can go.

    Parameters
    ----------
    problem : str or None
        What is wrong with it, in words for a message.
    """

    key: str
    fields: tuple[Field, ...]
    end: int
    problem: str | None = None


class Block(NamedTuple):
    """An ``@kind{...}`` in a text; `end` is None if it is never closed."""

    kind: str
    start: int
    open: int
    end: int | None


def blocks(lines: Iterable[str], name: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of pieces that each start with an entry."""
    held: list[str] = []
    start = size = 0
    for number, line in enumerate(lines, start=1):
        if held and _STARTS.match(line):
            yield start, "".join(held)
            held, size = [], 0
        if not held:
            start = number
        held.append(line)
        size += len(line) + LINE_COST
        check_size(size, name, start)
    if held:
        yield start, "".join(held)


def next_block(text: str, at: int) -> Block | None:
    """Return the next ``@kind{...}`` of a text from `at`."""
    found = _ENTRY.search(text, at)
    if not found:
        return None
    closers = _BRACES if found[2] == "{" else _BRACES_OR_END
    depth = 1 if found[2] == "{" else 0
    quoted = False
    for brace in closers.finditer(text, found.end()):
        if brace[0] == '"':
            quoted ^= depth == 0
            continue
        if brace[0] == ")" and (depth or quoted):
            continue
        depth += (brace[0] == "{") - (brace[0] == "}")
        if brace[0] == ")" or (depth == 0 and found[2] == "{"):
            return Block(found[1].lower(), found.start(), found.end(), brace.end())
    return Block(found[1].lower(), found.start(), found.end(), None)


def parsed_entry(text: str, open_at: int, macros: Mapping[str, str]) -> ParsedEntry:
    """Return the fields of an entry that ends with `text`.

    Parameters
    ----------
    text : str
        From the ``@`` to the closing brace.
    open_at : int
        Behind the opening brace.
    macros : mapping of str to str
        Values of ``@string`` by lower-case name.
    """
    close = len(text) - 1
    key, at = "", open_at
    if found := _KEY.match(text, at):
        key, at = found[1], found.end()
    fields: list[Field] = []
    end = at
    while (named := _NAME.match(text, at)) and named.end() < close:
        value = _value(text, named.end(), close, macros)
        if value is None:
            problem = f"the field {named[1]!r} has no value that can be read"
            return ParsedEntry(key, tuple(fields), end, problem)
        said, end = value
        fields.append(Field(named[1].lower(), said, named.start(1), named.end(), end))
        at = end
    rest = _REST.match(text, at)
    stop = rest.end() if rest else at
    if stop < close:
        problem = f"found {text[stop : stop + 30]!r} where a field or the end should be"
        return ParsedEntry(key, tuple(fields), end, problem)
    return ParsedEntry(key, tuple(fields), end)


def _value(
    text: str, at: int, close: int, macros: Mapping[str, str]
) -> tuple[str, int] | None:
    """Return what a field says, and where its value ends; None if it has none."""
    parts: list[str] = []
    while True:
        if text[at] in '{"':
            end = _quoted_end(text, at, close)
            if end is None:
                return None
            parts.append(text[at + 1 : end - 1])
        else:
            bare = _BARE.match(text, at, close)
            if not bare:
                return None
            end = bare.end()
            parts.append(macros.get(bare[0].lower(), bare[0]))
        joint = _JOINT.match(text, end, close)
        if not joint or joint.end() >= close:
            return "".join(parts), end
        at = joint.end()


def _quoted_end(text: str, at: int, close: int) -> int | None:
    """Return the end of a value in braces or in quotes."""
    quoted = text[at] == '"'
    depth = 0
    for mark in (_BRACES_OR_QUOTE if quoted else _BRACES).finditer(
        text, at + quoted, close
    ):
        depth += (mark[0] == "{") - (mark[0] == "}")
        if depth < 0:
            return None
        if depth == 0 and mark[0] == ('"' if quoted else "}"):
            return mark.end()
    return None
