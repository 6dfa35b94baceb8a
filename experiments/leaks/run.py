"""Plant leaks among 10,000 test records, and count which the leak guard finds.

    python experiments/leaks/run.py --shared ../shared

Training: 10,000 papers drawn from the abstracts. Test: 9,000 other papers and 250
leaks of each of four kinds, made from training papers. Papers whose pair of texts
shares a fifth of its word trigrams, counted exactly, are real copies in the data,
and no false alarm; all pairs reported among the other papers are listed by id.
"""

import argparse
import hashlib
import json
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from tagger.fingerprints import find_overlap, fingerprints, group_ids
from tagger.identity import arxiv_id
from tagger.records import Record, identity_keys

HERE = Path(__file__).resolve().parent
FILLER = "granite lantern orchard violin meadow copper harbour thistle".split()
LEAST_WORDS = 40


def read_papers(folder, n, rng):
    """Draw distinct papers, by id."""
    files = sorted(folder.glob("part-*.parquet"))
    frame = pd.concat(
        pd.read_parquet(f, columns=["id", "title", "abstract"]) for f in files
    )
    frame = frame.dropna().drop_duplicates("id")
    frame = frame.iloc[rng.permutation(len(frame))[:n]]
    rows = zip(frame["id"], frame["title"], frame["abstract"], strict=True)
    return [Record(id=i, title=t, abstract=a) for i, t, a in rows]


def changed(text, at, rng):
    """Put other words at some places of a text."""
    words = text.split()
    for place in at:
        words[place] = FILLER[rng.integers(len(FILLER))] + str(place)
    return " ".join(words)


def plant(kind, number, paper, rng):
    """Make a leak of one kind from a training paper."""
    n = len(paper.abstract.split())
    if kind == "same record":
        return replace(paper, id=f"copy:{number}")
    if kind == "other version":
        # A third of the words differ. Known by its arXiv id under another title, or
        # by its title where the id is no arXiv id (some are damaged in the data).
        text = changed(paper.abstract, range(0, n, 3), rng)
        if arxiv_id(paper.id):
            return Record(id=f"{paper.id}v2", title="A new name for it", abstract=text)
        return Record(id=f"other:{number}", title=paper.title, abstract=text)
    if kind == "reworded title":
        words = paper.title.split()
        title = " ".join(["Towards", *words[::-1], "revisited"])
        return Record(id=f"reworded:{number}", title=title, abstract=paper.abstract)
    places = rng.choice(n, size=10, replace=False)
    text = changed(paper.abstract, places, rng)
    return Record(id=f"ten:{number}", title="Another title", abstract=text)


def trigrams(paper):
    words = re.findall(r"\w+", f"{paper.title} {paper.abstract}".casefold())
    return set(zip(words, words[1:], words[2:], strict=False))


def is_copy(one, other):
    """Say whether two papers truly are one, by their keys or exact trigrams."""
    if set(identity_keys(one)) & set(identity_keys(other)):
        return True
    a, b = trigrams(one), trigrams(other)
    return len(a & b) / max(len(a | b), 1) > 0.2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=HERE.parents[2] / "shared")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--out", type=Path, default=HERE / "result.json")
    args = parser.parse_args()
    folder = args.shared / "data" / "abstracts"
    rng = np.random.default_rng(args.seed)
    papers = read_papers(folder, 19_000, rng)
    trained, others = papers[:10_000], papers[10_000:]
    kinds = ("same record", "other version", "reworded title", "ten words changed")
    usable = [p for p in trained if len(p.abstract.split()) >= LEAST_WORDS]
    sources = [usable[i] for i in rng.choice(len(usable), size=1000, replace=False)]
    planted = [plant(kinds[n // 250], n, paper, rng) for n, paper in enumerate(sources)]
    test = [*others, *planted]
    order = rng.permutation(len(test))
    test = [test[i] for i in order]

    started = time.perf_counter()
    kept = fingerprints(trained)
    seconds_training = time.perf_counter() - started
    started = time.perf_counter()
    overlaps = find_overlap(test, kept)
    seconds = time.perf_counter() - started

    found = {int(order[o.row]): o for o in overlaps}
    result = {}
    for k, kind in enumerate(kinds):
        rows = range(9000 + 250 * k, 9000 + 250 * (k + 1))
        hits = [found[row] for row in rows if row in found]
        result[kind] = {
            "planted": 250,
            "found": len(hits),
            "right paper": sum(
                found[row].trained_id == sources[row - 9000].id
                for row in rows
                if row in found
            ),
            "said to be": {
                said: sum(hit.kind == said for hit in hits)
                for said in ("exact", "same paper", "near-duplicate")
            },
        }
    by_id = {paper.id: paper for paper in trained}
    alarms = [
        (others[row], by_id[o.trained_id]) for row, o in found.items() if row < 9000
    ]
    started = time.perf_counter()
    ten_thousand = [*others, *trained[:1000]]
    groups = group_ids(ten_thousand)
    seconds_groups = time.perf_counter() - started
    joined = []
    for group in np.flatnonzero(np.bincount(groups) > 1):
        one, *rest = (ten_thousand[i] for i in np.flatnonzero(groups == group))
        joined += [(one, other) for other in rest]
    summary = {
        "command": f"python experiments/leaks/run.py --seed {args.seed}",
        "data": {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(folder.glob("part-*.parquet"))
        },
        "test records": len(test),
        "training records": len(trained),
        "seconds to know the test records again": round(seconds, 1),
        "seconds for the fingerprints kept with the model": round(seconds_training, 1),
        "leaks": result,
        "9,000 other test papers against 10,000 training papers": count(alarms),
        "10,000 distinct papers among themselves": count(joined)
        | {"seconds": round(seconds_groups, 1)},
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False)
    args.out.write_text(text + "\n", encoding="utf-8")
    print(text)


def count(pairs):
    """Part pairs into real copies and false alarms, named by id."""
    real = [(a.id, b.id) for a, b in pairs if is_copy(a, b)]
    false = [(a.id, b.id) for a, b in pairs if not is_copy(a, b)]
    return {"real copies in the data": real, "false alarms": false}


if __name__ == "__main__":
    main()
