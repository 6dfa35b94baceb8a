"""Parquet tables, read and written a batch at a time with pyarrow."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

from tagger.errors import RecordError
from tagger.formats.columns import (
    history_of_cells,
    names_a_text,
    no_text,
    tag_cells,
    tag_columns,
)
from tagger.formats.entries import Door, Entry, Tagged
from tagger.formats.history import History
from tagger.formats.sources import Head, Source

__all__ = ["Parquet"]

_BATCH_ROWS = 250
# Written row groups hold this much text: large enough to pack well, small
# enough to hold in memory.
_GROUP_BYTES = 16 << 20
_BATCH_BYTES = 1 << 27
_BUFFER = 1 << 20


class _Row(NamedTuple):
    """A row by its batch and its place in it: exact types, no copy."""

    batch: Any
    position: int


class Parquet:
    """Records in the rows of a Parquet file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._schema: Any = None
        self.n_rows: int | None = None
        self._adopted: tuple[Any, Any] = (None, None)

    @staticmethod
    def recognise(head: Head) -> bool:
        """Tell by the first four bytes."""
        return head.data.startswith(b"PAR1")

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield an entry a row; `line` is the number of the row, from 1."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self.recognise(self._source.head):
            start = self._source.head.data[:8]
            raise RecordError(
                f"{door.source} starts with {start!r} and is no Parquet file; leave "
                "--format away, or rename it, to have its format recognised."
            )
        with self._seekable() as held:
            try:
                # A buffer: without one, whole columns of rows are held at once.
                file = pq.ParquetFile(held, pre_buffer=False, buffer_size=_BUFFER)
            except (pa.ArrowException, OSError, ValueError) as error:
                raise self._damaged(door, error) from error
            with file:
                self._schema = file.schema_arrow
                self.n_rows = file.metadata.num_rows
                yield from self._rows(file, door)

    def _rows(self, file: Any, door: Door) -> Iterator[Entry]:
        """Yield an entry a row of an open file."""
        import pyarrow as pa

        row = 0
        batches = file.iter_batches(batch_size=_BATCH_ROWS, use_threads=False)
        while True:
            try:
                batch = next(batches, None)
                _check_batch(batch, door.source, row)
                rows = batch.to_pylist() if batch is not None else []
            except RecordError:
                raise
            except (pa.ArrowException, OSError, ValueError) as error:
                raise self._damaged(door, error) from error
            if not row and not names_a_text(door, self._schema.names):
                first = list(rows[0].values()) if rows else []
                raise no_text(door, self._schema.names, first)
            if batch is None:
                return
            for position, fields in enumerate(rows):
                row += 1
                yield door.entry(fields, raw=_Row(batch, position), line=row)

    def history(self, entry: Entry) -> History:
        """Return the tags of a row as the file holds them."""
        batch, position = entry.raw
        held = [
            batch.column(name)[position].as_py() if name in batch.schema.names else None
            for name in tag_columns(batch.schema.names)
        ]
        return history_of_cells(_text(held[0]), _text(held[2]))

    def write(self, pairs: Iterable[Tagged], out: BinaryIO, *, tagged: bool) -> None:
        """Write the rows with their types; tags fill two more columns."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = self._schema
        names = tag_columns(schema.names)
        if tagged:
            for name in names:
                if name in schema.names:
                    schema = schema.remove(schema.get_field_index(name))
                schema = schema.append(pa.field(name, pa.string()))
        # The packing of the input is not asked for: pyarrow 26 ends the process
        # when it looks at the column statistics of a damaged file.
        with pq.ParquetWriter(out, schema, compression="snappy") as writer:
            held: list[Any] = []
            for _, group in groupby(pairs, key=lambda pair: id(pair[0].raw.batch)):
                held.append(_table(list(group), schema, names if tagged else ()))
                if sum(table.nbytes for table in held) > _GROUP_BYTES:
                    writer.write_table(pa.concat_tables(held))
                    held = []
            if held:
                writer.write_table(pa.concat_tables(held))

    def adopted(self, entry: Entry, other: Any, last: Entry) -> _Row:
        """Return the row with the columns and types of this table."""
        batch, position = entry.raw
        if batch is not self._adopted[0]:
            self._adopted = batch, self._fitted(batch, other)
        return _Row(self._adopted[1], position)

    def _fitted(self, batch: Any, other: Any) -> Any:
        """Return rows of another table as rows of this one."""
        import pyarrow as pa

        names = set(self._schema.names) | set(tag_columns(self._schema.names))
        unknown = [name for name in batch.schema.names if name not in names]
        if unknown:
            raise RecordError(
                f"{self._source.name} has no column {unknown[0]!r}, which "
                f"{other._source.name} has; its columns are {self._schema.names}."
            )
        try:
            columns = [
                batch.column(field.name).cast(field.type)
                if field.name in batch.schema.names
                else pa.nulls(batch.num_rows, field.type)
                for field in self._schema
            ]
        except (pa.ArrowException, ValueError) as error:
            raise RecordError(
                f"The columns of {other._source.name} do not have the types of those "
                f"of {self._source.name}: {error}."
            ) from error
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    @contextmanager
    def _seekable(self) -> Iterator[Path | IO[bytes]]:
        """Give the path; for a stream, a temporary file with the same bytes.

        The table of contents of a Parquet file stands at its end.
        """
        if self._source.path:
            yield self._source.path
            return
        with tempfile.TemporaryFile() as held:
            shutil.copyfileobj(self._source.stream, held, 1 << 20)
            held.seek(0)
            yield held

    @staticmethod
    def _damaged(door: Door, error: Exception) -> RecordError:
        """Return the sentence for a file that pyarrow cannot read."""
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else "no reason"
        return RecordError(
            f"{door.source}: the Parquet file is damaged or cut off ({reason})."
        )


def _check_batch(batch: Any, source: str, row: int) -> None:
    """Refuse rows that a few bytes of the file blow up to more than memory."""
    if batch is not None and batch.nbytes > _BATCH_BYTES:
        raise RecordError(
            f"{source}: the {batch.num_rows:,} rows from row {row + 1:,} hold "
            f"{batch.nbytes:,} bytes; those are no paper records, so the file is "
            "refused."
        )


def _text(value: Any) -> str | None:
    """Return the text of a cell, None if it holds something else."""
    return value if isinstance(value, str) else None


def _table(pairs: Sequence[Tagged], schema: Any, names: Sequence[str]) -> Any:
    """Return the rows of one batch as a table, with the columns for tags."""
    import pyarrow as pa

    batch = pairs[0][0].raw.batch
    positions = [entry.raw.position for entry, _ in pairs]
    rows = pa.table(batch)
    if positions != list(range(batch.num_rows)):
        rows = rows.take(positions)
    columns = {n: rows[n] for n in schema.names if n in rows.column_names}
    if names:
        before = [
            columns[n].to_pylist() if n in columns else [None] * len(pairs)
            for n in names
        ]
        cells = [
            old
            if tags is None or entry.record is None
            else tag_cells(
                history_of_cells(_text(old[0]), _text(old[2])), tags, entry.id
            )
            for old, (entry, tags) in zip(zip(*before, strict=True), pairs, strict=True)
        ]
        for name, column in zip(names, zip(*cells, strict=True), strict=True):
            columns[name] = pa.array(column, pa.string())
    return pa.table([columns[name] for name in schema.names], schema=schema)
