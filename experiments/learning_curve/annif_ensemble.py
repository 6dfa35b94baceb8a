"""Annif's ensemble of omikuji, TF-IDF and MLLM, behind the verbs of `systems`.

Annif brings its own versions of numpy and scikit-learn: give it an environment
of its own, with this package in it (`pip install "annif[omikuji]" .`).
"""

import functools
import logging
import os
import tempfile
from pathlib import Path

import numpy as np

SOURCES = ("omikuji", "tfidf", "mllm")
_known = {}  # what the sources said, for the weights that are tried after


def annif_ensemble(gold, weights):
    """Annif's ensemble; weights of omikuji, TF-IDF and MLLM."""

    def fit(rows):
        def scores(at):
            key = rows.tobytes(), at.tobytes()
            if key not in _known:
                _known[key] = _ask_sources(gold, rows, at)
            P = np.einsum("s,srk->rk", np.array(weights) / sum(weights), _known[key])
            P = np.clip(P, 1e-6, 1 - 1e-6)
            return np.log(P / (1 - P))

        return scores

    return fit


def _ask_sources(gold, rows, at):
    """Train the three on rows; give what each says to other rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _give_sentence_splitter(folder, gold.texts)
        import annif
        from annif.corpus.types import Document, DocumentCorpus, SubjectSet
        from annif.registry import AnnifRegistry
        from annif.vocab.skos import VocabFileSKOS

        annif.logger.setLevel(logging.ERROR)
        np.random.seed(0)  # noqa: NPY002  MLLM's trees draw from it

        class Records(DocumentCorpus):
            """Training records, those without a theme too."""

            @property
            def documents(self):
                for i in rows:
                    themes = np.flatnonzero(gold.y[i, numbered] == 1).tolist()
                    yield Document(gold.texts[i], SubjectSet(themes))

        (folder / "projects.cfg").write_text(_projects(gold.y.shape[1]))
        _write_vocabulary(gold.themes, folder / "themes.ttl")
        registry = AnnifRegistry(str(folder / "projects.cfg"), name, False)
        vocabulary = registry.get_vocab("themes")
        vocabulary.load_vocabulary(VocabFileSKOS(str(folder / "themes.ttl")))
        column = {theme.id: k for k, theme in enumerate(gold.themes)}
        numbered = [column[s.uri.rpartition("/")[2]] for s in vocabulary.subjects]
        answers = []
        asked = [Document(gold.texts[i]) for i in at]
        for source in SOURCES:
            project = registry.get_project(source)
            project.train(Records(), jobs=1)
            batch = project.suggest(asked)
            scores = np.zeros((len(at), len(column)))
            scores[:, numbered] = [one.as_vector() for one in batch]
            answers.append(scores)
        return np.stack(answers)


def _projects(n_themes):
    """Give the projects as Annif's tutorial sets them up, default settings."""
    return "".join(
        f"[{source}]\nname={source}\nlanguage=en\nbackend={source}\n"
        f"analyzer=snowball(english)\nvocab=themes\nlimit={n_themes}\n\n"
        for source in SOURCES
    )


def _write_vocabulary(themes, file):
    """Write the theme file as SKOS: names, and keywords as other labels."""
    from rdflib import Graph, Literal, URIRef
    from rdflib.namespace import RDF, SKOS

    graph = Graph()
    for theme in themes:
        uri = URIRef(f"http://example.org/theme/{theme.id}")
        graph.add((uri, RDF.type, SKOS.Concept))
        graph.add((uri, SKOS.prefLabel, Literal(theme.name, "en")))
        for keyword in theme.keywords:
            graph.add((uri, SKOS.altLabel, Literal(keyword, "en")))
    graph.serialize(str(file), "turtle")


def _give_sentence_splitter(folder, texts):
    """Train the splitter that Annif would download, without labels."""
    import nltk
    import nltk.tokenize
    from nltk.tokenize.punkt import PunktTrainer, save_punkt_params

    target = folder / "nltk" / "tokenizers" / "punkt_tab" / "english"
    if "punkt" not in _known:
        trainer = PunktTrainer()
        for text in texts:
            trainer.train(text, finalize=False)
        _known["punkt"] = trainer.get_params()
        # The three sources split every text anew, in every fold.
        nltk.tokenize.word_tokenize = functools.cache(nltk.tokenize.word_tokenize)
        nltk.tokenize.sent_tokenize = functools.cache(nltk.tokenize.sent_tokenize)
    os.makedirs(target.parent)
    save_punkt_params(_known["punkt"], str(target))
    nltk.data.path[:] = [str(folder / "nltk")]
