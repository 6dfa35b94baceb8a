"""What unlabelled abstracts taught: how common an n-gram is, and its company.

A `Background` is learned once, over many abstracts, by a script in
`experiments/`, and used by every training: document frequencies weigh the
n-grams, and a latent semantic space lets a label on one word speak for the
words that keep its company. It folds away: a trained model needs none of it.

References
----------
S. Deerwester, S. Dumais, G. Furnas, T. Landauer, R. Harshman, "Indexing by
latent semantic analysis", JASIS 41 (1990).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.errors import ModelError
from tagger.features import Codes
from tagger.resources import resource
from tagger.store import read_folder, write_folder

__all__ = ["Background", "load_background", "save_background", "shipped_background"]


@dataclass(frozen=True, slots=True)
class Background:
    """What unlabelled abstracts taught.

    Parameters
    ----------
    codes : uint64 ndarray of shape (n_ngrams,)
        Ascending codes of the n-grams known.
    df : ndarray of shape (n_ngrams,)
        In how many abstracts each stood.
    n_documents : int
        How many abstracts there were.
    vectors : int8 ndarray of shape (n_ngrams, n_dimensions)
        Position of each n-gram in the semantic space, times `scale`.
    scale : float32 ndarray of shape (n_dimensions,)
        Unit of each dimension.
    """

    codes: Codes
    df: NDArray[np.integer]
    n_documents: int
    vectors: NDArray[np.int8]
    scale: NDArray[np.float32]

    @property
    def idf(self) -> NDArray[np.float32]:
        """Return the smoothed inverse document frequencies, > 1."""
        return idf(self.df, self.n_documents)

    @property
    def space(self) -> NDArray[np.float32]:
        """Return the vectors as numbers, shape (n_ngrams, n_dimensions)."""
        space: NDArray[np.float32] = self.vectors * self.scale
        return space


def idf(df: NDArray[np.integer], n_documents: int) -> NDArray[np.float32]:
    """Give ``1 + log((1 + n) / (1 + df))``, scikit-learn's smoothed idf."""
    return np.asarray(1.0 + np.log((1.0 + n_documents) / (1.0 + df)), np.float32)


def save_background(
    background: Background,
    folder: str | os.PathLike[str],
    facts: Mapping[str, Any],
    *,
    overwrite: bool = False,
) -> None:
    """Write a background as a folder of arrays, with facts on how it was made."""
    arrays: dict[str, NDArray[Any]] = {
        "codes": background.codes,
        "df": background.df.astype(np.uint32),
        "vectors": background.vectors,
        "scale": background.scale,
    }
    facts = {"n_documents": background.n_documents, **facts}
    write_folder(folder, "background", arrays, facts, overwrite=overwrite)


def load_background(folder: str | os.PathLike[str]) -> Background:
    """Read a background written by `save_background`.

    Raises
    ------
    ModelError
        If the folder is no background, or not whole.
    """
    arrays, manifest = read_folder(folder, "background")
    n_documents = manifest.get("n_documents")
    try:
        codes, df = arrays["codes"], arrays["df"]
        vectors, scale = arrays["vectors"], arrays["scale"]
    except KeyError as error:
        raise ModelError(f"{folder} is not whole: array {error} is missing.") from error
    kinds = "".join(array.dtype.kind for array in (codes, df, vectors, scale))
    if (
        not isinstance(n_documents, int)
        or n_documents < 1
        or kinds != "uuif"
        or codes.ndim != 1
        or codes.shape != df.shape
        or vectors.shape != codes.shape + scale.shape
    ):
        raise ModelError(f"{folder} is altered: its arrays do not fit each other.")
    return Background(codes, df, n_documents, vectors, scale)


@cache
def shipped_background() -> Background:
    """Read the background that comes with the package."""
    return load_background(resource("models/background"))
