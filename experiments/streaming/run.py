"""Tag files far larger than memory, and see how much memory that takes.

A JSON Lines file of 1,000,000 records and a Parquet file of 2 GB are made from
the abstracts in ../shared/data, then read, given the same two tags a record,
and written back, each in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def rows(data: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of the abstracts again and again, each with its own id."""
    import pyarrow.parquet as pq

    paths = sorted((data / "abstracts").glob("part-*.parquet"))
    if not paths:
        sys.exit(
            f"{data} holds no abstracts/part-*.parquet; give the folder that does."
        )
    turn = 0
    while True:
        for path in paths:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=2_000):
                    for row in batch.to_pylist():
                        yield row | {"id": f"{row['id']}/{turn}"}
        turn += 1


def make_json_lines(data: Path, path: Path, records: int) -> None:
    """Write so many records as JSON Lines."""
    coming = rows(data)
    with path.open("w", encoding="utf-8") as out:
        for _ in range(records):
            out.write(json.dumps(next(coming), ensure_ascii=False) + "\n")


def make_parquet(data: Path, path: Path, size: int) -> None:
    """Write records as Parquet until the file has so many bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    coming = rows(data)
    writer = None
    while path.stat().st_size < size if path.exists() else True:
        table = pa.Table.from_pylist([next(coming) for _ in range(20_000)])
        if writer is None:
            writer = pq.ParquetWriter(path, table.schema, compression="snappy")
        writer.write_table(table.cast(writer.schema))
    writer.close()


def tag(source: Path, target: Path) -> None:
    """Read a file and write it back with two tags a record; print the figures."""
    from tagger.formats import read_entries, write_entries
    from tagger.records import Tag

    tags = [Tag("moe", 0.91, "model", "m-1", "2026-01-31"), Tag("optimizers", 0.75)]
    began = time.perf_counter()
    with read_entries(source) as reading:
        write_entries(((entry, tags) for entry in reading), target, reading=reading)
    seconds = time.perf_counter() - began
    print(
        json.dumps(
            {
                "file": source.name,
                "bytes_in": source.stat().st_size,
                "bytes_out": target.stat().st_size,
                "records": reading.n_read,
                "used": reading.n_used,
                "seconds": round(seconds, 1),
                "records_a_second": round(reading.n_read / seconds),
                "peak_memory_mb": peak_memory(),
            }
        )
    )


def peak_memory() -> int:
    """Return the most memory this process held, in MB.

    Not `ru_maxrss`: on Linux that starts with the memory of the parent.
    """
    status = Path("/proc/self/status").read_text()
    line = next(x for x in status.splitlines() if x.startswith("VmHWM:"))
    return int(line.split()[1]) // 1024


def main() -> None:
    """Make the files, tag them, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--only", choices=["million.jsonl", "large.parquet"])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--bytes", type=int, default=2_000_000_000)
    parser.add_argument("--tag", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("-o", "--out", type=Path, default=None)
    args = parser.parse_args()
    if args.tag:
        tag(*args.tag)
        return
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("million.jsonl", "large.parquet"):
            if args.only not in (None, name):
                continue
            source = Path(folder, name)
            if name.endswith(".jsonl"):
                make_json_lines(args.data, source, args.records)
            else:
                make_parquet(args.data, source, args.bytes)
            target = source.with_name(f"tagged-{name}")
            command = [sys.executable, __file__, "--tag", str(source), str(target)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            results.append(json.loads(done.stdout))
            print(results[-1], file=sys.stderr)
            source.unlink()
            target.unlink()
    report = {
        "command": "python experiments/streaming/run.py",
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, shared with other work",
        "results": results,
    }
    text = json.dumps(report, indent=1)
    if args.out:
        args.out.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
