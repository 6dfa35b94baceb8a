"""What all commands share: help, errors, exit codes, pipes."""

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tagger.cli import main
from tagger.errors import RecordError

COMMANDS = ["predict", "tag", "train", "evaluate", "inspect", "info"]


def run(*args, **options):
    return CliRunner().invoke(main, list(map(str, args)), **options)


def test_the_commands_stand_in_the_order_of_work():
    shown = re.findall(r"^  ([a-z]+)  ", run("--help").stdout, re.MULTILINE)
    assert shown == COMMANDS


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_help_ends_in_examples_that_stand_on_their_own_lines(command):
    result = run(*([command] if command else []), "-h")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    at = lines.index("  Examples:")
    examples = lines[at + 1 : lines.index("", at)]
    assert len(examples) >= 2
    wanted = rf"    (cat .* \| |gunzip .* \| )?tagger {command or '[a-z]+'}\b"
    assert all(re.match(wanted, line) for line in examples)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_name_options_that_exist(command):
    text = run(command, "--help").stdout
    examples, options = text.split("Options:")
    for option in re.findall(r"(?<=\s)--?[a-z-]+", examples.split("Examples:")[1]):
        if f"tagger {command}" in examples and option not in ("-c", "-"):
            assert option in options or option == "-m"


def test_the_version_is_printed():
    result = run("--version")
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", result.stdout)


def test_an_unknown_command_or_option_is_wrong_usage():
    assert run("guess").exit_code == 2
    assert run("predict", "--nay").exit_code == 2


@pytest.mark.parametrize("command", ["predict", "inspect", "evaluate", "train"])
def test_a_file_that_is_missing_is_one_sentence(command, tiny_dir, tmp_path):
    options = {"predict": ["-m", tiny_dir], "evaluate": ["-m", tiny_dir]}
    options["train"] = ["-o", tmp_path / "new"]
    result = run(command, tmp_path / "no.jsonl", *options.get(command, []))
    assert (result.exit_code, result.stdout) == (1, "")
    assert re.fullmatch(r"Error: .*no\.jsonl.*\.\n", result.stderr)


@pytest.mark.parametrize("command", ["predict", "evaluate", "info"])
def test_a_model_that_is_missing_is_one_sentence(command, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"title": "a"}\n')
    files = [] if command == "info" else [tmp_path / "a.jsonl"]
    result = run(command, *files, "-m", tmp_path / "no")
    message = f"Error: There is no model at {tmp_path / 'no'}; train one, or check"
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{message} the path.\n"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("abstract", "'abstract' is not like 'abstract=summary'."),
        ("=x", "'=x' is not like 'abstract=summary'."),
        ("abstrct=x", "The mapping names the field 'abstrct'; a record has the"),
    ],
)
def test_a_wrong_mapping_is_wrong_usage(value, message, tmp_path):
    result = run("inspect", tmp_path / "a.csv", "--map", value)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Error: Invalid value for '--map': {message}" in result.stderr


def test_an_unknown_format_is_one_sentence(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"title": "a"}\n')
    result = run("inspect", tmp_path / "a.jsonl", "--format", "jsonlines")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: The format 'jsonlines' is not known;")


def test_a_mistake_of_ours_keeps_its_traceback(monkeypatch):
    def broken(_):
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("tagger.model.load", broken)
    result = run("info")
    assert isinstance(result.exception, ZeroDivisionError)


def test_what_the_user_can_mend_has_no_traceback(monkeypatch):
    def refuse(_):
        raise RecordError("Mend this.")

    monkeypatch.setattr("tagger.model.load", refuse)
    result = run("info")
    assert (result.exit_code, result.stderr) == (1, "Error: Mend this.\n")


def test_ctrl_c_ends_quietly(monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tagger.model.load", interrupt)
    result = run("info")
    assert (result.exit_code, result.stdout.strip()) == (130, "")


def test_a_closed_pipe_ends_quietly(tiny_dir, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"title": "Adam"}\n' * 3000)
    program = "from tagger.cli import main; main()"
    command = [sys.executable, "-c", program, "predict", "-m", str(tiny_dir)]
    with subprocess.Popen(
        [*command, str(tmp_path / "a.jsonl")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline().startswith(b'{"id"')
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
