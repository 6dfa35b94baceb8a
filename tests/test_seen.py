"""Records a model was trained on."""

from dataclasses import replace

from tagger.records import Record
from tagger.seen import seen_in_training


def rows(models, records):
    return [overlap.row for overlap in seen_in_training(models, records)]


def test_records_of_the_training_are_known_again(tiny, toy_records):
    new = Record(id="new", title="Another paper", abstract="On something else.")
    assert rows([tiny], [new, *toy_records[:2], new]) == [1, 2]


def test_another_version_of_a_paper_is_known_again(tiny, toy_records):
    other = replace(toy_records[0], id="other", abstract="Rewritten all over.")
    assert rows([tiny], [other]) == [0]


def test_a_model_that_kept_nothing_has_seen_nothing(tiny, toy_records):
    assert rows([replace(tiny, arrays={})], toy_records) == []


def test_no_records_are_no_trouble(tiny):
    assert rows([tiny], []) == []


def test_what_either_of_two_models_was_trained_on_is_found_once(tiny, toy_records):
    blank = replace(tiny, arrays={})
    found = seen_in_training([blank, tiny, tiny], toy_records[:2])
    assert [(overlap.row, overlap.kind) for overlap in found] == [
        (0, "exact"),
        (1, "exact"),
    ]
    assert found[0].trained_id == toy_records[0].id
