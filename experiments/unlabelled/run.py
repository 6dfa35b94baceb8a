"""What do records without labels teach, and how many are enough?

    python experiments/unlabelled/run.py --shared ../shared

No label is learned from: the theme file alone, with 0 to 60,000 abstracts that
are not in the gold, tested on all of the open gold.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tagger.evaluation import evaluate
from tagger.formats import read_records
from tagger.labels import label_matrix
from tagger.records import Record
from tagger.theme_file import read_themes
from tagger.training import train

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SIZES = (0, 300, 1_000, 5_000, 20_000, 60_000)


def draw(data, labelled, n, seed):
    """Draw abstracts that are none of the labelled records."""
    known = {key for r in labelled for key in (r.id, r.title.casefold())}
    files = sorted((data / "abstracts").glob("part-*.parquet"))
    columns = ["id", "title", "abstract"]
    table = pa.concat_tables([pq.read_table(file, columns=columns) for file in files])
    drawn = []
    for at in np.random.default_rng(seed).permutation(table.num_rows).tolist():
        row = table.slice(at, 1).to_pylist()[0]
        title = row["title"] or ""
        if not {row["id"], title.casefold()} & known:
            drawn.append(Record(id=row["id"], title=title, abstract=row["abstract"]))
        if len(drawn) == n:
            return drawn
    sys.exit(f"There are fewer than {n:,} abstracts in {data}.")


def main():
    """Train and test with more and more records; write result.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--result", type=Path, default=HERE / "result.json")
    args = parser.parse_args()
    gold_file = args.shared / "gold" / "open.jsonl"
    if not gold_file.is_file():
        sys.exit(f"There is no {gold_file}; name the folder by --shared.")
    gold = read_records(gold_file)
    themes = read_themes(ROOT / "seeds" / "themes.toml")
    ids = [theme.id for theme in themes]
    y = label_matrix(gold, ids)
    table = []
    for seed in range(args.seeds):
        pool = draw(args.shared / "data", gold, max(SIZES), seed)
        for size in SIZES:
            if size == 0 and seed:
                continue
            started = time.process_time()
            model = train([], themes, unlabelled=pool[:size])
            seconds = time.process_time() - started
            P, given = model.predict_proba(gold), model.predict(gold)
            figures = evaluate(y, P, given, ids).to_dict()["overall"]
            table.append(
                {
                    "unlabelled": size,
                    "seed": seed,
                    "micro_f1": figures["micro_f1"],
                    "macro_f1": figures["macro_f1"],
                    "cpu_seconds": round(seconds, 1),
                }
            )
            print(size, seed, figures["micro_f1"], figures["macro_f1"], flush=True)
    result = {"tested_on": f"{len(gold)} records of the open gold", "table": table}
    args.result.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
