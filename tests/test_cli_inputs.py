"""What the commands share in reading files and folders."""

import json

import pytest

from tagger.cli.inputs import open_readings, read_all
from tagger.errors import RecordError

HOW = {"mapping": {}, "encoding": None, "format_": None}


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "papers"
    (inside / "deep").mkdir(parents=True)
    (inside / "b.jsonl").write_text('{"title": "Two"}\noops\n')
    (inside / "deep" / "a.csv").write_text("id,title\n1,Three\n")
    (inside / "notes.png").write_text("x")
    (tmp_path / "one.jsonl").write_text('{"title": "One"}\n{"title": "1"}\n')
    return inside


def test_records_of_files_and_folders_come_in_order(folder, tmp_path, capsys):
    skipped = tmp_path / "skipped"
    sources = [str(tmp_path / "one.jsonl"), folder]
    records, _, readings = read_all(sources, **HOW, skipped=str(skipped))
    assert [record.title for record in records] == ["One", "1", "Two", "Three"]
    assert [reading.name for reading in readings] == ["one.jsonl", "b.jsonl", "a.csv"]
    assert capsys.readouterr().err == (
        f"left out, being of no known format: 1 file, such as {folder / 'notes.png'}\n"
    )
    assert json.loads(skipped.read_text())["line"] == 2


def test_links_are_counted_and_named(folder, tmp_path, capsys):
    for n in range(7):
        (folder / f"gone-{n}.jsonl").symlink_to("nowhere")
    (folder / "loop").symlink_to(folder)
    (folder / ".hidden").symlink_to("nowhere")
    read_all([folder], **HOW)
    names = ", ".join(str(folder / f"gone-{n}.jsonl") for n in range(5))
    assert capsys.readouterr().err.splitlines()[1:] == [
        "left out, for such are not followed: 1 link to a folder, such as "
        f"{folder / 'loop'}",
        f"left out: 7 links that lead nowhere: {names} and 2 more",
    ]


def test_a_folder_of_links_alone_says_what_it_holds(tmp_path):
    (tmp_path / "a.jsonl").symlink_to("nowhere")
    with pytest.raises(
        RecordError,
        match=r"holds no file of records \(left out: 1 link that leads nowhere: ",
    ):
        read_all([tmp_path], **HOW)


def test_a_link_to_a_file_is_read(folder, tmp_path, capsys):
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "b.jsonl").symlink_to(tmp_path / "one.jsonl")
    records, *_ = read_all([tmp_path / "linked"], **HOW)
    assert len(records) == 2
    assert capsys.readouterr().err == ""


def test_files_are_opened_one_after_the_other(folder):
    readings = open_readings([folder, folder / "gone.jsonl"], **HOW)
    for name in ("b.jsonl", "a.csv"):
        with next(readings) as reading:
            assert reading.name == name
    with pytest.raises(RecordError, match=r"gone\.jsonl cannot be read"):
        next(readings)


def test_a_folder_without_records_is_refused(tmp_path):
    with pytest.raises(RecordError, match=r"holds no file of records\."):
        read_all([tmp_path], **HOW)
