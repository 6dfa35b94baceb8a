"""For each format: any records, written as it writes them, are read back equal."""

import csv
import io
import json
from html import escape

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagger.formats import FORMATS as KINDS
from tagger.formats import read_entries, write_entries
from tagger.records import Tag

TAGS = [Tag("moe", 0.91, "model", "m-1", "2026-01-31"), Tag("optimizers", 0.75)]


def parquet(rows):
    columns = {
        "title": pa.array([title for title, _ in rows], pa.string()),
        "abstract": pa.array([text for _, text in rows], pa.string()),
    }
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def positions(text):
    index = {}
    for at, word in enumerate(text.split()):
        index.setdefault(word, []).append(at)
    return index


def table(rows, delimiter):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerows([("title", "abstract"), *rows])
    return out.getvalue()


def lines(rows, make):
    return "".join(json.dumps(make(title, text)) + "\n" for title, text in rows)


FORMATS = {
    "parquet": parquet,
    "jsonl": lambda rows: lines(rows, lambda t, a: {"title": t, "abstract": a}),
    "json": lambda rows: json.dumps([{"title": t, "abstract": a} for t, a in rows]),
    "csl": lambda rows: json.dumps(
        [
            {"type": "book", "title": t, "abstract": a, "issued": {"raw": "2024"}}
            for t, a in rows
        ],
        indent=2,
    ),
    "openalex": lambda rows: json.dumps(
        {
            "results": [
                {"display_name": t, "abstract_inverted_index": positions(a)}
                for t, a in rows
            ]
        }
    ),
    "crossref": lambda rows: json.dumps(
        {
            "message": {
                "items": [{"DOI": "x", "title": [t], "abstract": a} for t, a in rows]
            }
        }
    ),
    "openreview": lambda rows: json.dumps(
        {
            "notes": [
                {"content": {"title": {"value": t}, "abstract": {"value": a}}}
                for t, a in rows
            ]
        }
    ),
    "semantic-scholar": lambda rows: lines(
        rows, lambda t, a: {"paperId": "p", "title": t, "abstract": a}
    ),
    "arxiv-snapshot": lambda rows: lines(
        rows,
        lambda t, a: {
            "id": "2401.00001",
            "title": t,
            "abstract": f"  {a}\n",
            "categories": "cs.LG cs.AI",
            "authors_parsed": [["Li", "A", ""]],
        },
    ),
    "zotero-item": lambda rows: json.dumps(
        [
            {"key": "k", "data": {"itemType": "book", "title": t, "abstractNote": a}}
            for t, a in rows
        ]
    ),
    "csv": lambda rows: table(rows, ","),
    "semicolons": lambda rows: table(rows, ";"),
    "tsv": lambda rows: table(rows, "\t"),
    "bibtex": lambda rows: "\n\n".join(
        f"@article{{k{n},\n  title = {{{t}}},\n  abstract = {{{a}}}\n}}"
        for n, (t, a) in enumerate(rows)
    ),
    "biblatex-quotes": lambda rows: "".join(
        f'@online(k{n}, title = "{t}", abstract={{{a}}},)\n'
        for n, (t, a) in enumerate(rows)
    ),
    "ris": lambda rows: "".join(
        f"TY  - JOUR\r\nTI  - {t}\r\nAB  - {a}\r\nER  - \r\n\r\n" for t, a in rows
    ),
    "author-page": lambda rows: "\n\n".join(
        f"arXiv 2024\n\n{t}\n\n{a}\n\ncs.LG ↗" for t, a in rows
    ),
    "nbib": lambda rows: "".join(
        f"PMID- {n}\nTI  - {t}\nAB  - {a}\n\n" for n, (t, a) in enumerate(rows)
    ),
    "endnote-xml": lambda rows: (
        "<xml><records>"
        + "".join(
            f"<record><ref-type>1</ref-type><titles><title>{escape(t)}</title></titles>"
            f"<abstract><style>{escape(a)}</style></abstract></record>"
            for t, a in rows
        )
        + "</records></xml>"
    ),
    "atom": lambda rows: (
        "<feed>"
        + "".join(
            f"<entry><title>{escape(t)}</title><summary>{escape(a)}</summary></entry>"
            for t, a in rows
        )
        + "</feed>"
    ),
    "rss": lambda rows: (
        "<rss>"
        + "".join(
            f"<item><title>{escape(t)}</title><description>{escape(a)}</description></item>"
            for t, a in rows
        )
        + "</rss>"
    ),
    "oai-pmh": lambda rows: (
        "<OAI-PMH>"
        + "".join(
            f"<record><metadata><dc><title>{escape(t)}</title><description>{escape(a)}"
            "</description></dc></metadata></record>"
            for t, a in rows
        )
        + "</OAI-PMH>"
    ),
    "pubmed-xml": lambda rows: (
        "<PubmedArticleSet>"
        + "".join(
            f"<PubmedArticle><MedlineCitation><Article><ArticleTitle>{escape(t)}"
            f"</ArticleTitle><Abstract><AbstractText>{escape(a)}</AbstractText></Abstract>"
            "</Article></MedlineCitation></PubmedArticle>"
            for t, a in rows
        )
        + "</PubmedArticleSet>"
    ),
    "dblp": lambda rows: (
        "<dblp>"
        + "".join(
            f'<article key="k"><title>{escape(t)}</title></article>' for t, _ in rows
        )
        + "</dblp>"
    ),
}
# Plain words: what a format does with blanks is tested where that format is.
WORDS = st.lists(
    st.text(
        st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6
    ).filter(
        lambda word: (
            not word.startswith(("arXiv:", "Comment")) and "<p>" not in word.lower()
        )
    ),
    min_size=1,
    max_size=4,
).map(" ".join)


# Characters that have a meaning in a format, and no other spelling.
MARKS = {"bibtex": "{}\\@", "biblatex-quotes": '{}\\@"', "author-page": "\u2197"}
# What is written without tags is then the same bytes. Parquet packs its rows anew,
# and what has no place for tags becomes JSON Lines.
NOT_THE_SAME_BYTES = {
    *{"parquet", "atom", "rss", "oai-pmh", "pubmed-xml", "dblp", "author-page"}
}


def test_every_format_is_tried_here_or_holds_one_record_alone():
    read = set()
    for make in FORMATS.values():
        made = make([("Title of one", "Text."), ("Title of two", "Text.")])
        data = made.encode() if isinstance(made, str) else made
        read.add(read_entries(io.BytesIO(data)).format)
    # Plain text is one record, and the search listing has no titles.
    assert read == {kind.name for kind in KINDS} - {"text", "search-listing"}


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_any_records_are_read_back_equal_before_and_after_tagging(name, rows):
    marks = dict.fromkeys(map(ord, MARKS.get(name, "")), "x")
    rows = [(title.translate(marks), text.translate(marks)) for title, text in rows]
    made = FORMATS[name](rows)
    data = made.encode() if isinstance(made, str) else made
    opened = read_entries(io.BytesIO(data))
    entries = list(opened)
    out = io.BytesIO()
    write_entries([(e, None) for e in entries], out, reading=opened)
    assert out.getvalue() == data or name in NOT_THE_SAME_BYTES
    expected = [(t, "" if name == "dblp" else a) for t, a in rows]
    assert [(e.record.title, e.record.abstract) for e in entries] == expected
    out = io.BytesIO()
    write_entries([(e, TAGS) for e in entries], out, reading=opened)
    again = read_entries(io.BytesIO(out.getvalue()))
    back = list(again)
    assert [(e.record.title, e.record.abstract) for e in back] == expected
    if opened.keeps_format or len(rows) > 1:
        assert [[t.theme for t in again.tags(e)] for e in back] == [
            ["moe", "optimizers"]
        ] * len(rows)
