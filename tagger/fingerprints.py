"""Which records are one paper, and which a model was trained on."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tagger.errors import ModelError
from tagger.minhash import Sketches, near_pairs, similarity, sketch
from tagger.records import Record, identity_keys

__all__ = [
    "Fingerprints",
    "Overlap",
    "find_overlap",
    "fingerprints",
    "group_ids",
    "groups_of",
    "join_fingerprints",
]

Kind = Literal["exact", "same paper", "near-duplicate"]

_WORD = re.compile(r"\w+")
# Saved arrays by name, with the shape that a single record gives each of them.
_ARRAYS: dict[str, tuple[str, tuple[int, ...]]] = {
    "ids": ("uint8", ()),
    "keys": ("uint64", ()),
    "key_rows": ("int32", ()),
    "exact": ("bool", ()),
    "trigrams": ("int32", ()),
    "minima": ("uint64", (16,)),
}


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """What a model remembers of its training records, to know them again.

    Parameters
    ----------
    ids : tuple of str
        Id of each record.
    keys : ndarray of uint64, shape (n_keys,)
        Hashes of the records' texts and identity keys.
    key_rows : ndarray of int32, shape (n_keys,)
        Row of the record each key belongs to.
    exact : ndarray of bool, shape (n_keys,)
        True where the key is the hash of a whole text.
    sketches : Sketches
        Of title and abstract, by which near-copies are known.
    """

    ids: tuple[str, ...]
    keys: NDArray[np.uint64]
    key_rows: NDArray[np.int32]
    exact: NDArray[np.bool_]
    sketches: Sketches

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return plain arrays by name, about 210 bytes a record."""
        names = "\0".join(self.ids).encode("utf-8", "surrogatepass")
        return {
            "ids": np.frombuffer(names, dtype=np.uint8),
            "keys": self.keys,
            "key_rows": self.key_rows,
            "exact": self.exact,
            "trigrams": self.sketches.trigrams,
            "minima": self.sketches.minima,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Fingerprints:
        """Build from what `to_arrays` gave.

        Raises
        ------
        ModelError
            If an array is missing or of another type, or the sizes do not fit
            together.
        """
        for name, (dtype, shape) in _ARRAYS.items():
            if name not in arrays:
                raise ModelError(
                    f"The fingerprints of the training records lack the array "
                    f"{name!r}; the model folder is incomplete. Train it again."
                )
            found = arrays[name]
            if found.dtype != dtype or found.shape[1:] != shape or not found.ndim:
                raise ModelError(
                    f"The array {name!r} of the fingerprints is {found.dtype} of shape "
                    f"{found.shape}; expected {dtype} of shape "
                    f"{('n', *shape)}. Train the model again."
                )
        sketches = Sketches(arrays["trigrams"], arrays["minima"])
        keys, rows, exact = (arrays[name] for name in ("keys", "key_rows", "exact"))
        n = len(sketches.trigrams)
        text = arrays["ids"].tobytes().decode("utf-8", "surrogatepass")
        ids = tuple(text.split("\0")) if n else ()
        sizes = len(ids), len(sketches.minima), len(keys), len(exact)
        outside = ((rows < 0) | (rows >= n)).any()
        if sizes != (n, n, len(rows), len(rows)) or outside:
            raise ModelError(
                f"The fingerprints of the training records do not fit together: "
                f"{n} records, but {sizes[0]} ids and {sizes[1]} sketches, "
                f"{len(rows)} key rows, but {sizes[2]} keys. Train the model again."
            )
        return cls(ids, keys, rows, exact, sketches)


def fingerprints(records: Sequence[Record]) -> Fingerprints:
    """Take the fingerprints of records, to be kept with a model.

    Parameters
    ----------
    records : sequence of Record
        The training records.

    Returns
    -------
    Fingerprints
        Rows in the order of `records`. Nothing of the text can be read back.
    """
    words = [_words(record) for record in records]
    keys: list[int] = []
    rows: list[int] = []
    exact: list[bool] = []
    for row, record in enumerate(records):
        named = [f"key {key}" for key in identity_keys(record)]
        whole = ["text " + " ".join(words[row])] if words[row] else []
        for text in whole + named:
            keys.append(_hash_text(text))
            rows.append(row)
            exact.append(text.startswith("text "))
    return Fingerprints(
        # A record id never holds NUL, so that ids can be stored joined by it.
        ids=tuple(record.id.replace("\0", " ") for record in records),
        keys=np.array(keys, dtype=np.uint64),
        key_rows=np.array(rows, dtype=np.int32),
        exact=np.array(exact, dtype=np.bool_),
        sketches=sketch(words),
    )


def join_fingerprints(parts: Sequence[Fingerprints]) -> Fingerprints:
    """Put the fingerprints of parts of the records one behind the other."""
    starts = np.cumsum([0, *(len(part.ids) for part in parts)])
    rows = [
        part.key_rows + np.int32(start)
        for part, start in zip(parts, starts[:-1], strict=True)
    ]
    return Fingerprints(
        ids=tuple(name for part in parts for name in part.ids),
        keys=np.concatenate([part.keys for part in parts]),
        key_rows=np.concatenate(rows),
        exact=np.concatenate([part.exact for part in parts]),
        sketches=Sketches(
            np.concatenate([part.sketches.trigrams for part in parts]),
            np.concatenate([part.sketches.minima for part in parts]),
        ),
    )


def group_ids(records: Sequence[Record]) -> NDArray[np.int64]:
    """Give each record the number of its paper, versions and near-copies alike.

    Two records are one paper when they share an identity key (arXiv id, DOI,
    title; see `tagger.records.identity_keys`), have the same words, or share
    many word trigrams (Jaccard similarity of 0.25 and more, estimated by
    MinHash).

    Parameters
    ----------
    records : sequence of Record
        Any order.

    Returns
    -------
    groups : ndarray of shape (n_records,)
        From 0, numbered by first appearance.

    Examples
    --------
    >>> names = ("2401.00001v1", "2401.00009", "2401.00001v2")
    >>> group_ids([Record(id=name) for name in names])
    array([0, 1, 0])
    """
    return groups_of(fingerprints(records))


def groups_of(prints: Fingerprints) -> NDArray[np.int64]:
    """Give each record its group; see `group_ids`."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(prints.ids)
    # Records and keys are the nodes: records that share a key are connected.
    distinct, key = np.unique(prints.keys, return_inverse=True)
    near = [(a, b) for a, b, _ in near_pairs(prints.sketches, prints.sketches)]
    pairs = np.array(near, dtype=np.int64).reshape(-1, 2)
    one = np.concatenate([prints.key_rows, pairs[:, 0]])
    other = np.concatenate([n + key, pairs[:, 1]])
    size = n + len(distinct)
    graph = coo_array((np.ones(len(one)), (one, other)), shape=(size, size))
    _, part = connected_components(graph, directed=False)
    _, first, group = np.unique(part[:n], return_index=True, return_inverse=True)
    return first.argsort().argsort()[group].astype(np.int64)


@dataclass(frozen=True, slots=True)
class Overlap:
    """A test record that the model was trained on.

    Parameters
    ----------
    row : int
        Row of the test record.
    id, trained_id : str
        Id of the test record, and of the training record it repeats.
    kind : {"exact", "same paper", "near-duplicate"}
        Same words; another version of the paper; most words the same.
    similarity : float
        Share of word trigrams in common, in [0, 1], estimated.
    """

    row: int
    id: str
    trained_id: str
    kind: Kind
    similarity: float


def find_overlap(
    test_records: Sequence[Record], trained: Fingerprints
) -> tuple[Overlap, ...]:
    """Find the test records that a model was trained on, in any version.

    Parameters
    ----------
    test_records : sequence of Record
        The records to be tested on.
    trained : Fingerprints
        Of the training records.

    Returns
    -------
    overlaps : tuple of Overlap
        At most one a test record (the strongest kind), by row.

    Examples
    --------
    >>> trained = fingerprints([Record(id="2401.00001v1", title="On Tags")])
    >>> find_overlap([Record(id="x", title="On tags")], trained)[0].kind
    'exact'
    """
    prints = fingerprints(test_records)
    found: dict[int, Overlap] = {}

    def note(row: int, other: int, kind: Kind, alike: float) -> None:
        name = prints.ids[row], trained.ids[other]
        found.setdefault(row, Overlap(row, *name, kind, alike))

    at: dict[tuple[int, bool], int] = {}
    known = (trained.keys, trained.exact, trained.key_rows)
    for key, whole, row in zip(*(array.tolist() for array in known), strict=True):
        at.setdefault((key, whole), row)
    for exact in (True, False):
        for index in np.flatnonzero(prints.exact == exact).tolist():
            other = at.get((int(prints.keys[index]), exact))
            if other is None:
                continue
            row = int(prints.key_rows[index])
            minima = prints.sketches.minima[[row]], trained.sketches.minima[[other]]
            alike = 1.0 if exact else float(similarity(*minima)[0])
            note(row, other, "exact" if exact else "same paper", alike)
    for row, other, alike in near_pairs(prints.sketches, trained.sketches):
        note(row, other, "near-duplicate", alike)
    return tuple(found[row] for row in sorted(found))


def _words(record: Record) -> list[str]:
    """Words as fingerprints see them: fixed for ever, unlike our tokens."""
    text = unicodedata.normalize("NFKC", f"{record.title} {record.abstract}")
    return _WORD.findall(text.casefold())


def _hash_text(text: str) -> int:
    """Hash a text to 64 bits, the same on every machine."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
