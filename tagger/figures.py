"""What an evaluation found: figures of each theme and of all, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tagger.definitions import DEFINITIONS
from tagger.intervals import Figure

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Evaluation", "ThemeFigures"]


@dataclass(frozen=True, slots=True)
class ThemeFigures:
    """How good one theme is.

    Parameters
    ----------
    theme : str
        Theme id.
    support, given, right, unsure : int
        Records that have the label, that were given the tag, that have both,
        and that are left out because the label is not known.
    precision, recall, f1, average_precision : Figure
        See `tagger.definitions.DEFINITIONS`.
    """

    theme: str
    support: int
    given: int
    right: int
    unsure: int
    precision: Figure
    recall: Figure
    f1: Figure
    average_precision: Figure


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures of one set of decisions on one set of labelled records.

    Parameters
    ----------
    n_records, n_labels, n_unlabelled, n_unsure, n_abstained : int
        Records; labels; records that rightly have no label; record-theme pairs
        left out as unsure; records abstained from, which count as given no tag.
    themes : tuple of ThemeFigures
        In column order.
    overall : dict of str to Figure
        By the names of `DEFINITIONS`.
    baselines : dict of str to dict of str to float
        Figures of simpler ways to decide on the same records.
    n_boot, seed : int
        Resamples behind the intervals, and their random seed.
    """

    n_records: int
    n_labels: int
    n_unlabelled: int
    n_unsure: int
    n_abstained: int
    themes: tuple[ThemeFigures, ...]
    overall: dict[str, Figure]
    baselines: dict[str, dict[str, float]]
    n_boot: int
    seed: int

    def to_frame(self) -> pd.DataFrame:
        """Return the figures of the themes as a pandas table, one row a theme."""
        import pandas as pd

        names = ("precision", "recall", "f1", "average_precision")
        rows = {
            t.theme: {"labels": t.support, "given": t.given}
            | {name: getattr(t, name).value for name in names}
            for t in self.themes
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("theme")

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; undefined figures are None."""
        names = ("precision", "recall", "f1", "average_precision")
        counts = ("support", "given", "right", "unsure")
        return {
            "records": self.n_records,
            "labels": self.n_labels,
            "records_without_label": self.n_unlabelled,
            "unsure_pairs": self.n_unsure,
            "abstained": self.n_abstained,
            "overall": {name: fig.to_dict() for name, fig in self.overall.items()},
            "themes": [
                {"theme": t.theme}
                | {name: getattr(t, name) for name in counts}
                | {name: getattr(t, name).to_dict() for name in names}
                for t in self.themes
            ],
            "baselines": {
                name: {
                    key: None if np.isnan(value) else value
                    for key, value in figures.items()
                }
                for name, figures in self.baselines.items()
            },
            "interval": {"level": 0.95, "resamples": self.n_boot, "seed": self.seed},
            "definitions": DEFINITIONS,
        }
