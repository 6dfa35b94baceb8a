"""Folders of arrays: what is written, and what is refused."""

import hashlib
import io
import json
import os
import shutil

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tagger.errors import ModelError
from tagger.store import FORMAT_VERSION, read_folder, write_folder

ARRAYS = {
    "codes": np.array([1, 2**63], np.uint64),
    "none": np.zeros((0, 3), np.float16),
    "table": np.arange(6, dtype=np.int8).reshape(2, 3),
}


@pytest.fixture
def folder(tmp_path):
    """Give a folder as it is written."""
    write_folder(tmp_path / "m", "model", ARRAYS, {"made": "now"}, texts={"A.md": "é"})
    return tmp_path / "m"


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_text("utf-8"))


def rewrite(folder, **changes):
    text = json.dumps({**manifest_of(folder), **changes})
    (folder / "manifest.json").write_text(text, "utf-8")


def replace_file(folder, name, data):
    """Replace a file, and its size and checksum too, as a forger would."""
    (folder / name).write_bytes(data)
    files = manifest_of(folder)["files"]
    files[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    rewrite(folder, files=files)


def names(path):
    return sorted(p.name for p in path.iterdir())


def test_arrays_and_facts_are_read_back(folder):
    arrays, manifest = read_folder(folder, "model")
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype
    assert manifest["made"] == "now"
    assert manifest["format"] == "paper-tagger model"
    assert manifest["format_version"] == FORMAT_VERSION
    assert (folder / "A.md").read_text("utf-8") == "é"


def test_what_is_read_cannot_be_changed(folder):
    arrays, _ = read_folder(folder, "model")
    with pytest.raises(ValueError, match="read-only"):
        arrays["table"][0, 0] = 1


def test_the_same_content_gives_the_same_bytes(folder, tmp_path):
    backwards = dict(reversed(ARRAYS.items()))
    write_folder(
        tmp_path / "n", "model", backwards, {"made": "now"}, texts={"A.md": "é"}
    )
    assert names(folder) == names(tmp_path / "n")
    for name in names(folder):
        assert (folder / name).read_bytes() == (tmp_path / "n" / name).read_bytes()


def test_a_column_order_array_is_read_back_equal(tmp_path):
    array = np.asfortranarray(ARRAYS["table"])
    write_folder(tmp_path / "m", "model", {"a": array, "b": np.float64(3)}, {})
    arrays, _ = read_folder(tmp_path / "m", "model")
    assert_array_equal(arrays["a"], array)


def test_nothing_is_left_beside_the_folder(folder, tmp_path):
    write_folder(folder, "model", ARRAYS, {}, overwrite=True)
    assert names(tmp_path) == ["m"]


def test_folders_above_are_made_and_an_empty_folder_is_filled(tmp_path):
    target = tmp_path / "a" / "b"
    target.mkdir(parents=True)
    write_folder(target, "model", ARRAYS, {})
    write_folder(tmp_path / "c" / "d" / "e", "model", ARRAYS, {})
    assert "manifest.json" in names(target)


def test_a_model_is_not_replaced_unless_told(folder):
    with pytest.raises(ModelError, match=r"m exists already; .* with --overwrite\."):
        write_folder(folder, "model", {}, {})
    write_folder(folder, "model", {}, {}, overwrite=True)
    assert read_folder(folder, "model")[0] == {}


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_not_ours_is_never_replaced(tmp_path, kind):
    target = tmp_path / "thesis"
    if kind == "file":
        target.write_text("years of work")
    else:
        target.mkdir()
        (target / "chapter.tex").write_text("years of work")
    with pytest.raises(ModelError, match="thesis exists and is not a folder of ours"):
        write_folder(target, "model", {}, {}, overwrite=True)
    assert "years of work" in (
        target.read_text() if kind == "file" else (target / "chapter.tex").read_text()
    )


def test_a_place_that_cannot_be_written_gets_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        ModelError, match=r"could not be written: .*nothing was changed"
    ):
        write_folder(tmp_path / "file" / "m", "model", {}, {})


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("at", [0, 2])
def test_an_interrupted_write_leaves_the_old_folder_whole(
    folder, tmp_path, monkeypatch, error, at
):
    calls = []

    def fsync(_):
        calls.append(None)
        if len(calls) > at:
            raise error

    monkeypatch.setattr(os, "fsync", fsync)
    wanted = ModelError if isinstance(error, OSError) else KeyboardInterrupt
    match = "No space left; nothing was changed" if wanted is ModelError else None
    with pytest.raises(wanted, match=match):
        write_folder(folder, "model", {"new": np.ones(3), "x": np.ones(1)}, {},
                     overwrite=True)  # fmt: skip
    assert names(tmp_path) == ["m"]
    assert read_folder(folder, "model")[0].keys() == ARRAYS.keys()


def test_an_interrupted_first_write_leaves_nothing(tmp_path, monkeypatch):
    def fsync(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "m", "model", ARRAYS, {})
    assert names(tmp_path) == []


def test_objects_are_never_written(tmp_path):
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write_folder(tmp_path / "m", "model", {"a": np.array([{}])}, {})
    assert names(tmp_path) == []


def refused(folder, kind="model"):
    """Give the sentence with which a folder is refused."""
    with pytest.raises(ModelError, match=r".\.\Z") as caught:
        read_folder(folder, kind)
    return str(caught.value)


def test_a_missing_folder_is_refused(tmp_path):
    wanted = f"There is no model at {tmp_path / 'x'}; train one, or check the path."
    assert refused(tmp_path / "x") == wanted


def test_what_is_no_folder_or_has_no_manifest_is_refused(tmp_path):
    (tmp_path / "f").write_text("")
    assert "f is no folder with a manifest.json" in refused(tmp_path / "f")
    assert "is not a model of ours" in refused(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "paper-tagger background"}, "choose a model folder"),
        ({"format": None}, "m says that it is None, not 'paper-tagger model'"),
        ({"format_version": FORMAT_VERSION + 1}, "pip install -U paper-tagger"),
        ({"format_version": 0}, "has format version 0; this tagger reads up to"),
        ({"format_version": "1"}, "has format version '1'"),
        ({"files": None}, "its list of files makes no sense"),
        ({"files": {"a.npy": 3}}, "its list of files makes no sense"),
        ({"files": {"a.npy": {"bytes": "1"}}}, "its list of files makes no sense"),
        ({"files": {"a.npy": {"bytes": 1, "sha256": ""}}}, "a.npy is missing"),
    ],
)
def test_a_foreign_or_altered_manifest_is_refused(folder, changes, message):
    rewrite(folder, **changes)
    assert message in refused(folder)


@pytest.mark.parametrize(
    "name", ["../x.npy", "/etc/passwd", "..", "a\\b.npy", "c:x.npy", "", "a/b.npy",
             "manifest.json", "\0.npy"]
)  # fmt: skip
def test_a_name_that_leads_out_of_the_folder_is_refused(folder, name):
    (folder.parent / "x.npy").write_bytes(b"")
    facts = {"bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    rewrite(folder, files={name: facts})
    assert "its list of files makes no sense" in refused(folder)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"format": "paper', "manifest.json is cut or altered"),
        (b"[]", "it holds no object"),
        (b"\xff\xfe", "manifest.json is cut or altered"),
        (b"", "manifest.json is cut or altered"),
        (b"[" * 100_000, "manifest.json is cut or altered"),
    ],
)
def test_a_manifest_that_is_no_json_is_refused(folder, data, message):
    (folder / "manifest.json").write_bytes(data)
    assert message in refused(folder)


def test_a_manifest_beyond_all_measure_is_not_even_read(folder):
    os.truncate(folder / "manifest.json", (64 << 20) + 1)
    assert "is larger than any manifest" in refused(folder)


def test_a_manifest_that_cannot_be_read_is_refused(folder, monkeypatch):
    def read_text(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_text", read_text)
    assert "manifest.json cannot be read: Permission denied." in refused(folder)


@pytest.mark.parametrize("name", ["table.npy", "A.md"])
def test_a_cut_file_is_refused(folder, name):
    size = (folder / name).stat().st_size
    os.truncate(folder / name, size - 1)
    wanted = f"is cut or altered: it has {size - 1} bytes, not {size}."
    assert wanted in refused(folder)


@pytest.mark.parametrize("name", ["table.npy", "A.md"])
def test_an_altered_byte_is_refused(folder, name):
    data = bytearray((folder / name).read_bytes())
    data[-1] ^= 1
    (folder / name).write_bytes(data)
    message = refused(folder)
    assert f"{name} is altered: its checksum is not the one in manifest.json" in message


def test_a_missing_file_is_refused(folder):
    (folder / "table.npy").unlink()
    assert refused(folder) == f"{folder} is not whole: table.npy is missing."


def test_a_link_is_not_followed(folder, tmp_path):
    shutil.move(folder / "table.npy", tmp_path / "elsewhere.npy")
    (folder / "table.npy").symlink_to(tmp_path / "elsewhere.npy")
    assert "table.npy is missing" in refused(folder)


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __reduce__(self):
        return open, ("exploded", "w")


@pytest.mark.parametrize(
    "data",
    [
        npy(np.array([Bomb()], object), allow_pickle=True),
        b"not an array",
        b"",
        npy(np.ones(4))[:-1],
        npy(np.ones(4)).replace(b"(4,)", b"(9,)"),
        npy(np.ones(4)).replace(b"(4,), }       ", b"(9999999999,)}"),
        npy(np.ones(4)).replace(b"(4,), }" + b" " * 30, b"(" + b"9" * 34 + b",)}"),
        npy(np.ones(4)).replace(b"'<f8'", b"'|O' "),
        npy(np.ones(4)).replace(b"{'descr'", b"['descr'"),
        b"PK\x03\x04" + b"\0" * 100,
    ],
    ids=range(10),
)
def test_a_forged_array_is_refused_and_runs_nothing(
    folder, data, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    replace_file(folder, "table.npy", data)
    assert "table.npy holds no plain array" in refused(folder)
    assert names(tmp_path) == ["m"]
