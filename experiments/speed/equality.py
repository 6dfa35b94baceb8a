"""Compare the compiled part with the definition in Python on real abstracts.

Every score, decision and n-gram of the shipped model, on as many records of
../shared/data/abstracts as asked for, the same number from each part.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import tagger  # noqa: E402
import tagger.scorer  # noqa: E402
from tagger import kernel  # noqa: E402
from tagger.features import leave_to_python, read_events  # noqa: E402
from tagger.records import Record  # noqa: E402

BATCH = 1000


def abstracts(data: Path, n: int) -> list[Record]:
    """Read the first records of every part."""
    import pyarrow.parquet as pq

    parts = sorted((data / "abstracts").glob("part-*.parquet"))
    if not parts:
        sys.exit(
            f"{data} holds no abstracts/part-*.parquet; give the folder that does."
        )
    records: list[Record] = []
    for place, part in enumerate(parts):
        wanted = n * (place + 1) // len(parts) - len(records)
        table = pq.read_table(part, columns=["id", "title", "abstract"])
        records += [
            Record(id=r["id"], title=r["title"] or "", abstract=r["abstract"] or "")
            for r in table.slice(0, wanted).to_pylist()
        ]
    return records


def main() -> None:
    """Compare, and print what was found as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("-o", "--out", type=Path)
    chosen = parser.parse_args()
    compiled = kernel.compiled
    if compiled is None:
        sys.exit("The compiled part is not built; pip install -e . builds it.")
    model = tagger.load()
    records = abstracts(chosen.data, chosen.records)
    left = 0

    def counted(text: str) -> tuple[bytes, bytes]:
        nonlocal left
        left += 1
        return leave_to_python(text)

    tagger.scorer.leave_to_python = counted
    largest, scores, reasons, decisions, ngrams = 0.0, 0, 0, 0, 0
    for start in range(0, len(records), BATCH):
        batch = records[start : start + BATCH]
        answers = []
        for part in (compiled, None):
            kernel.compiled = part
            P, why = model._judge_batch(batch)
            events = read_events(batch, model.phrases.prefixes)
            order = np.lexsort((events.first, events.last, events.rows))
            answers.append((P, why, model._cut(P, why), events.codes[order]))
        (P, why, given, codes), (P2, why2, given2, codes2) = answers
        largest = max(largest, float(np.abs(P - P2).max()))
        scores += int((P != P2).any(axis=1).sum())
        reasons += int((why != why2).sum())
        decisions += int((given != given2).any(axis=1).sum())
        ngrams += not np.array_equal(codes, codes2)
    result = {
        "n_records": len(records),
        "largest_difference_of_a_probability": largest,
        "records_with_a_score_not_equal_to_the_last_bit": scores,
        "records_with_another_reason": reasons,
        "records_with_another_decision": decisions,
        "batches_with_another_ngram": ngrams,
        "share_of_texts_left_to_python": left / (2 * len(records)),
    }
    text = json.dumps(result, indent=1) + "\n"
    print(text, end="")
    if chosen.out:
        chosen.out.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
