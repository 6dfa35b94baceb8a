"""How good is each system with 0, 1, 5, 20 or all labels a theme?

    python experiments/learning_curve/run.py --shared ../shared --work FOLDER

Every seed takes one fold of five as its test and draws the training records
from the other four, the same for all systems. What a system answered is kept
in FOLDER, so that a run that was ended goes on where it stopped.
"""

import argparse
import json
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from systems import SYSTEMS, text

from tagger.calibration import calibrate, tune_thresholds
from tagger.formats import read_records
from tagger.material import prepare
from tagger.splits import multilabel_folds
from tagger.theme_file import read_themes
from tagger.training import learn

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NO_THEME = 0.39  # records without a theme, for each with one; as in the gold
ENOUGH = 5  # labels a theme from which on cuts and settings are chosen
OURS = "ours"


@dataclass
class Gold:
    """What the systems see of the gold."""

    texts: list
    y: np.ndarray
    scores: np.ndarray
    groups: np.ndarray
    vectors: np.ndarray | None


def draw(y, pool, least, rng):
    """Draw records until each theme has `least` positives, and some without."""
    chosen = set()
    for column in rng.permutation(y.shape[1]):
        have = sum(y[i, column] == 1 for i in chosen)
        for i in rng.permutation(pool):
            if have >= least:
                break
            if y[i, column] == 1 and int(i) not in chosen:
                chosen.add(int(i))
                have += 1
    none = [int(i) for i in rng.permutation(pool) if not (y[i] == 1).any()]
    return np.array(sorted(chosen | set(none[: int(NO_THEME * len(chosen))])), np.int64)


def answer(name, gold, rows, test, least):
    """Fit one of the other systems on rows; say what it gives to test."""
    build, grid = SYSTEMS[name]
    y = gold.y[rows]
    if least < ENOUGH:  # too few labels to choose anything by
        fit = build(gold, grid[len(grid) // 2])
        return fit(rows)(test) >= 0, None
    fold = multilabel_folds(y, gold.groups[rows], 3, seed=0)
    best = None
    for setting in grid:
        fit = build(gold, setting)
        scores = np.zeros(y.shape)
        for f in range(3):
            scores[fold == f] = fit(rows[fold != f])(rows[fold == f])
        calibration = calibrate(scores, y)
        P = calibration.apply(scores)
        thresholds = tune_thresholds(P, y)
        f1 = micro_f1(y, P >= thresholds)
        if best is None or f1 > best[0]:
            best = f1, setting, calibration, thresholds
    _, setting, calibration, thresholds = best
    scores = build(gold, setting)(rows)(test)
    return calibration.apply(scores) >= thresholds, setting


def micro_f1(y, given):
    """Give F1 over all known pairs."""
    given = given & (y >= 0)
    return 2 * (given & (y == 1)).sum() / max(given.sum() + (y == 1).sum(), 1)


def macro_f1(y, given):
    """Give the mean of the themes' F1."""
    return np.mean([micro_f1(y[:, [k]], given[:, [k]]) for k in range(y.shape[1])])


def main():
    """Run what is not there yet, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--minilm", type=Path, help="what embed.py wrote")
    parser.add_argument("--labels", default="0,1,5,20,all")
    parser.add_argument("--systems", help="names, parted by commas; all by default")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--result", type=Path, default=HERE / "result.json")
    args = parser.parse_args()
    gold_file = args.shared / "gold" / "open.jsonl"
    if not gold_file.is_file():
        sys.exit(f"There is no {gold_file}; name the folder by --shared.")
    args.work.mkdir(parents=True, exist_ok=True)
    themes = read_themes(ROOT / "seeds" / "themes.toml")
    material = prepare(read_records(gold_file), themes)
    vectors = np.load(args.minilm) if args.minilm else None
    texts = [text(record) for record in material.records]
    gold = Gold(texts, material.y, material.scores, material.groups, vectors)
    fold = multilabel_folds(gold.y, gold.groups, 5, seed=0)
    names = args.systems.split(",") if args.systems else [OURS, *SYSTEMS]
    if vectors is None:
        names = [name for name in names if not name.startswith("MiniLM")]
    for label in args.labels.split(","):
        for name in names:
            if label == "0" and name not in (OURS, "keyword rules"):
                continue  # these learn from labels alone
            for seed in range(args.seeds):
                file = args.work / f"{name.replace(' ', '_')}-{label}-{seed}.npz"
                if file.exists():
                    continue
                pool = np.flatnonzero(fold != seed % 5)
                test = np.flatnonzero(fold == seed % 5)
                least = 10**6 if label == "all" else int(label)
                rng = np.random.default_rng(seed)
                rows = pool if label == "all" else draw(gold.y, pool, least, rng)
                started = time.time()
                setting = None
                if name == OURS:
                    model, _ = learn(material.part(rows), seed=seed)
                    given = model.predict([material.records[i] for i in test])
                else:
                    given, setting = answer(name, gold, rows, test, least)
                seconds = time.time() - started
                np.savez(file, given=given, test=test, n=len(rows), seconds=seconds)
                f1 = micro_f1(gold.y[test], given), macro_f1(gold.y[test], given)
                print(
                    f"{label:>4} {name:30} seed {seed} n {len(rows)} micro {f1[0]:.3f} "
                    f"macro {f1[1]:.3f} {seconds:.0f} s {setting or ''}",
                    flush=True,
                )
    write(args, gold, fold, [theme.id for theme in themes])


def write(args, gold, fold, ids):
    """Pool what the seeds answered (disjoint test folds), with intervals."""
    table = []
    for name in [OURS, *SYSTEMS]:
        for label in ("0", "1", "5", "20", "all"):
            key = f"{name.replace(' ', '_')}-{label}-"
            files = sorted(args.work.glob(f"{key}*.npz"))[: args.seeds]
            if not files:
                continue
            runs = [np.load(file) for file in files]
            each = [
                (micro_f1(gold.y[r["test"]], r["given"]),
                 macro_f1(gold.y[r["test"]], r["given"]))
                for r in runs
            ]  # fmt: skip
            y = np.concatenate([gold.y[r["test"]] for r in runs])
            given = np.concatenate([r["given"] for r in runs])
            low, high = bootstrap(y, given)
            table.append(
                {
                    "system": name,
                    "labels_a_theme": label,
                    "seeds": len(runs),
                    "n_train": [int(r["n"]) for r in runs],
                    "n_test": len(y),
                    "micro_f1": pair(micro_f1(y, given), low[0], high[0]),
                    "macro_f1": pair(macro_f1(y, given), low[1], high[1]),
                    "micro_f1_by_seed": [round(float(f[0]), 4) for f in each],
                    "macro_f1_by_seed": [round(float(f[1]), 4) for f in each],
                    "seconds": round(float(np.mean([r["seconds"] for r in runs])), 1),
                }
            )
    result = {
        "split": "five stratified folds of the open gold, seed 0; seed s is tested "
        "on fold s and learns from the other four; test folds pooled",
        "interval": "95 %, 2,000 resamples of the test records, models kept",
        "versions": {
            name: version(name)
            for name in (
                "paper-tagger",
                "scikit-learn",
                "omikuji",
                "fasttext-wheel",
                "numpy",
            )
        },
        "table": table,
    }
    args.result.write_text(json.dumps(result, indent=1) + "\n")
    for row in table:
        micro, macro = row["micro_f1"], row["macro_f1"]
        print(
            f"| {row['system']} | {row['labels_a_theme']} | {micro['value']:.3f} "
            f"({micro['low']:.3f}-{micro['high']:.3f}) | {macro['value']:.3f} "
            f"({macro['low']:.3f}-{macro['high']:.3f}) | {row['seconds']} s |"
        )


def pair(value, low, high):
    """Round a figure and its interval."""
    return {
        "value": round(float(value), 4),
        "low": round(float(low), 4),
        "high": round(float(high), 4),
    }


def bootstrap(y, given, n=2000, seed=0):
    """Give the 2.5 and 97.5 % quantiles of (micro-F1, macro-F1)."""
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(len(y), np.full(len(y), 1 / len(y)), size=n)
    known = y >= 0
    true = weights @ (given & (y == 1))
    wrong = weights @ (given & known & (y == 0))
    missed = weights @ (~given & (y == 1))
    f1 = 2 * true / np.maximum(2 * true + wrong + missed, 1)
    t, w, m = true.sum(1), wrong.sum(1), missed.sum(1)
    draws = np.stack([2 * t / np.maximum(2 * t + w + m, 1), f1.mean(1)], axis=1)
    return np.quantile(draws, [0.025, 0.975], axis=0)


if __name__ == "__main__":
    main()
