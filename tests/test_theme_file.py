"""The theme file: read as tables, and the line each mistake stands on."""

import io

import pytest

from tagger.errors import ThemeError
from tagger.theme_file import read_themes

HEAD = '[[theme]]\nname = "A"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[theme]]\nname = "A', r"theme file:2: not valid TOML: .*; correct that"),
        ('[[theme]]\nname = "A"\nkeywords = ["a",', r"file:3: not valid TOML"),
        ("", r"file:1: the file has no theme; write at least one \[\[theme\]\]"),
        ("theme = []", r"file:1: the file has no theme"),
        ('[theme]\nname = "A"', r"file:1: 'theme' is a table, .* with two brackets"),
        ("theme = 3", r"file:1: 'theme' is a number, expected an array of tables"),
        (
            HEAD + '[[themes]]\nname = "B"',
            r"file:3: unknown entry 'themes' at the top .*did you mean 'theme'\?",
        ),
    ],
)
def test_a_file_without_theme_tables_gets_a_sentence_with_its_line(text, message):
    with pytest.raises(ThemeError, match=message):
        read_themes(io.StringIO(text))


def test_a_file_that_is_not_utf8_says_where(tmp_path):
    file = tmp_path / "latin.toml"
    file.write_bytes('[[theme]]\nname = "é"'.encode("latin-1"))
    with pytest.raises(ThemeError, match=r"latin\.toml:2: byte 0xe9 is not UTF-8"):
        read_themes(file)


def test_a_missing_file_is_a_sentence(tmp_path):
    with pytest.raises(ThemeError, match=r"gone\.toml: the theme file cannot be read"):
        read_themes(tmp_path / "gone.toml")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('# a\n\n[[theme]]\nid = "a"', 3),
        ('[[theme]]\n"name" = " "', 2),
        ('[[theme]]\nname = "A"\nkeywords = [\n"x", # "y"\n"y",\n"y",\n]', 6),
        ('[[theme]]\nname = "A"\nkeywords = ["y"]\n\nnot = ["y"]', 5),
        ('[[theme]]\nname = "A"\n\n[[theme]]\nname = "A"', 4),
        ('\ntheme = [{name = "A"}, {name = ""}]', 2),
    ],
)
def test_a_mistake_is_found_where_it_stands(text, line):
    with pytest.raises(ThemeError, match=rf"^theme file:{line}: "):
        read_themes(io.StringIO(text))


TWO = """\
[[theme]]
name = "A"
keywords = ["x"]

[[theme]]
name = "B"
"""


def read(text):
    return read_themes(io.BytesIO(text.encode()))


@pytest.mark.parametrize(
    "content",
    [
        TWO.encode(),
        b"\xef\xbb\xbf" + TWO.encode(),
        TWO.replace("\n", "\r\n").encode(),
        TWO.replace("\n", "\r").encode(),
    ],
    ids=["plain", "byte-order mark", "CRLF", "CR"],
)
def test_marks_and_line_ends_change_nothing(content, tmp_path):
    file = tmp_path / "themes.toml"
    file.write_bytes(content)
    assert read_themes(file) == read_themes(str(file)) == read(TWO)


def test_an_open_text_file_is_read_too():
    assert read_themes(io.StringIO(TWO)) == read(TWO)
