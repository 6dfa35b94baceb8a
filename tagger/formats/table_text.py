"""Tables as text: rows, cells, and the delimiter between them."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Iterator, Sequence

from tagger.fields import DEFAULT_NAMES, plain_name
from tagger.formats.entries import RawText
from tagger.formats.text_stream import LINE_COST, MAX_ENTRY, check_size

__all__ = [
    "EXCEL_HINT",
    "Rows",
    "cells_of",
    "delimiter_of",
    "header_cells",
    "raw_cells_of",
    "row_text",
    "unique_names",
    "without_empty_rest",
]

# A quote that is never closed would swallow the file; a field longer than
# this is taken for such a quote, and the row for a bad one.
_ROW_LINES = 2_000
EXCEL_HINT = re.compile(r"sep=(.)(?:\r\n|\r|\n)", re.IGNORECASE)
"""First line of a table by which Excel knows the delimiter."""
csv.field_size_limit((1 << 31) - 1)


class Rows:
    """Rows of a table with their line and their text as it came."""

    def __init__(self, lines: Iterator[str], delimiter: str, name: str) -> None:
        self._lines = lines
        self._name = name
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
                check_size(len(before) * LINE_COST, self._name, self._number)
                continue
            first = self._number
            used = [line]
            cells = self._parsed(used)
            if self._joins_rows(used, cells):
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
            size = len(used[0])
            yield used[0]
            while len(used) < _ROW_LINES and size < MAX_ENTRY:
                if not (line := self._next()):
                    return
                used.append(line)
                size += len(line)
                yield line

        cells = next(csv.reader(lines(), delimiter=self._delimiter), [])
        return [] if len(used) >= _ROW_LINES else cells

    def _joins_rows(self, used: list[str], cells: list[str]) -> bool:
        """Tell whether lines were joined by a quote that is no cell's own.

        A text may hold line ends, but then its quotes stand at the ends of its
        cell, and the row has the width of the header.
        """
        if self.width is None or len(used) < 2:
            return False
        if len(self._without_empty_rest(cells)) != self.width:
            return True
        try:
            next(csv.reader(used, delimiter=self._delimiter, strict=True))
        except csv.Error:
            return True
        return False

    def _without_empty_rest(self, cells: list[str]) -> list[str]:
        """Drop empty cells beyond the header, which spreadsheets leave."""
        if self.trims and not any(cells[self.width :]):
            return cells[: self.width]
        return cells


def header_cells(text: str, delimiters: str) -> list[str]:
    """Return the column names of a table that starts with `text`."""
    if hint := EXCEL_HINT.match(text):
        text = text[hint.end() :]
    return cells_of(text.lstrip("\r\n"), delimiter_of(text, delimiters))


def delimiter_of(text: str, delimiters: str) -> str:
    """Return the delimiter that makes most known column names of the header."""
    if hint := EXCEL_HINT.match(text):
        return hint[1]

    def names(delimiter: str) -> tuple[int, int]:
        """Return how many columns are known, and how many there are."""
        cells = cells_of(text.lstrip("\r\n"), delimiter)
        # One cell is a row not split: "a,b" is no "AB".
        known = [plain_name(cell) in DEFAULT_NAMES for cell in cells if len(cells) > 1]
        return sum(known), len(cells)

    return max(delimiters, key=names)


def cells_of(text: str, delimiter: str) -> list[str]:
    """Return the cells of the first row of `text`."""
    lines = io.StringIO(text, newline="")
    try:
        return next(csv.reader(lines, delimiter=delimiter), [])
    except csv.Error:
        return []


def raw_cells_of(text: str, delimiter: str) -> list[str]:
    """Return the cells of a row with their quotes, as they came."""
    other = f"[^{re.escape(delimiter)}]*"
    cell = re.compile(rf'(?:"(?:[^"]|"")*"{other}|{other})')
    cells, at = [], 0
    while found := cell.match(text, at):
        cells.append(found[0])
        at = found.end() + 1
        if at > len(text):
            break
    return cells


def without_empty_rest(text: str, delimiter: str, width: int) -> str:
    """Return a row without empty cells beyond the header."""
    while len(cells_of(text, delimiter)) > width:
        shorter = text.removesuffix('""')
        if not shorter.endswith(delimiter):
            break
        text = shorter.removesuffix(delimiter)
    return text


def row_text(cells: Sequence[str], delimiter: str) -> str:
    """Return cells as the text of a row, quoted where they must be."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="").writerow(cells)
    return out.getvalue()


def unique_names(cells: Sequence[str]) -> list[str]:
    """Return column names; the second "x" becomes "x#2"."""
    names: list[str] = []
    for cell in cells:
        name, number = cell.strip(), 1
        while name and name in names:
            number += 1
            name = f"{cell.strip()}#{number}"
        names.append(name)
    return names
