"""Inputs that break other tools, each with the outcome a user wants."""

import io
import json
import os
import re

import pytest

from tagger.duplicates import merge_same
from tagger.errors import RecordError
from tagger.formats import read_entries, read_records, write_entries
from tagger.records import Tag
from tagger.text import clean

TAGS = [Tag("moe", 0.91)]


def reading(data, name="stream", **options):
    file = io.BytesIO(data if isinstance(data, bytes) else data.encode())
    file.name = name
    return read_entries(file, **options)


def records(data, name="stream", **options):
    return [entry.record for entry in reading(data, name, **options)]


def rewritten(data, tags=TAGS):
    opened = reading(data)
    out = io.BytesIO()
    write_entries(((e, tags) for e in opened), out, reading=opened)
    return out.getvalue()


CONTENT = {
    "x.jsonl": '{"id": "a", "title": "T", "abstract": "A"}\n'
    '{"id": "b", "title": "U"}\n',
    "x.json": '[{"id": "a", "title": "T", "abstract": "A"}, {"id": "b", "title": "U"}]',
    "x.tsv": "id\ttitle\tabstract\na\tT\tA\nb\tU\t\n",
    "x.csv": "id,title,abstract\na,T,A\nb,U,\n",
    "x.bib": "@misc{a, title={T}, abstract={A}}\n@misc{b, title={U}}\n",
    "x.ris": "TY  - JOUR\nID  - a\nTI  - T\nAB  - A\nER  - \n"
    "TY  - JOUR\nID  - b\nTI  - U\nER  - \n",
    "x.nbib": "PMID- 1\nTI  - T\nAB  - A\n\nPMID- 2\nTI  - U\n",
    "x.atom": "<feed><entry><title>T</title><summary>A</summary></entry>"
    "<entry><title>U</title></entry></feed>",
}
EACH = pytest.mark.parametrize("name", CONTENT)


@EACH
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_changes_nothing(name, encoding):
    read = [(r.title, r.abstract) for r in records(CONTENT[name].encode(encoding))]
    assert read == [("T", "A"), ("U", "")]


@EACH
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_a_missing_last_one_change_nothing(name, end):
    text = CONTENT[name].replace("\n", end)
    for data in (text, text.rstrip("\r\n")):
        assert [(r.title, r.abstract) for r in records(data)] == [("T", "A"), ("U", "")]


@EACH
def test_one_bad_line_in_another_encoding_does_not_lose_the_file(name):
    data = CONTENT[name].encode() + b"\n" + CONTENT[name].encode()
    data = data.replace(b"U", b"na\xc3\xafve caf\xe9")
    opened = reading(data)
    titles = [e.record.title for e in opened if e.record]
    assert "na\u00efve caf\ufffd" in titles
    assert "bytes that are not UTF-8 text" in opened.notes[0]


@EACH
def test_control_characters_are_replaced_and_counted(name):
    text = CONTENT[name].replace("U", "a\x00b" if name != "x.atom" else "a\x01b")
    if name.startswith("x.json"):
        text = CONTENT[name].replace("U", "a\\u0000b")
    opened = reading(text)
    title = [e.record.title for e in opened][1]
    assert title in ("a b", "a\ufffdb")
    assert any("control characters or broken Unicode" in note for note in opened.notes)


def test_a_field_with_a_hundred_thousand_and_with_five_million_characters():
    long = json.dumps({"title": "T", "abstract": "x" * 5_000_000})
    opened = reading(long + "\n" + long.replace("x" * 4_900_000, "") + "\n")
    lengths = [len(e.record.abstract) for e in opened]
    assert lengths == [1_000_000, 100_000]
    assert "1 record with a text over 1,000,000 characters, truncated." in opened.notes
    assert len(records(f"title,abstract\nT,{'x' * 200_000}\n")[0].abstract) == 200_000


def test_extra_fields_are_carried_through():
    text = '{"id": "a", "title": "T", "doi": "10.1000/x", "more": {"k": [1]}}\n' * 2
    assert [r.extra for r in records(text)] == [{"more": {"k": [1]}}] * 2
    assert json.loads(rewritten(text).splitlines()[0])["more"] == {"k": [1]}


def test_null_means_missing_and_is_never_the_word_none():
    opened = reading('{"title": "T", "abstract": null}\n{"text": null}\n')
    assert [e.record.abstract for e in opened] == ["", ""]
    assert opened.notes == [
        "1 record without an abstract.",
        "1 record without any text.",
    ]


def test_a_list_of_labels_none_and_no_list_are_three_things():
    texts = ['["a","b"]', '"a;b"', "\"['a', 'b']\"", "[]", "null"]
    lines = "".join(f'{{"title": "T", "labels": {text}}}\n' for text in texts)
    lines += '{"title": "T"}\n'
    read = [record.themes for record in records(lines)]
    assert read == [("a", "b")] * 3 + [(), None, None]


@pytest.mark.parametrize("written", ["1", "01", "1.0", "1E5"])
def test_ids_and_labels_of_digits_stay_the_text_they_are(written):
    text = f"id,title,labels\n{written},T,{written}\n"
    (record,) = records(text)
    assert (record.id, record.themes) == (written, (written,))


@pytest.mark.parametrize("digits", [20, 299, 300, 5000])
def test_numbers_of_any_length_do_no_harm(digits):
    number = "9" * digits
    text = (
        f'{{"id": {number}, "title": "T", "year": {number}, "tags": '
        f'[{{"theme": "a", "probability": {number}}}]}}\n{{"title": "U"}}\n'
    )
    record, _ = records(text)
    assert (record.id, record.year) == (number, None)
    assert rewritten(text, None) == text.encode()
    assert b'"moe"' in rewritten(text)


def test_the_old_ids_of_two_archives_are_two_papers_and_versions_are_one():
    ids = ["hep-th/9901001v1", "cs/9901001v1", "2401.00001v1", "2401.00001v2"]
    lines = "".join(f'{{"id": "{i}", "title": "Title {i[:6]}"}}\n' for i in ids)
    assert merge_same(records(lines)).groups == [(0,), (1,), (2, 3)]


def test_crossref_abstracts_come_out_with_blanks_and_without_their_heading():
    work = {
        "DOI": "10.1000/x",
        "title": ["T"],
        "abstract": "<jats:title>Abstract</jats:title><jats:sec><jats:p>We show "
        "<jats:italic>x</jats:italic> &lt; y</jats:p></jats:sec>",
    }
    (record,) = records(json.dumps(work))
    assert " ".join(clean(record.abstract).text.split()) == "We show x < y"


@pytest.mark.parametrize(
    ("index", "abstract"),
    [
        (None, ""),
        ({}, ""),
        ({"a": [0, 2], "b": [1]}, "a b a"),
        ({"a": [0], "b": [7]}, "a b"),
        ({"$n=10$": [1], "R&amp;D": [0], "e.g.": [2]}, "R&amp;D $n=10$ e.g."),
    ],
)
def test_inverted_abstracts_are_rebuilt_exactly(index, abstract):
    work = {"id": "W1", "display_name": "T", "abstract_inverted_index": index}
    (record,) = records(json.dumps(work))
    assert (record.title, record.abstract) == ("T", abstract)


def test_bibtex_accents_and_braces_come_out_as_letters():
    text = (
        '@article{a, title = {{FP8} training with {\\"U}ber-{GPU}s}}\n'
        "@article{b, title = {{Mart{\\'\\i}n and na\\\"ive}}}\n"
    )
    titles = [clean(record.title).text for record in records(text)]
    assert titles == ["FP8 training with Über-GPUs", "Martín and naïve"]


def test_a_duplicate_key_and_a_missing_brace_lose_no_other_entry():
    text = "@misc{a, title={T}}\n@misc{b, title={U\n@misc{a, title={V}}\n"
    opened = reading(text)
    assert [e.record and e.record.title for e in opened] == ["T", None, "V"]
    assert opened.summary_line.startswith("read 3, used 2, skipped 1 (1 entry never")


@EACH
def test_count_and_order_of_the_output_are_those_of_the_input(name):
    opened = reading(CONTENT[name])
    ids = [(e.record.title, e.record.abstract) for e in opened]
    again = records(rewritten(CONTENT[name]))
    assert [(r.title, r.abstract) for r in again] == ids


def test_one_bad_record_in_three_keeps_its_place():
    lines = '{"id": "a", "title": "T"}\n{"id": "b", "tit\n{"id": "c", "title": "U"}\n'
    out = rewritten(lines).decode().splitlines()
    assert [line[:10] for line in out] == ['{"id": "a"', '{"id": "b"', '{"id": "c"']
    assert out[1] == '{"id": "b", "tit'


@pytest.mark.parametrize(
    "broken",
    [
        '{"id": "b", "title": T}',
        '{"id": "b", "title": "U",}',
        '{"id": "b" "title": "U"}',
        '{"id": "b", "title": "U}',
        '{"id": "b", "tit',
        "garbage",
        '{"id": "b", "authors": [{"id": "x"}, {"id": "y"]}',
    ],
)
@pytest.mark.parametrize("between", [", ", ",\n  "])
def test_a_broken_member_of_a_list_loses_itself_only(broken, between):
    good = ['{"id": "a", "title": "T"}', '{"id": "c", "title": "V"}']
    lead = between[1:] if "\n" in between else ""
    text = f"[{lead}{good[0]}{between}{broken}{between}{good[1]}\n]\n"
    opened = reading(text)
    entries = list(opened)
    ids = [e.id for e in entries if e.record]
    if "\n" in between or broken.count('"') % 2 == 0:
        assert ids == ["a", "c"]
    assert ids[0] == "a"
    assert opened.n_skipped >= 1
    assert rewritten(text, None) == text.encode()


def test_a_file_in_the_folder_and_not_the_folder(tmp_path):
    with pytest.raises(RecordError, match="is a folder; give the files in it"):
        read_entries(tmp_path)
    with pytest.raises(RecordError, match="holds no file of records"):
        read_records(tmp_path)


def test_a_path_is_only_a_name(tmp_path):
    odd = tmp_path / "a b;$(x)\n[1].jsonl"
    odd.write_text(CONTENT["x.jsonl"], encoding="utf-8")
    assert [r.title for r in read_records(odd)] == ["T", "U"]


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_name_that_is_no_text_is_read_and_shown(tmp_path):
    path = os.fsencode(tmp_path) + b"/caf\xe9.jsonl"
    with open(path, "wb") as out:
        out.write(b'{"title": "T"}\n{"title": "U"}\n')
    opened = read_entries(os.fsdecode(path))
    out = io.BytesIO()
    write_entries(((e, TAGS) for e in opened), out, reading=opened)
    assert opened.summary_line.encode()
    assert out.getvalue()


def test_a_table_from_a_country_with_a_decimal_comma():
    (record,) = records('id;title;score\r\n1;"T; with, marks";0,5\r\n')
    assert (record.title, record.extra) == ("T; with, marks", {"score": "0,5"})


def test_western_text_is_recognised_and_the_byte_and_the_option_are_named():
    data = "Neural Schrödinger solvers\n\nWe solve it.".encode("cp1252")
    opened = reading(data, "x.txt")
    assert [e.record.title for e in opened] == ["Neural Schrödinger solvers"]
    assert opened.notes == [
        "x.txt: byte 11 (0xf6) is not UTF-8 text, so the file is read as cp1252 "
        "(Western); if that is wrong, give --encoding."
    ]


@pytest.mark.parametrize(
    ("text", "encoding", "byte"),
    [
        ("Обучение больших моделей", "koi8-r", "byte 0 (0xef)"),
        ("On 大型语言模型的训练", "gb18030", "byte 3 (0xb4)"),
        ("論文の自動分類", "shift_jis", "byte 0 (0x98)"),
    ],
)
def test_other_text_is_refused_with_the_byte_and_the_option(text, encoding, byte):
    data = text.encode(encoding)
    message = f"x.txt: {byte} is not UTF-8 text. Give the encoding of the file, for"
    with pytest.raises(RecordError, match=re.escape(message)):
        reading(data, "x.txt")
    (record,) = records(data, "x.txt", encoding=encoding)
    assert record.abstract == text
