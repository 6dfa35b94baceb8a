"""A file as text, read and written without losing a byte."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import BinaryIO, cast

from tagger.errors import RecordError
from tagger.formats.encodings import reads_any_byte
from tagger.formats.packing import ByteStream

__all__ = [
    "LINE_COST",
    "MAX_ENTRY",
    "TextReader",
    "TextWriter",
    "check_size",
    "without_bytes",
]

MAX_ENTRY = 1 << 25
"""Longest entry of a file, in characters; a longer one is no paper record."""

LINE_COST = 64
"""What a line adds to the size of an entry: short lines take memory too."""

_PIECE = 1 << 17
_BAD = re.compile("[\udc80-\udcff]")
_INSIDE = bytes(range(0x80, 0xC0))  # of a character in UTF-8, behind its first byte


class TextReader:
    """Text of a file; bytes that are no text are carried along.

    Such a byte becomes a lone surrogate (PEP 383): the door shows it as U+FFFD,
    the writer turns it into the byte again. `bad_lines` counts the pieces that
    hold some, `first_bad` is the line of the first.
    """

    def __init__(
        self, name: str, stream: ByteStream, encoding: str, mark: int = 0
    ) -> None:
        self._name = name
        self._stream = stream
        self._encoding = encoding
        self._mark = mark
        self._carries = reads_any_byte(encoding)
        self._text = io.TextIOWrapper(
            cast(BinaryIO, stream),
            encoding=encoding,
            errors="surrogateescape" if self._carries else "strict",
            newline="",
        )
        # 8 KiB otherwise: each read waits for the threads that score meanwhile.
        self._text._CHUNK_SIZE = _PIECE  # type: ignore[attr-defined]
        self.line = 0
        self.bad = 0
        self.first_bad = 0

    def __iter__(self) -> TextReader:
        """Return the lines; they end at CR, LF or CRLF, and keep it."""
        return self

    def __next__(self) -> str:
        """Return the next line with its end."""
        try:
            line = self._text.readline(MAX_ENTRY)
        except UnicodeDecodeError as error:
            raise self._refused(error) from error
        if not line:
            raise StopIteration
        self.line += 1
        if len(line) == MAX_ENTRY:
            check_size(MAX_ENTRY, self._name, self.line)
        if not line.isascii():
            self._count(line, self.line)
        return line

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield each line without its end, and the end; in place of iteration.

        The lines are the same. Where they are UTF-8, they are parted as bytes and
        decoded one by one, which takes half the time.
        """
        if self._encoding != "utf-8":
            for line in self:
                text = line.rstrip("\r\n")
                yield text, line[len(text) :]
            return
        begun: list[bytes] = []  # pieces of a line whose end has not come
        starts = n_bytes = 0
        while data := self._stream.read1(_PIECE):
            half = bool(begun) and begun[-1].endswith(b"\r")  # of a CRLF, perhaps
            if not half and b"\n" not in data and b"\r" not in data:
                begun.append(data)
                # A character has one byte to start with, and four at most.
                starts += len(data.translate(None, _INSIDE))
                n_bytes += len(data)
                check_size(max(starts, n_bytes // 4), self._name, self.line + 1)
                continue
            data, starts, n_bytes = b"".join([*begun, data]), 0, 0
            if b"\r" in data:
                parts = data.splitlines(keepends=True)
                begun = [] if data.endswith(b"\n") else [parts.pop()]
                for part in parts:
                    bare = part.rstrip(b"\r\n")
                    yield self._line(bare, part[len(bare) :].decode())
            else:
                *parts, rest = data.split(b"\n")
                begun = [rest] if rest else []
                for part in parts:
                    yield self._line(part, "\n")
        if begun:
            rest = b"".join(begun)
            bare = rest.rstrip(b"\r")
            yield self._line(bare, rest[len(bare) :].decode())

    def _line(self, data: bytes, end: str) -> tuple[str, str]:
        """Return the text of a line, counted, and its end."""
        self.line += 1
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode(errors="surrogateescape")
            self._count(text, self.line)
        if len(text) + len(end) >= MAX_ENTRY:
            check_size(MAX_ENTRY, self._name, self.line)
        return text, end

    def read(self, size: int) -> str:
        """Return `size` characters, fewer at the end."""
        try:
            text = self._text.read(size)
        except UnicodeDecodeError as error:
            raise self._refused(error) from error
        if not text.isascii():
            self._count(text, self.line + 1)
        self.line += text.count("\n")
        return text

    def notes(self) -> list[str]:
        """Return a sentence about bytes that were no text."""
        if not self.bad:
            return []
        return [
            f"{self._name}: bytes that are not {self._encoding.upper()} text: "
            f"{self.bad:,}, the first on line {self.first_bad:,}, read as U+FFFD and "
            "kept in the file; give its --encoding, such as cp1252, if it has another."
        ]

    def _count(self, text: str, line: int) -> None:
        """Count what is no text in a piece that starts on `line`."""
        if not self._carries:
            return
        try:
            # A tenth of the time that the search takes.
            text.encode()
        except UnicodeEncodeError:
            pass
        else:
            return
        if first := _BAD.search(text):
            self.first_bad = self.first_bad or line + text.count("\n", 0, first.start())
            self.bad += len(_BAD.findall(text))

    def _refused(self, error: UnicodeDecodeError) -> RecordError:
        """Return the sentence about a byte that is no text."""
        offset = self._stream.count - len(error.object) + error.start + self._mark
        byte = error.object[error.start]
        return RecordError(
            f"{self._name}: byte {offset:,} (0x{byte:02x}) is not "
            f"{self._encoding.upper()} text ({error.reason}). Give the encoding of "
            "the file, for example --encoding utf-8."
        )


class TextWriter:
    """Writes text to a binary file in the encoding it was read in."""

    def __init__(self, out: BinaryIO, name: str, encoding: str, bom: bytes) -> None:
        self._out = out
        self._name = name
        self._encoding = encoding
        self._errors = "surrogateescape" if reads_any_byte(encoding) else "strict"
        out.write(bom)

    def write(self, text: str) -> None:
        """Write some text."""
        try:
            data = text.encode(self._encoding, self._errors)
        except UnicodeEncodeError as error:
            raise RecordError(
                f"{self._name}: {error.object[error.start : error.end]!r} cannot be "
                f"written in {self._encoding}, the encoding of the file. Convert the "
                "file to UTF-8 first."
            ) from error
        self._out.write(data)


def without_bytes(text: str) -> str:
    """Return text with U+FFFD for bytes that were no text.

    In another file, in another encoding, they could become any letter.
    """
    return _BAD.sub("\ufffd", text)


def check_size(size: int, name: str, line: int) -> None:
    """Refuse an entry, or what was read of it, that is too long to be a record."""
    if size >= MAX_ENTRY:
        raise RecordError(
            f"{name}:{line}: an entry of over {MAX_ENTRY:,} characters starts here; "
            "that is no paper record, so the file is refused."
        )
