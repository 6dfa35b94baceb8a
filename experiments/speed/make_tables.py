"""Write tagger/_unicode.h: what Python's unicodedata says, for the kernel.

The kernel reads the code points that papers are written in; a text with any
other is left to Python. Everything here is computed by the Python definition
(`tagger.text`, `tagger.tokens`), character by character, and a test compares
the kernel with it again on whatever Python runs the tests.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tagger import text as cleaning  # noqa: E402
from tagger.tokens import fold  # noqa: E402

# Blocks of 256: Latin to Arabic, phonetic and extended Latin and Greek, signs,
# ligatures, mathematical letters.
PAGES = [*range(7), *range(0x1D, 0x28), 0x2A, 0xFB, *range(0x1D4, 0x1D8)]
# Regular expressions that ignore case take these for ASCII letters.
ASCII_BY_CASE = {0x130, 0x131, 0x17F, 0x212A}
ALNUM, DECIMAL, SPACE = 1, 2, 4


def joining() -> set[str]:
    """List the characters that may combine with the one before them."""
    found = {chr(c) for c in range(0x1160, 0x1200)}
    for c in map(chr, range(sys.maxunicode + 1)):
        parts = unicodedata.decomposition(c).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.add(chr(int(parts[1], 16)))
    return found


class Pool:
    """Short UTF-8 strings, each with its length before it, by offset."""

    def __init__(self) -> None:
        self.data = bytearray(1)  # offset 0 stands for "the character itself"
        self.known: dict[bytes, int] = {}

    def add(self, text: str) -> int:
        """Give the offset of a string."""
        encoded = text.encode()
        if encoded not in self.known:
            self.known[encoded] = len(self.data)
            self.data += bytes([len(encoded)]) + encoded
        return self.known[encoded]


def cleaned(c: str) -> str:
    """Clean one character as the Python definition does."""
    return re.sub(cleaning._NOT_ASCII, cleaning._compose, c)


def entries(pool: Pool) -> dict[int, int]:
    """Pack what is known of each code point: bit 31 says that it is."""
    combining = joining()
    pages = set(PAGES)
    known: dict[int, int] = {}

    def simple(text: str) -> bool:
        return all(
            ord(c) < 0x80
            or (
                ord(c) >> 8 in pages
                and ord(c) not in ASCII_BY_CASE
                and unicodedata.category(c) not in ("Cn", "Cs", "Co")
                and not unicodedata.combining(c)
                and c not in combining
                and all(d.isascii() or not d.isdigit() for d in fold(c))
            )
            for c in text
        )

    for page in PAGES:
        for number in range(page << 8, (page + 1) << 8):
            c = chr(number)
            if number < 0x80 or not simple(c) or not simple(cleaned(c)):
                continue
            flags = ALNUM * c.isalnum() | DECIMAL * c.isdecimal() | SPACE * c.isspace()
            plain = 0 if cleaned(c) == c else pool.add(cleaned(c))
            folded = 0 if fold(c) == c else pool.add(fold(c))
            known[number] = 1 << 31 | flags << 28 | folded << 14 | plain
    return known


def numbers(values: Iterable[int], form: str = "{}") -> str:
    """Lay numbers out in lines."""
    lines, line = [], ""
    for value in values:
        shown = form.format(value) + ","
        if len(line) + len(shown) > 98:
            lines.append(line)
            line = ""
        line += shown
    return "\n".join([*lines, line])


def main() -> None:
    """Write the header."""
    pool = Pool()
    known = entries(pool)
    if len(pool.data) >= 1 << 14:
        sys.exit(f"The strings take {len(pool.data)} bytes; offsets have 14 bits.")
    index = [0] * (max(PAGES) + 1)
    for place, page in enumerate(PAGES):
        index[page] = place + 1
    table = [known.get(p << 8 | low, 0) for p in PAGES for low in range(256)]
    symbols = sorted(cleaning._SYMBOLS.items())
    accents = "".join(cleaning._COMBINING)
    letters = [chr(c) for c in (*range(65, 91), *range(97, 123))]
    composed = []
    for mark in cleaning._COMBINING.values():
        row = [unicodedata.normalize("NFC", letter + mark) for letter in letters]
        row = [ord(c) if len(c) == 1 and ord(c) in known else 0 for c in row]
        composed.append("{" + numbers(row) + "},")
    quoted = [
        f'{{"{name}","{"".join(f"{chr(92)}{b:03o}" for b in value.encode())}"}},'
        for name, value in symbols
    ]
    silent = sorted(cleaning._SILENT.split("|"))
    accent_text = accents.replace("\\", "\\\\").replace('"', '\\"')
    out = f"""/* Written by experiments/speed/make_tables.py from Unicode \
{unicodedata.unidata_version}; not by hand.
   An entry: bit 31 known, bits 28-30 letter or digit, decimal, blank; bits
   14-27 and 0-13 where its folded and its cleaned form stand (0: itself). */
#define N_PAGES {len(index)}
static const uint8_t PAGE[N_PAGES] = {{
{numbers(index)}
}};
static const uint32_t ENTRY[] = {{
{numbers(table, "{}u")}
}};
static const uint8_t POOL[] = {{
{numbers(pool.data)}
}};
struct symbol {{ const char *name, *text; }};
static const struct symbol SYMBOL[] = {{
{chr(10).join(quoted)}
}};
static const char *const SILENT[] = {{
{numbers(silent, '"{}"')}
}};
static const char ACCENT[] = "{accent_text}";
static const uint16_t COMPOSED[][52] = {{
{chr(10).join(composed)}
}};
"""
    (ROOT / "tagger" / "_unicode.h").write_text(out, "utf-8")


if __name__ == "__main__":
    main()
