"""How far a command is: a line on a terminal, nothing anywhere else."""

import itertools

import pytest
from click.testing import CliRunner

from tagger.cli import main
from tagger.cli.progress import progress_line

LINES = "".join(f'{{"id": "{n}", "title": "Adam, an optimizer"}}\n' for n in range(9))


@pytest.fixture
def file(tmp_path):
    (tmp_path / "a.jsonl").write_text(LINES)
    return str(tmp_path / "a.jsonl")


@pytest.fixture
def run(tiny_dir):
    """Run a command on the tiny model."""

    def command(*words):
        return CliRunner().invoke(main, [*words, "-m", str(tiny_dir)], color=True)

    return command


@pytest.fixture
def terminal(monkeypatch):
    """Make standard error a terminal on which each look at the clock is a second."""
    clock = itertools.count()
    monkeypatch.setattr("tagger.cli.progress.time.monotonic", lambda: next(clock))
    monkeypatch.setattr("tagger.cli.progress._is_terminal", lambda: True)


@pytest.mark.parametrize(
    ("seconds", "share", "line"),
    [
        (2.0, None, "f: 1,000 records, 500/s"),
        (2.0, 1.0, "f: 1,000 records, 500/s"),
        (2.0, 0.5, "f: 1,000 records, 500/s, 50 %, 2 s left"),
        (60.0, 0.1, "f: 1,000 records, 17/s, 10 %, 9:00 left"),
        (60.0, 0.004, "f: 1,000 records, 17/s, 0 %, 4:09:00 left"),
    ],
)
def test_the_line_says_how_much_how_fast_and_what_is_left(seconds, share, line):
    assert progress_line("f", 1000, seconds, share) == line


@pytest.mark.parametrize("words", [["predict"], ["tag", "-o", "-"]])
def test_nothing_is_shown_off_a_terminal(run, file, words):
    assert "/s" not in run(*words, file).stderr


@pytest.mark.parametrize("words", [["predict"], ["tag", "-o", "-"]])
def test_progress_is_shown_on_a_terminal_and_gone_at_the_end(
    run, file, words, terminal
):
    shown = run(*words, file).stderr
    assert "\ra.jsonl: 9 records, 1/s" in shown
    assert "\r\x1b[K" in shown
    assert "read 9, used 9" in shown.rpartition("\x1b[K")[2]


@pytest.mark.parametrize("words", [["predict"], ["tag", "-o", "-"]])
def test_quiet_says_nothing_on_any_stream_but_the_data(run, file, words, terminal):
    result = run(*words, file, "-q")
    assert (result.exit_code, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) == 9
    assert "Error" in run(*words, f"{file}.none", "--quiet").stderr


def test_the_time_left_is_known_where_the_size_of_the_file_is(run, tmp_path, terminal):
    # Larger than what is read at once.
    (tmp_path / "large.jsonl").write_text(LINES * 2000)
    large = str(tmp_path / "large.jsonl")
    shown = run("tag", large, "-o", str(tmp_path / "out.jsonl")).stderr
    assert "%, " in shown
    assert " left" in shown


def test_lines_on_the_same_terminal_are_progress_enough(
    run, file, terminal, monkeypatch
):
    stdout = "click.testing._NamedTextIOWrapper.isatty"
    monkeypatch.setattr(stdout, lambda _: True, raising=False)
    assert "/s" not in run("predict", file).stderr
    assert "/s" not in run("tag", file, "--dry-run").stderr
