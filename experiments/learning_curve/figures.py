"""What the answers are worth, and the table that keeps it."""

import json
import sys
from importlib.metadata import version

import numpy as np
from systems import OURS, OURS_MORE, SYSTEMS

LABELS = ("0", "1", "2", "5", "10", "20", "50", "all")


def micro_f1(y, given):
    """Give F1 over all known pairs."""
    given = given & (y >= 0)
    return 2 * (given & (y == 1)).sum() / max(given.sum() + (y == 1).sum(), 1)


def macro_f1(y, given):
    """Give the mean of the themes' F1."""
    return np.mean([micro_f1(y[:, [k]], given[:, [k]]) for k in range(y.shape[1])])


def row_of(name, gold, draws, runs):
    """Pool what the seeds answered (disjoint test folds), with intervals."""
    each = [
        (
            micro_f1(gold.y[at.test], run["given"]),
            macro_f1(gold.y[at.test], run["given"]),
        )
        for at, run in zip(draws, runs, strict=True)
    ]
    y = np.concatenate([gold.y[at.test] for at in draws])
    given = np.concatenate([run["given"] for run in runs])
    low, high = bootstrap(y, given)
    packages = SYSTEMS[name].packages if name in SYSTEMS else ("paper-tagger",)
    return {
        "system": name,
        "labels_a_theme": draws[0].label,
        "seeds": len(draws),
        "draws": [at.digest for at in draws],
        "n_train": [len(at.rows) for at in draws],
        "n_test": len(y),
        "micro_f1": pair(micro_f1(y, given), low[0], high[0]),
        "macro_f1": pair(macro_f1(y, given), low[1], high[1]),
        "micro_f1_by_seed": [round(float(f[0]), 4) for f in each],
        "macro_f1_by_seed": [round(float(f[1]), 4) for f in each],
        "settings": [str(run["setting"]) for run in runs],
        "seconds": round(float(np.mean([run["seconds"] for run in runs])), 1),
        "versions": {package: version(package) for package in (*packages, "numpy")},
    }


def rows_in(file):
    """Give the rows that a file has."""
    return json.loads(file.read_text("utf-8"))["table"] if file.is_file() else []


def refuse_other_draws(file, names, draws):
    """Stop where rows that would stay were drawn otherwise than is drawn now."""
    for row in rows_in(file):
        if row["labels_a_theme"] != draws[0].label or row["system"] in names:
            continue
        now = [at.digest for at in draws]
        n = min(len(now), row["seeds"])
        if row["draws"][:n] != now[:n]:
            sys.exit(
                f"{file} has a row of {row['system']} with {draws[0].label} labels a "
                "theme whose records or labels are not those that are drawn now. Run "
                "all systems anew, into another file by --result."
            )


def merge(file, rows):
    """Put rows in the place of those of the same system and number of labels."""
    new = {(row["system"], row["labels_a_theme"]): row for row in rows}
    kept = {(row["system"], row["labels_a_theme"]): row for row in rows_in(file)}
    names, table = [OURS, OURS_MORE, *SYSTEMS], kept | new
    order = sorted(table, key=lambda key: (names.index(key[0]), LABELS.index(key[1])))
    result = {
        "split": "five stratified folds of the open gold, seed 0; seed s is tested "
        "on fold s and learns from the other four; test folds pooled",
        "interval": "95 %, 2,000 resamples of the test records, models kept",
        "table": [table[key] for key in order],
    }
    file.write_text(json.dumps(result, indent=1) + "\n")
    file.with_suffix(".md").write_text(curves(result["table"]))


def curves(table):
    """Give the table in markdown, a line a system and a column a point."""
    parts = []
    for kind in ("micro", "macro"):
        cells = {}
        for row in table:
            points = cells.setdefault(row["system"], {})
            points[row["labels_a_theme"]] = f"{row[f'{kind}_f1']['value']:.3f}"
        parts += [
            f"| {kind}-F1, labels a theme | {' | '.join(LABELS)} |",
            "| --- " * (len(LABELS) + 1) + "|",
            *(
                f"| {name} | {' | '.join(points.get(at, '–') for at in LABELS)} |"
                for name, points in cells.items()
            ),
            "",
        ]
    return "\n".join(parts)


def line_of(row):
    """Give a row of the table in markdown."""
    micro, macro = row["micro_f1"], row["macro_f1"]
    return (
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
