"""MinHash: similarity estimated, near-copies paired."""

import numpy as np
import pytest

from tagger.minhash import near_pairs, similarity, sketch


def words(start, count):
    return [f"w{i}" for i in range(start, start + count)]


@pytest.mark.parametrize("shared", [0, 50, 100, 150, 198])
def test_similarity_is_close_to_the_share_of_trigrams_in_common(shared):
    # Texts of 200 words have 198 trigrams; shifted ones share a run of them.
    made = sketch([words(0, 200), words(198 - shared, 200)])
    found = similarity(made.minima[[0]], made.minima[[1]])[0]
    assert found == pytest.approx(shared / (2 * 198 - shared), abs=0.12)


def test_each_pair_comes_once_with_the_smaller_row_first():
    made = sketch([words(0, 60), words(500, 60), words(0, 60), words(0, 60)])
    assert sorted(near_pairs(made, made)) == [(0, 2, 1.0), (0, 3, 1.0), (2, 3, 1.0)]


def test_rows_of_two_sets_are_paired_in_the_order_given():
    one, other = sketch([words(9, 60), words(0, 60)]), sketch([words(0, 60)])
    assert (1, 0, 1.0) in list(near_pairs(one, other))


def test_short_texts_are_never_near():
    made = sketch([words(0, 16), words(0, 16), [], []])
    assert made.trigrams.tolist() == [14, 14, 0, 0]
    assert list(near_pairs(made, made)) == []


def test_sketches_do_not_depend_on_the_batch():
    alone, together = sketch([words(3, 40)]), sketch([words(0, 9), words(3, 40)])
    np.testing.assert_array_equal(alone.minima[0], together.minima[1])


def test_near_copies_are_the_same_within_a_set_and_between_two():
    texts = [words(start, 60) for start in (0, 5, 500, 2, 505, 900)]
    made, again = sketch(texts), sketch(texts)
    within = sorted(near_pairs(made, made))
    between = sorted(p for p in near_pairs(made, again) if p[0] < p[1])
    assert within == between
    assert {(0, 1), (0, 3), (2, 4)} <= {(row, other) for row, other, _ in within}
