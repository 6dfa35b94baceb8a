"""All that a review found: answers, figures, leaks, comparison, and its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tagger.answers import Answers
from tagger.comparison import Comparison
from tagger.evaluation import Evaluation
from tagger.fingerprints import Overlap
from tagger.groups import GroupFigures, evaluate_groups, group_values
from tagger.report import build_report

__all__ = ["Findings"]


@dataclass(frozen=True)
class Findings:
    """All that was found out about a model or a way to train one.

    Parameters
    ----------
    answers : Answers
        Of the records that count.
    evaluation : Evaluation
        Of `answers`, with its baselines.
    split : str
        Sentences on which records were tested and how.
    seed : int
    overlaps : tuple of Overlap
        Records that a model was trained on; not among `answers`.
    flattered : Evaluation or None
        Figures with the overlaps, where they were asked for.
    comparison : Comparison or None
        With another model or setting, which is its first.
    learning_curve : list of dict
    out_of_fold : bool
        True where every answer comes from a model trained on part of the records.
    """

    answers: Answers
    evaluation: Evaluation
    split: str
    seed: int
    overlaps: tuple[Overlap, ...] = ()
    flattered: Evaluation | None = None
    comparison: Comparison | None = None
    learning_curve: Sequence[Mapping[str, float]] = ()
    out_of_fold: bool = False

    def groups(self) -> dict[str, tuple[GroupFigures, ...]]:
        """Measure the answers by part, year, source, venue, subject and length."""
        a = self.answers
        part_tested = [(a.parts[i],) for i in a.part_of.tolist()]
        found = {}
        for field, values in group_values(a.records, part_tested).items():
            found[field] = evaluate_groups(
                a.y,
                a.given,
                values,
                abstained=a.abstained,
                units=a.units,
                seed=self.seed,
            )
        return found

    def report(self, *, title: str, made: Mapping[str, Any]) -> dict[str, Any]:
        """Gather everything as plain JSON values; see `tagger.report`."""
        a = self.answers
        flattered = self.flattered
        return build_report(
            a.records,
            a.theme_ids,
            a.y,
            a.P,
            a.given,
            self.evaluation,
            title=title,
            split=self.split,
            names={theme.id: theme.name for theme in a.models[0].themes},
            thresholds=a.thresholds().tolist(),
            abstained=a.abstained,
            explain=a.explain,
            groups=self.groups(),
            overlaps=self.overlaps,
            seen=None
            if flattered is None
            else {
                "records": flattered.n_records,
                "overall": flattered.to_dict()["overall"],
            },
            comparison=self.comparison,
            learning_curve=self.learning_curve,
            out_of_fold=self.out_of_fold,
            made=made,
        )
