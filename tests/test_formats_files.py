"""Opening, recognising, plain text, packing, encodings, and whole files."""

import bz2
import errno
import gzip
import io
import json
import lzma
import os
import stat
import sys

import pytest
from backports import zstd

from tagger.errors import RecordError
from tagger.formats import (
    FORMATS,
    read_entries,
    read_records,
    summary_line,
    write_entries,
)
from tagger.formats.plain_text import split_title
from tagger.records import Tag

LINE = '{"id": "a", "title": "T", "abstract": "Naïve μP."}\n'
LINES = LINE + LINE.replace('"a"', '"b"')


def reading(data, **options):
    data = data.encode() if isinstance(data, str) else data
    return read_entries(io.BytesIO(data), **options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("On Tags\n\nWe tag papers.", ("On Tags", "We tag papers.")),
        ("On\nTags\n\nWe tag.", ("On Tags", "We tag.")),
        ("What is a tag?\r\n\r\nWe tag.", ("What is a tag?", "We tag.")),
        ("On Tags\n" + "We tag papers. " * 20, ("On Tags", "We tag papers. " * 20)),
        ("Title: On Tags.\nAbstract: We.", ("On Tags.", "Abstract: We.")),
        ("We tag papers.\n\nThey are good.", ("", "We tag papers.\n\nThey are good.")),
        (
            "We tag papers and\nthey are good.",
            ("", "We tag papers and\nthey are good."),
        ),
        ("We tag papers", ("", "We tag papers")),
        ("x" * 301 + "\n\nWe tag.", ("", "x" * 301 + "\n\nWe tag.")),
        ("  \n", ("", "")),
    ],
)
def test_the_first_paragraph_is_a_title_when_it_looks_like_one(text, expected):
    title, abstract = split_title(text)
    assert (title, abstract) == (expected[0], expected[1].strip())


def test_plain_text_is_what_nothing_else_is():
    opened = reading("On Tags\n\nWe tag, and train; {this} [works].\n")
    (entry,) = opened
    assert opened.format == "text"
    assert entry.record.title == "On Tags"
    assert entry.id == "stream"


@pytest.mark.parametrize("text", ["", "  \n\n"])
def test_an_empty_text_is_a_record_without_text(text):
    opened = reading(text)
    (entry,) = opened
    assert (entry.record.title, entry.record.abstract) == ("", "")
    assert opened.summary_line == (
        "read 1, used 1, skipped 0. 1 record without any text."
    )


def test_an_empty_file_of_records_has_none(tmp_path):
    path = tmp_path / "new.jsonl"
    path.write_bytes(b"")
    opened = read_entries(path)
    assert (list(opened), opened.format) == ([], "jsonl")


@pytest.mark.parametrize(
    ("name", "text", "format", "by"),
    [
        ("x.csv", LINES, None, "content"),
        ("x.jsonl", "{", None, "name"),
        ("x.csv", LINES, "jsonl", "option"),
        ("x", "We tag.", None, "default"),
    ],
)
def test_a_reading_says_by_what_its_format_is_known(name, text, format, by):
    file = io.BytesIO(text.encode())
    file.name = name
    assert read_entries(file, format=format).recognised_by == by


def test_plain_text_is_tagged_as_json_lines():
    opened = reading("We tag.")
    out = io.BytesIO()
    write_entries(((e, [Tag("x", 0.123456)]) for e in opened), out, reading=opened)
    assert json.loads(out.getvalue())["tags"] == [
        {"theme": "x", "probability": 0.1235, "source": "model"}
    ]


def test_content_goes_before_the_name(tmp_path):
    path = tmp_path / "wrong.csv"
    path.write_text(LINES, encoding="utf-8")
    assert [r.id for r in read_records(path)] == ["a", "b"]


def test_the_name_decides_where_the_content_does_not(tmp_path):
    path = tmp_path / "new.jsonl"
    path.write_text('{"title": "T"\n', encoding="utf-8")
    (entry,) = read_entries(path)
    assert entry.problem.startswith("new.jsonl:1: this is not JSON")


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, zstd.compress]
)
@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_packed_files_are_known_by_their_content(tmp_path, pack, name):
    path = tmp_path / name
    path.write_bytes(pack(LINES.encode()))
    assert [r.abstract for r in read_records(path)] == ["Naïve μP."] * 2


def test_a_name_that_promises_packing_is_no_proof(tmp_path):
    path = tmp_path / "x.jsonl.gz"
    path.write_text(LINES, encoding="utf-8")
    assert [r.id for r in read_records(path)] == ["a", "b"]


def test_a_packed_file_that_breaks_off_is_refused(tmp_path):
    path = tmp_path / "x.gz"
    lines = "".join(f'{{"title": "{os.urandom(40).hex()}"}}\n' for _ in range(9000))
    path.write_bytes(gzip.compress(lines.encode())[:-5000])
    with (
        pytest.raises(RecordError, match=r"x.gz: the packed content is cut off after"),
        read_entries(path) as opened,
    ):
        list(opened)


def test_standard_input_is_read(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(LINE.replace('"a"', "null").encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    (record,) = read_records("-", format="jsonl")
    assert (record.id, record.sources) == ("stdin:1", ("stdin",))
    assert not stdin.buffer.closed


def test_western_text_is_recognised_and_said_with_its_offset():
    opened = reading(b'{"title": "Schr\xf6dinger\x92s"}\n{"title": "T"}\n')
    first, _ = opened
    assert first.record.title == "Schrödinger’s"
    assert opened.notes[0] == (
        "stream: byte 15 (0xf6) is not UTF-8 text, so the file is read as cp1252 "
        "(Western); if that is wrong, give --encoding."
    )


@pytest.mark.parametrize("encoding", ["koi8-r", "gb18030", "utf-8-broken"])
def test_other_encodings_are_refused_with_the_offset_and_the_option(encoding):
    if encoding == "utf-8-broken":
        data = "é".encode() + b" \xf6 \xf6 \xf6"
    else:
        data = {"koi8-r": "Тема", "gb18030": "论文检索"}[encoding].encode(encoding)
    with pytest.raises(
        RecordError,
        match=r"stream: byte \d+ \(0x..\) is not UTF-8 text. Give the encoding of the "
        r"file, for example --encoding cp1252 or --encoding gb18030",
    ):
        reading(b"title " + data)


def test_bad_bytes_far_into_a_file_are_shown_counted_and_kept():
    data = LINES.encode() * 2000 + b'{"title": "caf\xe9"}\n' + LINES.encode()
    opened = reading(data)
    entries = list(opened)
    assert entries[4000].record.title == "caf\ufffd"
    assert opened.notes[0] == (
        "stream: bytes that are not UTF-8 text: 1, the first on line 4,001, read as "
        "U+FFFD and kept in the file; give its --encoding, such as cp1252, if it has "
        "another."
    )
    out = io.BytesIO()
    write_entries([(e, None) for e in entries], out, reading=opened)
    assert out.getvalue() == data


def test_a_bad_byte_in_text_of_two_byte_units_is_refused_with_its_offset():
    data = b"\xff\xfe" + LINES.encode("utf-16-le") + b"\x00\xdc" * 2
    with pytest.raises(
        RecordError, match=rf"byte {len(data) - 4:,} \(0x00\) is not UTF-16-LE text"
    ):
        list(reading(data))


@pytest.mark.parametrize("name", ["x.xml", "x.bib"])
def test_a_declared_encoding_is_used(name):
    declared = '<?xml version="1.0" encoding="ISO-8859-2"?><dblp><article key="k">' \
        "<title>Łódź</title></article></dblp>"  # fmt: skip
    if name == "x.bib":
        declared = "% Encoding: ISO-8859-2\n@misc{k, title = {Łódź}}\n"
    (entry,) = reading(declared.encode("iso-8859-2"))
    assert entry.record.title == "Łódź"


def test_a_given_encoding_is_used():
    (entry,) = reading("Schrödinger wrote.".encode("latin-1"), encoding="latin-1")
    assert entry.record.abstract == "Schrödinger wrote."


def test_utf_16_without_a_mark_is_refused_with_the_way_out():
    data = LINES.encode("utf-16-le")
    with pytest.raises(RecordError, match="are zero, so this is not UTF-8 text"):
        reading(data)
    opened = reading(data, encoding="utf-16")
    out = io.BytesIO()
    write_entries([(e, None) for e in opened], out, reading=opened)
    assert out.getvalue() == data


def test_an_unknown_encoding_or_format_is_refused():
    with pytest.raises(RecordError, match="The encoding 'klingon' is not known"):
        reading("x", encoding="klingon")
    with pytest.raises(RecordError, match="The encoding 'hex' is not known"):
        reading("x", encoding="hex")
    with pytest.raises(RecordError, match=r"The format 'xls' is not known; expected"):
        reading("x", format="xls")


@pytest.mark.parametrize(
    ("data", "kind"),
    [(b"%PDF-1.7", "a PDF"), (b"PK\x03\x04", "a ZIP archive or an Excel workbook")],
)
def test_files_of_another_kind_are_refused(data, kind):
    with pytest.raises(RecordError, match=rf"stream is {kind}"):
        reading(data)


def test_what_cannot_be_opened_is_refused(tmp_path):
    with pytest.raises(RecordError, match=r"no.txt cannot be read: no such file"):
        read_entries(tmp_path / "no.txt")
    with pytest.raises(RecordError, match="is a folder; give the files in it"):
        read_entries(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_read(tmp_path):
    import threading

    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(LINES.encode(),))
    writer.start()
    assert [r.id for r in read_records(path)] == ["a", "b"]
    writer.join()


def test_a_text_file_object_is_read():
    assert [r.id for r in read_records(io.StringIO(LINES))] == ["a", "b"]


def test_a_reading_counts_as_it_goes_and_can_be_started_once():
    opened = reading(LINES + "bad\n")
    next(iter(opened))
    assert (opened.n_read, opened.n_used, opened.n_skipped) == (1, 1, 0)
    with pytest.raises(RuntimeError, match="was started before; read the file again"):
        iter(opened)


def test_many_readings_have_one_summary():
    readings = [reading(LINES + "bad\n"), reading(LINES)]
    for opened in readings:
        list(opened)
    assert summary_line(readings) == "read 5, used 4, skipped 1 (1 not JSON)"


def test_records_of_many_files_come_in_order_and_skips_are_warned_of(tmp_path):
    for name, text in (("a.jsonl", LINES + "{\n"), ("b.txt", "We tag.")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.warns(UserWarning, match=r"a.jsonl: read 3, used 2, skipped 1"):
        records = read_records([tmp_path / "a.jsonl", tmp_path / "b.txt"])
    assert [r.id for r in records] == ["a", "b", "b.txt"]


def test_a_file_of_which_nothing_can_be_used_is_refused():
    with pytest.raises(
        RecordError,
        match=r"stream has 2 entries, and none can be used. The first: stream:1: ",
    ):
        read_records(io.BytesIO(b'{"x": 1}\n{"x": 2}\n'))


def copied(source, target):
    with read_entries(source) as opened:
        write_entries(((e, [Tag("x", 0.5)]) for e in opened), target, reading=opened)


def test_a_file_is_written_over_itself_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(LINES, encoding="utf-8")
    path.chmod(0o640)
    copied(path, path)
    assert [r.extra["tags"][0]["theme"] for r in read_records(path)] == ["x", "x"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["x.jsonl"]


def test_a_broken_run_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(LINES, encoding="utf-8")

    def broken(entries):
        yield next(entries), [Tag("x", 0.5)]
        raise KeyboardInterrupt

    with read_entries(path) as opened, pytest.raises(KeyboardInterrupt):
        write_entries(broken(iter(opened)), path, reading=opened)
    assert path.read_text(encoding="utf-8") == LINES
    assert os.listdir(tmp_path) == ["x.jsonl"]


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz", "zst"])
def test_a_packed_target_is_packed_the_same_way_each_time(tmp_path, packing):
    source = tmp_path / "x.jsonl"
    source.write_text(LINES, encoding="utf-8")
    first, second = (tmp_path / f"{name}.{packing}" for name in "ab")
    for target in (first, second):
        copied(source, target)
    assert first.read_bytes() == second.read_bytes()
    assert not first.read_bytes().startswith(b"{")
    assert len(read_records(first)) == 2


def test_a_target_that_cannot_be_written_is_named(tmp_path):
    source = tmp_path / "x.jsonl"
    source.write_text(LINES, encoding="utf-8")
    with pytest.raises(
        RecordError, match=r"no/x.jsonl cannot be written: no such file"
    ):
        copied(source, tmp_path / "no" / "x.jsonl")


def test_a_full_disk_leaves_the_old_file_and_names_it(tmp_path, monkeypatch):
    path = tmp_path / "x.jsonl"
    path.write_text(LINES, encoding="utf-8")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RecordError, match=r"x.jsonl cannot be written: no space left"):
        copied(path, path)
    assert [file.name for file in tmp_path.iterdir()] == ["x.jsonl"]
    assert path.read_text(encoding="utf-8") == LINES


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    path, link = tmp_path / "x.jsonl", tmp_path / "link.jsonl"
    path.write_text(LINES, encoding="utf-8")
    link.symlink_to(path)
    copied(link, link)
    assert link.is_symlink()
    assert "tags" in path.read_text(encoding="utf-8")


def test_every_format_has_a_name_and_suffixes_of_its_own():
    names = [kind.name for kind in FORMATS]
    suffixes = [suffix for kind in FORMATS for suffix in kind.suffixes]
    assert len(set(names)) == len(names)
    assert len(set(suffixes)) == len(suffixes)


@pytest.mark.shared
@pytest.mark.parametrize("tags", [None, [Tag("x", 0.5)]])
def test_real_records_are_written_back_whole(shared, tags):
    path = shared / "gold" / "open.jsonl"
    with read_entries(path) as opened:
        out = io.BytesIO()
        write_entries(((e, tags) for e in opened), out, reading=opened)
    assert opened.n_read == opened.n_used > 2000
    if tags is None:
        assert out.getvalue() == path.read_bytes()
    else:
        old = path.read_text(encoding="utf-8").splitlines()
        new = out.getvalue().decode().splitlines()
        added = (
            ', "tags": [{"theme": "x", "probability": 0.5, "source": "model"}], '
            '"tagger": {"written": ["x"]}}'
        )
        assert new == [line[:-1] + added for line in old]
