"""Labels: every one is counted or named, none passed over."""

import numpy as np
import pytest

from tagger.errors import RecordError
from tagger.labels import check_one_theme, label_matrix, labelled
from tagger.records import Record

THEMES = ("optimizers", "llm-serving", "llm-agents", "remote-sensing")


def test_labels_run_together_stop_the_run():
    record = Record(id="p7", line=12, themes=("optimizers;llm-agents",))
    with pytest.raises(
        RecordError,
        match=r"^Record 'p7' \(line 12\) has the label 'optimizers;llm-agents', "
        r"which is none of the 4 themes. It looks like 2 labels in one; write them "
        r"as a list\.$",
    ):
        label_matrix([record], THEMES)


def test_labelled_with_no_theme_is_not_unlabelled():
    records = [Record(id="a", themes=()), Record(id="b"), Record(id="c", themes=("x",))]
    assert [record.id for record in labelled(records)] == ["a", "c"]


def test_label_matrix_holds_labels_and_unsure_pairs_in_theme_order():
    records = [
        Record(id="a", themes=("llm-agents", "optimizers")),
        Record(id="b", themes=(), unsure=("llm-serving",)),
    ]
    y = label_matrix(records, THEMES)
    assert y.tolist() == [[1, 0, 1, 0], [0, -1, 0, 0]]
    assert y.dtype == np.int8


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            Record(id="a", themes=("optimiser",)),
            r"'optimiser', which is none of the 4 themes\. Did you mean 'optimizers'\?",
        ),
        (
            Record(id="a", themes=("optimizers\r",)),
            r"'optimizers\\r', .* Did you mean 'optimizers'\?",
        ),
        (
            Record(id="a", themes=("zzz",)),
            r"'zzz', .* The themes are optimizers, llm-serving, llm-agents, remote-",
        ),
        (Record(id="a", themes=(), unsure=("zzz",)), r"Record 'a' has the label 'zzz'"),
        (Record(id="a"), r"Record 'a' has no labels; .* Leave unlabelled records out"),
    ],
)
def test_labels_that_cannot_be_counted_are_named(record, message):
    with pytest.raises(RecordError, match=message):
        label_matrix([record], THEMES)


def test_labels_that_contradict_one_theme_a_record_are_counted_and_named():
    fine = [
        Record(id="a", themes=("optimizers",)),
        Record(id="b"),
        Record(id="c", themes=(), unsure=("llm-agents",)),
    ]
    check_one_theme(fine)
    wrong = [Record(id=f"w{n}", line=n, themes=()) for n in range(4)]
    two = Record(id="two", themes=("optimizers", "llm-agents"))
    with pytest.raises(
        RecordError,
        match=r"^5 of 8 records do not have exactly one theme, as 'exclusive' "
        r"promises: Record 'two' has optimizers, llm-agents; Record 'w0' \(line 0\) "
        r"has none; "
        r"Record 'w1' \(line 1\) has none; and 2 more\. Give each of them one theme",
    ):
        check_one_theme([*fine, two, *wrong])
