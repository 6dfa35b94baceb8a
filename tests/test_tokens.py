"""Tokens, norms and codes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagger.text import clean
from tagger.tokens import code, join_codes, norm, phrase_codes, tokenize, words


def surfaces(text):
    tokens = tokenize(text)
    return [text[a:b] for a, b in zip(tokens.starts, tokens.ends, strict=True)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("4-bit", ["4", "bit"]),
        ("2:4 sparsity", ["2:4", "sparsity"]),
        ("k-means", ["k", "means"]),
        ("Q-learning", ["Q", "learning"]),
        ("in C++ and C#", ["in", "C++", "and", "C#"]),
        ("R", ["R"]),
        ("A* search", ["A*", "search"]),
        ("μP", ["μP"]),
        ("3D", ["3D"]),
        ("ReLU²", ["ReLU²"]),
        ("NVFP4/MXFP4", ["NVFP4", "MXFP4"]),
        ("top-1", ["top", "1"]),
        ("System 2", ["System", "2"]),
        ("AI", ["AI"]),
        ("KV cache", ["KV", "cache"]),
        ("128K 8bit 4o", ["128K", "8bit", "4o"]),
        ("1.58-bit, 1,000 x 3.5.", ["1.58", "bit", "1,000", "x", "3.5"]),
        ("Adam's rate", ["Adam", "rate"]),
        ("naïve Bayes", ["naïve", "Bayes"]),
        ("...", []),
        ("", []),
    ],
)
def test_the_words_of_the_field_are_kept(text, wanted):
    assert surfaces(text) == wanted


def test_tokens_know_their_spans_and_where_a_phrase_ends():
    tokens = tokenize("FP8, 4-bit (KV cache). It's llama.cpp")
    assert list(zip(tokens.starts, tokens.ends, tokens.breaks, strict=True)) == [
        (0, 3, True),
        (5, 6, True),
        (7, 10, False),
        (12, 14, True),
        (15, 20, False),
        (23, 25, True),
        (28, 33, False),
        (34, 37, False),
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("4-bit k-means on DeepMD-kit", ["4-bit", "k-means", "on", "DeepMD-kit"]),
        ("NVFP4/MXFP4", ["NVFP4", "MXFP4"]),
        ("", []),
    ],
)
def test_words_are_tokens_joined_by_hyphens(text, wanted):
    assert [text[a:b] for a, b in words(text)] == wanted


@pytest.mark.parametrize(
    "spellings",
    [
        ("optimizer", "Optimisers", "OPTIMIZERS"),
        ("MLIP", "MLIPs"),
        ("policy", "policies"),
        ("box", "boxes"),
        ("naïve", "naive", "Naive"),
        ("μP", "muP", "µP"),
        ("ReLU²", "relu2"),
        ("quantisation", "Quantization"),
    ],
)
def test_spellings_of_one_word_have_one_norm(spellings):
    assert len({norm(word) for word in spellings}) == 1


@pytest.mark.parametrize("word", ["loss", "gas", "ms", "basis", "consensus", "h100"])
def test_a_short_word_or_one_on_ss_us_is_keeps_its_end(word):
    assert norm(word) == word


@pytest.mark.parametrize(
    ("word", "wanted"),
    # From the test vectors published with FNV.
    [("a", 0xAF63DC4C8601EC8C), ("foobar", 0x85944171F73967E8)],
)
def test_a_code_is_fnv_1a(word, wanted):
    assert code(word) == code(word.upper()) == wanted


def test_joining_codes_is_splitmix64():
    # The first output of splitmix64 from the state 0.
    assert join_codes(1, 0) == 0xE220A8397B1DCDAF


def test_the_order_of_joined_codes_counts():
    a, b = phrase_codes("learning rate")
    assert join_codes(a, b) != join_codes(b, a)


@pytest.mark.parametrize("phrase", ["long-context", "Long Context", "long  contexts"])
def test_a_phrase_has_the_codes_of_its_tokens(phrase):
    assert phrase_codes(phrase) == (code("long"), code("context"))


@given(st.text(max_size=40))
def test_tokens_lie_apart_in_order_and_are_letters_and_digits(text):
    text = clean(text).text
    tokens = tokenize(text)
    ends = [0, *tokens.ends]
    for before, start, end in zip(ends, tokens.starts, tokens.ends, strict=False):
        assert before <= start < end
        assert text[start].isalnum()
    assert all(0 <= value < 2**64 for value in tokens.codes)
    assert tokens.breaks[:1] in ([], [True])


@given(st.text(max_size=8))
def test_a_norm_has_no_case_left(text):
    for start, end in words(text):
        assert norm(text[start:end]).casefold() == norm(text[start:end])
