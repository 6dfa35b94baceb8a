"""RIS and nbib: lines that start with a tag."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagger.formats import read_entries, write_entries
from tagger.records import Tag

TAGS = [Tag("moe", 0.91)]
MEMORY = '{"written": {"moe": 0.91}}'


def reading(text, **options):
    return read_entries(io.BytesIO(text.encode()), **options)


def rewritten(text, tags, **options):
    opened = reading(text, **options)
    out = io.BytesIO()
    write_entries(((e, tags) for e in opened), out, reading=opened)
    return out.getvalue().decode()


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("stop", ["ER  - ", "ER  -", ""])
def test_marks_line_ends_and_the_end_of_a_record_do_not_matter(mark, end, stop):
    one = ["TY  - JOUR", "TI  - T", "AB  - A", stop, ""]
    text = mark + end.join([*one, *one])
    opened = reading(text)
    assert [(e.record.title, e.record.abstract) for e in opened] == [("T", "A")] * 2
    assert rewritten(text, None) == text
    again = reading(rewritten(text, TAGS))
    assert [e.record.extra["KW"] for e in again] == [["moe"]] * 2


def test_tags_are_lines_behind_the_keywords():
    text = "TY  - JOUR\r\nKW  - a\r\nTI  - T\r\nER  - \r\n"
    assert rewritten(text, TAGS) == (
        f"TY  - JOUR\r\nKW  - a\r\nKW  - moe\r\nU5  - {MEMORY}\r\nTI  - T\r\nER  - \r\n"
    )


def test_a_last_line_without_an_end_gets_one():
    assert rewritten("TY  - JOUR\nTI  - T", TAGS) == (
        f"TY  - JOUR\nTI  - T\nKW  - moe\nU5  - {MEMORY}\n"
    )


def test_prose_between_records_is_counted_and_kept():
    text = (
        "exported\nTY  - JOUR\nTI  - T\nER  - \nC1  - by Ovid\n\nTY  - JOUR\nTI  - U\n"
    )
    opened = reading(text)
    assert [e.record.title for e in opened] == ["T", "U"]
    assert opened.notes[0] == "stream: lines outside any record: 2."
    assert rewritten(text, None) == text


def test_words_that_look_like_tags_go_on_with_the_text():
    text = "TY  - JOUR\nTI  - T\nAB  - One\nER positive\nTI is a word\nER  - \n"
    (entry,) = reading(text)
    assert entry.record.abstract == "One ER positive TI is a word"


def test_nbib_lines_go_on_behind_six_blanks():
    text = "PMID- 1\nTI  - A long\n      title\nAID - 10.1000/x [doi]\nAID - p [pii]\n"
    (entry,) = reading(text)
    assert (entry.record.title, entry.record.doi) == ("A long title", "10.1000/x")


VALUE = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=10)
LINES = st.lists(
    st.tuples(st.sampled_from(["TI", "AB", "AU", "KW", "N1"]), VALUE), max_size=6
)


@settings(deadline=None)
@given(st.lists(LINES, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_any_records_survive_writing_and_reading(records, end):
    text = "".join(
        f"TY  - JOUR{end}"
        + "".join(f"{tag}  - {value}{end}" for tag, value in lines)
        + f"ER  - {end}{end}"
        for lines in records
    )
    assert rewritten(text, None, format="ris") == text
    opened = reading(text, format="ris")
    before = list(opened)
    assert len(before) == len(records)
    again = reading(rewritten(text, TAGS, format="ris"), format="ris")
    for old, new, lines in zip(before, again, records, strict=True):
        if old.record:
            words = [value for tag, value in lines if tag == "KW"]
            added = ["moe"] if "moe" not in words else []
            assert new.record.extra.get("KW") == [*words, *added]
            assert new.record.title == old.record.title


@settings(max_examples=50, deadline=None)
@given(st.lists(LINES, max_size=4))
def test_fields_are_those_that_rispy_reads(records):
    rispy = pytest.importorskip("rispy")
    text = "".join(
        "TY  - JOUR\n"
        + "".join(f"{tag}  - {value}\n" for tag, value in lines)
        + "ER  - \n"
        for lines in records
    )
    theirs = rispy.loads(text)
    ours = list(reading(text, format="ris"))
    assert len(ours) == len(theirs)
    for entry, other in zip(ours, theirs, strict=True):
        if entry.record:
            assert entry.record.extra.get("KW", []) == other.get("keywords", [])
            if sum(line.tag == "TI" for line in entry.raw.lines) == 1:
                assert entry.record.title == other["title"]
