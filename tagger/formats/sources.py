"""Opening what holds records: files, standard input, packed files, encodings."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from tagger.errors import RecordError

__all__ = ["HEAD_SIZE", "Head", "Source", "SourceLike", "TextWriter", "open_source"]

SourceLike = str | os.PathLike[str] | IO[bytes] | IO[str]
"""A path, ``"-"`` for standard input, or an open file."""

HEAD_SIZE = 1 << 16
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz"}
_PACKED_SUFFIXES = (".gz", ".bz2", ".xz")
_FOREIGN = {
    b"%PDF-": "a PDF; extract its text first",
    b"PK\x03\x04": "a ZIP archive or an Excel workbook; unpack it, or save the "
    "sheet as CSV UTF-8",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file; save it as CSV UTF-8 or text",
    b"\x28\xb5\x2f\xfd": "packed with zstd; unpack it first",
}


@dataclass(frozen=True, slots=True)
class Head:
    """The start of a file, by which its format is known.

    Parameters
    ----------
    data : bytes
        Unpacked, at most 64 KiB.
    text : str
        The same decoded, without a byte order mark; bad bytes replaced.
    whole : bool
        True if the file ends here.
    """

    data: bytes
    text: str
    whole: bool


class ByteStream(io.BufferedIOBase):
    """Unpacked bytes of a file, counted, with damage turned into a sentence."""

    def __init__(self, name: str, inner: BinaryIO, head: bytes = b"") -> None:
        self._name = name
        self._inner = inner
        self._head = head
        self.count = 0

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Return `size` bytes, fewer at the end; all of them if negative."""
        parts = []
        left = sys.maxsize if size is None or size < 0 else size
        while left > 0 and (part := self.read1(min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def read1(self, size: int = -1, /) -> bytes:
        """Return some bytes, none only at the end."""
        size = HEAD_SIZE if size < 0 else size
        if self._head:
            part, self._head = self._head[:size], self._head[size:]
        else:
            try:
                part = self._inner.read(size) or b""
            except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
                raise RecordError(
                    f"{self._name}: the file is damaged or cut off after "
                    f"{self.count:,} unpacked bytes ({error})."
                ) from error
        self.count += len(part)
        return part


@dataclass(slots=True)
class Source:
    """An opened file: its bytes, its start, and how its text is encoded.

    Parameters
    ----------
    name : str
        Name for messages and ids: the last part of the path, or "stdin".
    path : Path or None
        Where it lies, if it is a file and not packed.
    stream : ByteStream
        Everything from the first byte, the byte order mark excepted.
    """

    name: str
    path: Path | None
    stream: ByteStream
    head: Head
    encoding: str
    bom: bytes
    owned: BinaryIO | None = None

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self.owned:
            self.owned.close()

    @property
    def suffix(self) -> str:
        """Return the ending of the name without that of its packing."""
        name = self.name.lower()
        for packed in _PACKED_SUFFIXES:
            name = name.removesuffix(packed)
        return Path(name).suffix

    def text(self) -> TextReader:
        """Return the file as text, its line ends untouched."""
        return TextReader(self)


class TextReader:
    """Text of a source; a byte that is not text is named by its offset."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._text = io.TextIOWrapper(
            cast(BinaryIO, source.stream), encoding=source.encoding, newline=""
        )

    def __iter__(self) -> TextReader:
        """Return the lines; they end at CR, LF or CRLF, and keep it."""
        return self

    def __next__(self) -> str:
        """Return the next line with its end."""
        try:
            line = self._text.readline()
        except UnicodeDecodeError as error:
            raise self._refusal(error) from error
        if not line:
            raise StopIteration
        return line

    def read(self, size: int = -1) -> str:
        """Return `size` characters, fewer at the end; all if negative."""
        try:
            return self._text.read(size)
        except UnicodeDecodeError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: UnicodeDecodeError) -> RecordError:
        """Return the sentence for bytes in another encoding."""
        source = self._source
        offset = source.stream.count - len(error.object) + error.start
        byte = error.object[error.start]
        other = "cp1252" if source.encoding == "utf-8" else "utf-8"
        return RecordError(
            f"{source.name}: byte {offset + len(source.bom):,} (0x{byte:02x}) is not "
            f"{source.encoding.upper()} text ({error.reason}). Give the encoding of "
            f"the file, for example --encoding {other} or --encoding latin-1."
        )


class TextWriter:
    """Writes text to a binary file in the encoding it was read in."""

    def __init__(self, out: BinaryIO, source: Source) -> None:
        self._out = out
        self._encoding = source.encoding
        self._name = source.name
        out.write(source.bom)

    def write(self, text: str) -> None:
        """Write some text."""
        try:
            data = text.encode(self._encoding)
        except UnicodeEncodeError as error:
            raise RecordError(
                f"{self._name}: {error.object[error.start : error.end]!r} cannot be "
                f"written in {self._encoding}, the encoding of the file. Convert the "
                "file to UTF-8 first."
            ) from error
        self._out.write(data)


def open_source(source: SourceLike, *, encoding: str | None = None) -> Source:
    """Open a path, standard input (``"-"``) or an open file.

    Packed files are known by their first bytes, encodings by a byte order
    mark; without one, text is UTF-8 unless `encoding` says otherwise.

    Raises
    ------
    RecordError
        If it cannot be opened, or is no kind of text or record file.
    """
    given = _checked_encoding(encoding)
    name, path, inner, owned = _opened(source)
    try:
        head = ByteStream(name, inner).read(HEAD_SIZE)
        for magic, packing in _PACKED.items():
            if head.startswith(magic):
                inner, path = _unpacked(ByteStream(name, inner, head), packing), None
                head = ByteStream(name, inner).read(HEAD_SIZE)
                break
        bom, found = _encoding_of(name, head, given)
    except RecordError:
        if owned:
            owned.close()
        raise
    data = head[len(bom) :]
    text = data.decode(found, errors="replace")
    return Source(
        name=name,
        path=path,
        stream=ByteStream(name, inner, data),
        head=Head(data, text, whole=len(head) < HEAD_SIZE),
        encoding=found,
        bom=bom,
        owned=owned,
    )


def _checked_encoding(encoding: str | None) -> str | None:
    """Return the name of a text encoding in a form that writes no mark."""
    if encoding is None:
        return None
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)
    except LookupError as error:
        raise RecordError(
            f"The encoding {encoding!r} is not known; give one such as 'utf-8', "
            "'utf-16' or 'latin-1'."
        ) from error
    return {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}.get(
        name, name
    )


def _opened(
    source: SourceLike,
) -> tuple[str, Path | None, BinaryIO, BinaryIO | None]:
    """Return name, path, binary file, and the same if it is ours to close."""
    if source == "-":
        return "stdin", None, sys.stdin.buffer, None
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.is_dir():
            raise RecordError(f"{path} is a folder; give the files in it.")
        try:
            file = path.open("rb")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise RecordError(f"{path} cannot be read: {reason}.") from error
        return path.name, path if path.is_file() else None, file, file
    name = Path(str(getattr(source, "name", "") or "stream")).name
    if isinstance(source, io.TextIOBase):
        text = source.read()
        return name, None, io.BytesIO(text.encode("utf-8", errors="replace")), None
    return name, None, cast(BinaryIO, source), None


def _unpacked(packed: ByteStream, packing: str) -> BinaryIO:
    """Return the bytes inside a packed file."""
    if packing == "gzip":
        return cast(BinaryIO, gzip.GzipFile(fileobj=packed))
    if packing == "bz2":
        return cast(BinaryIO, bz2.BZ2File(packed))
    return cast(BinaryIO, lzma.LZMAFile(cast(BinaryIO, packed)))


def _encoding_of(name: str, head: bytes, given: str | None) -> tuple[bytes, str]:
    """Return the byte order mark and the encoding; refuse what is no text."""
    for magic, kind in _FOREIGN.items():
        if head.startswith(magic):
            raise RecordError(f"{name} is {kind}.")
    for bom, encoding in _BOMS:
        if head.startswith(bom):
            return bom, encoding
    zeros = 0 if head.startswith(b"PAR1") else head.count(0)
    if given is None and zeros > len(head) // 10:
        raise RecordError(
            f"{name}: {zeros:,} of the first {len(head):,} bytes are zero, so this is "
            "not UTF-8 text. For UTF-16 without a byte order mark give --encoding "
            "utf-16-le."
        )
    return b"", given or "utf-8"
