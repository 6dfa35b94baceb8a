"""A data set tagged on a real Dask cluster: a scheduler and two workers, here."""

import json
import pickle
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from tagger.cli import main
from tagger.cluster import connected
from tagger.errors import ClusterError

N_PARTS, N_RECORDS = 6, 3000
WAIT = 90.0


def python(*words, **options):
    return [sys.executable, *words], {"stderr": subprocess.DEVNULL, **options}


def wait_for(found):
    """Wait until something is so, and give it."""
    deadline = time.monotonic() + WAIT
    while not (value := found()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return value


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Give the address of a scheduler, and its two worker processes."""
    pytest.importorskip("distributed", reason="needs Dask: paper-tagger[dask]")
    file = tmp_path_factory.mktemp("cluster") / "scheduler.json"
    here = ["--host", "127.0.0.1", "--no-dashboard"]
    scheduler = ["-m", "distributed.cli.dask_scheduler", "--port", "0", *here]
    worker = ["-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny"]
    started = []

    def start(*words):
        line, options = python(*words)
        started.append(subprocess.Popen(line, **options))

    try:
        start(*scheduler, "--scheduler-file", str(file))
        wait_for(file.exists)
        address = wait_for(lambda: read_address(file))
        for _ in range(2):
            start(*worker, *here, address)
        yield address, started[1:]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def read_address(file):
    try:
        return json.loads(file.read_text())["address"]
    except ValueError:
        return None


@pytest.fixture
def parts(tmp_path):
    """Give a folder of parts, large enough that a worker is met in the midst of one."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for n in range(N_PARTS):
        lines = [
            json.dumps(
                {"id": f"{n}-{i}", "title": "Adam", "abstract": "We study 4-bit."}
            )
            for i in range(N_RECORDS)
        ]
        (folder / f"part-{n}.jsonl").write_text("\n".join(lines) + "\noops\n")
    return folder


def test_training_on_a_cluster_gives_the_same_model(
    cluster, tmp_path, toy_records, toy_themes, toy_background, tiny_dir
):
    address, _ = cluster
    (tmp_path / "given").write_bytes(
        pickle.dumps((toy_records, toy_themes, toy_background))
    )
    program = f"""
import os, pickle, sys
from distributed import get_client
from joblib import Parallel, delayed
import tagger
from tagger.cluster import spread
from tagger.training import train_held_out

records, themes, background = pickle.load(open({str(tmp_path / "given")!r}, "rb"))
with spread({address!r}):
    get_client().wait_for_workers(2)
    ids = Parallel(n_jobs=2, prefer="threads")(delayed(os.getpid)() for _ in range(4))
    model, _ = train_held_out(records, themes, background=background, jobs=2)
tagger.save(model, {str(tmp_path / "tiny")!r})
print(os.getpid() in ids)
"""
    line, _ = python("-c", program)
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.stdout == "False\n", done.stderr
    assert bytes_in(tmp_path / "tiny") == bytes_in(tiny_dir)


def test_a_worker_killed_in_mid_run_leaves_nothing_out_and_nothing_twice(
    cluster, parts, tiny_dir, tmp_path
):
    address, (first, _) = cluster
    out, plain, names = tmp_path / "out", tmp_path / "plain", tmp_path / "skipped"
    words = ["tag", str(parts), "-m", str(tiny_dir), "--date", "2026-01-31", "-o"]
    line, options = python("-c", "from tagger.cli import main; main()", *words)
    line += [str(out), "--cluster", address, "--skipped", str(names)]
    with subprocess.Popen(line, **options | {"stderr": subprocess.PIPE}) as run:
        work, accounts = out / ".tagger" / "work", out / ".tagger" / "parts"
        # Both workers have begun a part, and one part is done.
        wait_for(
            lambda: accounts.is_dir() and any(accounts.iterdir()) and both_busy(work)
        )
        first.send_signal(signal.SIGKILL)
        said = run.stderr.read().decode()
        assert run.wait(WAIT) == 0, said
    assert f"{N_PARTS} parts: {N_PARTS} tagged, 0 done before, 0 not tagged" in said
    n_used = N_PARTS * N_RECORDS
    assert said.splitlines()[-1] == (
        f"read {n_used + N_PARTS:,}, used {n_used:,}, skipped {N_PARTS} "
        f"({N_PARTS} not JSON)"
    )
    skipped = [json.loads(line) for line in names.read_text().splitlines()]
    assert [(s["file"], s["line"]) for s in skipped] == [
        (str(parts / f"part-{n}.jsonl"), N_RECORDS + 1) for n in range(N_PARTS)
    ]
    assert CliRunner().invoke(main, [*words, str(plain)]).exit_code == 0
    assert bytes_in(out) == bytes_in(plain)
    assert not work.exists()


def both_busy(work):
    return work.is_dir() and len([*work.glob("*/.*.part")]) == 2


def bytes_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def run(tiny_dir):
    def tag(*words):
        return CliRunner().invoke(main, ["tag", "-m", str(tiny_dir), *map(str, words)])

    return tag


def test_a_run_goes_on_where_another_stopped_and_counts_what_that_did(
    run, tmp_path, tiny_dir, monkeypatch
):
    from tagger.autotag import model_id
    from tagger.dataset import Plan, parts_of, tag_part

    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for n in range(2):
        (folder / f"{n}.jsonl").write_text('{"id": "a", "title": "Adam"}\noops\n')
    how = Plan(str(out), str(tiny_dir), model_id(tiny_dir), "2026-01-31")
    todo, _ = parts_of(str(folder), str(out))
    tag_part(how, todo[0])
    # A cluster that does each part when it is asked for.
    monkeypatch.setattr("tagger.cluster.connected", lambda *_, **__: here())
    monkeypatch.setattr(
        "tagger.cluster._tagged",
        lambda _, __, how, parts: ((part, tag_part(how, part), None) for part in parts),
    )
    result = run(folder, "-o", out, "--cluster", "x", "--skipped", tmp_path / "names")
    assert result.stderr.splitlines() == [
        "2 parts: 1 tagged, 1 done before, 0 not tagged",
        "2 tagged, 2 abstained (unusable)",
        "read 4, used 2, skipped 2 (2 not JSON)",
    ]
    assert len((tmp_path / "names").read_text().splitlines()) == 2
    # The day of the first run, so that the output is that of one run.
    assert "2026-01-31" in (out / "1.jsonl").read_text()
    again = run(folder, "-o", out, "--cluster", "x", "--strict")
    assert again.stderr.startswith("2 parts: 0 tagged, 2 done before, 0 not tagged\n")
    assert again.stderr.endswith(
        "Error: 2 records were skipped, and --strict is given.\n"
    )
    assert run(folder, "-o", out, "--cluster", "x", "-q").stderr == ""


def here():
    from contextlib import nullcontext

    return nullcontext()


def test_a_part_that_cannot_be_tagged_does_not_stop_the_others(
    run, tmp_path, monkeypatch
):
    monkeypatch.setattr("tagger.cluster.connected", lambda *_, **__: here())
    monkeypatch.setattr(
        "tagger.cluster._tagged",
        lambda _, __, how, parts: ((part, None, "it rained.") for part in parts),
    )
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text('{"title": "Adam"}\n{"title": "b"}\n')
    result = run(tmp_path / "in", "-o", tmp_path / "out", "--cluster", "x")
    assert result.exit_code == 1
    assert f"{tmp_path / 'in' / 'a.jsonl'}: not tagged: it rained.\n" in result.stderr
    assert result.stderr.endswith("Error: 1 of the parts could not be tagged.\n")


def test_without_dask_a_sentence_says_how_to_install_it(monkeypatch):
    from tagger.cluster import connected

    monkeypatch.setitem(sys.modules, "distributed", None)
    match = r'which is not installed here; install it with: pip install "paper-tagger'
    with pytest.raises(ClusterError, match=match), connected("tcp://127.0.0.1:1"):
        pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense"])
def test_an_address_that_nobody_answers_is_a_sentence_in_bounded_time(address):
    pytest.importorskip("distributed", reason="needs Dask: paper-tagger[dask]")
    program = (
        "import tagger.cluster as c\n"
        "c.PATIENCE = 1.0\n"
        f"with c.connected({address!r}):\n    pass\n"
    )
    line, options = python("-c", program)
    began = time.monotonic()
    done = subprocess.run(line, **options | {"stderr": subprocess.PIPE}, check=False)
    assert time.monotonic() - began < 30
    assert (
        f"ClusterError: No Dask scheduler answers at {address!r} within 1 "
        "seconds; check the address, such as tcp://10.0.0.1:8786, and that it runs."
    ) in done.stderr.decode()


@pytest.mark.parametrize(
    "words", [["--update"], ["--dry-run"], ["b"]], ids=lambda words: words[0]
)
def test_what_does_not_go_with_a_cluster_is_wrong_usage(run, words):
    result = run("a", "-o", "out", "--cluster", "local", *words)
    assert result.exit_code == 2
    assert "--cluster takes one folder and writes it whole." in result.stderr


def test_local_workers_that_do_not_start_are_told_in_a_sentence(monkeypatch):
    def refuse(*_, **__):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr("distributed.LocalCluster", refuse)
    with (
        pytest.raises(ClusterError, match=r"2 local workers did not start \(Nanny"),
        connected("local", workers=2),
    ):
        pass
