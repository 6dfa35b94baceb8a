"""What are curated reading lists worth, as a noisy source of labels?

    python experiments/lists/run.py --shared ../shared

Two questions: how often the heading of a list is what a reader of the paper
would say, and what the lists add to the theme file, with and without other
abstracts, where no label is learned from.
"""

import argparse
import json
import runpy
import sys
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq

from tagger.evaluation import evaluate
from tagger.formats import read_records
from tagger.labels import label_matrix
from tagger.records import Record
from tagger.theme_file import read_themes
from tagger.training import train

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
UNLABELLED = 60_000
# What the lists' own words say in ours. Only the parts of the list of long-context
# papers that are about training for length are taken for that.
THEMES = {
    "long-context": "long-context-training",
    "LLM inference/serving": "llm-serving",
    "distributed/parallel training": "distributed-training",
    "federated learning": "federated-learning",
    "MLIP": "interatomic-potentials",
    "mixture-of-experts": "mixture-of-experts",
    "ML compilers": "ml-compilers-kernels",
    "quantization/compression": "model-compression",
    "image super-resolution": "image-restoration",
    "optimizers": "optimizers",
    "combinatorial optimization (ML4CO)": "combinatorial-optimization",
    "medical image segmentation": "medical-imaging",
    "low-precision training": "fp8-fp4-precision",
    "remote sensing": "remote-sensing",
    "mixed-integer/optimization solvers": "mathematical-programming",
    "fault-tolerant/elastic training": "training-resilience",
    "graph processing/GNN systems": "graph-learning-systems",
    "quantum chemistry / neural quantum states": "quantum-chemistry",
}
ABOUT_LENGTH = ("Long-Context Training", "Position Encoding")
BY_PERSON, BY_CITATION, BY_PROGRAM = "a person", "citations", "a program"


def read_lists(data):
    """Give (record id, theme, who made the list) of every row of the lists."""
    file = data / "curated_lists.parquet"
    if not file.is_file():
        sys.exit(f"There is no {file}; name the folder by --shared.")
    rows = []
    for row in pq.read_table(file).to_pylist():
        theme = THEMES.get(row["theme"])
        if row["theme"] == "long-context" and not any(
            part in (row["section"] or "") for part in ABOUT_LENGTH
        ):
            theme = None
        if theme is None:
            continue
        source = row["label_source"]
        maker = BY_PROGRAM if source.startswith("LLM") else BY_PERSON
        rows.append((row["id"], theme, BY_CITATION if "citing" in source else maker))
    return rows


def rightness(rows, labelled):
    """Say how many headings readers of the papers agreed with, by maker and theme."""
    themes = {record.id: record for record in labelled}
    counts = defaultdict(lambda: [0, 0])
    for id_, theme, maker in rows:
        record = themes.get(id_)
        if record is None or theme in record.unsure:
            continue
        for key in ((maker, theme), (maker, "all")):
            counts[key][0] += theme in record.themes
            counts[key][1] += 1
    return [
        {"made_by": maker, "theme": theme, "read": n, "right": right}
        for (maker, theme), (right, n) in sorted(counts.items())
    ]


def listed_records(rows, data, gold):
    """Give the records of the lists that no program made, without those of the gold."""
    headings = defaultdict(set)
    for id_, theme, maker in rows:
        if maker != BY_PROGRAM:
            headings[id_].add(theme)
    known = {key for r in gold for key in (r.id, r.title.casefold())}
    records = []
    for file in sorted((data / "abstracts").glob("part-*.parquet")):
        table = pq.read_table(file, columns=["id", "title", "abstract"])
        for row in table.to_pylist():
            title = row["title"] or ""
            if {row["id"], title.casefold()} & known:
                continue
            if found := headings.pop(row["id"], None):
                text = {"title": title, "abstract": row["abstract"] or ""}
                records.append(
                    Record(id=row["id"], **text, themes=tuple(sorted(found)))
                )
    return records


def main():
    """Count, train and test; write result.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--result", type=Path, default=HERE / "result.json")
    args = parser.parse_args()
    data = args.shared / "data"
    rows = read_lists(data)
    gold = read_records(args.shared / "gold" / "open.jsonl")
    code = runpy.run_path(str(ROOT / "experiments" / "themes" / "build.py"))
    further = code["labelled_abstracts"](
        data, ROOT / "experiments" / "themes" / "labels.jsonl"
    )
    right = rightness(rows, [*gold, *further])
    for row in right:
        print(row)
    draw = runpy.run_path(str(ROOT / "experiments" / "unlabelled" / "run.py"))["draw"]
    themes = read_themes(ROOT / "seeds" / "themes.toml")
    ids = [theme.id for theme in themes]
    y = label_matrix(gold, ids)
    listed = listed_records(rows, data, gold)
    table = []
    for seed in range(args.seeds):
        for size in (0, UNLABELLED):
            if size == 0 and seed:
                continue
            pool = draw(data, gold, size, seed) if size else []
            for name, more in (
                ("no lists", {"unlabelled": pool}),
                ("their texts alone", {"unlabelled": [*pool, *listed]}),
                ("their headings too", {"unlabelled": pool, "listed": listed}),
            ):
                model = train([], themes, **more)
                P, given = model.predict_proba(gold), model.predict(gold)
                figures = evaluate(y, P, given, ids).to_dict()["overall"]
                row = {
                    "unlabelled": size,
                    "seed": seed,
                    "lists": name,
                    "micro_f1": figures["micro_f1"],
                    "macro_f1": figures["macro_f1"],
                }
                table.append(row)
                print(size, seed, name, figures["micro_f1"], flush=True)
    result = {
        "tested_on": f"{len(gold)} records of the open gold",
        "n_listed": len(listed),
        "right": right,
        "table": table,
    }
    args.result.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
