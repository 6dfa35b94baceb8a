"""What models said of labelled records that they had not learned from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagger.evaluation import Evaluation, evaluate
from tagger.labels import Labels
from tagger.metrics import Flags, Scores
from tagger.model import Tagger
from tagger.records import Record

__all__ = ["Answers"]

IntArray = NDArray[np.int64]

# Numbers that say how often each resample draws each record: 80 MB of them.
_RESAMPLED = 10_000_000


@dataclass(frozen=True)
class Answers:
    """What was said of test records, beside their labels.

    Parameters
    ----------
    records : list of Record
        The records tested; one that was tested twice stands here twice.
    theme_ids : tuple of str
        In column order.
    y : int8 ndarray of shape (n_records, n_themes)
        1 label, 0 not, -1 unsure.
    P : float64 ndarray of shape (n_records, n_themes)
        Probabilities in [0, 1].
    given : bool ndarray of shape (n_records, n_themes)
        Tags.
    abstained : bool ndarray of shape (n_records,)
        Records that were not judged.
    units : int64 ndarray of shape (n_records,)
        Row of the record in the input: equal numbers are one record.
    parts : tuple of str
        Name of each part that was tested, such as ``"fold 1"``.
    part_of : int64 ndarray of shape (n_records,)
        Which of `parts` the record was tested in.
    models : tuple of Tagger, length n_parts, optional
        The model that judged each part; empty where they were not kept.
    baselines : dict of str to bool ndarray of shape (n_records, n_themes), optional
        Tags that simpler ways give to the same records, by their names.
    """

    records: list[Record]
    theme_ids: tuple[str, ...]
    y: Labels
    P: Scores
    given: Flags
    abstained: Flags
    units: IntArray
    parts: tuple[str, ...]
    part_of: IntArray
    models: tuple[Tagger, ...] = ()
    baselines: Mapping[str, Flags] = field(default_factory=dict)

    def select(self, rows: Flags) -> Answers:
        """Keep some records only; `rows` is a mask of shape (n_records,)."""
        at = np.flatnonzero(rows).tolist()
        arrays = ("y", "P", "given", "abstained", "units", "part_of")
        kept: dict[str, Any] = {name: getattr(self, name)[rows] for name in arrays}
        kept["baselines"] = {name: g[rows] for name, g in self.baselines.items()}
        return replace(self, records=[self.records[i] for i in at], **kept)

    def thresholds(self) -> Scores:
        """Give the threshold of each theme, the mean of the models that judged."""
        counts = np.bincount(self.part_of, minlength=len(self.models))
        every = np.array([model.thresholds for model in self.models])
        mean: Scores = counts @ every / max(int(counts.sum()), 1)
        return mean

    def explain(self, row: int, column: int) -> list[dict[str, Any]]:
        """Give what spoke for a theme in a record, as `tagger.report` wants it."""
        model = self.models[int(self.part_of[row])]
        found = model.explain(self.records[row], self.theme_ids[column])
        return [phrase.to_dict() for phrase in found.phrases]

    def evaluate(self, *, seed: int = 0) -> Evaluation:
        """Score the answers; a record tested more than once is resampled as one.

        Of many records, fewer resamples tell how sure a figure is.
        """
        n_boot = min(max(_RESAMPLED // max(len(self.y), 1), 100), 1000)
        return evaluate(
            self.y,
            self.P,
            self.given,
            self.theme_ids,
            abstained=self.abstained,
            baselines=self.baselines,
            units=self.units,
            n_boot=n_boot,
            seed=seed,
        )
