"""The compiled part and the definition in Python give the same, to the last bit."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import tagger.features as features
import tagger.scorer as scorer
from tagger import kernel
from tagger.features import leave_to_python, read_events
from tagger.records import Record
from tagger.store import checksum
from tagger.tokens import _tokenize, tokenize
from tagger.values import _is_clean

compiled = kernel.compiled
pytestmark = pytest.mark.skipif(
    compiled is None, reason="the compiled part is not built here"
)

PLAIN = [
    "",
    "   ",
    "4-bit C++ (FP8), C# and A*. It's llama.cpp's",
    "C++x C+ C# #C A*b A**  R+S a@b & c|d e=f x",
    "1.58-bit 1,000 x 3.5. 2:4 a.5 5.a 1..2 1.,2 v1.2.3",
    "MLIPs policies dies loss gas basis consensus boxes classes aches bushes",
    "optimise optimised optimises optimiser optimisers optimising ise aise",
    "organisation organisations isation xisation xxisation raised ises",
    "Adam's rate 's s's 's's x's' ' 's",
    "naïve Bayes, μP µP muP ReLU² Ångström Škoda ﬁne ŒUVRE ß ẞ",
    "α-helix β–sheet “quoted” ‘single’ a—b … x×y 2×2 ·· a·b",
    "no\u00adhyphen zero\u200bwidth nb\u00a0space thin\u2009space",
    "𝛼 and 𝐱 ½ ² ③ ℒ ℝ ∑ ∫ ≤ → ™ №",
    "Ünïcödé ÉCOLES 12³ 3²",
    'under_score __x__ a/b "q" `t` ~ ^ [x] {y',
]
LATEX = [
    r"a $1.51\times$ gain of na\"ive \textit{SGD}",
    r"\'{e} \`a \^{ o } \~n \=a \.z \"\i \'{ab} \" {u} \c{c} \v s \u{g}d \H{o}",
    r"\cite{x} \citep[p. 3]{y} \citet*[a][b]{z} \citeq{w} \cite {v} \ref \label{}",
    r"\href{http://x}{text} \href {y}{z} \hrefx{a}",
    r"\left( x \right) \big| \Bigl[ \bigggl \leftarrow \rightarrow",
    r"\alpha\beta \varepsilon x \ours{} wins \method (fast) \LaTeX{} \textbf  {b}",
    r"50\% of R\&D \$5 \# \_ \{a\} \\ b \, c \; d \! e \: f\  g",
    r"\(x\) \[y\] a\-b c\/d ${ }$ \textbackslash$x$ \\$ \$$",
    r"\ss \oe \AE \o{} \aa ngstr \l \L",
    r"trailing \ ",
    "trailing \\",
    "{ braces } only",
    "a } alone",
    r"A $k$-means \emph{for} {\ours} text \quad x",
    r"$\mu$P and $\mathcal{O}(n^2)$, $O(\sqrt{T})$ -- \textemdash x",
]
RARE = [
    "} no effect",
    "<jats:p>We show <jats:italic>x</jats:italic> &lt; y</jats:p>",
    "a < b & c > d <5 &c; AT&T R&D; &amp;",
    "optimi-\nzation of state-of-the-\nart models -\n x",
    "Abstract: We show this.",
    "Abstract-We show this. abstraction",
    "This paper has been withdrawn by the author.",
    "The withdrawn drugs",
    "n/a",
    "N / A",
    "None",
    "not available",
    "No abstract available",
    "Novel notes on nodes",
    "to be added",
    "TBD",
    r"\'\j \"x \u{j} \b c",
    r"\begin{abstract} We show \end{abstract} more",
    r"a \\[2pt] b",
    "e\u0301cole a\u0308 \u0301x",
    "漢字 and 한국어 and हिन्दी",
    "lone \ud800 surrogate",
    "Kelvin \u212a and dotted \u0130 and long \u017f",
    "emoji 🏹 here",
    "nul \x00 byte \\\x00 $\x00",
    r"\cite{" + "x" * 600 + "} y",
    r"\cite[" + "x" * 300 + "]{z} y",
    "\\alpha\u2003x",
    "line\u2028sep \x85 next \x1c file",
]
TEXTS = PLAIN + LATEX + RARE
LETTERS = [*"\\{}$[]()%&_#-'.,:+*/@|=<> \n\té", "μ", "×", "–", "²", "ﬁ", "\u00ad"]
RARE_LETTERS = ["\u0301", "\u212a", "漢", "٣", "—"]
WORDS = (
    "'s ++ \\\\ \\' \\c \\cite \\alpha \\textbf \\href \\left ise isation ies sses "
    "the optimizer"
).split()
PHRASES = ["learning rate", "machine learned interatomic potential"]
pieces = st.sampled_from([*LETTERS, *RARE_LETTERS, *WORDS, *PHRASES])
texts = st.lists(pieces | st.text(max_size=4) | st.sampled_from(TEXTS), max_size=12)


def record(title, abstract=""):
    return Record(id="x", title=title, abstract=abstract)


def listing(events):
    """Give events as sorted tuples."""
    columns = events.rows, events.codes, events.weights, events.first, events.last
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def in_python(monkeypatch, function, *args):
    """Call a function where the compiled part is not built."""
    with monkeypatch.context() as patch:
        patch.setattr(kernel, "compiled", None)
        return function(*args)


@pytest.fixture(scope="module")
def only_once():
    """Give a `MonkeyPatch` that may be used within one hypothesis test."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module", autouse=True)
def with_tables():
    """Have few records scored by the tables too, as many are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scorer, "FEW", 0)
        yield


def test_few_records_are_scored_without_tables_and_alike(tiny, monkeypatch):
    monkeypatch.setattr(scorer, "FEW", 5)
    few, many = (pickle.loads(pickle.dumps(tiny._scorer)) for _ in range(2))
    many._left = 0
    texts = [*TEXTS, "optimizer " * 70, "learning rates of machine learned potentials"]
    for text in texts:
        records = [record(text, "adam fp8"), record("", text), record("q", text)]
        few._left = 5
        for one, other in zip(few(records), many(records), strict=True):
            assert_array_equal(one, other)
    assert "_model" not in vars(few)
    few(records)
    few(records[:1])
    assert "_model" in vars(few)


@given(st.lists(st.sampled_from([*RARE, *map(chr, range(0xA1)), "\ud800", "\udcff"])))
def test_what_can_be_printed_is_told_alike(drawn):
    text = "".join(drawn)
    assert compiled.is_clean(text) == _is_clean(text)


def test_a_brace_alone_stays_beside_signs_whose_bytes_look_like_latex(monkeypatch):
    records = [record("", "b \u222b \u2264 a } alone")]
    wanted = in_python(monkeypatch, read_events, records)
    assert listing(read_events(records)) == listing(wanted)


@pytest.mark.parametrize("text", ["q", "1", "1.5", "q optimizer", "μ", "q1", "2019"])
def test_words_that_tell_something_are_counted_alike(text, tiny, monkeypatch):
    records = [record(text, "the optimizer"), record("", text), record(text, text)]
    wanted = in_python(monkeypatch, tiny._judge_batch, records)[1]
    assert_array_equal(tiny._judge_batch(records)[1], wanted)


def test_a_letter_that_the_model_knows_still_tells_nothing(tiny, monkeypatch):
    from dataclasses import replace

    from tagger.features import Vocabulary
    from tagger.tokens import code

    known = np.array(sorted(map(code, ["q", "7", "alpha", "adam"])), np.uint64)
    model = replace(
        tiny,
        vocabulary=Vocabulary(known, np.full(4, 9.0)),
        weights=np.ones((4, len(tiny.themes)), np.float16),
    )
    records = [record(text) for text in ("q", "7 Q", "α", "adam", "q adam")]
    why = model._judge_batch(records)[1]
    assert (why >= 0).tolist() == [True, True, True, False, False]
    assert_array_equal(why, in_python(monkeypatch, model._judge_batch, records)[1])


def test_a_word_seen_before_keeps_its_code(tiny, monkeypatch):
    text = "Boxes of boxes, BOXES; naïve characterizations 1.5 optimisers " * 2
    records = [record(text, text) for _ in range(3)]
    wanted = in_python(monkeypatch, tiny._judge_batch, records)
    assert_array_equal(tiny._judge_batch(records)[0], wanted[0])


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_has_the_same_ngrams(text, tiny, monkeypatch):
    records = [record(text, "x"), record("", text), record(text, text)]
    wanted = in_python(monkeypatch, read_events, records, tiny.phrases.prefixes)
    assert listing(read_events(records, tiny.phrases.prefixes)) == listing(wanted)


@pytest.mark.parametrize("text", PLAIN + LATEX)
def test_what_papers_are_full_of_is_not_left_to_python(text, monkeypatch):
    left = []
    monkeypatch.setattr(features, "leave_to_python", left.append)
    read_events([record(text)])
    assert left == []


@pytest.mark.parametrize("text", [t for t in TEXTS if "\ud800" not in t])
def test_a_text_has_the_same_tokens(text):
    assert tokenize(text) == _tokenize(text)


def test_every_character_is_known_or_left_to_python(monkeypatch):
    known = []
    for c in map(chr, range(0x80, 0x20000)):
        text = f"a{c}b 1{c}2 {c} {c}s x{c}, 1.{c}"
        found = None if "\ud800" <= c <= "\udfff" else compiled.tokenize(text)
        if found is not None:
            known.append(text)
            assert found == (*vars_of(_tokenize(text)),), hex(ord(c))
    assert len(known) > 4000
    records = [record(text) for text in known]
    wanted = in_python(monkeypatch, read_events, records)
    assert listing(read_events(records)) == listing(wanted)


def vars_of(tokens):
    return tokens.starts, tokens.ends, tokens.codes, tokens.breaks


@settings(max_examples=300)
@given(st.lists(texts.map("".join), max_size=6))
def test_any_texts_have_the_same_ngrams_and_scores(tiny, only_once, drawn):
    pairs = [*zip(drawn[::2], drawn[1::2], strict=False)]
    records = [record(title, abstract) for title, abstract in pairs]
    wanted = in_python(only_once, read_events, records, tiny.phrases.prefixes)
    assert listing(read_events(records, tiny.phrases.prefixes)) == listing(wanted)
    P, reasons = tiny._judge_batch(records)
    P_wanted, reasons_wanted = in_python(only_once, tiny._judge_batch, records)
    assert_array_equal(P, P_wanted)
    assert_array_equal(reasons, reasons_wanted)


@pytest.mark.parametrize("titles", [0, 1, 7, 8, 20])
@pytest.mark.parametrize("abstracts", [0, 1, 63, 64])
def test_any_count_is_weighed_alike(tiny, monkeypatch, titles, abstracts):
    records = [record("adam fp8 " * titles, "optimizer adam " * abstracts)]
    wanted, _ = in_python(monkeypatch, tiny._judge_batch, records)
    # Beyond the usual counts the C library's logarithm may differ in one bit.
    assert_allclose(tiny._judge_batch(records)[0], wanted, rtol=1e-12)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_weights_of_any_precision_are_read(tiny, monkeypatch, kind):
    from dataclasses import replace

    model = replace(tiny, weights=tiny.weights.astype(kind))
    records = [record("Adam in FP8", "We keep the learning rate of the optimizer.")]
    wanted = in_python(monkeypatch, model._judge_batch, records)
    assert_array_equal(model._judge_batch(records)[0], wanted[0])


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_decisions_do_not_depend_on_threads(tiny, toy_records, monkeypatch, jobs):
    monkeypatch.setattr("tagger.model.BATCH_OF_THREAD", 2)
    assert tiny.tag(toy_records, jobs=jobs) == tiny.tag(toy_records)
    assert tiny.tag([], jobs=jobs) == []


def test_scores_do_not_depend_on_the_batch(tiny, toy_records):
    together = tiny._judge_batch(toy_records)[0]
    alone = [tiny._judge_batch([r])[0] for r in toy_records]
    assert_array_equal(together, np.concatenate(alone))


def test_a_model_that_has_scored_can_be_pickled(tiny, toy_records):
    wanted = tiny.predict_proba(toy_records)
    copy = pickle.loads(pickle.dumps(tiny))
    assert_array_equal(copy.predict_proba(toy_records), wanted)


@pytest.mark.parametrize("texts", [("a", "b"), ["a"], ["a", 3], ["a", None]])
def test_the_compiled_part_wants_pairs_of_strings(tiny, texts):
    with pytest.raises(TypeError, match="texts must be a list of pairs of str"):
        compiled.score(tiny._scorer._model, texts, leave_to_python)


def test_what_helps_the_compiled_part_must_give_codes_and_breaks(tiny):
    for answer, message in [
        (None, "help must give codes and breaks"),
        ((b"", b"\1"), "help must give a break for every code"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            compiled.score(tiny._scorer._model, ["n/a", ""], lambda _, a=answer: a)


def test_an_exception_of_the_help_comes_through(tiny):
    def fail(text):
        raise RuntimeError(f"cannot read {text}")

    with pytest.raises(RuntimeError, match="cannot read n/a"):
        compiled.score(tiny._scorer._model, ["n/a", ""], fail)


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="do not fit each other"):
        compiled.model((np.zeros(3),) * 11, 2, 3.0, 2.9)
    with pytest.raises(ValueError, match="a model has 11 arrays"):
        compiled.model((), 2, 3.0, 2.9)


@given(st.binary(max_size=40))
def test_checksums_are_equal(only_once, data):
    assert checksum(data) == in_python(only_once, checksum, data)


@given(st.binary(min_size=1, max_size=40), st.data())
def test_a_changed_byte_changes_the_checksum(data, draw):
    at = draw.draw(st.integers(0, len(data) - 1))
    other = draw.draw(st.integers(0, 255).filter(lambda value: value != data[at]))
    assert checksum(data[:at] + bytes([other]) + data[at + 1 :]) != checksum(data)


def test_arrays_that_do_not_fit_the_records_make_no_decisions():
    with pytest.raises(ValueError, match="the arrays do not fit the records"):
        compiled.decisions(
            [record("x")], np.zeros(1), np.zeros(2, bool), np.zeros(1, np.int8),
            ("a",), (), Record, Record,
        )  # fmt: skip
