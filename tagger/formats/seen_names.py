"""Which ids of a file were seen, in few bytes an id."""

from __future__ import annotations

from array import array

__all__ = ["SeenNames"]

_FULL = 0.66


class SeenNames:
    """A set of names of which only hashes are kept: 12 to 25 bytes a name.

    A set of Python's takes five times that, too much for a file of millions.
    Two names of one hash are taken for the same: among a million names that
    happens once in thirty million files.

    Examples
    --------
    >>> seen = SeenNames()
    >>> seen.add("a"), seen.add("b"), seen.add("a")
    (True, True, False)
    """

    def __init__(self) -> None:
        self._table = _table(1 << 10)
        self._count = 0

    def __contains__(self, name: str) -> bool:
        return _place(self._table, hash(name) or 1)[1]

    def add(self, name: str) -> bool:
        """Remember a name and tell whether it is new."""
        # Zero marks a free place.
        key = hash(name) or 1
        # What `_place` does; a call for every record takes as long again.
        table = self._table
        mask = len(table) - 1
        at = key & mask
        while held := table[at]:
            if held == key:
                return False
            at = (at + 1) & mask
        table[at] = key
        self._count += 1
        if self._count > _FULL * len(self._table):
            old, self._table = self._table, _table(2 * len(self._table))
            for kept in old:
                if kept:
                    self._table[_place(self._table, kept)[0]] = kept
        return True


def _table(size: int) -> array[int]:
    """Return a table of free places; `size` is a power of two."""
    return array("q", [0]) * size


def _place(table: array[int], key: int) -> tuple[int, bool]:
    """Return the place of a key, or a free one, and whether the key is there."""
    mask = len(table) - 1
    at = key & mask
    while held := table[at]:
        if held == key:
            return at, True
        at = (at + 1) & mask
    return at, False
