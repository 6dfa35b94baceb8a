"""BibTeX and BibLaTeX as text that stays as it is."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagger.formats import read_entries, write_entries
from tagger.records import Tag

TAGS = [Tag("moe", 0.91)]
MEMORY = 'tagger = {{"written": {"moe": 0.91}}}'


def reading(text, **options):
    return read_entries(io.BytesIO(text.encode()), **options)


def rewritten(text, tags, **options):
    opened = reading(text, **options)
    out = io.BytesIO()
    write_entries(((e, tags) for e in opened), out, reading=opened)
    return out.getvalue().decode()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("{On Tags}", "On Tags"),
        ("{{FP8} training}", "{FP8} training"),
        ("{{Double}}", "{Double}"),
        ('"On {"}Tags{"}"', 'On {"}Tags{"}'),
        ("2024", "2024"),
        ("name", "A Name"),
        ('name # " and " # {More}', "A Name and More"),
        ("unknown", "unknown"),
        ("{{\\\"U}ber-{GPU}s and {\\'\\i}}", "{\\\"U}ber-{GPU}s and {\\'\\i}"),
        ("{Wrapped\n      lines}", "Wrapped lines"),
        ("{One\n\n  Two}", "One\n\nTwo"),
        ("{a, b = c}", "a, b = c"),
        ("{100\\% @home{x}}", "100\\% @home{x}"),
    ],
)
def test_values_are_read_as_bibtex_reads_them(written, read):
    text = f"@string{{name = {{A Name}}}}\n@misc{{k, title = {written}}}"
    (entry,) = reading(text, format="bibtex")
    assert entry.record.title == read


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@misc{k,title={T}}", "@misc{k,title={T}, keywords={moe}, %s}"),
        ("@misc{k, title={T},}", "@misc{k, title={T}, keywords={moe}, %s,}"),
        (
            "@misc{k,\n\ttitle = {T}\n}",
            "@misc{k,\n\ttitle = {T},\n\tkeywords = {moe},\n\t%s\n}",
        ),
        (
            '@misc{k, title = {T}, keywords = "a; b"}',
            '@misc{k, title = {T}, keywords = "a; b; moe", %s}',
        ),
        (
            "@misc(k, title = {T}, keyword = {a,b},)",
            "@misc(k, title = {T}, keyword = {a,b, moe}, %s,)",
        ),
        (
            "@misc{k, title = {T}, keywords = {}}",
            "@misc{k, title = {T}, keywords = {moe}, %s}",
        ),
        (
            "@misc{k, title = {T}, groups = {Mine}}",
            "@misc{k, title = {T}, groups = {Mine, moe}, keywords = {moe}, %s}",
        ),
    ],
)
def test_keywords_go_in_and_all_else_stays(before, after):
    memory = MEMORY if " = " in before else MEMORY.replace(" = ", "=")
    assert rewritten(before, TAGS) == after % memory


def test_what_stands_between_entries_stays():
    text = '% x\n@misc{a, title={T}} and @comment{b} y\n@preamble{"z"}\n'
    assert rewritten(text, None) == text
    assert rewritten(text, TAGS).startswith("% x\n@misc{a, title={T}, keywords={moe}")
    assert rewritten(text, TAGS).endswith('} and @comment{b} y\n@preamble{"z"}\n')


def test_an_entry_never_closed_loses_itself_only():
    text = "@misc{a, title={T\n@misc{b, title={U}}\n@misc{c, title={V}}"
    bad, *good = reading(text)
    assert bad.problem == (
        "stream:1: the entry that starts with '@misc{a, title={T\\n' is never closed."
    )
    assert [(e.id, e.line) for e in good] == [("b", 2), ("c", 3)]
    assert rewritten(text, None) == text


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("@misc{a, title = , year = 1}", "the field 'title' has no value that can be"),
        ("@misc{a, title = {T} ! x}", "found '! x}' where a field or the end should"),
    ],
)
def test_an_entry_that_cannot_be_read_is_named(entry, problem):
    bad, good = reading(f"{entry}\n@misc{{b, title = {{U}}}}")
    assert f"stream:1: in the entry 'a', {problem}" in bad.problem
    assert good.id == "b"


def test_a_missing_comma_and_a_missing_key_are_forgiven():
    text = "@misc{a, title = {T} year = 2020}\n@misc{title = {U}, year = 2021}"
    first, second = (e.record for e in reading(text))
    assert (first.title, first.year) == ("T", 2020)
    assert (second.title, second.id) == ("U", "stream:2")


def test_the_first_of_two_fields_and_repeated_keys_are_kept_apart():
    text = "@misc{a, title={T}, title={U}}\n@misc{a, title={V}}"
    opened = reading(text)
    assert [(e.id, e.record.title) for e in opened] == [("a", "T"), ("a#2", "V")]
    assert "id used before" in opened.notes[0]


def test_many_entries_on_one_line_are_all_read():
    text = "@misc{a,title={T}}" * 500
    assert len(list(reading(text))) == 500


VALUE = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='{}"\\'),
    max_size=12,
)
KEY = st.text("abcXYZ019:-_/", min_size=1, max_size=8)
NAME = st.sampled_from(["title", "abstract", "note", "keywords", "author", "groups"])


@st.composite
def bibliographies(draw):
    parts = []
    for _ in range(draw(st.integers(0, 4))):
        fields = draw(
            st.lists(st.tuples(NAME, VALUE), max_size=4, unique_by=lambda f: f[0])
        )
        marks = draw(st.sampled_from(["{}", '""']))
        gap = draw(st.sampled_from([" ", "\n  ", "\r\n\t"]))
        body = "".join(f"{gap}{n} = {marks[0]}{v}{marks[1]}," for n, v in fields)
        parts.append(f"@misc{{{draw(KEY)},{body}}}")
        parts.append(
            draw(st.sampled_from(["", "\n", "\n\nwords\n", "\n@comment{x}\n"]))
        )
    return "".join(parts)


@settings(deadline=None)
@given(bibliographies())
def test_any_bibliography_survives_writing_and_reading(text):
    assert rewritten(text, None, format="bibtex") == text
    before = list(reading(text, format="bibtex"))
    again = rewritten(text, TAGS, format="bibtex")
    opened = reading(again, format="bibtex")
    after = list(opened)
    assert [e.record is None for e in before] == [e.record is None for e in after]
    for old, new in zip(before, after, strict=True):
        if old.record:
            assert (new.id, new.record.title) == (old.id, old.record.title)
            assert "moe" in [tag.theme for tag in opened.tags(new)]
    assert rewritten(again, TAGS, format="bibtex") == again


@settings(max_examples=50, deadline=None)
@given(bibliographies())
def test_fields_are_those_that_bibtexparser_reads(text):
    parser = pytest.importorskip("bibtexparser")
    library = parser.parse_string(text.replace("\r\n", "\n"), parse_stack=[])
    theirs = {
        entry.key: {f.key: " ".join(f.value[1:-1].split()) for f in entry.fields}
        for entry in library.entries
    }
    keys = [e.raw.parsed.key for e in reading(text, format="bibtex")]
    for entry in reading(text, format="bibtex"):
        if keys.count(key := entry.raw.parsed.key) == 1:
            ours = {f.name: " ".join(f.value.split()) for f in entry.raw.parsed.fields}
            assert ours == theirs[key]


@pytest.mark.parametrize("text", [")", "a) b", "{)}", '{"} )', "(c)"])
def test_a_bracket_in_a_value_does_not_end_an_entry_in_brackets(text):
    opened = reading(f'@misc(k, title = "{text}", note = {{)}})\n@misc(l, title={{U}})')
    titles = [entry.record and entry.record.title for entry in opened]
    assert titles == [text, "U"]
