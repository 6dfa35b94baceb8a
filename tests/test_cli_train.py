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
