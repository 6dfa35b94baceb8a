"""`tagger tag`."""

import json

import pytest
from click.testing import CliRunner

from tagger.cli import main

LINES = (
    '{"id": "a", "title": "Adam, an optimizer", "x": 1.50}\n'
    "oops\n"
    '{"id": "b", "title": "A story of energy", "themes": ["optimizers"]}\n'
)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "new.jsonl").write_text(LINES, "utf-8")
    return tmp_path / "new.jsonl"


@pytest.fixture
def tag(tiny_dir):
    """Run the command on the tiny model."""

    def run(*args, **options):
        words = ["tag", "-m", str(tiny_dir), *map(str, args)]
        return CliRunner().invoke(main, words, **options)

    return run


def test_records_are_written_back_with_tags_and_all_else_kept(tag, file, tmp_path):
    result = tag(file, "-o", tmp_path / "out.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    first, second, third = (tmp_path / "out.jsonl").read_text().splitlines()
    assert first.startswith('{"id": "a", "title": "Adam, an optimizer", "x": 1.50, ')
    (given,) = json.loads(first)["tags"]
    assert (given["theme"], given["source"]) == ("optimizers", "model")
    assert second == "oops"
    assert json.loads(third)["themes"] == ["optimizers"]
    assert json.loads(third)["tags"] == []


def test_what_was_decided_is_counted_on_standard_error(tag, file, tmp_path):
    counts, summary = tag(file, "-o", tmp_path / "out.jsonl").stderr.splitlines()
    assert counts == "1 tagged, 1 abstained (unusable), 1 none"
    assert summary.startswith("read 3, used 2, skipped 1 (1 not JSON)")


def test_a_file_that_exists_is_not_replaced_unless_told(tag, file, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    result = tag(file, "-o", out)
    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: {out} exists already; choose another name, or replace it with "
        "--overwrite.\n"
    )
    assert out.read_text() == "mine"
    assert tag(file, "-o", out, "--overwrite").exit_code == 0
    assert out.read_text().startswith('{"id": "a"')


def test_a_pipe_is_tagged_in_its_own_format(tag):
    result = tag("-", "-o", "-", input="id,title\n1,Adam\n2,chess\n")
    assert result.exit_code == 0
    header, first, second = result.stdout.splitlines()
    assert header.split(",")[:3] == ["id", "title", "tags"]
    assert first.startswith("1,Adam,optimizers")
    assert second.startswith("2,chess,")


def test_a_file_may_be_tagged_in_its_place(tag, file):
    assert tag(file, "-o", file, "--overwrite").exit_code == 0
    once = file.read_bytes()
    assert tag(file, "-o", file, "--overwrite").exit_code == 0
    assert file.read_bytes() == once


def test_an_empty_file_has_no_records(tag, tmp_path):
    (tmp_path / "a.jsonl").write_text("")
    result = tag(tmp_path / "a.jsonl", "-o", tmp_path / "b.jsonl")
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == "no records"


def test_strict_makes_a_skipped_record_an_error(tag, file, tmp_path):
    assert tag(file, "-o", tmp_path / "o.jsonl", "--strict").exit_code == 1


def test_out_must_be_named(tag, file):
    result = tag(file)
    assert result.exit_code == 2
    assert "Missing option '-o' / '--out'" in result.stderr
