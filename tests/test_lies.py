"""Three lies that evaluations have told, and that ours must not tell."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from tagger.cli import main
from tagger.evaluation import evaluate
from tagger.records import record_fields

NEW = [
    {"id": "n1", "title": "An optimizer with momentum", "themes": ["optimizers"]},
    {"id": "n2", "title": "FP8 for all", "themes": ["low-precision"]},
]


@pytest.fixture
def run(tiny_dir, tmp_path):
    """Evaluate the tiny model on a file of this text."""

    def run(name, text, *args):
        (tmp_path / name).write_text(text, "utf-8")
        words = ["evaluate", str(tmp_path / name), "-m", str(tiny_dir), *args]
        return CliRunner().invoke(main, words)

    return run


@pytest.mark.parametrize("mark", [",", " ", "/"])
def test_a_label_column_parted_by_the_wrong_mark_is_never_scored(run, mark):
    # Passed over as unknown labels, this gave a perfect score elsewhere.
    labels = mark.join(["optimizers", "low-precision"])
    line = json.dumps({"id": "a", "title": "An optimizer", "themes": [labels]})
    result = run("records.jsonl", line)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"has the label '{labels}', which is none of the 3 themes" in result.stderr


@pytest.mark.parametrize("label", ["optimisers", "potentials|", "0"])
def test_a_label_that_is_no_theme_is_never_passed_over(run, label):
    lines = [*NEW, {"id": "n3", "title": "Of moss", "themes": [label]}]
    result = run("records.jsonl", "\n".join(map(json.dumps, lines)))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "'n3' (line 3) has the label" in result.stderr


def test_a_false_theme_in_every_record_costs_in_every_figure():
    # Counted over the labels of the test set only, this was F1 1.0 elsewhere.
    y = np.array([[1, 0], [1, 0], [1, 0]], dtype=np.int8)
    D = np.array([[1, 1], [1, 1], [1, 1]], dtype=bool)
    found = evaluate(y, D.astype(float), D, ["a", "b"]).overall
    figures = {name: found[name].value for name in found}
    assert figures["micro_f1"] == pytest.approx(2 / 3)
    assert figures["macro_f1"] == 0.5
    assert figures["weighted_f1"] == 0.5
    assert figures["samples_f1"] == pytest.approx(2 / 3)
    assert figures["exact_match"] == 0.0


def test_perfect_answers_are_perfect_where_most_records_have_no_label():
    # Taken as 0 where there is neither label nor tag, this was 0.25 elsewhere.
    y = np.array([[1], [0], [0], [0]], dtype=np.int8)
    found = evaluate(y, y.astype(float), y == 1, ["a"]).overall
    names = ("micro_f1", "macro_f1", "weighted_f1", "samples_f1", "exact_match")
    assert {found[name].value for name in names} == {1.0}


def test_a_test_set_that_is_the_training_set_gives_no_figures(run, toy_records):
    lines = [json.dumps(record_fields(record)) for record in toy_records]
    result = run("records.jsonl", "\n".join(lines))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "was trained on every one of 9 labelled records" in result.stderr
