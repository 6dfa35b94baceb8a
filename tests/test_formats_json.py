"""JSON Lines and JSON documents."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagger.errors import RecordError
from tagger.formats import read_entries, write_entries
from tagger.formats.json_text import _edited, _first_tags, tagged_object
from tagger.formats.packing import ByteStream
from tagger.formats.text_stream import TextReader
from tagger.records import Tag

TAGS = [Tag("moe", 0.91), Tag("optimizers", 0.75)]
WRITTEN = [
    {"theme": "moe", "probability": 0.91, "source": "model"},
    {"theme": "optimizers", "probability": 0.75, "source": "model"},
]
MEMORY = {"written": ["moe", "optimizers"]}


def reading(data, **options):
    data = data.encode() if isinstance(data, str) else data
    return read_entries(io.BytesIO(data), **options)


def rewritten(data, tags, **options):
    opened = reading(data, **options)
    out = io.BytesIO()
    write_entries(((e, tags) for e in opened), out, reading=opened)
    return out.getvalue()


TWO = '{"id": "a", "title": "T"}\n{"id": "b", "abstract": "A"}\n'


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_read_with_any_line_end_and_mark(bom, end):
    opened = reading(bom + TWO.replace("\n", end).encode())
    assert [(e.id, e.line) for e in opened] == [("a", 1), ("b", 2)]
    assert opened.format == "jsonl"
    assert opened.notes == ["1 record without an abstract."]


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")],
)
def test_utf_16_is_known_by_its_mark_and_written_back(encoding, mark):
    data = mark + TWO.encode(encoding)
    assert [e.id for e in reading(data)] == ["a", "b"]
    assert rewritten(data, None) == data


def test_null_is_missing_and_counted():
    opened = reading('{"text": null}\n{"title": "T", "abstract": null}\n')
    first, second = opened
    assert (first.record.abstract, second.record.abstract) == ("", "")
    assert opened.notes == [
        "1 record without an abstract.",
        "1 record without any text.",
    ]


def test_numbers_keep_their_text_as_ids():
    lines = (
        '{"id": 1.0, "title": "T"}\n{"id": 1E5, "title": "T"}\n{"id": 7, "text": ""}'
    )
    assert [e.id for e in reading(lines)] == ["1.0", "1E5", "7"]


def test_nan_is_read_as_missing_and_said():
    opened = reading('{"title": NaN, "abstract": "A"}\n{"title": "T", "k": NaN}\n')
    assert [e.record.title for e in opened] == ["", "T"]
    assert "2 records with a NaN, read as missing." in opened.notes


def test_blank_lines_are_no_records_and_stay():
    data = '\n{"title": "T"}\n \n{"title": "U"}\n\n'
    assert [e.line for e in reading(data)] == [2, 4]
    assert rewritten(data, None) == data.encode()


def test_bad_lines_keep_their_place_and_are_named():
    data = '{"title": "T"}\n{"title": "cut off\n[1]\n{"x": 1}\n{"title": "U"}\n'
    opened = reading(data)
    entries = list(opened)
    assert [e.record is None for e in entries] == [False, True, True, True, False]
    assert [e.id for e in entries][1:4] == ["stream:2", "stream:3", "stream:4"]
    assert entries[1].problem.startswith("stream:2: this is not JSON: ")
    assert entries[2].problem == (
        "stream:3: found '[1]'; expected a JSON object with named fields."
    )
    assert "stream:4: the record has no title" in entries[3].problem
    assert opened.summary_line == (
        "read 5, used 2, skipped 3 (1 not JSON, 1 not an object, 1 field missing or "
        "of the wrong type). 2 records without an abstract."
    )
    assert rewritten(data, None) == data.encode()


def test_deep_nesting_is_a_problem_of_its_line():
    deep = "[" * 100_000
    entries = list(reading(f'{{"title": "T"}}\n{{"title": {deep}\n'))
    assert entries[0].record is not None
    assert "not JSON" in entries[1].problem


def test_repeated_ids_are_numbered_and_noted():
    opened = reading('{"id": "a", "title": "T"}\n' * 3)
    assert [e.id for e in opened] == ["a", "a#2", "a#3"]
    assert opened.notes[0] == (
        "2 records with an id used before in the file, numbered (#2, #3, ...)."
    )


def test_one_id_for_all_records_takes_no_longer_than_many():
    opened = reading('{"id": "a", "title": "T"}\n' * 20_000)
    assert [e.id for e in opened][-1] == "a#20000"


def test_lone_surrogates_are_replaced_and_the_line_is_kept():
    data = '{"title": "a\\ud83d"}\n{"title": "\\ud83d\\ude00"}\n'
    assert [e.record.title for e in reading(data)] == ["a\ufffd", "\U0001f600"]
    assert rewritten(data, None) == data.encode()


def test_tags_are_added_and_nothing_else_changes():
    data = '{"id":1.0,"title":"T"}\r\n{ "title" : "U" , "n" : 1E5 }'
    assert rewritten(data, TAGS[:1]).decode() == (
        '{"id":1.0,"title":"T","tags":[{"theme":"moe","probability":0.91,'
        '"source":"model"}],"tagger":{"written":["moe"]}}\r\n'
        '{ "title" : "U" , "n" : 1E5, "tags": [{"theme": "moe", "probability": 0.91, '
        '"source": "model"}], "tagger": {"written": ["moe"]} }'
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{"tags": []}'),
        ('{"a": 1}', '{"a": 1, "tags": []}'),
        ('{"a":1}', '{"a":1,"tags":[]}'),
        ('{\n  "a": 1\n}', '{\n  "a": 1,\n  "tags": []\n}'),
        (
            '{"tags": [{"theme": "x", "probability": 1}], "a": 1}',
            '{"tags": [], "a": 1}',
        ),
        (
            '{"tags": [{"theme": "x", "by": 1}], "a": 1}',
            '{"tags": [{"theme": "x", "by": 1}], "a": 1}',
        ),
        ('{"tagger": 1}', '{"tagger": 1, "model_tags": []}'),
        ('{"tags": null}', '{"tags": []}'),
        ('{"tags": "mine"}', '{"tags": "mine", "model_tags": []}'),
        ('{"tags": [{"tag": "m"}]}', '{"tags": [{"tag": "m"}], "model_tags": []}'),
        ('{"a": "}", "b": {"tags": 1}}', '{"a": "}", "b": {"tags": 1}, "tags": []}'),
    ],
)
def test_the_field_for_tags_goes_last_in_the_style_of_the_object(text, expected):
    assert tagged_object(text, []) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(), VALUES), st.sampled_from([None, 2]))
def test_tagging_any_object_changes_two_fields(fields, indent):
    again = json.loads(tagged_object(json.dumps(fields, indent=indent), TAGS))
    prefix = "" if again.get("tags") == WRITTEN else "model_"
    assert again.pop(f"{prefix}tags") == WRITTEN
    assert again.pop(f"{prefix}tagger") == MEMORY
    for name in (f"{prefix}tags", f"{prefix}tagger"):
        fields.pop(name, None)
    assert again == fields


DOCUMENTS = [
    '[{"id": "a", "title": "T"}, {"id": "b", "title": "U"}]',
    '[\n  {\n    "id": "a",\n    "title": "T"\n  },\n  {"id": "b", "title": "U"}\n]\n',
    '{"records": [{"id": "a", "title": "T"}, {"id": "b", "title": "U"}], "n": 2}',
    '{"meta": {"x": [1]}, "results":[{"id":"a","title":"T"},{"id":"b","title":"U"}]}',
    '\n{"data": [{"id": "a", "title": "T"},\n{"id": "b", "title": "U"}]}',
    '{"papers": [ {"id": "a", "title": "T"} , {"id": "b", "title": "U"} ] }',
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_documents_give_their_records_and_are_written_back(text):
    opened = reading(text)
    assert [e.id for e in opened] == ["a", "b"]
    assert opened.format == "json"
    assert rewritten(text, None) == text.encode()
    tagged = json.loads(rewritten(text, TAGS))
    while not isinstance(tagged, list):
        tagged = next(
            v
            for k, v in tagged.items()
            if k in ("records", "results", "data", "papers")
        )
    assert [(r["id"], r["tags"]) for r in tagged] == [("a", WRITTEN), ("b", WRITTEN)]


def test_one_object_is_one_record():
    text = '\n{\n"title": "T",\n"results": ["not", "records"]\n}'
    (entry,) = reading(text)
    assert entry.record.extra == {"results": ["not", "records"]}
    assert rewritten(text, None) == text.encode()


@pytest.mark.parametrize("text", ["[]", '{"records": []}', " [ ] \n"])
def test_a_document_without_records_stays_as_it_is(text):
    assert list(reading(text, format="json")) == []
    assert rewritten(text, TAGS, format="json") == text.encode()


def test_a_document_cut_off_gives_what_it_holds_and_a_problem():
    text = '[{"id": "a", "title": "T"},\n {"id": "b", "tit'
    opened = reading(text)
    first, second = opened
    assert first.id == "a"
    assert second.problem == (
        'stream:2: the list breaks off or is not JSON here: \'{"id": "b", "tit\'.'
    )
    assert rewritten(text, None) == text.encode()


def test_a_document_without_its_last_bracket_is_noted():
    opened = reading('[{"id": "a", "title": "T"}\n')
    assert [e.id for e in opened] == ["a"]
    assert "has no closing bracket" in opened.notes[0]


def test_members_that_are_no_objects_keep_their_place():
    text = '[{"title": "T"}, 12, "x", null]'
    entries = list(reading(text))
    assert [e.reason for e in entries] == [None, *["not an object"] * 3]
    assert rewritten(text, None) == text.encode()


def test_a_large_document_is_read_in_pieces():
    records = [{"id": str(n), "title": "T" * 1000} for n in range(1500)]
    text = json.dumps({"k": 1, "records": records}, indent=1)
    assert [e.id for e in reading(text)] == [r["id"] for r in records]
    assert rewritten(text, None) == text.encode()


def test_text_that_is_no_json_document_is_refused_by_name():
    with pytest.raises(RecordError, match="found 'a' at the start; expected a JSON"):
        list(reading("abc", format="json"))


@settings(deadline=None)
@given(st.lists(st.fixed_dictionaries({"title": st.text()}, optional={"x": VALUES})))
def test_any_records_survive_writing_and_reading(records):
    lines = "".join(json.dumps(r) + "\n" for r in records)
    document = json.dumps(records)
    assert rewritten(lines, None, format="jsonl") == lines.encode()
    assert rewritten(document, None, format="json") == document.encode()
    tagged = json.loads(rewritten(document, TAGS, format="json"))
    assert [r.pop("tags") for r in tagged] == [WRITTEN] * len(records)
    assert [r.pop("tagger") for r in tagged] == [MEMORY] * len(records)
    assert tagged == records


@pytest.mark.parametrize(
    "record",
    [
        {"paperId": "p", "authors": [{"authorId": None, "name": None}, {"name": "A"}]},
        {"type": "book", "author": [{"given": "", "family": ""}, {"literal": "A"}],
         "issued": {}},
        {"authors": [{"name": "", "id": "x"}, "A", {"firstName": None}]},
    ],
)  # fmt: skip
def test_a_person_without_a_name_does_not_lose_the_paper(record):
    text = json.dumps({"title": "T", **record})
    (entry,) = read_entries(io.BytesIO(text.encode()))
    assert entry.record.authors == ("A",)


def test_people_of_an_unknown_shape_are_a_problem():
    text = json.dumps({"title": "T", "authors": [{"full": "A"}]})
    (entry,) = read_entries(io.BytesIO(text.encode()))
    assert "expected text" in entry.problem


@pytest.mark.parametrize(
    "record",
    [
        '{"type": "book", "title": "T", "keyword": "a", "issued": {}, "keyword": "b"}',
        '{"title": "T", "tags": [], "tagger": {}, "tags": null, "x": 1}',
    ],
)
def test_of_two_members_of_one_name_the_last_is_changed(record):
    opened = read_entries(io.BytesIO(record.encode()))
    out = io.BytesIO()
    tags = [Tag("moe", 0.9)]
    write_entries([(e, tags) for e in opened], out, reading=opened)
    again = read_entries(io.BytesIO(out.getvalue()))
    (entry,) = again
    assert "moe" in [tag.theme for tag in again.tags(entry)]


@pytest.mark.parametrize("broken", range(5))
@pytest.mark.parametrize("outer", ["%s", '{"results":%s,"meta":{"count":5}}'])
def test_a_lost_quote_on_one_line_loses_its_own_record_only(broken, outer):
    people = [{"id": "a1", "name": "Li"}, {"id": "a2", "name": "Wu"}]
    rows = [
        {"id": f"p{n}", "title": f"T {n}", "abstract": "A, b: c.", "authors": people}
        for n in range(5)
    ]
    text = outer % json.dumps(rows, separators=(",", ":"))
    start = text.index(f'{{"id":"p{broken}"')
    end = text.find(f'{{"id":"p{broken + 1}"')
    for at in range(start, end if end > 0 else text.rindex("]")):
        if text[at] != '"':
            continue
        data = (text[:at] + text[at + 1 :]).encode()
        reading = read_entries(io.BytesIO(data), format="json")
        entries = list(reading)
        used = [entry.id for entry in entries if entry.record]
        assert used == [f"p{n}" for n in range(5) if n != broken]
        assert reading.reasons == {"not JSON": 1}
        again = io.BytesIO()
        reading.write([(entry, None) for entry in entries], again)
        assert again.getvalue() == data


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            [
                *[
                    b"\r",
                    b"\n",
                    b"\r\n",
                    b"a",
                    b"\xc3\xa9",
                    b"\xe2\x82",
                    b"\xff",
                    b"\0",
                ],
                *["\x0b\x0c\x1c\x85\u2028\ufeff".encode(), b"\x85", b" "],
            ]
        ),
        max_size=12,
    ),
    st.integers(1, 4),
    st.sampled_from(["utf-8", "latin-1", "cp1252"]),
)
def test_lines_parted_as_bytes_are_those_of_the_text(pieces, size, encoding):
    def reader():
        return TextReader("x", ByteStream("x", io.BytesIO(b"".join(pieces))), encoding)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tagger.formats.text_stream._PIECE", size)
        one, other = reader(), reader()
        try:
            lines = list(one)
        except RecordError:  # cp1252 lacks a byte
            return
        assert [text + end for text, end in other.lines()] == lines
    assert all(not end.strip("\r\n") for _, end in reader().lines())
    assert not any({"\r", "\n"} & {*text} for text, _ in reader().lines())
    assert (one.line, one.notes()) == (other.line, other.notes())


@pytest.mark.parametrize("letter", [b"a", "\u6f22".encode()])
def test_a_line_of_many_pieces_is_refused_by_its_characters_and_joined_once(letter):
    def lines(n):
        stream = ByteStream("x", io.BytesIO(letter * n + b"\nb\n"))
        return list(TextReader("x", stream, "utf-8").lines())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tagger.formats.text_stream._PIECE", 10)
        patch.setattr("tagger.formats.text_stream.MAX_ENTRY", 1_000)
        assert [len(text) for text, _ in lines(990)] == [990, 1]
        with pytest.raises(RecordError, match="x:1: an entry of over 1,000"):
            lines(1_100)


tags = st.builds(
    Tag,
    st.sampled_from(["moe", "fp8", 'é"\\\u2028']),
    st.floats(0, 1) | st.sampled_from([float("nan"), 2.0]),
    st.sampled_from(["model", "model", "model", "human"]),
    st.sampled_from([None, "", "themes-1", "ß"]),
    st.sampled_from([None, "2026-01-31"]),
)


@pytest.mark.parametrize("text", ['{"id": 1}', '{"id":1}', '{ "é": [] }', '{"a" : 1}'])
@given(st.lists(tags, max_size=3), st.booleans())
def test_tags_on_one_line_are_written_as_in_any_object(text, given, ascii_only):
    fields = json.loads(text)
    wanted = _edited(text, fields, _first_tags(given), ascii_only)
    assert tagged_object(text, given, ascii_only=ascii_only) == wanted
