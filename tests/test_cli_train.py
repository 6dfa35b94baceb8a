"""`tagger train`."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from tagger.cli import main
from tagger.formats import FORMATS
from tagger.model import load
from tagger.records import record_fields

THEMES = """
[[theme]]
id = "optimizers"
name = "Optimizers"
keywords = ["optimizer", "Adam", "learning rate"]
[[theme]]
id = "low-precision"
name = "Low precision"
keywords = ["FP8", "4-bit", "quantization"]
[[theme]]
id = "potentials"
name = "Interatomic potentials"
keywords = ["interatomic potential", "machine learned interatomic potential"]
not = ["action potential"]
"""


@pytest.fixture
def place(tmp_path, toy_records, toy_background, monkeypatch):
    """Give a folder with a theme file and the toy records; the toy background too."""
    monkeypatch.setattr("tagger.training.shipped_background", lambda: toy_background)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "themes.toml").write_text(THEMES, "utf-8")
    lines = [json.dumps(record_fields(record)) for record in toy_records]
    (tmp_path / "labelled.jsonl").write_text("\n".join(lines), "utf-8")
    return tmp_path


def train(*args):
    words = ["train", "--themes", "themes.toml", *args]
    return CliRunner().invoke(main, words)


def test_a_model_is_trained_saved_and_its_figures_printed(place, tiny):
    result = train("labelled.jsonl", "-o", "mine")
    assert result.exit_code == 0
    first, *_, last = result.stdout.splitlines()
    assert first == "Held-out figures (5-fold cross-validation)"
    assert last == "The model is in mine; use it with: tagger predict -m mine FILE"
    assert "etter than the keywords alone" in result.stdout
    assert "potentials" in result.stdout
    assert result.stderr == "read 9, used 9, skipped 0\n"
    assert load("mine").themes == tiny.themes


def test_the_model_goes_to_my_model_by_default(place):
    assert train("labelled.jsonl").exit_code == 0
    assert (place / "my-model" / "manifest.json").is_file()


def test_a_theme_file_alone_makes_a_model(place):
    result = train("-o", "mine")
    assert result.exit_code == 0
    first = "No labelled records: the model is what the theme file says."
    assert result.stdout.splitlines()[0] == first
    # Nothing was read, so nothing is said of that.
    assert result.stderr == ""
    found = CliRunner().invoke(
        main, ["predict", "-m", "mine"], input='{"title": "Adam optimizer"}\n'
    )
    assert json.loads(found.stdout)["tags"][0]["theme"] == "optimizers"


def test_a_model_that_exists_is_not_replaced_unless_told(place):
    train("-o", "mine")
    before = (place / "mine" / "manifest.json").read_bytes()
    result = train("labelled.jsonl", "-o", "mine")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: mine exists already; choose another place with -o, or replace it "
        "with --overwrite.\n"
    )
    assert (place / "mine" / "manifest.json").read_bytes() == before
    assert train("labelled.jsonl", "-o", "mine", "--overwrite").exit_code == 0
    assert (place / "mine" / "manifest.json").read_bytes() != before


def test_an_unknown_label_is_one_sentence_with_a_hint(place):
    line = '{"id": "r", "title": "a", "themes": ["optimizer"]}'
    (place / "bad.jsonl").write_text(line)
    result = train("bad.jsonl", "-o", "mine")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: Record 'r' (line 1) has the label 'optimizer', which is none of the 3 "
        "themes. Did you mean 'optimizers'?\n"
    )
    assert not (place / "mine").exists()


def test_a_wrong_theme_file_is_one_sentence_with_the_line(place):
    (place / "themes.toml").write_text('[[theme]]\nname = "A"\nkeyword = ["a"]\n')
    result = train("labelled.jsonl", "-o", "mine")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: themes.toml:3: unknown key 'keyword'")


def test_precision_and_recall_cannot_both_be_the_target(place):
    result = train("labelled.jsonl", "--min-precision", "0.9", "--min-recall", "0.9")
    assert result.exit_code == 2
    assert "Use just one of --min-precision and --min-recall." in result.stderr
    assert train("labelled.jsonl", "--min-precision", "1.5").exit_code == 2


def test_same_seed_and_any_jobs_give_the_same_model(place):
    for name, jobs in (("one", "1"), ("two", "2")):
        assert train("labelled.jsonl", "-o", name, "--jobs", jobs).exit_code == 0
    for path in (place / "one").iterdir():
        assert path.read_bytes() == (place / "two" / path.name).read_bytes()


def test_exclusive_is_kept_with_the_model(place, toy_records):
    lines = [json.dumps(record_fields(record)) for record in toy_records[:7]]
    (place / "one.jsonl").write_text("\n".join(lines), "utf-8")
    assert train("one.jsonl", "-o", "mine", "--exclusive").exit_code == 0
    assert load("mine").exclusive


def test_labels_that_contradict_exclusive_are_named_and_refused(place, toy_records):
    two = replace(toy_records[0], themes=("optimizers", "potentials"))
    lines = [json.dumps(record_fields(r)) for r in (two, *toy_records[1:])]
    (place / "two.jsonl").write_text("\n".join(lines), "utf-8")
    result = train("two.jsonl", "-o", "mine", "--exclusive")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: 3 of 9 records do not have exactly one theme, as 'exclusive' promises: "
        "Record 'r0' (line 1) has optimizers, potentials; Record 'r7' (line 8) has "
        "none; Record 'r8' (line 9) has none. Give each of them one theme, leave them "
        "out, or do not ask for 'exclusive'.\n"
    )
    assert not (place / "mine").exists()


def test_every_format_has_a_name_that_the_option_takes():
    assert len({kind.name for kind in FORMATS}) == len(FORMATS)


def test_one_theme_or_one_class_is_told_with_exclusive(place, toy_records):
    lines = [json.dumps(record_fields(record)) for record in toy_records[:3]]
    (place / "same.jsonl").write_text("\n".join(lines), "utf-8")
    result = train("same.jsonl", "-o", "mine", "--exclusive")
    assert result.exit_code == 0
    assert result.stderr.startswith(
        "3 labelled records have the theme 'optimizers' and none has another; the "
        "other themes are known by their keywords alone.\n"
    )
    assert "labelled record" not in train("same.jsonl", "-o", "free").stderr
    evaluated = CliRunner().invoke(
        main, ["evaluate", "same.jsonl", "--themes", "themes.toml", "--exclusive"]
    )
    assert "3 labelled records have the theme 'optimizers'" in evaluated.stderr
    (place / "themes.toml").write_text('[[theme]]\nname = "A"\nkeywords = ["Adam"]\n')
    alone = train("-o", "alone", "--exclusive")
    assert alone.stderr.startswith(
        "There is one theme, 'a': with --exclusive every record that can be judged "
        "gets it.\n"
    )


def test_each_file_without_labels_says_what_it_gives(place):
    (place / "some.jsonl").write_text('{"title": "Adam"}\noops\n{"title": "FP8"}\n')
    (place / "one.jsonl").write_text('{"title": "Adam"}\n')
    (place / "bad.jsonl").write_text("oops\n{}\n")
    (place / "bare.csv").write_text("id,title\n1,\n")
    (place / "empty.jsonl").write_text("")
    names = ("some.jsonl", "one.jsonl", "bad.jsonl", "bare.csv", "empty.jsonl")
    words = [word for name in names for word in ("--unlabelled", name)]
    result = train("-o", "mine", *words)
    assert result.exit_code == 0
    assert result.stderr.splitlines()[:5] == [
        "--unlabelled some.jsonl: 2 of 3 records are learned from",
        "--unlabelled one.jsonl: 1 of 1 record is learned from",
        "--unlabelled bad.jsonl: of 2 records none has a text to learn from",
        "--unlabelled bare.csv: of 1 record none has a text to learn from",
        "--unlabelled empty.jsonl: holds no record, so nothing is learned from it",
    ]


def test_a_reading_list_gives_hints_and_not_labels(place):
    row = '{"title": "On momentum", "abstract": "Of a day.", "themes": ["optimizers"]}'
    (place / "list.jsonl").write_text(f"{row}\n" * 2)
    (place / "bare.jsonl").write_text('{"title": "Adam"}\n')
    words = ("--listed", "list.jsonl", "--listed", "bare.jsonl")
    result = train("-o", "mine", *words)
    assert result.exit_code == 0
    assert result.stderr.splitlines()[:3] == [
        "--listed list.jsonl: 2 of 2 records are learned from",
        "--listed bare.jsonl: 1 of 1 record is learned from; none names a theme in "
        "'themes', so that they give no hint",
        "1 record of a list is labelled too, and passed over, or listed twice, and "
        "merged.",
    ]
    assert result.stdout.startswith(
        "No labelled records: the model is what the theme file says, and 2 records of "
        "lists show."
    )
    result = train("-o", "one", "--listed", "list.jsonl", "--exclusive")
    assert result.exit_code == 2
    assert "leave --unlabelled (and --listed) out" in " ".join(result.stderr.split())


@pytest.mark.parametrize("words", [["-", "-"], ["-", "--unlabelled", "-"]])
def test_standard_input_is_read_only_once(place, words):
    result = train(*words, "-o", "mine")
    assert result.exit_code == 2
    assert "'-' is standard input, which can be read only once; give it once." in (
        result.stderr
    )


@pytest.mark.parametrize(("n", "said"), [(2, "record is a paper"), (3, "records are")])
def test_papers_that_stand_twice_are_counted(place, n, said):
    line = (place / "labelled.jsonl").read_text("utf-8").splitlines()[0]
    (place / "twice.jsonl").write_text("\n".join([line] * n), "utf-8")
    assert f"{n - 1} {said}" in train("twice.jsonl", "-o", "mine").stderr


def test_a_theme_without_keywords_and_labels_is_told_to_be_mute(place):
    bare = [
        f'[[theme]]\nname = "Bird {n}"\ndescription = "Birds."\n' for n in range(12)
    ]
    one = "The theme 'bird-0' has no keywords and no label: it is never given.\n"
    (place / "themes.toml").write_text(THEMES + bare[0])
    assert train("-o", "none").stderr == one
    assert train("labelled.jsonl", "-o", "some").stderr.startswith(one)
    (place / "themes.toml").write_text(THEMES + "".join(bare))
    assert train("-o", "many").stderr.endswith(
        "'bird-9' and 2 more have no keywords and no label: they are never given.\n"
    )
    line = '{"title": "Songs", "themes": ["bird-0"]}\n'
    (place / "birds.jsonl").write_text(line)
    (place / "themes.toml").write_text(THEMES + bare[0])
    assert "bird-0" not in train("birds.jsonl", "-o", "told").stderr


def test_a_label_that_no_theme_has_is_answered_with_what_can_be_done(place):
    (place / "bad.jsonl").write_text('{"id": "r", "title": "a", "themes": ["zzz"]}')
    assert train("bad.jsonl", "-o", "mine").stderr.endswith(
        "Add this one to the theme file (--themes FILE), name a model that knows it "
        "(-m DIR), or take the label out.\n"
    )
