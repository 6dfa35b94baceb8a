"""Folders that several machines see: files appear whole or not at all."""

import sys

import pytest

from tagger.errors import RecordError
from tagger.places import Folder, at_hand

fsspec = pytest.importorskip("fsspec", reason="needs fsspec, which Dask brings")


@pytest.fixture(params=["path", "file", "memory"])
def folder(request, tmp_path):
    """Give an empty folder: on disk by its path and its URL, and elsewhere."""
    if request.param == "memory":
        files = fsspec.filesystem("memory")
        files.store.clear()
        return Folder("memory://bucket/out")
    prefix = "file://" if request.param == "file" else ""
    (tmp_path / "out").mkdir()
    return Folder(f"{prefix}{tmp_path / 'out'}")


def test_a_file_appears_whole_under_its_name_and_its_place_is_swept(folder):
    with folder.work() as work:
        made = work.path / "a.jsonl"
        made.write_text("one")
        assert not folder.exists("deep/a.jsonl")
        work.put(made, "deep/a.jsonl")
        work.put_bytes(b"two", "b.json")
        assert folder.read("deep/a.jsonl") == b"one"
    assert folder.read("b.json") == b"two"
    assert folder.exists("deep/a.jsonl")
    assert folder.read("none") is None
    assert not work.path.exists()


def test_a_file_that_is_there_is_replaced(folder):
    with folder.work() as work:
        work.put_bytes(b"old", "a")
        before = folder.state("a")
        work.put_bytes(b"newer", "a")
    assert folder.read("a") == b"newer"
    assert folder.state("a") != before


def test_what_was_left_half_done_is_removed(folder):
    with folder.work() as work:
        work.put_bytes(b"half", ".tagger/work/dead/a")
    folder.clear()
    folder.clear()
    assert not folder.exists(".tagger/work/dead/a")


def test_a_folder_on_disk_has_a_path_whatever_it_is_called(tmp_path):
    assert Folder(f"file://{tmp_path}").path == Folder(str(tmp_path)).path == tmp_path
    assert Folder("memory://x").path is None


def test_files_behind_a_url_are_listed_and_fetched():
    files = fsspec.filesystem("memory")
    files.store.clear()
    for name in ("b.jsonl", "deep/a.csv", ".tagger/parts/b.jsonl.json"):
        files.pipe_file(f"/bucket/{name}", b"x")
    folder = Folder("memory://bucket/")
    assert folder.names() == ["b.jsonl", "deep/a.csv"]
    assert folder.url("deep/a.csv") == "memory://bucket/deep/a.csv"
    with at_hand("memory://bucket/deep/a.csv") as path:
        assert (path.name, path.read_bytes()) == ("a.csv", b"x")
    assert not path.exists()
    one = Folder("memory://bucket/b.jsonl")
    assert one.names() == ["b.jsonl"]
    assert one.url("b.jsonl") == "memory://bucket/b.jsonl"


def test_a_file_on_disk_is_read_where_it_lies(tmp_path):
    (tmp_path / "a").write_text("x")
    for name in (str(tmp_path / "a"), f"file://{tmp_path / 'a'}"):
        with at_hand(name) as path:
            assert path == tmp_path / "a"


def test_a_url_that_nobody_knows_is_refused():
    with pytest.raises(RecordError, match="s9://x cannot be reached: Protocol not kn"):
        Folder("s9://x")


def test_a_url_needs_fsspec(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    match = r'needs fsspec; install it with: pip install "paper-tagger\[dask\]"\.'
    with pytest.raises(RecordError, match=match):
        Folder("s3://x/y")
