"""N-grams, counts and TF-IDF, by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tagger.features import (
    TITLE_WEIGHT,
    Rows,
    Vocabulary,
    find,
    join_code_arrays,
    ngram_events,
    read_document,
    saturate,
    tally,
)
from tagger.records import Record
from tagger.tokens import code, join_codes

codes64 = st.integers(0, 2**64 - 1)


def documents(*texts):
    """Read documents from pairs of title and abstract."""
    return [read_document(Record(id="x", title=t, abstract=a)) for t, a in texts]


def join(phrase):
    """Give the code of an n-gram of plain words."""
    first, *rest = map(code, phrase.split())
    for value in rest:
        first = join_codes(first, value)
    return first


def listing(events):
    """Give events as sorted tuples."""
    columns = events.rows, events.codes, events.weights, events.first, events.last
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


@given(st.lists(st.tuples(codes64, codes64), min_size=1, max_size=20))
def test_codes_are_joined_alike_one_by_one_and_in_arrays(pairs):
    left, right = np.array(pairs, np.uint64).T
    wanted = [join_codes(a, b) for a, b in pairs]
    assert join_code_arrays(left, right).tolist() == wanted


def test_every_word_and_every_pair_of_neighbours_is_an_event():
    events = ngram_events(documents(("Fast Adam", ""), ("", "Adam is fast")))
    assert listing(events) == sorted(
        [
            (0, join("fast"), TITLE_WEIGHT, 0, 0),
            (0, join("adam"), TITLE_WEIGHT, 1, 1),
            (0, join("fast adam"), TITLE_WEIGHT, 0, 1),
            (1, join("adam"), 1.0, 0, 0),
            (1, join("is"), 1.0, 1, 1),
            (1, join("fast"), 1.0, 2, 2),
            (1, join("adam is"), 1.0, 0, 1),
            (1, join("is fast"), 1.0, 1, 2),
        ]
    )


@pytest.mark.parametrize(
    ("title", "abstract"),
    [
        ("learning", "rate"),
        ("", "learning, rate"),
        ("", "learning (rate)"),
        ("", "learning. Rate"),
        ("learning: rate", ""),
    ],
)
def test_no_pair_reaches_over_a_break_or_a_field(title, abstract):
    events = ngram_events(documents((title, abstract)))
    assert events.codes.tolist() == [code("learning"), code("rate")]


def test_no_pair_reaches_into_the_next_document():
    events = ngram_events(documents(("", "learning"), ("", "rate"), ("", "")))
    assert events.codes.tolist() == [code("learning"), code("rate")]
    assert events.rows.tolist() == [0, 1]


def test_a_longer_phrase_is_found_where_its_beginning_is_known():
    texts = documents(("", "a b c d e, b c d"))
    prefixes = np.array(sorted([join("b c"), join("b c d")]), np.uint64)
    plain, long = ngram_events(texts), ngram_events(texts, prefixes)
    more = set(long.codes.tolist()) - set(plain.codes.tolist())
    assert more == {join("b c d"), join("b c d e")}
    assert (long.codes == np.uint64(join("b c d"))).sum() == 2
    assert (long.codes == np.uint64(join("b c d e"))).sum() == 1


@pytest.mark.parametrize("texts", [(), (("", ""),), (("", ""), ("...", "n/a"))])
def test_documents_without_words_have_no_events(texts):
    events = ngram_events(documents(*texts), np.array([1], np.uint64))
    assert len(events.codes) == len(events.rows) == len(events.weights) == 0


def test_a_placeholder_is_not_read():
    document = documents(("n/a", "This paper has been withdrawn by the author."))[0]
    assert (document.title.text, document.abstract.text) == ("", "")


def test_find_gives_places_in_ascending_codes():
    codes = np.array([2, 5, 9], np.uint64)
    wanted = np.array([9, 1, 2, 10, 5, 6], np.uint64)
    assert find(codes, wanted).tolist() == [2, -1, 0, -1, 1, -1]
    assert find(codes[:0], wanted).tolist() == [-1] * 6
    assert find(codes, wanted[:0]).tolist() == []


def test_tally_sums_weights_by_document_and_column():
    events = ngram_events(documents(("Adam", "adam sgd x"), ("", ""), ("", "sgd")))
    columns = find(
        np.array(sorted([code("adam"), code("sgd")]), np.uint64), events.codes
    )
    rows = tally(events, columns, 3)
    adam, sgd = (0, 1) if code("adam") < code("sgd") else (1, 0)
    cells = {adam: TITLE_WEIGHT + 1, sgd: 1.0}
    assert rows.indptr.tolist() == [0, 2, 2, 3]
    assert rows.columns.tolist() == [0, 1, sgd]
    assert rows.values.tolist() == [cells[0], cells[1], 1.0]


def test_tally_of_nothing_known_is_empty_rows():
    events = ngram_events(documents(("", "adam"), ("", "sgd")))
    rows = tally(events, np.full(len(events.codes), -1), 2)
    assert (rows.indptr.tolist(), len(rows), len(rows.values)) == ([0, 0, 0], 2, 0)


def test_a_cell_is_the_sublinear_tfidf_of_a_row_of_length_one():
    names = sorted(["adam", "sgd", "rate"], key=code)
    idf = {"adam": 2.0, "sgd": 5.0, "rate": 3.0}
    vocabulary = Vocabulary(
        np.array([code(n) for n in names], np.uint64), np.array([idf[n] for n in names])
    )
    texts = documents(("Adam", "adam sgd unknown"), ("", "unknown"), ("", "rate, rate"))
    rows = vocabulary.transform(ngram_events(texts), 3)
    adam, sgd = (1 + math.log(TITLE_WEIGHT + 1)) * 2.0, 1.0 * 5.0
    length = math.hypot(adam, sgd)
    wanted = np.zeros((3, 3))
    wanted[0, names.index("adam")] = adam / length
    wanted[0, names.index("sgd")] = sgd / length
    wanted[2, names.index("rate")] = 1.0
    dense = np.zeros((3, 3))
    dense[np.repeat(np.arange(3), np.diff(rows.indptr)), rows.columns] = rows.values
    assert_allclose(dense, wanted, rtol=1e-12)


def test_row_sums_of_rows_with_and_without_cells():
    rows = Rows(np.array([0, 2, 2, 3, 3]), np.array([0, 1, 0]), np.array([1.0, 2, 4]))
    assert rows.row_sums(rows.values).tolist() == [3.0, 0.0, 4.0, 0.0]
    pairs = np.stack([rows.values, -rows.values], axis=1)
    assert_array_equal(rows.row_sums(pairs), [[3, -3], [0, 0], [4, -4], [0, 0]])


def test_the_sum_of_a_row_does_not_depend_on_its_batch():
    cells = np.random.default_rng(0).normal(size=(400, 3))
    alone = Rows(np.array([0, 137]), np.arange(137), cells[:137, 0])
    among = Rows(np.array([0, 3, 140, 400]), np.arange(400), cells[:, 0])
    mixed = np.concatenate([cells[200:203], cells[:137], cells[:260]])
    assert_array_equal(alone.row_sums(cells[:137])[0], among.row_sums(mixed)[1])


def test_keyword_counts_saturate():
    assert saturate(np.array([0.0, 1.0, 3.0, 7.0])).tolist() == [0, 1, 2, 3]
