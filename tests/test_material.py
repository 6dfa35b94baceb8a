"""Labelled records, read once."""

import numpy as np
import pytest

from tagger.errors import ThemeError
from tagger.material import prepare
from tagger.records import Record


def test_unlabelled_records_are_passed_over_and_parts_keep_their_order(
    toy_records, toy_themes
):
    material = prepare([Record(id="x"), *toy_records], toy_themes)
    assert material.records == toy_records
    assert material.theme_ids == ("optimizers", "low-precision", "potentials")
    part = material.part(np.array([3, 0]))
    assert [record.id for record in part.records] == ["r3", "r0"]
    assert part.y.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert np.array_equal(part.scores, material.scores[[3, 0]])
    assert part.documents == [material.documents[3], material.documents[0]]


def test_no_record_is_read_as_nothing(toy_themes):
    material = prepare([], toy_themes)
    assert material.y.shape == material.scores.shape == (0, 3)


def test_no_theme_is_refused():
    with pytest.raises(ThemeError, match=r"^There is no theme to learn; a theme file"):
        prepare([], [])
