"""Learn `models/background` from unlabelled abstracts.

    python experiments/background/build.py --data ../shared/data

Counts every n-gram of the abstracts, keeps the common ones, and finds the
semantic space by a randomised singular value decomposition (Halko,
Martinsson, Tropp, "Finding structure with randomness", SIAM Review 53, 2011)
of their TF-IDF matrix.
"""

import argparse
import hashlib
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from joblib import Parallel, delayed
from scipy import sparse

from tagger.background import Background, idf, save_background
from tagger.classifier import to_scipy
from tagger.counts import count_ngrams
from tagger.features import TITLE_WEIGHT, Rows, find, read_events
from tagger.records import Record

ROOT = Path(__file__).resolve().parents[2]


def count_part(path):
    """Count the n-grams of each abstract of one file: (rows, codes, weights)."""
    table = pq.read_table(path, columns=["title", "abstract"]).to_pydict()
    documents, parts = len(table["title"]), []
    for start in range(0, documents, 2000):
        texts = zip(
            table["title"][start : start + 2000],
            table["abstract"][start : start + 2000],
            strict=True,
        )
        batch = [Record(id="-", title=t or "", abstract=a or "") for t, a in texts]
        counts = count_ngrams(read_events(batch), len(batch))
        rows = np.repeat(np.arange(start, start + len(batch)), np.diff(counts.indptr))
        weights = TITLE_WEIGHT * counts.title + counts.abstract
        parts.append((rows.astype(np.int32), counts.codes[counts.columns], weights))
    rows, codes, values = (np.concatenate(p) for p in zip(*parts, strict=True))
    return documents, rows, codes, values.astype(np.float32)


def document_frequencies(parts):
    """Give all codes that stand in two abstracts of a part, and in how many."""
    found = []
    for _, _, codes, _ in parts:
        code, df = np.unique(codes, return_counts=True)
        found.append((code[df > 1], df[df > 1]))
    codes = np.concatenate([code for code, _ in found])
    df = np.concatenate([df for _, df in found])
    order = np.argsort(codes, kind="stable")
    codes, df = codes[order], df[order]
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    return codes[starts], np.add.reduceat(df, starts)


def tfidf_matrix(parts, codes, weights):
    """Stack the parts as one TF-IDF matrix, rows of length 1."""
    blocks = []
    for n, rows, part_codes, values in parts:
        column = find(codes, part_codes)
        known = column >= 0
        indptr = np.searchsorted(rows[known], np.arange(n + 1))
        cells = (1.0 + np.log(values[known])) * weights[column[known]]
        lengths = np.sqrt(np.add.reduceat(np.append(cells**2, 0.0), indptr[:-1]))
        lengths[np.diff(indptr) == 0] = 1.0
        cells = cells / np.repeat(lengths, np.diff(indptr))
        blocks.append(to_scipy(Rows(indptr, column[known], cells), len(codes)))
    return sparse.vstack(blocks, format="csr")


def semantic_space(matrix, n_dimensions, seed, n_iterations=4):
    """Give the leading right singular vectors and singular values."""
    rng = np.random.default_rng(seed)
    wide = n_dimensions + 20
    basis = rng.standard_normal((matrix.shape[1], wide)).astype(np.float32)
    transposed = matrix.T.tocsr()
    for _ in range(n_iterations):
        basis, _ = np.linalg.qr(transposed @ (matrix @ basis))
        basis = basis.astype(np.float32)
    image = matrix @ basis
    values, vectors = np.linalg.eigh((image.T @ image).astype(np.float64))
    best = np.argsort(-values)[:n_dimensions]
    vectors = basis @ vectors[:, best].astype(np.float32)
    # The sign of a singular vector is free; fix it, for equal bytes.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), range(len(best))])
    return vectors * signs, np.sqrt(values[best])


def main():
    """Build, save, and print what was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=ROOT / "models" / "background")
    parser.add_argument("--dimensions", type=int, default=192)
    parser.add_argument("--least", type=int, default=100, help="document frequency")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    files = sorted((args.data / "abstracts").glob("part-*.parquet"))
    if not files:
        sys.exit(f"There are no abstracts in {args.data}; name the folder by --data.")
    started = time.time()
    parts = Parallel(n_jobs=args.jobs)(delayed(count_part)(file) for file in files)
    counted = time.time()
    codes, df = document_frequencies(parts)
    codes, df = codes[df >= args.least], df[df >= args.least]
    n_documents = sum(part[0] for part in parts)
    matrix = tfidf_matrix(parts, codes, idf(df, n_documents))
    del parts
    vectors, values = semantic_space(matrix, args.dimensions, args.seed)
    scale = (np.abs(vectors).max(axis=0) / 127).astype(np.float32)
    # The largest cell of a dimension is far out; finer steps for the rest.
    scale = np.minimum(scale, 6 * vectors.std(axis=0) / 127).astype(np.float32)
    small = np.clip(np.rint(vectors / scale), -127, 127).astype(np.int8)
    facts = {
        "data": {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files
        },
        "command": "python experiments/background/build.py",
        "seed": args.seed,
        "least_document_frequency": args.least,
    }
    save_background(
        Background(codes, df, n_documents, small, scale),
        args.out,
        facts,
        overwrite=True,
    )
    report = {
        "n_documents": n_documents,
        "n_ngrams": len(codes),
        "n_dimensions": args.dimensions,
        "singular_values": [round(float(v), 3) for v in values[[0, 1, 9, 49, -1]]],
        "seconds": {
            "counting": round(counted - started),
            "all": round(time.time() - started),
        },
        "peak_gib": round(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2
        ),
    }
    (Path(__file__).parent / "result.json").write_text(json.dumps(report, indent=1))
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
