"""Deciding on every entry of a file."""

import io
import itertools
import json
import re

import pytest

from tagger.autotag import (
    KnownPapers,
    decide_entries,
    difference,
    model_id,
    tags_to_write,
)
from tagger.decide import Decision
from tagger.formats import read_entries
from tagger.records import Record, Tag

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


def test_the_id_of_a_model_is_its_folder_and_what_is_in_it(tiny_dir, tmp_path):
    copy = tmp_path / "tiny"
    copy.mkdir()
    manifest = (tiny_dir / "manifest.json").read_bytes()
    (copy / "manifest.json").write_bytes(manifest)
    assert re.fullmatch(r"tiny-[0-9a-f]{8}", model_id(tiny_dir))
    assert model_id(copy) == model_id(tiny_dir)
    (copy / "manifest.json").write_bytes(manifest + b"\n")
    assert model_id(copy) != model_id(tiny_dir)
    assert model_id().startswith("themes-")


@pytest.mark.parametrize(
    ("status", "tags", "wanted"),
    [
        ("tagged", (Tag("a", 0.9),), (Tag("a", 0.9, "model", "m", "2026-01-31"),)),
        ("none", (), ()),
        ("abstained", (), None),
    ],
)
def test_what_could_not_be_judged_is_not_given_an_empty_list(status, tags, wanted):
    decision = Decision("x", "", status, None, tags, ())
    assert tags_to_write(decision, model="m", date="2026-01-31") == wanted


def test_a_difference_is_what_is_added_changed_and_removed():
    before = [Tag("a", 0.9, date="x"), Tag("b", 0.9), Tag("c", 1.0, "human")]
    after = [Tag("c", 1.0, "human"), Tag("a", 0.9), Tag("b", 0.8), Tag("d", 0.7)]
    found = difference(before, after)
    assert (found.added, found.removed) == ((Tag("d", 0.7),), ())
    assert found.changed == ((Tag("b", 0.9), Tag("b", 0.8)),)
    assert difference(after, after[1:]).removed == (after[0],)
    assert not difference(before, before)


@pytest.mark.parametrize(
    ("record", "there"),
    [
        (Record(id="2401.00001v3"), True),
        (Record(id="x", doi="https://doi.org/10.1000/ABC"), True),
        (Record(id="x", title="{On} Tags!", authors=("Li, Ada",)), True),
        (Record(id="x", title="On Tags", authors=("Bo Wu",)), False),
        (Record(id="x", title="On Tags"), False),
        # An arXiv paper that only shares the title with another arXiv paper.
        (Record(id="2402.00009", title="On Tags", authors=("Ada Li",)), False),
        (Record(id="2402.00009", title="Other", authors=("Cy Xu",)), True),
        (Record(id="y", abstract="Short."), True),
        (Record(id="x", abstract="Short!"), False),
    ],
)
def test_a_paper_is_known_by_its_identity(record, there):
    known = KnownPapers()
    known.add(Record(id="2401.00001v1", title="On Tags", authors=("Ada Li",)))
    known.add(Record(id="b", title="Other", authors=("C. Xu",), doi="10.1000/abc"))
    known.add(Record(id="c", abstract="Short."))
    assert (record in known) is there


def test_new_papers_come_once_and_what_is_no_record_does_not():
    known = KnownPapers()
    known.add(Record(id="x", title="Adam, an optimizer"))
    found = known.new_ones(reading([*LINES, LINES[3]]))
    assert [entry.id for entry in found] == ["c", "d"]
