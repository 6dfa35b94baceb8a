"""`tagger evaluate`."""

import json
from dataclasses import asdict

import jsonschema
import pytest
from click.testing import CliRunner

from tagger.cli import main
from tagger.cli.typed import RANGES
from tagger.records import record_fields
from tagger.report import report_schema
from tagger.training import Settings

NEW = [
    {"id": "n1", "title": "An optimizer with momentum", "themes": ["optimizers"]},
    {"id": "n2", "title": "FP8 for all", "themes": ["low-precision"]},
    {"id": "n3", "title": "Energy of a game", "themes": [], "unsure": ["potentials"]},
    {"id": "n4", "title": "Nobody labelled this"},
]


@pytest.fixture
def evaluate(tiny_dir, tmp_path):
    """Run the command on the tiny model and some records."""

    def run(records, *args, model=True):
        lines = "\n".join(json.dumps(record) for record in records)
        (tmp_path / "labelled.jsonl").write_text(lines, "utf-8")
        words = ["evaluate", str(tmp_path / "labelled.jsonl"), *map(str, args)]
        words += ["-m", str(tiny_dir)] if model else []
        return CliRunner().invoke(main, words)

    return run


def test_new_records_are_scored_and_the_figures_written(evaluate, tmp_path):
    result = evaluate(NEW, "--json", tmp_path / "figures.json")
    assert result.exit_code == 0
    assert "optimizers" in result.stdout
    assert result.stderr.startswith("read 4, used 4, skipped 0")
    figures = json.loads((tmp_path / "figures.json").read_text("utf-8"))
    jsonschema.validate(figures, report_schema())
    assert figures["evaluation"]["records"] == 3
    assert figures["evaluation"]["labels"] == 2
    assert figures["evaluation"]["unsure_pairs"] == 1
    assert figures["overlaps"] == []
    assert [row["theme"] for row in figures["evaluation"]["themes"]] == [
        "optimizers",
        "low-precision",
        "potentials",
    ]
    row = figures["evaluation"]["themes"][0]
    assert (row["support"], row["given"], row["right"]) == (1, 1, 1)
    assert row["f1"]["value"] == 1.0
    assert figures["evaluation"]["overall"]["micro_f1"]["value"] == 1.0
    baselines = figures["evaluation"]["baselines"]
    assert list(baselines) == ["nothing", "most frequent theme", "keyword rules"]


def test_records_of_the_training_are_left_out_and_counted(evaluate, toy_records):
    seen = [record_fields(toy_records[0]), record_fields(toy_records[1])]
    result = evaluate(seen + NEW)
    assert result.exit_code == 0
    assert result.stderr.splitlines()[:3] == [
        "2 labelled records were in a model's training, or another version or "
        "near-copy was; they are left out of the figures:",
        "  r0 (exact of r0)",
        "  r1 (exact of r1)",
    ]
    assert result.stdout.splitlines()[2].startswith("3 records, 3 themes, 2 labels")


def test_figures_with_seen_records_stand_beside_if_asked_for(evaluate, toy_records):
    seen = [record_fields(toy_records[0])]
    result = evaluate(seen + NEW, "--keep-seen")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[2].startswith("3 records, 3 themes, 2 labels")
    assert (
        "with the records it was trained on (4 in all, not to be trusted): micro"
        in (result.stdout)
    )


def test_figures_of_seen_records_alone_say_that_they_flatter(evaluate, toy_records):
    result = evaluate([record_fields(toy_records[0])], "--keep-seen")
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "The model was trained on every one of these records: the figures flatter it"
    )


def test_a_model_is_not_scored_on_its_training_records_alone(evaluate, toy_records):
    result = evaluate([record_fields(record) for record in toy_records])
    assert (result.exit_code, result.stdout) == (1, "")
    last = result.stderr.splitlines()[-1]
    assert last.startswith("Error: The model was trained on every one of 9 lab")


def test_records_without_labels_are_one_sentence(evaluate):
    result = evaluate(NEW[3:])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: Of 1 record none is labelled; labels stand in the field 'themes' as a "
        "list of theme ids.\n"
    )


def test_an_unknown_label_is_one_sentence_with_a_hint(evaluate):
    result = evaluate([{"id": "r", "title": "a", "themes": ["potential"]}])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Did you mean 'potentials'?" in result.stderr


def test_a_theme_file_asks_for_cross_validation(
    evaluate, toy_records, toy_background, tmp_path, monkeypatch
):
    monkeypatch.setattr("tagger.training.shipped_background", lambda: toy_background)
    lines = [
        f'[[theme]]\nid = "{name}"\nname = "{name}"\nkeywords = ["{word}"]\n'
        for name, word in (
            ("optimizers", "Adam"),
            ("low-precision", "FP8"),
            ("potentials", "interatomic"),
        )
    ]
    (tmp_path / "themes.toml").write_text("".join(lines))
    records = [record_fields(record) for record in toy_records]
    options = ["--themes", tmp_path / "themes.toml", "--json", tmp_path / "f.json"]
    result = evaluate(records, *options, model=False)
    assert result.exit_code == 0
    first = "5-fold cross-validation, themes spread evenly over the folds, seed 0."
    assert result.stdout.startswith(first)
    figures = json.loads((tmp_path / "f.json").read_text("utf-8"))
    assert figures["split"].startswith(first)
    assert figures["evaluation"]["records"] == 9
    assert list(figures["evaluation"]["baselines"])[2:] == [
        "keyword rules",
        "TF-IDF + logistic regression",
    ]
    assert figures["made"]["files_sha256"].keys() == {"labelled.jsonl", "themes.toml"}
    other = evaluate(records, *options, "--compare", "penalty=1", model=False)
    assert "as given against penalty=1, paired on the same records" in other.stdout
    few = evaluate(records[:3], *options, model=False)
    assert few.stdout.startswith("3-fold cross-validation")
    asked = evaluate(records[:3], *options, "--split", "cv:5", model=False)
    assert asked.exit_code == 1
    assert (
        "3 labelled records of 3 papers cannot be split by 'cv:5'; label more papers "
        "in the field 'themes', or ask for 'cv:3'." in asked.stderr
    )
    one = evaluate(records[:1], *options, model=False)
    assert one.exit_code == 1
    assert "1 labelled record of 1 paper cannot be split by 'cv:2'; label mo" in (
        one.stderr
    )
    exclusive = evaluate(records, *options, "--exclusive", model=False)
    assert exclusive.exit_code == 1
    assert (
        "Error: 2 of 9 records do not have exactly one theme, as 'exclusive' promises: "
        "Record 'r7' (line 8) has none; Record 'r8' (line 9) has none."
        in (exclusive.stderr)
    )


def test_a_model_and_a_theme_file_cannot_both_be_given(evaluate):
    result = evaluate(NEW, "--themes", "themes.toml")
    assert result.exit_code == 2
    assert "Use just one of --model and --themes." in result.stderr


def test_the_figures_cannot_be_written_to_no_place(evaluate, tmp_path):
    result = evaluate(NEW, "--json", tmp_path / "no" / "figures.json")
    assert result.exit_code == 1
    last = result.stderr.splitlines()[-1]
    assert last.startswith("Error: Could not open file ")
    assert "figures.json" in last


@pytest.mark.parametrize(
    ("limit", "code", "sentence"),
    [
        ("micro_f1=0.9", 0, ""),
        (
            "precision_at_3=0.4",
            1,
            "Error: precision_at_3 is 0.3333, under 0.4: --fail-under asks for more.",
        ),
        ("rest=0.9", 2, "'rest' is no figure with a lower limit; choose one of micro_"),
        ("Micro F1=0.9", 2, "a lower limit; did you mean 'micro_f1'?"),
        ("hamming_loss=0.1", 2, "'hamming_loss' is no figure with a lower limit"),
        ("=0.5", 2, "'=0.5' names no figure; expected one and its least value, like "),
        ("micro_f1", 2, "'micro_f1' is not like 'micro_f1=0.85'."),
        ("micro_f1=", 2, "'micro_f1=' is not like 'micro_f1=0.85'."),
        ("micro_f1=nan", 2, "'micro_f1=nan' is not like 'micro_f1=0.85'."),
        ("micro_f1=-inf", 2, "'micro_f1=-inf' is not like 'micro_f1=0.85'."),
        ("micro_f1=-0.1", 2, "is out of range: every figure is from 0 to 1."),
        ("micro_f1=85", 2, "from 0 to 1; did you mean micro_f1=0.85?"),
    ],
)
def test_a_figure_under_its_limit_fails_with_a_sentence(
    evaluate, limit, code, sentence
):
    result = evaluate(NEW, "--fail-under", limit)
    assert result.exit_code == code
    assert sentence in " ".join(result.stderr.split())


def test_of_two_limits_the_higher_counts(evaluate):
    limits = ["--fail-under", "precision_at_3=0.4", "--fail-under", "precision_at_3=0"]
    assert evaluate(NEW, *limits).exit_code == 1


def test_an_undefined_figure_is_under_every_limit(evaluate):
    result = evaluate(NEW[2:3], "--fail-under", "micro_f1=0")
    assert result.exit_code == 1
    assert "micro_f1 is undefined, under 0" in result.stderr


def test_a_report_is_three_files(evaluate, tmp_path):
    result = evaluate(NEW, "--report", tmp_path / "report")
    assert result.exit_code == 0
    assert f"The report is {tmp_path / 'report' / 'report.html'}" in result.stdout
    names = sorted(path.name for path in (tmp_path / "report").iterdir())
    assert names == ["report.html", "report.json", "report.md"]


def test_a_model_is_compared_with_another_on_records_neither_saw(
    evaluate, tiny_dir, toy_records
):
    seen = [record_fields(toy_records[0])]
    result = evaluate(seen + NEW, "--compare", tiny_dir)
    assert result.exit_code == 0
    assert "the tags of 0 records differ" in result.stdout
    assert "r0 (exact of r0)" in result.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--split", "cv:5"], "train anew, which needs --themes."),
        (["--repeat", "2"], "train anew, which needs --themes."),
        (["--cluster", "local"], "train anew, which needs --themes."),
        (["--themes", "t.toml", "--split", "cv"], "'cv' is no split; expected 'cv:5'"),
        (["--themes", "t.toml", "--split", "cv:1"], "'cv:1' is no split"),
        (["--themes", "t.toml", "--keep-seen"], "--keep-seen is about a saved model"),
        (
            ["--themes", "t.toml", "--split", "time:2025", "--repeat", "3"],
            "A split by time is the same every time",
        ),
        (["--compare", "penalty=1"], "names settings, which train anew and need --th"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(evaluate, words, sentence):
    result = evaluate(NEW, *words, model=False)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ("x=1", "names 'x', which is no setting; choose one of penalty, caution"),
        (
            "penality=1",
            "names 'penality', which is no setting; did you mean 'penalty'?",
        ),
        ("penalty=a", "penalty the value 'a'; expected a number above 0."),
        ("penalty=nan", "penalty the value 'nan'; expected a number above 0."),
        ("penalty=inf", "penalty the value 'inf'; expected a number above 0."),
        ("penalty=0", "penalty the value '0'; expected a number above 0."),
        ("caution=-1", "caution the value '-1'; expected a number from 0 on."),
        ("title_alone=2", "title_alone the value '2'; expected a number from 0 to 1."),
        ("folds=1", "folds the value '1'; expected a whole number from 2 on."),
        ("folds=2.5", "folds the value '2.5'; expected a whole number from 2 on."),
        ("penalty=1,semantic", "holds 'semantic', which is not like 'penalty=0.01'."),
        ("penalty=1,penalty=2", "gives penalty twice; give it once."),
    ],
)
def test_settings_that_cannot_be_are_wrong_usage(evaluate, other, sentence):
    words = ["--themes", "shipped", "--compare", other]
    result = evaluate(NEW, *words, model=False)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())


def test_every_setting_has_a_range_that_holds_its_usual_value():
    usual = asdict(Settings())
    assert usual.keys() == RANGES.keys()
    assert all(RANGES[name][1](value) for name, value in usual.items())


@pytest.mark.parametrize(
    ("years", "said"),
    [
        ([2024, None, 2025, 2025], "1 labelled record has no year, and so is neither"),
        ([2024, None, None, 2025], "2 labelled records have no year, and so are neith"),
        ([None] * 4, "the years in the records are none. 4 records have no year; give"),
        ([2024, 2024, None, 2025], ""),
    ],
)
def test_records_without_a_year_are_told_of_in_a_split_by_time(
    evaluate, toy_records, toy_background, monkeypatch, years, said
):
    monkeypatch.setattr("tagger.training.shipped_background", lambda: toy_background)
    monkeypatch.setattr("tagger.review.simple_decisions", lambda *_: {})
    records = [
        {**record_fields(record), "year": year}
        for record, year in zip(toy_records, years, strict=False)
    ]
    words = ["--themes", "shipped", "--split", "time:2025"]
    for record in records:
        record["themes"] = []
    result = evaluate(records, *words, model=False)
    assert said in " ".join(result.stderr.split())
