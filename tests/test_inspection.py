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
    {"id": "d", "title": "FP8, x", "more": ["a"], "none": ""},
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
        "recognised_by": "option",
        "encoding": "utf-8",
        "kinds": {},
        "gets_tags_as": "jsonl",
        "records": 4,
        "skipped": 1,
        "with": {"title": 3, "abstract": 2, "themes": 2, "year": 1},
        "other_fields": {"more": 1},
        "years": [2024, 2024],
        "labelled": 3,
        "labelled_with_no_theme": 1,
        "labels": {"b": 2, "a": 1},
        "tokens": {"least": 0, "median": 2, "p95": 4, "most": 4},
        "without_text": 1,
        "language": {
            "judged": 0,
            "english_function_words": None,
            "perhaps_not_english": 0,
        },
        "same_paper_again": 1,
        "near_copies": {"looked_at": 4, "records": 0, "such_as": []},
        "notes": ["2 records without an abstract."],
        "problems_by_kind": {"not an object": {"records": 1, "lines": [4]}},
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
    assert (found["records"], found["skipped"], found["tokens"]) == (0, 2, {})
    assert len(found["problems"]) == 2


def test_not_every_problem_of_a_bad_file_is_listed():
    assert len(inspected([[]] * 50)["problems"]) == 20


ENGLISH = (
    "We study the training of large models and show that the error of a step can be "
    "bounded by the norm of the gradient, which is what we measure in this work."
)
GERMAN = (
    "Wir untersuchen das Training großer Modelle und zeigen, dass der Fehler eines "
    "Schrittes durch den Betrag des Gradienten begrenzt wird, den wir hier messen und "
    "in einer neuen Arbeit mit anderen vergleichen wollen."
)


def test_another_language_is_seen_by_its_function_words():
    found = inspected([{"abstract": ENGLISH}, {"abstract": GERMAN}, {"title": "Kurz"}])
    language = found["language"]
    assert (language["judged"], language["perhaps_not_english"]) == (2, 1)
    assert 0.1 < language["english_function_words"] < 0.4


def test_near_copies_are_those_that_are_not_the_same_paper_by_name():
    copy = ENGLISH.replace("norm", "length")
    lines = [
        {"id": "a", "title": "One", "abstract": ENGLISH},
        {"id": "b", "title": "Other", "abstract": copy},
        {"id": "c", "title": "One", "abstract": copy + " More."},
    ]
    found = inspected(lines)
    assert found["same_paper_again"] == 1
    assert found["near_copies"] == {
        "looked_at": 3,
        "records": 1,
        "such_as": [["a", "b"]],
    }


def test_problems_are_counted_by_kind_with_their_lines():
    kinds = inspected([[], {"title": "a"}, {"x": 1}, []])["problems_by_kind"]
    assert kinds["not an object"] == {"records": 2, "lines": [1, 4]}
    assert kinds["field missing or of the wrong type"]["lines"] == [3]


def test_more_records_than_a_batch_are_all_counted():
    found = inspected([{"title": f"word{n} two"} for n in range(600)], 0)
    assert found["tokens"] == {"least": 2, "median": 2, "p95": 2, "most": 2}
    assert found["near_copies"]["looked_at"] == 600
