"""Writing a file whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any, BinaryIO

from tagger.errors import RecordError

__all__ = ["TargetLike", "open_target"]

_BUFFER = 1 << 18  # bytes; each write waits for the threads that score meanwhile
_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
TargetLike = str | os.PathLike[str] | IO[bytes]
"""A path, ``"-"`` for standard output, or an open binary file."""


@contextmanager
def open_target(target: TargetLike) -> Iterator[BinaryIO]:
    """Open a target for writing; a path gets its new content in one step.

    The content is written beside the path, forced to disk and renamed, so an
    interrupted run leaves the old file. A name that ends in
    ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` is packed.

    Raises
    ------
    RecordError
        If the path cannot be written.
    """
    if target == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if not isinstance(target, str | os.PathLike):
        yield target  # type: ignore[misc]
        return
    path = Path(os.path.realpath(target))
    if path.exists() and not path.is_file():
        # A device or a pipe cannot be replaced, only written to.
        with _create(path, "wb", path) as out:
            yield out
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    out = _create(beside, "xb", path)
    try:
        with out:
            with _packed(out, path) as inner:
                yield inner
            out.flush()
            os.fsync(out.fileno())
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o7777)
        beside.replace(path)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _FULL:
            raise _refused(path, error) from error
        raise


def _packed(out: BinaryIO, path: Path) -> AbstractContextManager[BinaryIO]:
    """Return what packs into `out` if the name of the path asks for it."""
    match path.suffix.lower():
        case ".gz":
            import gzip

            # No time and no name inside: the same records, the same bytes.
            packed: Any = gzip.GzipFile(filename="", fileobj=out, mode="wb", mtime=0)
        case ".bz2":
            import bz2

            packed = bz2.BZ2File(out, "wb")
        case ".xz":
            import lzma

            packed = lzma.LZMAFile(out, "wb")
        case ".zst":
            from tagger.formats.unpacking import zstd_module

            packed = zstd_module(path.name).ZstdFile(out, "wb")
        case _:
            packed = nullcontext(out)
    return packed  # type: ignore[no-any-return]


def _create(path: Path, mode: str, named: Path) -> BinaryIO:
    """Open a file for writing, or say why what the user named cannot be."""
    try:
        return path.open(mode, _BUFFER)  # type: ignore[return-value]
    except OSError as error:
        raise _refused(named, error) from error


def _refused(path: Path, error: OSError) -> RecordError:
    """Return the sentence for a path that cannot be written."""
    reason = (error.strerror or str(error)).lower()
    return RecordError(f"{path} cannot be written: {reason}.")
