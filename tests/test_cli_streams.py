"""Closed, full and cut-off streams: one sentence or quiet, and the usual code."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")

PROGRAM = f"{sys.executable} -c 'from tagger.cli import main; main()' "


def shell(command, root, **options):
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", PROGRAM + command],
        cwd=root,
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        **options,
    )


COMMANDS = ["--help", "predict -h", "--version", "inspect seeds/example-abstract.txt"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("where", "reason"),
    [(">&-", "bad file descriptor"), (">/dev/full", "no space left on device")],
)
def test_an_output_that_takes_nothing_is_one_sentence(root, command, where, reason):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    done = shell(f"{command} {where}", root)
    assert done.returncode == 1
    assert done.stderr.decode() == f"Error: The output cannot be used: {reason}.\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_goes_away_ends_it_quietly(root, command):
    done = shell(f"{command} | head -c 0", root)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr in (b"", b"read 1, used 1, skipped 0\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_messages_to_a_closed_error_stream_are_lost_and_nothing_else(root, command):
    done = shell(f"{command} 2>&-", root)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


def test_wrong_usage_keeps_its_code_when_nobody_hears_of_it(root):
    assert shell("guess <&- >&- 2>&-", root).returncode == 2


@pytest.mark.parametrize("command", ["predict", "inspect"])
def test_a_closed_input_is_one_sentence(root, command):
    done = shell(f"{command} - <&-", root)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"Error: stdin cannot be read: bad file descriptor.\n"


def test_a_file_opened_while_the_output_is_closed_does_not_become_it(root, tmp_path):
    skipped = tmp_path / "skipped"
    done = shell(f"predict seeds/example-abstract.txt --skipped {skipped} >&-", root)
    assert done.returncode == 1
    assert not skipped.exists()


def test_what_goes_into_a_pipe_is_utf_8_whatever_the_system_says(root, tmp_path):
    name = b"caf\xe9-\xce\xbc.txt"
    with open(os.fsencode(tmp_path) + b"/" + name, "wb") as out:
        out.write("μP: scaling of large models\n\nWe scale models.".encode())
    env = {**os.environ, "PYTHONIOENCODING": "cp1252", "LC_ALL": "C"}
    done = shell(f"inspect {tmp_path}/caf*", root, env=env)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("utf-8")
    assert '"title": "μP: scaling of large models"' in text
    assert '"file": "caf\\udce9-μ.txt"' in text


@pytest.mark.parametrize(
    ("where", "code", "last"),
    [
        (">&-", 1, "Error: The output cannot be used: bad file descriptor.\n"),
        (
            ">/dev/full",
            1,
            "Error: The output cannot be used: no space left on device.\n",
        ),
        ("| head -c 0", 0, ""),
    ],
)
def test_a_model_that_was_written_is_told_of_where_nothing_can_be_printed(
    root, tmp_path, where, code, last
):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    themes, out = tmp_path / "themes.toml", tmp_path / "mine"
    themes.write_text('[[theme]]\nname = "A"\nkeywords = ["Adam"]\n')
    done = shell(f"train --themes {themes} -o {out} {where}", root)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr.decode() == f"The model is in {out} all the same.\n{last}"
    assert (out / "manifest.json").is_file()


@pytest.mark.parametrize(
    ("where", "code", "last"),
    [
        (
            "| head -c 0",
            0,
            "read 1, used 1, skipped 0. 1 record without an abstract.\n",
        ),
        (">&-", 1, "Error: The output cannot be used: bad file descriptor.\n"),
    ],
)
def test_a_report_is_written_where_nothing_can_be_printed(
    root, tmp_path, where, code, last
):
    labelled, report = tmp_path / "labelled.jsonl", tmp_path / "report"
    labelled.write_text('{"title": "A new optimizer", "themes": ["optimizers"]}\n')
    words = f"evaluate {labelled} --report {report} --json {tmp_path}/all.json"
    done = shell(f"{words} {where}", root)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr.decode() == last
    assert (report / "report.html").is_file()
    assert (tmp_path / "all.json").is_file()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("evaluate {} --fail-under micro_f1=0.9", "--fail-under asks for more"),
        ("evaluate {} --strict", "1 record was skipped, and --strict is given."),
        ("train {} -o {}.model --strict", "1 record was skipped, and --strict is"),
    ],
)
def test_a_reader_that_goes_away_takes_no_gate_with_it(root, tmp_path, command, said):
    labelled = tmp_path / "labelled.jsonl"
    labelled.write_text(
        '{"title": "A new optimizer", "themes": ["llm-agents"]}\noops\n'
    )
    done = shell(f"{command.format(labelled, labelled)} | head -c 0", root)
    assert done.returncode == 1
    assert said in done.stderr.decode()
