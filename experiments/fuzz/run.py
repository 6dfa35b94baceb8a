"""Feed randomly damaged files to every reader, and look for what must not happen.

Each input is a sample of one format with some random changes. It is read, and
written back without tags and with tags. A `RecordError` is a fine outcome.
These are not, and are reported:

* another exception, or the end of the process;
* more than `--seconds` for one input;
* other bytes than came in, where no tags were added and the format is text;
* another number of entries once tags were added, or tags that did not arrive.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import lzma
import os
import platform
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tagger.errors import RecordError  # noqa: E402
from tagger.formats import FORMATS, read_entries, write_entries  # noqa: E402
from tagger.formats.packing import packing_of  # noqa: E402
from tagger.records import Tag  # noqa: E402

TAGS = [Tag("moe", 0.91, "model", "m-1", "2026-01-31"), Tag("tags", 0.5)]
BATCH = 2_000
TOKENS = [
    b'"', b"'", b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b"</", b"/>", b",",
    b";", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\\", b"@", b"#", b"=", b"&", b"&amp;",
    b"&x;", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?", b"?>", b"<!DOCTYPE a [",
    b'<!ENTITY a "b">', b"@article{a,", b"@string{a=", b"@comment{", b"\nER  - \n",
    b"\nTY  - JOUR\n", b"\nKW  - a\n", b"\nPMID- 1\n", b"null", b"NaN", b"1e999",
    b"-1", b"9" * 400, b"\\ud83d", b'{"tags": [', b'"tagger": {"written": [1]}',
    b'"theme":', b'"title":', b"tags,tagger", b"tagger = {{}}", b"<keywords>",
    b"</keyword>", b"<custom7>", b"\xef\xbb\xbf", b"\xff\xfe", b"\xe9", b"\xed\xa0\x80",
    b"[" * 300, b"{" * 300, b"<a>" * 150, b"sep=;\n", b"title,abstract\n", b"\x1f\x8b",
]  # fmt: skip


def samples() -> dict[str, bytes]:
    """Return a sample of every format, some packed or in another encoding."""
    folder = ROOT / "tests" / "samples"
    found = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    text = found["records.jsonl"]
    found["utf16.jsonl"] = b"\xff\xfe" + text.decode().encode("utf-16-le")
    found["marked.bib"] = b"\xef\xbb\xbf" + found["references.bib"]
    found["latin.ris"] = found["references.ris"].replace(b"Ada", b"Ad\xe9")
    found["crlf.bib"] = found["references.bib"].replace(b"\n", b"\r\n")
    found["records.parquet"] = _parquet()
    found["a.jsonl.gz"] = gzip.compress(text)
    found["a.jsonl.bz2"] = bz2.compress(text)
    found["a.jsonl.xz"] = lzma.compress(text)
    try:
        from backports import zstd
    except ImportError:
        return found
    found["a.jsonl.zst"] = zstd.compress(text)
    return found


def _parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    rows = {"id": ["1", "2"], "title": ["T", None], "themes": [["a"], None]}
    pq.write_table(pa.table(rows), out)
    return out.getvalue()


def damaged(data: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """Return a file with one to eight random changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 5, 8))):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + int(chance.expovariate(0.05)) + 1)
        what = chance.randrange(8)
        if what == 0:
            data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
        elif what == 1:
            data = data[:at] + data[end:]
        elif what == 2:
            data = data[:end] + data[at:]
        elif what == 3:
            data = data[:at] + chance.choice(TOKENS) + data[at:]
        elif what == 4:
            data = data[:at] + chance.choice(TOKENS) + data[end:]
        elif what == 5:
            data = data[:at] if chance.random() < 0.3 else data[at:]
        elif what == 6:
            other = chance.choice(others)
            start = chance.randrange(len(other) + 1)
            data = data[:at] + other[start : start + 400] + data[at:]
        else:
            data = data[:at] + data[at:end] * chance.choice((2, 3, 20)) + data[end:]
    return data


def tried(name: str, data: bytes, format: str | None) -> str:
    """Read and write one input; return what came of it, or raise."""

    def opened(content: bytes, kind: str | None) -> Any:
        file = io.BytesIO(content)
        file.name = name
        return read_entries(file, format=kind)

    try:
        reading = opened(data, format)
        entries = list(reading)
    except RecordError:
        return "refused"
    assert reading.n_read == len(entries)
    assert reading.summary_line
    plain, tagged = io.BytesIO(), io.BytesIO()
    try:
        write_entries([(e, None) for e in entries], plain, reading=reading)
        write_entries([(e, TAGS) for e in entries], tagged, reading=reading)
    except RecordError:
        return "read, not written"
    if reading.keeps_format and reading.format != "parquet":
        packed = packing_of(data) is not None
        assert packed or plain.getvalue() == data, "other bytes than came in"
    written = reading.format if reading.keeps_format else "jsonl"
    again = opened(tagged.getvalue(), written)
    back = list(again)
    if reading.format == "json" and reading.reasons["not JSON"]:
        # Where a broken member of a list ends is a guess; tags can change it.
        return "read as json, with broken members"
    assert len(back) == len(entries), f"{len(entries)} entries became {len(back)}"
    for old, new in zip(entries, back, strict=True):
        if old.record and new.record and reading.keeps_format:
            themes = [tag.theme for tag in again.tags(new)]
            removed = {"moe", "tags"} - set(themes)
            assert not removed or _held(reading, old), f"{themes} at {old.id}"
    return f"read as {reading.format}"


def _held(reading: Any, entry: Any) -> bool:
    """Tell whether an entry had a memory, by which a tag may stay away."""
    history = reading._format.history(entry)
    return bool(history.removed or history.written)


def batch(start: int, stop: int, seed: int, seconds: int, at: Path) -> dict[str, Any]:
    """Try the inputs from `start` to `stop` and count what came of them."""

    def too_long(*_: object) -> None:
        raise TimeoutError(f"over {seconds} s")

    signal.signal(signal.SIGALRM, too_long)
    all_samples = samples()
    names = list(all_samples)
    kinds = [kind.name for kind in FORMATS]
    outcomes: Counter[str] = Counter()
    failures: list[dict[str, Any]] = []
    slowest = 0.0
    for number in range(start, stop):
        at.write_text(str(number))
        chance = random.Random(f"{seed}:{number}")
        name = names[number % len(names)]
        data = damaged(all_samples[name], list(all_samples.values()), chance)
        format = chance.choice(kinds) if chance.random() < 0.05 else None
        began = time.perf_counter()
        signal.alarm(seconds)
        try:
            outcome = tried(name, data, format)
        except BaseException as error:
            outcome = f"failure: {type(error).__name__}"
            failures.append(
                {
                    "number": number,
                    "sample": name,
                    "format": format,
                    "error": repr(error)[:300],
                    "where": traceback.format_exc()[-1500:],
                }
            )
        finally:
            signal.alarm(0)
        slowest = max(slowest, time.perf_counter() - began)
        outcomes[f"{name}: {outcome}"] += 1
    return {"outcomes": dict(outcomes), "failures": failures, "slowest": slowest}


def forked(
    start: int, stop: int, seed: int, seconds: int, work: Path
) -> dict[str, Any]:
    """Run a batch in a process of its own, which may die."""
    at, answer = work / "at", work / "answer.json"
    answer.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        answer.write_text(json.dumps(batch(start, stop, seed, seconds, at)))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status == 0 and answer.exists():
        return dict(json.loads(answer.read_text()))
    number = int(at.read_text())
    died = {"number": number, "error": f"the process ended with status {status}"}
    before = batch_or_nothing(start, number, seed, seconds, work)
    after = batch_or_nothing(number + 1, stop, seed, seconds, work)
    merge(before, after)
    merge(before, {"outcomes": {"died": 1}, "failures": [died], "slowest": 0.0})
    return before


def batch_or_nothing(
    start: int, stop: int, seed: int, seconds: int, work: Path
) -> dict[str, Any]:
    """Run what is left of a batch, if anything is."""
    if start >= stop:
        return {"outcomes": {}, "failures": [], "slowest": 0.0}
    return forked(start, stop, seed, seconds, work)


def merge(into: dict[str, Any], other: dict[str, Any]) -> None:
    """Add the counts of one batch to those of another."""
    into["outcomes"] = dict(Counter(into["outcomes"]) + Counter(other["outcomes"]))
    into["failures"] += other["failures"]
    into["slowest"] = max(into["slowest"], other["slowest"])


def main() -> None:
    """Run the inputs and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=10, help="limit for one input")
    parser.add_argument("--one", type=int, help="run this input only, and show it")
    parser.add_argument("-o", "--out", type=Path, default=None)
    args = parser.parse_args()
    if args.one is not None:
        show(args.one, args.seed)
        return
    work = Path(tempfile.gettempdir(), f"fuzz-{os.getpid()}")
    work.mkdir()
    result: dict[str, Any] = {"outcomes": {}, "failures": [], "slowest": 0.0}
    began = time.perf_counter()
    for start in range(0, args.inputs, BATCH):
        stop = min(start + BATCH, args.inputs)
        merge(result, forked(start, stop, args.seed, args.seconds, work))
        print(f"{stop:,} inputs, {len(result['failures'])} failures", file=sys.stderr)
        if len(result["failures"]) > 50:
            break
    report = {
        "inputs": sum(result["outcomes"].values()),
        "seed": args.seed,
        "command": f"python experiments/fuzz/run.py --inputs {args.inputs} "
        f"--seed {args.seed}",
        "python": platform.python_version(),
        "seconds": round(time.perf_counter() - began),
        "slowest_input_seconds": round(result["slowest"], 3),
        "failures": result["failures"],
        "outcomes": dict(sorted(result["outcomes"].items())),
    }
    text = json.dumps(report, indent=1, ensure_ascii=False)
    if args.out:
        args.out.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


def show(number: int, seed: int) -> None:
    """Run one input in this process, with its bytes in a file beside."""
    all_samples = samples()
    name = list(all_samples)[number % len(all_samples)]
    chance = random.Random(f"{seed}:{number}")
    data = damaged(all_samples[name], list(all_samples.values()), chance)
    kinds = [kind.name for kind in FORMATS]
    format = chance.choice(kinds) if chance.random() < 0.05 else None
    Path(tempfile.gettempdir(), f"fuzz-input-{number}").write_bytes(data)
    print(name, format, len(data))
    print(tried(name, data, format))


if __name__ == "__main__":
    main()
