"""Exclusive mode on Ohsumed-23 and R8, published splits.

    python experiments/exclusive/run.py --shared ../shared

Settings are chosen by three folds of the training part; the test part is
answered once. Themes are made from the class names, without keywords.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from tagger.background import shipped_background
from tagger.features import find, ngram_events
from tagger.material import prepare
from tagger.records import Record
from tagger.splits import multilabel_folds
from tagger.themes import Theme
from tagger.training import learn

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BACKGROUND_COUNTS = 3000  # the background weighs like this many records
DIMENSIONS = 300


def read(file):
    """Give training records, test records and class names."""
    import pyarrow.parquet as pq

    parts = {"train": [], "test": []}
    for row in pq.read_table(file).to_pylist():
        record = Record(
            id=str(row["id"]),
            title=row["title"] or "",
            abstract=row["abstract"] or "",
            themes=(row["labels"][0].lower(),),
        )
        parts[row["split"]].append(record)
    names = sorted({r.themes[0] for part in parts.values() for r in part})
    return parts["train"], parts["test"], names


def words_of(records):
    """Give texts as TF-IDF + SVM and LR take them."""
    return [f"{r.title} . {r.abstract}" for r in records]


def baseline(make, grid, train, test, y, fold):
    """Choose C by folds, fit on all, answer the test."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    def answer(texts, labels, others, c):
        vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
        return (
            make(c)
            .fit(vectorizer.fit_transform(texts), labels)
            .predict(vectorizer.transform(others))
        )

    words, best = np.array(words_of(train), object), (0.0, grid[0])
    for c in grid if len(grid) > 1 else ():
        right = 0
        for f in range(3):
            inside, out = fold != f, fold == f
            right += (answer(words[inside], y[inside], words[out], c) == y[out]).sum()
        best = max(best, (right / len(y), c))
    return answer(words, y, words_of(test), best[1]), {"cv": best[0], "C": best[1]}


def one_vs_rest(c):
    """Make a logistic regression a class."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    return OneVsRestClassifier(LogisticRegression(C=c, solver="liblinear"))


class Rows:
    """TF-IDF rows over the n-grams that two or more training records have."""

    def __init__(self, documents, background, mixed):
        events = ngram_events(documents)
        pairs = np.unique(
            np.stack([events.codes, events.rows.astype(np.uint64)]), axis=1
        )
        codes, df = np.unique(pairs[0], return_counts=True)
        self.codes, df = codes[df >= 2], df[df >= 2]
        at = find(np.asarray(background.codes), self.codes)
        known = np.where(at >= 0, np.asarray(background.df)[np.maximum(at, 0)], 0)
        n = background.n_documents
        share = known / n * BACKGROUND_COUNTS
        if mixed:
            total = BACKGROUND_COUNTS + len(documents)
            self.idf = np.log((total + 1) / (share + df + 0.5))
        else:
            rarest = max(int(np.asarray(background.df).min()), 1)
            self.idf = np.log((n + 1) / (np.maximum(known, rarest) + 0.5))
        self.training = self.of(documents)

    def of(self, documents):
        """Give the rows of any documents."""
        from scipy.sparse import csr_matrix, diags

        events = ngram_events(documents)
        at = find(self.codes, events.codes)
        found = at >= 0
        X = csr_matrix(
            (events.weights[found], (events.rows[found], at[found])),
            shape=(len(documents), len(self.codes)),
        )
        X.data = (1 + np.log(X.data)) * self.idf[X.indices]
        length = np.sqrt(np.asarray(X.multiply(X).sum(1)).ravel())
        return (diags(1 / np.where(length > 0, length, 1)) @ X).tocsr()


def least_squares(rows, gram, y, penalty, k):
    """Solve ridge regression on +1 and -1, in its dual: (coefficients, intercept)."""
    from scipy.linalg import solve

    targets = 2.0 * np.eye(k)[y[rows]] - 1
    centre = targets.mean(0)
    inner = gram[np.ix_(rows, rows)] + penalty * np.eye(len(rows))
    return solve(inner, targets - centre, assume_a="pos"), centre


def squares(train, test, y, fold, k, background, mixed, own_space):
    """Least squares on our n-grams; penalty by folds."""
    rows = Rows(train, background, mixed)
    X, Z = rows.training, rows.of(test)
    gram, cross = np.asarray((X @ X.T).todense()), np.asarray((Z @ X.T).todense())
    if own_space:
        from sklearn.decomposition import TruncatedSVD

        svd = TruncatedSVD(DIMENSIONS, random_state=0, n_iter=3).fit(X)
        A, B = X @ svd.components_.T, Z @ svd.components_.T
        gram, cross = gram + A @ A.T, cross + B @ A.T
    best = (0.0, 0.1)
    for penalty in (0.03, 0.1, 0.3):
        right = 0
        for f in range(3):
            inside, out = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
            a, b = least_squares(inside, gram, y, penalty, k)
            right += ((gram[np.ix_(out, inside)] @ a + b).argmax(1) == y[out]).sum()
        best = max(best, (right / len(y), penalty))
    a, b = least_squares(np.arange(len(y)), gram, y, best[1], k)
    return (cross @ a + b).argmax(1), {"cv": best[0], "penalty": best[1]}


def main():
    """Answer both test parts by every system."""
    from sklearn.svm import LinearSVC

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--sets", default="r8,ohsumed23")
    parser.add_argument("--result", type=Path, default=HERE / "result.json")
    args = parser.parse_args()
    out = json.loads(args.result.read_text()) if args.result.exists() else {}
    for name in args.sets.split(","):
        file = args.shared / "data" / "benchmarks" / f"{name}.parquet"
        if not file.is_file():
            sys.exit(f"There is no {file}; name the folder by --shared.")
        train, test, names = read(file)
        themes = [Theme(id_, id_) for id_ in names]
        material = prepare(train, themes)
        asked = prepare(test, themes)
        y, truth = material.y.argmax(1), asked.y.argmax(1)
        fold = multilabel_folds(material.y, material.groups, 3, seed=0)
        background = shipped_background()
        table = out.setdefault(name, {})

        def keep(system, given, facts, started, truth=truth, table=table, name=name):
            right = given == truth
            rng = np.random.default_rng(0)
            draws = rng.choice(right, (2000, len(right))).mean(1)
            low, high = np.quantile(draws, [0.025, 0.975])
            table[system] = {
                "accuracy": [round(float(v), 4) for v in (right.mean(), low, high)],
                "n_test": len(truth),
                "seconds": round(time.time() - started),
                **facts,
            }
            print(name, system, table[system], flush=True)
            args.result.write_text(json.dumps(out, indent=1) + "\n")

        for mixed, space in ((False, False), (True, False), (True, True)):
            system = "least squares on our n-grams"
            system += ", idf with the records' own counts" if mixed else ""
            system += ", and a space learned from them" if space else ""
            if system in table:
                continue
            started = time.time()
            given, facts = squares(
                material.documents, asked.documents, y, fold, len(names),
                background, mixed, space,
            )  # fmt: skip
            keep(system, given, facts, started)
        others = {
            "TF-IDF + linear SVM": (lambda c: LinearSVC(C=c), (0.3, 1.0, 3.0)),
            "TF-IDF + logistic regression": (one_vs_rest, (100.0,)),
        }
        for system, (make, grid) in others.items():
            if system not in table:
                started = time.time()
                given, facts = baseline(make, grid, train, test, y, fold)
                keep(system, given, facts, started)
        if "ours" not in table:
            started = time.time()
            model, _ = learn(material, exclusive=True)
            P, D = model.predict_proba(test), model.predict(test)
            given = np.where(D.any(1), D.argmax(1), -1)
            keep("ours, never abstaining", P.argmax(1), {}, started)
            keep("ours", given, {"abstained": int((~D.any(1)).sum())}, started)


if __name__ == "__main__":
    main()
