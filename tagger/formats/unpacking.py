"""Unpacking gzip, bz2, xz and zstd, with a limit that stops unpacking bombs."""

from __future__ import annotations

import bz2
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from typing import Any

from tagger.errors import RecordError
from tagger.formats.packing import LONGEST_MAGIC, ByteStream, packing_of

__all__ = ["Unpacking", "unpacked", "zstd_module"]

_PIECE = 1 << 16
# Records pack to a third or a tenth; a table of one word a thousand times over
# packs more. What grows beyond this is made to fill a disk.
_LARGEST_RATIO = 250
_RATIO_MATTERS = 1 << 26
_MEMORY = 1 << 28


def unpacked(name: str, packed: ByteStream, packing: str) -> Unpacking:
    """Return the bytes inside a packed file.

    Raises
    ------
    RecordError
        While reading: if the content grows out of all proportion. At once: if
        the packing needs a package that is not installed.
    """
    make = {"gzip": _Gzip, "bz2": bz2.BZ2Decompressor, "xz": _xz}.get(packing)
    return Unpacking(name, packed, packing, make or _zstd_of(name))


class Unpacking(io.RawIOBase):
    """A packed stream unpacked a piece at a time; streams may follow each other."""

    def __init__(
        self, name: str, packed: ByteStream, packing: str, make: Callable[[], Any]
    ) -> None:
        self._name = name
        self._packing = packing
        self._packed = packed
        self._make = make
        self._inner = make()
        self._left = b""
        self._taken = 0
        self._given = 0
        self.ends_early = False
        """Whether something that is not packed follows the packed content."""

    def read(self, size: int = -1, /) -> bytes:
        """Return some bytes, none only at the end."""
        try:
            return self._unpacked(_PIECE if size < 0 else size)
        except (zlib.error, lzma.LZMAError) as error:
            raise OSError(str(error)) from error

    def _unpacked(self, size: int) -> bytes:
        """Return at most `size` unpacked bytes, none only at the end."""
        part = b""
        while not part:
            if self._inner.eof and not self._next_stream():
                return b""
            data = b""
            if self._inner.needs_input:
                data = self._more()
                if not data:
                    part = self._inner.decompress(b"", size)
                    if not part and not self._inner.eof:
                        raise EOFError("the packed content has no end")
                    continue
            part = self._inner.decompress(data, size)
        self._given += len(part)
        if self._given > max(_RATIO_MATTERS, _LARGEST_RATIO * self._taken):
            raise RecordError(
                f"{self._name}: {self._taken:,} packed bytes unpack to over "
                f"{self._given:,}; no records pack so small, so the file is refused. "
                "Unpack it first if you trust it."
            )
        return part

    def _more(self) -> bytes:
        """Return some packed bytes, none only at the end."""
        data, self._left = self._left, b""
        if not data:
            data = self._packed.read1(_PIECE)
            self._taken += len(data)
        return data

    def _next_stream(self) -> bool:
        """Go on to a packed stream behind the one that ended, if there is one."""
        self._left = self._inner.unused_data + self._left
        while not (data := self._more().lstrip(b"\0")):
            if self._packed.ended:
                return False
        while len(data) < LONGEST_MAGIC and (more := self._more()):
            data += more
        self._left = data
        if packing_of(data) != self._packing:
            self.ends_early = True
            return False
        self._inner = self._make()
        return True


class _Gzip:
    """Zlib's object with the face of the other three."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        """Tell whether the stream has ended."""
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        """Tell whether all the bytes given are used up."""
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        """Return the bytes behind the end of the stream."""
        return self._inner.unused_data

    def decompress(self, data: bytes, size: int) -> bytes:
        """Return at most `size` unpacked bytes."""
        return self._inner.decompress(self._inner.unconsumed_tail + data, size)


def _xz() -> lzma.LZMADecompressor:
    """Return a decompressor that takes a bounded amount of memory."""
    return lzma.LZMADecompressor(memlimit=_MEMORY)


def zstd_module(name: str) -> Any:
    """Return the zstd module: Python 3.14 has one, before that a package.

    Raises
    ------
    RecordError
        If the package is not installed; `name` is the file that needs it.
    """
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise RecordError(
            f"{name} is packed with zstd; pack it another way, or install the package "
            "backports.zstd."
        ) from error
    return zstd


def _zstd_of(name: str) -> Callable[[], Any]:
    """Return what makes a zstd decompressor with the errors of the others."""
    zstd = zstd_module(name)

    class Decompressor:
        """A decompressor that raises `OSError`."""

        def __init__(self) -> None:
            self._inner = zstd.ZstdDecompressor()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

        def decompress(self, data: bytes, size: int) -> bytes:
            try:
                return bytes(self._inner.decompress(data, size))
            except zstd.ZstdError as error:
                raise OSError(str(error)) from error

    return Decompressor
