"""Labelled records, read once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tagger.errors import ThemeError
from tagger.material import prepare, read
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
    assert len(part.counts) == 2
    cells = slice(*material.counts.indptr[[3, 4]])
    assert np.array_equal(
        part.counts.columns[: cells.stop - cells.start], material.counts.columns[cells]
    )


def test_no_record_is_read_as_nothing(toy_themes):
    material = prepare([], toy_themes)
    assert material.y.shape == material.scores.shape == (0, 3)


def test_no_theme_is_refused():
    with pytest.raises(ThemeError, match=r"^There is no theme to learn; a theme file"):
        prepare([], [])


def test_keyword_scores_are_those_of_each_field(toy_records, toy_themes):
    from tagger.features import only, read_document
    from tagger.keywords import KeywordMatcher

    material = prepare(toy_records, toy_themes)
    matcher = KeywordMatcher(toy_themes)
    documents = [read_document(record) for record in toy_records]
    assert_allclose(material.scores, matcher.scores(documents), atol=1e-12)
    for found, title in (
        (material.abstract_scores, False),
        (material.title_scores, True),
    ):
        alone = [only(document, title=title) for document in documents]
        assert_allclose(found, matcher.scores(alone), atol=1e-12)


def test_what_is_read_is_the_same_by_any_number_of_jobs_and_blocks(
    toy_records, toy_themes, monkeypatch
):
    wanted, prints = read(toy_records, toy_themes)
    monkeypatch.setattr("tagger.material._BLOCK", 2)
    monkeypatch.setattr("tagger.material._SHARE", 4)
    found, again = read(toy_records, toy_themes, jobs=2)
    for name in ("codes", "indptr", "columns", "title", "abstract"):
        one, other = (getattr(m.counts, name) for m in (wanted, found))
        assert_array_equal(one, other)
    assert_array_equal(found.scores, wanted.scores)
    assert_array_equal(found.groups, wanted.groups)
    for name, array in prints.to_arrays().items():
        assert_array_equal(again.to_arrays()[name], array)
