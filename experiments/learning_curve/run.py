"""How good is each system with 0, 1, 2, 5, 10, 20, 50 or all labels a theme?

    python experiments/learning_curve/run.py --shared ../shared --work FOLDER
    python experiments/learning_curve/run.py --work FOLDER --only ours

Every seed takes one fold of five as its test and draws the training records
from the other four, the same for all systems. What a system answered is kept
in FOLDER, so that a run that was ended goes on where it stopped; our own
answers are kept under a name that changes with our code. The rows that were
run replace theirs in result.json, the others stay, and a run whose draw
differs from that of the rows that stay is refused. result.md has the figures
side by side.
"""

import argparse
import hashlib
import runpy
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from figures import (
    LABELS,
    line_of,
    macro_f1,
    merge,
    micro_f1,
    refuse_other_draws,
    row_of,
)
from systems import OURS, OURS_MORE, SYSTEMS, UNLABELLED, missing, text

from tagger.calibration import calibrate, tune_thresholds
from tagger.formats import read_records
from tagger.material import prepare
from tagger.splits import multilabel_folds
from tagger.theme_file import read_themes

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NO_THEME = 0.39  # records without a theme, for each with one; as in the gold
FEW = ("0", "1", "2")  # labels a theme, too few to choose cuts and settings by


@dataclass
class Gold:
    """What the systems see of the gold."""

    themes: tuple
    texts: list
    y: np.ndarray
    scores: np.ndarray
    groups: np.ndarray
    minilm: np.ndarray | None
    model2vec: np.ndarray | None
    minilm_folder: Path | None


@dataclass
class Draw:
    """The training and the test records of one seed at one point of the curve."""

    label: str
    seed: int
    rows: np.ndarray
    test: np.ndarray
    digest: str


def draw(gold, fold, label, seed):
    """Draw the training records of a seed, and say which are tested."""
    pool = np.flatnonzero(fold != seed % 5)
    test = np.flatnonzero(fold == seed % 5)
    rows = pool
    if label != "all":
        rows = _some(gold.y, pool, int(label), np.random.default_rng(seed))
    parts = rows, test, gold.y[rows], gold.y[test]
    digest = hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
    return Draw(label, seed, rows, test, digest[:12])


def _some(y, pool, least, rng):
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


def answer(name, gold, at):
    """Fit one of the other systems; give its tags for the test, and its setting."""
    system = SYSTEMS[name]
    rows, y = at.rows, gold.y[at.rows]
    if at.label in FEW:
        setting = system.grid[len(system.grid) // 2]
        scores = system.build(gold, setting)(rows)(at.test)
        return (as_often(scores, y) if system.learns else scores >= 0), setting
    fold = multilabel_folds(y, gold.groups[rows], 3, seed=0)
    best = None
    for setting in system.grid:
        fit = system.build(gold, setting)
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
    scores = system.build(gold, setting)(rows)(at.test)
    return calibration.apply(scores) >= thresholds, setting


def as_often(scores, y):
    """Give each theme to as large a share of records as has it in training.

    With one or two labels the classifiers' own cuts give next to nothing. This
    one sees which scores the test records have, but none of their labels.
    """
    n = np.maximum(np.rint((y == 1).mean(0) * len(scores)).astype(int), 1)
    rank = np.argsort(np.argsort(-scores, axis=0, kind="stable"), axis=0)
    return rank < n


def answer_of_ours(material, at, company):
    """Learn as `tagger train` does, and give the tags of the test."""
    from tagger.training import learn

    model, _ = learn(material.part(at.rows), company=company, seed=at.seed)
    return model.predict([material.records[i] for i in at.test]), None


@cache
def company_of_abstracts(data):
    """Learn what keeps the keywords' company from abstracts that are not gold."""
    from tagger.training import company_of

    gold = read_records(data.parent / "gold" / "open.jsonl")
    draw = runpy.run_path(str(HERE.parent / "unlabelled" / "run.py"))["draw"]
    records = draw(data, gold, UNLABELLED, seed=0)
    return company_of(records, read_themes(ROOT / "seeds" / "themes.toml"))


def main():
    """Run what is asked and not there yet, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", help="names, parted by commas; all by default")
    parser.add_argument("--labels", default=",".join(LABELS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--minilm", type=Path, help="what embed.py wrote")
    parser.add_argument("--model2vec", type=Path, help="what embed.py --static wrote")
    parser.add_argument("--minilm-folder", type=Path, help="weights, for SetFit")
    parser.add_argument("--result", type=Path, default=HERE / "result.json")
    args = parser.parse_args()
    gold_file = args.shared / "gold" / "open.jsonl"
    if not gold_file.is_file():
        sys.exit(f"There is no {gold_file}; name the folder by --shared.")
    labels = args.labels.split(",")
    if wrong := set(labels) - set(LABELS):
        sys.exit(f"--labels has {sorted(wrong)}; expected some of {', '.join(LABELS)}.")
    args.work.mkdir(parents=True, exist_ok=True)
    themes = read_themes(ROOT / "seeds" / "themes.toml")
    material = prepare(read_records(gold_file), themes)
    gold = Gold(
        themes,
        [text(record) for record in material.records],
        material.y,
        material.scores,
        material.groups,
        np.load(args.minilm) if args.minilm else None,
        np.load(args.model2vec) if args.model2vec else None,
        args.minilm_folder,
    )
    fold = multilabel_folds(gold.y, gold.groups, 5, seed=0)
    names = _names(args.only, gold)
    seeds = range(args.seeds)
    curve = [[draw(gold, fold, label, seed) for seed in seeds] for label in labels]
    for draws in curve:
        refuse_other_draws(args.result, names, draws)
    done = []
    for label, draws in zip(labels, curve, strict=True):
        for name in names:
            if label == "0" and name in SYSTEMS and SYSTEMS[name].learns:
                continue  # these learn from labels alone
            data = args.shared / "data" if name == OURS_MORE else None
            runs = [_run(name, gold, material, at, args.work, data) for at in draws]
            done.append(row_of(name, gold, draws, runs))
            merge(args.result, done)
    for row in done:
        print(line_of(row))


def _names(only, gold):
    """Say which systems are to run; without --only, those that can."""
    names = only.split(",") if only else [OURS, OURS_MORE, *SYSTEMS]
    if wrong := set(names) - {OURS, OURS_MORE, *SYSTEMS}:
        known = ", ".join([OURS, OURS_MORE, *SYSTEMS])
        sys.exit(f"--only has {sorted(wrong)}; expected of: {known}.")
    able = []
    for name in names:
        lack = missing(name, gold) if name in SYSTEMS else None
        if lack and only:
            sys.exit(f"{name} cannot run: {lack}.")
        if lack:
            print(f"{name} is left out: {lack}.", file=sys.stderr)
        else:
            able.append(name)
    return able


def _run(name, gold, material, at, work, data):
    """Give what a system answered to a draw, from the folder where it is there."""
    mark = "" if name in SYSTEMS else f"-{_our_code()}"
    file = work / f"{name.replace(' ', '_')}{mark}-{at.label}-{at.seed}.npz"
    if file.exists():
        run = dict(np.load(file))
        if str(run["digest"]) == at.digest:
            return run
    started = time.time()
    if name not in SYSTEMS:
        company = company_of_abstracts(data) if data else None
        given, setting = answer_of_ours(material, at, company)
    else:
        given, setting = answer(name, gold, at)
    run = {
        "given": given,
        "digest": np.array(at.digest),
        "setting": np.array(str(setting)),
        "seconds": np.array(time.time() - started),
    }
    np.savez(file, **run)
    y = gold.y[at.test]
    print(
        f"{at.label:>4} {name:30} seed {at.seed} n {len(at.rows)} micro "
        f"{micro_f1(y, given):.3f} macro {macro_f1(y, given):.3f} "
        f"{float(run['seconds']):.0f} s {setting}",
        flush=True,
    )
    return run


def _our_code():
    """Give a short mark of all that our answers depend on."""
    digest = hashlib.sha256()
    for folder, kind in (
        ("tagger", "*.py"),
        ("models/background", "*"),
        ("seeds", "*"),
    ):
        for file in sorted((ROOT / folder).rglob(kind)):
            if file.is_file():
                digest.update(file.read_bytes())
    return digest.hexdigest()[:8]


if __name__ == "__main__":
    main()
