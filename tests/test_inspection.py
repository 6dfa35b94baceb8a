"""What a file holds."""

import io
import json

from tagger.formats import read_entries
from tagger.inspection import inspect_entries

LINES = [
    {"id": "2401.00001v1", "title": r"\textsc{Adam}", "abstract": "Abstract: 4-bit A*",
     "themes": ["b"], "year": 2024},
    {"id": "2401.00001v2", "title": "Adam", "themes": []},
    {"id": "c", "title": "", "abstract": "n/a", "themes": ["b", "a"]},
    [],
    {"id": "d", "title": "FP8, x"},
]  # fmt: skip


def inspected(lines, sample=1):
    text = "\n".join(json.dumps(line) for line in lines)
    reading = read_entries(io.BytesIO(text.encode()), format="jsonl")
    return inspect_entries(reading, sample)


def test_what_a_file_holds_is_counted():
    found = inspected(LINES)
    sample, problems = found.pop("sample"), found.pop("problems")
    found.pop("file")
    assert found == {
        "format": "jsonl",
        "records": 4,
        "skipped": 1,
        "with": {"title": 3, "abstract": 2, "themes": 2, "year": 1},
        "labelled": 3,
        "labelled_with_no_theme": 1,
        "labels": {"b": 2, "a": 1},
        "same_paper_again": 1,
        "tokens_median": 2,
        "without_text": 1,
    }
    assert len(problems) == 1
    assert sample == [
        {
            "id": "2401.00001v1",
            "title_as_it_came": r"\textsc{Adam}",
            "title": "Adam",
            "abstract_as_it_came": "Abstract: 4-bit A*",
            "abstract": "4-bit A*",
            "tokens": "4-bit | A*",
        }
    ]


def test_as_many_records_are_shown_as_wanted():
    assert [s["id"] for s in inspected(LINES, 3)["sample"]][2] == "c"
    assert inspected(LINES, 0)["sample"] == []


def test_a_file_without_a_record_is_inspected_too():
    found = inspected([[], 3])
    assert (found["records"], found["skipped"], found["tokens_median"]) == (0, 2, 0)
    assert len(found["problems"]) == 2


def test_not_every_problem_of_a_bad_file_is_listed():
    assert len(inspected([[]] * 50)["problems"]) == 20
