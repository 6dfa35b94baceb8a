"""Entries put behind those of another file."""

import io
from pathlib import Path

import pytest

from tagger.errors import RecordError
from tagger.formats import append_entries, read_entries, write_entries
from tagger.records import Tag

SAMPLES = Path(__file__).with_name("samples")
TAG = Tag("moe", 0.9, "model", "m-1", "2026-01-31")
# How files may be written, with a second record to put behind the first.
CASES = {
    "a.jsonl": ('{"title": "One"}\n', '{"title": "Two"}\n'),
    "a.json": ('[\n  {"title": "One"}\n]\n', '[\n  {"title": "Two"}\n]\n'),
    "object.json": ('{"n": 1, "results": [{"title": "One"}]}', '[{"title": "Two"}]'),
    "a.csv": ('id,title\r\n1,"One, 1"\r\n', "title;id\nTwo;2\n"),
    "a.tsv": ("title\tyear\nOne\t2020\n", "title\tyear\nTwo\t2021"),
    "a.bib": ("@misc{a, title={One}}", '@string{x="Two"}\n@misc{b, title=x}\n'),
    "a.ris": ("TY  - JOUR\r\nTI  - One\r\nER  - \r\n", "TY  - JOUR\nTI  - Two\nER  -"),
    "a.nbib": ("PMID- 1\nTI  - One\n", "PMID- 2\nTI  - Two\n"),
    "a.xml": (
        "<xml><records>\n<record><ref-type>1</ref-type><titles><title>One</title>"
        "</titles></record>\n</records></xml>\n",
        "<xml><records><record><ref-type>1</ref-type><titles><title>Two</title>"
        "</titles></record></records></xml>",
    ),
}  # fmt: skip


def append(more, held, tags=(TAG,), name="more"):
    file = io.BytesIO(more.encode() if isinstance(more, str) else more)
    file.name = name
    reading = read_entries(file)
    pairs = ((entry, tags) for entry in reading)
    append_entries(pairs, held, reading=reading)


def read(path):
    reading = read_entries(path)
    return [(entry.record.title, reading.tags(entry)) for entry in reading]


@pytest.mark.parametrize("name", CASES)
def test_a_record_is_put_behind_and_the_others_stay(name, tmp_path):
    held, more = CASES[name]
    path = tmp_path / name
    path.write_bytes(held.encode())
    append(more, path)
    (one, untagged), (two, tags) = read(path)
    assert (one.split(",")[0], untagged, two) == ("One", (), "Two")
    assert [(tag.theme, tag.model) for tag in tags] == [("moe", "m-1")]
    append(more.replace("Two", "Three"), path)
    assert [title.split(",")[0] for title, _ in read(path)] == ["One", "Two", "Three"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.bib", "a.ris", "a.nbib"])
def test_the_bytes_of_what_was_there_do_not_change(name, tmp_path):
    held, more = CASES[name]
    path = tmp_path / name
    path.write_bytes(held.encode())
    append(more, path)
    assert path.read_bytes().startswith(held.rstrip("\n]").encode())


@pytest.mark.parametrize(
    ("held", "more", "wanted"),
    [
        ('{"a": 1, "title": "x"}', '[{"title": "y",\n  "s": "p q"}]',
         '{"a": 1, "title": "x"}\n{"title": "y", "s": "p q"}\n'),
        ('[\n {"title": "x"}\n]', '{"title": "y"}\n',
         '[\n {"title": "x"},\n {"title": "y"}\n]'),
        ('[{"title":"x"}]', '[{"title":"y"}]', '[{"title":"x"},{"title":"y"}]'),
    ],
)  # fmt: skip
def test_json_is_set_out_like_what_is_there(held, more, wanted, tmp_path):
    path = tmp_path / ("a.jsonl" if held[0] == "{" else "a.json")
    path.write_text(held)
    append(more, path, tags=None)
    assert path.read_text() == wanted


def test_rows_are_put_under_the_columns_of_the_table(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,title,x\n1,"One",a')
    append("title;id\nTwo, too;2\n", path, tags=None)
    assert path.read_text().splitlines() == [
        "id,title,x,tags,tag_probabilities,tagger",
        '1,"One",a,,,',
        '2,"Two, too",,,,',
    ]


def test_a_column_that_the_table_lacks_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,title\n1,One\n")
    with pytest.raises(RecordError, match=r"a\.csv has no column 'z', which more has"):
        append("id,title,z\n2,Two,3\n", path)
    assert path.read_text() == "id,title\n1,One\n"


def test_a_row_with_an_open_quote_takes_none_behind_it(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,title\n1,"One\n')
    with pytest.raises(RecordError, match=r"a\.csv:2: the last row opens a quote"):
        append("id,title\n2,Two\n", path)


def test_macros_come_with_the_entry_that_needs_them(tmp_path):
    path = tmp_path / "a.bib"
    path.write_text("@string{x = {Old}}\n@misc{a, title = x}\n\n% end\n")
    append("@string{x = {New}}\n@misc{b, title = x # { one}}\n", path, tags=None)
    assert path.read_text() == (
        "@string{x = {Old}}\n@misc{a, title = x}\n\n@string{x = {New}}\n\n"
        "@misc{b, title = x # { one}}\n\n% end\n"
    )
    assert [title for title, _ in read(path)] == ["Old", "New one"]


def test_a_feed_goes_behind_json_lines_even_if_there_is_one(tmp_path):
    feed = (SAMPLES / "arxiv-api.atom").read_bytes()
    path = tmp_path / "papers.jsonl"
    path.write_text('{"id": "x", "title": "One"}')
    append(feed, path, name="feed.atom")
    titles = [title for title, _ in read(path)]
    assert titles[:2] == ["One", "Tagging Papers with Themes"]
    assert len(titles) == 3


def test_parquet_rows_take_the_types_of_the_table(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path, more = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(pa.table({"title": ["One"], "n": pa.array([1], pa.int32())}), path)
    pq.write_table(pa.table({"n": [2], "title": pa.array(["Two"], pa.large_string())}),
                   more)  # fmt: skip
    append(more.read_bytes(), path)
    table = pq.read_table(path)
    assert table["title"].to_pylist() == ["One", "Two"]
    assert (table["n"].to_pylist(), table["n"].type) == ([1, 2], pa.int32())
    assert table["tags"].to_pylist() == [None, "moe"]
    pq.write_table(pa.table({"title": ["x"], "n": ["no number"]}), more)
    with pytest.raises(RecordError, match="do not have the types of those of"):
        append(more.read_bytes(), path)
    pq.write_table(pa.table({"title": ["x"], "m": [1]}), more)
    with pytest.raises(RecordError, match=r"a\.parquet has no column 'm'"):
        append(more.read_bytes(), path)


@pytest.mark.parametrize(
    ("name", "held", "message"),
    [
        ("a.bib", "@misc{a, title={One}}", r"a\.bib is bibtex, and the records of m"),
        ("a.jsonl", "\n", r"a\.jsonl holds no record that others could be put behind"),
        ("a.json", "[]", r"a\.json holds no record that others could be put behind"),
        ("a.json", '{"title": "x",\n "a": 1}', r"does not end with a record in a list"),
        ("a.json", '[{"title": "x"},\n {"ti', r"does not end with a record in a list"),
        ("z.json", (SAMPLES / "zotero.csl.json").read_text("utf-8"),
         r"z\.json holds records of the kind CSL item and more of the kind any field"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(name, held, message, tmp_path):
    path = tmp_path / name
    path.write_text(held)
    with pytest.raises(RecordError, match=message):
        append('{"title": "Two"}\n{"title": "Three"}\n', path)
    assert path.read_text() == held
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "held", ['"\u00e0 \n', "oops\n[]\n", '{"id": "x"}\n{"y": 1}\n']
)
def test_a_file_without_a_usable_record_does_not_grow(held, tmp_path):
    """What it is could be taken for something else once it has more lines."""
    path = tmp_path / "a.jsonl"
    path.write_text(held, encoding="utf-8")
    with pytest.raises(RecordError, match="holds no record that others could be put"):
        append('{"title": "Two"}\n{"title": "Three"}\n', path)
    assert path.read_text(encoding="utf-8") == held


def test_nothing_to_add_leaves_the_file_alone(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("not even records")
    with read_entries(io.BytesIO(b'{"title": "a"}')) as reading:
        append_entries([], path, reading=reading)
    assert path.read_text() == "not even records"


@pytest.mark.parametrize(
    "name",
    ["references.bib", "references.ris", "references.nbib", "zotero.csl.json",
     "openalex.json", "records.csv", "records.tsv", "records.jsonl", "records.json",
     "crossref.json", "openreview.json", "arxiv-snapshot.jsonl", "excel.csv",
     "endnote.xml"],
)  # fmt: skip
def test_a_sample_put_behind_itself_is_read_twice(name, tmp_path):
    path = tmp_path / name
    with read_entries(SAMPLES / name) as reading:
        write_entries([(e, None) for e in reading], path, reading=reading)
    with read_entries(SAMPLES / name) as reading:
        once = list(reading)
        usable = [(e, [TAG]) for e in once if e.record]
        append_entries(usable, path, reading=reading)
    twice = [entry.record for entry in read_entries(path) if entry.record]
    titles = [entry.record.title for entry in once if entry.record]
    assert [record.title for record in twice] == titles * 2


def test_what_follows_the_records_of_ris_does_not_become_part_of_a_new_one(tmp_path):
    path = tmp_path / "a.ris"
    path.write_text("TY  - JOUR\nTI  - One\nER  - \nAB  - Prose behind the end.\n")
    append("TY  - JOUR\nTI  - Two\n", path)
    (_, two) = [entry.record for entry in read_entries(path)]
    assert (two.title, two.abstract) == ("Two", "")
    assert path.read_text().endswith("ER  - \nAB  - Prose behind the end.\n")


def test_a_document_of_one_line_with_a_list_is_no_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"n": 1, "results": [{"title": "One"}]}')
    append("<feed><entry><title>Two</title></entry></feed>", path)
    assert [title for title, _ in read(path)] == ["One", "Two"]
    assert path.read_text().startswith('{"n": 1, "results": [{"title": "One"},{"id"')


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.bib", "a.ris"])
def test_a_byte_that_is_no_text_is_the_same_letter_in_the_other_file(name, tmp_path):
    """Else the paper would be taken for a new one again and again."""
    held, more = CASES[name]
    path = tmp_path / name
    path.write_bytes(held.encode())
    good = "\u00e9\u00e9 Two"
    append(more.replace("Two", good).encode().replace(b"Two", b"\xe9Two"), path)
    (_, (title, _)) = read(path)
    assert title == "\u00e9\u00e9 \ufffdTwo"


def test_nothing_is_put_behind_a_reference_that_is_never_closed(tmp_path):
    held, more = CASES["a.xml"]
    path = tmp_path / "a.xml"
    broken = held.replace("</records>", "<record><title><![CDATA[</record></records>")
    path.write_text(broken)
    with pytest.raises(RecordError, match=r"a\.xml:3: the last record is never closed"):
        append(more, path)
    assert path.read_text() == broken
