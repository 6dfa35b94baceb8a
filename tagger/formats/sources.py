"""Opening what holds records: files, folders, standard input, packed files."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from tagger.errors import RecordError
from tagger.formats.encodings import checked_encoding, encoding_of
from tagger.formats.packing import PACKED_SUFFIXES, ByteStream, packing_of
from tagger.formats.text_stream import TextReader, TextWriter

if TYPE_CHECKING:
    from tagger.formats.unpacking import Unpacking

__all__ = ["HEAD_SIZE", "Head", "Source", "SourceLike", "open_source", "suffix_of"]

SourceLike = str | os.PathLike[str] | IO[bytes] | IO[str]
"""A path, ``"-"`` for standard input, or an open file."""

HEAD_SIZE = 1 << 16


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
    remarks: list[str] = field(default_factory=list)
    owned: BinaryIO | None = None
    inside: Unpacking | None = None
    _reader: TextReader | None = None

    def __enter__(self) -> Source:
        """Return the source; leaving the block closes the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self.owned:
            self.owned.close()

    @property
    def suffix(self) -> str:
        """Return the ending of the name without that of its packing."""
        return suffix_of(self.name)

    @property
    def ascii_only(self) -> bool:
        """Tell whether what is added had best be ASCII."""
        return not self.encoding.startswith("utf")

    @property
    def share(self) -> float | None:
        """Return how much of the file was read, from 0 to 1; None if unknown."""
        if self.owned is None or not self.owned.seekable():
            return None
        size = os.fstat(self.owned.fileno()).st_size
        return self.owned.tell() / size if size else None

    def text(self) -> TextReader:
        """Return the file as text, its line ends untouched."""
        self._reader = TextReader(
            self.name, self.stream, self.encoding, mark=len(self.bom)
        )
        return self._reader

    def writer(self, out: BinaryIO) -> TextWriter:
        """Return what writes text to `out` as this file has it."""
        return TextWriter(out, self.name, self.encoding, self.bom)

    def notes(self) -> list[str]:
        """Return what the user should know about the bytes of the file."""
        notes = [*self.remarks, *(self._reader.notes() if self._reader else [])]
        if self.inside is not None and self.inside.ends_early:
            notes.append(
                f"{self.name} goes on behind its packed content with bytes that are "
                "not packed so; they are left out."
            )
        return notes


def suffix_of(name: str) -> str:
    """Return the ending of a name without that of its packing.

    Examples
    --------
    >>> suffix_of("Papers.JSONL.gz")
    '.jsonl'
    """
    name = name.lower()
    for packed in PACKED_SUFFIXES:
        name = name.removesuffix(packed)
    return Path(name).suffix


def open_source(source: SourceLike, *, encoding: str | None = None) -> Source:
    """Open a path, standard input (``"-"``) or an open file.

    Packed files are known by their first bytes; encodings by a byte order
    mark, a declaration, or the bytes, unless `encoding` says otherwise.

    Raises
    ------
    RecordError
        If it cannot be opened, or is no kind of text or record file.
    """
    given = checked_encoding(encoding)
    name, path, inner, owned = _opened(source)
    inside: Unpacking | None = None
    try:
        head = ByteStream(name, inner).read(HEAD_SIZE)
        if packing := packing_of(head):
            from tagger.formats.unpacking import unpacked

            inside = unpacked(name, ByteStream(name, inner, head), packing)
            inner, path = cast(BinaryIO, inside), None
            head = ByteStream(name, inner).read(HEAD_SIZE)
            if packing_of(head):
                raise RecordError(f"{name} is packed twice; unpack it once first.")
        bom, found, remarks = encoding_of(name, head, given)
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
        remarks=remarks,
        owned=owned,
        inside=inside,
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
