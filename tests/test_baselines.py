"""Simpler ways to decide."""

from dataclasses import replace

import numpy as np

from tagger.baselines import (
    LEARNED,
    RULES,
    count_words,
    keyword_rules,
    simple_decisions,
    simple_folds,
    tfidf_logistic,
)
from tagger.material import prepare
from tagger.records import Record
from tagger.themes import Theme

BELLS = [Record(id=f"b{i}", title=f"bells ring loud {i}") for i in range(30)]
MOSS = [Record(id=f"m{i}", title=f"green moss grows {i}") for i in range(30)]
RECORDS = [record for pair in zip(BELLS, MOSS, strict=True) for record in pair]
COUNTS = count_words(RECORDS)
Y = np.array([[1, 0], [0, 1]] * 30, dtype=np.int8)


def test_keyword_rules_give_a_theme_from_their_score_on():
    assert keyword_rules(np.array([[1.4, 1.5, 2.0]])).tolist() == [[False, True, True]]


def test_words_that_tell_themes_apart_are_learned():
    given = tfidf_logistic(COUNTS, Y, np.arange(50), np.arange(50, 60))
    assert np.array_equal(given, Y[50:] == 1)


def test_labels_of_the_test_are_not_looked_at():
    other = Y.copy()
    other[50:] = 1 - other[50:]
    train, test = np.arange(50), np.arange(50, 60)
    one, two = (tfidf_logistic(COUNTS, y, train, test) for y in (Y, other))
    assert np.array_equal(one, two)


def test_unsure_pairs_are_not_learned_from():
    y = Y.copy()
    y[0] = -1
    given = tfidf_logistic(COUNTS, y, np.arange(50), np.arange(50, 60))
    assert np.array_equal(given, Y[50:] == 1)


def test_a_theme_without_labels_is_given_to_none_and_no_words_give_nothing():
    y = np.hstack([Y, np.zeros((60, 1), np.int8)])
    given = tfidf_logistic(COUNTS, y, np.arange(50), np.arange(50, 60))
    assert not given[:, 2].any()
    blank = [Record(id=str(i)) for i in range(4)]
    assert not tfidf_logistic(
        count_words(blank), Y[:4], np.arange(2), np.arange(2, 4)
    ).any()


def test_folds_give_each_record_what_others_taught_in_the_order_of_the_records():
    themes = [Theme(id="bells", name="Bells"), Theme(id="moss", name="Moss")]
    ids = ("bells", "moss")
    records = [replace(r, themes=(ids[n % 2],)) for n, r in enumerate(RECORDS)]
    material = prepare(records, themes)
    fold = np.arange(60) // 2 % 3
    found = simple_folds(material, fold)
    assert list(found) == [RULES, LEARNED]
    assert np.array_equal(found[LEARNED], Y == 1)
    for f in range(3):
        rows = np.flatnonzero(fold == f)
        part = simple_decisions(material, [(np.flatnonzero(fold != f), rows)])
        assert np.array_equal(part[LEARNED], found[LEARNED][rows])
