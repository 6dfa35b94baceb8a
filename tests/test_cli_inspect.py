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
    assert "problems                1 not JSON; at 2" in lines
    assert "labels                  x 1" in lines
    problems = [line for line in lines if line.startswith("problem  ")]
    assert len(problems) == 1
    shown = lines.index("")
    assert lines[shown + 1 :] == [
        "id                      a",
        "title as it came        4-bit",
        "title                   4-bit",
        "abstract as it came     -",
        "abstract                -",
        "tokens                  4-bit",
    ]


@pytest.mark.parametrize("columns", [10, 40, 60, 200])
def test_the_table_keeps_to_the_width_of_the_terminal(columns, tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"title": "Tags " * 40, "abstract": "optimi-\nzers", "themes": "a"})
        + "\n{}\n"
    )
    terminal = "click.testing._NamedTextIOWrapper.isatty"
    monkeypatch.setattr(terminal, lambda _: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = inspect(tmp_path / "a.jsonl").stdout.splitlines()
    assert max(map(len, lines)) <= max(columns, 40)
    at = next(n for n, line in enumerate(lines) if line.startswith("title as it"))
    assert lines[at].startswith("title as it came        Tags Tags")
    assert columns == 200 or lines[at + 1].startswith(" " * 24 + "Tags")
    assert " ".join(line[24:] for line in lines[at:]).count("Tags") == 80


def test_a_pipe_into_it_needs_no_argument():
    result = CliRunner().invoke(main, ["inspect"], input='{"title": "a"}\n{}\n')
    assert json.loads(result.stdout)["file"] == "stdin"


def test_without_a_file_on_a_terminal_it_is_wrong_usage(monkeypatch):
    terminal = "click.testing._NamedTextIOWrapper.isatty"
    monkeypatch.setattr(terminal, lambda _: True, raising=False)
    result = inspect()
    assert result.exit_code == 2
    assert "Error: Give a FILE, or pipe one into the command.\n" in result.stderr


def test_less_than_no_sample_is_wrong_usage(file):
    assert inspect(file, "--sample", "-1").exit_code == 2


def test_each_file_of_a_folder_gets_an_object(file, tmp_path):
    (tmp_path / "a.csv").write_text("id,title\n1,Adam\n")
    result = inspect(tmp_path, "--sample", 0)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(item["file"], item["format"]) for item in found] == [
        ("a.csv", "csv"),
        ("new.jsonl", "jsonl"),
    ]
    assert result.stderr.startswith("read 4, used ")


def test_a_file_that_is_refused_does_not_stop_the_others(file, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    result = inspect(tmp_path)
    assert result.exit_code == 1
    assert json.loads(result.stdout)["file"] == "new.jsonl"
    assert "a.csv: not read to its end: a.csv: no column is known" in result.stderr
    assert result.stderr.endswith("Error: 1 of the files could not be read.\n")
