"""The systems a user could pick instead, all behind one pair of verbs.

`fit(rows)` learns from some records of the gold and gives a function of other
rows: scores in which 0 is the system's own cut. Pairs that the reader left
unsure are left out where a system learns theme by theme.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np


def text(record):
    """Give the words of a record as one string."""
    return f"{record.title} . {record.abstract}"


def tfidf(texts, rows):
    """Give TF-IDF rows of all texts, learned on `rows`: words and word pairs."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2),
        sublinear_tf=True,
        min_df=2 if len(rows) >= 100 else 1,
        dtype=np.float32,
    )
    vectorizer.fit([texts[i] for i in rows])
    return lambda at: vectorizer.transform([texts[i] for i in at])


def _theme_by_theme(make, features, y, rows):
    """Fit one classifier a theme on known pairs; a theme of one kind is never given."""
    X = features(rows)
    models = []
    for column in range(y.shape[1]):
        labels = y[rows, column]
        known = np.flatnonzero(labels >= 0)
        model = None
        if len(set(labels[known].tolist())) == 2:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a fit that ran out of rounds
                model = make().fit(X[known], labels[known])
        models.append(model)

    def scores(at):
        A = features(at)
        none = np.full(len(at), -10.0)
        return np.stack(
            [none if m is None else m.decision_function(A) for m in models], axis=1
        )

    return scores


def tfidf_lr(gold, c):
    """TF-IDF + logistic regression."""
    from sklearn.linear_model import LogisticRegression

    def fit(rows):
        def make():
            return LogisticRegression(C=c, solver="liblinear", random_state=0)

        return _theme_by_theme(make, tfidf(gold.texts, rows), gold.y, rows)

    return fit


def tfidf_svm(gold, c):
    """TF-IDF + linear SVM."""
    from sklearn.svm import LinearSVC

    def fit(rows):
        def make():
            return LinearSVC(C=c, random_state=0)

        return _theme_by_theme(make, tfidf(gold.texts, rows), gold.y, rows)

    return fit


def minilm_lr(gold, c):
    """all-MiniLM-L6-v2 embeddings + logistic regression."""
    from sklearn.linear_model import LogisticRegression

    def fit(rows):
        def make():
            return LogisticRegression(C=c, solver="liblinear", random_state=0)

        return _theme_by_theme(make, lambda at: gold.vectors[at], gold.y, rows)

    return fit


def fasttext_ova(gold, epochs):
    """FastText, one-vs-all loss; a record without a theme has a label of its own."""
    import fasttext

    fasttext.FastText.eprint = lambda _: None
    n_themes = gold.y.shape[1]

    def fit(rows):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "train.txt"
            lines = []
            for i in rows:
                labels = np.flatnonzero(gold.y[i] == 1).tolist() or ["none"]
                marks = " ".join(f"__label__{label}" for label in labels)
                lines.append(f"{marks} {_plain(gold.texts[i])}\n")
            file.write_text("".join(lines), "utf-8")
            model = fasttext.train_supervised(
                str(file),
                loss="ova",
                epoch=epochs,
                lr=0.5,
                dim=50,
                wordNgrams=2,
                minCount=1,
                bucket=100_000,
                thread=1,
                verbose=0,
                seed=0,
            )

        def scores(at):
            P = np.zeros((len(at), n_themes))
            for row, i in enumerate(at):
                # The binding's own predict() fails under numpy 2.
                found = model.f.predict(_plain(gold.texts[i]), -1, 0.0, "strict")
                for p, label in found:
                    name = label.removeprefix("__label__")
                    if name != "none":
                        P[row, int(name)] = p
            return logits(P)

        return scores

    return fit


def omikuji_parabel(gold, c):
    """Omikuji (Parabel) on TF-IDF; three trees, default settings but C."""
    import omikuji

    n_themes = gold.y.shape[1]

    def fit(rows):
        features = tfidf(gold.texts, rows)
        X = features(rows)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "train.txt"
            lines = [f"{len(rows)} {X.shape[1]} {n_themes}\n"]
            for row, i in enumerate(rows):
                labels = ",".join(map(str, np.flatnonzero(gold.y[i] == 1)))
                lines.append(f"{labels} {_pairs_text(X, row)}\n")
            file.write_text("".join(lines), "utf-8")
            settings = omikuji.Model.default_hyper_param()
            settings.linear_c = c
            model = omikuji.Model.train_on_data(str(file), settings, n_threads=1)

        def scores(at):
            A = features(at)
            P = np.zeros((len(at), n_themes))
            for row in range(len(at)):
                start, end = A.indptr[row : row + 2]
                pairs = list(
                    zip(
                        A.indices[start:end].tolist(),
                        A.data[start:end].tolist(),
                        strict=True,
                    )
                )
                for label, p in model.predict(
                    pairs, beam_size=n_themes, top_k=n_themes
                ):
                    P[row, label] = p
            return logits(P)

        return scores

    return fit


def keyword_rules(gold, _):
    """A theme is given where its keywords outnumber its "not" phrases."""
    return lambda rows: lambda at: gold.scores[at] - 0.5


def logits(P):
    """Turn probabilities into logits, kept finite."""
    P = np.clip(P, 1e-6, 1 - 1e-6)
    return np.log(P / (1 - P))


def _plain(words):
    return " ".join("".join(c if c.isalnum() else " " for c in words.lower()).split())


def _pairs_text(X, row):
    start, end = X.indptr[row : row + 2]
    return " ".join(
        f"{j}:{v:.5f}"
        for j, v in zip(X.indices[start:end], X.data[start:end], strict=True)
    )


SYSTEMS = {
    "TF-IDF + logistic regression": (tfidf_lr, (1.0, 10.0, 100.0)),
    "TF-IDF + linear SVM": (tfidf_svm, (0.3, 1.0, 3.0)),
    "omikuji": (omikuji_parabel, (1.0,)),
    "fastText": (fasttext_ova, (50,)),
    "MiniLM + logistic regression": (minilm_lr, (1.0, 10.0, 100.0)),
    "keyword rules": (keyword_rules, (0,)),
}
