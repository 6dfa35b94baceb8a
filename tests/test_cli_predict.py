"""`tagger predict`."""

import gzip
import json

import pytest
from click.testing import CliRunner

from tagger.cli import main

LINES = (
    '{"id": "a", "title": "Adam, an optimizer"}\n'
    '{"id": "b", "title": "The \\\\textit{FP8}\\n format", "abstract": "4-bit codes"}\n'
    "oops\n"
    '{"id": "d", "abstract": ""}\n'
    '{"id": "e", "title": "A story of energy"}\n'
)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "new.jsonl").write_text(LINES, "utf-8")
    return tmp_path / "new.jsonl"


@pytest.fixture
def predict(tiny_dir):
    """Run the command on the tiny model."""

    def run(*args, **options):
        words = ["predict", "-m", str(tiny_dir), *map(str, args)]
        return CliRunner().invoke(main, words, **options)

    return run


def objects(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_pipe_gets_one_object_a_record_in_order(predict, file):
    result = predict(file)
    found = objects(result)
    for item in found:
        for tag in item["tags"]:
            assert 0.5 < tag.pop("probability") <= 1
    problem = found[2].pop("problem")
    assert problem.startswith("new.jsonl:3: this is not JSON")
    assert found == [
        {"id": "a", "title": "Adam, an optimizer", "status": "tagged", "reason": None,
         "tags": [{"theme": "optimizers"}]},
        {"id": "b", "title": "The \\textit{FP8}\n format", "status": "tagged",
         "reason": None, "tags": [{"theme": "low-precision"}]},
        {"id": "new.jsonl:3", "title": None, "status": "abstained",
         "reason": "unusable", "tags": []},
        {"id": "d", "title": None, "status": "abstained", "reason": "no_text",
         "tags": []},
        {"id": "e", "title": "A story of energy", "status": "none", "reason": None,
         "tags": []},
    ]  # fmt: skip
    assert list(found[0]) == ["id", "title", "status", "reason", "tags"]
    assert result.exit_code == 0


def test_the_summary_goes_to_standard_error(predict, file):
    assert predict(file).stderr.startswith(
        "read 5, used 4, skipped 1 (1 not JSON). 2 records without an abstract."
    )


def test_all_adds_the_probability_of_every_theme(predict, file, tiny):
    found = objects(predict(file, "--all"))
    assert list(found[0]["probabilities"]) == list(tiny.theme_ids)
    assert all(0 <= p <= 1 for p in found[0]["probabilities"].values())
    assert found[2]["probabilities"] == {}
    assert "probabilities" not in objects(predict(file))[0]


def test_evidence_names_stretches_of_the_record(predict, file):
    tag = objects(predict(file, "--evidence"))[1]["tags"][0]
    assert list(tag) == ["theme", "probability", "evidence"]
    for item in tag["evidence"]:
        assert item.pop("contribution") > 0
    assert tag["evidence"] == [
        {"field": "title", "start": 12, "end": 15, "text": "FP8"},
        {"field": "abstract", "start": 0, "end": 5, "text": "4-bit"},
    ]


def test_strict_makes_a_skipped_record_an_error(predict, file):
    result = predict(file, "--strict")
    assert result.exit_code == 1
    assert len(objects(result)) == 5
    last = "Error: 1 records were skipped, and --strict is given."
    assert result.stderr.splitlines()[-1] in (
        last,
        last.replace("records were", "record was"),
    )


def test_strict_is_content_with_a_clean_file(predict, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"title": "Adam"}\n')
    assert predict(tmp_path / "a.jsonl", "--strict").exit_code == 0


def test_standard_input_is_the_default(predict):
    for args in ([], ["-"]):
        result = predict(*args, input='{"id": "a", "title": "Adam"}\n')
        assert objects(result)[0]["tags"][0]["theme"] == "optimizers"


def test_an_abstract_is_a_file_of_text(predict, tmp_path):
    (tmp_path / "abstract.txt").write_text("A faster optimizer\n\nWe study Adam.\n")
    (found,) = objects(predict(tmp_path / "abstract.txt"))
    assert (found["title"], found["status"]) == ("A faster optimizer", "tagged")


def test_packed_and_several_files_come_one_after_the_other(predict, file, tmp_path):
    packed = tmp_path / "more.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"id": "z", "title": "FP8"}\n'))
    result = predict(packed, file)
    assert [found["id"] for found in objects(result)][:2] == ["z", "a"]
    assert result.stderr.startswith("read 6, used 5, skipped 1")


def test_a_field_may_have_another_name(predict, tmp_path):
    (tmp_path / "a.csv").write_text("key,heading,notes\n7,Adam,none\n")
    (found,) = objects(predict(tmp_path / "a.csv", "--map", "title=heading"))
    assert (found["id"], found["title"], found["status"]) == ("7", "Adam", "tagged")


def test_a_table_says_theme_probability_and_words(predict, file, tiny):
    result = predict(file, "--output", "table")
    lines = result.stdout.splitlines()
    assert lines[:4] == [
        "Adam, an optimizer",
        lines[1],
        r"The \textit{FP8} format",
        lines[3],
    ]
    assert lines[1].split() == ["optimizers", lines[1].split()[1], "Adam,", "optimizer"]
    assert lines[3].split()[2:] == ["FP8,", "4-bit"]
    assert lines[4:9] == [
        "new.jsonl:3",
        lines[5],
        "d",
        "  cannot say: no text",
        "A story of energy",
    ]
    assert lines[5].startswith("  cannot say: new.jsonl:3: this is not JSON: ")
    assert lines[9].startswith("  none of the 3 themes (nearest: potentials 0.")
    assert len(lines) == 10


def test_a_table_with_all_says_every_probability_the_highest_first(predict, file, tiny):
    lines = predict(file, "--all", "--output", "table").stdout.splitlines()
    assert lines[1].startswith("  optimizers ")
    assert {line.split()[0] for line in lines[1:4]} == set(tiny.theme_ids)
    assert [line.split()[2:] for line in lines[2:4]] == [["not", "given"]] * 2
    chances = [float(line.split()[1]) for line in lines[1:4]]
    assert chances == sorted(chances, reverse=True)
    # Of what is no record there is no probability.
    assert lines[lines.index("new.jsonl:3") + 2] == "d"


def test_a_table_with_evidence_says_how_much_each_word_speaks(predict, file):
    lines = predict(file, "--evidence", "--output", "table").stdout.splitlines()
    at = lines.index(r"The \textit{FP8} format")
    spoken = [line.split() for line in lines[at + 2 : at + 4]]
    assert [words[1:] for words in spoken] == [
        ["title:", "FP8"],
        ["abstract:", "4-bit"],
    ]
    assert all(float(words[0]) > 0 for words in spoken)


def test_text_outside_ascii_stays_as_it_is(predict):
    result = predict(input='{"id": "ü", "title": "Adam für alle 😀"}\n')
    assert '"id": "ü", "title": "Adam für alle 😀"' in result.stdout


def test_the_shipped_model_tags_the_example(shipped, root):
    result = CliRunner().invoke(
        main, ["predict", str(root / "seeds" / "example-abstract.txt")]
    )
    (found,) = objects(result)
    themes = {tag["theme"] for tag in found["tags"]}
    assert {"low-precision-training", "mixture-of-experts"} & themes


def test_a_folder_stands_for_the_files_in_it(predict, file, tmp_path):
    (tmp_path / "more.csv").write_text("id,title\n1,Adam\n")
    (tmp_path / "x.png").write_text("x")
    result = predict(tmp_path, "--skipped", tmp_path.parent / "skipped.jsonl")
    assert [item["id"] for item in objects(result)] == [
        "1", "a", "b", "new.jsonl:3", "d", "e",
    ]  # fmt: skip
    assert "left out, being of no known format: 1 file, such as " in result.stderr
    (line,) = (tmp_path.parent / "skipped.jsonl").read_text().splitlines()
    assert json.loads(line)["line"] == 3


def test_a_folder_without_records_is_refused(predict, tmp_path):
    result = predict(tmp_path)
    assert result.exit_code == 1
    assert result.stderr == f"Error: {tmp_path} holds no file of records.\n"


def test_a_file_that_is_refused_does_not_stop_the_others(predict, file, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(LINES.encode() * 999)[:-99])
    (tmp_path / "c.zip").write_bytes(b"PK\x03\x04")
    result = predict(tmp_path / "gone.txt", tmp_path)
    assert result.exit_code == 1
    assert [item["id"] for item in objects(result)][-5:] == [
        "a", "b", "new.jsonl:3", "d", "e",
    ]  # fmt: skip
    for name, why in [
        ("gone.txt", "cannot be read: no such file"),
        ("a.csv", "no column is known to hold"),
        ("b.jsonl.gz", "b.jsonl.gz"),
    ]:
        found = f"{tmp_path / name}: not read to its end: "
        (line,) = (x for x in result.stderr.splitlines() if x.startswith(found))
        assert why in line
    assert "left out, being of no known format: 1 file, such as " in result.stderr
    assert result.stderr.endswith("Error: 3 of the files could not be read.\n")


def test_a_file_alone_that_is_refused_is_said_once(predict, tmp_path):
    result = predict(tmp_path / "gone.txt")
    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: {tmp_path / 'gone.txt'} cannot be read: no such file or directory.\n"
    )


def test_standard_input_is_read_only_once(predict):
    result = predict("-", "-")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "'-' is standard input, which can be read only once" in result.stderr


def test_a_folder_with_the_name_of_standard_input_is_named_by_its_path(
    predict, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").mkdir()
    (tmp_path / "-" / "a.jsonl").write_text('{"id": "a", "title": "Adam"}\n')
    (read,) = objects(predict("-", input='{"id": "i", "title": "FP8"}\n'))
    assert read["id"] == "i"
    assert objects(predict("./-"))[0]["id"] == "a"
