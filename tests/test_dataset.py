"""A data set tagged part by part."""

import json
from dataclasses import replace

import pytest

from tagger.autotag import model_id
from tagger.dataset import Part, Plan, parts_of, parts_to_do, tag_part
from tagger.errors import ModelError, RecordError
from tagger.tagging import Existing, Tagging

LINES = '{"id": "a", "title": "Adam, an optimizer"}\noops\n'


@pytest.fixture
def parts(tmp_path):
    """Give a folder of three parts, one of them in a folder inside."""
    folder = tmp_path / "parts"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.jsonl").write_text(LINES)
    (folder / "deep" / "a.csv").write_text("id,title\n1,Adam\n")
    (folder / "feed.atom").write_text(
        '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>x</id>'
        "<title>Adam</title></entry></feed>"
    )
    return folder


@pytest.fixture
def how(tiny_dir, tmp_path):
    out = str(tmp_path / "out")
    return Plan(out, str(tiny_dir), model_id(tiny_dir), "2026-01-31")


def tag_all(how, source, **options):
    """Tag the parts that are to be tagged, and give their places."""
    to_do, done = parts_to_do(how, parts_of(str(source), how.out)[0], **options)
    return [tag_part(how, part).output for part in to_do], [a.output for a in done]


def read_all(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".tagger" not in path.parts
    }


def test_the_parts_are_the_files_of_records(parts, tmp_path):
    (parts / "picture.png").write_bytes(b"\x89PNG\0")
    found, others = parts_of(str(parts), str(tmp_path / "out"))
    assert [part.place for part in found] == ["a.jsonl", "deep/a.csv", "feed.atom"]
    assert others == [str(parts / "picture.png")]


def test_the_output_is_that_of_tagging_the_folder(parts, how, tmp_path, tiny):
    names = ["a.jsonl", "deep/a.csv", "feed.atom.jsonl"]
    assert tag_all(how, parts) == (names, [])
    from tagger.arrivals import jobs_in

    plain = tmp_path / "plain"
    tagging = Tagging(tiny, name=how.name, date=how.date, existing=Existing.REFUSE)
    jobs, _ = jobs_in([str(parts)], plain)
    assert len(list(tagging.files(jobs, plain))) == 3
    assert read_all(tmp_path / "out") == read_all(plain)
    assert sorted(read_all(plain)) == names


def test_the_account_says_what_came_of_a_part(parts, how):
    (part, *_), _ = parts_of(str(parts), how.out)
    account = tag_part(how, part)
    assert (account.read, account.used, account.whole) == (2, 1, True)
    assert account.reasons == {"not JSON": 1}
    assert account.decided == {"tagged": 1, "abstained (unusable)": 1}
    (skipped,) = account.skipped
    assert skipped["file"] == str(parts / "a.jsonl")
    assert (skipped["line"], skipped["reason"]) == (2, "not JSON")
    assert parts_to_do(how, [part]) == ([], [account])


def test_a_part_that_is_done_is_not_done_again_until_it_changes(parts, how, tmp_path):
    tag_all(how, parts)
    before = (tmp_path / "out" / "a.jsonl").stat().st_mtime_ns
    assert tag_all(how, parts)[0] == []
    (parts / "a.jsonl").write_text(LINES * 2)
    assert tag_all(how, parts)[0] == ["a.jsonl"]
    (tmp_path / "out" / "deep" / "a.csv").unlink()
    assert tag_all(how, parts)[0] == ["deep/a.csv"]
    assert (tmp_path / "out" / "a.jsonl").stat().st_mtime_ns > before
    assert len(tag_all(how, parts, overwrite=True)[0]) == 3


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_worker_that_dies_at_any_step_leaves_nothing_half(
    parts, how, tmp_path, monkeypatch, step
):
    """A worker puts three things in their places, one after the other."""
    import tagger.places

    put, calls = tagger.places.Folder.put, []

    def dying(*arguments):
        calls.append(arguments)
        if len(calls) == step:
            raise KeyboardInterrupt
        put(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr("tagger.places.Folder.put", dying)
        with pytest.raises(KeyboardInterrupt):
            tag_all(how, parts)
    names = ["a.jsonl", "deep/a.csv", "feed.atom.jsonl"]
    assert tag_all(how, parts) == (names, [])
    assert read_all(tmp_path / "out")["a.jsonl"].count(b'"id": "a"') == 1
    assert not list((tmp_path / "out" / ".tagger" / "work").glob("*"))


def test_what_is_not_ours_is_not_replaced(parts, how, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "feed.atom.jsonl").write_text("mine")
    match = r"out/feed\.atom\.jsonl exists already, and no run like this one wrote it"
    with pytest.raises(RecordError, match=match):
        tag_all(how, parts)
    assert (tmp_path / "out" / "feed.atom.jsonl").read_text() == "mine"
    assert len(tag_all(how, parts, overwrite=True)[0]) == 3


def test_a_run_with_another_model_does_not_go_on_with_this_one(parts, how):
    tag_all(how, parts)
    match = r"out holds a\.jsonl, tagged by the model 'tiny-.*' or read in another way"
    for other in ({"name": "other-1"}, {"mapping": {"title": ["x"]}}):
        with pytest.raises(RecordError, match=match):
            tag_all(replace(how, **other), parts)
    assert tag_all(how.on("2026-02-28"), parts)[0] == []


def test_an_account_that_cannot_be_read_is_of_a_part_that_is_not_done(parts, how):
    tag_all(how, parts)
    for text in ("{", '{"place": "a.jsonl"}', "[]"):
        (file,) = (parts.parent / "out" / ".tagger" / "parts").glob("a.jsonl.json")
        file.write_text(text)
        assert tag_all(how, parts)[0] == ["a.jsonl"]


def test_a_worker_with_another_model_refuses(parts, how):
    (part, *_), _ = parts_of(str(parts), how.out)
    match = r"A worker has the model 'tiny-.*' where 'other-1' is wanted; install the"
    with pytest.raises(ModelError, match=match):
        tag_part(replace(how, name="other-1"), part)


def test_a_part_that_cannot_be_read_leaves_nothing(parts, how, tmp_path):
    (parts / "bad.csv").write_text("a,b\n1,2\n")
    part = Part(str(parts / "bad.csv"), "bad.csv", "x")
    with pytest.raises(RecordError, match=r"bad\.csv: no column is known to hold"):
        tag_part(how, part)
    assert read_all(tmp_path / "out") == {}


def test_the_output_is_a_folder(parts, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(RecordError, match="out is a file; a data set needs a folder"):
        parts_of(str(parts), str(tmp_path / "out"))


def test_a_data_set_may_lie_behind_a_url(parts, how, tmp_path):
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec, which Dask brings")
    files = fsspec.filesystem("memory")
    files.store.clear()
    for name, data in read_all(parts).items():
        files.pipe_file(f"/in/{name}", data)
    files.pipe_file("/in/picture.png", b"x")
    assert parts_of("memory://in", how.out)[1] == ["memory://in/picture.png"]
    tag_all(how, parts)
    there = replace(how, out="memory://out")
    # Known by their names, and .atom is one.
    assert tag_all(there, "memory://in") == (
        ["a.jsonl", "deep/a.csv", "feed.atom.jsonl"],
        [],
    )
    assert tag_all(there, "memory://in")[0] == []
    for name, data in read_all(tmp_path / "out").items():
        assert files.cat_file(f"/out/{name}") == data
    (account,) = json.loads(files.cat_file("/out/.tagger/parts/a.jsonl.json"))[
        "skipped"
    ]
    assert account["file"] == "memory://in/a.jsonl"
    assert not [name for name in files.find("/out") if "/work/" in name]


def test_a_url_without_records_is_refused(tmp_path):
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec, which Dask brings")
    fsspec.filesystem("memory").pipe_file("/none/picture.png", b"x")
    with pytest.raises(RecordError, match="holds no file whose name ends like one of"):
        parts_of("memory://none", str(tmp_path / "out"))


def test_an_output_inside_the_input_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text('{"title": "Adam"}\n')
    with pytest.raises(RecordError, match="lies inside"):
        parts_of(str(tmp_path / "in"), str(tmp_path / "in" / "out"))
    assert len(parts_of(str(tmp_path / "in"), str(tmp_path / "out"))[0]) == 1
