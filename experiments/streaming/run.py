"""Tag files far larger than memory with the shipped model: how fast, in what memory?

A JSON Lines file of 1,000,000 records and a Parquet file of 2 GB are made from
the abstracts in ../shared/data and tagged by `tagger tag`, each in a process of
its own. Beside that the kernel alone is timed: `Tagger.tag` on records that are
in memory already, in turn with `tagger tag` on the same records as a file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
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


def make_parquet(data: Path, path: Path, size: int) -> int:
    """Write records as Parquet until the file has so many bytes; give how many."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    coming = rows(data)
    writer, records = None, 0
    while path.stat().st_size < size if path.exists() else True:
        table = pa.Table.from_pylist([next(coming) for _ in range(20_000)])
        if writer is None:
            writer = pq.ParquetWriter(path, table.schema, compression="snappy")
        writer.write_table(table.cast(writer.schema))
        records += len(table)
    writer.close()
    return records


def tag(source: Path, target: Path) -> dict[str, Any]:
    """Tag a file as the command line does, in this process; give the figures."""
    from tagger.cli import main as tagger

    began, spent = time.perf_counter(), time.process_time()
    words = ["tag", str(source), "-o", str(target), "-q", "--date", "2026-01-31"]
    tagger(words, standalone_mode=False)
    return {
        "seconds": round(time.perf_counter() - began, 1),
        "processor_seconds": round(time.process_time() - spent, 1),
        "peak_memory_mb": peak_memory(),
    }


def kernel_alone(source: Path) -> dict[str, Any]:
    """Tag the records of a file that are in memory already; give the figures."""
    import tagger

    model = tagger.load()
    records = tagger.read_records(str(source))
    model.tag(records[:1000])
    began, spent = time.perf_counter(), time.process_time()
    for at in range(0, len(records), 10_000):
        model.tag(records[at : at + 10_000])
    return {
        "records": len(records),
        "seconds": round(time.perf_counter() - began, 1),
        "processor_seconds": round(time.process_time() - spent, 1),
    }


def in_turn(data: Path, folder: Path, records: int, rounds: int) -> dict[str, Any]:
    """Time the kernel alone and `tagger tag`, in turn, on the same records."""
    source, target = folder / "turn.jsonl", folder / "tagged-turn.jsonl"
    make_json_lines(data, source, records)
    found = []
    for _ in range(rounds):
        alone = child("--kernel", source)
        whole = child("--tag", source, target)
        target.unlink()
        found.append({"kernel": alone, "tagger tag": whole})
        print(found[-1], file=sys.stderr)
    source.unlink()

    def ratio(name: str) -> float:
        each = [turn["tagger tag"][name] / turn["kernel"][name] for turn in found]
        return round(statistics.median(each), 2)

    return {
        "records": records,
        "rounds": found,
        "tagger tag / kernel, by the clock": ratio("seconds"),
        "tagger tag / kernel, by processor time": ratio("processor_seconds"),
        "load_average": [round(load, 1) for load in os.getloadavg()],
    }


def child(*words: Any) -> Any:
    """Run a part of this script in a process of its own, and give what it prints."""
    command = [sys.executable, __file__, *map(str, words)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


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
    parser.add_argument("--only", choices=["turn", "million.jsonl", "large.parquet"])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--bytes", type=int, default=2_000_000_000)
    parser.add_argument("--turn", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tag", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--kernel", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("-o", "--out", type=Path, default=None)
    args = parser.parse_args()
    if args.tag or args.kernel:
        print(json.dumps(tag(*args.tag) if args.tag else kernel_alone(args.kernel)))
        return
    report = {
        "command": "python experiments/streaming/run.py",
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, shared",
    }
    if args.out and args.out.exists():
        report = json.loads(args.out.read_text())
    with tempfile.TemporaryDirectory() as folder:
        if args.only in (None, "turn"):
            report["in_turn"] = in_turn(args.data, Path(folder), args.turn, args.rounds)
            write(report, args.out)
        for name in ("million.jsonl", "large.parquet"):
            if args.only not in (None, name):
                continue
            source = Path(folder, name)
            if name.endswith(".jsonl"):
                make_json_lines(args.data, source, args.records)
                records = args.records
            else:
                records = make_parquet(args.data, source, args.bytes)
            target = source.with_name(f"tagged-{name}")
            found = child("--tag", source, target)
            report[name] = {
                "bytes_in": source.stat().st_size,
                "bytes_out": target.stat().st_size,
                "records": records,
                **found,
                "records_a_second": round(records / found["seconds"]),
                "load_average": [round(load, 1) for load in os.getloadavg()],
            }
            print(report[name], file=sys.stderr)
            write(report, args.out)
            source.unlink()
            target.unlink()


def write(report: dict[str, Any], out: Path | None) -> None:
    """Write what is known so far."""
    text = json.dumps(report, indent=1)
    if out:
        out.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
