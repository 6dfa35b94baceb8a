"""Tags with a history, in every format that holds tags."""

import io
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagger.errors import RecordError
from tagger.formats import read_entries, write_entries
from tagger.formats.history import History, memory_text, parsed_memory, retagged
from tagger.records import Tag

MOE = Tag("moe", 0.91, "model", "m-1", "2026-01-31")
OPT = Tag("optimizers", 0.75, "model", "m-1", "2026-01-31")
LATER = "2027-01-01"


def reading(text):
    return read_entries(io.BytesIO(text.encode()))


def tagged(text, tags):
    opened = reading(text)
    out = io.BytesIO()
    write_entries(((e, tags) for e in opened), out, reading=opened)
    return out.getvalue().decode()


def themes(text):
    opened = reading(text)
    return [[(tag.theme, tag.source) for tag in opened.tags(e)] for e in opened]


FILES = {
    "bibtex": "@article{a,\n  title = {T},\n  keywords = {mine},\n}\n",
    "ris": "TY  - JOUR\nTI  - T\nKW  - mine\nER  - \n",
    "nbib": "PMID- 1\nTI  - T\nOT  - mine\n",
    "csl": '[{"type": "book", "title": "T", "issued": {}, "keyword": "mine"}]',
    "jsonl": '{"title": "T", "tags": [{"theme": "mine", "source": "human", "by": 1}]}\n'
    '{"title": "U", "tags": [{"theme": "mine", "source": "human"}]}\n',
    "csv": "title,tags,tag_probabilities,tagger\nT,mine,,\n",
    "endnote": "<xml><records><record><rec-number>1</rec-number><ref-type>1</ref-type>"
    "<titles><title>T</title></titles><keywords><keyword>mine</keyword></keywords>"
    "</record></records></xml>",
}
EACH = pytest.mark.parametrize("text", FILES.values(), ids=FILES.keys())


@EACH
def test_a_persons_tags_stay_and_the_models_are_replaced(text):
    once = tagged(text, [MOE])
    assert themes(once)[0] == [("mine", "human"), ("moe", "model")]
    assert themes(tagged(once, [OPT]))[0] == [
        ("mine", "human"),
        ("optimizers", "model"),
    ]


@EACH
def test_a_theme_that_a_person_gave_is_not_given_again(text):
    mine = replace(MOE, theme="mine")
    assert themes(tagged(tagged(text, [mine]), []))[0] == [("mine", "human")]


@EACH
def test_a_tag_that_a_person_removed_stays_removed_until_put_back(text):
    once = tagged(text, [MOE, OPT])
    without = removed(once, "moe")
    assert themes(without)[0] == [("mine", "human"), ("optimizers", "model")]
    for _ in range(2):
        without = tagged(without, [MOE, OPT])
        assert themes(without)[0] == [("mine", "human"), ("optimizers", "model")]
    back = themes(tagged(without.replace("mine", "moe"), [MOE, OPT]))[0]
    assert back == [("moe", "human"), ("optimizers", "model")]


def removed(text, theme):
    """Return the text as it is when a person deletes a tag in an editor."""
    if text.startswith("{"):
        lines = [json.loads(line) for line in text.splitlines()]
        for line in lines:
            line["tags"] = [tag for tag in line["tags"] if tag["theme"] != theme]
        return "".join(json.dumps(line) + "\n" for line in lines)
    for old, new in (
        (f"KW  - {theme}\n", ""),
        (f"OT  - {theme}\n", ""),
        (f"<keyword>{theme}</keyword>", ""),
        (f", {theme},", ","),
        (f"; {theme};", ";"),
    ):
        text = text.replace(old, new, 1)
    return text


@EACH
def test_tagging_again_with_the_same_tags_changes_no_byte(text):
    once = tagged(text, [MOE, OPT])
    later = [replace(MOE, date=LATER), replace(OPT, date=LATER)]
    assert tagged(once, [MOE, OPT]) == tagged(once, later) == once
    changed = tagged(once, [replace(MOE, probability=0.5, date=LATER)])
    assert LATER in changed


@EACH
def test_what_would_change_can_be_asked_before_writing(text):
    opened = reading(tagged(text, [MOE]))
    entry = next(iter(opened))
    assert [tag.theme for tag in opened.tags(entry)] == ["mine", "moe"]
    after = [tag.theme for tag in opened.tags_after(entry, [OPT])]
    assert after == ["mine", "optimizers"]
    opened.close()


def test_unknown_facts_about_a_persons_tag_are_kept():
    assert '"by": 1' in tagged(FILES["jsonl"], [MOE])


def test_a_tag_confirmed_by_a_person_is_theirs():
    once = tagged('{"title": "T"}\n{"title": "U"}\n', [MOE])
    confirmed = once.replace('"source": "model"', '"source": "human"')
    assert themes(tagged(confirmed, []))[0] == [("moe", "human")]


@pytest.mark.parametrize("name", ["bibtex", "ris", "csl", "csv"])
def test_tags_among_keywords_keep_probability_model_and_date(name):
    opened = reading(tagged(FILES[name], [MOE]))
    assert opened.tags(next(iter(opened)))[1] == MOE
    opened.close()


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("bibtex", "keywords"),
        ("ris", "KW"),
        ("nbib", "OT"),
        ("csl", "keyword"),
        ("endnote", "keywords"),
    ],
)
def test_labels_read_from_keywords_are_a_persons_only(name, field):
    text = tagged(FILES[name], [MOE])
    opened = read_entries(io.BytesIO(text.encode()), mapping={"themes": field})
    assert [entry.record.themes for entry in opened] == [("mine",)]


@pytest.mark.parametrize("name", ["bibtex", "ris", "csl", "csv", "endnote"])
def test_a_theme_that_is_no_keyword_is_refused(name):
    with pytest.raises(RecordError, match="cannot stand among keywords"):
        tagged(FILES[name], [Tag("a,b;\n<{", 0.5)])


TAGS = st.lists(
    st.builds(
        Tag,
        st.sampled_from("abcd"),
        st.sampled_from([0.5, 0.75]),
        st.sampled_from(["model", "model", "human"]),
    ),
    max_size=4,
    unique_by=lambda tag: tag.theme,
)


@settings(deadline=None)
@given(TAGS, TAGS, TAGS)
def test_the_rule_holds_for_any_tags(held, written, new):
    old = History(tuple(held), tuple(t for t in written if t.source == "model"), ("d",))
    after = retagged(old, new)
    given = {tag.theme for tag in after.tags}
    kept = [t for t in held if t.source != "model"]
    assert list(after.tags[: len(kept)]) == kept
    assert len(given) == len(after.tags)
    assert not given & set(after.removed)
    assert retagged(after, new) == after


@settings(deadline=None)
@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_any_memory_is_read_back(theme, model, removed_theme):
    history = History((), (Tag(theme, 0.5, "model", model or None),), (removed_theme,))
    text = memory_text(history)
    assert parsed_memory(text) == (history.written, history.removed)
    assert "\n" not in text


@pytest.mark.parametrize("value", ["x", "[]", "{", 1, {"a": 1}, {"written": 3}, [1]])
def test_what_is_no_memory_is_known_as_such(value):
    assert parsed_memory(value) is None
