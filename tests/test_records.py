"""The checked door, and the identity of papers."""

from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagger.errors import RecordError
from tagger.fields import name_table, plain_name
from tagger.identity import arxiv_id, normal_doi, normal_name, normal_title
from tagger.records import (
    Record,
    identity_keys,
    make_record,
    record_fields,
)
from tagger.values import MAX_TEXT, as_authors, as_labels, as_text, as_year

LONG = " ".join(f"word{n}" for n in range(40))


def door(fields, notes=None, mapping=None):
    return make_record(
        fields, source="f.jsonl", line=3, mapping=name_table(mapping), notes=notes
    )


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        ([], ()),
        ("[]", ()),
        ([""], ()),
        (None, None),
        (float("nan"), None),
        ("", None),
        ("  ", None),
        (["a", "b"], ("a", "b")),
        (["b", "a", "b"], ("b", "a")),
        ([" a\r", "b\n"], ("a", "b")),
        ("a;b", ("a", "b")),
        ("a ; b;", ("a", "b")),
        ("['a', 'b']", ("a", "b")),
        ('["a", "b"]', ("a", "b")),
        ("FP8/FP4, precision", ("FP8/FP4, precision",)),
        ([1, 2], ("1", "2")),
        (7, ("7",)),
        ("[broken", ("[broken",)),
        ("[" * 5000 + "]" * 5000, ("[" * 5000 + "]" * 5000,)),
        ({"b", "a"}, ("a", "b")),
    ],
)
def test_labels_are_read_and_none_is_not_the_empty_list(value, labels):
    assert as_labels(value, "themes", "f:1") == labels


def test_a_record_without_themes_is_unlabelled_and_an_empty_list_is_a_label():
    assert door({"title": "t"}).themes is None
    assert door({"title": "t", "themes": None}).themes is None
    assert door({"title": "t", "themes": []}).themes == ()


@pytest.mark.parametrize("value", [{"a": 1}, True, [{"x": 1}], [True]])
def test_labels_of_another_type_are_refused(value):
    with pytest.raises(RecordError, match=r"f:1: field 'themes' holds .*; expected"):
        as_labels(value, "themes", "f:1")


@pytest.mark.parametrize("value", ["1.0", "01", "1E5", "007"])
def test_ids_keep_their_text(value):
    assert door({"id": value, "title": "t"}).id == value


def test_a_number_is_an_id_and_no_id_becomes_file_and_line():
    assert door({"id": 12, "title": "t"}).id == "12"
    assert door({"id": None, "title": "t"}).id == "f.jsonl:3"
    assert door({"title": "t"}).id == "f.jsonl:3"


@pytest.mark.parametrize("empty", [None, float("nan"), "", "  "])
def test_a_missing_abstract_is_empty_and_counted(empty):
    notes = Counter()
    record = door({"title": "On Tags", "abstract": empty}, notes)
    assert record.abstract.strip() == ""
    assert notes["without an abstract"] == 1


def test_a_record_with_empty_texts_is_kept_and_counted():
    notes = Counter()
    assert door({"text": None}, notes).title == ""
    assert notes == {"without any text": 1}


def test_a_record_that_cannot_hold_a_text_says_what_it_holds():
    with pytest.raises(
        RecordError,
        match=r"f.jsonl:3: the record has no title and no abstract; its fields are "
        r"\['a', 'b'\]. Name one with --map abstract=FIELD.",
    ):
        door({"a": 1, "b": 2})


def test_an_object_where_text_belongs_is_refused():
    with pytest.raises(
        RecordError, match=r"f:1: field 'title' holds \{'a': 1\}; expected text"
    ):
        as_text({"a": 1}, "title", "f:1")


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("summary", "abstract"),
        ("abstractNote", "abstract"),
        ("Abstract Note", "abstract"),
        ("paperAbstract", "abstract"),
        ("text", "abstract"),
        ("ABSTRACT", "abstract"),
        ("name", "title"),
        ("Article Title", "title"),
        ("journal_ref", "venue"),
        ("Publication Title", "venue"),
        ("DOI", "doi"),
    ],
)
def test_fields_go_by_many_names(name, field):
    fields = {"title": "t", "abstract": "a"} if field in ("venue", "doi") else {}
    assert getattr(door({**fields, name: "x"}), field) == "x"


def test_the_preferred_name_wins_unless_it_is_empty():
    both = door({"text": "body", "abstract": "short"})
    assert (both.abstract, both.extra) == ("short", {"text": "body"})
    assert door({"abstract": None, "summary": "s"}).abstract == "s"


def test_a_users_name_goes_before_the_known_ones():
    record = door({"abstract": "a", "resumo": "r"}, mapping={"abstract": "resumo"})
    assert (record.abstract, record.extra) == ("r", {"abstract": "a"})


def test_a_mapping_to_an_unknown_field_is_refused():
    with pytest.raises(RecordError, match="names the field 'abstrct'; a record has"):
        name_table({"abstrct": "x"})


def test_unknown_fields_are_kept_unchanged():
    extra = {"x": [1, {"y": None}], "Keywords": "a, b"}
    assert door({"title": "t", **extra}).extra == extra


def test_nan_is_read_as_missing_and_counted():
    notes = Counter()
    record = door({"title": "t", "abstract": "a", "k": float("nan")}, notes)
    assert record.extra == {"k": None}
    assert notes == {"with a NaN, read as missing": 1}


def test_what_cannot_be_printed_is_replaced_one_for_one_and_counted_once():
    notes = Counter()
    record = door({"title": "a\x00b\ud83d\tc\n", "abstract": "x\x1fy"}, notes)
    assert (record.title, record.abstract) == ("a b\ufffd\tc\n", "x y")
    assert notes == {"with control characters or broken Unicode, replaced": 1}


def test_line_ends_and_blanks_in_a_title_stay():
    assert door({"title": "Foo\n  bar "}).title == "Foo\n  bar "


def test_a_text_beyond_the_limit_is_cut_with_a_note():
    notes = Counter()
    record = door({"abstract": "x" * (MAX_TEXT + 1)}, notes)
    assert len(record.abstract) == MAX_TEXT
    assert notes == {"with a text over 1,000,000 characters, truncated": 1}


@pytest.mark.parametrize(
    ("value", "year"),
    [
        (2024, 2024),
        (2024.0, 2024),
        ("2024", 2024),
        ("2024.0", 2024),
        ("2017-06-12T17:57:34Z", 2017),
        ("Mon, 12 Jun 2017 10:00:00 GMT", 2017),
        ("20170612", 2017),
        ("", None),
        ("n.d.", None),
        (None, None),
        (float("nan"), None),
        (float("inf"), None),
        (1718000000000, None),
        (True, None),
    ],
)
def test_years_are_found_in_dates(value, year):
    assert as_year(value) == year


def test_a_year_that_cannot_be_read_is_counted():
    notes = Counter()
    assert door({"abstract": "a", "year": "soon"}, notes).year is None
    assert notes == {"with a year that cannot be read, left out": 1}


@pytest.mark.parametrize(
    ("value", "names", "cut"),
    [
        ("Qiang Zhang 0053, Kai Lu 0001", ("Qiang Zhang", "Kai Lu"), False),
        ("Yaowei Wang 等", ("Yaowei Wang",), True),
        ("A Li, B Wu, 等", ("A Li", "B Wu"), True),
        ("A. Li et al.", ("A. Li",), True),
        ("Ada Li and Bo Wu and others", ("Ada Li", "Bo Wu"), True),
        ("Li, Ada and Wu, Bo", ("Li, Ada", "Wu, Bo"), False),
        ("Ada Li, Bo Wu, and Cy Xu", ("Ada Li", "Bo Wu", "Cy Xu"), False),
        ("Smith, John", ("Smith, John",), False),
        ("Ada Li; Bo Wu", ("Ada Li", "Bo Wu"), False),
        ("['Ada Li', 'Bo Wu']", ("Ada Li", "Bo Wu"), False),
        ([{"name": "Ada Li"}, {"given": "Bo", "family": "Wu"}], ("Ada Li", "Bo Wu"), 0),
        (None, (), False),
        ("", (), False),
    ],
)
def test_author_lists_are_split_and_a_cut_list_says_so(value, names, cut):
    assert as_authors(value, "authors", "f:1") == (names, bool(cut))


def test_what_is_written_is_read_back():
    record = Record(
        id="a",
        title="T",
        abstract="A",
        themes=(),
        unsure=("x",),
        year=2020,
        authors=("Ada Li",),
        authors_cut=True,
        subject="cs.LG",
        venue="V",
        doi="10.1/x",
        sources=("s.txt", "t.txt"),
        line=3,
        extra={"area": "O"},
    )
    assert door(record_fields(record)) == record


@given(st.dictionaries(st.text(), st.none() | st.text() | st.floats() | st.integers()))
def test_the_door_never_fails_but_with_a_sentence(fields):
    with suppress(RecordError):
        record = door(fields)
        assert record.id
        record.title.encode()


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("2401.00001v2", "2401.00001"),
        ("arXiv:2401.00001", "2401.00001"),
        ("http://arxiv.org/abs/2401.00001v1", "2401.00001"),
        ("https://arxiv.org/pdf/2401.00001v3.pdf", "2401.00001"),
        ("10.48550/arXiv.2401.00001", "2401.00001"),
        ("https://doi.org/10.48550/arXiv.2401.00001", "2401.00001"),
        ("oai:arXiv.org:0704.0001", "0704.0001"),
        ("hep-th/9901001v1", "hep-th/9901001"),
        ("cs/9901001v1", "cs/9901001"),
        ("math.GT/0309136", "math/0309136"),
        ("2401.0001", None),
        ("2413.00001", None),
        ("1299.5678", None),
        ("9901001", None),
        ("On 2401.00001", None),
        ("", None),
    ],
)
def test_arxiv_ids_lose_their_version_and_keep_their_archive(text, base):
    assert arxiv_id(text) == base


def test_names_dois_and_titles_have_one_form():
    assert normal_doi("doi:10.1000/AbC.") == "10.1000/abc"
    assert normal_doi("none") is None
    assert normal_name("Peter Richtárik") == normal_name("Richtarik, P.")
    assert normal_name("") == ""
    assert normal_title('{FP8} na\\"ive  Long\u2011Context') == "fp8naivelongcontext"
    assert plain_name("Abstract_Note ") == "abstractnote"


def test_identity_prefers_the_surest_key():
    record = Record(
        id="x",
        title="On Tags",
        abstract=LONG,
        authors=("Ada Li",),
        doi="https://doi.org/10.1000/A",
        extra={"arxiv_id": "2401.00001v2"},
    )
    arxiv, doi, title, text = identity_keys(record)
    assert (arxiv, doi) == ("arxiv:2401.00001", "doi:10.1000/a")
    assert title == "title:ontags|li"
    assert text.startswith("text:")


def test_a_paper_without_a_title_is_known_by_its_text():
    one = Record(id="1", abstract=LONG)
    other = Record(id="2", title="Words", abstract=LONG.upper().replace(" ", "\n"))
    assert set(identity_keys(one)) & set(identity_keys(other))


def test_a_short_notice_names_no_paper():
    assert identity_keys(Record(id="1", abstract="This paper was withdrawn.")) == ()


def test_old_ids_of_two_archives_are_two_papers():
    keys = [identity_keys(Record(id=i)) for i in ("hep-th/9901001v1", "cs/9901001v1")]
    assert keys == [("arxiv:hep-th/9901001",), ("arxiv:cs/9901001",)]
