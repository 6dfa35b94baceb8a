"""Time and memory of training 26 themes on many labelled records.

    python experiments/scale/run.py --data ../shared/data

Labels are made by the themes' keywords: they serve to measure time and memory,
and say nothing of quality.
"""

import argparse
import hashlib
import json
import os
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from joblib.externals.loky import get_reusable_executor

from tagger.background import shipped_background
from tagger.features import read_events
from tagger.keywords import keyword_scores, phrase_table
from tagger.records import Record
from tagger.theme_file import read_themes
from tagger.training import train_held_out

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BATCH = 2048


def read_abstracts(files, n):
    """Read the first `n` abstracts, each paper once."""
    found = {}
    for file in files:
        for row in pq.read_table(file, columns=["id", "title", "abstract"]).to_pylist():
            title, abstract = row["title"] or "", row["abstract"] or ""
            found.setdefault(
                row["id"], Record(id=row["id"], title=title, abstract=abstract)
            )
            if len(found) == n:
                return list(found.values())
    sys.exit(f"There are {len(found)} abstracts; expected {n}.")


def label_by_keywords(records, themes):
    """Give every record the themes of which it has a keyword."""
    table, labelled = phrase_table(themes), []
    for start in range(0, len(records), BATCH):
        batch = records[start : start + BATCH]
        scores = keyword_scores(read_events(batch, table.prefixes), table, len(batch))
        for record, row in zip(batch, scores >= 1.0, strict=True):
            given = tuple(themes[k].id for k in np.flatnonzero(row))
            labelled.append(replace(record, themes=given))
    return labelled


def peak_mib(who):
    """Give the largest resident memory so far, in MiB."""
    return round(resource.getrusage(who).ru_maxrss / 1024)


def main():
    """Train, and write and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    files = sorted((args.data / "abstracts").glob("part-*.parquet"))
    if not files:
        sys.exit(f"There are no abstracts in {args.data}; name the folder by --data.")
    themes = read_themes(ROOT / "seeds" / "themes.toml")
    records = label_by_keywords(read_abstracts(files, args.records), themes)
    shipped_background()
    before = peak_mib(resource.RUSAGE_SELF)
    wall, cpu = time.perf_counter(), time.process_time()
    model, held_out = train_held_out(records, themes, jobs=args.jobs)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    # The processes that took fingerprints are counted when they have ended.
    get_reusable_executor().shutdown(wait=True)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    of_children = children.ru_utime + children.ru_stime
    report = {
        "n_records": len(records),
        "n_themes": len(themes),
        "n_labels": sum(len(record.themes) for record in records),
        "n_ngrams": len(model.vocabulary),
        "jobs": args.jobs,
        "load_average": round(os.getloadavg()[0], 1),
        "wall_seconds": round(wall, 1),
        "processor_seconds": round(cpu + of_children, 1),
        "processor_seconds_over_jobs": round((cpu + of_children) / args.jobs, 1),
        "peak_mib": {
            "before": before,
            "training": peak_mib(resource.RUSAGE_SELF),
            "a_process_beside": round(children.ru_maxrss / 1024),
        },
        "micro_f1_of_keyword_labels": round(
            held_out.evaluate().overall["micro_f1"].value, 4
        ),
        "data": {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files
        },
    }
    text = json.dumps(report, indent=1)
    print(text)
    if args.output:
        args.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
