"""Measure what the theme file alone, without any label, gives on the open gold.

    python experiments/zero_labels/run.py --shared ../shared

The keywords were written without sight of a label; the cut of the prior is the
one in `tagger.training.Settings`, the same for every theme.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from tagger.evaluation import evaluate
from tagger.formats import read_records
from tagger.labels import label_matrix
from tagger.theme_file import read_themes
from tagger.training import train

ROOT = Path(__file__).resolve().parents[2]


def main():
    """Train on nothing, score on everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    args = parser.parse_args()
    gold = args.shared / "gold" / "open.jsonl"
    if not gold.is_file():
        sys.exit(f"There is no {gold}; name the folder by --shared.")
    records = read_records(gold)
    model = train([], read_themes(ROOT / "seeds" / "themes.toml"))
    y = label_matrix(records, model.theme_ids)
    decided = model.tag(records)
    P = np.array([decision.probabilities for decision in decided])
    abstained = np.array([decision.status == "abstained" for decision in decided])
    figures = evaluate(
        y, P, model.predict(records), model.theme_ids, abstained=abstained
    ).to_dict()
    names = ("micro_f1", "macro_f1", "micro_precision", "micro_recall")
    result = {
        "n_records": len(records),
        "n_labels_learned_from": 0,
        **{name: figures["overall"][name] for name in names},
        "f1": {row["theme"]: row["f1"]["value"] for row in figures["themes"]},
    }
    text = json.dumps(result, indent=1)
    (Path(__file__).parent / "result.json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
