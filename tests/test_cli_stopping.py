"""Being told to stop: nothing half is left, and the exit code says by what."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

LINE = '{"id": "%d", "title": "Adam, an optimizer", "abstract": "We study energy."}\n'


def stop(number, *words, cwd):
    """Run a command on input without an end, and stop it once it writes."""
    program = [sys.executable, "-c", "from tagger.cli import main; main()", *words]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(program, cwd=cwd, **pipes) as process:
        try:
            process.stdin.writelines((LINE % n).encode() for n in range(8000))
            process.stdin.flush()
            deadline = time.monotonic() + 60
            while not any(path.name.endswith(".part") for path in cwd.iterdir()):
                assert time.monotonic() < deadline, process.poll()
                time.sleep(0.02)
            process.send_signal(number)
            said = process.stderr.read().decode()
            return process.wait(60), said
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_run_that_is_stopped_leaves_the_old_file_and_nothing_beside_it(
    number, code, tmp_path, tiny_dir
):
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    words = ("tag", "-", "-o", str(out), "-m", str(tiny_dir), "--overwrite")
    words += ("--format", "jsonl")
    assert stop(number, *words, cwd=tmp_path) == (code, "")
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
    assert out.read_text() == "mine"


def test_what_the_shell_ignores_stays_ignored(tmp_path):
    program = (
        "import os, signal\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from tagger.cli.stopping import stopped_by_signals\n"
        "with stopped_by_signals():\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "    print('goes on')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "goes on\n")


def test_handlers_are_put_back(tmp_path):
    from tagger.cli.stopping import stopped_by_signals

    before = signal.getsignal(signal.SIGTERM)
    with stopped_by_signals():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
