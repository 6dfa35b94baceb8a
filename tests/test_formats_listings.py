"""The author page and the search listing."""

import csv
import hashlib
import io
import json
from pathlib import Path

import pytest

from tagger.duplicates import merge_same
from tagger.formats import read_entries, read_records, write_entries
from tagger.records import Tag, make_record

FACTS = Path(__file__).with_name("source_documents.tsv")
COUNTS = {
    "000_409ae2d69526a4f7.txt": 7,
    "001_10e71e13e859317d.txt": 20,
    "002_0eca0ab1dc3f709a.txt": 18,
    "003_4d5c3f2b129eba61.txt": 8,
}

PAGE = """arXiv subjects

Ada Li

Publications and source records attributed to Ada Li.

{claim}Linked to original sources

arXiv2026

On Tags: A Study

We tag papers.

It has two paragraphs.

cs.LG↗

arXiv2021

A Title Without a Text

math.OC↗
"""

LISTING = """论文检索

Optimization · Large Scale, Parallel and Distributed

Ada Li 0002, Bo van Wu, Cy D. Xu 等

We tag papers, at scale.

Ada Li, Bo Wu

We tag more papers, in the text.

With a second paragraph.
"""


def reading(text):
    return read_entries(io.StringIO(text))


def test_author_page_gives_every_field():
    page = reading(PAGE.format(claim="2 records"))
    first, second = (entry.record for entry in page)
    assert (page.format, page.notes) == (
        "author-page",
        ["1 record without an abstract."],
    )
    assert first.title == "On Tags: A Study"
    assert first.abstract == "We tag papers.\n\nIt has two paragraphs."
    assert (first.year, first.subject, first.line) == (2026, "cs.LG", 9)
    assert first.extra == {"page_author": "Ada Li"}
    assert first.authors == ()
    assert first.id == "stream:9"
    assert (second.title, second.abstract) == ("A Title Without a Text", "")
    assert (second.year, second.subject) == (2021, "math.OC")


@pytest.mark.parametrize(
    ("claim", "notes"),
    [
        ("2 records", []),
        ("At least 2 records", []),
        ("At least 1 records", []),
        ("3 records", ["stream says '3 records'; it holds 2."]),
        ("At least 19 records", ["stream says 'At least 19 records'; it holds 2."]),
    ],
)
def test_author_page_that_promises_more_than_it_holds_is_noted(claim, notes):
    page = reading(PAGE.format(claim=claim))
    list(page)
    assert [note for note in page.notes if "says" in note] == notes


def test_author_page_with_an_empty_block_keeps_its_place():
    text = "arXiv2026\n\ncs.LG↗\n\narXiv2025\n\nOn Tags\n\nText.\n\ncs.AI↗\n\nfooter\n"
    page = reading(text)
    bad, good = page
    assert bad.record is None
    assert bad.problem == (
        "stream:1: the block that starts with 'arXiv2026' has no title and no abstract."
    )
    assert good.record.title == "On Tags"
    assert page.summary_line == (
        "read 2, used 1, skipped 1 (1 no title and no abstract). "
        "stream: lines outside any record: 1."
    )


def test_search_listing_gives_every_field():
    listing = reading(LISTING)
    first, second = (entry.record for entry in listing)
    assert listing.format == "search-listing"
    assert first.title == ""
    assert first.abstract == "We tag papers, at scale."
    assert first.authors == ("Ada Li", "Bo van Wu", "Cy D. Xu")
    assert first.authors_cut
    assert first.extra == {
        "area": "Optimization",
        "topic": "Large Scale, Parallel and Distributed",
    }
    assert (first.line, second.line) == (3, 9)
    assert second.authors == ("Ada Li", "Bo Wu")
    assert not second.authors_cut
    assert second.abstract.endswith("\n\nWith a second paragraph.")
    assert second.extra == {}


def test_search_listing_with_a_missing_abstract_keeps_its_place():
    text = (
        "论文检索\n\nArea · Topic\n\nAda Li, Bo Wu\n\nArea · Topic\n\nCy Xu\n\nText.\n"
    )
    bad, good = reading(text)
    assert bad.problem == (
        "stream:3: the authors 'Ada Li, Bo Wu' are followed by no abstract."
    )
    assert good.record.authors == ("Cy Xu",)


def test_listings_are_written_as_json_lines_that_read_back():
    listing = reading(LISTING)
    entries = list(listing)
    out = io.BytesIO()
    write_entries(((e, [Tag("x", 0.5)]) for e in entries), out, reading=listing)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line.pop("tags") for line in lines] == [
        [{"theme": "x", "probability": 0.5, "source": "model"}]
    ] * 2
    assert [line.pop("tagger") for line in lines] == [{"written": ["x"]}] * 2
    for line, entry in zip(lines, entries, strict=True):
        again = make_record(line, source="o", line=entry.line)
        assert again == entry.record


def test_an_unusable_entry_is_written_with_its_problem():
    page = reading("arXiv2026\n\ncs.LG↗\n")
    out = io.BytesIO()
    write_entries(((e, None) for e in page), out, reading=page)
    assert json.loads(out.getvalue())["id"] == "stream:1"
    assert "has no title" in json.loads(out.getvalue())["problem"]


@pytest.mark.shared
@pytest.mark.parametrize("name", COUNTS)
def test_every_field_of_the_source_documents_is_read(shared, name):
    with FACTS.open(encoding="utf-8", newline="") as file:
        rows = [
            r for r in csv.DictReader(file, delimiter="\t") if r["document"] == name
        ]
    records = read_records(shared / "seeds" / name)
    assert len(records) == len(rows) == COUNTS[name]
    for record, row in zip(records, rows, strict=True):
        digest = hashlib.sha256(record.abstract.encode()).hexdigest()
        assert digest.startswith(row["abstract_sha256"])
        assert record.title == row["title"]
        assert record.year == (int(row["year"]) if row["year"] else None)
        assert record.subject == (row["subject"] or None)
        assert "; ".join(record.authors) == row["authors"]
        assert record.authors_cut == (row["cut"] == "cut")
        for field in ("area", "topic", "page_author"):
            assert record.extra.get(field, "") == row[field]
        assert record.sources == (name,)


@pytest.mark.shared
def test_the_source_documents_hold_48_papers(shared):
    records = read_records(sorted((shared / "seeds").glob("*.txt")))
    merged = merge_same(records)
    assert (len(records), len(merged.records), merged.conflicts) == (53, 48, [])
    twice = [r for r in merged.records if len(r.sources) == 2]
    assert len(twice) == 5
    assert {r.extra["page_author"] for r in twice} == {"Hongtao Xu; Mingzhen Li"}


@pytest.mark.shared
def test_the_page_that_promises_19_records_and_holds_18_says_so(shared):
    page = read_entries(shared / "seeds" / "002_0eca0ab1dc3f709a.txt")
    list(page)
    assert page.summary_line == (
        "read 18, used 18, skipped 0. 002_0eca0ab1dc3f709a.txt says 'At least 19 "
        "records'; it holds 18."
    )
