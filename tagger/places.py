"""Folders that several machines see: on a shared disk, or behind a URL.

A file appears in them whole or not at all: it is written elsewhere first, in
the hidden folder ``.tagger/work``, and renamed.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tagger.errors import RecordError

__all__ = ["HIDDEN", "Folder", "at_hand"]

HIDDEN = ".tagger"
"""Where we keep our own files in a folder for output."""

_WORK = f"{HIDDEN}/work"
_HIDDEN_NAME = re.compile(r"(?:^|/)\.")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class Folder:
    """A folder by its path or URL; names in it have ``/`` between them.

    Parameters
    ----------
    name : str
        A path, or a URL that fsspec knows, such as ``"s3://bucket/folder"``. It
        must mean the same on every machine.

    Attributes
    ----------
    path : Path or None
        Where it lies, if that is on a disk.

    Raises
    ------
    RecordError
        If fsspec, or what it needs for such a URL, is not installed.
    """

    def __init__(self, name: str) -> None:
        self._files, root = _opened(name)
        self.path = Path(root).resolve() if self._files is None else None
        self.name = str(self.path) if self.path else name.rstrip("/")
        self._root = str(self.path) if self.path else root

    def names(self) -> list[str]:
        """Return the files behind a URL, sorted, the hidden excepted."""
        found = self._files.find(self._root)
        if found == [self._root]:
            # The URL of one file: its folder is the one that is meant.
            self._root, _, only = self._root.rpartition("/")
            self.name = self.name.rpartition("/")[0]
            return [only]
        names = sorted(posixpath.relpath(path, self._root) for path in found)
        return [name for name in names if not _HIDDEN_NAME.search(name)]

    def url(self, name: str) -> str:
        """Return the whole name of a file."""
        return f"{self.name}/{name}"

    def state(self, name: str) -> str:
        """Return what changes when a file does."""
        if self._files is not None:
            return str(self._files.ukey(self._of(name)))
        found = os.stat(self._of(name))
        return f"{found.st_size}-{found.st_mtime_ns}"

    def exists(self, name: str) -> bool:
        """Tell whether there is such a file."""
        path = self._of(name)
        return os.path.exists(path) if self.path else bool(self._files.exists(path))

    def read(self, name: str) -> bytes | None:
        """Return what a small file holds, None if there is none."""
        try:
            if self.path:
                return Path(self._of(name)).read_bytes()
            return bytes(self._files.cat_file(self._of(name)))
        except FileNotFoundError:
            return None

    def clear(self) -> None:
        """Remove what was being written when somebody was stopped."""
        path = self._of(_WORK)
        if self.path:
            shutil.rmtree(path, ignore_errors=True)
        elif self._files.exists(path):
            self._files.rm(path, recursive=True)

    @contextmanager
    def work(self) -> Iterator[Work]:
        """Give a place to write files to before they appear in the folder."""
        token = uuid.uuid4().hex
        if self.path is None:
            with tempfile.TemporaryDirectory() as place:
                yield Work(self, Path(place), token)
            return
        # On the same disk, so that a file can be renamed into its place.
        beside = self.path / _WORK / token
        beside.mkdir(parents=True)
        try:
            yield Work(self, beside, token)
        finally:
            shutil.rmtree(beside, ignore_errors=True)

    def put(self, made: Path, name: str, token: str) -> None:
        """Let a file that was made appear under its name, in one step."""
        path = self._of(name)
        if self.path:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.replace(made, path)
            return
        beside = self._of(f"{_WORK}/{token}/{made.name}")
        self._files.makedirs(posixpath.dirname(beside), exist_ok=True)
        self._files.makedirs(posixpath.dirname(path), exist_ok=True)
        self._files.put_file(str(made), beside)
        self._files.mv(beside, path)

    def _of(self, name: str) -> str:
        return posixpath.join(self._root, name)


class Work:
    """A place to write files to before they appear in a folder.

    Attributes
    ----------
    path : Path
        A folder on this machine.
    """

    def __init__(self, folder: Folder, path: Path, token: str) -> None:
        self.path = path
        self._folder = folder
        self._token = token

    def put(self, made: Path, name: str) -> None:
        """Let a file of this place appear in the folder, in one step."""
        self._folder.put(made, name, self._token)

    def put_bytes(self, data: bytes, name: str) -> None:
        """Let a small file appear in the folder, in one step."""
        made = self.path / f".{uuid.uuid4().hex}"
        made.write_bytes(data)
        self.put(made, name)


@contextmanager
def at_hand(name: str) -> Iterator[Path]:
    """Give a file by its path or URL as one on this machine."""
    files, path = _opened(name)
    if files is None:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        held = Path(folder, posixpath.basename(path))
        files.get_file(path, str(held))
        yield held


def _opened(name: str) -> tuple[Any, str]:
    """Return a file system, None for that of this machine, and the path in it."""
    if not _URL.match(name):
        return None, name
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise RecordError(
            f"{name} is a URL, which needs fsspec; install it with: "
            'pip install "paper-tagger[dask]".'
        ) from error
    try:
        files, path = url_to_fs(name)
    except (ImportError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise RecordError(f"{name} cannot be reached: {reason}.") from error
    return (None if "file" in _protocols(files) else files), path


def _protocols(files: Any) -> tuple[str, ...]:
    names = files.protocol
    return (names,) if isinstance(names, str) else tuple(names)
