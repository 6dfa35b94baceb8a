"""Deciding on every entry of a file."""

import io
import itertools
import json

from tagger.autotag import decide_entries
from tagger.formats import read_entries

LINES = [
    {"id": "a", "title": "Adam, an optimizer"},
    "broken",
    {"id": "c", "title": ""},
    {"id": "d", "title": "FP8 quantization"},
]


def reading(lines):
    text = "\n".join(json.dumps(line) for line in lines)
    return read_entries(io.BytesIO(text.encode()), format="jsonl")


def test_every_entry_gets_a_decision_in_its_place(tiny):
    found = list(decide_entries(tiny, reading(LINES)))
    assert [(d.id == e.id, d.status, d.reason) for e, d in found] == [
        (True, "tagged", None),
        (True, "abstained", "unusable"),
        (True, "abstained", "no_text"),
        (True, "tagged", None),
    ]
    assert [tag.theme for tag in found[3][1].tags] == ["low-precision"]
    assert "is no object" in found[1][0].problem or found[1][0].problem.endswith(".")


def test_no_entries_give_no_decisions(tiny):
    assert list(decide_entries(tiny, [])) == []


def test_entries_are_decided_as_they_come(tiny):
    entries = itertools.cycle(reading(LINES[:1]))
    assert next(decide_entries(tiny, entries))[1].status == "tagged"


def test_a_batch_of_unusable_entries_only_is_no_trouble(tiny):
    found = list(decide_entries(tiny, reading(["x"] * 3)))
    assert [decision.status for _, decision in found] == ["abstained"] * 3
