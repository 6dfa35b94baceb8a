"""Splits: every theme spread evenly, no paper on both sides."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagger.errors import RecordError
from tagger.records import Record
from tagger.splits import (
    field_values,
    group_split,
    holdout_split,
    multilabel_folds,
    time_split,
)


def test_positives_of_every_theme_are_spread_within_one():
    rng = np.random.default_rng(0)
    y = (rng.random((300, 6)) < [0.02, 0.05, 0.1, 0.2, 0.3, 0.5]).astype(np.int8)
    folds = multilabel_folds(y, np.arange(300), n_folds=5)
    for column in y.T:
        counts = np.bincount(folds[column == 1], minlength=5)
        assert counts.max() - counts.min() <= 2
    rare = np.bincount(folds[y[:, 0] == 1], minlength=5)
    assert rare.max() - rare.min() <= 1
    sizes = np.bincount(folds)
    assert sizes.max() - sizes.min() <= 4


def test_unsure_counts_as_no_label():
    y = np.array([[1], [1], [-1], [-1]], dtype=np.int8)
    folds = multilabel_folds(y, np.arange(4), n_folds=2)
    assert sorted(folds[:2].tolist()) == [0, 1]


def test_groups_stay_whole_and_equal_seeds_give_equal_folds():
    rng = np.random.default_rng(1)
    y = (rng.random((200, 4)) < 0.2).astype(np.int8)
    groups = rng.integers(60, size=200)
    folds = multilabel_folds(y, groups, n_folds=4, seed=3)
    for group in np.unique(groups):
        assert len(np.unique(folds[groups == group])) == 1
    assert (folds == multilabel_folds(y, groups, n_folds=4, seed=3)).all()
    assert (folds != multilabel_folds(y, groups, n_folds=4, seed=4)).any()


@given(
    n=st.integers(2, 40),
    k=st.integers(0, 5),
    n_groups=st.integers(2, 40),
    n_folds=st.integers(2, 5),
    seed=st.integers(0, 5),
)
@settings(deadline=None, max_examples=60)
def test_any_labels_give_whole_groups_and_folds_in_range(n, k, n_groups, n_folds, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(-1, 2, size=(n, k)).astype(np.int8)
    groups = rng.integers(n_groups, size=n)
    if len(np.unique(groups)) < n_folds:
        return
    folds = multilabel_folds(y, groups, n_folds, seed)
    assert folds.min() >= 0
    assert folds.max() < n_folds
    assert len(set(zip(groups, folds, strict=True))) == len(set(groups))


def test_more_folds_than_groups_are_refused():
    y = np.zeros((4, 1), dtype=np.int8)
    with pytest.raises(ValueError, match=r"n_folds is 3; expected .* 2 distinct"):
        multilabel_folds(y, np.array([0, 0, 1, 1]), n_folds=3)


def test_holdout_holds_the_share_of_every_theme():
    y = np.zeros((100, 2), dtype=np.int8)
    y[:20, 0] = 1
    y[10:60, 1] = 1
    train, test = holdout_split(y, np.arange(100), share=0.2)
    assert (len(train), len(test)) == (80, 20)
    assert y[test].sum(axis=0).tolist() == [4, 10]
    assert sorted([*train, *test]) == list(range(100))


@pytest.mark.parametrize("share", [0, 1, -0.5, 2])
def test_holdout_share_must_lie_between_zero_and_one(share):
    with pytest.raises(ValueError, match=r"share is .*; expected a number between"):
        holdout_split(np.zeros((4, 1), dtype=np.int8), np.arange(4), share=share)


def test_rows_and_groups_must_match():
    with pytest.raises(ValueError, match=r"y has 3 rows and groups has 4\."):
        holdout_split(np.zeros((3, 1), dtype=np.int8), np.arange(4))


def test_time_split_trains_before_the_year_and_drops_later_versions():
    records = [
        Record(id="a", year=2023),
        Record(id="b", year=2025),
        Record(id="c", year=2024),
        Record(id="d", year=2025),
        Record(id="e"),
    ]
    groups = np.array([0, 1, 2, 0, 3])
    train, test = time_split(records, 2025, groups)
    assert train.tolist() == [0, 2]
    assert test.tolist() == [1]


def test_time_split_with_an_empty_side_gives_the_years():
    records = [Record(id="a", year=2023), Record(id="b", year=2024)]
    with pytest.raises(
        RecordError,
        match=r"the year 2030 leaves 2 to train on and 0 .* 2023 to 2024",
    ):
        time_split(records, 2030, np.arange(2))


@pytest.mark.parametrize(
    ("years", "said"),
    [
        (
            (2023, 2024),
            r"Splitting 2 records .* are 2023 to 2024\. Choose a year inside that spa",
        ),
        (
            (2024, None),
            r"are 2024 to 2024\. 1 record has no year; give each one in the field "
            r"'year'\. Choose a year inside that span\.$",
        ),
        ((None,), r"Splitting 1 record .* are none\. 1 record has no year; give each"),
        ((None, None), r"are none\. 2 records have no year; .* field 'year'\.$"),
    ],
)
def test_time_split_says_how_many_records_lack_a_year(years, said):
    records = [Record(id=str(n), year=year) for n, year in enumerate(years)]
    with pytest.raises(RecordError, match=said):
        time_split(records, 2030, np.arange(len(years)))


def test_group_split_leaves_one_source_out_in_every_version():
    records = [
        Record(id="a", sources=("one",)),
        Record(id="b", sources=("two",)),
        Record(id="c", sources=("one", "two")),
        Record(id="d", sources=("two",)),
        Record(id="e"),
    ]
    groups = np.array([0, 1, 2, 0, 3])
    splits = group_split(records, "source", groups)
    found = {name: [side.tolist() for side in split] for name, split in splits.items()}
    assert found == {"one": [[1, 4], [0, 2]], "two": [[4], [1, 2, 3]]}


def test_group_split_by_a_field_of_the_source():
    records = [Record(id="a", extra={"area": "x"}), Record(id="b", extra={"area": "y"})]
    assert list(group_split(records, "area", np.arange(2))) == ["x", "y"]


def test_group_split_needs_two_values():
    records = [Record(id="a", year=2023), Record(id="b", year=2023)]
    with pytest.raises(
        RecordError, match=r"'year' has 1 distinct value in 2 records \(\['2023'\]\)"
    ):
        group_split(records, "year", np.arange(2))


@pytest.mark.parametrize(
    ("words", "value"),
    [(0, "0 to 99"), (99, "0 to 99"), (100, "100 to 199"), (900, "300 or more")],
)
def test_length_is_counted_in_hundreds_of_words(words, value):
    record = Record(id="a", abstract="word " * words)
    assert field_values(record, "length") == (value,)


def test_field_values_are_text_and_none_where_the_field_is_missing():
    record = Record(id="a", year=2024, sources=("x", "y", "x"), extra={"area": 3})
    assert field_values(record, "year") == ("2024",)
    assert field_values(record, "source") == ("x", "y")
    assert field_values(record, "area") == ("3",)
    assert field_values(record, "venue") == ()
    own = replace(record, extra={"source": "page", "area": ["a", 3, "a"]})
    assert field_values(own, "source") == ("page",)
    assert field_values(own, "area") == ("a", "3")
