"""What does each part of the model add, out-of-fold on the open gold?

    python experiments/ablations/run.py --shared ../shared

No labels but the gold's. A variant that is in the result already is not run again.
"""

import argparse
import json
import runpy
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from tagger import counts, features, keywords
from tagger import material as material_module
from tagger.formats import read_records
from tagger.material import prepare
from tagger.theme_file import read_themes
from tagger.training import Settings, company_of, learn

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BASE = Settings()
TINY = 1e-6  # both must be above 0; this is as good as none
VARIANTS = {
    "all parts": BASE,
    "without the theme file's prior": replace(BASE, slope=TINY),
    "without the semantic space": replace(BASE, semantic=TINY),
    "without abstract-alone copies": replace(BASE, abstract_alone=0.0),
    "without title-alone copies": replace(BASE, title_alone=0.0),
    "with 60,000 records without labels": BASE,
    "title counts as much as abstract": BASE,
}


def main():
    """Run each variant, and say how it differs from all parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--work", type=Path, required=True, help="decisions go here")
    parser.add_argument("--result", type=Path, default=HERE / "result.json")
    args = parser.parse_args()
    gold_file = args.shared / "gold" / "open.jsonl"
    if not gold_file.is_file():
        sys.exit(f"There is no {gold_file}; name the folder by --shared.")
    args.work.mkdir(parents=True, exist_ok=True)
    themes = read_themes(ROOT / "seeds" / "themes.toml")
    records = read_records(gold_file)
    material = prepare(records, themes)
    draw = runpy.run_path(str(HERE.parent / "unlabelled" / "run.py"))["draw"]
    answers = {}
    for name, settings in VARIANTS.items():
        file = args.work / f"{name.replace(' ', '_')}.npy"
        if not file.exists():
            started = time.time()
            if name.startswith("title counts"):
                # Above 1, by which a title's n-grams are known.
                for module in (features, keywords, counts, material_module):
                    module.TITLE_WEIGHT = 1.0 + TINY
                material = prepare(records, themes)
            company = None
            if name.startswith("with 60,000"):
                company = company_of(
                    draw(args.shared / "data", records, 60_000, 0), themes
                )
            _, held_out = learn(material, company=company, settings=settings, seed=0)
            np.save(file, held_out.given)
            print(f"{name}: {time.time() - started:.0f} s", file=sys.stderr, flush=True)
        answers[name] = np.load(file)
    write(args.result, material.y, answers)


def write(path, y, answers, n=2000):
    """Write figures and paired differences, with 95 % bootstrap intervals."""
    rng = np.random.default_rng(0)
    draws = rng.multinomial(len(y), np.full(len(y), 1 / len(y)), size=n)
    weights = np.vstack([np.ones((1, len(y)), np.int64), draws])
    figures = {name: f1(y, given, weights) for name, given in answers.items()}
    whole = figures["all parts"]
    rows = []
    for name, values in figures.items():
        row = {"variant": name}
        for column, kind in enumerate(("micro_f1", "macro_f1")):
            row[kind] = interval(values[:, column])
            row[f"{kind}_less_all_parts"] = interval((values - whole)[:, column])
        rows.append(row)
        micro, macro = row["micro_f1"], row["macro_f1"]
        less = row["micro_f1_less_all_parts"]
        print(
            f"| {name} | {micro[0]:.3f} ({micro[1]:.3f} to {micro[2]:.3f}) "
            f"| {macro[0]:.3f} ({macro[1]:.3f} to {macro[2]:.3f}) "
            f"| {less[0]:+.4f} ({less[1]:+.4f} to {less[2]:+.4f}) |"
        )
    result = {
        "split": f"5-fold out-of-fold on the open gold, {len(y)} records, seed 0; "
        "no further labels",
        "figures": "value, low, high: 95 %, 2,000 resamples of the records, paired",
        "table": rows,
    }
    path.write_text(json.dumps(result, indent=1) + "\n")


def f1(y, given, weights):
    """Give (micro-F1, macro-F1), one row a weighting of the records."""
    true = weights @ (given & (y == 1))
    wrong = weights @ (given & (y == 0))
    missed = weights @ (~given & (y == 1))
    each = 2 * true / np.maximum(2 * true + wrong + missed, 1)
    t, w, m = true.sum(1), wrong.sum(1), missed.sum(1)
    return np.stack([2 * t / np.maximum(2 * t + w + m, 1), each.mean(1)], axis=1)


def interval(values):
    """Give the first value and the 95 % interval of the others."""
    low, high = np.quantile(values[1:], [0.025, 0.975])
    return [round(float(v), 4) for v in (values[0], low, high)]


if __name__ == "__main__":
    main()
