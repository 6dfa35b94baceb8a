"""What every format speaks: entries, the way to make them, and the protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    NamedTuple,
    Protocol,
    runtime_checkable,
)

from tagger.errors import RecordError
from tagger.fields import DEFAULT_NAMES, NameTable, plain_name
from tagger.formats.seen_names import SeenNames
from tagger.formats.sources import Head, Source
from tagger.records import Record, Tag, make_record

if TYPE_CHECKING:
    from tagger.formats.history import History

__all__ = [
    "Door",
    "Entry",
    "Extensible",
    "Format",
    "KeepsTags",
    "RawText",
    "Tagged",
]

_FIELDS_NAMED = 20


# Not frozen: a frozen one takes four times as long to make.
@dataclass(slots=True, kw_only=True)
class Entry:
    """One record of a file, usable or not, in its place.

    Parameters
    ----------
    id : str
        Id of the record; ``"file:line"`` for one that cannot be used.
    record : Record or None
        None if the entry cannot be used; `problem` then says why.
    raw : object
        What the format needs to give the entry back as it came.
    line : int
        Line or row where it starts, from 1.
    problem : str or None
        Whole sentence with file and line.
    reason : str or None
        The same in a few words, to count by.
    """

    id: str
    record: Record | None
    raw: Any
    line: int
    problem: str | None = None
    reason: str | None = None


Tagged = tuple[Entry, Sequence[Tag] | None]
"""An entry with its tags; None leaves the entry as it came."""


class RawText(NamedTuple):
    """The text of one entry, between what stands before it and its line end."""

    before: str
    text: str
    after: str


class Door:
    """Makes the entries of one file and counts what had to be noted.

    Parameters
    ----------
    source : str
        Name of the file.
    names : NameTable
        Which name means which field.
    asked : mapping of str to str, optional
        Plain names that the user gave, to what he wrote: a name that no record
        has may be a slip.
    """

    def __init__(
        self,
        source: str,
        names: NameTable = DEFAULT_NAMES,
        asked: Mapping[str, str] | None = None,
    ) -> None:
        self.source = source
        self.names = names
        self._asked = dict(asked or {})
        self._some_fields: dict[str, None] = {}
        self.remarks: list[str] = []
        self.kinds: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._ids = SeenNames()
        self._repeats: dict[str, int] = {}

    def entry(self, fields: Mapping[str, Any], *, raw: Any, line: int) -> Entry:
        """Return the entry of one record; an unusable one with its problem."""
        if self._asked:
            self._look_for_asked(fields)
        try:
            record = make_record(
                fields,
                source=self.source,
                line=line,
                mapping=self.names,
                notes=self._counts,
            )
        except RecordError as error:
            return self.bad("field missing or of the wrong type", str(error), raw, line)
        record = self._with_own_id(record)
        return Entry(id=record.id, record=record, raw=raw, line=line)

    def bad(self, reason: str, problem: str, raw: Any, line: int) -> Entry:
        """Return an entry that cannot be used.

        A `problem` that does not say where gets the file and the line in front.
        """
        where = f"{self.source}:{line}"
        if not problem.startswith(where):
            problem = f"{where}: {problem}"
        id = self._own_id(where)
        return Entry(
            id=id, record=None, raw=raw, line=line, problem=problem, reason=reason
        )

    def holds_labels(self, name: str) -> bool:
        """Tell whether the user reads labels from the field `name`."""
        return self.names.get(plain_name(name), ("", 0))[0] == "themes"

    def count(self, kind: str, by: int = 1) -> None:
        """Count records; `kind` completes the sentence "3 records ..."."""
        self._counts[kind] += by

    def noted(self, kind: str) -> int:
        """Return how many records of a kind were counted."""
        return self._counts[kind]

    def notes(self) -> list[str]:
        """Return a sentence for each kind of thing noted."""
        counted = [
            f"{n:,} {'record' if n == 1 else 'records'} {kind}."
            for kind, n in sorted(self._counts.items())
        ]
        held = ", ".join(map(repr, self._some_fields))
        slips = [
            f"No record of {self.source} has the field that --map {asked} names; "
            f"its fields are {held}."
            for asked in self._asked.values()
            if held
        ]
        return [*slips, *self.remarks, *counted]

    def _look_for_asked(self, fields: Mapping[str, Any]) -> None:
        """Strike the names off that a record has."""
        for name in fields:
            self._asked.pop(plain_name(name), None)
            if len(self._some_fields) < _FIELDS_NAMED:
                self._some_fields[name] = None

    def _with_own_id(self, record: Record) -> Record:
        """Return the record with an id that no earlier record has.

        The second "a" becomes "a#2": an output line then names one record.
        """
        name = self._own_id(record.id)
        if name == record.id:
            return record
        if record.id != f"{self.source}:{record.line}":
            # Not one made here, as for records that share a line.
            self.count("with an id used before in the file, numbered (#2, #3, ...)")
        return replace(record, id=name)

    def _own_id(self, name: str) -> str:
        """Return a name, or the first with a number behind it that is not taken."""
        if self._ids.add(name):
            return name
        number = self._repeats.get(name, 1) + 1
        while not self._ids.add(numbered := f"{name}#{number}"):
            number += 1
        self._repeats[name] = number
        return numbered


class Format(Protocol):
    """One file format; an instance reads one file.

    A new format is a module with such a class, and a line in the table of
    `tagger.formats.registry`.
    """

    def __init__(self, source: Source) -> None:
        """Bind the format to the file that it reads."""

    @staticmethod
    def recognise(head: Head) -> bool:
        """Tell from the first 64 KiB whether the file has this format."""

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield the entries in file order."""


@runtime_checkable
class KeepsTags(Format, Protocol):
    """A format with a place for tags; all others are written as JSON Lines."""

    def history(self, entry: Entry) -> History:
        """Return the tags of an entry as the file holds them."""

    def write(self, pairs: Iterable[Tagged], out: BinaryIO, *, tagged: bool) -> None:
        """Write entries with their tags; `tagged` says whether any has tags."""


@runtime_checkable
class Extensible(KeepsTags, Protocol):
    """A format whose files can take entries of other files."""

    def adopted(self, entry: Entry, other: Any, last: Entry) -> Any:
        """Return the `raw` of an entry of another file, to be put behind `last`.

        Parameters
        ----------
        entry : Entry
            Of a file of a format like this one.
        other : Format
            That read `entry`.
        last : Entry
            The last of this file, or one put there before.

        Raises
        ------
        RecordError
            If this file has no place for what the entry holds.
        """
