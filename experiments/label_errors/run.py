"""Compare ways to find wrong labels: errors are planted, and looked for.

    pip install cleanlab
    python experiments/label_errors/run.py --shared ../shared

Some labels are taken away and as many false ones given; the model is trained by
folds on what is left, and each way ranks the record-theme pairs by how wrong their
label looks. Counted is how many of the planted ones stand among as many pairs as
were planted. A way that names fewer pairs is continued by the least probable labels.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
from cleanlab.multilabel_classification.filter import find_multilabel_issues_per_class

from tagger.formats import read_records
from tagger.material import prepare
from tagger.mistakes import label_errors
from tagger.theme_file import read_themes
from tagger.training import learn

SHARES = (0.02, 0.05)
KINDS = ("missing", "false, random", "false, has a keyword")


def plant(material, share, rng):
    """Take labels away and give false ones; return labels and kinds of the planted."""
    y = material.y.copy()
    kind = np.full(y.shape, -1)
    has = np.argwhere(y == 1)
    n = round(share * len(has))
    gone = has[rng.choice(len(has), n, replace=False)]
    lacks = np.argwhere(y == 0)
    likely = lacks[material.scores[tuple(lacks.T)] > 0]
    near = likely[rng.choice(len(likely), min(n // 2, len(likely)), replace=False)]
    far = lacks[rng.choice(len(lacks), n - len(near), replace=False)]
    for number, pairs in enumerate((gone, far, near)):
        kind[tuple(pairs.T)] = number
        y[tuple(pairs.T)] = 0 if number == 0 else 1
    return y, kind


def by_tagger(material, y, P):
    """Give pairs in the order of `tagger.mistakes.label_errors`."""
    records = [replace(r, id=str(i)) for i, r in enumerate(material.records)]
    column = {theme: j for j, theme in enumerate(material.theme_ids)}
    found = label_errors(records, material.theme_ids, y, P)
    return [(int(f["id"]), column[f["theme"]]) for f in found]


def by_cleanlab(filter_by):
    """Give pairs that cleanlab names, in the order of its self-confidence."""

    def rank(material, y, P):
        labels = [np.flatnonzero(row == 1).tolist() for row in y]
        per_class, _, _ = find_multilabel_issues_per_class(
            labels,
            np.clip(P, 1e-6, 1 - 1e-6),
            filter_by=filter_by,
            return_indices_ranked_by="self_confidence",
            n_jobs=1,
        )
        confidence = np.where(y == 1, P, 1 - P)
        pairs = [(int(i), j) for j, own in enumerate(per_class) for i in own]
        return sorted(pairs, key=lambda pair: confidence[pair])

    return rank


def by_confidence(material, y, P):
    """Give all pairs, the one first whose label is least probable."""
    return ranked(np.where(y == 1, P, 1 - P))


def by_centred_confidence(material, y, P):
    """Do the same with probabilities counted from the themes' own means."""
    centred = np.zeros_like(P)
    for j in range(P.shape[1]):
        middle = (P[y[:, j] == 1, j].mean() + P[y[:, j] == 0, j].mean()) / 2
        centred[:, j] = P[:, j] - middle
    return ranked(np.where(y == 1, centred, -centred))


def ranked(worth):
    """Give all pairs, the smallest worth first."""
    order = np.argsort(worth, axis=None, kind="stable")
    rows, columns = np.unravel_index(order, worth.shape)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


WAYS = {
    "tagger": by_tagger,
    "cleanlab, prune by noise rate (its default)": by_cleanlab("prune_by_noise_rate"),
    "cleanlab, confident learning": by_cleanlab("confident_learning"),
    "cleanlab, both": by_cleanlab("both"),
    "least probable label": by_confidence,
    "least probable label, centred by theme": by_centred_confidence,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--keep", type=Path, help="folder for the arrays of each run")
    args = parser.parse_args()
    out = args.out or Path(__file__).parent / "result.json"
    gold = args.shared / "gold" / "open.jsonl"
    themes = Path(__file__).resolve().parents[2] / "seeds" / "themes.toml"
    material = prepare(read_records(gold), read_themes(themes))
    runs = {share: {way: [] for way in WAYS} for share in SHARES}
    started = time.process_time()
    for share in SHARES:
        for seed in range(args.seeds):
            rng = np.random.default_rng([seed, int(1000 * share)])
            y, kind = plant(material, share, rng)
            _, said = learn(replace(material, y=y), seed=seed)
            if args.keep:
                np.savez(args.keep / f"{share}-{seed}.npz", y=y, kind=kind, P=said.P)
            least = by_confidence(material, y, said.P)
            for way, rank in WAYS.items():
                pairs = rank(material, y, said.P)
                runs[share][way].append(count(pairs, least, y, kind))
            print(share, seed, round(time.process_time() - started), flush=True)
    rng = np.random.default_rng(0)
    result = {
        "command": f"run.py --shared ../shared --seeds {args.seeds}",
        "data": {"open.jsonl": hashlib.sha256(gold.read_bytes()).hexdigest()},
        "versions": {n: metadata.version(n) for n in ("cleanlab", "paper-tagger")},
        "cpu_seconds": round(time.process_time() - started),
        "shares": {str(share): summary(found, rng) for share, found in runs.items()},
    }
    out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def count(pairs, others, y, kind):
    """Count hits a record among as many pairs as were planted, and half as many."""
    planted = int((kind >= 0).sum())
    named = len(pairs)
    pairs = [pair for pair in dict.fromkeys([*pairs, *others]) if y[pair] >= 0]
    found = {"named": named, "planted": planted}
    for name, k in (("k", planted), ("half k", planted // 2)):
        table = np.zeros((len(y), 2))
        for row, column in pairs[:k]:
            table[row] += (kind[row, column] >= 0, 1)
        found[name] = table
    top = set(pairs[:planted])
    found["kinds"] = [
        np.mean([tuple(pair) in top for pair in np.argwhere(kind == number).tolist()])
        for number in range(len(KINDS))
    ]
    return found


def summary(found, rng):
    """Give precision with its interval, and the difference from ours, by way."""
    n_records = len(next(iter(found.values()))[0]["k"])
    weights = [
        rng.multinomial(n_records, np.full(n_records, 1 / n_records), size=1000)
        for _ in next(iter(found.values()))
    ]

    def precision(runs, name):
        """Mean over the runs: the measured one, then under 1,000 resamples."""
        tables = [run[name] for run in runs]
        whole = [
            np.vstack([np.ones(n_records), w]) @ t
            for w, t in zip(weights, tables, strict=True)
        ]
        return np.mean([t[:, 0] / np.maximum(t[:, 1], 1) for t in whole], axis=0)

    ours = {name: precision(found["tagger"], name) for name in ("k", "half k")}
    rows = {}
    for way, runs in found.items():
        row = {"planted": runs[0]["planted"], "named": [run["named"] for run in runs]}
        for name in ("k", "half k"):
            draws = precision(runs, name)
            row[f"precision at {name}"] = interval(draws)
            row[f"less tagger at {name}"] = interval(draws - ours[name])
        kinds = np.mean([run["kinds"] for run in runs], axis=0).round(3).tolist()
        row["found at k"] = dict(zip(KINDS, kinds, strict=True))
        rows[way] = row
    return rows


def interval(draws):
    """Value and 95 % percentile interval."""
    low, high = np.quantile(draws[1:], [0.025, 0.975])
    return [round(float(number), 3) for number in (draws[0], low, high)]


if __name__ == "__main__":
    main()
