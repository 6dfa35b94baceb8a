"""Fixtures every test may use: paths, a toy corpus, a tiny trained model."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from tagger.background import Background
from tagger.records import Record
from tagger.themes import Theme
from tagger.tokens import join_codes, phrase_codes

# A deadline would measure how busy the machine is, not the code.
settings.register_profile("tagger", deadline=None)
settings.load_profile("tagger")

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

# What the toy background knows: n-gram, in how many of 1,000 abstracts, vector.
NGRAMS = {
    "the": (900, (0, 0, 0)),
    "of": (900, (0, 0, 0)),
    "a": (800, (0, 0, 0)),
    "we": (700, (0, 0, 0)),
    "of the": (600, (0, 0, 0)),
    "training": (300, (30, 30, 0)),
    "optimizer": (40, (127, 0, 0)),
    "adam": (30, (120, 5, 0)),
    "momentum": (20, (110, 0, 5)),
    "learning rate": (20, (100, 0, 0)),
    "fp8": (10, (0, 127, 0)),
    "4 bit": (15, (0, 120, 0)),
    "quantization": (25, (0, 110, 0)),
    "interatomic": (10, (0, 0, 127)),
    "potential": (50, (0, 0, 60)),
    "interatomic potential": (10, (0, 0, 120)),
    "energy": (50, (0, 0, 50)),
    "force": (20, (0, 0, 80)),
}


@pytest.fixture(scope="session")
def root() -> Path:
    """Give the root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Give the folder of real records beside the checkout, or skip."""
    if not (SHARED / "gold").is_dir():
        pytest.skip("needs the real records in ../shared, which are not here")
    return SHARED


@pytest.fixture(scope="session")
def toy_themes() -> tuple[Theme, ...]:
    """Give three themes; one has a phrase of four tokens, one a "not" phrase."""
    return (
        Theme(
            id="optimizers",
            name="Optimizers",
            keywords=("optimizer", "Adam", "learning rate"),
        ),
        Theme(
            id="low-precision",
            name="Low precision",
            keywords=("FP8", "4-bit", "quantization"),
        ),
        Theme(
            id="potentials",
            name="Interatomic potentials",
            keywords=("interatomic potential", "machine learned interatomic potential"),
            exclude=("action potential",),
        ),
    )


@pytest.fixture(scope="session")
def toy_records() -> list[Record]:
    """Give nine labelled records, two of them about no theme."""
    texts = [
        ("A faster optimizer", "We study Adam and its momentum.", ("optimizers",)),
        ("Learning rate decay", "The optimizer of the day.", ("optimizers",)),
        ("Momentum revisited", "Adam without a schedule.", ("optimizers",)),
        ("Training in FP8", "We keep 4-bit weights.", ("low-precision",)),
        ("Quantization of weights", "A 4-bit code.", ("low-precision",)),
        ("Interatomic potentials", "The energy and force.", ("potentials",)),
        ("A potential for water", "Interatomic force fields.", ("potentials",)),
        ("Action potential of a nerve", "We record the energy.", ()),
        ("The history of chess", "We tell a story of the game.", ()),
    ]
    return [
        Record(id=f"r{n}", title=title, abstract=abstract, themes=themes)
        for n, (title, abstract, themes) in enumerate(texts)
    ]


def ngram_code(phrase: str) -> int:
    """Give the code of an n-gram written as words."""
    first, *rest = phrase_codes(phrase)
    for code in rest:
        first = join_codes(first, code)
    return first


@pytest.fixture(scope="session")
def toy_background() -> Background:
    """Give a background of a handful of n-grams in three dimensions."""
    rows = sorted((ngram_code(name), *facts) for name, facts in NGRAMS.items())
    codes, df, vectors = zip(*rows, strict=True)
    return Background(
        np.array(codes, np.uint64),
        np.array(df, np.uint32),
        1000,
        np.array(vectors, np.int8),
        np.full(3, 0.01, np.float32),
    )


@pytest.fixture(scope="session")
def tiny_trained(toy_records, toy_themes, toy_background):
    """Give a model of the toy corpus, and what it said of held-out records."""
    from tagger.training import train_held_out

    return train_held_out(toy_records, toy_themes, background=toy_background)


@pytest.fixture(scope="session")
def tiny(tiny_trained):
    """Give a model of the toy corpus."""
    return tiny_trained[0]


@pytest.fixture(scope="session")
def tiny_dir(tiny, tmp_path_factory) -> Path:
    """Give the folder of a saved model; leave it as it is."""
    from tagger.model import save

    folder = tmp_path_factory.mktemp("models") / "tiny"
    save(tiny, folder)
    return folder


@pytest.fixture(scope="session")
def shipped():
    """Give the model that comes with the package."""
    import tagger

    return tagger.load()
