"""Files in the very shape that reference managers and services write them.

Each is read, tagged, written back and read again. The files are made up; their
layout (order of fields, indents, quoting, headers, what stands around records)
is that of the program they are named after.
"""

import io
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from tagger.formats import read_entries, write_entries
from tagger.records import Tag, identity_keys
from tagger.text import clean

EXPORTS = Path(__file__).with_name("exports")
TAGS = [Tag("moe", 0.91, "model", "m-1", "2026-01-31"), Tag("optimizers", 0.75)]
NAMES = sorted(path.name for path in EXPORTS.iterdir())
EACH = pytest.mark.parametrize("name", NAMES)
FEEDS = {"arxiv-api.atom"}


def reading(data):
    return read_entries(io.BytesIO(data))


def written(opened, entries, tags):
    out = io.BytesIO()
    write_entries([(e, tags) for e in entries], out, reading=opened)
    return out.getvalue()


# file: format, kind, keys by which the first record is known, its authors
FIRST = {
    "arxiv-api.atom": ("atom", None, "arxiv:2401.00001", "Ada Li|Jürgen Müller"),
    "crossref-page.json": (
        "json", "Crossref work", "doi:10.1000/tags.1", "Ada Li|Jürgen Müller",
    ),
    "endnote.xml": (
        "endnote-xml", None, "doi:10.1000/tags.1", "Li, Ada|Müller, Jürgen",
    ),
    "jabref.bib": ("bibtex", None, "doi:10.1000/tags.1", "Li, Ada|Müller, Jürgen"),
    "mendeley.bib": (
        "bibtex", None, "arxiv:2401.00001",
        'Li, Ada|M{\\"{u}}ller, J{\\"{u}}rgen',
    ),
    "openalex-page.json": (
        "json", "OpenAlex work", "doi:10.1000/tags.1", "Ada Li|Jürgen Müller",
    ),
    "pubmed.nbib": ("nbib", None, "doi:10.1000/tags.1", "Li, Ada|Müller, Jürgen"),
    "s2-bulk.jsonl": (
        "jsonl", "Semantic Scholar paper", "arxiv:2401.00001", "Ada Li|Jürgen Müller",
    ),
    "s2-search.json": (
        "json", "Semantic Scholar paper", "arxiv:2401.00001", "Ada Li",
    ),
    "zotero-better.biblatex": (
        "bibtex", None, "arxiv:2401.00001", "Li, Ada|von Müller, Jürgen",
    ),
    "zotero.bib": (
        "bibtex", None, "doi:10.1000/tags.1", "Li, Ada|Müller, Jürgen|{The Tag Team}",
    ),
    "zotero.csl.json": (
        "json", "CSL item", "doi:10.1000/tags.1", "Ada Li|Jürgen Müller|The Tag Team",
    ),
    "zotero.csv": ("csv", None, "doi:10.1000/tags.1", "Li, Ada|Müller, Jürgen"),
    "zotero.ris": ("ris", None, "doi:10.1000/tags.1", "Li, Ada|Müller, Jürgen"),
}  # fmt: skip


def test_each_file_is_described_here():
    assert sorted(FIRST) == NAMES


@EACH
def test_the_first_record_is_the_paper_on_tags(name):
    format_, kind, key, authors = FIRST[name]
    opened = reading((EXPORTS / name).read_bytes())
    first, *_ = records = [entry.record for entry in opened]
    assert opened.format == format_
    assert list(opened.kinds) == ([kind] if kind else [])
    assert clean(first.title).text.lower().startswith("tagging papers with")
    assert "{" not in clean(first.title).text
    assert key in identity_keys(first)
    assert first.authors == tuple(authors.split("|"))
    assert first.year == 2024
    if name not in {"s2-bulk.jsonl", "s2-search.json"}:
        assert (
            clean(first.abstract)
            .text.replace("BACKGROUND: Papers are many. METHODS: ", "")
            .strip()
            .startswith("We train large language models in FP8")
        )
        assert "{" not in clean(first.abstract).text
    assert None not in records


@EACH
def test_nothing_is_lost_on_the_way(name):
    data = (EXPORTS / name).read_bytes()
    opened = reading(data)
    entries = list(opened)
    assert opened.n_skipped == 0
    if name not in FEEDS:
        assert written(opened, entries, None) == data


@EACH
def test_tags_are_put_in_and_nothing_is_taken_out(name):
    data = (EXPORTS / name).read_bytes()
    opened = reading(data)
    entries = list(opened)
    tagged = written(opened, entries, TAGS)
    if name not in FEEDS:
        changes = SequenceMatcher(None, data, tagged, autojunk=False).get_opcodes()
        assert {change[0] for change in changes} == {"equal", "insert"}
    again = reading(tagged)
    back = list(again)
    assert len(back) == len(entries)
    for old, new in zip(entries, back, strict=True):
        assert (old.record.title, old.record.abstract) == (
            new.record.title, new.record.abstract,
        )  # fmt: skip
        assert [tag.theme for tag in again.tags(new) if tag.source == "model"] == [
            "moe",
            "optimizers",
        ]
    if name not in FEEDS:
        assert written(again, back, TAGS) == tagged


@EACH
def test_tags_can_be_taken_out_again(name):
    """Only the memory of what was written, and a comma, may stay."""
    data = (EXPORTS / name).read_bytes()
    opened = reading(data)
    again = reading(written(opened, list(opened), TAGS))
    back = list(again)
    emptied = reading(written(again, back, []))
    for entry in emptied:
        assert not [t for t in emptied.tags(entry) if t.source == "model"]


def test_persons_keywords_of_each_manager_stay_a_persons():
    words = {
        "jabref.bib": ["FP8", "experts"],
        "mendeley.bib": ["FP8", "experts"],
        "zotero.bib": ["Computer Science - Machine Learning", "to read", "{FP8}"],
        "zotero-better.biblatex": ["Computer Science - Machine Learning", "to read"],
        "zotero.ris": ["FP8", "to read"],
        "pubmed.nbib": ["FP8", "experts"],
        "endnote.xml": ["FP8", "experts & gates"],
    }
    for name, expected in words.items():
        opened = reading((EXPORTS / name).read_bytes())
        tags = opened.tags(next(iter(opened)))
        assert [(tag.theme, tag.source) for tag in tags] == [
            (word, "human") for word in expected
        ]


def test_what_stands_around_the_entries_of_jabref_stays():
    opened = reading((EXPORTS / "jabref.bib").read_bytes())
    text = written(opened, list(opened), TAGS).decode()
    groups = "\n".join(
        [
            "@Comment{jabref-meta: grouping:",
            "0 AllEntriesGroup:;",
            r"1 StaticGroup:Training\;0\;1\;0x8a8a8aff\;\;\;;",
        ]
    )
    assert groups in text
    assert "  groups    = {Training, to read, moe, optimizers},\n" in text
    assert "@Comment{a remark of a person, with @ and a word}" in text
    assert text.startswith("% Encoding: UTF-8\n\n@String{tags = {Journal of Tags}}\n")
    assert opened.notes == ["1 record without an abstract."]


def test_what_mendeley_writes_above_its_entries_is_counted():
    opened = reading((EXPORTS / "mendeley.bib").read_bytes())
    list(opened)
    assert opened.notes[0] == "stream: lines outside any entry: 3."


def test_the_papers_of_all_exports_are_one_paper():
    """By arXiv id, DOI, or title with first author."""
    keys = [
        set(identity_keys(next(iter(reading((EXPORTS / name).read_bytes()))).record))
        for name in NAMES
    ]
    held = keys.pop()
    while joined := [k for k in keys if k & held]:
        held |= set().union(*joined)
        keys = [k for k in keys if k not in joined]
    assert keys == []
