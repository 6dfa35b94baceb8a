"""Tables as text: CSV with any usual delimiter, and TSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, ClassVar

from tagger.errors import RecordError
from tagger.fields import DEFAULT_NAMES, plain_name
from tagger.formats.columns import (
    history_of_cells,
    names_a_text,
    no_text,
    tag_cells,
    tag_columns,
)
from tagger.formats.entries import Door, Entry, RawText, Tagged
from tagger.formats.history import History
from tagger.formats.sources import Head, Source
from tagger.formats.table_text import (
    EXCEL_HINT,
    Rows,
    cells_of,
    delimiter_of,
    header_cells,
    raw_cells_of,
    row_text,
    unique_names,
    without_empty_rest,
)
from tagger.formats.text_stream import without_bytes
from tagger.records import Tag
from tagger.wording import counted

__all__ = ["Csv", "Tsv"]

_DELIMITERS = ",;\t|"
_LONGEST_NAME = 60
_NO_TAGS = ("", "", "")


class Csv:
    """Records in rows under a row of column names."""

    delimiters: ClassVar[str] = _DELIMITERS

    def __init__(self, source: Source) -> None:
        self._source = source
        self._hinted = EXCEL_HINT.match(source.head.text)
        self._delimiter = delimiter_of(source.head.text, self.delimiters)
        self._start = ""
        self._header = RawText("", "", "")
        self._columns: list[str] = []
        self._tail = ""

    @classmethod
    def recognise(cls, head: Head) -> bool:
        """Tell whether the first row names a title or abstract and more."""
        names = [plain_name(cell) for cell in header_cells(head.text, cls.delimiters)]
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
        rows = Rows(text, self._delimiter, door.source)
        coming = iter(rows)
        for line, raw, cells in coming:
            if self._columns:
                yield self._entry(door, line, raw, cells)
                continue
            if not raw.text.strip():
                self._start += "".join(raw)
                continue
            self._header, self._columns = raw, unique_names(cells)
            rows.width = len(cells)
            # In a table tagged before, every row was given the right width.
            rows.trims = tag_columns(self._columns)[1] not in self._columns
            if not names_a_text(door, self._columns):
                *_, first = next(coming, ([],))
                raise no_text(door, self._columns, first)
        self._tail = rows.tail

    def history(self, entry: Entry) -> History:
        """Return the tags of a row as the file holds them."""
        return self._history(cells_of(entry.raw.text, self._delimiter))

    def write(self, pairs: Iterable[Tagged], out: BinaryIO, *, tagged: bool) -> None:
        """Write the rows as they came; tags fill two more columns."""
        writer = self._source.writer(out)
        names = self._names
        header = self._header
        if tagged and names[0] not in self._columns:
            header = header._replace(text=self._joined(header.text, names))
        writer.write(self._start + "".join(header))
        for entry, tags in pairs:
            raw: RawText = entry.raw
            if tagged and entry.record is not None:
                raw = raw._replace(text=self._with_tags(entry, tags))
            elif header is not self._header and self._closed(raw.text):
                # A row too long for the old header must not fit the new one.
                raw = raw._replace(text=self._joined(raw.text, _NO_TAGS))
            writer.write("".join(raw))
        writer.write(self._tail)

    def adopted(self, entry: Entry, other: Any, last: Entry) -> RawText:
        """Return the row with its cells under the columns of this table."""
        unknown = [name for name in other._columns if name not in self._columns]
        if unknown:
            raise RecordError(
                f"{self._source.name} has no column {unknown[0]!r}, which "
                f"{other._source.name} has; its columns are {self._columns}."
            )
        if not self._closed(last.raw.text):
            raise RecordError(
                f"{self._source.name}:{last.line}: the last row opens a quote and "
                "never closes it, so no row can be put behind; mend it first."
            )
        text = without_bytes(entry.raw.text)
        cells, raw = (of(text, other._delimiter) for of in (cells_of, raw_cells_of))
        if len(raw) != len(cells) or other._delimiter != self._delimiter:
            raw = [row_text([cell], self._delimiter) for cell in cells]
        held = dict(zip(other._columns, raw, strict=False))
        end = last.raw.after or self._header.after or "\n"
        row = self._delimiter.join(held.get(name, "") for name in self._columns)
        return RawText("" if last.raw.after else end, row, end)

    def _entry(self, door: Door, line: int, raw: RawText, cells: list[str]) -> Entry:
        """Return the entry of one row."""
        width = len(self._columns)
        if len(cells) != width:
            few = "short" if len(cells) < width else "long"
            return door.bad(
                f"row too {few}",
                f"the row has {counted(len(cells), 'cell')} where the header has "
                f"{width}; a text that holds the delimiter, a quote or a line end "
                "needs quotes.",
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
        longer = cells_of(text + self._delimiter + "x", self._delimiter)
        return len(longer) > len(cells_of(text, self._delimiter))

    @property
    def _names(self) -> tuple[str, str, str]:
        """Return the columns for tags, probabilities and memory."""
        return tag_columns(self._columns)

    def _history(self, cells: Sequence[str]) -> History:
        """Return the tags that the cells of a row hold."""
        held = dict(zip(self._columns, cells, strict=False))
        return history_of_cells(held.get(self._names[0]), held.get(self._names[2]))

    def _with_tags(self, entry: Entry, tags: Sequence[Tag] | None) -> str:
        """Return the text of a row with its tags in it."""
        text: str = entry.raw.text
        if self._names[0] not in self._columns:
            text = without_empty_rest(text, self._delimiter, len(self._columns))
            added = _NO_TAGS if tags is None else tag_cells(History(), tags, entry.id)
            return self._joined(text, added)
        if tags is None:
            return text
        cells = cells_of(text, self._delimiter)
        added = tag_cells(self._history(cells), tags, entry.id)
        raw = raw_cells_of(text, self._delimiter)
        if len(raw) != len(cells):
            raw = [row_text([cell], self._delimiter) for cell in cells]
        for name, cell in zip(self._names, added, strict=True):
            if name in self._columns and cells[at := self._columns.index(name)] != cell:
                raw[at] = row_text([cell], self._delimiter) if cell else ""
        return self._delimiter.join(raw)

    def _joined(self, text: str, cells: Sequence[str]) -> str:
        """Return the text of a row with more cells behind it."""
        return text + self._delimiter + row_text(cells, self._delimiter)


class Tsv(Csv):
    """Records in rows, with tabs between the cells."""

    delimiters: ClassVar[str] = "\t"
