"""One class a record: Ohsumed-23 and R8, ours beside what a user could pick instead.

    python experiments/exclusive/run.py --shared ../shared --work FOLDER

Published splits. Every setting is chosen by three folds of the training part;
ours has none to choose. An answer that is in FOLDER already is not asked again.
MiniLM is left out with a word unless `embed.py` has put its vectors there.
"""

import argparse
import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from systems import MINILM, PROBABILITIES, SYSTEMS

from tagger.records import Record
from tagger.splits import multilabel_folds
from tagger.themes import Theme
from tagger.training import train_held_out

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDS = 3
RESAMPLES = 2000
BINS = 15


def main():
    """Ask every system on every set, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--work", type=Path, required=True, help="answers go here")
    parser.add_argument("--result", type=Path, default=HERE / "result.json")
    parser.add_argument("--only", nargs="*", help="systems to ask; all by default")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in ("ohsumed23", "r8"):
        file = args.shared / "data" / "benchmarks" / f"{name}.parquet"
        if not file.is_file():
            sys.exit(f"There is no {file}; name the folder by --shared.")
        data = pd.read_parquet(file)
        found = {}
        for system in ("ours", *SYSTEMS):
            path = args.work / f"{name} {system}.npz"
            vectors = args.work / f"minilm-{name}.npy"
            wanted = not args.only or system in args.only
            if wanted and system == MINILM and not vectors.exists():
                print(f"{system} is left out: run embed.py first.", file=sys.stderr)
                wanted = False
            if wanted and not path.exists():
                started = time.process_time()
                embedded = list(np.load(vectors)) if system == MINILM else None
                scores, setting, folds = answer(system, data, embedded)
                seconds = time.process_time() - started
                np.savez(path, scores=scores, facts=np.array([setting, folds, seconds]))
                print(f"{name} {system}: {seconds:.0f} s", file=sys.stderr, flush=True)
            if path.exists():
                saved = np.load(path)
                found[system] = saved["scores"], saved["facts"].tolist()
        rows += figures(name, data, found)
    packages = sorted({p for *_, names in SYSTEMS.values() for p in names})
    result = {
        "versions": {p: version(p) for p in ("paper-tagger", "numpy", *packages)},
        "folds": FOLDS,
        "resamples": RESAMPLES,
        "rows": rows,
    }
    args.result.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    for row in rows:
        print(line(row))


def answer(system, data, embedded=None):
    """Learn from the training part; give scores of the test part, and how it chose."""
    train = (data["split"] == "train").to_numpy()
    label = np.array([labels[0] for labels in data["labels"]])
    classes, y = np.unique(label, return_inverse=True)
    if system == "ours":
        ids = [name.lower() for name in classes]
        records = [
            Record(id=str(i), title=title or "", abstract=text or "", themes=(ids[k],))
            for i, title, text, k in zip(
                data["id"], data["title"], data["abstract"], y, strict=True
            )
        ]
        some = [r for r, keep in zip(records, train, strict=True) if keep]
        others = [r for r, keep in zip(records, train, strict=True) if not keep]
        model, held = train_held_out(some, [Theme(i, i) for i in ids], exclusive=True)
        right = held.y[np.arange(len(held.y)), held.P.argmax(axis=1)]
        return model.predict_proba(others), "none", f"{right.mean():.4f}"
    learn, grid, _ = SYSTEMS[system]
    texts = embedded or [
        f"{title or ''} . {text or ''}"
        for title, text in zip(data["title"], data["abstract"], strict=True)
    ]
    some = [t for t, keep in zip(texts, train, strict=True) if keep]
    others = [t for t, keep in zip(texts, train, strict=True) if not keep]
    known = y[train]
    one = np.eye(len(classes), dtype=np.int8)[known]
    fold = multilabel_folds(one, np.arange(len(known)), FOLDS, 0)
    right = [_folds(learn, some, known, fold, setting) for setting in grid]
    best = int(np.argmax(right))
    scores = learn(some, known, grid[best])(others)
    return scores, str(grid[best]), f"{right[best]:.4f}"


def _folds(learn, texts, y, fold, setting):
    """Give the share of right answers over the folds."""
    right = np.zeros(len(y), bool)
    for f in range(FOLDS):
        inside, outside = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        scores = learn([texts[i] for i in inside], y[inside], setting)
        found = scores([texts[i] for i in outside])
        right[outside] = found.argmax(axis=1) == y[outside]
    return float(right.mean())


def figures(name, data, found):
    """Give accuracy and calibration of every system, with bootstrap intervals."""
    label = np.array([labels[0] for labels in data["labels"]])
    y = np.unique(label, return_inverse=True)[1]
    y = y[(data["split"] == "test").to_numpy()]
    rng = np.random.default_rng(0)
    draws = rng.integers(0, len(y), size=(RESAMPLES, len(y)))
    ours = None
    rows = []
    for system, (scores, (setting, folds, seconds)) in found.items():
        right = scores.argmax(axis=1) == y
        row = {
            "set": name,
            "system": system,
            "setting": setting,
            "accuracy_in_folds": float(folds),
            "accuracy": interval(right, draws),
            "n_test": len(y),
            "cpu_seconds": round(float(seconds), 1),
        }
        if system in PROBABILITIES:
            row["ece"] = ece(scores.max(axis=1), right)
        if system == "ours":
            ours = right
        elif ours is not None:
            row["ours_less_this"] = interval(ours * 1.0 - right, draws)
        rows.append(row)
    return rows


def interval(values, draws):
    """Give the mean, and the middle 95 % of it over resamples of the records."""
    values = values.astype(float)
    means = np.array([values[draw].mean() for draw in draws])
    low, high = np.quantile(means, [0.025, 0.975])
    return {"value": float(values.mean()), "low": float(low), "high": float(high)}


def ece(top, right):
    """Give the expected calibration error of the given class, in equal bins."""
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    gaps = [abs((top[bins == b] - right[bins == b]).sum()) for b in range(BINS)]
    return float(sum(gaps) / len(top))


def line(row):
    """Give a row of the table in the README."""
    a, difference = row["accuracy"], row.get("ours_less_this")
    cells = [
        row["set"],
        row["system"],
        row["setting"],
        f"{row['accuracy_in_folds']:.3f}",
        f"{a['value']:.3f} ({a['low']:.3f} to {a['high']:.3f})",
        ""
        if difference is None
        else f"{difference['value']:+.3f} "
        f"({difference['low']:+.3f} to {difference['high']:+.3f})",
        f"{row['ece']:.3f}" if "ece" in row else "",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
