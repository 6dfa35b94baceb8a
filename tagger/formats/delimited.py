"""Tables as text: CSV with any usual delimiter, and TSV."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, ClassVar

from tagger.fields import DEFAULT_NAMES, plain_name
from tagger.formats.columns import check_columns, tag_cells, tag_columns
from tagger.formats.entries import Door, Entry, RawText, Tagged
from tagger.formats.sources import Head, Source, TextWriter
from tagger.records import Tag

__all__ = ["Csv", "Tsv"]

_DELIMITERS = ",;\t|"
# A quote that is never closed would swallow the file; a field longer than
# this is taken for such a quote, and the row for a bad one.
_ROW_LINES = 2_000
_LONGEST_NAME = 60
csv.field_size_limit((1 << 31) - 1)
_EXCEL_HINT = re.compile(r"sep=(.)(?:\r\n|\r|\n)", re.IGNORECASE)


class Csv:
    """Records in rows under a row of column names."""

    name: ClassVar[str] = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv",)
    delimiters: ClassVar[str] = _DELIMITERS

    def __init__(self, source: Source) -> None:
        self._source = source
        self._hinted = _EXCEL_HINT.match(source.head.text)
        self._delimiter = _delimiter(source.head.text, self.delimiters)
        self._start = ""
        self._header = RawText("", "", "")
        self._columns: list[str] = []
        self._tail = ""

    @classmethod
    def recognise(cls, head: Head) -> bool:
        """Tell whether the first row names a title or abstract and more."""
        names = [plain_name(cell) for cell in _header_cells(head.text, cls.delimiters)]
        fields = {DEFAULT_NAMES[name][0] for name in names if name in DEFAULT_NAMES}
        return (
            len(names) > 1
            and max(len(name) for name in names) <= _LONGEST_NAME
            and bool(fields & {"title", "abstract"})
        )

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield an entry a row; a row of another width is a problem."""
        text = self._source.text()
        if self._hinted:
            self._start = next(text)
        rows = _Rows(text, self._delimiter)
        for line, raw, cells in rows:
            if self._columns:
                yield self._entry(door, line, raw, cells)
                continue
            self._header, self._columns = raw, _unique(cells)
            rows.width = len(cells)
            # In a table tagged before, every row was given the right width.
            rows.trims = tag_columns(self._columns)[1] not in self._columns
            check_columns(door, self._columns)
        self._tail = rows.tail

    def write(self, pairs: Iterable[Tagged], out: BinaryIO, *, tagged: bool) -> None:
        """Write the rows as they came; tags fill two more columns."""
        writer = TextWriter(out, self._source)
        names = tag_columns(self._columns)
        header = self._header
        if tagged and names[0] not in self._columns:
            header = header._replace(text=self._joined(header.text, names))
        writer.write(self._start + "".join(header))
        for entry, tags in pairs:
            raw: RawText = entry.raw
            if tagged and entry.record is not None:
                raw = raw._replace(text=self._with_tags(raw.text, tags, names))
            elif header is not self._header and self._closed(raw.text):
                # A row too long for the old header must not fit the new one.
                raw = raw._replace(text=self._joined(raw.text, ("", "")))
            writer.write("".join(raw))
        writer.write(self._tail)

    def _entry(self, door: Door, line: int, raw: RawText, cells: list[str]) -> Entry:
        """Return the entry of one row."""
        width = len(self._columns)
        if len(cells) != width:
            few = "short" if len(cells) < width else "long"
            return door.bad(
                f"row too {few}",
                f"the row has {len(cells)} cells where the header has {width}; a text "
                "that holds the delimiter, a quote or a line end needs quotes.",
                raw,
                line,
            )
        if '"' in raw.text and not self._closed(raw.text):
            return door.bad(
                "quote never closed",
                "a quote is opened and never closed.",
                raw,
                line,
            )
        fields = dict(zip(self._columns, cells, strict=True))
        fields.pop("", None)
        return door.entry(fields, raw=raw, line=line)

    def _closed(self, text: str) -> bool:
        """Tell whether a cell put behind a row would be a cell of its own."""
        longer = _cells(text + self._delimiter + "x", self._delimiter)
        return len(longer) > len(_cells(text, self._delimiter))

    def _with_tags(
        self, text: str, tags: Sequence[Tag] | None, names: tuple[str, str]
    ) -> str:
        """Return the text of a row with its tags in it."""
        added = tag_cells(tags or ())
        if names[0] not in self._columns:
            return self._joined(_cut(text, self._delimiter, len(self._columns)), added)
        if tags is None:
            return text
        cells = _cells(text, self._delimiter)
        for name, cell in zip(names, added, strict=True):
            cells[self._columns.index(name)] = cell
        return _written(cells, self._delimiter)

    def _joined(self, text: str, cells: Sequence[str]) -> str:
        """Return the text of a row with more cells behind it."""
        return text + self._delimiter + _written(cells, self._delimiter)


class Tsv(Csv):
    """Records in rows, with tabs between the cells."""

    name: ClassVar[str] = "tsv"
    suffixes: ClassVar[tuple[str, ...]] = (".tsv", ".tab")
    delimiters: ClassVar[str] = "\t"


class _Rows:
    """Rows of a table with their line and their text as it came."""

    def __init__(self, lines: Iterator[str], delimiter: str) -> None:
        self._lines = lines
        self._returned: deque[str] = deque()
        self._delimiter = delimiter
        self._number = 0
        self.width: int | None = None
        self.trims = False
        self.tail = ""

    def __iter__(self) -> Iterator[tuple[int, RawText, list[str]]]:
        """Yield line, text and cells of each row that is not blank."""
        before = ""
        while line := self._next():
            if not line.strip("\r\n"):
                before += line
                continue
            first = self._number
            used = [line]
            cells = self._parsed(used)
            if self.width is not None and len(used) > 1 and len(cells) != self.width:
                # A stray quote joined rows: only its own line is lost.
                self._returned.extendleft(reversed(used[1:]))
                self._number -= len(used) - 1
                del used[1:]
            text = "".join(used)
            bare = text.removesuffix("\n").removesuffix("\r")
            cells = self._without_empty_rest(cells)
            yield first, RawText(before, bare, text[len(bare) :]), cells
            before = ""
        self.tail = before

    def _next(self) -> str:
        """Return the next line, "" at the end."""
        line = self._returned.popleft() if self._returned else next(self._lines, "")
        self._number += bool(line)
        return line

    def _parsed(self, used: list[str]) -> list[str]:
        """Return the cells of a row; lines it goes on to are added to `used`."""

        def lines() -> Iterator[str]:
            """Yield the line at hand and those that an open quote asks for."""
            yield used[0]
            while len(used) < _ROW_LINES and (line := self._next()):
                used.append(line)
                yield line

        cells = next(csv.reader(lines(), delimiter=self._delimiter), [])
        return [] if len(used) >= _ROW_LINES else cells

    def _without_empty_rest(self, cells: list[str]) -> list[str]:
        """Drop empty cells beyond the header, which spreadsheets leave."""
        if self.trims and not any(cells[self.width :]):
            return cells[: self.width]
        return cells


def _header_cells(text: str, delimiters: str) -> list[str]:
    """Return the column names of a table that starts with `text`."""
    if hint := _EXCEL_HINT.match(text):
        text = text[hint.end() :]
    return _cells(text.lstrip("\r\n"), _delimiter(text, delimiters))


def _delimiter(text: str, delimiters: str) -> str:
    """Return the delimiter that makes most known column names of the header."""
    if hint := _EXCEL_HINT.match(text):
        return hint[1]

    def names(delimiter: str) -> tuple[int, int]:
        """Return how many columns are known, and how many there are."""
        cells = _cells(text.lstrip("\r\n"), delimiter)
        known = sum(plain_name(cell) in DEFAULT_NAMES for cell in cells)
        return known, len(cells)

    return max(delimiters, key=names)


def _cells(text: str, delimiter: str) -> list[str]:
    """Return the cells of the first row of `text`."""
    lines = io.StringIO(text, newline="")
    try:
        return next(csv.reader(lines, delimiter=delimiter), [])
    except csv.Error:
        return []


def _cut(text: str, delimiter: str, width: int) -> str:
    """Return a row without empty cells beyond the header."""
    while len(_cells(text, delimiter)) > width and text.endswith(delimiter):
        text = text[: -len(delimiter)]
    return text


def _written(cells: Sequence[str], delimiter: str) -> str:
    """Return cells as the text of a row, quoted where they must be."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="").writerow(cells)
    return out.getvalue()


def _unique(cells: Sequence[str]) -> list[str]:
    """Return column names; the second "x" becomes "x#2"."""
    names: list[str] = []
    for cell in cells:
        name, number = cell.strip(), 1
        while name and name in names:
            number += 1
            name = f"{cell.strip()}#{number}"
        names.append(name)
    return names
