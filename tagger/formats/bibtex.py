"""BibTeX and BibLaTeX: entries in a text that stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, BinaryIO, NamedTuple

from tagger.formats.bibtex_text import (
    MONTHS,
    Block,
    Field,
    ParsedEntry,
    blocks,
    next_block,
    parsed_entry,
)
from tagger.formats.entries import Door, Entry, Tagged
from tagger.formats.history import (
    MEMORY_FIELD,
    History,
    changed_keywords,
    check_word,
    history_of_words,
    memory_text,
    persons_words,
    retagged,
    split_words,
)
from tagger.formats.sources import Head, Source
from tagger.formats.text_stream import check_size, without_bytes
from tagger.formats.unwrapping import unwrapped
from tagger.records import Tag

__all__ = ["Bibtex"]

_RECOGNISED = re.compile(
    r"^[ \t]*@[ \t]*(?!string|preamble|comment)[a-z][\w-]*\s*[{(]\s*[^\s,{}()\"=]*\s*,"
    r"\s*[\w-]+\s*=",
    re.IGNORECASE | re.MULTILINE,
)
_NO_ENTRIES = frozenset({"string", "preamble", "comment"})
# Outside of entries: a line that starts with "@", and one with letters in it that
# does not start with "%".
_LOST = re.compile(r"(?<![^\r\n])[ \t]*@(?!\s*comment\b)[^\r\n]*", re.IGNORECASE)
_STRAY = re.compile(r"(?<![^\r\n])[ \t]*[^\s@%][^\r\n]*")
_NAME_PARTS = re.compile(r"\b(family|given|prefix)\s*=\s*\"?([^,\"=]+)")
_KEYWORD_FIELDS = ("keywords", "keyword")
_FORBIDDEN = ',;{}"#%\\@'


class _Raw(NamedTuple):
    """The text of an entry and what the macros in it say."""

    before: str
    text: str
    parsed: ParsedEntry | None


class Bibtex:
    """Records in the entries of a bibliography.

    ``@string``, ``@preamble``, ``@comment`` and all between the entries are
    kept. Tags go into ``keywords`` (and ``groups`` where an entry has some), the
    memory into the field ``tagger``.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._macros = dict(MONTHS)
        self._tail = ""

    @staticmethod
    def recognise(head: Head) -> bool:
        """Tell by a line with the start of an entry and of a field."""
        return _RECOGNISED.search(head.text) is not None

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield an entry for each but ``@string`` and its like."""
        before, stray = "", 0
        for line, text in blocks(self._source.text(), door.source):
            at = done = 0
            while at < len(text):
                block = next_block(text, at)
                stop = block.start if block else len(text)
                for lost in _LOST.finditer(text, at, stop):
                    before += text[done : lost.start()]
                    number = line + text.count("\n", 0, lost.start())
                    yield _lost(door, before, lost[0], number)
                    before, done = "", lost.end()
                stray += len(_STRAY.findall(text, at, stop))
                if block is None:
                    break
                at = len(text) if block.end is None else block.end
                if block.kind in _NO_ENTRIES:
                    self._learn(text, block)
                    continue
                start = line + text.count("\n", 0, block.start)
                before += text[done : block.start]
                yield self._entry(door, before, text[block.start : at], block, start)
                before, done = "", at
            before += text[done:]
            check_size(len(before), door.source, line)
        self._tail = before
        if stray:
            door.remarks.append(f"{door.source}: lines outside any entry: {stray:,}.")

    def history(self, entry: Entry) -> History:
        """Return the keywords of an entry as the file holds them."""
        return _history(entry.raw.parsed)

    def write(self, pairs: Iterable[Tagged], out: BinaryIO, *, tagged: bool) -> None:
        """Write the text; a tagged entry gains keywords."""
        writer = self._source.writer(out)
        for entry, tags in pairs:
            writer.write(entry.raw.before)
            if entry.record is None or tags is None:
                writer.write(entry.raw.text)
            else:
                writer.write(_with_tags(entry.raw, tags, entry.id))
        writer.write(self._tail)

    def adopted(self, entry: Entry, other: Any, last: Entry) -> _Raw:
        """Return the entry behind a blank line and the macros it may need."""
        end = "\r\n" if "\r\n" in last.raw.text else "\n"
        new = {
            name: value
            for name, value in other._macros.items()
            if self._macros.get(name) != value
        }
        self._macros |= new
        macros = [f"@string{{{name} = {{{value}}}}}" for name, value in new.items()]
        before = end * 2 + "".join(f"{macro}{end * 2}" for macro in macros)
        parsed = entry.raw.parsed
        if parsed is not None:
            fields = (f._replace(value=without_bytes(f.value)) for f in parsed.fields)
            parsed = replace(parsed, fields=tuple(fields))
        return _Raw(without_bytes(before), without_bytes(entry.raw.text), parsed)

    def _learn(self, text: str, block: Block) -> None:
        """Remember the macro of an ``@string``."""
        if block.kind != "string" or block.end is None:
            return
        # A comma in front: a macro stands where others have a key.
        inside = f"@x{{,{text[block.open : block.end - 1]}}}"
        for field in parsed_entry(inside, 3, self._macros).fields:
            self._macros[field.name] = field.value

    def _entry(
        self, door: Door, before: str, text: str, block: Block, line: int
    ) -> Entry:
        """Return the entry of one block."""
        if block.end is None:
            raw = _Raw(before, text, None)
            problem = f"the entry that starts with {text[:40]!r} is never closed."
            return door.bad("entry never closed", problem, raw, line)
        parsed = parsed_entry(text, block.open - block.start, self._macros)
        raw = _Raw(before, text, parsed)
        if parsed.problem:
            problem = f"in the entry {parsed.key!r}, {parsed.problem}."
            return door.bad("entry that cannot be read", problem, raw, line)
        fields: dict[str, object] = {"id": parsed.key, "entry_type": block.kind}
        for field in parsed.fields:
            fields.setdefault(field.name, unwrapped(field.value))
        if _NAME_PARTS.search(str(fields.get("author"))):
            fields["author"] = _plain_names(str(fields["author"]))
        for name in _KEYWORD_FIELDS:
            if name in fields and door.holds_labels(name):
                words = split_words(str(fields[name]))[1]
                fields[name] = persons_words(words, _history(parsed))
        return door.entry(fields, raw=raw, line=line)


def _plain_names(text: str) -> str:
    """Return the names that BibLaTeX writes by their parts as it writes others.

    Examples
    --------
    >>> _plain_names("Li, Ada and family=Berg, given=Bo, prefix=van den")
    'Li, Ada and van den Berg, Bo'
    """
    names = []
    for name in re.split(r"\s+and\s+", text):
        parts = dict(_NAME_PARTS.findall(name))
        if parts:
            family = f"{parts.get('prefix', '')} {parts.get('family', '')}".strip()
            name = ", ".join(filter(None, (family, parts.get("given"))))
        names.append(name)
    return " and ".join(names)


def _lost(door: Door, before: str, text: str, line: int) -> Entry:
    """Return the entry of a line that looks like the start of one, and is none."""
    problem = (
        f"{text.strip()[:40]!r} is no start of an entry; expected '@kind{{key, ...}}'."
    )
    return door.bad("no start of an entry", problem, _Raw(before, text, None), line)


def _history(parsed: ParsedEntry) -> History:
    """Return the tags among the keywords of an entry."""
    keywords, memory = _field(parsed, *_KEYWORD_FIELDS), _field(parsed, MEMORY_FIELD)
    words = split_words(keywords.value)[1] if keywords else []
    return history_of_words(words, memory.value if memory else None)


def _with_tags(raw: _Raw, tags: Sequence[Tag], where: str) -> str:
    """Return the text of an entry with its keywords changed."""
    parsed = raw.parsed
    assert parsed is not None
    for tag in tags:
        check_word(tag.theme, _FORBIDDEN, where)
    old = _history(parsed)
    new = retagged(old, tags)
    changes: list[tuple[Field | None, str, str]] = []
    keywords, groups = _field(parsed, *_KEYWORD_FIELDS), _field(parsed, "groups")
    # A person's keywords are no groups: only the model's tags go there, too.
    models = replace(new, tags=tuple(t for t in new.tags if t.source == "model"))
    for name, field, wanted in (
        ("keywords", keywords, new),
        ("groups", groups, models),
    ):
        held = field.value if field else ""
        changed = changed_keywords(held, old, wanted)
        if changed != held and (field or name == "keywords"):
            changes.append((field, name, changed))
    memory = _field(parsed, MEMORY_FIELD)
    remembered = memory_text(new)
    if remembered != (memory.value if memory else ""):
        changes.append((memory, MEMORY_FIELD, remembered))
    return _edited(raw.text, parsed, changes)


def _edited(
    text: str, parsed: ParsedEntry, changes: Sequence[tuple[Field | None, str, str]]
) -> str:
    """Return the text with values replaced, and with new fields behind the last."""
    added = "".join(_new_field(text, parsed, n, v) for f, n, v in changes if f is None)
    edits = [(parsed.end, parsed.end, added)] if added else []
    for field, _, value in changes:
        if field is not None:
            quoted = text[field.start] == '"' and '"' not in value
            marks = '""' if quoted else "{}"
            edits.append((field.start, field.end, f"{marks[0]}{value}{marks[1]}"))
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _new_field(text: str, parsed: ParsedEntry, name: str, value: str) -> str:
    """Return a field to put behind the last one, set out like it."""
    if not parsed.fields:
        comma = "" if text[: parsed.end].rstrip().endswith(",") else ","
        return f"{comma} {name} = {{{value}}}" + "," * (not comma)
    last = parsed.fields[-1]
    indent = text[: last.name_start]
    lead = indent[len(indent.rstrip(" \t\r\n")) :] or " "
    equals = text[last.name_start + len(last.name) : last.start]
    return f",{lead}{name}{' = ' if ' ' in equals else '='}{{{value}}}"


def _field(parsed: ParsedEntry, *names: str) -> Field | None:
    """Return the first field of an entry that has one of the names."""
    return next((field for field in parsed.fields if field.name in names), None)
