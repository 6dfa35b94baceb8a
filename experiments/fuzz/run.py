"""Feed randomly damaged files to every reader, and look for what must not happen.

Each input is a sample of one format with some random changes, read with random
options now and then. It is written back without tags and with tags, tagged again,
and put behind another file of its format, or another behind it. A `RecordError` is
a fine outcome. These are not, and are reported:

* another exception, or the end of the process;
* more than `--seconds` of the processor for one input;
* other bytes than came in, where no tags were added and the format is text;
* another number of entries once tags were added, or tags that did not arrive;
* other bytes when the same tags are given again;
* after entries were put behind those of a file: another number of entries, old
  entries changed, papers that are still new, or a refusal that touched the file.
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
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tagger.autotag import KnownPapers  # noqa: E402
from tagger.errors import RecordError  # noqa: E402
from tagger.fields import FIELD_NAMES  # noqa: E402
from tagger.formats import (  # noqa: E402
    FORMATS,
    append_entries,
    read_entries,
    write_entries,
)
from tagger.formats.packing import packing_of  # noqa: E402
from tagger.records import Tag  # noqa: E402

MEMORY = Path("/dev/shm")
WORK = Path(tempfile.mkdtemp(prefix="fuzz-", dir=MEMORY if MEMORY.is_dir() else None))
TAGS = [Tag("moe", 0.91, "model", "m-1", "2026-01-31"), Tag("tags", 0.5)]
OTHER_TAGS = [Tag("tags", 0.7, "model", "m-2", "2026-02-01"), Tag("fp8", 0.6)]
BATCH = 2_000
ENCODINGS = [
    "utf-8",
    "utf-16",
    "utf-32",
    "latin-1",
    "cp1252",
    "cp037",
    "gb18030",
    "shift_jis",
    "iso2022_jp",
    "ascii",
    "utf-8-sig",
    "idna",
    "hex",
    "",
    "none",
    "\0",
]
NAMES = [
    "summary",
    "keywords",
    "keyword",
    "KW",
    "OT",
    "note",
    "id",
    "title",
    "abstract",
    "TI",
    "AB",
    "tags",
    "",
    "no such",
    "@",
    "year",
    "authors",
]
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


@cache
def samples() -> dict[str, bytes]:
    """Return a sample of every format, some packed or in another encoding."""
    found = {
        path.name: path.read_bytes()
        for folder in ("exports", "samples")
        for path in sorted((ROOT / "tests" / folder).iterdir())
    }
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


def options(chance: random.Random) -> dict[str, Any]:
    """Return how an input is read: mostly as it shows."""
    given: dict[str, Any] = {}
    if chance.random() < 0.05:
        given["format"] = chance.choice([kind.name for kind in FORMATS] + ["", "x"])
    if chance.random() < 0.05:
        given["encoding"] = chance.choice(ENCODINGS)
    if chance.random() < 0.1:
        given["mapping"] = {
            chance.choice([*FIELD_NAMES, "x"]): chance.sample(
                NAMES, chance.randint(0, 3)
            )
            for _ in range(chance.randint(1, 3))
        }
    return given


def tried(
    name: str,
    data: bytes,
    given: dict[str, Any],
    beside: bytes | None,
    damage_old: bool,
    work: Path,
) -> str:
    """Read and write one input; return what came of it, or raise.

    `beside` is an undamaged file: the input is put behind it, or it behind the
    input if `damage_old`. Without one the input is tagged again.
    """

    def opened(content: bytes, kind: str | None = None, **more: Any) -> Any:
        file = io.BytesIO(content)
        file.name = name
        return read_entries(file, format=kind, **more)

    try:
        reading = opened(data, given.get("format"), **_without_format(given))
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
    how = _without_format(given) if reading.keeps_format else {}
    again = opened(tagged.getvalue(), written, **how)
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
    if beside is None:
        retag(again, back, written, how)
        return f"read as {reading.format}, tagged again"
    grew = grown(name, tagged.getvalue(), beside, damage_old, written, work)
    return f"read as {reading.format}, {grew}"


def retag(reading: Any, entries: list[Any], written: str, how: dict[str, Any]) -> None:
    """Give the same tags again, and others; raise if what is written is not right."""
    same, other = io.BytesIO(), io.BytesIO()
    try:
        write_entries([(e, TAGS) for e in entries], same, reading=reading)
        write_entries([(e, OTHER_TAGS) for e in entries], other, reading=reading)
    except RecordError:
        return
    file = io.BytesIO(same.getvalue())
    again = read_entries(file, format=written, **how)
    twice = io.BytesIO()
    write_entries([(e, TAGS) for e in again], twice, reading=again)
    if written != "parquet":
        assert twice.getvalue() == same.getvalue(), "the same tags, other bytes"
    file = io.BytesIO(other.getvalue())
    changed = read_entries(file, format=written, **how)
    for old, new in zip(entries, changed, strict=True):
        if old.record and new.record:
            before = {t.theme for t in reading.tags(old) if t.source != "model"}
            after = {t.theme for t in changed.tags(new) if t.source != "model"}
            assert before == after, f"a person's tags {before} became {after}"


def grown(
    name: str, mine: bytes, other: bytes, damage_old: bool, written: str, work: Path
) -> str:
    """Put new papers of one file behind those of another, and look at the result."""
    old, new = (mine, other) if damage_old else (other, mine)
    place = work / f"grown.{written}"
    place.write_bytes(old)
    file = io.BytesIO(new)
    file.name = name
    try:
        coming = read_entries(file, format=None if damage_old else written)
        with read_entries(place) as reading:
            held = list(reading)
        known = KnownPapers()
        for entry in held:
            if entry.record:
                known.add(entry.record)
        added = list(known.new_ones(coming))
        append_entries([(e, TAGS) for e in added], place, reading=coming)
    except RecordError:
        assert place.read_bytes() == old, "a refusal touched the file"
        return "not put behind"
    with read_entries(place) as reading:
        after = list(reading)
    if any("not JSON" in r.reasons for r in (reading, coming)):
        return "put behind, with broken members"
    assert len(after) == len(held) + len(added), (len(after), len(held), len(added))
    for before, now in zip(held, after, strict=False):
        texts = [(e.record.title, e.record.abstract) for e in (before, now) if e.record]
        assert len({*texts}) <= 1, f"{texts} at {before.id}"
    known = KnownPapers()
    for entry in after:
        if entry.record:
            known.add(entry.record)
    file = io.BytesIO(new)
    file.name = name
    still = list(known.new_ones(read_entries(file, format=coming.format)))
    assert not still, f"{still[0].id} is still new"
    return "put behind"


def _without_format(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options but the format."""
    return {name: value for name, value in given.items() if name != "format"}


def _held(reading: Any, entry: Any) -> bool:
    """Tell whether an entry had a memory, by which a tag may stay away."""
    history = reading._format.history(entry)
    return bool(history.removed or history.written)


def made(
    number: int, seed: int, all_samples: dict[str, bytes]
) -> tuple[str, bytes, dict[str, Any], bytes | None, bool]:
    """Return what is tried as the input of a number."""
    names = list(all_samples)
    chance = random.Random(f"{seed}:{number}")
    name = names[number % len(names)]
    data = damaged(all_samples[name], list(all_samples.values()), chance)
    given = options(chance)
    ending = name[name.index(".") :]
    alike = [other for other in names if other.endswith(ending)]
    other = all_samples[chance.choice(alike if chance.random() < 0.9 else names)]
    beside = other if chance.random() < 0.5 else None
    return name, data, given, beside, chance.random() < 0.5


def batch(start: int, stop: int, seed: int, seconds: int, work: Path) -> dict[str, Any]:
    """Try the inputs from `start` to `stop` and count what came of them."""

    def too_long(*_: object) -> None:
        raise TimeoutError(f"over {seconds} s")

    signal.signal(signal.SIGPROF, too_long)
    all_samples = samples()
    outcomes: Counter[str] = Counter()
    failures: list[dict[str, Any]] = []
    slowest = 0.0
    for number in range(start, stop):
        (work / "at").write_text(str(number))
        name, *asked = made(number, seed, all_samples)
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            outcome = tried(name, *asked, work)
        except BaseException as error:
            outcome = f"failure: {type(error).__name__}"
            failures.append(
                {
                    "number": number,
                    "sample": name,
                    "options": asked[1],
                    "error": repr(error)[:300],
                    "where": traceback.format_exc()[-1500:],
                }
            )
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        slowest = max(slowest, time.process_time() - began)
        outcomes[f"{name}: {outcome}"] += 1
    return {"outcomes": dict(outcomes), "failures": failures, "slowest": slowest}


def forked(inputs: int, seed: int, seconds: int, jobs: int) -> Iterator[dict[str, Any]]:
    """Yield what came of each batch; each has a process of its own, which may die."""
    waiting = [(start, min(start + BATCH, inputs)) for start in range(0, inputs, BATCH)]
    waiting.reverse()
    running: dict[int, tuple[int, int, Path]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            start, stop = waiting.pop()
            if start >= stop:
                continue
            work = Path(tempfile.mkdtemp(dir=WORK))
            child = os.fork()
            if child == 0:
                answer = batch(start, stop, seed, seconds, work)
                (work / "answer.json").write_text(json.dumps(answer))
                os._exit(0)
            running[child] = start, stop, work
        if not running:
            return
        child, status = os.wait()
        start, stop, work = running.pop(child)
        if status == 0:
            yield dict(json.loads((work / "answer.json").read_text()))
        else:
            number = int((work / "at").read_text())
            died = {"number": number, "error": f"the process ended with {status}"}
            yield {"outcomes": {"died": 1}, "failures": [died], "slowest": 0.0}
            waiting += [(number + 1, stop), (start, number)]
        shutil.rmtree(work)


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
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--one", type=int, help="run this input only, and show it")
    parser.add_argument("-o", "--out", type=Path, default=None)
    args = parser.parse_args()
    if args.one is not None:
        show(args.one, args.seed)
        return
    samples()
    for kind in FORMATS:
        kind.load()  # before the forks, each of which would load it anew
    began = time.perf_counter()
    result: dict[str, Any] = {"outcomes": {}, "failures": [], "slowest": 0.0}
    for part in forked(args.inputs, args.seed, args.seconds, args.jobs):
        merge(result, part)
        done, bad = sum(result["outcomes"].values()), len(result["failures"])
        print(f"{done:,} inputs, {bad} failures", file=sys.stderr)
        write(result, args, time.perf_counter() - began)
    shutil.rmtree(WORK)


def write(result: dict[str, Any], args: argparse.Namespace, seconds: float) -> None:
    """Write what came of the inputs so far."""
    report = {
        "inputs": sum(result["outcomes"].values()),
        "seed": args.seed,
        "command": f"python experiments/fuzz/run.py --inputs {args.inputs} "
        f"--seed {args.seed} --jobs {args.jobs}",
        "python": platform.python_version(),
        "seconds": round(seconds),
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
    name, data, given, beside, damage_old = made(number, seed, samples())
    Path(tempfile.gettempdir(), f"fuzz-input-{number}").write_bytes(data)
    Path(tempfile.gettempdir(), f"fuzz-beside-{number}").write_bytes(beside or b"")
    print(name, given, len(data), damage_old)
    print(tried(name, data, given, beside, damage_old, WORK))


if __name__ == "__main__":
    main()
