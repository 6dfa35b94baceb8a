"""Count how often the 95 % intervals of `tagger evaluate` cover the truth.

Draws test sets from a known population, evaluates each, and counts how often
the interval holds the figure of the whole population.

    python experiments/intervals/simulate.py --sets 1000 --records 1000

A set where a figure is undefined (no tag, no label), or given without an interval
(one label), is not counted for it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from tagger.definitions import WITHOUT_INTERVAL
from tagger.evaluation import evaluate

# Share of the records that have each theme.
PREVALENCE = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06)
THEME_FIGURES = ("precision", "recall", "f1", "average_precision")
THRESHOLD = 0.4


def draw(rng, n, prevalence=PREVALENCE):
    """Draw labels and probabilities of n records, pairs of a record related."""
    y = (rng.random((n, len(prevalence))) < prevalence).astype(np.int8)
    # A hard record is hard for all themes: pairs are not independent.
    hard = rng.normal(size=(n, 1))
    noise = 1.2 * rng.normal(size=y.shape) + 0.9 * hard
    logit = np.where(y == 1, 1.6, -4.2) + noise
    return y, 1 / (1 + np.exp(-logit))


def truth(rng, shares, themes, parts=8):
    """Figures of the whole population: the mean of parts of a million records."""
    found = defaultdict(list)
    for _ in range(parts):
        y, P = draw(rng, 1_000_000, shares)
        part = evaluate(y, P, P >= THRESHOLD, themes, n_boot=1)
        for name, figure in part.overall.items():
            found[name].append(figure.value)
        for theme in part.themes:
            for name in THEME_FIGURES:
                found[f"{name}, {theme.theme}"].append(getattr(theme, name).value)
    return {name: float(np.mean(values)) for name, values in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--shares", type=float, nargs="+", default=PREVALENCE, metavar="SHARE"
    )
    parser.add_argument("-o", "--out", type=Path)
    args = parser.parse_args()
    out = args.out or Path(__file__).parent / f"result-{args.records}.json"

    rng = np.random.default_rng(args.seed)
    themes = [f"share {share:g}" for share in args.shares]
    true_values = truth(rng, args.shares, themes)
    inside = defaultdict(list)
    width = defaultdict(list)

    def note(name, figure):
        if np.isnan(figure.low):
            return
        inside[name].append(figure.low <= true_values[name] <= figure.high)
        width[name].append(figure.high - figure.low)

    start = time.perf_counter()
    for seed in range(args.sets):
        y, P = draw(rng, args.records, args.shares)
        found = evaluate(y, P, P >= THRESHOLD, themes, n_boot=args.resamples, seed=seed)
        for name, figure in found.overall.items():
            if name not in WITHOUT_INTERVAL | {"coverage"}:
                note(name, figure)
        for theme in found.themes:
            for name in THEME_FIGURES:
                note(f"{name}, {theme.theme}", getattr(theme, name))
    result = {
        "command": f"simulate.py --sets {args.sets} --records {args.records} "
        f"--resamples {args.resamples} --seed {args.seed} --shares "
        + " ".join(f"{share:g}" for share in args.shares),
        "seconds": round(time.perf_counter() - start, 1),
        "figures": {
            name: {
                "true": round(true_values[name], 5),
                "sets": len(hits),
                "covered": round(float(np.mean(hits)), 4),
                "mean_width": round(float(np.nanmean(width[name])), 4),
            }
            for name, hits in inside.items()
        },
    }
    out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
