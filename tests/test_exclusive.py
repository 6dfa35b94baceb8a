"""Learning when every record has exactly one theme."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix

from tagger.exclusive import (
    ExclusiveModel,
    Sharpness,
    compete,
    fit_exclusive,
    judged_anyway,
    sharpen,
    word_beginnings,
)
from tagger.records import Record
from tagger.themes import Theme
from tagger.tokens import code
from tagger.training import train_held_out

# Columns: a word of the first theme, one of the second, one of both.
ROWS = csr_matrix(
    np.array([[0.6, 0, 0.8], [0.6, 0, 0.8], [0, 0.6, 0.8], [0, 0.6, 0.8]], np.float32)
)
Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], np.int8)
IDF = np.full(3, 5.0)
SPACE = np.zeros((3, 2), np.float32)
NO_BEGINNINGS = csr_matrix((3, 0), dtype=np.float32)


def fitted(rows=ROWS, y=Y, space=SPACE, beginnings=NO_BEGINNINGS):
    return fit_exclusive(rows, y, np.ones(y.shape), IDF, space, beginnings)


def test_equal_logits_share_the_probability():
    assert_allclose(compete(np.zeros((1, 4))), np.full((1, 4), 0.25))


def test_probabilities_are_as_the_squares_of_the_softplus():
    # log(1 + e^z) is 1 and 2 at these.
    z = np.log(np.expm1(np.array([[1.0, 2.0]])))
    assert_allclose(compete(z), [[0.2, 0.8]])


@given(
    arrays(float, array_shapes(min_dims=2, max_dims=2), elements=st.floats(-1e6, 1e6))
)
def test_probabilities_sum_to_one_and_keep_the_order(logits):
    P = compete(logits)
    assert_allclose(P.sum(axis=1), 1.0)
    best = np.take_along_axis(P, logits.argmax(axis=1)[:, None], axis=1)
    assert_array_equal(best[:, 0], P.max(axis=1))


def test_no_theme_and_no_record_are_no_trouble():
    assert compete(np.zeros((2, 0))).shape == (2, 0)
    assert compete(np.zeros((0, 3))).shape == (0, 3)


def test_a_word_of_one_theme_weighs_more_than_one_of_all():
    scale = fitted().scale
    assert scale[0] > scale[2]
    assert scale[0] == scale[1]


def test_what_parts_the_themes_decides():
    model = fitted()
    assert model.weights[0, 0] > 0 > model.weights[0, 1]
    assert_allclose(model.weights[2], 0, atol=1e-6)
    assert_array_equal(model.scores(ROWS).argmax(axis=1), [0, 0, 1, 1])


def test_an_ngram_that_nobody_knows_does_not_lengthen_a_text():
    rows = csr_matrix(ROWS.toarray()[:2])
    model = fitted(rows, Y[:2])
    assert model.scale[1] == 0
    near = np.array([[0, 0], [0, 1], [0, 0]], np.float32)
    assert fitted(rows, Y[:2], near).scale[1] > 0


def test_a_word_near_in_the_space_shares_what_was_learned():
    # The third word was in no record, and lies beside the first.
    rows = csr_matrix(np.array([[1, 0, 0], [0, 1, 0]], np.float32))
    near = np.array([[1, 0], [0, 1], [1, 0]], np.float32)
    weights = fitted(rows, Y[[0, 2]], near).weights
    assert weights[2, 0] > 0 > weights[2, 1]


def test_words_that_begin_alike_share_what_was_learned():
    # The third word stands in the second theme once, and begins as the first does.
    rows = np.zeros((7, 3), np.float32)
    rows[:3, 0], rows[3:, 1], rows[6, 2] = 1, 1, 0.5
    y = np.repeat(np.eye(2, dtype=np.int8), [3, 4], axis=0)
    alike = csr_matrix(np.array([[1], [0], [1]], np.float32))
    alone = fitted(csr_matrix(rows), y).weights
    together = fitted(csr_matrix(rows), y, beginnings=alike).weights
    assert together[2, 0] > alone[2, 0]


def test_beginnings_are_of_words_and_end_with_short_ones():
    words = ("bone", "boned", "the")
    codes = np.array(sorted(map(code, words)), np.uint64)
    record = Record(id="x", title="Bone and boned", abstract="The bones")
    found = word_beginnings([record], codes).toarray()
    bone, boned, the = (found[np.searchsorted(codes, code(word))] for word in words)
    # "bone", "bone."; "bone", "boned", "boned."; one of three letters has none.
    assert bone.sum() == 2
    assert boned.sum() == 3
    assert bone @ boned == 1
    assert the.sum() == 0


def test_no_record_teaches_nothing():
    model = fitted(ROWS[:0], Y[:0])
    assert_array_equal(model.scores(ROWS), np.zeros((4, 2)))
    assert word_beginnings([], np.zeros(0, np.uint64)).shape == (0, 0)


def test_a_pair_that_counts_nothing_changes_nothing():
    rows = csr_matrix(np.vstack([ROWS.toarray(), [[0.6, 0, 0.8]]]).astype(np.float32))
    counts = np.ones((5, 2))
    counts[4] = 0
    wrong, right = (
        fit_exclusive(rows, np.vstack([Y, last]), counts, IDF, SPACE, NO_BEGINNINGS)
        for last in ([[-1, -1]], [[0, 0]])
    )
    assert_allclose(wrong.weights, right.weights)


def test_scores_become_logits_by_scale_share_shift_and_keywords():
    sharpness = Sharpness(scale=2.0, shift=1.0, keywords=3.0, share=0.5)
    logits = sharpness.logits(np.array([[1.0]]), np.array([[-1.0]]), np.array([[2.0]]))
    assert_allclose(logits, [[2 * (1 - 0.5) + 1 + 6]])


def test_surer_scores_give_a_larger_scale():
    label = np.arange(2000) % 2
    y = np.eye(2, dtype=np.int8)[label]
    scores = np.where(y == 1, 0.5, -0.5)
    zeros = np.zeros(y.shape)
    sure = sharpen(scores, zeros, zeros, y)
    scores[:600] *= -1
    unsure = sharpen(scores, zeros, zeros, y)
    assert sure.scale > unsure.scale
    top = compete(unsure.logits(scores, zeros, zeros)).max(axis=1)
    assert_allclose(top, 0.7, atol=0.03)


def test_frequencies_count_where_they_help():
    y = np.eye(2, dtype=np.int8)[np.repeat([0, 1], [90, 10])]
    scores = np.tile([0.0, 0.1], (100, 1))  # they say the second, always
    base = np.tile([0.8, -0.8], (100, 1))
    zeros = np.zeros(y.shape)
    assert sharpen(scores, base, zeros, y).share > 0
    assert sharpen(scores, base, zeros, y[::-1, ::-1]).share == 0


def test_without_evidence_sharpness_is_the_usual():
    nothing = np.zeros((0, 2))
    first = sharpen(nothing, nothing, nothing, nothing.astype(np.int8))
    two_labels = np.ones((3, 2), np.int8)
    some = np.ones((3, 2))
    assert sharpen(some, some, some, two_labels) == first


def test_only_a_text_without_a_telling_word_is_not_judged():
    assert_array_equal(
        judged_anyway(np.array([-1, 0, 1, 2, 3], np.int8)), [-1, 0, 1, -1, -1]
    )


@pytest.mark.parametrize("n_records", [0, 1, 2, 6])
def test_few_records_keep_what_the_keywords_say(n_records, toy_background):
    themes = [Theme("o", "O", keywords=("Adam",)), Theme("p", "P", keywords=("force",))]
    texts = [("momentum", "o"), ("energy", "p"), ("optimizer", "o")]
    texts += [("potential", "p"), ("learning rate", "o"), ("interatomic", "p")]
    records = [
        Record(id=str(i), title=title, themes=(theme,))
        for i, (title, theme) in enumerate(texts[:n_records])
    ]
    model, held_out = train_held_out(
        records, themes, background=toy_background, exclusive=True
    )
    new = [Record(id="a", title="Adam"), Record(id="f", title="force")]
    assert [d.tags[0].theme for d in model.tag(new)] == ["o", "p"]
    assert model.exclusive
    assert (held_out is None) == (n_records < 2)


def test_held_out_probabilities_sum_to_one(toy_records, toy_themes, toy_background):
    one_each = [record for record in toy_records if record.themes]
    model, held_out = train_held_out(
        one_each, toy_themes, background=toy_background, exclusive=True
    )
    assert_allclose(held_out.P.sum(axis=1), 1.0)
    assert_array_equal(held_out.given.sum(axis=1), np.ones(len(one_each)))
    assert isinstance(model.weights[0, 0], np.float16)


def test_a_model_by_hand_scores_rows_of_the_old_frequencies():
    model = ExclusiveModel(
        np.array([1, 0, 0], np.float32), np.eye(3, 1, dtype=np.float32), np.zeros(1)
    )
    assert_allclose(model.scores(ROWS)[:, 0], [1, 1, 0, 0])


def test_keywords_alone_give_no_theme_where_nothing_or_as_much_speaks(toy_background):
    themes = [Theme("o", "O", keywords=("Adam",)), Theme("p", "P", keywords=("force",))]
    model, _ = train_held_out([], themes, background=toy_background, exclusive=True)
    texts = ["Adam", "force", "Adam and the force", "momentum of the energy"]
    new = [Record(id=text, title=text) for text in texts]
    found = [(d.status, [tag.theme for tag in d.tags]) for d in model.tag(new)]
    assert found == [
        ("tagged", ["o"]),
        ("tagged", ["p"]),
        ("none", []),
        ("none", []),
    ]
    assert_allclose(model.predict_proba(new)[2:], 0.5)


def test_columns_of_beginnings_have_one_order_in_every_process(root):
    program = (
        "import numpy as np\n"
        "from tagger.exclusive import word_beginnings\n"
        "from tagger.records import Record\n"
        "from tagger.tokens import phrase_codes\n"
        "words = 'bone bones optimizer optimal potential'\n"
        "codes = np.sort(np.array(phrase_codes(words), np.uint64))\n"
        "found = word_beginnings([Record(id='a', title=words)], codes)\n"
        "print(found.indices.tolist())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(said) == 1
    assert "[" in said.pop()
