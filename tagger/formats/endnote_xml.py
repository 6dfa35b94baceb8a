"""EndNote XML: its records have keywords, so it is written back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape, unescape
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element

from tagger.errors import RecordError
from tagger.formats.entries import Door, Entry, RawText, Tagged
from tagger.formats.history import (
    History,
    changed_words,
    check_word,
    history_of_words,
    memory_text,
    parsed_memory,
    persons_words,
    retagged,
)
from tagger.formats.sources import Head
from tagger.formats.text_stream import without_bytes
from tagger.formats.unwrapping import unwrapped
from tagger.formats.xml_records import XmlRecords
from tagger.formats.xml_text import root_of, text_of, texts_of
from tagger.records import Tag

__all__ = ["EndnoteXml"]

_KEYWORDS = re.compile(r"<keywords\s*>.*?</keywords\s*>|<keywords\s*/>", re.DOTALL)
_KEYWORD = re.compile(r"[ \t\r\n]*<keyword(?:\s[^>]*)?>(.*?)</keyword\s*>", re.DOTALL)
_MEMORY = re.compile(r"<custom7(?:\s[^>]*)?>(.*?)</custom7\s*>", re.DOTALL)
_MARKUP = re.compile(r"<[^>]*>")
_END = re.compile(r"</record\s*>\Z")


class EndnoteXml(XmlRecords):
    """References of EndNote; tags are keywords, the memory is ``custom7``."""

    keeps_text = True
    roots = frozenset({"xml", "records"})
    records = ("record",)

    @classmethod
    def recognise(cls, head: Head) -> bool:
        """Tell by the outermost element and the reference type in it."""
        root = (root_of(head) or "").lower()
        return root in cls.roots and "<ref-type" in head.text

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield an entry a reference; labels may be read from keywords."""
        self._labels = door.holds_labels("keywords")
        return super().read(door)

    def fields(self, element: Element) -> dict[str, Any]:
        """Return the fields of a reference."""
        words = texts_of(element, "keywords/keyword")
        if self._labels:
            memory = text_of(element, "custom7").strip()
            words = persons_words(words, history_of_words(words, memory))
        return {
            "id": text_of(element, "rec-number").strip(),
            "title": unwrapped(text_of(element, "titles/title")),
            "abstract": unwrapped(text_of(element, "abstract")),
            "authors": texts_of(element, "contributors/authors/author"),
            "year": text_of(element, "dates/year").strip(),
            "venue": text_of(element, "periodical/full-title").strip()
            or text_of(element, "titles/secondary-title").strip(),
            "doi": text_of(element, "electronic-resource-num").strip(),
            "keywords": words,
            "urls": texts_of(element, "urls/related-urls/url"),
        }

    def history(self, entry: Entry) -> History:
        """Return the keywords of a reference as the file holds them."""
        return _history(entry.raw.text)

    def write(self, pairs: Iterable[Tagged], out: BinaryIO, *, tagged: bool) -> None:
        """Write the text; a tagged reference gains keywords."""
        writer = self._source.writer(out)
        for entry, tags in pairs:
            before, text, _ = entry.raw
            if entry.record is not None and tags is not None:
                text = _with_tags(text, tags, entry.id)
            writer.write(before + text)
        writer.write(self._tail)

    def adopted(self, entry: Entry, other: Any, last: Entry) -> RawText:
        """Return the reference behind the last one, set out like it."""
        if not _END.search(last.raw.text):
            raise RecordError(
                f"{self._source.name}:{last.line}: the last record is never closed, so "
                "none can be put behind; mend it, or replace the file with --overwrite."
            )
        before = last.raw.before
        text = without_bytes(entry.raw.text)
        return RawText(before[len(before.rstrip()) :], text, "")


def _history(text: str) -> History:
    """Return the tags among the keywords of a reference."""
    memory = _MEMORY.search(text)
    return history_of_words(_words(text), _plain(memory[1]) if memory else None)


def _words(text: str) -> list[str]:
    """Return the keywords of a reference."""
    block = _KEYWORDS.search(text)
    return [_plain(word[1]) for word in _KEYWORD.finditer(block[0] if block else "")]


def _plain(text: str) -> str:
    """Return the text in an element."""
    return unescape(_MARKUP.sub("", text)).strip()


def _with_tags(text: str, tags: Sequence[Tag], where: str) -> str:
    """Return the text of a reference with its keywords changed."""
    for tag in tags:
        check_word(tag.theme, "<>\r\n", where)
    old = _history(text)
    new = retagged(old, tags)
    words = _words(text)
    changed = changed_words(words, old, new)
    gone = set(words) - set(changed)
    added = "".join(
        f"<keyword>{escape(word, quote=False)}</keyword>"
        for word in changed
        if word not in words
    )
    if block := _KEYWORDS.search(text):
        kept = _KEYWORD.sub(lambda w: "" if _plain(w[1]) in gone else w[0], block[0])
        if added:
            inner = kept.rpartition("</")[0] if "</keywords" in kept else "<keywords>"
            ending = inner[len(inner.rstrip()) :]
            kept = f"{inner.rstrip()}{added}{ending}</keywords>"
        text = text[: block.start()] + kept + text[block.end() :]
    elif added:
        text = _before_end(text, f"<keywords>{added}</keywords>")
    return _with_memory(text, memory_text(new))


def _with_memory(text: str, remembered: str) -> str:
    """Return the text of a reference with the memory in it."""
    written = f"<custom7>{escape(remembered, quote=False)}</custom7>"
    held = _MEMORY.search(text)
    if not held:
        return _before_end(text, written) if remembered else text
    if parsed_memory(_plain(held[1])) is None or _plain(held[1]) == remembered:
        # Someone else's field is left alone; removals are then not remembered.
        return text
    return text[: held.start()] + written * bool(remembered) + text[held.end() :]


def _before_end(text: str, added: str) -> str:
    """Return the text of a reference with an element more at its end."""
    end = _END.search(text)
    at = end.start() if end else len(text)
    return text[:at] + added + text[at:]
