"""Cleaning, and the way back to the source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagger.text import CleanText, clean, is_placeholder
from tagger.tokens import tokenize


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("plain text", "plain text"),
        ("", ""),
        (r"a $1.51\times$ gain", "a 1.51× gain"),
        (r"\textit{1)} first", "1) first"),
        (r"{\ours} wins", " wins"),
        (r"\ours{} wins", " wins"),
        (r"na\"ive, na{\"i}ve, na\"{\i}ve", "naïve, naïve, naïve"),
        (r"Poincar\'e and Erd\H{o}s", "Poincaré and Erdős"),
        (r"14.8\%", "14.8%"),
        (r"$\mathcal{O}(n^2)$", "O(n^2)"),
        (r"\textsc{Adam}", "Adam"),
        (r"\beta-catenin", "β-catenin"),
        (r"4$\times$", "4×"),
        (r"of \cite{a,b}text", "of text"),
        (r"\href{http://x.org/a}{the code}", "the code"),
        (r"a~b \\ c", "a~b   c"),
        (r"\documentclass{article}\usepackage{x}\begin{document}Hi\end{document}",
         " Hi "),
        (r"\begin{abstract}We show\end{abstract} \section{One}", " We show "),
    ],
)  # fmt: skip
def test_latex_becomes_what_it_prints(source, wanted):
    assert clean(source).text == wanted


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        (
            "<jats:title>Abstract</jats:title><jats:p>We show <jats:italic>x"
            "</jats:italic> &lt; y</jats:p>",
            "  We show x < y ",
        ),
        (
            "<jats:sec><jats:title>Aim</jats:title><jats:p>A</jats:p></jats:sec>",
            "  Aim  A  ",
        ),
        ("a<mml:math><mml:mi>x</mml:mi></mml:math>b", "axb"),
        ("H<sub>2</sub>O", "H2O"),
        ("one<br/>two", "one two"),
        ("if a < b and c > d", "if a < b and c > d"),
        ("&amp;amp; &#x3b2; &nosuch;", "& β &nosuch;"),
        ("a<!-- gone -->b", "a b"),
    ],
)
def test_markup_leaves_text_with_its_blanks(source, wanted):
    assert clean(source).text == wanted


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("nai\u0308ve", "naïve"),
        ("e\ufb03cient", "efficient"),
        ("optimi\u00adzer", "optimizer"),
        ("zero\u200bwidth", "zerowidth"),
        ("low\u2011rank", "low-rank"),
        ("a\u00a0b", "a b"),
        ("\uff26\uff30\uff18", "FP8"),
        ("\u201cquoted\u201d it\u2019s", '"quoted" it\'s'),
        ("ReLU\u00b2", "ReLU2"),
        ("\u00b5P and \u03bcP", "μP and μP"),
    ],
)
def test_unicode_is_composed_and_made_plain(source, wanted):
    assert clean(source).text == wanted


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("optimi-\nzation", "optimization"),
        ("state-of-the-\nart", "state-of-the-art"),
        ("long-\r\n  context", "long-context"),
        ("algo-\nrithms", "algorithms"),
        ("4-\nbit", "4-\nbit"),
    ],
)
def test_a_hyphen_at_a_line_end_joins(source, wanted):
    assert clean(source).text == wanted


@pytest.mark.parametrize(
    "source",
    ["Abstract\u2014 We show", "Abstract We show", "ABSTRACT: We show",
     "Abstract\u2013We show", "abstract. We show", "  Abstract:We show"],
)  # fmt: skip
def test_the_head_of_an_abstract_falls_off(source):
    assert clean(source).text == "We show"


@pytest.mark.parametrize(
    "source",
    ["Abstract Meaning Representation parsing", "Abstract-Syntax Trees for Code",
     "Abstract neural reasoning", "Abstraction in games", "An Abstract: We"],
)  # fmt: skip
def test_abstract_as_a_word_stays(source):
    assert clean(source).text == source


@pytest.mark.parametrize(
    "text",
    ["", "  ", "...", "n/a", "N/A.", "None", "No abstract available.",
     "This paper has been withdrawn by the author", "Withdrawn.", "[Withdrawn]",
     "This submission is withdrawn due to an error in Lemma 2.", "Abstract"],
)  # fmt: skip
def test_a_text_that_says_there_is_none_is_a_placeholder(text):
    assert is_placeholder(text)


@pytest.mark.parametrize(
    "text",
    ["Withdrawn drugs are classified from their structure.", "No free lunch",
     "Withdrawn participants differ", "We study withdrawal", "None of these work"],
)  # fmt: skip
def test_a_text_that_speaks_of_withdrawal_is_no_placeholder(text):
    assert not is_placeholder(text)


@pytest.mark.parametrize(
    ("source", "piece", "wanted"),
    [
        (r"a $1.51\times$ gain", "1.51×", r"1.51\times"),
        (r"by \textsc{Adam} now", "Adam", "Adam"),
        (r"na\"ive Bayes", "naïve", r"na\"ive"),
        ("x &lt; y", "<", "&lt;"),
        ("<p>We <i>show</i></p>", "show", "show"),
        ("optimi-\nzation now", "optimization", "optimi-\nzation"),
        ("e\ufb03cient", "efficient", "e\ufb03cient"),
        ("e\ufb03cient", "f", "\ufb03"),
        ("nai\u0308ve", "ï", "i\u0308"),
    ],
)
def test_a_span_leads_back_to_the_source(source, piece, wanted):
    cleaned = clean(source)
    at = cleaned.text.index(piece)
    start, end = cleaned.span(at, at + len(piece))
    assert source[start:end] == wanted


def test_text_without_markup_is_given_back_as_it_is():
    assert clean("Plain.") == CleanText("Plain.", ((0, 0, 0),))


@pytest.mark.parametrize("source", ["a\x00b", "\ud83d", "😀 ok", "\x1b[31m"])
def test_strange_characters_stop_nothing(source):
    cleaned = clean(source)
    assert len(tokenize(cleaned.text)) <= len(source)


def test_a_long_text_full_of_openings_takes_no_time():
    for piece in ("{", "$", "\\begin{", "<", "&amp;", "-\n", "\\'", "<a "):
        assert clean(piece * 30_000) is not None


pieces = st.sampled_from(
    ["$", "{", "}", "\\", r"\textit{", r"\beta", r"\"i", r"\times", "<p>", "</p>",
     "<jats:title>Abstract</jats:title>", "&lt;", "&amp;amp;", "-\n", "ation", " ",
     "\u00ad", "\ufb03", "i\u0308", "\u2014", "Abstract: ", r"\cite{a}", "%", "4-bit",
     r"\documentclass", r"\begin{document}", r"\end{document}", "word", "\u200b", "²"]
)  # fmt: skip
texts = st.lists(pieces | st.text(max_size=4), max_size=25).map("".join)


@given(texts)
def test_every_token_leads_back_into_the_source_in_order(source):
    cleaned = clean(source)
    tokens = tokenize(cleaned.text)
    before = 0
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        first, last = cleaned.span(start, end)
        assert before <= first < last <= len(source)
        before = first


@given(texts)
def test_every_character_leads_back_into_the_source_in_order(source):
    cleaned = clean(source)
    spans = [cleaned.span(i, i + 1) for i in range(len(cleaned.text))]
    assert spans == sorted(spans)
    assert all(0 <= start < end <= len(source) for start, end in spans)
