"""Files made to fill memory, disk or time are refused with a sentence."""

import bz2
import gzip
import io
import lzma
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backports import zstd

from tagger.errors import RecordError
from tagger.formats import plain_text, read_entries, table_text, text_stream
from tagger.formats.unpacking import unpacked

GIGABYTE = 1 << 30
LIMIT = 1 << 21


class Endless(io.RawIOBase):
    """A gigabyte that repeats one piece, and takes no memory."""

    name = "stream"

    def __init__(self, head, piece):
        self._head = head
        self._piece = piece * (65536 // len(piece) + 1)
        self._left = GIGABYTE

    def readable(self):
        return True

    def read(self, size=-1):
        size = min(65536 if size < 0 else size, self._left)
        part = self._head[:size] if self._head else self._piece[:size]
        self._head = self._head[size:]
        self._left -= len(part)
        return part


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b'{"title": "T"}\n{"title": "', b"x"),
        (b'{"title": "T"}\n{"title": "T"}\n', b"\n"),
        (b'[{"title": "T"},{"title": "', b"x"),
        (b'[{"title": "T"}', b" " * 999),
        (b'[{"title": "T", "x": ', b"["),
        (b'[{"title": "T", "x": ', b"9"),
        (b'title,abstract\nT,"', b"x"),
        (b"title,abstract\nT", b","),
        (b"@article{a, title = {", b"x"),
        (b"@article{a, title = {", b"x\n"),
        (b"@article{a, title = ", b"{"),
        (b"@article{a, title = {b}}\n", b"comment\n"),
        (b"TY  - JOUR\nTI  - ", b"x"),
        (b"TY  - JOUR\nTI  - ", b"x\n"),
        (b"PMID- 1\nTI  - ", b"x\n"),
        (b"<feed><entry><title>", b"x"),
        (b"<feed><!--", b"x"),
        (b"arXiv2026\n\nT\n\ncs.LG\xe2\x86\x97\n\narXiv2025\n", b"x\n"),
        (b"We tag ", b"x"),
    ],
)
def test_an_entry_of_a_gigabyte_is_refused_in_little_memory(head, piece, monkeypatch):
    for module in (text_stream, plain_text, table_text):
        monkeypatch.setattr(module, "MAX_ENTRY", LIMIT)
    opened = read_entries(Endless(head, piece))
    tracemalloc.start()
    with pytest.raises(RecordError, match=r"over 2,097,152 characters"):
        list(opened)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A text and its copies, or a list of short lines.
    assert peak < 8 * LIMIT


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        bz2.compress,
        lambda data: lzma.compress(data, preset=0),
        zstd.compress,
    ],
)
def test_an_unpacking_bomb_is_refused(pack):
    line = b'{"title": "T"}\n'
    # A hundred thousand lines are 1.5 MB; ninety streams in a row are 135 MB.
    bomb = pack(line * 100_000) * 90
    opened = read_entries(io.BytesIO(bomb))
    with pytest.raises(RecordError, match=r"packed bytes unpack to over .* refused"):
        unpack(opened)


def unpack(opened):
    """Take the bytes of a file without reading its records."""
    stream = opened._source.stream
    while stream.read1(1 << 20):
        pass


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_twice_is_refused(pack):
    with pytest.raises(RecordError, match="stream is packed twice; unpack it once"):
        read_entries(io.BytesIO(pack(gzip.compress(b"x" * 100))))


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, zstd.compress]
)
def test_thousands_of_packed_streams_in_a_row_are_one_file(pack):
    lines = [b'{"id": "%d", "title": "T"}\n' % n for n in range(3000)]
    data = b"".join(pack(line) for line in lines)
    assert len(list(read_entries(io.BytesIO(data)))) == 3000


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("behind", [b"", b"\0" * 20, b"junk"])
def test_what_follows_a_packed_stream_does_no_harm(pack, behind):
    data = pack(b'{"title": "T"}\n') + pack(b'{"title": "U"}\n') + behind
    assert [e.record.title for e in read_entries(io.BytesIO(data))] == ["T", "U"]


def test_zstd_that_breaks_off_or_is_damaged_is_refused():
    data = zstd.compress(b"".join(b"%d words\n" % (n * n) for n in range(9999)))
    for broken in (data[:-9], data[:9] + b"\xff" * 9 + data[18:]):
        with pytest.raises(
            RecordError, match=r"the packed content is (cut off|damaged)"
        ):
            list(read_entries(io.BytesIO(broken)))


def test_without_the_package_zstd_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "backports", None)
    with pytest.raises(RecordError, match=r"install the package backports\.zstd"):
        unpacked("x.zst", None, "zstd")


def test_a_document_that_declares_entities_is_refused():
    bomb = (
        '<?xml version="1.0"?>\n<!DOCTYPE feed [\n<!ENTITY a "haha">\n'
        '<!ENTITY b "&a;&a;&a;&a;">\n]>\n<feed><entry><title>&b;</title></entry></feed>'
    )
    with pytest.raises(RecordError, match="stream declares entities of its own"):
        list(read_entries(io.BytesIO(bomb.encode())))
    outside = (
        '<!DOCTYPE feed SYSTEM "file:///etc/passwd">' + bomb[bomb.index("<feed>") :]
    )
    (entry,) = read_entries(io.BytesIO(outside.encode()))
    assert entry.record.title == "&b;"


def test_a_record_nested_too_deep_is_a_problem_of_its_own():
    deep = "<a>" * 200 + "</a>" * 200
    text = f"<feed><entry>{deep}</entry><entry><title>T</title></entry></feed>"
    bad, good = read_entries(io.BytesIO(text.encode()))
    assert "elements are nested over 100 deep" in bad.problem
    assert good.record.title == "T"


def test_positions_of_words_cannot_ask_for_memory():
    index = '{"a": [999999999999999999], "b": [-1, 0, true, "x"], "c": 3}'
    text = f'{{"id": "W", "title": "T", "abstract_inverted_index": {index}}}'
    (entry,) = read_entries(io.BytesIO(text.encode()))
    assert entry.record.abstract == "b b b a"


def test_rows_of_parquet_that_are_too_large_are_refused():
    # One value, named a thousand times, takes no room in the file.
    table = pa.table({"title": pa.array(["x" * 1_000_000] * 200).dictionary_encode()})
    out = io.BytesIO()
    pq.write_table(table, out)
    with pytest.raises(RecordError, match=r"200 rows from row 1 hold .* refused"):
        list(read_entries(io.BytesIO(plain(out.getvalue()))))


def plain(data):
    """Return a Parquet file whose column is text, packed by a dictionary."""
    table = pq.read_table(io.BytesIO(data))
    out = io.BytesIO()
    pq.write_table(table.cast(pa.schema([("title", pa.string())])), out)
    assert len(out.getvalue()) < 3_000_000
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"PK\x03\x04", "a ZIP archive or an Excel workbook; unpack it"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
        (b"../../etc/passwd".ljust(257, b"\0") + b"ustar\x00", "a tar archive; unpack"),
    ],
)
def test_archives_are_refused_so_no_name_in_them_matters(data, kind):
    with pytest.raises(RecordError, match=f"stream is {kind}"):
        read_entries(io.BytesIO(data))
    with pytest.raises(RecordError, match=f"stream is {kind}"):
        read_entries(io.BytesIO(gzip.compress(data)))
