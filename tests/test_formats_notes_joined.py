"""Notes on several files as one list."""

from tagger.formats import read_entries, summary_line
from tagger.formats.notes import joined_notes


def test_many_notes_are_cut_short():
    notes = [f"{n}.csv is empty." for n in range(25)]
    joined = joined_notes([("a", notes[:20]), ("b", notes[20:])])
    assert joined == [*notes[:20], "5 more notes are left out."]


def test_what_is_counted_is_added_up_with_the_files_named():
    files = [(f"{n}.csv", ["1,000 records so.", "x."]) for n in "abcde"]
    assert joined_notes([*files, ("f.csv", ["2 records thus."])]) == [
        "5,000 records so (a.csv, b.csv, c.csv and 2 more).",
        "x.",
        "2 records thus (f.csv).",
    ]
    assert joined_notes([("a", ["1 record so.", "y."])]) == ["1 record so.", "y."]


def test_the_summary_of_a_folder_says_a_note_once(tmp_path):
    readings = []
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"id": "x", "title": ""}\n{"title": "Adam"}\n')
        readings.append(read_entries(tmp_path / name))
        list(readings[-1])
    assert summary_line(readings) == (
        "read 4, used 4, skipped 0. 2 records without an abstract (a.jsonl, b.jsonl). "
        "2 records without any text (a.jsonl, b.jsonl)."
    )
