"""Text: a table for a terminal."""

import numpy as np

from tagger.comparison import compare
from tagger.evaluation import evaluate
from tagger.rendering import format_comparison, format_gain, format_table


def test_table_is_aligned_and_plain():
    y = np.array([[1, 0], [1, 0], [0, 0]], dtype=np.int8)
    text = format_table(evaluate(y, y.astype(float), y == 1, ["a", "long-theme"]))
    lines = text.split("\n")
    assert lines[0].startswith("3 records, 2 themes, 2 labels; 1 record without")
    assert lines[2].startswith("theme       labels  given  precision")
    assert lines[4] == (
        "long-theme       0      0  -                     -                     -"
        "                     -"
    )
    assert lines[3].index("1.000 [") == lines[2].index("precision")
    assert "fewer than 30 labels, too few to tell: a, long-theme" in lines
    assert "hamming_loss               0.0000 [0.0000, 0.5615]" in lines
    assert text.isascii()


def test_a_comparison_is_lines_with_how_often_it_is_better():
    y = np.array([[1, 0]] * 20 + [[0, 1]] * 20, dtype=np.int8)
    text = format_comparison(
        compare(y, np.zeros(y.shape, bool), y == 1, ["a", "b"], names=("none", "all"))
    )
    lines = text.split("\n")
    assert lines[0] == (
        "all against none, paired on the same records; the tags of 40 records differ"
    )
    assert (
        "exact_match      1.000 [1.000, 1.000]  better in 100 % of resamples" in lines
    )
    assert "F1 of themes that differ: 2" in lines


def test_the_gain_over_the_keywords_is_said_with_both_figures():
    y = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.int8)
    half = y.astype(bool) & (np.arange(3) < 2)[:, None]

    def gain(given, rules):
        return format_gain(
            evaluate(
                y, y.astype(float), given, ["a", "b"],
                baselines={"keyword rules": rules}, n_boot=0,
            )
        )  # fmt: skip

    assert gain(y == 1, half) == (
        "Better than the keywords alone by 0.200 micro F1 (1.000 against 0.800)."
    )
    assert gain(half, y == 1) == (
        "Not better than the keywords alone: micro F1 0.800 against 1.000."
    )
    assert gain(half, half).startswith("Not better than the keywords alone: ")
