"""`tagger inspect`."""

import json

import pytest
from click.testing import CliRunner

from tagger.cli import main


@pytest.fixture
def file(tmp_path):
    lines = (
        '{"id": "a", "title": "4-bit", "themes": ["x"]}\n'
        "oops\n"
        '{"id": "b", "title": 3}\n'
    )
    (tmp_path / "new.jsonl").write_text(lines)
    return tmp_path / "new.jsonl"


def inspect(*args):
    return CliRunner().invoke(main, ["inspect", *map(str, args)])


def test_a_pipe_gets_one_object(file):
    result = inspect(file)
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert (found["file"], found["format"]) == ("new.jsonl", "jsonl")
    assert found["records"] + found["skipped"] == 3
    assert found["labels"] == {"x": 1}
    assert found["sample"][0]["tokens"] == "4-bit"
    assert len(found["problems"]) == found["skipped"]
    assert result.stderr.startswith("read 3, used ")


def test_strict_makes_a_skipped_record_an_error(file):
    assert inspect(file, "--strict").exit_code == 1


def test_a_terminal_gets_a_table(file, monkeypatch):
    terminal = "click.testing._NamedTextIOWrapper.isatty"
    monkeypatch.setattr(terminal, lambda _: True, raising=False)
    result = inspect(file)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[1].split() == ["format", "jsonl"]
    assert lines[2].split() == ["recognised", "by", "content"]
    assert "problems (1): not JSON; at 2" in lines
    assert "labels                   x 1" in lines
    problems = [line for line in lines if line.startswith("problem: new.jsonl:")]
    assert len(problems) == 1
    shown = lines.index("")
    assert lines[shown + 1 :] == [
        "id: a",
        "title_as_it_came: 4-bit",
        "title: 4-bit",
        "abstract_as_it_came: ",
        "abstract: ",
        "tokens: 4-bit",
    ]


def test_each_file_of_a_folder_gets_an_object(file, tmp_path):
    (tmp_path / "a.csv").write_text("id,title\n1,Adam\n")
    result = inspect(tmp_path, "--sample", 0)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(item["file"], item["format"]) for item in found] == [
        ("a.csv", "csv"),
        ("new.jsonl", "jsonl"),
    ]
    assert result.stderr.startswith("read 4, used ")
