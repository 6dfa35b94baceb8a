"""What each figure of an evaluation means, in a sentence."""

from __future__ import annotations

__all__ = [
    "DEFINITIONS",
    "FEW_LABELS",
    "SMALLER_IS_BETTER",
    "THEME_FIGURES",
    "WITHOUT_INTERVAL",
]

DEFINITIONS = {
    "precision": "Of the tags given, the share that is right; undefined where none "
    "was given.",
    "recall": "Of the labels, the share that was given; undefined where there are "
    "none.",
    "f1": "2 TP / (2 TP + FP + FN); undefined where there is neither a label nor a "
    "tag, 0 where a theme without a label was given.",
    "average_precision": "Area under the steps of the precision-recall curve of the "
    "probabilities; undefined where there are no labels.",
    "micro_precision": "Of all tags given, the share that is right.",
    "micro_recall": "Of all labels, the share that was given.",
    "micro_f1": "F1 of all record-theme pairs counted together.",
    "macro_precision": "Mean precision over the themes where it is defined.",
    "macro_recall": "Mean recall over the themes that have a label.",
    "macro_f1": "Mean F1 over the themes that have a label or a tag; a theme that "
    "was given and has no label counts 0.",
    "weighted_f1": "Mean F1 over the themes, weighted by their labels; a theme that "
    "was given and has no label counts 0 with the weight of its tags.",
    "samples_f1": "Mean over the records of the F1 of their tags; a record with no "
    "label and no tag counts 1.",
    "exact_match": "Share of records whose tags are exactly the labels.",
    "hamming_loss": "Share of record-theme pairs that are wrong.",
    "macro_average_precision": "Mean average precision over the themes that have a "
    "label.",
    "precision_at_1": "Of the records with a label, the share whose most probable "
    "theme is a label.",
    "precision_at_3": "Mean share of labels among the three most probable themes, "
    "over records with a label; records with fewer than three labels cannot reach 1.",
    "ranking_average_precision": "Label ranking average precision, over records "
    "with a label.",
    "brier": "Mean squared difference of probability and label over all pairs.",
    "calibration_error": "Expected calibration error over all pairs, in 15 bins of "
    "equally many pairs: mean distance of mean probability and share of labels. It "
    "leans upward, the more so the fewer the records, and so do its resamples: no "
    "interval is given.",
    "coverage": "Share of records that were judged. One abstained from counts as "
    "given no tag; its probabilities count like any other's.",
}
WITHOUT_INTERVAL = frozenset({"calibration_error"})
SMALLER_IS_BETTER = frozenset({"hamming_loss", "brier", "calibration_error"})
THEME_FIGURES = frozenset({"precision", "recall", "f1", "average_precision"})
# Labels of a theme below which its figures say little.
FEW_LABELS = 30
