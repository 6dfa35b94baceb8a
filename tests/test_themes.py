"""Theme files: what is read, and what is said about each mistake."""

import io
import json
import re
from pathlib import Path

import pytest

from tagger.errors import ThemeError
from tagger.theme_file import read_themes
from tagger.themes import Theme, theme_to_dict, themes_from_dicts

SEEDS = Path(__file__).resolve().parent.parent / "seeds"

TWO = """\
# a comment
[[theme]]
id = "optimizers"
name = "Optimizers"
description = '''
Methods that
  update weights.'''
keywords = [
  "Adam",   # the usual one
  "weight decay",
]
not = ["prompt optimization"]
group = "Learning"

[[theme]]
name = "FP8/FP4, precision"
parent = "optimizers"
"""


def read(text):
    return read_themes(io.BytesIO(text.encode()))


def test_a_theme_file_becomes_themes_in_file_order():
    assert read(TWO) == (
        Theme(
            id="optimizers",
            name="Optimizers",
            description="Methods that update weights.",
            keywords=("Adam", "weight decay"),
            exclude=("prompt optimization",),
            group="Learning",
        ),
        Theme(id="fp8-fp4-precision", name="FP8/FP4, precision", parent="optimizers"),
    )


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("FP8/FP4, precision", "fp8-fp4-precision"),
        ("MLIPs", "mlips"),
        ("GPT-4.1", "gpt-4-1"),
        ("C#", "c-sharp"),
        ("C++", "c-plus-plus"),
        ("a b", "a-b"),
        ("__label__x", "label-x"),
        ("Ünïcode", "unicode"),
        ("  edge  ", "edge"),
        ("../x", "x"),
        ("n" * 300, "n" * 64),
    ],
)
def test_any_name_is_kept_and_gives_a_path_safe_id(name, slug):
    (theme,) = themes_from_dicts([{"name": name}])
    assert (theme.name, theme.id) == (name.strip(), slug)


def test_themes_survive_json():
    stored = json.dumps([theme_to_dict(theme) for theme in read(TWO)])
    assert themes_from_dicts(json.loads(stored)) == read(TWO)


def test_a_quoted_phrase_may_hold_brackets_and_quotes():
    (theme,) = read("""[[theme]]\nname = "A"\nkeywords = ['CCSD(T)', "the \\"x\\""]""")
    assert theme.keywords == ("CCSD(T)", 'the "x"')


HEAD = '[[theme]]\nname = "A"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("theme = [3]", r"file:1: a theme is a number, expected a table"),
        ('[[theme]]\nid = "a"', r"file:1: the theme has no name; write name"),
        (HEAD + '\n[[theme]]\n\nname = " "', r"file:6: the theme has no name"),
        ('[[theme]]\nname = "大"', r"file:2: no id can be made from the name '大'"),
        (HEAD + 'id = "A b"', r"file:3: id 'A b' of theme 'A' is not .*; 'a' would do"),
        (HEAD + 'id = "../x"', r"file:3: id '../x' of theme 'A' is not an id"),
        (HEAD + 'id = ""', r"file:3: id '' of theme 'A' is not an id"),
        (HEAD + "id = 3", r"file:3: id 3 of theme 'A' is not an id"),
        (HEAD + f'id = "{"a" * 65}"', r"file:3: .* at most 64 characters"),
        (
            HEAD + '[[theme]]\nname = "B"\nid = "a"',
            r"file:5: id 'a' is already that of 'A' \(theme file:1\)",
        ),
        (
            '[[theme]]\nname = "Drug design"\n[[theme]]\nid="b"\nname="drug-DESIGN"',
            r"file:5: name 'drug-DESIGN' differs from 'Drug design' \(theme file:1\)",
        ),
        (
            HEAD + 'keyword = ["a"]',
            r"file:3: unknown key 'keyword' \(did you mean 'key",
        ),
        (
            HEAD + "colour = 1",
            r"file:3: unknown key 'colour'; a theme has the keys id,",
        ),
        (HEAD + 'keywords = "a"', r"file:3: 'keywords' is text \('a'\), .* a list"),
        (
            HEAD + "keywords = [1]",
            r"file:3: 'keywords' holds a number \(1\), .* phrases",
        ),
        (HEAD + "description = 1", r"file:3: 'description' is a number \(1\), .* text"),
        (HEAD + "group = true", r"file:3: 'group' is true or false \(True\)"),
        (HEAD + 'keywords = [\n"a",\n""\n]', r"file:5: 'keywords' holds '', a phrase"),
        (
            HEAD + 'not = [\n"--"\n]',
            r"file:4: 'not' holds '--', a phrase without a let",
        ),
        (
            HEAD + 'keywords = [\n"long-context",\n"b",\n"Long context",\n]',
            r"file:6: 'keywords' holds 'Long context' twice \(first as 'long-context'",
        ),
        (
            HEAD + 'not = [\n"c",\n"a-B",\n]\nkeywords = ["A b"]',
            r"file:5: 'a-B' of theme 'A' is both a keyword and a 'not' phrase",
        ),
        (HEAD + 'parent = "b"', r"file:3: parent 'b' of theme 'a' is no theme"),
        (
            HEAD
            + '[[theme]]\nname = "Vision"\n[[theme]]\nname = "C"\nparent = "visoin"',
            r"file:7: parent 'visoin' of theme 'c' .*did you mean 'vision'\?",
        ),
        (HEAD + 'parent = "a"', r"file:3: the parents of theme 'a' .*\(a > a\)"),
        (
            '[[theme]]\nname = "A"\nparent="b"\n[[theme]]\nname = "B"\nparent="a"',
            r"file:3: the parents of theme 'a' go in a circle \(a > b > a\)",
        ),
    ],
)
def test_a_mistake_gets_a_sentence_with_its_line(text, message):
    with pytest.raises(ThemeError, match=message):
        read(text)


def test_a_mistake_in_stored_themes_gives_the_position():
    entries = [{"name": "A"}, {"name": "B", "keywords": [""]}]
    with pytest.raises(ThemeError, match=r"manifest\.json, theme 2: 'keywords' holds"):
        themes_from_dicts(entries, source="manifest.json")


def test_no_stored_themes_is_refused():
    with pytest.raises(ThemeError, match="list of themes is empty"):
        themes_from_dicts([])


def test_every_shipped_theme_says_what_it_covers_and_has_enough_keywords():
    for theme in read_themes(SEEDS / "themes.toml"):
        assert " Not " in theme.description
        assert theme.group
        assert 10 <= len(theme.keywords) <= 40


@pytest.mark.shared
def test_the_shipped_themes_are_those_of_the_guidelines(shared):
    guidelines = (shared / "gold" / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| ([a-z0-9-]+) \| ([^|]+) \|", guidelines, re.MULTILINE)
    shipped = read_themes(SEEDS / "themes.toml")
    assert [(t.id, t.name) for t in shipped] == [r for r in rows if r[0] != "slug"]
