"""N-gram counts of many records, against the n-grams themselves."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tagger.counts import count_ngrams, join_counts
from tagger.features import (
    Events,
    Vocabulary,
    find,
    ngram_events,
    only,
    read_document,
    read_events,
)
from tagger.records import Record
from tagger.tokens import code, join_codes

RECORDS = [
    Record(id="a", title="FP8 training", abstract="We train in FP8. FP8 works."),
    Record(id="b"),
    Record(id="c", abstract="Training of FP8 training"),
    Record(id="d", title="Training"),
]


def counts_of(records):
    return count_ngrams(read_events(records), len(records))


def cells(counts):
    """Give the counts as {(record, code): (in title, in abstract)}."""
    rows = np.repeat(np.arange(len(counts)), np.diff(counts.indptr))
    codes = counts.codes[counts.columns]
    both = zip(counts.title.tolist(), counts.abstract.tolist(), strict=True)
    return dict(zip(zip(rows.tolist(), codes.tolist(), strict=True), both, strict=True))


def test_counts_are_those_of_the_text():
    found = cells(counts_of(RECORDS))
    fp8, training = code("fp8"), code("training")
    assert found[0, fp8] == (1, 2)
    assert found[0, training] == (1, 0)
    assert found[0, join_codes(fp8, training)] == (1, 0)
    assert found[2, training] == (0, 2)
    assert {row for row, _ in found} == {0, 2, 3}


def test_words_are_told_from_pairs():
    counts = counts_of(RECORDS)
    words = {code(w) for w in "fp8 training we train in works of".split()}
    assert set(counts.codes[counts.is_word].tolist()) == words


def test_an_ngram_that_is_longer_is_passed_over():
    prefix = np.array([join_codes(code("fp8"), code("training"))], np.uint64)
    records = [Record(id="a", title="FP8 training works")]
    longer = count_ngrams(read_events(records, prefix), 1)
    assert cells(longer) == cells(counts_of(records))


def test_codes_that_differ_in_their_last_bits_alone_are_told_apart():
    codes = np.array([9, 8, 10, 9, 8], np.uint64)
    nothing = np.zeros(5, np.int64)
    events = Events(nothing, codes, np.ones(5), nothing, nothing)
    assert cells(count_ngrams(events, 1)) == {
        (0, 8): (0, 2),
        (0, 9): (0, 2),
        (0, 10): (0, 1),
    }


def test_parts_joined_are_the_whole():
    joined = join_counts([counts_of(RECORDS[:2]), counts_of(RECORDS[2:])])
    whole = counts_of(RECORDS)
    assert cells(joined) == cells(whole)
    assert_array_equal(joined.codes, whole.codes)
    assert_array_equal(joined.is_word, whole.is_word)
    assert_array_equal(joined.indptr, whole.indptr)


def test_a_part_has_its_records_in_their_order():
    part = counts_of(RECORDS).part(np.array([3, 1, 0]))
    again = counts_of([RECORDS[3], RECORDS[1], RECORDS[0]])
    assert cells(part) == cells(again)


def test_no_record_has_no_count():
    counts = counts_of([])
    assert (len(counts), len(counts.codes)) == (0, 0)
    assert counts.sums(np.zeros((0, 2), bool)).shape == (0, 2)


@pytest.mark.parametrize("fields", [{}, {"title": False}, {"abstract": False}])
def test_rows_are_those_of_the_vocabulary(fields):
    counts = counts_of(RECORDS)
    known = counts.codes[::2]
    vocabulary = Vocabulary(known, np.linspace(1, 3, len(known)))
    documents = [read_document(record) for record in RECORDS]
    if fields:
        documents = [only(d, title="abstract" in fields) for d in documents]
    wanted = vocabulary.transform(ngram_events(documents), len(documents))
    place = find(vocabulary.codes, counts.codes)
    rows = counts.transform(vocabulary, place, **fields)
    assert_array_equal(rows.indptr, wanted.indptr)
    assert_array_equal(rows.columns, wanted.columns)
    assert_array_equal(rows.values, wanted.values)


def test_marked_ngrams_are_summed_over_both_fields():
    counts = counts_of(RECORDS)
    marks = np.stack([counts.is_word, counts.codes == code("fp8")], axis=1)
    assert counts.sums(marks).tolist() == [[8, 3], [0, 0], [4, 1], [1, 0]]
    assert counts.document_frequency().sum() == len(counts.columns)
