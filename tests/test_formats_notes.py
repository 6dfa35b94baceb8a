"""What a file makes the user know: nothing is left out without a word."""

import bz2
import gzip
import io
import json

import pytest
from click.testing import CliRunner

from tagger.cli import main
from tagger.errors import RecordError
from tagger.formats import append_entries, read_entries, write_entries
from tagger.records import Tag

LINES = '{"id": "a", "title": "T"}\n{"id": "b", "title": "U"}\n'
TAGS = [Tag("moe", 0.9)]


def reading(data, name="stream", **options):
    file = io.BytesIO(data if isinstance(data, bytes) else data.encode())
    file.name = name
    return read_entries(file, **options)


def notes(data, name="stream", **options):
    opened = reading(data, name, **options)
    list(opened)
    return [note for note in opened.notes if "without an abstract" not in note]


@pytest.mark.parametrize("data", [b"", b" \n\n", b"\xef\xbb\xbf", gzip.compress(b"")])
@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.bib", "x.ris", "x.csv"])
def test_an_empty_file_is_said_to_be_empty(data, name):
    if name == "x.json":
        with pytest.raises(RecordError, match="found '' at the start"):
            notes(data, name)
    else:
        assert notes(data, name) == [f"{name} is empty."]


@pytest.mark.parametrize("name", ["bibtex", "ris", "nbib", "author-page"])
def test_a_format_that_finds_nothing_in_a_file_says_so(name):
    found = notes(LINES, format=name)
    assert found[-1] == (
        f"stream holds no record that could be read as {name}; leave --format away "
        "to have its format recognised."
    )


def test_a_file_of_a_known_format_without_a_record_says_so():
    assert notes("@string{a = {b}}\n", "x.bib") == ["x.bib holds no record."]
    assert notes('{"results": []}', "x.json") == ["x.json holds no record."]


@pytest.mark.parametrize("start", [b'{"id": 1}', b"PK nothing", b""])
def test_what_is_named_parquet_and_is_none_is_refused(start):
    with pytest.raises(RecordError, match="and is no Parquet file; leave --format"):
        list(reading(start, format="parquet"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.jsonl", LINES),
        ("x.json", f"[{','.join(LINES.splitlines())}]"),
        ("x.csv", "id,title\na,T\nb,U\n"),
        ("x.bib", "@misc{a, title={T}}\n@misc{b, title={U}}\n"),
        ("x.ris", "TY  - JOUR\nTI  - T\nER  - \n"),
        ("x.atom", "<feed><entry><title>T</title></entry></feed>"),
    ],
)
def test_a_field_that_map_names_and_no_record_has_is_named(name, text):
    (note,) = notes(text, name, mapping={"abstract": "Ab_stract2"})
    assert note.startswith(
        f"No record of {name} has the field that --map abstract=Ab_stract2 names; its "
        "fields are '"
    )
    assert "itle'" in note or "'TI'" in note


def test_a_field_that_one_record_in_many_has_is_no_slip():
    text = LINES + '{"id": "c", "title": "V", "Sum-mary2": "S"}\n'
    opened = reading(text, mapping={"abstract": "sum_mary2"})
    assert [e.record.abstract for e in opened] == ["", "", "S"]
    assert not any("--map" in note for note in opened.notes)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
@pytest.mark.parametrize("behind", [b"junk", LINES.encode(), b"\x1f\x8bjunk", b"BZh9"])
def test_bytes_behind_packed_content_are_named_or_refused(pack, behind):
    data = pack(LINES.encode()) + behind
    if behind[:2] == data[:2]:  # it starts like more of the same
        with pytest.raises(RecordError, match="the packed content is"):
            notes(data, "x.jsonl.gz")
        return
    assert notes(data, "x.jsonl.gz") == [
        "x.jsonl.gz goes on behind its packed content with bytes that are not packed "
        "so; they are left out."
    ]


def test_packed_pieces_one_behind_the_other_are_one_file():
    opened = reading(gzip.compress(LINES.encode()) * 2 + b"\0" * 512)
    assert [e.id for e in opened] == ["a", "b", "a#2", "b#2"]
    assert not any("behind" in note for note in opened.notes)


def test_a_second_list_in_a_document_is_named():
    text = '{"papers": [{"title": "T"}], "n": 1, "notes": [{"title": "U"}]}'
    assert notes(text) == [
        "stream holds another list of objects, 'notes', behind its list of records; "
        "it is kept and not read."
    ]


def test_records_and_problems_on_one_line_have_ids_of_their_own():
    text = '[{"title": "T"}, 3, {"title": "U"}, {"title": 1e5}, "x", {"y": 1}]'
    opened = reading(text, "x.json")
    assert [entry.id for entry in opened] == [
        "x.json:1",
        *(f"x.json:1#{n}" for n in range(2, 7)),
    ]
    assert not any("id used before" in note for note in opened.notes)


def test_ids_of_a_file_that_repeat_are_counted():
    assert notes(LINES * 2) == [
        "2 records with an id used before in the file, numbered (#2, #3, ...)."
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"title": "T', "unterminated string at column 11"),
        ('{"title" "T"}', "expecting ':' delimiter at column 10"),
        ("{" * 100_000, "expecting property name enclosed in double quotes at column"),
    ],
)
def test_what_is_no_json_is_placed_in_the_line_of_the_file(line, problem):
    opened = reading(LINES + line + "\n", "x.jsonl")
    *_, bad = opened
    assert bad.problem.startswith(f"x.jsonl:3: this is not JSON: {problem}")


STRAY = """% A comment: @misc in a comment line
@@misc{a, title={Two signs}}
@comment a line of a person
@misc{b, title={B}}
Words between.
@misc c, title={No brace}}
@comment{@misc{d, title={D}}}
  @ (e)
@misc{f, title={F}}
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_bibtex_that_are_no_entries_are_skipped_and_counted(end):
    text = STRAY.replace("\n", end)
    opened = reading(text, "x.bib", format="bibtex")
    entries = list(opened)
    assert [e.record and e.record.title for e in entries] == [
        None,
        "B",
        None,
        None,
        "F",
    ]
    if end != "\r":
        assert [e.line for e in entries] == [2, 4, 6, 8, 9]
        assert entries[0].problem == (
            "x.bib:2: '@@misc{a, title={Two signs}}' is no start of an entry; expected "
            "'@kind{key, ...}'."
        )
    assert opened.notes[0] == "x.bib: lines outside any entry: 1."
    out = io.BytesIO()
    write_entries([(e, None) for e in entries], out, reading=opened)
    assert out.getvalue().decode() == text


@pytest.mark.parametrize(
    ("source", "target", "written", "says"),
    [
        ("x.csv", "y.jsonl", "csv", "jsonl"),
        ("x.jsonl", "y.bib", "jsonl", "bibtex"),
        ("x.bib", "y.bib", None, None),
        ("x.jsonl", "y.json", "jsonl", "json"),
        ("x.jsonl", "y.out", None, None),
        ("x.csv", "y.csv.gz", None, None),
        ("x.atom", "y.atom", "jsonl", "atom"),
    ],
)
def test_a_name_that_says_another_format_than_the_file_has_is_named(
    source, target, written, says, tmp_path
):
    text = {
        "x.csv": "id,title\na,T\n",
        "x.jsonl": LINES,
        "x.bib": "@misc{a, title={T}}",
        "x.atom": "<feed><entry><title>T</title></entry></feed>",
    }[source]
    opened = reading(text, source)
    pairs = [(entry, TAGS) for entry in opened]
    write_entries(pairs, tmp_path / target, reading=opened)
    said = [note for note in opened.notes if "though its name says" in note]
    assert said == (
        [f"{target} was written as {written}, though its name says {says}."]
        if written
        else []
    )


@pytest.mark.parametrize(
    "name", ["idna", "punycode", "unicode_escape", "raw_unicode_escape", "utf-7", "hz"]
)
def test_an_encoding_with_two_spellings_of_a_text_is_refused(name):
    with pytest.raises(RecordError, match="is none in which a file can be read piece"):
        reading(LINES, encoding=name)


@pytest.mark.parametrize(
    "name", ["hex", "rot13", "zlib", "klingon", "", "\0", "a" * 99]
)
def test_what_is_no_encoding_of_text_is_not_known(name):
    with pytest.raises(RecordError, match="is not known; give one such as 'utf-8'"):
        reading(LINES, encoding=name)


@pytest.mark.parametrize(
    "name", ["cp1252", "cp037", "gb18030", "shift_jis", "koi8-r", "utf-16", "utf-32-be"]
)
def test_a_file_in_any_told_encoding_is_given_back(name):
    data = LINES.replace("T", "T~\\\\").encode(name)
    opened = reading(data, encoding=name)
    entries = list(opened)
    assert [e.record.title for e in entries] == ["T~\\", "U"]
    out = io.BytesIO()
    write_entries([(e, None) for e in entries], out, reading=opened)
    assert out.getvalue() == data


def test_a_byte_order_mark_counts_more_than_what_was_told():
    assert notes(LINES.encode("utf-8-sig"), encoding="cp1252") == [
        "stream starts with the byte order mark of UTF-8, so it is read as that and "
        "not as cp1252."
    ]
    assert notes(LINES.encode("utf-16"), encoding="utf-16") == []


def test_a_nan_in_json_fails_under_strict_and_in_parquet_is_null(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "x.jsonl").write_text(LINES + '{"title": "V", "year": NaN}\n')
    table = pa.table({"title": ["T"], "year": [float("nan")]})
    pq.write_table(table, tmp_path / "x.parquet")

    def inspect(name, *options):
        command = ["inspect", str(tmp_path / name), *options]
        return CliRunner().invoke(main, command)

    result = inspect("x.jsonl", "--strict")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == (
        "Error: 1 record holds a NaN, which is no JSON, and --strict is given."
    )
    assert inspect("x.jsonl").exit_code == 0
    assert inspect("x.parquet", "--strict").exit_code == 0
    assert "NaN" in inspect("x.parquet").stderr


def test_references_of_endnote_can_grow(tmp_path):
    def document(*numbers):
        records = "\n ".join(
            f"<record><rec-number>{n}</rec-number><ref-type>17</ref-type><titles>"
            f"<title>T{n}</title></titles></record>"
            for n in numbers
        )
        return f"<xml><records>\n {records}\n</records></xml>\n"

    path = tmp_path / "x.xml"
    path.write_text(document(1, 2))
    opened = reading(document(3))
    append_entries([(e, None) for e in opened], path, reading=opened)
    assert path.read_text() == document(1, 2, 3)


def test_a_single_work_of_crossref_needs_no_message_type():
    work = {"status": "ok", "message": {"DOI": "10.1000/x", "title": ["T"]}}
    opened = reading(json.dumps(work))
    assert [e.record.title for e in opened] == ["T"]
    assert opened.kinds == {"Crossref work": 1}
