"""XML records, one at a time, with the parser of the standard library.

A file is cut at the tags of its records and each record is parsed alone. So a
broken record loses only itself, a file of any size takes the memory of one
record, and no entity is ever declared: a record has no room for a DOCTYPE.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from tagger.errors import RecordError
from tagger.formats.sources import Head
from tagger.formats.text_stream import TextReader, check_size

__all__ = [
    "Piece",
    "check_entities",
    "parsed",
    "pieces",
    "root_of",
    "text_of",
    "texts_of",
]

_CHUNK = 1 << 16
_DEEPEST = 100
_NOT_ROOT = re.compile(
    r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE(?:[^\[>]|\[.*?\]\s*)*>",
    re.DOTALL | re.IGNORECASE,
)
_ROOT = re.compile(r"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)[\s>/]")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ENDS = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}


class Piece(NamedTuple):
    """The text of one record, behind what stands before it."""

    line: int
    before: str
    text: str


def root_of(head: Head) -> str | None:
    """Return the name of the outermost element, None if this is not XML."""
    at = 0
    while skipped := _NOT_ROOT.match(head.text, at):
        at = skipped.end()
    root = _ROOT.match(head.text, at)
    return root[1] if root else None


def check_entities(head: Head, name: str) -> None:
    """Refuse a document that declares entities of its own.

    Raises
    ------
    RecordError
        If the text before the first element holds such a declaration.
    """
    start = re.search(r"<[\w.-]+[\s>:]", head.text)
    if "<!ENTITY" in head.text[: start.start() if start else len(head.text)]:
        raise RecordError(
            f"{name} declares entities of its own, by which a few lines can grow to "
            "gigabytes; it is refused. Remove its DOCTYPE."
        )


def pieces(text: TextReader, records: tuple[str, ...], name: str) -> Iterator[Piece]:
    """Yield the records of a file, and at last what follows them with text "".

    Parameters
    ----------
    text : TextReader
        From the start of the file.
    records : tuple of str
        Names of the elements that are records, without a prefix.
    name : str
        Name of the file, for messages.
    """
    names = "|".join(map(re.escape, records))
    token = re.compile(
        rf"<!--|<!\[CDATA\[|<\?|<(?:[\w.-]+:)?(?P<open>{names})"
        r"""(?=[\s/>])(?:[^<>"']|"[^"<]*"|'[^'<]*')*?(?P<empty>/)?>"""
        rf"|</(?:[\w.-]+:)?(?P<close>{names})\s*>"
    )
    held, at, done, line, ended = "", 0, 0, 1, False
    start: int | None = None

    def piece(begin: int, end: int) -> Piece:
        """Take a record out of what is held."""
        nonlocal done, line
        line += held.count("\n", done, begin)
        taken = Piece(line, held[done:begin], held[begin:end])
        line += held.count("\n", begin, end)
        done = end
        return taken

    while True:
        found = token.search(held, at)
        end = found.end() if found else len(held)
        opened = False
        if found and found[0] in _ENDS:
            ending = _ENDS[found[0]]
            stop = held.find(ending, end)
            end = stop + len(ending)
            if stop < 0:
                at, found, opened = found.start(), None, True
        elif found and found["open"]:
            if start is not None:
                # The record before was never closed; it ends here.
                yield piece(start, found.start())
            start = found.start()
        if found is None:
            if ended:
                break
            more = text.read(max(_CHUNK, len(held)))
            ended = not more
            # A token may go on behind what is held, from its last "<".
            if not opened:
                last = held.rfind("<", at)
                at = last if last >= 0 else len(held)
            held, at = held[done:] + more, at - done
            start = None if start is None else start - done
            done = 0
            check_size(len(held), name, line)
            continue
        at = end
        if start is not None and (found["close"] or found["empty"]):
            yield piece(start, end)
            start = None
    if start is not None:
        yield piece(start, len(held))
    yield Piece(line, held[done:], "")


def parsed(text: str) -> tuple[Element, int]:
    """Return the element that a record is, and how many characters were no XML.

    Names lose their prefixes; entities of HTML, which DBLP uses, are known.

    Raises
    ------
    ValueError
        If it is not XML, or nested too deep; the message says where.
    """
    text, changed = _NOT_XML.subn("\ufffd", text)
    builder = TreeBuilder()
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise ValueError(f"elements are nested over {_DEEPEST} deep")
        plain = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        builder.start(name.rpartition(":")[2], plain)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(name.rpartition(":")[2])

    def entity(name: str, _: bool) -> None:
        builder.data(html.unescape(f"&{name};"))

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.SkippedEntityHandler = lambda name, _: builder.data(
        html.unescape(f"&{name};")
    )
    # An outside definition that is never fetched: unknown entities are allowed.
    parser.Parse('<!DOCTYPE record SYSTEM "record">', False)
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise ValueError(str(error)) from error
    return builder.close(), changed


def text_of(element: Element | None, path: str = ".") -> str:
    """Return all the text in the first element of a path, "" if there is none."""
    found = element.find(path) if element is not None else None
    return "".join(found.itertext()) if found is not None else ""


def texts_of(element: Element | None, path: str) -> list[str]:
    """Return the text of each element of a path that has some."""
    found = element.findall(path) if element is not None else []
    texts = ("".join(part.itertext()).strip() for part in found)
    return [text for text in texts if text]
