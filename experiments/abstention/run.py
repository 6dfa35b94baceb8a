"""Ask the shipped model about texts that it should not tag, and about its own kind.

    python experiments/abstention/run.py --shared ../shared

Off-topic: `texts.jsonl` (written for this), abstracts of the open gold with their
words shuffled, and newswire (R8). Own kind: the open gold, as it stands. Wanted:
at least 98 % of the off-topic texts answered `none` or abstained from, and at most
1 % of the gold abstained from.

Texts with an even id may be looked at when the rule of `tagger.judge` is changed;
those with an odd id serve for the final figure alone.
"""

import argparse
import hashlib
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

import tagger
from tagger.features import read_events
from tagger.judge import count_words

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
Z = 1.959963984540054  # of the 95 % interval


def share(hits, n):
    """Give a share with its Wilson interval."""
    if n == 0:
        return {"n": 0, "hits": 0, "value": None, "low": None, "high": None}
    p = hits / n
    middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z * np.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    bounds = (max(0.0, middle - half), min(1.0, middle + half))
    low, high = (round(float(bound), 4) for bound in bounds)
    return {"n": n, "hits": hits, "value": round(p, 4), "low": low, "high": high}


def answer(decision):
    if decision.status == "abstained":
        return f"abstained: {decision.reason}"
    return decision.status


def summary(decisions):
    """Give the share of each answer, and of those that give no tag."""
    answers = Counter(map(answer, decisions))
    n = len(decisions)
    return {
        "n": n,
        "no tag": share(n - answers["tagged"], n),
        "answers": {name: share(hits, n) for name, hits in sorted(answers.items())},
    }


def shuffled(records, n, rng):
    """Shuffle the words of the abstracts of some records; leave the title out."""
    usable = [r for r in records if len(r.abstract.split()) >= 40]
    chosen = rng.choice(len(usable), size=n, replace=False)
    made = []
    for i in chosen:
        words = usable[i].abstract.split()
        text = " ".join(words[k] for k in rng.permutation(len(words)))
        made.append(tagger.Record(id=usable[i].id, title="", abstract=text))
    return made


def newswire(path, n, rng):
    frame = pd.read_parquet(path, columns=["id", "abstract"])
    frame = frame.iloc[rng.choice(len(frame), size=n, replace=False)]
    rows = zip(frame["id"], frame["abstract"], strict=True)
    return [tagger.Record(id=i, title="", abstract=text) for i, text in rows]


def tagged(model, records, decisions):
    """List the texts that got a tag, with what the rule looks at."""
    wrong = [
        (record, decision)
        for record, decision in zip(records, decisions, strict=True)
        if decision.status == "tagged"
    ]
    if not wrong:
        return []
    asked = [record for record, _ in wrong]
    events = read_events(asked, model.phrases.prefixes)
    counts = count_words(events, model.vocabulary, len(asked)).tolist()
    return [
        {
            "id": record.id,
            "tags": {tag.theme: round(tag.probability, 3) for tag in decision.tags},
            "tokens": tokens,
            "known words": round(known / max(tokens, 1), 3),
            "function words": round(function / max(tokens, 1), 3),
            "known pairs": round(known_pairs / max(pairs, 1), 3),
        }
        for (record, decision), (tokens, known, _, function, pairs, known_pairs) in zip(
            wrong, counts, strict=True
        )
    ]


def checksum(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--out", type=Path, default=HERE / "result.json")
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    gold_file = args.shared / "gold" / "open.jsonl"
    wire_file = args.shared / "data" / "benchmarks" / "r8.parquet"
    texts_file = HERE / "texts.jsonl"

    model = tagger.load()
    gold = list(tagger.read_records(gold_file))
    rows = [json.loads(line) for line in texts_file.read_text("utf-8").splitlines()]
    texts = [tagger.Record(id=str(r["id"]), title="", abstract=r["text"]) for r in rows]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    mixed = shuffled(gold, 500, rng)
    wire = newswire(wire_file, 2000, rng)

    said_text = model.tag(texts)
    said_mixed, said_wire = model.tag(mixed), model.tag(wire)
    of_kind = {
        kind: [d for row, d in zip(rows, said_text, strict=True) if row["kind"] == kind]
        for kind in kinds
    }
    halves = [
        [d for row, d in zip(rows, said_text, strict=True) if row["id"] % 2 == odd]
        for odd in (0, 1)
    ]
    groups = [*of_kind.values(), said_mixed, said_wire]
    off_topic = [d for group in groups for d in group]
    no_tag = [np.mean([d.status != "tagged" for d in group]) for group in groups]
    result = {
        "command": f"python experiments/abstention/run.py --seed {args.seed}",
        "data": {
            path.name: checksum(path) for path in (gold_file, wire_file, texts_file)
        },
        "model": checksum(ROOT / "models" / "themes" / "manifest.json"),
        "written texts by kind": {kind: summary(d) for kind, d in of_kind.items()},
        "written texts": {
            "all": summary(said_text),
            "even ids": summary(halves[0]),
            "odd ids": summary(halves[1]),
        },
        "gold abstracts, words shuffled": summary(said_mixed),
        "newswire (R8)": summary(said_wire),
        "all off-topic texts": summary(off_topic),
        "mean over kinds of the share without a tag": round(float(np.mean(no_tag)), 4),
        "open gold": summary(model.tag(gold)),
        "wrongly tagged": {
            "written texts": tagged(model, texts, said_text),
            "gold abstracts, words shuffled": tagged(model, mixed, said_mixed),
            "newswire (R8)": tagged(model, wire, said_wire),
        },
    }
    text = json.dumps(result, indent=1, ensure_ascii=False)
    args.out.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
