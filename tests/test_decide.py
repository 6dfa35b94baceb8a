"""Cuts and outcomes."""

import pickle
from copy import copy
from dataclasses import FrozenInstanceError, asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from tagger.decide import REASONS, Decision, _decisions, cut, decisions
from tagger.records import Record, Tag

P = np.array([[0.5, 0.49, 0.9], [0.1, 0.2, 0.3], [0.9, 0.9, 0.9]])
HALF = np.full(3, 0.5)
FREE = np.full(3, -1, np.int8)


def test_a_threshold_is_inclusive():
    given = cut(P, HALF, FREE)
    assert_array_equal(given, [[1, 0, 1], [0, 0, 0], [1, 1, 1]])


def test_every_theme_has_its_own_threshold():
    given = cut(P, np.array([0.1, 1.0, 0.35]), FREE)
    assert_array_equal(given, [[1, 0, 1], [1, 0, 0], [1, 0, 1]])


def test_a_record_that_cannot_be_judged_gets_no_theme():
    reasons = np.array([0, -1, 3], np.int8)
    for exclusive in (False, True):
        given = cut(P, HALF, reasons, exclusive=exclusive)
        assert given.sum(axis=1).tolist() == [0, int(exclusive), 0]


def test_exclusive_gives_the_most_probable_and_nothing_where_two_are():
    given = cut(P, HALF, FREE, exclusive=True)
    assert_array_equal(given, [[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    one = cut(np.ones((2, 1)), HALF[:1], FREE[:2], exclusive=True)
    assert_array_equal(one, [[1], [1]])


@pytest.mark.parametrize("exclusive", [False, True])
def test_no_record_and_no_theme_are_no_trouble(exclusive):
    none = np.zeros(0, np.int8)
    assert cut(np.zeros((0, 3)), HALF, none, exclusive=exclusive).shape == (0, 3)
    assert cut(np.zeros((3, 0)), HALF[:0], FREE, exclusive=exclusive).shape == (3, 0)


probabilities = st.floats(0, 1)


@given(
    arrays(float, (4, 3), elements=probabilities),
    arrays(float, 3, elements=probabilities),
    arrays(float, 3, elements=probabilities),
)
def test_raising_a_threshold_never_adds_a_tag(P, thresholds, more):
    reasons = np.array([-1, -1, 2, -1], np.int8)
    low = cut(P, thresholds, reasons)
    high = cut(P, np.maximum(thresholds, more), reasons)
    assert not (high & ~low).any()


def test_decisions_are_tagged_none_or_abstained():
    records = [Record(id=str(n), title=f"T{n}") for n in range(3)]
    reasons = np.array([-1, -1, 3], np.int8)
    given = cut(P, HALF, reasons)
    assert decisions(records, P, given, reasons, ["a", "b", "c"]) == [
        Decision("0", "T0", "tagged", None, (Tag("c", 0.9), Tag("a", 0.5)),
                 (0.5, 0.49, 0.9)),
        Decision("1", "T1", "none", None, (), (0.1, 0.2, 0.3)),
        Decision("2", "T2", "abstained", "out_of_domain", (), (0.9, 0.9, 0.9)),
    ]  # fmt: skip


def test_equally_probable_tags_come_in_the_order_of_the_themes():
    record = [Record(id="x")]
    given = np.ones((1, 3), bool)
    tags = decisions(record, P[2:], given, FREE[:1], ["a", "b", "c"])[0].tags
    assert [tag.theme for tag in tags] == ["a", "b", "c"]


@given(
    arrays(float, (5, 4), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    arrays(bool, (5, 4)),
    arrays(np.int8, 5, elements=st.integers(-1, 3)),
)
def test_decisions_are_those_of_the_definition_in_python(P, given, reasons):
    records = [Record(id=str(n), title=f"T{n}") for n in range(5)]
    made = decisions(records, P, given, reasons, ["a", "b", "c", "d"])
    assert made == _decisions(records, P, given, reasons, ["a", "b", "c", "d"])
    assert pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(FrozenInstanceError, match="cannot assign"):
        made[0].status = "none"


def test_probabilities_are_numbers_whenever_they_are_asked_for():
    records = [Record(id=str(n)) for n in range(3)]
    given = cut(P, HALF, FREE)
    for asked in (repr, hash, asdict, copy, lambda made: made.probabilities):
        made = decisions(records, P, given, FREE, ["a", "b", "c"])[0]
        asked(made)
        assert made.probabilities == (0.5, 0.49, 0.9)
        assert asdict(made)["probabilities"] == (0.5, 0.49, 0.9)
        assert replace(made, id="x").probabilities is made.probabilities
    with pytest.raises(AttributeError, match="'Decision' object has no attribute 'p'"):
        made.p  # noqa: B018


def test_the_reasons_have_names():
    assert REASONS == ("no_text", "no_known_words", "language", "out_of_domain")
