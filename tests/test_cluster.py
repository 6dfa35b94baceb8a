"""Work on a real Dask cluster: a scheduler and two workers, here."""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from tagger.cli import main
from tagger.cluster import check_address, connected, spread, write_nothing
from tagger.errors import ClusterError, RecordError
from tagger.records import record_fields

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


@pytest.fixture
def place(tmp_path, toy_records, toy_background, monkeypatch):
    """Give a folder with a theme file and labelled records."""
    monkeypatch.setattr("tagger.training.shipped_background", lambda: toy_background)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "themes.toml").write_text(
        '[[theme]]\nid = "optimizers"\nname = "O"\nkeywords = ["Adam"]\n'
        '[[theme]]\nid = "low-precision"\nname = "L"\nkeywords = ["FP8"]\n'
        '[[theme]]\nid = "potentials"\nname = "P"\nkeywords = ["interatomic"]\n'
    )
    lines = [json.dumps(record_fields(record)) for record in toy_records]
    (tmp_path / "labelled.jsonl").write_text("\n".join(lines), "utf-8")
    return tmp_path


def steps_of(address):
    """Count what the scheduler has done so far."""
    with connected(address) as client:
        return client.run_on_scheduler(
            lambda dask_scheduler: dask_scheduler.transition_counter
        )


@pytest.mark.parametrize("more", [[], ["--exclusive"]], ids=["plain", "exclusive"])
def test_train_on_a_cluster_writes_the_model_that_it_writes_without(
    cluster, place, toy_records, more
):
    if more:
        lines = [json.dumps(record_fields(record)) for record in toy_records[:7]]
        (place / "labelled.jsonl").write_text("\n".join(lines), "utf-8")
    address, _ = cluster
    words = ["train", "labelled.jsonl", "--themes", "themes.toml", *more, "-o"]
    plain = CliRunner().invoke(main, [*words, "plain"])
    before = steps_of(address)
    shared = CliRunner().invoke(main, [*words, "shared", "--cluster", address])
    assert (plain.exit_code, shared.exit_code) == (0, 0), shared.stderr
    # Some steps a task; to look at them costs a few, too.
    assert steps_of(address) > before + 20 or more
    assert shared.stderr == plain.stderr
    assert shared.stdout == plain.stdout.replace("plain", "shared")
    assert bytes_in(place / "shared") == bytes_in(place / "plain")


def test_evaluate_on_a_cluster_gives_the_figures_that_it_gives_without(cluster, place):
    address, _ = cluster
    words = ["evaluate", "labelled.jsonl", "--themes", "themes.toml", "--json"]
    plain = CliRunner().invoke(main, [*words, "plain.json"])
    before = steps_of(address)
    shared = CliRunner().invoke(main, [*words, "shared.json", "--cluster", address])
    assert (plain.exit_code, shared.exit_code) == (0, 0), shared.stderr
    assert steps_of(address) > before + 20
    assert (shared.stdout, shared.stderr) == (plain.stdout, plain.stderr)
    first, second = (
        json.loads((place / f"{name}.json").read_text("utf-8"))
        for name in ("plain", "shared")
    )
    del first["made"], second["made"]  # command and seconds
    assert first == second


def test_workers_do_linear_algebra_in_one_thread_and_then_as_before(cluster):
    from joblib import Parallel, delayed

    def threads(_):
        import scipy.linalg  # noqa: F401
        from threadpoolctl import threadpool_info

        return os.getpid(), max(info["num_threads"] for info in threadpool_info())

    address, _ = cluster
    with connected(address) as client:
        usual = set(client.gather(client.map(threads, range(8), pure=False)))
    with spread(address):
        found = dict(Parallel(n_jobs=2)(delayed(threads)(n) for n in range(8)))
    assert set(found.values()) == {1}
    with connected(address) as client:
        again = set(client.gather(client.map(threads, range(8), pure=False)))
    assert {n for _, n in again} == {n for _, n in usual}


@pytest.mark.parametrize("name", ["CancelledError", "CommClosedError", "KilledWorker"])
def test_a_cluster_that_fails_in_mid_training_is_a_sentence(monkeypatch, name):
    pytest.importorskip("distributed", reason="needs Dask: paper-tagger[dask]")
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    error, sentence = {
        "CancelledError": (CancelledError(), "'tcp://x:1' went away; run the same"),
        "CommClosedError": (CommClosedError(), "'tcp://x:1' went away; run the same"),
        "KilledWorker": (KilledWorker("fit", None, 3), "Every worker that took a"),
    }[name]
    monkeypatch.setattr("tagger.cluster.connected", lambda *_, **__: here())
    monkeypatch.setattr("tagger.cluster._check_workers", lambda _: None)
    monkeypatch.setattr("tagger.cluster._one_thread_each", lambda _: here())
    monkeypatch.setattr("joblib.parallel_config", lambda **_: here())
    with pytest.raises(ClusterError, match=sentence), spread("tcp://x:1"):
        raise error


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            {"tcp://w:1": "numpy 1"},
            r"tcp://w:1 has numpy 1, and here is paper-tagger .*;",
        ),
        (ModuleNotFoundError("No module named 'tagger'"), "the workers lack what it t"),
    ],
)
def test_workers_with_another_package_are_refused(answer, sentence):
    from tagger.cluster import _check_workers

    pytest.importorskip("distributed", reason="needs Dask: paper-tagger[dask]")

    class Client:
        def run(self, _):
            if isinstance(answer, Exception):
                raise answer
            return answer

    with pytest.raises(ClusterError, match=sentence):
        _check_workers(Client())


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a /proc")
def test_an_output_that_cannot_be_written_is_told_once_in_the_beginning(
    cluster, parts, run
):
    address, _ = cluster
    result = run(parts, "-o", "/proc/tagged", "--cluster", address)
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: /proc/tagged cannot be written: no such file or directory.\n"
    )


def test_a_folder_under_a_file_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match=r"file/out cannot be written: not a direc"):
        write_nothing(str(tmp_path / "file" / "out"))
    write_nothing(str(tmp_path / "out"))
    assert not [path for path in (tmp_path / "out").iterdir() if path.name[0] != "."]


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


@pytest.fixture
def no_cluster(monkeypatch):
    """Stand in for a cluster: each part is done here when it is asked for."""
    from tagger.dataset import tag_part

    monkeypatch.setattr("tagger.cluster.connected", lambda *_, **__: here())
    monkeypatch.setattr(
        "tagger.cluster._tagged",
        lambda _, __, how, parts: ((part, tag_part(how, part), None) for part in parts),
    )


@pytest.mark.usefixtures("no_cluster")
def test_a_run_goes_on_where_another_stopped_and_counts_what_that_did(
    run, tmp_path, tiny_dir
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
    result = run(
        folder, "-o", out, "--cluster", "tcp://x:1", "--skipped", tmp_path / "names"
    )
    assert result.stderr.splitlines() == [
        "2 parts: 1 tagged, 1 done before, 0 not tagged",
        "2 tagged, 2 abstained (unusable)",
        "read 4, used 2, skipped 2 (2 not JSON). 2 records without an abstract "
        "(0.jsonl, 1.jsonl).",
    ]
    assert len((tmp_path / "names").read_text().splitlines()) == 2
    # The day of the first run, so that the output is that of one run.
    assert "2026-01-31" in (out / "1.jsonl").read_text()
    again = run(folder, "-o", out, "--cluster", "tcp://x:1", "--strict")
    assert again.stderr.startswith("2 parts: 0 tagged, 2 done before, 0 not tagged\n")
    assert again.stderr.endswith(
        "Error: 2 records were skipped, and --strict is given.\n"
    )
    assert run(folder, "-o", out, "--cluster", "tcp://x:1", "-q").stderr == ""


@pytest.mark.usefixtures("no_cluster")
def test_what_tagging_without_a_cluster_notices_is_said_with_one_too(run, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for n in range(2):
        (folder / f"{n}.jsonl").write_text(
            '{"title": "Adam"}\n{"title": NaN, "b": 1}\n'
        )
    (folder / "3.csv").write_text('{"title": "Adam"}\n')
    (folder / "picture.png").write_text("x")
    (folder / "gone.bib").symlink_to("nowhere")
    plain = run(folder, "-o", tmp_path / "plain").stderr
    shared = run(folder, "-o", tmp_path / "out", "--cluster", "tcp://x:1").stderr
    for said in (
        f"left out, being of no known format: 1 file, such as {folder}/picture.png\n",
        f"left out: 1 link that leads nowhere: {folder}/gone.bib\n",
        "3.csv was written as json, though its name says csv.",
    ):
        assert said in plain
        assert said in shared
    # What is counted is added up, part by part.
    kinds = re.findall(r"\d+ records? (with[^.]*\.)", plain)
    assert kinds
    for kind in set(kinds):
        counts = re.findall(rf"(\d+) records? {re.escape(kind)}", plain)
        assert re.findall(rf"(\d+) records? {re.escape(kind)}", shared) == [
            str(sum(map(int, counts)))
        ]
    quiet = run(folder, "-o", tmp_path / "q", "--cluster", "tcp://x:1", "-q")
    assert quiet.stderr == ""


@pytest.mark.usefixtures("no_cluster")
def test_one_part_and_one_record_are_one(run, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text("oops\n")
    result = run(file, "-o", tmp_path / "out", "--cluster", "tcp://x:1", "--strict")
    assert result.stderr.splitlines() == [
        "1 part: 1 tagged, 0 done before, 0 not tagged",
        "1 abstained (unusable)",
        "read 1, used 0, skipped 1 (1 not JSON)",
        "Error: 1 record was skipped, and --strict is given.",
    ]
    assert (tmp_path / "out" / "a.jsonl").is_file()


@pytest.mark.usefixtures("no_cluster")
def test_strict_refuses_a_nan_of_json_on_a_cluster_too(run, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"title": "Adam", "b": NaN}\n')
    words = [file, "-o", tmp_path / "out", "--cluster", "tcp://x:1", "--strict"]
    for _ in range(2):
        assert run(*words).stderr.splitlines()[-1] == (
            "Error: 1 record holds a NaN, which is no JSON, and --strict is given."
        )


def test_a_cluster_writes_a_folder_for_one_file_too(run, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"title": "Adam"}\n')
    out = tmp_path / "tagged.jsonl"
    result = run(file, "-o", out, "--cluster", "tcp://x:1")
    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: {out} is the name of a file, and --cluster writes a folder, for a "
        "single file too; give a name without such an ending, or make a folder of "
        "this name first.\n"
    )


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        ("LOCAL", " Did you mean 'local'?"),
        ("", ""),
        ("10.0.0.1", ""),
        ("nonsense", ""),
        ("tcp://", ""),
        ("a b:1", ""),
    ],
)
def test_what_is_no_address_is_told_before_any_work(run, tmp_path, address, hint):
    with pytest.raises(ClusterError, match="is no address of a cluster; expected"):
        check_address(address)
    for words in (
        ["tag", tmp_path, "-o", "out"],
        ["train"],
        ["evaluate", "a", "--themes", "shipped"],
    ):
        words = [*map(str, words), "--cluster", address]
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 2
        assert (
            f"{address!r} is no address of a cluster; expected that of a Dask "
            "scheduler, such as 'tcp://10.0.0.1:8786', or 'local' for processes on "
            f"this machine.{hint}"
        ) in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    "address",
    ["local", "tcp://10.0.0.1:8786", "tls://[::1]:1", "host:8786", "[::1]:8786"],
)
def test_addresses_of_every_kind_are_taken(address):
    check_address(address)


@pytest.mark.usefixtures("no_cluster")
def test_an_address_is_looked_at_when_all_parts_are_done_too(run, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text('{"title": "Adam"}\n')
    words = [tmp_path / "in", "-o", tmp_path / "out", "--cluster"]
    assert run(*words, "tcp://x:1").exit_code == 0
    assert run(*words, "x").exit_code == 2


def test_a_cluster_reads_no_stream_and_says_how_a_folder_of_that_name_is_written(
    run, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    said = "--cluster needs folders or URLs; '-' is a stream"
    assert f"{said}." in run("-", "-o", "out", "--cluster", "local").stderr
    (tmp_path / "-").mkdir()
    result = run("-", "-o", "out", "--cluster", "local")
    assert result.exit_code == 2
    assert f"{said} (the folder of that name is ./-)." in " ".join(
        result.stderr.split()
    )


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
    result = run(tmp_path / "in", "-o", tmp_path / "out", "--cluster", "tcp://x:1")
    assert result.exit_code == 1
    assert f"{tmp_path / 'in' / 'a.jsonl'}: not tagged: it rained.\n" in result.stderr
    assert result.stderr.endswith("Error: 1 of the parts could not be tagged.\n")


def test_without_dask_a_sentence_says_how_to_install_it(monkeypatch):
    from tagger.cluster import connected

    monkeypatch.setitem(sys.modules, "distributed", None)
    match = r'which is not installed here; install it with: pip install "paper-tagger'
    with pytest.raises(ClusterError, match=match), connected("tcp://127.0.0.1:1"):
        pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x"])
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
    "greeting", [b"", b"SSH-2.0-Example\r\n", b"HTTP/1.0 400 Bad Request\r\n\r\n"]
)
def test_a_port_that_does_not_speak_dask_is_a_sentence_in_bounded_time(
    tmp_path, greeting
):
    pytest.importorskip("distributed", reason="needs Dask: paper-tagger[dask]")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.jsonl").write_text('{"title": "Adam"}\n')
    program = """
import socket, sys, threading
import tagger.cluster
from tagger.cli import main

tagger.cluster.PATIENCE = 2.0
server = socket.create_server(("127.0.0.1", 0))
held = []

def greet():
    while True:
        held.append(server.accept()[0])
        held[-1].sendall(eval(sys.argv[1]))

threading.Thread(target=greet, daemon=True).start()
address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
main(["tag", "parts", "-o", "out", "--cluster", address])
"""
    line, _ = python("-c", program, repr(greeting))
    began = time.monotonic()
    done = subprocess.run(
        line, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=WAIT
    )
    assert time.monotonic() - began < 30
    assert done.returncode == 1
    assert re.fullmatch(
        r"Error: No Dask scheduler answers at 'tcp://127\.0\.0\.1:\d+' within 2 "
        r"seconds; check the address, such as tcp://10\.0\.0\.1:8786, and that it "
        r"runs\.\n",
        done.stderr,
    )


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
