"""Writing a file whole or not at all."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from tagger.errors import RecordError

__all__ = ["TargetLike", "open_target"]

TargetLike = str | os.PathLike[str] | IO[bytes]
"""A path, ``"-"`` for standard output, or an open binary file."""


@contextmanager
def open_target(target: TargetLike) -> Iterator[BinaryIO]:
    """Open a target for writing; a path gets its new content in one step.

    The content is written beside the path, forced to disk and renamed, so an
    interrupted run leaves the old file. A name that ends in ``.gz`` is packed.

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
        with _create(path, "wb") as out:
            yield out
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    out = _create(beside, "xb")
    try:
        with out:
            if path.suffix == ".gz":
                # No time and no name inside: the same records, the same bytes.
                with gzip.GzipFile(filename="", fileobj=out, mode="wb", mtime=0) as gz:
                    yield gz  # type: ignore[misc]
            else:
                yield out
            out.flush()
            os.fsync(out.fileno())
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o7777)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _create(path: Path, mode: str) -> BinaryIO:
    """Open a file for writing, or say why it cannot be."""
    try:
        return path.open(mode)  # type: ignore[return-value]
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RecordError(f"{path} cannot be written: {reason}.") from error
