"""CSV, TSV and Parquet."""

import csv
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagger.errors import RecordError
from tagger.formats import read_entries, write_entries
from tagger.records import Tag

TAGS = [Tag("moe", 0.91), Tag("optimizers", 0.75)]
MEMORY = '{"written": {"moe": 0.91, "optimizers": 0.75}}'
ONE = '"{""written"": {""moe"": 0.91}}"'


def reading(data, **options):
    data = data.encode() if isinstance(data, str) else data
    return read_entries(io.BytesIO(data), **options)


def rewritten(data, tags, **options):
    opened = reading(data, **options)
    out = io.BytesIO()
    write_entries(((e, tags) for e in opened), out, reading=opened)
    return out.getvalue()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_delimiter_is_found_and_line_ends_do_not_matter(delimiter, mark, end):
    rows = [["id", "title", "abstract"], ["01", "T, a; b", 'says "x"'], ["2", "U", ""]]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(rows)
    opened = reading(mark + out.getvalue())
    first, second = (entry.record for entry in opened)
    assert opened.format == ("tsv" if delimiter == "\t" else "csv")
    assert (first.id, first.title, first.abstract) == ("01", "T, a; b", 'says "x"')
    assert (second.id, second.title, second.line) == ("2", "U", 3)
    assert rewritten(mark + out.getvalue(), None) == (mark + out.getvalue()).encode()


def test_labels_in_cells():
    text = "title,themes\nT,a;b\nU,[]\nV,\nW,\"['a', 'b']\"\n"
    assert [e.record.themes for e in reading(text)] == [
        ("a", "b"),
        (),
        None,
        ("a", "b"),
    ]


def test_a_row_of_another_width_keeps_its_place_and_is_named():
    text = "id,title,abstract\na,T\nb,T,A,more\nc,T,A\nd,T,A,,\n"
    opened = reading(text)
    short, long, good, padded = opened
    assert short.problem.startswith(
        "stream:2: the row has 2 cells where the header has 3; a text that holds"
    )
    assert "the row has 4 cells where the header has 3" in long.problem
    assert (good.id, padded.id) == ("c", "d")
    assert opened.summary_line == (
        "read 4, used 2, skipped 2 (1 row too short, 1 row too long)"
    )
    assert rewritten(text, None) == text.encode()


def test_a_tab_inside_a_text_is_a_problem_not_a_cut():
    (entry,) = reading("title\tabstract\nT\tcut\there\n")
    assert entry.reason == "row too long"


def test_a_quoted_line_end_is_part_of_the_text():
    text = 'title\tabstract\nT\t"two\nlines"\nU\tA\n'
    first, second = reading(text)
    assert (first.record.abstract, first.line) == ("two\nlines", 2)
    assert (second.record.title, second.line) == ("U", 4)


def test_a_quote_that_is_never_closed_loses_its_own_row_only():
    text = 'id,title,abstract\na,"T,A\nb,T,A\nc,T,A\n'
    bad, second, third = reading(text)
    assert bad.record is None
    assert [(e.id, e.line) for e in (second, third)] == [("b", 3), ("c", 4)]
    assert rewritten(text, None) == text.encode()


def test_a_stray_quote_does_not_join_two_rows_of_the_right_width():
    text = 'id,title,abstract\na,"T,A\nb,"U",B\nc,T,A\n'
    bad, second, third = reading(text)
    assert bad.line == 2
    assert bad.record is None
    assert [(e.id, e.line) for e in (second, third)] == [("b", 3), ("c", 4)]
    assert rewritten(text, None) == text.encode()


def test_a_quote_never_closed_in_the_last_cell_is_named():
    bad = list(reading('id,title,abstract\na,T,A\nb,T,"A\n'))[-1]
    assert bad.problem == "stream:3: a quote is opened and never closed."


def test_blank_lines_are_no_rows_and_stay():
    text = "title,year\n\nT,2020\n\n\nU,2021\n\n"
    assert [e.line for e in reading(text)] == [3, 6]
    assert rewritten(text, None) == text.encode()


def test_a_field_beyond_the_limit_of_the_csv_module_is_read():
    (entry,) = reading(f"title,abstract\nT,{'x' * 200_000}\n")
    assert len(entry.record.abstract) == 200_000


def test_the_delimiter_hint_of_excel_is_honoured_and_kept():
    text = "sep=;\r\ntitle;abstract\r\nT;A, b\r\n"
    (entry,) = reading(text)
    assert entry.record.abstract == "A, b"
    assert rewritten(text, None) == text.encode()


def test_tags_fill_three_more_columns_and_quotes_stay():
    text = '"id","title"\r\n"a","T"\r\n"b",U,\r\nshort\r\n'
    assert rewritten(text, TAGS[:1]).decode() == (
        '"id","title",tags,tag_probabilities,tagger\r\n'
        f'"a","T",moe,0.91,{ONE}\r\n'
        f'"b",U,moe,0.91,{ONE}\r\n'
        "short,,,\r\n"
    )


def test_a_row_too_long_does_not_fit_the_longer_header():
    once = rewritten("id,title\na,T,b,c\nd,U\n", TAGS)
    assert [e.record is None for e in reading(once)] == [True, False]


def test_tags_are_replaced_on_tagging_again():
    once = rewritten('id,title\n"a",T\n', TAGS)
    assert rewritten(once, TAGS[:1]).decode() == (
        f'id,title,tags,tag_probabilities,tagger\n"a",T,moe,0.91,{ONE}\n'
    )
    assert rewritten(once, None) == rewritten(once, TAGS) == once


def test_a_foreign_column_of_the_same_name_is_left_alone():
    assert rewritten("title,tags\nT,mine\n", TAGS[:1]).decode() == (
        "title,tags,model_tags,model_tag_probabilities,model_tagger\n"
        f"T,mine,moe,0.91,{ONE}\n"
    )


def test_entries_without_tags_get_empty_cells():
    opened = reading("title,year\nT,1999\nU,2000\n")
    first, second = opened
    out = io.BytesIO()
    write_entries([(first, None), (second, [])], out, reading=opened)
    assert out.getvalue() == (
        b"title,year,tags,tag_probabilities,tagger\nT,1999,,,\nU,2000,,,\n"
    )


def test_a_table_without_a_text_column_is_refused():
    with pytest.raises(
        RecordError,
        match=r"stream: no column is known to hold a title or an abstract; the "
        r"columns are \['a', 'b'\]. Name them, perhaps with --map title=COLUMN --map "
        r"abstract=COLUMN\.",
    ):
        list(reading("a,b\n1,2\n", format="csv"))


@pytest.mark.parametrize("rest", [",", ',""', ',,""', ',"",'])
def test_empty_cells_beyond_the_header_do_not_push_the_tags_out(rest):
    text = f"id,title\n1,T{rest}\n"
    opened = reading(text)
    out = io.BytesIO()
    write_entries([(e, [Tag("moe", 0.9)]) for e in opened], out, reading=opened)
    again = reading(out.getvalue())
    (entry,) = again
    assert entry.record.title == "T"
    assert [tag.theme for tag in again.tags(entry)] == ["moe"]


@pytest.mark.parametrize("make", ["csv", "parquet"])
def test_of_a_table_with_foreign_columns_the_longest_texts_are_named(make):
    names = ["nr", "headline", "what it says", "length"]
    row = ["1", "On tags", "We tag papers with themes.", "123456789012345678901234567"]
    if make == "csv":
        opened = reading(",".join(names) + "\n" + ",".join(row) + "\n", format="csv")
    else:
        columns = {name: [cell] for name, cell in zip(names, row, strict=True)}
        opened = reading(parquet(pa.table(columns)))
    with pytest.raises(
        RecordError, match="--map title=headline --map abstract='what it says'"
    ):
        list(opened)


def test_a_users_column_is_found():
    opened = reading("a,b\nx,y\n", format="csv", mapping={"abstract": "b"})
    assert [e.record.abstract for e in opened] == ["y"]


def test_columns_of_one_name_are_kept_apart():
    (entry,) = reading("title,note,note\nT,a,b\n")
    assert entry.record.extra == {"note": "a", "note#2": "b"}


def test_a_letter_that_the_encoding_lacks_is_named():
    opened = reading("title,abstract\nT,Schrödinger\n".encode("latin-1"),
                     encoding="latin-1")  # fmt: skip
    with pytest.raises(RecordError, match=r"'μ' cannot be written in iso8859-1"):
        write_entries(((e, [Tag("μP", 0.5)]) for e in opened), io.BytesIO(),
                      reading=opened)  # fmt: skip


CELL = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters='\n"'))


@settings(deadline=None)
@given(st.lists(st.tuples(CELL, CELL), max_size=6), st.sampled_from(",;\t|"))
def test_any_table_survives_writing_and_reading(rows, delimiter):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("title", "abstract"), *rows])
    text = out.getvalue()
    kind = "tsv" if delimiter == "\t" else "csv"
    entries = list(reading(text, format=kind))
    assert [(e.record.title, e.record.abstract) for e in entries] == rows
    assert rewritten(text, None, format=kind) == text.encode()
    tagged = io.StringIO(rewritten(text, TAGS, format=kind).decode(), newline="")
    again = [tuple(row) for row in csv.reader(tagged, delimiter=delimiter)][1:]
    if rows:
        assert again == [(*r, "moe; optimizers", "0.91; 0.75", MEMORY) for r in rows]


def parquet(table, **options):
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


TABLE = pa.table(
    {
        "id": pa.array(["01", "b", None]),
        "title": pa.array(["T", None, ""]),
        "abstract": pa.array(["A", "B\x00", None]),
        "themes": pa.array([["x"], [], None]),
        "score": pa.array([1.5, None, 2.0], pa.float32()),
        "when": pa.array([0, 1, 2], pa.timestamp("ns")),
    }
)


def test_parquet_rows_are_read_and_lists_of_labels_kept_apart_from_null():
    opened = reading(parquet(TABLE))
    entries = list(opened)
    assert opened.format == "parquet"
    assert [e.id for e in entries] == ["01", "b", "stream:3"]
    assert [e.record.themes for e in entries] == [("x",), (), None]
    assert [e.record.abstract for e in entries] == ["A", "B ", ""]


def test_parquet_is_written_with_its_types_and_three_more_columns():
    again = pq.read_table(io.BytesIO(rewritten(parquet(TABLE), TAGS)))
    assert again.drop(["tags", "tag_probabilities", "tagger"]).equals(TABLE)
    assert again["tags"].to_pylist() == ["moe; optimizers"] * 3
    assert again["tag_probabilities"].to_pylist() == ["0.91; 0.75"] * 3


def test_parquet_without_tags_is_the_same_table():
    data = parquet(TABLE, compression="zstd")
    again = rewritten(data, None)
    assert pq.read_table(io.BytesIO(again)).equals(TABLE)


def test_parquet_tags_are_replaced_on_tagging_again():
    once = rewritten(parquet(TABLE), TAGS)
    again = pq.read_table(io.BytesIO(rewritten(once, TAGS[:1])))
    assert again["tags"].to_pylist() == ["moe"] * 3
    assert again.num_columns == TABLE.num_columns + 3


def test_parquet_in_many_batches_keeps_its_order():
    table = pa.table({"id": [str(n) for n in range(2500)], "title": ["T"] * 2500})
    again = pq.read_table(io.BytesIO(rewritten(parquet(table), TAGS)))
    assert again["id"].equals(table["id"])


def test_parquet_without_rows_keeps_its_columns():
    empty = TABLE.slice(0, 0)
    again = pq.read_table(io.BytesIO(rewritten(parquet(empty), TAGS)))
    assert again.schema.equals(TABLE.schema)


def test_parquet_cut_off_is_refused():
    data = parquet(TABLE)
    with pytest.raises(RecordError, match="stream: the Parquet file is damaged or cut"):
        list(reading(data[:-20]))


def test_parquet_without_a_text_column_is_refused():
    with pytest.raises(
        RecordError, match=r"the columns are \['a'\]. Name them, perhaps"
    ):
        list(reading(parquet(pa.table({"a": [1]}))))
