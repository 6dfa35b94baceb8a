"""Feeds, harvests and dumps in XML."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagger.errors import RecordError
from tagger.formats import read_entries, write_entries
from tagger.formats.unwrapping import unwrapped
from tagger.formats.xml_text import parsed
from tagger.records import Tag

DAY = "2026-01-31"


def reading(text, **options):
    data = text if isinstance(text, bytes) else text.encode()
    return read_entries(io.BytesIO(data), **options)


def feed(*entries):
    return f'<?xml version="1.0"?><feed>{"".join(entries)}</feed>'


def entry(title, summary="A"):
    return f"<entry><title>{title}</title><summary>{summary}</summary></entry>"


@pytest.mark.parametrize(
    ("text", "indents", "expected"),
    [
        ("Foo\n  bar", False, "Foo bar"),
        ("  One\nline.\n  Two\r\n  lines.\n", True, "One line.\n\nTwo\n\nlines."),
        ("One\n \n\n Two", False, "One\n\nTwo"),
        ("optimi-\nzation", False, "optimi-\nzation"),
        ("a  b\tc", False, "a b c"),
        (" \n ", True, ""),
    ],
)
def test_lines_are_joined_and_paragraphs_kept(text, indents, expected):
    assert unwrapped(text, indents=indents) == expected


@pytest.mark.parametrize(
    "bad", [entry("a & b"), entry("<b>"), entry("x") + "</b>", "<entry><title>T"]
)
def test_a_broken_record_loses_itself_only(bad):
    opened = reading(feed(entry("T"), bad, entry("U")))
    entries = list(opened)
    assert entries[0].record.title == "T"
    assert entries[-1].record.title == "U"
    assert opened.n_read >= 2
    for one in entries[1:-1]:
        if one.record is None:
            assert one.problem.startswith("stream:1: this is not XML: ")


def test_prefixes_cdata_comments_and_empty_records():
    text = (
        '<a:feed xmlns:a="x"><!-- <entry> --><a:entry a:k=">"><a:title>'
        "<![CDATA[</entry> & ]]>T</a:title></a:entry><a:entry/></a:feed>"
    )
    first, second = reading(text)
    assert first.record.title == "</entry> & T"
    assert second.reason == "field missing or of the wrong type" or second.record


def test_an_error_in_place_of_a_feed_is_refused():
    error = (
        "<entry><id>http://arxiv.org/api/errors#bad_id</id><title>Error</title>"
        "<summary>incorrect id format for x</summary></entry>"
    )
    with pytest.raises(
        RecordError,
        match=r"stream: the feed is an error message: 'incorrect id format for x'. "
        r"Correct the query",
    ):
        list(reading(feed(error)))


def test_a_feed_without_entries_is_refused():
    with pytest.raises(RecordError, match="stream: the feed holds no entry"):
        list(reading(feed("<title>ArXiv Query</title>")))


def test_an_error_of_an_oai_server_is_refused():
    text = '<OAI-PMH><error code="noRecordsMatch">Nothing\nthere</error></OAI-PMH>'
    with pytest.raises(
        RecordError, match=r"answered with the error 'noRecordsMatch' \(Nothing there\)"
    ):
        list(reading(text))


def test_a_file_cut_off_is_noted():
    opened = reading(feed(entry("T")).removesuffix("</feed>"))
    assert [e.record.title for e in opened] == ["T"]
    assert "stream has no end of <feed>; the file may be cut off." in opened.notes


@pytest.mark.parametrize(
    "head", ['<?xml version="1.0"?><thing>', "<!DOCTYPE html><html>"]
)
def test_unknown_xml_is_refused(head):
    root = "thing" if "thing" in head else "html"
    with pytest.raises(
        RecordError, match=f"the outermost element <{root}>, of no known"
    ):
        reading(f"{head}<p>We tag.</p></{root}>")


def test_entities_of_html_are_known_and_others_stay():
    element, _ = parsed("<a>J&uuml;rgen &lt; &unknown; &#945;</a>")
    assert element.text == "Jürgen < &unknown; α"


@pytest.mark.parametrize(
    "text",
    ["<a>", "<a></b>", "<a>&</a>", "<a/><b/>", "", "<a b=1/>", "<!DOCTYPE a><a/>"],
)
def test_what_is_not_xml_is_named(text):
    with pytest.raises(ValueError, match=r"line \d+, column \d+"):
        parsed(text)


def test_old_medline_documents_have_citations_only():
    text = (
        "<MedlineCitationSet><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T"
        "</ArticleTitle></Article></MedlineCitation></MedlineCitationSet>"
    )
    assert [e.id for e in reading(text)] == ["1"]


def test_someone_elses_custom7_is_left_alone():
    text = (
        "<xml><records><record><rec-number>1</rec-number><ref-type>1</ref-type>"
        "<titles><title>T</title></titles><custom7>mine</custom7></record></records></xml>"
    )
    opened = reading(text)
    out = io.BytesIO()
    write_entries(((e, [Tag("moe", 0.5)]) for e in opened), out, reading=opened)
    added = "<keywords><keyword>moe</keyword></keywords>"
    assert out.getvalue().decode() == text.replace("</record>", added + "</record>", 1)


TEXT = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=10)


@settings(deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5), st.booleans())
def test_any_feed_is_read_as_it_was_written(rows, cdata):
    def written(text):
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return f"<![CDATA[{text}]]>" if cdata and "]]>" not in text else escaped

    text = feed(*(entry(written(title), written(words)) for title, words in rows))
    records = [e.record for e in reading(text, format="atom")]
    assert [record.title for record in records] == [title for title, _ in rows]


def test_what_a_feed_does_not_say_is_no_field():
    (bare,) = reading(feed(entry("T")))
    assert "updated" not in bare.record.extra
    assert bare.record.year is None
    (dated,) = reading(feed(f"<entry><title>T</title><updated>{DAY}</updated></entry>"))
    assert dated.record.extra["updated"] == DAY
    assert dated.record.year == 2026
    (item,) = reading("<rss><channel><item><title>T</title></item></channel></rss>")
    assert "url" not in item.record.extra
