"""The systems a user could pick instead, where every text has exactly one class.

A system learns from `texts` and class numbers `y`, under one setting, and gives
a function of other texts: scores of shape (n_texts, n_classes), the highest of
which is its answer. Where they are probabilities, `PROBABILITIES` says so. `MINILM`
takes the vectors of texts, by `embed.py`, in their place.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np


def _tfidf(texts, longest=2):
    """Learn TF-IDF of n-grams of up to so many words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        ngram_range=(1, longest), sublinear_tf=True, min_df=2, dtype=np.float32
    )
    return vectorizer.fit_transform(texts), vectorizer.transform


def logistic_regression(texts, y, setting):
    """TF-IDF + logistic regression over all classes at once."""
    from sklearn.linear_model import LogisticRegression

    c, longest = setting
    X, features = _tfidf(texts, longest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that ran out of rounds
        model = LogisticRegression(C=c, max_iter=60).fit(X, y)
    return lambda others: model.predict_proba(features(others))


def linear_svm(texts, y, setting):
    """TF-IDF + linear SVM."""
    from sklearn.svm import LinearSVC

    c, longest = setting
    X, features = _tfidf(texts, longest)
    model = LinearSVC(C=c, random_state=0).fit(X, y)

    def scores(others):
        z = model.decision_function(features(others))
        return z if z.ndim == 2 else np.stack([-z, z], axis=1)

    return scores


def fasttext(texts, y, setting):
    """FastText with softmax loss, on words and word pairs."""
    import fasttext as library

    library.FastText.eprint = lambda _: None
    epoch, rate = setting
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "train.txt"
        lines = [
            f"__label__{c} {_plain(text)}\n" for c, text in zip(y, texts, strict=True)
        ]
        file.write_text("".join(lines), "utf-8")
        model = library.train_supervised(
            str(file),
            epoch=epoch,
            lr=rate,
            dim=50,
            wordNgrams=2,
            bucket=200_000,
            thread=1,
            verbose=0,
            seed=0,
        )

    def scores(others):
        P = np.zeros((len(others), int(max(y)) + 1))
        for row, text in enumerate(others):
            # The binding's own predict() fails under numpy 2.
            for p, label in model.f.predict(_plain(text), -1, 0.0, "strict"):
                P[row, int(label.removeprefix("__label__"))] = p
        return P

    return scores


def omikuji(texts, y, c):
    """Omikuji (Parabel) on TF-IDF; three trees, default settings but C."""
    import omikuji as library

    X, features = _tfidf(texts)
    n_classes = int(max(y)) + 1
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "train.txt"
        lines = [f"{len(y)} {X.shape[1]} {n_classes}\n"]
        lines += [
            f"{label} " + " ".join(f"{j}:{v:.5f}" for j, v in _cells(X, row)) + "\n"
            for row, label in enumerate(y)
        ]
        file.write_text("".join(lines), "utf-8")
        settings = library.Model.default_hyper_param()
        settings.linear_c = c
        model = library.Model.train_on_data(str(file), settings, n_threads=1)

    def scores(others):
        A = features(others)
        P = np.zeros((len(others), n_classes))
        for row in range(len(others)):
            found = model.predict(_cells(A, row), beam_size=n_classes, top_k=n_classes)
            for label, p in found:
                P[row, label] = p
        return P

    return scores


def minilm(vectors, y, c):
    """Logistic regression on the vectors of all-MiniLM-L6-v2."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=c, max_iter=1000).fit(np.stack(vectors), y)
    return lambda others: model.predict_proba(np.stack(others))


def _cells(X, row):
    start, end = X.indptr[row : row + 2]
    columns, values = X.indices[start:end].tolist(), X.data[start:end].tolist()
    return list(zip(columns, values, strict=True))


def _plain(words):
    return " ".join("".join(c if c.isalnum() else " " for c in words.lower()).split())


MINILM = "MiniLM + logistic regression"
# How to learn, settings to choose from by folds of the training part, packages.
SYSTEMS = {
    "TF-IDF + linear SVM": (
        linear_svm,
        ((0.3, 1), (1.0, 1), (1.0, 2), (3.0, 2), (10.0, 2)),
        ("scikit-learn",),
    ),
    "TF-IDF + logistic regression": (
        logistic_regression,
        ((10.0, 1), (100.0, 1), (100.0, 2)),
        ("scikit-learn",),
    ),
    "omikuji": (omikuji, (1.0, 3.0), ("omikuji", "scikit-learn")),
    "fastText": (fasttext, ((25, 0.5), (50, 1.0)), ("fasttext-wheel",)),
    MINILM: (minilm, (1.0, 10.0, 100.0), ("scikit-learn",)),
}
PROBABILITIES = {"ours", "TF-IDF + logistic regression", "fastText", MINILM}
