"""Feed the compiled part random text under AddressSanitizer, for some minutes.

The kernel is built once more with the sanitizers for addresses and undefined
behaviour, and loaded in a process of its own; every answer is compared with
the definition in Python. Nothing is printed but counts and the first finding.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

PIECES = [
    *"\\{}$[]()%&_#-'.,:+*/@|=<> \n\t\0;!?",
    *["'s", "++", "\\\\", "\\'", '\\"{', "\\c ", "\\cite{", "\\cite[", "\\alpha"],
    *["\\textbf", "\\href {", "\\left", "\\begin{", "isation", "ises", "ies", "sses"],
    *["This paper has been withdrawn", "abstract", "n/a", "-\n", "the", "optimizer"],
    *["é", "μ", "×", "–", "²", "ﬁ", "\u00ad", "\u0301", "\u212a", "漢", "٣", "𝛼", "🏹"],
]


def text(rng: random.Random) -> str:
    """Make one text: pieces, random characters or random bytes, short or long."""
    size = rng.choice([0, 1, 3, 10, 50, 300, 3000])
    kind = rng.randrange(5)
    if kind == 0:
        return rng.randbytes(size).decode("utf-8", "replace")
    if kind == 1:
        return rng.randbytes(size).decode("latin-1")
    if kind == 2:
        return rng.randbytes(size).decode("utf-8", "surrogateescape")
    if kind == 3:
        return "".join(chr(rng.randrange(0x110000)) for _ in range(size))
    return "".join(rng.choice(PIECES) for _ in range(size))


def decide(rng: random.Random, records: list[Any], P: Any) -> None:
    """Compare `decisions`, of these probabilities and of whatever else fits."""
    import numpy as np

    from tagger.decide import _decisions, decisions

    n, k = len(records), rng.choice([0, 1, P.shape[1], 70])
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    if k != P.shape[1]:
        P = numbers.integers(0, 4, (n, k)) / 3  # many are equal
    given = numbers.random((n, k)) < rng.random()
    why = numbers.integers(-1, 4, n).astype(np.int8)
    arguments = records, P, given, why, [f"theme-{i}" for i in range(k)]
    if decisions(*arguments) != _decisions(*arguments):
        sys.exit(f"The compiled part decides otherwise on {arguments!r}.")


def fuzz(seconds: float, seed: int, library: str) -> None:
    """Compare until the time is over."""
    import numpy as np

    import tagger
    from tagger import kernel
    from tagger.features import read_events
    from tagger.records import Record
    from tagger.values import _is_clean

    spec = importlib.util.spec_from_file_location("tagger._kernel", library)
    assert spec is not None
    assert spec.loader is not None
    compiled = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compiled)
    model = tagger.load()
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    n_texts = n_characters = 0
    while time.monotonic() < end:
        texts = [text(rng) for _ in range(2 * rng.randrange(1, 6))]
        records = [
            Record(id="x", title=title, abstract=abstract)
            for title, abstract in zip(texts[::2], texts[1::2], strict=True)
        ]
        answers = []
        for part in (compiled, None):
            kernel.compiled = part
            P, reasons = model._judge_batch(records)
            events = read_events(records, model.phrases.prefixes)
            codes = np.sort(np.stack([events.codes, events.rows.astype(np.uint64)]))
            answers.append((P, reasons, codes))
        kernel.compiled = compiled
        decide(rng, records, answers[0][0])
        for one, other in zip(*answers, strict=True):
            if not np.allclose(one, other, rtol=0, atol=1e-12):
                sys.exit(f"The compiled part differs on {texts!r}.")
        for one in texts:
            compiled.checksum(one.encode("utf-8", "surrogatepass"))
            compiled.tokenize(one)
            if compiled.is_clean(one) != _is_clean(one):
                sys.exit(f"The compiled part finds {one!r} clean, or does not.")
        n_texts += len(texts)
        n_characters += sum(map(len, texts))
    print(f"{n_texts:,} texts, {n_characters:,} characters, seed {seed}: no finding")


def main() -> None:
    """Build with sanitizers, then fuzz in a process that has them loaded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--library", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.library:
        fuzz(chosen.seconds, chosen.seed, chosen.library)
        return
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder) / "_kernel.so")
        subprocess.run(
            [
                *["gcc", "-std=c11", "-g", "-O1", "-fno-omit-frame-pointer"],
                *["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
                *["-ffp-contract=off", "-shared", "-fPIC", "-o", library],
                f"-I{sysconfig.get_path('include')}",
                str(ROOT / "tagger" / "_kernel.c"),
            ],
            check=True,
        )
        runtime = subprocess.run(
            ["gcc", "-print-file-name=libasan.so"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        environment = {
            **os.environ,
            "LD_PRELOAD": runtime,
            # The interpreter itself leaves memory behind at its end.
            "ASAN_OPTIONS": "detect_leaks=0",
            "PYTHONMALLOC": "malloc",  # so that strings have guarded ends
        }
        command = [sys.executable, __file__, "--library", library]
        command += ["--seconds", str(chosen.seconds), "--seed", str(chosen.seed)]
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
