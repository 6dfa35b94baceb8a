"""How a file is packed, and its bytes with damage turned into a sentence."""

from __future__ import annotations

import io
import sys
from typing import BinaryIO

from tagger.errors import RecordError

__all__ = ["LONGEST_MAGIC", "PACKED_SUFFIXES", "ByteStream", "packing_of"]

PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
LONGEST_MAGIC = max(map(len, _MAGIC))
_PIECE = 1 << 16


class ByteStream(io.BufferedIOBase):
    """Bytes of a file, counted, with damage turned into a sentence."""

    def __init__(self, name: str, inner: BinaryIO, head: bytes = b"") -> None:
        self._name = name
        self._inner = inner
        self._head = head
        self.count = 0
        self.ended = False

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
        size = _PIECE if size < 0 else size
        if self._head:
            part, self._head = self._head[:size], self._head[size:]
        else:
            try:
                part = self._inner.read(size) or b""
            except RecordError:
                raise
            except (EOFError, OSError, ValueError) as error:
                if isinstance(error, OSError) and error.strerror:
                    reason = error.strerror.lower()
                    raise RecordError(
                        f"{self._name} cannot be read: {reason}."
                    ) from error
                what = "is cut off" if isinstance(error, EOFError) else "is damaged"
                raise RecordError(
                    f"{self._name}: the packed content {what} after {self.count:,} "
                    f"unpacked bytes ({error}). Pack or fetch it again."
                ) from error
        self.count += len(part)
        self.ended = not part
        return part


def packing_of(head: bytes) -> str | None:
    """Return how a file that starts with `head` is packed, None if it is not."""
    return next(
        (name for magic, name in _MAGIC.items() if head.startswith(magic)), None
    )
