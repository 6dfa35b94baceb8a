"""Records of one paper become one record."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagger.duplicates import merge_same
from tagger.records import Record

LONG = " ".join(f"word{n}" for n in range(40))


def test_two_versions_become_one_record_with_both_sources():
    first = Record(id="2401.00001v1", title="On Tags", sources=("a",), year=2024)
    second = Record(
        id="2401.00001v2", title="On New Tags", abstract="A", sources=("b",)
    )
    merged = merge_same([first, Record(id="z", title="Other"), second])
    assert merged.groups == [(0, 2), (1,)]
    record = merged.records[0]
    assert (record.id, record.title, record.abstract) == (
        "2401.00001v1",
        "On Tags",
        "A",
    )
    assert record.sources == ("a", "b")
    assert merged.conflicts == []


def test_labels_are_united_and_a_contradiction_is_reported():
    one = Record(id="a", title="T", themes=("x",), unsure=("y", "z"), line=1)
    one = replace(one, sources=("f",))
    other = Record(id="b", title="T", themes=("y",), line=2, sources=("g",))
    merged = merge_same([one, other])
    assert merged.records[0].themes == ("x", "y")
    assert merged.records[0].unsure == ("z",)
    assert merged.conflicts == [
        "'a' (f:1) and 'b' (g:2) are the same paper, labelled ['x'] and ['y']; all "
        "these labels are kept."
    ]


def test_an_unlabelled_copy_takes_the_labels_without_a_conflict():
    labelled = Record(id="a", title="On Tags", themes=())
    merged = merge_same([Record(id="b", title="On Tags"), labelled])
    assert merged.records[0].themes == ()
    assert merged.conflicts == []


def test_one_title_with_two_arxiv_ids_is_two_papers():
    ids = ("2401.00001", "2401.00002")
    records = [Record(id=name, title="Report of the group") for name in ids]
    assert len(merge_same(records).records) == 2


def test_one_title_with_two_first_authors_is_two_papers():
    title = "A survey of tagging scientific papers"
    records = [Record(id=n, title=title, authors=(n,)) for n in ("Ada Li", "Bo Wu")]
    assert len(merge_same(records).records) == 2


@pytest.mark.parametrize(("title", "papers"), [("Editorial", 2), (LONG, 1)])
def test_a_long_title_without_authors_is_the_one_paper_of_that_title(title, papers):
    records = [
        Record(id="a", title=title),
        Record(id="b", title=title, authors=("Li",)),
    ]
    assert len(merge_same(records).records) == papers


@given(st.lists(st.sampled_from(["A b", "C d", "E f", ""]), max_size=12))
def test_merging_loses_no_record_and_merges_no_more_the_second_time(titles):
    records = [Record(id=str(n), title=title) for n, title in enumerate(titles)]
    merged = merge_same(records)
    assert sorted(n for group in merged.groups for n in group) == [*range(len(titles))]
    assert merge_same(merged.records).records == merged.records
