"""What all of arXiv and OpenAlex would take: time and cost from measured rates.

The rates are those of experiments/streaming/result.json (processor time a record
of `tagger tag`, reading and writing included). What a cluster adds is measured
here: the same parts tagged by `tagger tag` alone and by two Dask workers on this
machine, by processor time, since the machine is shared.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
STREAMING = ROOT / "experiments" / "streaming"
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(STREAMING))

CORPORA = {"arXiv": 2_700_000, "OpenAlex": 250_000_000}
CORES = (1, 16, 64, 256)
# What rented cores cost: an assumption, to be set with --price.
PRICE = 0.05
# Bytes a second that a disk or a network gives to all workers together: likewise.
MOVED = 500e6


def spent(*words: Any) -> tuple[float, float]:
    """Run `tagger tag`; give wall and processor seconds, those of workers too."""
    import subprocess
    import time

    began, before = time.perf_counter(), os.times()
    program = "from tagger.cli import main; main()"
    command = [sys.executable, "-c", program, "tag", "-q", *map(str, words)]
    subprocess.run(command, check=True)
    after = os.times()
    processor = sum(getattr(after, n) - getattr(before, n) for n in _CHILDREN)
    return round(time.perf_counter() - began, 1), round(processor, 1)


_CHILDREN = ("children_user", "children_system")


def measured(data: Path, n_parts: int, records: int) -> dict[str, Any]:
    """Tag parts without and with a cluster; give what each took."""
    import run as streaming

    with tempfile.TemporaryDirectory() as folder:
        parts, plain, spread = (Path(folder, n) for n in ("in", "plain", "spread"))
        parts.mkdir()
        coming = streaming.rows(data)
        for number in range(n_parts):
            with (parts / f"part-{number}.jsonl").open("w", encoding="utf-8") as out:
                for _ in range(records):
                    out.write(json.dumps(next(coming), ensure_ascii=False) + "\n")
        day = ("--date", "2026-01-31")
        alone = spent(parts, "-o", plain, *day)
        local = ("--cluster", "local", "--jobs", 2)
        shared = spent(parts, "-o", spread, *day, *local)
        again = spent(parts, "-o", spread, *day, *local)
        same = all(
            path.read_bytes() == (spread / path.name).read_bytes()
            for path in plain.iterdir()
        )
    return {
        "parts": n_parts,
        "records": n_parts * records,
        "alone, wall and processor seconds": alone,
        "two workers, wall and processor seconds": shared,
        "run again, wall and processor seconds": again,
        "same bytes": same,
        "load_average": [round(load, 1) for load in os.getloadavg()],
    }


def worked_out(streaming: dict[str, Any], price: float) -> dict[str, Any]:
    """Give core hours, hours and cost for each corpus and format."""
    found: dict[str, Any] = {}
    for corpus, records in CORPORA.items():
        for name in ("million.jsonl", "large.parquet"):
            if name not in streaming:
                continue
            rate = streaming[name]
            share = records / rate["records"]
            hours = rate["processor_seconds"] * share / 3600
            found[f"{corpus} as {Path(name).suffix[1:]}"] = {
                "records": records,
                "core_hours": round(hours, 2),
                "minutes_by_cores": {str(n): round(60 * hours / n, 1) for n in CORES},
                "cost": round(hours * price, 3),
                "gigabytes_in": round(rate["bytes_in"] * share / 1e9, 1),
                "gigabytes_out": round(rate["bytes_out"] * share / 1e9, 1),
                "minutes_to_read_and_write": round(
                    (rate["bytes_in"] + rate["bytes_out"]) * share / MOVED / 60, 1
                ),
            }
    return found


def main() -> None:
    """Measure, work out, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--rates", type=Path, default=STREAMING / "result.json")
    parser.add_argument("--parts", type=int, default=6)
    parser.add_argument("--records", type=int, default=10_000, help="of each part")
    parser.add_argument("--price", type=float, default=PRICE, help="of a core hour")
    parser.add_argument("-o", "--out", type=Path, required=True)
    args = parser.parse_args()
    rates = json.loads(args.rates.read_text("utf-8"))
    report = {
        "command": "python experiments/cluster/run.py -o result.json",
        "python": platform.python_version(),
        "distributed": version("distributed"),
        "price_of_a_core_hour": args.price,
        "bytes_moved_a_second": MOVED,
        "worked_out": worked_out(rates, args.price),
        "measured": measured(args.data, args.parts, args.records),
    }
    args.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
