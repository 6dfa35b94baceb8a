"""Embed both sets once by all-MiniLM-L6-v2, for the row of MiniLM of `run.py`.

    python experiments/exclusive/embed.py --model FOLDER --work FOLDER

Needs torch and transformers; see `experiments/learning_curve/embed.py`, whose
code does it, for the package that carries the weights. 15,074 texts.
"""

import argparse
import runpy
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]


def main():
    """Embed and save one vector a text, in the order of the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    args = parser.parse_args()
    import torch
    from transformers import AutoModel, AutoTokenizer

    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = AutoModel.from_pretrained(args.model).eval()
    code = ROOT / "experiments" / "learning_curve" / "embed.py"
    pooled = runpy.run_path(str(code))["pooled"]
    args.work.mkdir(parents=True, exist_ok=True)
    for name in ("ohsumed23", "r8"):
        file = args.shared / "data" / "benchmarks" / f"{name}.parquet"
        if not file.is_file():
            sys.exit(f"There is no {file}; name the folder by --shared.")
        rows = pq.read_table(file, columns=["title", "abstract"]).to_pylist()
        texts = [f"{row['title'] or ''}. {row['abstract'] or ''}" for row in rows]
        np.save(args.work / f"minilm-{name}.npy", pooled(model, tokenizer, texts))


if __name__ == "__main__":
    main()
