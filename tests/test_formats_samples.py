"""A small file of every format: what is read, and that it is given back."""

import io
from pathlib import Path

import pytest

from tagger.formats import FORMATS, files_in, read_entries, read_records, write_entries
from tagger.formats.sources import open_source
from tagger.records import Tag

SAMPLES = Path(__file__).with_name("samples")
TAGS = [Tag("moe", 0.91, "model", "m-1", "2026-01-31"), Tag("optimizers", 0.75)]

# file: format, kinds of records, records used, entries read
KNOWN = {
    "abstract.txt": ("text", {}, 1, 1),
    "arxiv-api.atom": ("atom", {}, 2, 2),
    "arxiv-snapshot.jsonl": ("jsonl", {"arXiv metadata": 2}, 2, 2),
    "arxiv.oai.xml": ("oai-pmh", {}, 2, 3),
    "arxiv.rss": ("rss", {}, 2, 2),
    "author-page.txt": ("author-page", {}, 2, 2),
    "crossref-one.json": ("json", {"Crossref work": 1}, 1, 1),
    "crossref.json": ("json", {"Crossref work": 1}, 1, 1),
    "dblp.xml": ("dblp", {}, 2, 2),
    "endnote.xml": ("endnote-xml", {}, 2, 2),
    "excel.csv": ("csv", {}, 1, 1),
    "openalex.json": ("json", {"OpenAlex work": 2}, 2, 2),
    "openreview.json": ("json", {"OpenReview note": 3}, 2, 3),
    "pubmed.xml": ("pubmed-xml", {}, 2, 2),
    "records.csv": ("csv", {}, 2, 2),
    "records.json": ("json", {}, 2, 2),
    "records.jsonl": ("jsonl", {}, 3, 3),
    "records.tsv": ("tsv", {}, 2, 2),
    "references.bib": ("bibtex", {}, 4, 5),
    "references.nbib": ("nbib", {}, 2, 2),
    "references.ris": ("ris", {}, 3, 3),
    "search-listing.txt": ("search-listing", {}, 2, 2),
    "semantic-scholar-bulk.jsonl": ("jsonl", {"Semantic Scholar paper": 2}, 2, 2),
    "semantic-scholar.json": ("json", {"Semantic Scholar paper": 1}, 1, 2),
    "zotero.csl.json": ("json", {"CSL item": 2}, 2, 2),
}
EACH = pytest.mark.parametrize("name", KNOWN)


def reading(data, name="stream"):
    file = io.BytesIO(data)
    file.name = name
    return read_entries(file)


def rewritten(data, tags):
    opened = reading(data)
    out = io.BytesIO()
    write_entries(((e, tags) for e in opened), out, reading=opened)
    return out.getvalue()


def test_every_format_has_a_sample_here_or_is_parquet():
    known = {kind for kind, *_ in KNOWN.values()}
    assert known == {kind.name for kind in FORMATS} - {"parquet"}
    assert set(KNOWN) == {path.name for path in SAMPLES.iterdir()}


@EACH
def test_the_format_is_known_by_content_alone(name):
    kind, kinds, used, read = KNOWN[name]
    opened = reading((SAMPLES / name).read_bytes())
    list(opened)
    assert (opened.format, opened.kinds) == (kind, kinds)
    assert (opened.n_used, opened.n_read) == (used, read)


@pytest.mark.parametrize("change", ["none", "crlf", "mark"])
@EACH
def test_a_format_that_knows_a_file_is_not_kept_from_it_by_its_sign(name, change):
    data = (SAMPLES / name).read_bytes()
    data = data.replace(b"\n", b"\r\n") if change == "crlf" else data
    data = b"\xef\xbb\xbf" + data if change == "mark" else data
    with open_source(io.BytesIO(data)) as source:
        by_sign = [kind.name for kind in FORMATS if kind.recognise(source.head)]
        asked = [kind.name for kind in FORMATS if kind.load().recognise(source.head)]
    assert by_sign == asked
    assert asked or name == "abstract.txt"


@EACH
@pytest.mark.parametrize("change", ["none", "crlf", "mark"])
def test_without_tags_the_same_bytes_come_out(name, change):
    data = (SAMPLES / name).read_bytes()
    if change == "crlf":
        data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    if change == "mark":
        data = b"\xef\xbb\xbf" + data
    opened = reading(data)
    entries = list(opened)
    assert len(entries) == KNOWN[name][3]
    if opened.keeps_format:
        assert rewritten(data, None) == data


def test_formats_without_a_place_for_tags_say_so():
    keep = {kind.name for kind in FORMATS if hasattr(kind.load(), "write")}
    others = "parquet endnote-xml jsonl json ris nbib bibtex tsv csv"
    assert keep == set(others.split())


@EACH
def test_tags_change_nothing_but_tags(name):
    data = (SAMPLES / name).read_bytes()
    before = [e.record for e in reading(data, name)]
    opened = reading(rewritten(data, TAGS), name)
    after = [e.record for e in opened]
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        if old and new:
            assert (old.title, old.abstract, old.year, old.authors, old.themes) == (
                new.title, new.abstract, new.year, new.authors, new.themes,
            )  # fmt: skip


@EACH
def test_tagging_twice_changes_no_byte(name):
    once = rewritten((SAMPLES / name).read_bytes(), TAGS)
    assert rewritten(once, TAGS) == once or KNOWN[name][0] in {
        "atom", "oai-pmh", "rss", "pubmed-xml", "dblp", "text", "author-page",
        "search-listing",
    }  # fmt: skip


def fields(name, position=0):
    opened = reading((SAMPLES / name).read_bytes(), name)
    record = [e.record for e in opened if e.record][position]
    return record


TITLE = "Tagging Papers with Themes"


@pytest.mark.parametrize(
    ("name", "title", "abstract", "year", "authors", "doi", "subject", "venue"),
    [
        (
            "arxiv-api.atom",
            TITLE,
            "We tag papers with themes, and we do so at $\\mathcal{O}(n)$ cost < one "
            "cent.\n\nA second paragraph says more.",
            2024, ("Ada Li", "Bo Wu"), "10.1000/tags.1", "cs.DL", "J. Tags 1 (2024)",
        ),
        (
            "arxiv.rss", TITLE, "We tag papers with themes.",
            2024, ("Ada Li", "Bo Wu"), None, "cs.DL", None,
        ),
        (
            "arxiv.oai.xml", TITLE, "We tag papers with themes.",
            2024, ("Ada Li", "Bo Wu Jr"), "10.1000/tags.1", "cs.DL", None,
        ),
        (
            "arxiv-snapshot.jsonl", TITLE,
            "We tag papers with themes.\n\nA second paragraph.",
            2024, ("Ada Li", "Bo Wu Jr"), "10.1000/tags.1", "cs.DL", None,
        ),
        (
            "references.bib", '{FP8} Training with {\\"U}ber-{GPU}s',
            "We train with tags.",
            2024, ("Li, Ada", "Wu, Bo", "{The Tag Team}"), "10.1000/tags.1", None,
            "Journal of Tags and Themes",
        ),
        (
            "references.ris", TITLE,
            "We tag papers with themes, and this line goes on.",
            2024, ("Li, Ada", "Wu, Bo"), "10.1000/tags.1", None, "Journal of Tags",
        ),
        (
            "references.nbib", "Tagging cells with themes: a study of two lines.",
            "BACKGROUND: Cells are many. RESULTS: Tags help.",
            2021, ("Li, Ada", "Wu, Bo"), "10.1000/cells.1", None, "Journal of cells",
        ),
        (
            "zotero.csl.json", TITLE, "We tag papers with themes.",
            2024, ("Ada Li", "Bo Wu"), "10.1000/tags.1", None, "Journal of Tags",
        ),
        (
            "endnote.xml", "Tagging Papers & Themes", "We tag papers.",
            2024, ("Li, Ada", "Wu, Bo"), "10.1000/tags.1", None, "Journal of Tags",
        ),
        (
            "pubmed.xml", "Tagging cells with CO2 themes.",
            "BACKGROUND: Cells are many.\n\nRESULTS: Tags help (p < 0.05).",
            2021, ("Ada Li", "The Tag Team"), "10.1000/cells.1", None,
            "Journal of cells",
        ),
        (
            "openalex.json", TITLE, "We tag papers at $n=10$. We tag R&amp;D",
            2024, ("Ada Li", "Bo Wu"), "https://doi.org/10.1000/tags.1",
            "Topic Modeling", "Journal of Tags",
        ),
        (
            "crossref.json", TITLE,
            "<jats:title>Abstract</jats:title><jats:p>We show "
            "<jats:italic>x</jats:italic> &lt; y</jats:p>",
            2024, ("Ada Li", "The Tag Team"), "10.1000/tags.1",
            "Libraries; Learning", "Journal of Tags",
        ),
        (
            "semantic-scholar.json", TITLE, "We tag papers.",
            2024, ("Ada Li",), "10.1000/tags.1", "Computer Science", "Journal of Tags",
        ),
        (
            "openreview.json", TITLE, "We tag papers.",
            2024, ("Ada Li", "Bo Wu"), None, "learning", "V 2024",
        ),
        (
            "dblp.xml", "Tagging Papers with CO2 Themes.", "",
            2024, ("Ada Li", "Jürgen Möller"), "https://doi.org/10.1000/tags.1", None,
            "J. Tags",
        ),
    ],
)  # fmt: skip
def test_the_fields_of_each_service(
    name, title, abstract, year, authors, doi, subject, venue
):
    record = fields(name)
    assert (record.title, record.abstract, record.year) == (title, abstract, year)
    assert (record.authors, record.doi) == (authors, doi)
    assert (record.subject, record.venue) == (subject, venue)


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        (
            "arxiv-api.atom",
            [
                "http://arxiv.org/abs/2401.00001v2",
                "http://arxiv.org/abs/hep-th/9901001v1",
            ],
        ),
        (
            "arxiv.rss",
            ["oai:arXiv.org:2401.00001v1", "http://arxiv.org/abs/2401.00002"],
        ),
        ("arxiv.oai.xml", ["2401.00001", "oai:arXiv.org:cs/9901001"]),
        ("references.bib", ["li2024tagging", "wu2023", "xu1999", "biblatex2025"]),
        ("references.nbib", ["12345678", "12345679"]),
        ("pubmed.xml", ["12345678", "12345679"]),
        ("zotero.csl.json", ["li_tagging_2024", "team"]),
        ("semantic-scholar-bulk.jsonl", ["7", "8"]),
        ("dblp.xml", ["journals/tags/LiM24", "conf/tags/Xu99"]),
    ],
)
def test_ids_are_those_of_the_file(name, ids):
    records = [entry.record for entry in read_entries(SAMPLES / name)]
    assert [record.id for record in records if record] == ids


def test_older_records_of_other_dialects():
    assert fields("arxiv.rss", 1).title == "Older Style of Title"
    assert fields("arxiv.rss", 1).subject == "cs.LG"
    assert fields("arxiv.oai.xml", 1).abstract == "We tagged papers long ago."
    assert fields("arxiv.oai.xml", 1).doi == "10.1000/old.1"
    assert fields("openreview.json", 1).authors == ("Cy D. Xu",)
    assert fields("references.bib", 1).title == 'A {"}quoted{"} title, with commas'
    assert fields("references.bib", 1).venue == "ACM Tags"
    assert fields("references.bib", 2).authors_cut
    assert fields("references.ris", 1).title == "A Title of the Old Kind"
    assert fields("zotero.csl.json", 1).authors == ("The Tag Team",)
    assert fields("arxiv-api.atom", 1).title == "Old Strings & New </entry> Things"


def test_a_folder_gives_all_its_files_of_records_sorted(tmp_path):
    for name in ("b.bib", "a.jsonl", "sub/c.ris", ".hidden.bib", "picture.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        sample = {".bib": "references.bib", ".ris": "references.ris"}.get(
            path.suffix, "records.jsonl"
        )
        data = (SAMPLES / sample).read_bytes()
        path.write_bytes(b"\x89PNG\0\0\0\0" if path.suffix == ".png" else data)
    found, others = files_in(tmp_path)
    assert [path.name for path in found] == ["a.jsonl", "b.bib", "c.ris"]
    assert [path.name for path in others] == ["picture.png"]
    left_out = r"left out, being of no known format: 1 file, such as .*picture\.png\."
    (tmp_path / "b.bib").write_text("@misc{b, title = {T}}", encoding="utf-8")
    with pytest.warns(UserWarning, match=left_out):
        records = read_records(tmp_path)
    assert len(records) == 7
    (tmp_path / "picture.png").unlink()
    (tmp_path / "gone").symlink_to("nowhere")
    with pytest.warns(
        UserWarning, match=r"left out: 1 link that leads nowhere: .*/gon"
    ):
        read_records(tmp_path)
