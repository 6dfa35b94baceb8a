"""`tagger tag`."""

import gc
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
        f"Error: {out} exists already; choose another name, replace it with "
        "--overwrite, or add the papers it lacks with --update.\n"
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


def test_tags_carry_model_and_day(tag, file, tmp_path):
    out = tmp_path / "out.jsonl"
    tag(file, "-o", out, "--date", "2026-01-31")
    (given,) = json.loads(out.read_text().splitlines()[0])["tags"]
    assert given["model"].startswith("tiny-")
    assert given["date"] == "2026-01-31"
    again = tmp_path / "again.jsonl"
    tag(out, "-o", again, "--date", "2026-02-28")
    assert again.read_bytes() == out.read_bytes()


def test_a_record_that_cannot_be_judged_stays_as_it_came(tag, tmp_path):
    line = '{"id": "a", "title": ""}\n{"id": "b", "title": "", "tags": []}\n'
    (tmp_path / "a.jsonl").write_text(line)
    result = tag(tmp_path / "a.jsonl", "-o", tmp_path / "b.jsonl")
    assert result.stderr.startswith("2 abstained (no text)\n")
    assert (tmp_path / "b.jsonl").read_text() == line


def test_a_table_gets_its_columns_even_if_no_row_can_be_judged(tag):
    result = tag("-", "-o", "-", input="id,title\n1,\n")
    assert result.stdout == "id,title,tags,tag_probabilities,tagger\n1,,,,\n"
    assert tag("-", "-o", "-", input="id,title\n").stdout.startswith("id,title")


def test_several_files_and_folders_go_to_a_folder(tag, file, tmp_path):
    more = tmp_path / "more"
    (more / "deep").mkdir(parents=True)
    (more / "deep" / "b.csv").write_text("id,title\n1,Adam\n")
    (more / "picture.png").write_text("x")
    result = tag(file, more, "-o", tmp_path / "out")
    assert result.exit_code == 0
    assert "left out, being of no known format: 1 file, such as " in result.stderr
    assert "read 4, used 3, skipped 1" in result.stderr
    assert (tmp_path / "out" / "new.jsonl").read_text().count("optimizers") == 3
    assert "optimizers" in (tmp_path / "out" / "deep" / "b.csv").read_text()


def test_a_file_that_cannot_be_tagged_does_not_stop_the_others(tag, file, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n")
    result = tag(bad, file, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert f"{bad}: not tagged: bad.csv: no column is known to hold" in result.stderr
    assert result.stderr.endswith("Error: 1 of the files could not be tagged.\n")
    assert (tmp_path / "out" / "new.jsonl").exists()


def test_several_files_need_a_folder(tag, file, tmp_path):
    out = tmp_path / "out"
    out.write_text("mine")
    result = tag(file, tmp_path, "-o", out)
    assert (result.exit_code, out.read_text()) == (1, "mine")
    assert "out is a file; several files need a folder for their output." in (
        result.stderr
    )


def test_several_files_are_not_put_in_a_folder_with_the_name_of_a_file(tag, file):
    out = file.with_name("out.jsonl.gz")
    result = tag(file, file.parent, "-o", out)
    assert (result.exit_code, out.exists()) == (1, False)
    assert (
        f"{out} is the name of a file, and several files need a folder for their "
        "output; give a name without such an ending, or make a folder of this name "
        "first."
    ) in result.stderr
    out.mkdir()
    assert tag(file, "-o", out / "x.jsonl").exit_code == 0
    file.with_name("more.csv").write_text("id,title\n1,Adam\n")
    assert tag(file, file.with_name("more.csv"), "-o", out).exit_code == 0


def test_a_dry_run_says_what_would_change_and_writes_nothing(tag, tmp_path):
    old = {"theme": "potentials", "probability": 0.7, "source": "model"}
    mine = {"theme": "mine", "source": "human"}
    lines = [
        {"id": "a", "title": "Adam, an optimizer", "tags": [mine, old]},
        {"id": "b", "title": "A story of energy"},
        {"id": "c", "title": "FP8 codes"},
        {"id": "d", "title": ""},
    ]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    before = file.read_bytes()
    result = tag(file, "--dry-run")
    assert result.exit_code == 0
    first, second = map(json.loads, result.stdout.splitlines())
    assert (first["id"], first["line"], first["file"]) == ("a", 1, "a.jsonl")
    assert [t["theme"] for t in first["added"]] == ["optimizers"]
    assert first["removed"] == [{"theme": "potentials", "probability": 0.7}]
    assert [t["theme"] for t in second["added"]] == ["low-precision"]
    assert "tags: 2 added, 0 changed, 1 removed; records that would change: 2; " in (
        result.stderr
    )
    assert [*tmp_path.iterdir()] == [file]
    assert file.read_bytes() == before


def test_a_dry_run_is_a_list_on_a_terminal(tag, file, monkeypatch):
    terminal = "click.testing._NamedTextIOWrapper.isatty"
    monkeypatch.setattr(terminal, lambda _: True, raising=False)
    lines = tag(file, "--dry-run").stdout.splitlines()
    assert lines[0] == "a  Adam, an optimizer"
    assert lines[1].split() == ["+", "optimizers", lines[1].split()[2]]
    assert len(lines) == 2


def test_an_update_adds_only_the_papers_that_are_new(tag, file, tmp_path):
    out = tmp_path / "out.jsonl"
    tag(file, "-o", out, "--update", "--date", "2026-01-31")
    held = out.read_text().replace("optimizers", "my-own", 1)
    out.write_text(held)
    file.write_text(LINES + '{"id": "c", "title": "FP8 codes"}\n')
    result = tag(file, "-o", out, "--update", "--date", "2026-02-28")
    assert result.exit_code == 0
    assert result.stderr.startswith("2 in OUT already, 1 tagged\n")
    assert out.read_text().startswith(held)
    (added,) = out.read_text()[len(held) :].splitlines()
    assert json.loads(added)["tags"][0]["date"] == "2026-02-28"
    before = out.stat()
    assert tag(file, "-o", out, "--update").exit_code == 0
    assert out.stat() == before or out.stat().st_mtime_ns == before.st_mtime_ns


def test_an_update_of_another_format_is_refused(tag, file, tmp_path):
    out = tmp_path / "out.bib"
    out.write_text("@misc{a, title={One}}")
    result = tag(file, "-o", out, "--update")
    assert result.exit_code == 1
    assert "Error: out.bib is bibtex, and the records of new.jsonl would be " in (
        result.stderr
    )


def test_an_interrupted_run_leaves_the_old_file_and_can_be_repeated(
    tag, file, tmp_path, monkeypatch
):
    out = tmp_path / "out.jsonl"
    out.write_text('{"id": "z", "title": "Momentum"}\n')
    before = out.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("tagger.tagging.tags_to_write", _interrupt)
        assert tag(file, "-o", out, "--update").exit_code == 130
        assert tag(file, "-o", out, "--overwrite").exit_code == 130
    assert out.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.jsonl", "out.jsonl"]
    assert tag(file, "-o", out, "--update").exit_code == 0
    assert len(out.read_text().splitlines()) == 3


def _interrupt(*_, **__):
    raise KeyboardInterrupt


def test_every_skipped_record_is_named(tag, file, tmp_path):
    names = tmp_path / "skipped.jsonl"
    tag(file, "-o", tmp_path / "out.jsonl", "--skipped", names)
    (line,) = map(json.loads, names.read_text().splitlines())
    assert line.pop("problem").startswith("new.jsonl:2: this is not JSON")
    assert line == {"file": str(file), "line": 2, "reason": "not JSON"}


def test_a_watched_folder_is_tagged_file_by_file(tag, tmp_path, monkeypatch):
    monkeypatch.setattr("tagger.arrivals.PAUSE", 0)
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "a.jsonl").write_text(LINES)
    (folder / "bad.csv").write_text("a,b\n1,2\n")
    options = ("--watch", folder, "-o", out, "--once")
    result = tag(*options)
    assert result.exit_code == 1
    assert f"{folder / 'a.jsonl'}: read 3, used 2, skipped 1" in result.stderr
    assert "bad.csv: not tagged: bad.csv: no column is known" in result.stderr
    (folder / "bad.csv").unlink()
    assert (out / "a.jsonl").read_text().count("optimizers") == 3
    assert tag(*options).stderr.splitlines()[1:] == ["no records"]
    (folder / "a.jsonl").write_text('{"id": "x", "title": "Adam"}\n' + LINES)
    result = tag(*options, "--update", "--strict")
    assert "1 tagged" in result.stderr
    assert "Error: 1 record was skipped, and --strict is given." in result.stderr
    assert len((out / "a.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "-o", "b", "--update", "--overwrite"], "one of --update and --overwri"),
        (["a", "-o", "-", "--update"], "--update needs a file that it can add to"),
        (["a", "--update", "--dry-run"], "Missing option '-o' / '--out'."),
        (["-o", "b"], "Give files or folders, or a folder with --watch."),
        (["a", "-o", "b", "--watch", "."], "Give files or folders, or a folder with"),
        (["a", "-o", "b", "--once"], "--once goes with --watch."),
        (["--watch", ".", "-o", "b", "--dry-run"], "one of --watch and --dry-run"),
        (["--watch", ".", "-o", "."], "--watch needs another folder for its output."),
        (["--watch", "nowhere", "-o", "b"], "nowhere is no folder; --watch needs one."),
        (["a", "-", "-o", "b"], "'-' stands for one file; here are several."),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(tag, words, message):
    result = tag(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


@pytest.mark.parametrize("more", [[], ["--cluster", "local"]])
def test_a_folder_does_not_go_to_a_stream(more, tmp_path, tiny_dir):
    (tmp_path / "a.jsonl").write_text('{"title": "Adam"}\n')
    words = ["tag", str(tmp_path), "-m", str(tiny_dir), "-o", "-", *more]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "'-'" in result.stderr


def test_standard_input_is_tagged_only_once(tiny_dir):
    words = ["tag", "-", "-", "-o", "out", "-m", str(tiny_dir)]
    result = CliRunner().invoke(main, words, input="")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == (
        "Error: '-' is standard input, which can be read only once; give it once."
    )


def test_a_folder_with_the_name_of_standard_input_is_named_by_its_path(
    tag, file, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").mkdir()
    (tmp_path / "-" / "a.jsonl").write_text('{"title": "Adam"}\n')
    assert tag("./-", "-o", "out").exit_code == 0
    assert (tmp_path / "out" / "a.jsonl").is_file()
    assert tag("-", "-o", "in.jsonl", input='{"title": "FP8"}\n').exit_code == 0
    assert "FP8" in (tmp_path / "in.jsonl").read_text()
    result = tag("-", file, "-o", "out")
    assert result.exit_code == 2
    assert "(the folder of that name is ./-)." in " ".join(result.stderr.split())


def test_a_file_with_the_name_of_standard_input_is_named_by_its_path(
    tag, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_text('{"title": "Adam"}\n')
    assert tag("./-", "-o", "out.jsonl").exit_code == 0
    assert "Adam" in (tmp_path / "out.jsonl").read_text()


def test_a_day_that_is_none_is_wrong_usage(tag, file):
    for day in ("2026-13-31", "2026-02-30", "tomorrow"):
        result = tag(file, "-o", "x.jsonl", "--date", day)
        assert result.exit_code == 2
        assert f"{day!r} is no day such as 2026-01-31." in result.stderr


@pytest.mark.parametrize(
    ("name", "format"),
    [("t.xlsx", "Excel"), ("t.XLS", "Excel"), ("t.ods", "OpenDocument"),
     ("t.docx", "Word"), ("t.pdf", "PDF")],
)  # fmt: skip
def test_the_name_of_a_spreadsheet_or_document_is_refused(tag, tmp_path, name, format):
    (tmp_path / "new.csv").write_text("id,title\n1,Adam\n")
    result = tag(tmp_path / "new.csv", "-o", tmp_path / name)
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert f"{name} would be no {format} file: OUT gets the format of IN;" in said
    assert not (tmp_path / name).exists()


def test_a_table_that_came_with_such_a_name_may_keep_it_and_that_is_noted(
    tag, tmp_path
):
    (tmp_path / "export.xls").write_text("id\ttitle\n1\tAdam\n")
    result = tag(tmp_path / "export.xls", "-o", tmp_path / "out.xls")
    assert result.exit_code == 0
    assert "out.xls was written as tsv, though its name says Excel." in result.stderr


def test_a_tag_that_stays_out_because_somebody_removed_it_is_counted(tag, tmp_path):
    (tmp_path / "a.csv").write_text("id,title\n1,Adam\n2,An Adam optimizer\n")
    (tmp_path / "a.jsonl").write_text('{"title": "Adam"}\n{"title": "An optimizer"}\n')
    (tmp_path / "a.bib").write_text(
        "@misc{a,\n  title = {Adam}\n}\n@misc{b,\n  title = {An optimizer}\n}\n"
    )
    said = "1 record with a tag kept out, since somebody removed it."
    for kind, given, left in [
        ("csv", "optimizer,optimizers", "optimizer,"),
        ("jsonl", '"tags": [{"theme": "optimizers"', '"tags": [], "old": [{"x": 1'),
        ("bib", "keywords = {optimizers}", "keywords = {}"),
    ]:
        once, out = tmp_path / f"once.{kind}", tmp_path / f"out.{kind}"
        assert said not in tag(tmp_path / f"a.{kind}", "-o", once).stderr
        text = once.read_text()
        last = text.rindex(given)
        once.write_text(text[:last] + left + text[last + len(given) :])
        result = tag(once, "-o", out)
        assert result.exit_code == 0
        assert said in result.stderr
        # Remembered, and said again.
        assert said in tag(out, "-o", out, "--overwrite").stderr


@pytest.mark.parametrize("name", ["new.jsonl", "missing.jsonl"])
def test_the_collector_is_left_as_it_was(tag, file, tmp_path, name):
    before = gc.get_threshold()
    tag(file.with_name(name), "-o", tmp_path / "out.jsonl")
    assert gc.get_threshold() == before
