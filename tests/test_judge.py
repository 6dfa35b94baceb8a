"""Texts that cannot be judged."""

import numpy as np
import pytest

from tagger.decide import REASONS
from tagger.features import Vocabulary, ngram_events, read_document
from tagger.judge import LEAST, MOST, judge, known_pairs, shuffled, usual_share
from tagger.records import Record

FRENCH = (
    "Nous présentons une nouvelle méthode pour entraîner des réseaux de neurones "
    "profonds avec une précision réduite. Les résultats montrent que notre approche "
    "conserve la qualité des modèles tout en divisant par deux la mémoire nécessaire "
    "et le temps de calcul sur les cartes graphiques modernes."
)
GERMAN = (
    "Wir stellen ein neues Verfahren vor, mit dem tiefe neuronale Netze bei geringer "
    "Genauigkeit trainiert werden können. Die Ergebnisse zeigen, dass unser Ansatz "
    "die Güte der Modelle erhält und zugleich den Bedarf an Speicher und Rechenzeit "
    "auf heutigen Grafikkarten halbiert."
)
CHINESE = (
    "我们提出了一种新的低精度训练方法，可以在保持模型质量的同时将显存占用减半。" * 3
)
CODE = """
def fit(self, xs, ys, lr=0.1, n_iter=100):
    for i in range(n_iter):
        grad = self.w - xs.T @ (ys - xs @ self.w)
        self.w -= lr * grad / len(xs)
        if np.abs(grad).max() < tol: break
    return self.w, self.b, i
"""
ENGLISH = (
    "We present a new method that trains deep neural networks at low precision. The "
    "results show that our approach keeps the quality of the models while it halves "
    "the memory and the time that are needed on modern accelerators, and we give a "
    "proof of its convergence for smooth objectives."
)


def reasons(texts, vocabulary):
    """Give what `judge` says of abstracts, in words; None where it is content."""
    documents = [read_document(Record(id="x", abstract=text)) for text in texts]
    found = judge(ngram_events(documents), vocabulary, len(documents), LEAST)
    return [None if reason < 0 else REASONS[reason] for reason in found]


@pytest.fixture(scope="module")
def vocabulary(toy_background):
    return Vocabulary(toy_background.codes, toy_background.idf)


def test_texts_without_words_and_without_known_words_are_told_apart(vocabulary):
    texts = ["", " \n ", "...", "zzzz qqqq", "the of a we", "the optimizer", "n/a"]
    assert reasons(texts, vocabulary) == [
        "no_text",
        "no_text",
        "no_text",
        "no_known_words",
        "no_known_words",
        None,
        "no_text",
    ]


def test_a_model_that_knows_no_word_knows_none_in_the_text():
    empty = Vocabulary(np.zeros(0, np.uint64), np.zeros(0, np.float32))
    assert reasons(["a word", ""], empty) == ["no_known_words", "no_text"]


def test_no_documents_have_no_reasons(vocabulary):
    assert reasons([], vocabulary) == []


def test_a_reason_does_not_depend_on_the_other_texts(vocabulary):
    texts = [ENGLISH, FRENCH, "", "Adam", CODE]
    together = reasons(texts, vocabulary)
    assert together == [reasons([text], vocabulary)[0] for text in texts]


def test_the_share_of_known_pairs_by_hand(vocabulary):
    texts = ["learning rate of the day", "adam", "", "interatomic potential"]
    documents = [read_document(Record(id="x", abstract=text)) for text in texts]
    shares = known_pairs(ngram_events(documents), vocabulary, 4)
    assert shares.tolist() == [0.5, 0, 0, 1]


@pytest.mark.parametrize(
    ("shares", "by_chance", "wanted"),
    [
        (np.full(99, 0.4), np.full(99, 0.3), LEAST),  # too few records to tell
        (np.full(100, 0.3), np.full(100, 0.3), 0.27),
        (np.full(100, 0.9), np.full(100, 0.3), 0.3),
        (np.full(100, 0.9), np.arange(101) / 250, 0.38),
        (np.full(100, 0.9), np.full(100, 0.6), MOST),
        (np.full(100, 0.1), np.full(100, 0.3), LEAST),
        (np.full(100, 0.9), np.full(100, 0.1), LEAST),
        (np.zeros(0), np.zeros(0), LEAST),
    ],
)
def test_what_share_of_known_pairs_is_usual(shares, by_chance, wanted):
    assert usual_share(shares, by_chance) == pytest.approx(wanted)


def test_shuffled_records_have_the_same_words_and_are_the_same_every_time():
    records = [
        Record(id=str(n), title=f"Title {n}", abstract="of five other words here")
        for n in range(2500)
    ]
    one, again = shuffled(records), shuffled(records)
    assert one == again
    assert len(one) == 834  # every third
    assert sorted(one[1].abstract.split()) == sorted(
        "Title 3 of five other words here".split()
    )
    assert len({record.abstract.split()[0] for record in one}) > 5
    assert shuffled([]) == []


def test_a_long_text_of_unknown_pairs_is_out_of_domain(vocabulary):
    text = "The optimizer of a game that we play is fun for us in this land. " * 2
    assert reasons([text, text[:40]], vocabulary) == ["out_of_domain", None]


def test_a_long_text_without_words_of_running_english_is_told_apart(vocabulary):
    foreign = "optimizer " + " ".join(f"mot{n}" for n in range(30))
    known = "adam optimizer momentum fp8 quantization " * 6
    assert reasons([foreign, known], vocabulary) == ["language", "out_of_domain"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "no_text"),
        (" \n\t", "no_text"),
        ("the of and the of and to in a", "no_known_words"),
        ("zzzz qqqq xxyyzz", "no_known_words"),
        ("ö", "no_known_words"),
        ("Q", "no_known_words"),
        ("x y z a b", "no_known_words"),
        ("α β γ", "no_known_words"),
        ("3", "no_known_words"),
        ("1 2.5 300 2019", "no_known_words"),
        (FRENCH, "language"),
        (GERMAN, "language"),
        (CHINESE, ("language", "no_known_words")),
        (CODE, "out_of_domain"),
    ],
)
def test_what_the_shipped_model_cannot_judge(shipped, text, wanted):
    decision = shipped.tag([Record(id="x", abstract=text)])[0]
    assert decision.status == "abstained"
    assert decision.reason in wanted


def test_the_shipped_model_does_not_judge_shuffled_words(shipped, root):
    text = (root / "seeds" / "example-abstract.txt").read_text("utf-8")
    words = text.split("\n\n")[1].split()
    shuffled = " ".join(word for n in range(7) for word in words[n::7])
    pair = [Record(id="x", abstract=t) for t in (" ".join(words), shuffled)]
    assert [d.reason for d in shipped.tag(pair)] == [None, "out_of_domain"]


def test_what_the_shipped_model_judges(shipped):
    mixed = f"{ENGLISH} {FRENCH[:60]}"
    texts = [ENGLISH, mixed, "Adam optimizer"]
    for text in texts:
        decision = shipped.tag([Record(id="x", abstract=text)])[0]
        assert decision.status != "abstained"
