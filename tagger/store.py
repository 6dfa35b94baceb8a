"""Arrays and a manifest in a folder: data only, whole or not at all.

A folder holds `manifest.json` and one `.npy` file an array. The manifest
names the kind and version of the format, and size and checksums of every file.
Reading runs nothing: JSON and plain arrays, no pickle.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
from collections.abc import Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger import kernel
from tagger.errors import ModelError

__all__ = ["FORMAT_VERSION", "checksum", "read_folder", "write_folder"]

FORMAT_VERSION = 1
_MANIFEST = "manifest.json"
_MANIFEST_LIMIT = 64 << 20  # bytes; far above any real one


def write_folder(
    folder: str | os.PathLike[str],
    kind: str,
    arrays: Mapping[str, NDArray[Any]],
    facts: Mapping[str, Any],
    *,
    texts: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> None:
    """Write arrays and facts as a folder that appears whole or not at all.

    Parameters
    ----------
    folder : path
        Folders above it are made where they are missing.
    kind : str
        What the folder holds, such as ``"model"``; checked on reading.
    arrays : mapping of str to ndarray
        File ``NAME.npy`` for each; no object arrays.
    facts : mapping
        What goes into the manifest beside the list of files; plain JSON.
    texts : mapping of file name to str, optional
        Files for people, such as a README.
    overwrite : bool, default=False
        Replace a folder written by this function.

    Raises
    ------
    ModelError
        If something else stands there, or the disk refuses.
    """
    target = Path(folder)
    if target.exists():
        _check_replaceable(target, overwrite)
    contents = {f"{name}.npy": _npy_bytes(array) for name, array in arrays.items()}
    contents |= {name: text.encode() for name, text in (texts or {}).items()}
    manifest = {
        "format": f"paper-tagger {kind}",
        "format_version": FORMAT_VERSION,
        **facts,
        "files": {
            name: {
                "bytes": len(data),
                "sha256": _sha256(data),
                "sum64": f"{checksum(data):016x}",
            }
            for name, data in sorted(contents.items())
        },
    }
    contents[_MANIFEST] = (
        json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    ).encode()
    try:
        _place(target, contents)
    except OSError as error:
        raise ModelError(
            f"{target} could not be written: {error.strerror or error}; "
            "nothing was changed."
        ) from error


def _check_replaceable(target: Path, overwrite: bool) -> None:
    empty = target.is_dir() and not any(target.iterdir())
    if not empty and not (target / _MANIFEST).is_file():
        raise ModelError(
            f"{target} exists and is not a folder of ours; choose another place."
        )
    if not empty and not overwrite:
        raise ModelError(
            f"{target} exists already; choose another place, or replace it with "
            "--overwrite."
        )


def _place(target: Path, contents: Mapping[str, bytes]) -> None:
    """Write beside the target, then rename; an old folder goes last."""
    import shutil
    import tempfile

    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    old = fresh.with_name(fresh.name + "-old")
    try:
        for name, data in contents.items():
            with open(fresh / name, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        fresh.chmod(0o755)
        if target.exists():
            target.rename(old)
        fresh.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _npy_bytes(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(
        buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False
    )
    return buffer.getvalue()


def read_folder(
    folder: str | os.PathLike[str], kind: str
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read a folder written by `write_folder`; check all before using any.

    Returns
    -------
    arrays : dict of str to ndarray
        Read-only and memory-mapped.
    manifest : dict

    Raises
    ------
    ModelError
        If the folder is missing, of another kind, newer, cut or altered.
    """
    path = Path(folder)
    manifest = _read_manifest(path, kind)
    arrays: dict[str, NDArray[Any]] = {}
    for name, facts in manifest["files"].items():
        data = _read_file(path, name, facts)
        if name.endswith(".npy"):
            arrays[name.removesuffix(".npy")] = _as_array(data, path / name)
    return arrays, manifest


# What `write_folder` writes, and no more: no pickle, no field names. Looked at
# here, because numpy's own reader takes longer than all the sums.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<size>..)\{'descr': '(?P<kind>[<|][uifbSU]\d+)', "
    rb"'fortran_order': False, 'shape': \((?P<shape>(?:\d+(?:, \d+)*,?)?)\), \} *\n",
    re.DOTALL,
)


def _as_array(data: bytes | mmap, file: Path) -> NDArray[Any]:
    header = _HEADER.match(data)
    if header and header.end() == 10 + int.from_bytes(header["size"], "little"):
        shape = [int(n) for n in header["shape"].decode().split(",") if n.strip()]
        kind = np.dtype(header["kind"].decode())
        if len(data) == header.end() + math.prod(shape) * kind.itemsize:
            return np.ndarray(shape, kind, data, header.end())
    raise ModelError(f"{file} holds no plain array as this package writes them.")


def _read_manifest(path: Path, kind: str) -> dict[str, Any]:
    file = path / _MANIFEST
    if not path.exists():
        raise ModelError(f"There is no model at {path}; train one, or check the path.")
    if not path.is_dir() or not file.is_file():
        raise ModelError(
            f"{path} is no folder with a {_MANIFEST}, so it is not a model of ours."
        )
    if file.stat().st_size > _MANIFEST_LIMIT:
        raise ModelError(f"{file} is larger than any manifest; it was altered.")
    try:
        manifest = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{file} is cut or altered: {error}.") from error
    if not isinstance(manifest, dict):
        raise ModelError(f"{file} is cut or altered: it holds no object.")
    if manifest.get("format") != f"paper-tagger {kind}":
        raise ModelError(
            f"{path} says that it is {manifest.get('format')!r}, not "
            f"'paper-tagger {kind}'; choose a {kind} folder."
        )
    version = manifest.get("format_version")
    if not isinstance(version, int) or not 1 <= version <= FORMAT_VERSION:
        raise ModelError(
            f"{path} has format version {version!r}; this tagger reads up to "
            f"{FORMAT_VERSION}. Update it with 'pip install -U paper-tagger'."
        )
    files = manifest.get("files")
    if not isinstance(files, dict) or not all(_listed(n, f) for n, f in files.items()):
        raise ModelError(f"{file} is altered: its list of files makes no sense.")
    return manifest


def _listed(name: str, facts: Any) -> bool:
    return (
        name not in ("", ".", "..", _MANIFEST)
        and not set(name) & set("/\\:\0")
        and isinstance(facts, dict)
        and isinstance(facts.get("bytes"), int)
        and isinstance(facts.get("sha256"), str)
    )


def _read_file(path: Path, name: str, facts: Mapping[str, Any]) -> bytes | mmap:
    """Give the bytes of a file, memory-mapped, if they are those in the manifest."""
    file = f"{path}{os.sep}{name}"
    try:
        with open(file, "rb", opener=_open_no_link) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size != facts["bytes"]:
                raise ModelError(
                    f"{file} is cut or altered: it has {size} bytes, not "
                    f"{facts['bytes']}."
                )
            data = mmap(stream.fileno(), 0, access=ACCESS_READ) if size else b""
    except OSError as error:
        raise ModelError(f"{path} is not whole: {name} is missing.") from error
    if kernel.compiled is None or "sum64" not in facts:
        same = _sha256(data) == facts["sha256"]
    else:
        same = f"{checksum(data):016x}" == facts["sum64"]
    if not same:
        raise ModelError(
            f"{file} is altered: its checksum is not the one in {_MANIFEST}."
        )
    return data


def _sha256(data: bytes | mmap) -> str:
    from hashlib import sha256  # its library takes as long as reading a model

    return sha256(data).hexdigest()


def _open_no_link(file: str, flags: int) -> int:
    return os.open(file, flags | getattr(os, "O_NOFOLLOW", 0))


def checksum(data: bytes | mmap) -> int:
    """Sum up data so that no change by accident goes unseen, in [0, 2**64).

    A forger would change the manifest too, so no more is asked of it; it is
    five times as fast as SHA-256, which is written beside it for people.

    Parameters
    ----------
    data : bytes or mmap
        Words of 8 bytes, little-endian, the last filled up with zeros. Each is
        mixed with its place as `tagger.tokens.join_codes` does, and added.
    """
    if kernel.compiled is not None:
        return int(kernel.compiled.checksum(data))
    size = len(data)
    words = np.frombuffer(data[:] + bytes(-size % 8), "<u8")
    total = _mix(np.arange(len(words), dtype=np.uint64), words).sum(dtype=np.uint64)
    return int(_mix(np.array([size], np.uint64), total)[0])


def _mix(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.uint64]:
    value = left * np.uint64(0x9E3779B97F4A7C15) + right
    value = (value ^ value >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ value >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return value ^ value >> np.uint64(31)
