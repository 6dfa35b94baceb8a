"""Parquet tables, read and written a batch at a time with pyarrow."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, BinaryIO, ClassVar, NamedTuple

from tagger.errors import RecordError
from tagger.formats.columns import check_columns, tag_cells, tag_columns
from tagger.formats.entries import Door, Entry, Tagged
from tagger.formats.sources import Head, Source

__all__ = ["Parquet"]

_BATCH_ROWS = 1_000
# Written row groups hold this much text: large enough to pack well, small
# enough to hold in memory.
_GROUP_BYTES = 32 << 20


class _Row(NamedTuple):
    """A row by its batch and its place in it: exact types, no copy."""

    batch: Any
    position: int


class Parquet:
    """Records in the rows of a Parquet file."""

    name: ClassVar[str] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._schema: Any = None

    @staticmethod
    def recognise(head: Head) -> bool:
        """Tell by the first four bytes."""
        return head.data.startswith(b"PAR1")

    def read(self, door: Door) -> Iterator[Entry]:
        """Yield an entry a row; `line` is the number of the row, from 1."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        # The table of contents stands at the end, so a stream is read whole.
        held = self._source.path or io.BytesIO(self._source.stream.read())
        try:
            file = pq.ParquetFile(held)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(door, error) from error
        with file:
            self._schema = file.schema_arrow
            check_columns(door, self._schema.names)
            row = 0
            batches = file.iter_batches(batch_size=_BATCH_ROWS)
            while True:
                try:
                    batch = next(batches, None)
                    rows = batch.to_pylist() if batch is not None else []
                except (pa.ArrowException, OSError, ValueError) as error:
                    raise self._damaged(door, error) from error
                if batch is None:
                    return
                for position, fields in enumerate(rows):
                    row += 1
                    yield door.entry(fields, raw=_Row(batch, position), line=row)

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

    @staticmethod
    def _damaged(door: Door, error: Exception) -> RecordError:
        """Return the sentence for a file that pyarrow cannot read."""
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else "no reason"
        return RecordError(
            f"{door.source}: the Parquet file is damaged or cut off ({reason})."
        )


def _table(pairs: Sequence[Tagged], schema: Any, names: Sequence[str]) -> Any:
    """Return the rows of one batch as a table, with the columns for tags."""
    import pyarrow as pa

    batch = pairs[0][0].raw.batch
    positions = [entry.raw.position for entry, _ in pairs]
    rows = pa.table(batch)
    if positions != list(range(batch.num_rows)):
        rows = rows.take(positions)
    columns = {n: rows[n] for n in schema.names if n in rows.column_names}
    for place, name in enumerate(names):
        before = columns[name].to_pylist() if name in columns else [None] * len(pairs)
        cells = [
            old if tags is None else tag_cells(tags)[place]
            for old, (_, tags) in zip(before, pairs, strict=True)
        ]
        columns[name] = pa.array(cells, pa.string())
    return pa.table([columns[name] for name in schema.names], schema=schema)
