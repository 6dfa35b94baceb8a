"""Which files are tagged, and where each goes."""

import os
from pathlib import Path

import pytest

from tagger.arrivals import Job, arriving, jobs_in, target_of
from tagger.errors import RecordError
from tagger.formats import read_entries

LINE = '{"title": "a"}\n{"title": "b"}\n'
FEED = '<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title></feed>'


def put(path, text=LINE):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def arrived(folder, out):
    return [job.place for job in arriving(folder, out, once=True, pause=0)]


def test_files_and_the_files_in_folders_get_a_place_each(tmp_path):
    one = put(tmp_path / "one.jsonl")
    two = put(tmp_path / "more" / "deep" / "two.jsonl")
    other = put(tmp_path / "more" / "picture.png", "x")
    jobs, others = jobs_in([str(one), str(tmp_path / "more")], tmp_path / "out")
    assert jobs == [Job(one, Path("one.jsonl")), Job(two, Path("deep/two.jsonl"))]
    assert others == [other]


def test_output_is_no_input(tmp_path):
    put(tmp_path / "a.jsonl")
    put(tmp_path / "out" / "a.jsonl")
    jobs, _ = jobs_in([str(tmp_path)], tmp_path / "out")
    assert [job.place for job in jobs] == [Path("a.jsonl")]
    in_place, _ = jobs_in([str(tmp_path / "out")], tmp_path / "out")
    assert [job.place for job in in_place] == [Path("a.jsonl")]


def test_two_files_of_one_place_are_refused(tmp_path):
    one, two = put(tmp_path / "x" / "a.bib"), put(tmp_path / "y" / "a.bib")
    with pytest.raises(RecordError, match=r"would both be written to .*a\.bib; tag"):
        jobs_in([str(one), str(two)], tmp_path / "out")


def test_a_folder_without_records_is_refused(tmp_path):
    put(tmp_path / "in" / "a.png", "x")
    with pytest.raises(RecordError, match=r"in holds no file of records \(left out, "):
        jobs_in([str(tmp_path / "in")], tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "text", "target"),
    [
        ("new.jsonl", LINE, "new.jsonl"),
        ("feed.atom", FEED, "feed.atom.jsonl"),
        ("feed.xml", FEED, "feed.xml.jsonl"),
    ],
)
def test_a_format_without_tags_becomes_json_lines(tmp_path, name, text, target):
    job = Job(put(tmp_path / name, text), Path("x", name))
    with read_entries(job.source) as reading:
        assert target_of(job, reading, Path("out")) == Path("out/x", target)


def test_a_file_arrives_once_until_it_is_newer_than_its_output(tmp_path):
    folder, out = tmp_path / "in", tmp_path / "out"
    new = put(folder / "a.jsonl")
    assert arrived(folder, out) == [Path("a.jsonl")]
    done = put(out / "a.jsonl")
    os.utime(new, (1000, 1000))
    assert arrived(folder, out) == []
    os.utime(done, (999, 999))
    assert arrived(folder, out) == [Path("a.jsonl")]


def test_output_as_json_lines_counts_as_done(tmp_path):
    put(tmp_path / "in" / "a.atom", FEED)
    put(tmp_path / "out" / "a.atom.jsonl")
    assert arrived(tmp_path / "in", tmp_path / "out") == []


def test_a_file_that_grows_or_is_no_record_file_waits(tmp_path):
    folder, out = tmp_path / "in", tmp_path / "out"
    grows = put(folder / "grows.jsonl")
    put(folder / "a.png", "x")
    jobs = arriving(folder, out, once=False, pause=0)
    put(folder / "whole.jsonl")
    states = []

    def growing(path):
        states.append(path)
        if path == grows and len(states) < 20:
            grows.write_text(LINE * len(states))
        return path.stat().st_size, path.stat().st_mtime_ns

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "tagger.arrivals._state", lambda p: growing(p) if (p.exists()) else None
        )
        assert next(jobs).place == Path("whole.jsonl")
        assert next(jobs).place == Path("grows.jsonl")
    assert len(states) >= 20


def test_a_file_that_was_tried_is_not_tried_again_until_it_changes(tmp_path):
    new = put(tmp_path / "in" / "a.jsonl")
    jobs = arriving(tmp_path / "in", tmp_path / "out", once=False, pause=0)
    assert next(jobs).place == Path("a.jsonl")
    second = put(tmp_path / "in" / "b.jsonl")
    assert next(jobs).source == second
    put(new, LINE * 2)
    assert next(jobs).source == new
