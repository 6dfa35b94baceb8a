"""Tagging files from Python."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tagger.arrivals import jobs_in
from tagger.autotag import decide_entries
from tagger.errors import RecordError
from tagger.formats import read_entries
from tagger.tagging import Existing, Outcome, Tagging

LINES = (
    '{"id": "a", "title": "Adam, an optimizer"}\n'
    "oops\n"
    '{"id": "b", "title": "A story of energy"}\n'
)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "new.jsonl").write_text(LINES)
    return tmp_path / "new.jsonl"


def test_a_file_is_tagged_and_what_came_of_it_is_counted(tiny, file, tmp_path):
    out = tmp_path / "out.jsonl"
    outcome = Tagging(tiny, name="m-1", date="2026-01-31").file(file, out)
    assert outcome.decided == Counter(
        {"tagged": 1, "abstained (unusable)": 1, "none": 1}
    )
    assert (outcome.reading.n_read, outcome.reading.n_used, outcome.known) == (3, 2, 0)
    (tag,) = json.loads(out.read_text().splitlines()[0])["tags"]
    assert (tag["model"], tag["date"]) == ("m-1", "2026-01-31")


def test_a_file_that_stands_there_is_refused_replaced_or_extended(tiny, file, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text('{"id": "z", "title": "Adam, an optimizer", "x": 1}\n')
    before = out.read_text()
    with pytest.raises(RecordError, match=r"out\.jsonl exists already; choose another"):
        Tagging(tiny).file(file, out)
    outcome = Tagging(tiny, existing=Existing.EXTEND).file(file, out)
    assert outcome.known == 1
    assert out.read_text().startswith(before)
    assert '"b"' in out.read_text()
    Tagging(tiny, existing=Existing.REPLACE).file(file, out)
    assert '"z"' not in out.read_text()


def test_what_would_change_is_told_and_nothing_written(tiny, file, tmp_path):
    changes = []
    outcome = Tagging(tiny).compare(file, None, changes.append)
    assert [(c.entry.id, len(c.difference.added)) for c in changes] == [("a", 1)]
    assert outcome.decided.total() == 3
    assert [*tmp_path.iterdir()] == [file]


def test_a_file_that_cannot_be_tagged_does_not_stop_the_others(tiny, file, tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    jobs, _ = jobs_in([str(tmp_path)], tmp_path / "out")
    bad, good = Tagging(tiny).files(jobs, tmp_path / "out")
    assert isinstance(bad[1], RecordError)
    assert isinstance(good[1], Outcome)
    assert (tmp_path / "out" / "new.jsonl").exists()


def test_files_that_arrive_are_tagged(tiny, file, tmp_path, monkeypatch):
    monkeypatch.setattr("tagger.arrivals.PAUSE", 0)
    tagging = Tagging(tiny, existing=Existing.REPLACE)
    ((job, outcome),) = tagging.arriving(tmp_path, tmp_path / "out", once=True)
    assert (job.place, outcome.decided["tagged"]) == (Path("new.jsonl"), 1)


def test_each_entry_may_be_looked_at_as_it_passes(tiny, file, tmp_path):
    seen = []

    def look(reading, source):
        for entry in reading:
            seen.append((source, entry.line, entry.reason))
            yield entry

    Tagging(tiny, look=look).file(file, tmp_path / "out.jsonl")
    assert seen == [(file, 1, None), (file, 2, "not JSON"), (file, 3, None)]


@pytest.mark.parametrize("jobs", [1, 3])
def test_many_records_are_scored_beside_the_reading_in_the_same_order(
    tiny, tmp_path, jobs
):
    lines = [json.dumps({"id": str(n), "title": "Adam" * (n % 3)}) for n in range(5000)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    entries = read_entries(tmp_path / "a.jsonl")
    found = [
        (e.id, d.id, d.status) for e, d in decide_entries(tiny, entries, jobs=jobs)
    ]
    assert [(a, b) for a, b, _ in found] == [(str(n), str(n)) for n in range(5000)]
    one_by_one = tiny.tag([e.record for e in read_entries(tmp_path / "a.jsonl")])
    assert [status for *_, status in found] == [d.status for d in one_by_one]


def test_a_reader_that_stops_early_leaves_no_thread_behind(tiny, tmp_path):
    import threading

    lines = [json.dumps({"id": str(n), "title": "Adam"}) for n in range(5000)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    before = threading.active_count()
    with read_entries(tmp_path / "a.jsonl") as entries:
        found = decide_entries(tiny, entries)
        next(found)
        found.close()
    assert threading.active_count() == before
