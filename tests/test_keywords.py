"""Keyword hits and scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tagger.features import TITLE_WEIGHT, read_document, read_events
from tagger.keywords import KeywordMatcher, keyword_scores, phrase_table
from tagger.records import Record
from tagger.themes import Theme


def matcher(*keywords, exclude=()):
    return KeywordMatcher([Theme(id="t", name="T", keywords=keywords, exclude=exclude)])


def read(title="", abstract=""):
    return read_document(Record(id="x", title=title, abstract=abstract))


def found(keywords, abstract):
    """Give the stretches of an abstract that keywords hit."""
    hits = matcher(*keywords).hits(read(abstract=abstract))
    return [abstract[hit.start : hit.end] for hit in hits]


@pytest.mark.parametrize(
    ("keyword", "abstract", "wanted"),
    [
        ("4-bit", "In 4 bit and 4-bit codes", ["4 bit", "4-bit"]),
        ("optimizer", "Optimisers, optimizer", ["Optimisers", "optimizer"]),
        ("learning rate", "learning, rate", []),
        ("learning rate", "learning (rate)", []),
        ("learning rate", "learning. Rate", []),
        ("learning rate", "the Learning\nRates of it", ["Learning\nRates"]),
        ("Adam", "Adamant adams", ["adams"]),
        ("A*", "by A* and a", ["A*"]),
        ("μP", "by muP", ["muP"]),
        ("na\u00efve Bayes", r"a na\"ive Bayes rule", [r"na\"ive Bayes"]),
        ("low-rank", "a low\u2011rank <i>mat</i>", ["low\u2011rank"]),
        ("optimization", "optimi-\nzation", ["optimi-\nzation"]),
        ("Adam", r"\textsc{Adam} wins", ["Adam"]),
        ("FP8", "<jats:p>In <b>FP8</b></jats:p>", ["FP8"]),
    ],
)
def test_a_keyword_is_found_as_the_text_has_it(keyword, abstract, wanted):
    assert found([keyword], abstract) == wanted


def test_a_hit_says_theme_phrase_field_and_span():
    themes = [
        Theme(id="a", name="A", keywords=("Adam",)),
        Theme(id="b", name="B", keywords=("adam",), exclude=("Adam Smith",)),
    ]
    hits = KeywordMatcher(themes).hits(read("Adam Smith", "Adam"))
    assert [
        (h.theme, h.phrase, h.speaks_for, h.field, h.start, h.end) for h in hits
    ] == [
        (0, "Adam", True, "title", 0, 4),
        (1, "adam", True, "title", 0, 4),
        (1, "Adam Smith", False, "title", 0, 10),
        (0, "Adam", True, "abstract", 0, 4),
        (1, "adam", True, "abstract", 0, 4),
    ]


@pytest.mark.parametrize(
    "keyword",
    ["low\u2011rank", "nai\u0308ve", "opti\u00admizer", "\uff26\uff30\uff18"],
)
def test_a_keyword_is_cleaned_like_the_text(keyword):
    assert len(found([keyword], f"A {keyword} thing")) == 1


def test_keyword_scores_by_hand():
    themes = [
        Theme(id="a", name="A", keywords=("Adam", "SGD"), exclude=("Adam Smith",)),
        Theme(id="b", name="B", keywords=("FP8",)),
        Theme(id="c", name="C"),
    ]
    texts = [
        read("Adam and SGD", "Adam, Adam, Adam, adam."),
        read("", "Adam Smith in FP8, FP8, fp8"),
        read(),
    ]
    scores = KeywordMatcher(themes).scores(texts)
    once = np.log2(1 + TITLE_WEIGHT)
    adam = np.log2(1 + TITLE_WEIGHT + 4)
    wanted = [[adam + once, 0, 0], [1 - 1, 2, 0], [0, 0, 0]]
    assert_allclose(scores, wanted)


def test_two_spellings_of_one_phrase_count_once():
    assert found(["4-bit", "4 bits", "4 bit"], "4-bit") == ["4-bit"]


def test_no_documents_give_no_rows():
    assert matcher("a").scores([]).shape == (0, 1)
    assert KeywordMatcher([]).scores([read("a")]).shape == (1, 0)


@pytest.mark.parametrize(
    ("title", "abstract"),
    [
        ("Adam and SGD", "Adam, Adam, Adam, adam."),
        ("", "Adam Smith in FP8, FP8, fp8"),
        ("A very long phrase of tokens", "a very long phrase, a very long one"),
        ("", ""),
    ],
)
def test_scores_by_codes_are_those_of_spacy(title, abstract):
    themes = [
        Theme(id="a", name="A", keywords=("Adam", "SGD"), exclude=("Adam Smith",)),
        Theme(id="b", name="B", keywords=("FP8", "fp-8", "very long phrase of tokens")),
    ]
    record = Record(id="x", title=title, abstract=abstract)
    table = phrase_table(themes)
    found = keyword_scores(read_events([record], table.prefixes), table, 1)
    wanted = KeywordMatcher(themes).scores([read_document(record)])
    assert_allclose(found, wanted, atol=1e-12)


def test_no_theme_has_no_phrase():
    table = phrase_table([])
    assert table.signs.shape == (0, 0)
    assert keyword_scores(read_events([]), table, 0).shape == (0, 0)
