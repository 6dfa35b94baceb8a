"""The systems a user could pick instead, all behind one pair of verbs.

`fit(rows)` learns from some records of the gold and gives a function of other
rows: scores in which 0 is the system's own cut. Pairs that the reader left
unsure are left out where a system learns theme by theme.
"""

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from annif_ensemble import annif_ensemble
from few_shot import tuned_vectors

OURS = "ours"
UNLABELLED = 60_000
OURS_MORE = "ours + 60k unlabelled"
FEW = 80  # records below which every phrase counts and classes weigh equally


def text(record):
    """Give the words of a record as one string."""
    return f"{record.title} . {record.abstract}"


def tfidf(texts, rows):
    """Give TF-IDF rows of all texts, learned on `rows`: words and word pairs."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2),
        sublinear_tf=True,
        min_df=2 if len(rows) >= FEW else 1,
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


def _weight(rows):
    return "balanced" if len(rows) < FEW else None


def tfidf_lr(gold, c):
    """TF-IDF + logistic regression."""
    from sklearn.linear_model import LogisticRegression

    def fit(rows):
        def make():
            return LogisticRegression(
                C=c, solver="liblinear", class_weight=_weight(rows), random_state=0
            )

        return _theme_by_theme(make, tfidf(gold.texts, rows), gold.y, rows)

    return fit


def tfidf_svm(gold, c):
    """TF-IDF + linear SVM."""
    from sklearn.svm import LinearSVC

    def fit(rows):
        def make():
            return LinearSVC(C=c, class_weight=_weight(rows), random_state=0)

        return _theme_by_theme(make, tfidf(gold.texts, rows), gold.y, rows)

    return fit


def vectors_lr(vectors_of):
    """Logistic regression on vectors of the records."""

    def build(gold, c):
        from sklearn.linear_model import LogisticRegression

        def fit(rows):
            def make():
                return LogisticRegression(
                    C=c, solver="liblinear", class_weight=_weight(rows), random_state=0
                )

            vectors = vectors_of(gold, rows)
            return _theme_by_theme(make, vectors, gold.y, rows)

        return fit

    return build


def _minilm(gold, rows):
    return lambda at: gold.minilm[at]


def _model2vec(gold, rows):
    return lambda at: gold.model2vec[at]


def _setfit(gold, rows):
    return tuned_vectors(gold, rows, n_pairs=1)


def fasttext_ova(gold, seen):
    """FastText, one-vs-all loss; a record without a theme has a label of its own.

    `seen` is how many records pass by in all: the fewer, the more often each.
    """
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
                epoch=max(seen // len(rows), 1),
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


@dataclass(frozen=True)
class System:
    """How a system is built, the settings to choose from, what it needs."""

    build: Callable
    grid: tuple
    packages: tuple
    needs: str | None = None  # a part of the gold that may not be there
    learns: bool = True


SKLEARN = ("scikit-learn",)
SYSTEMS = {
    "TF-IDF + logistic regression": System(tfidf_lr, (1.0, 10.0, 100.0), SKLEARN),
    "TF-IDF + linear SVM": System(tfidf_svm, (0.3, 1.0, 3.0), SKLEARN),
    "omikuji": System(omikuji_parabel, (1.0,), ("omikuji", *SKLEARN)),
    "fastText": System(fasttext_ova, (100_000,), ("fasttext-wheel",)),
    "MiniLM + logistic regression": System(
        vectors_lr(_minilm), (1.0, 10.0, 100.0), SKLEARN, "minilm"
    ),
    "model2vec + logistic regression": System(
        vectors_lr(_model2vec), (1.0, 10.0, 100.0), SKLEARN, "model2vec"
    ),
    "SetFit": System(
        vectors_lr(_setfit), (10.0,), ("setfit", *SKLEARN), "minilm_folder"
    ),
    "Annif ensemble": System(
        annif_ensemble,
        ((1, 0, 0), (3, 1, 1), (1, 1, 1), (1, 1, 3), (0, 0, 1)),
        ("annif", "omikuji", *SKLEARN),
    ),
    "keyword rules": System(keyword_rules, (0,), ("paper-tagger",), learns=False),
}


def missing(name, gold):
    """Say what a system lacks here; None where it can run."""
    system = SYSTEMS[name]
    if system.needs and getattr(gold, system.needs) is None:
        return f"give --{system.needs.replace('_', '-')}"
    for package in system.packages:
        try:
            version(package)
        except PackageNotFoundError:
            return f"{package} is not installed"
    return None
