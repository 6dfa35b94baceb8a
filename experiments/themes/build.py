"""Train the shipped model `models/themes` and measure it.

    python experiments/themes/build.py --shared ../shared

Learns from the open gold, from `labels.jsonl` (records of the abstracts,
labelled by reading; see README.md) and from abstracts without labels. Figures
on the gold are out-of-fold; the 48 papers of the source documents are a test
that no training sees.
"""

import argparse
import hashlib
import json
import runpy
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pyarrow.parquet as pq

from tagger.background import load_background
from tagger.card import model_card
from tagger.duplicates import merge_same
from tagger.fingerprints import find_overlap, fingerprints
from tagger.formats import read_records
from tagger.model import load, save
from tagger.records import Record
from tagger.theme_file import read_themes
from tagger.training import Settings, train_held_out

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Close calls, picked because a model was in doubt: they teach where the border
# runs, and are not like the records that will be asked.
FURTHER_IMPORTANCE = 0.5
HEADLINE = (
    "optimizers",
    "long-context-training",
    "interatomic-potentials",
    "fp8-fp4-precision",
)


def labelled_abstracts(data, labels):
    """Join the labels by record id to the abstracts they were given to."""
    wanted = {}
    for line in labels.read_text("utf-8").splitlines():
        row = json.loads(line)
        wanted[row["id"]] = row
    found = {}
    for file in sorted((data / "abstracts").glob("part-*.parquet")):
        table = pq.read_table(file, columns=["id", "title", "abstract", "year"])
        for row in table.to_pylist():
            if row["id"] in wanted and row["id"] not in found:
                label = wanted[row["id"]]
                found[row["id"]] = Record(
                    id=row["id"],
                    title=row["title"] or "",
                    abstract=row["abstract"] or "",
                    themes=tuple(label["themes"]),
                    unsure=tuple(label["unsure"]),
                )
    missing = len(wanted) - len(found)
    if missing:
        sys.exit(f"{missing} labelled records are not among the abstracts in {data}.")
    return [found[id_] for id_ in wanted]


def source_papers(shared):
    """Read the 48 papers of the source documents, with their test labels."""
    merged = merge_same(
        [r for f in sorted((shared / "seeds").glob("*.txt")) for r in read_records(f)]
    )
    test = [
        json.loads(line)
        for line in (shared / "gold" / "seeds.jsonl").read_text("utf-8").splitlines()
    ]
    papers = []
    for row in test:
        start = row["abstract_start"]
        paper = next(r for r in merged.records if r.abstract.startswith(start))
        papers.append((paper, tuple(row["themes"])))
    return papers


def test_on_sources(model, papers):
    """Score the shipped model on the source papers."""
    right = given = labels = 0
    headline_errors, errors = [], []
    decisions = model.tag([paper for paper, _ in papers])
    for decision, (paper, themes) in zip(decisions, papers, strict=True):
        tags = {tag.theme for tag in decision.tags}
        right += len(tags & set(themes))
        given += len(tags)
        labels += len(themes)
        if tags != set(themes):
            name = paper.title or paper.abstract[:60]
            errors.append(
                {
                    "paper": name if paper.title else paper.id,
                    "missed": sorted(set(themes) - tags),
                    "wrong": sorted(tags - set(themes)),
                }
            )
            if (tags ^ set(themes)) & set(HEADLINE):
                headline_errors.append(errors[-1])
    return {
        "n_records": len(papers),
        "found": right / labels,
        "precision": right / given,
        "headline_errors": headline_errors,
        "errors": errors,
    }


def headline_errors(held_out, ids):
    """List what was said wrongly of the headline themes, out-of-fold."""
    errors = []
    for theme in HEADLINE:
        k = ids.index(theme)
        for row, record in enumerate(held_out.records):
            label, given = held_out.y[row, k], bool(held_out.given[row, k])
            if label >= 0 and given != (label == 1):
                errors.append(
                    {
                        "theme": theme,
                        "kind": "wrong" if given else "missed",
                        "id": record.id,
                        "title": record.title,
                        "probability": round(float(held_out.P[row, k]), 3),
                    }
                )
    return errors


def main():
    """Build, measure, save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--background", type=Path, default=ROOT / "models/background")
    parser.add_argument("--out", type=Path, default=ROOT / "models" / "themes")
    parser.add_argument("--result", type=Path, default=HERE / "result.json")
    parser.add_argument("--gold-only", action="store_true", help="no further labels")
    parser.add_argument("--unlabelled", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    for name, value in asdict(Settings()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value))
    args = parser.parse_args()
    gold_file = args.shared / "gold" / "open.jsonl"
    if not gold_file.is_file():
        sys.exit(f"There is no {gold_file}; name the folder by --shared.")
    given = {n: getattr(args, n) for n in asdict(Settings())}
    settings = Settings(**{n: v for n, v in given.items() if v is not None})
    themes = read_themes(ROOT / "seeds" / "themes.toml")
    ids = tuple(theme.id for theme in themes)
    papers = source_papers(args.shared)
    gold = read_records(gold_file)
    more = (
        []
        if args.gold_only
        else labelled_abstracts(args.shared / "data", HERE / "labels.jsonl")
    )
    records = [*gold, *more]
    # Nothing that is a source paper, or nearly, is learned from.
    near = {
        overlap.row
        for overlap in find_overlap(records, fingerprints([p for p, _ in papers]))
    }
    left_out = [records[row].id for row in sorted(near)]
    records = [record for row, record in enumerate(records) if row not in near]
    gold_ids = {record.id for record in gold}
    n_gold = sum(record.id in gold_ids for record in records)
    draw = runpy.run_path(str(ROOT / "experiments" / "unlabelled" / "run.py"))["draw"]
    unlabelled = draw(args.shared / "data", records, args.unlabelled, args.seed)
    started = time.time()
    model, held_out = train_held_out(
        records,
        themes,
        unlabelled=unlabelled,
        background=load_background(args.background),
        settings=settings,
        seed=args.seed,
        importance=[1.0 if r.id in gold_ids else FURTHER_IMPORTANCE for r in records],
        jobs=args.jobs,
    )
    seconds = time.time() - started
    figures = held_out.evaluate()
    facts = {
        **model.facts,
        "trained_on": {
            **model.facts["trained_on"],
            "gold_file": hashlib.sha256(gold_file.read_bytes()).hexdigest(),
            "n_gold": n_gold,
            "n_further_labels": len(records) - n_gold,
        },
        "split": f"{settings.folds}-fold out-of-fold on the open gold, "
        f"{n_gold} records, seed {args.seed}",
        "command": "python experiments/themes/build.py",
    }
    model = replace(model, facts=facts)
    texts = {"README.md": model_card(model)}
    save(model, args.out, texts=texts, overwrite=True)
    sources = test_on_sources(load(args.out), papers)
    overall = figures.to_dict()["overall"]
    f1 = {row["theme"]: row["f1"] for row in figures.to_dict()["themes"]}
    result = {
        "split": facts["split"],
        "settings": asdict(settings),
        "n_further_labels": facts["trained_on"]["n_further_labels"],
        "n_unlabelled": facts["trained_on"]["n_unlabelled"],
        "left_out_as_source_papers": left_out,
        "overall": overall,
        "f1": f1,
        "source_papers": sources,
        "headline_errors_out_of_fold": headline_errors(held_out, ids),
        "seconds": round(seconds),
        "megabytes": round(sum(f.stat().st_size for f in args.out.iterdir()) / 1e6, 1),
    }
    args.result.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    show = ("micro_f1", "macro_f1", "micro_precision", "micro_recall")
    print({name: overall[name] for name in show if name in overall})
    print({name: round(f1[name]["value"], 3) for name in ids})
    print({k: v for k, v in sources.items() if k != "errors"}, f"{seconds:.0f} s")
    for error in sources["errors"]:
        print(error)


if __name__ == "__main__":
    main()
