"""Which encoding a file of text is in: told, marked, declared, or recognised."""

from __future__ import annotations

import codecs
import re

from tagger.errors import RecordError

__all__ = ["checked_encoding", "encoding_of", "reads_any_byte"]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_FOREIGN = {
    b"%PDF-": "a PDF; extract its text first",
    b"PK\x03\x04": "a ZIP archive or an Excel workbook; unpack it, or save the "
    "sheet as CSV UTF-8",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file; save it as CSV UTF-8 or text",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive; unpack it first",
}
_DECLARED = re.compile(
    rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.-]+)[\"']"
    rb"|\s*%\s*Encoding:\s*([\w.-]+)"
)
_BAD = re.compile("[\udc80-\udcff]")
_WITHOUT_MARK = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}
_PROBE = "".join(map(chr, (9, 10, 13, *range(32, 127)))) + "\\u0041+AGE-~{&#65;=41"
# Western text has one letter with an accent between plain ones, or a quote
# beside a dash; four high bytes in a row are Cyrillic, Chinese, or no text.
_NOT_WESTERN = re.compile(rb"[\x80-\xff]{4}|[\x81\x8d\x8f\x90\x9d]")


def checked_encoding(encoding: str | None) -> str | None:
    """Return the name of a text encoding in a form that writes no mark.

    Raises
    ------
    RecordError
        If Python knows no such encoding of text, or one in which the file could
        not be given back.
    """
    if encoding is None:
        return None
    try:
        name = codecs.lookup(encoding).name
        name = _WITHOUT_MARK.get(name, name)
        usable = _gives_back(name)
    except (LookupError, ValueError) as error:
        raise RecordError(
            f"The encoding {encoding!r} is not known; give one such as 'utf-8', "
            "'utf-16' or 'latin-1'."
        ) from error
    if not usable:
        raise RecordError(
            f"The encoding {encoding!r} is none in which a file can be read piece by "
            "piece and given back as it was; convert the file to UTF-8 first."
        )
    return name


def _gives_back(name: str) -> bool:
    """Tell whether text comes out of an encoding as it went in, byte by byte.

    Encodings that spell letters as words of others (as ``idna`` and
    ``unicode_escape`` do) have more than one spelling of a text, and no pieces.
    """
    try:
        text = "".join(char for char in _PROBE if char.encode(name, "ignore"))
        data = text.encode(name)
        decoder = codecs.getincrementaldecoder(name)("surrogateescape")
        pieces = [decoder.decode(data[at : at + 1]) for at in range(len(data))]
    except UnicodeError:
        return False
    width = len("a".encode(name))
    return "".join(pieces) == text and len(data) == width * len(text)


def reads_any_byte(encoding: str) -> bool:
    """Tell whether a byte that is no text can be carried through."""
    return not encoding.startswith(("utf-16", "utf-32"))


def encoding_of(
    name: str, head: bytes, given: str | None
) -> tuple[bytes, str, list[str]]:
    """Return the byte order mark, the encoding, and what to say about it.

    Raises
    ------
    RecordError
        If the bytes are no text, or text in an encoding that must be told.
    """
    for magic, kind in _FOREIGN.items():
        if head.startswith(magic):
            raise RecordError(f"{name} is {kind}.")
    if head[257:262] == b"ustar":
        raise RecordError(f"{name} is a tar archive; unpack it first.")
    for bom, encoding in _BOMS:
        if head.startswith(bom):
            if given in (None, encoding) or given == encoding.replace("-be", "-le"):
                return bom, encoding, []
            return (
                bom,
                encoding,
                [
                    f"{name} starts with the byte order mark of {encoding.upper()}, so "
                    f"it is read as that and not as {given}."
                ],
            )
    if given is not None or head.startswith(b"PAR1"):
        return b"", given or "utf-8", []
    if (zeros := head.count(0)) > len(head) // 10:
        raise RecordError(
            f"{name}: {zeros:,} of the first {len(head):,} bytes are zero, so this is "
            "not UTF-8 text. For UTF-16 without a byte order mark give --encoding "
            "utf-16-le."
        )
    return (b"", *_by_content(name, head))


def _by_content(name: str, head: bytes) -> tuple[str, list[str]]:
    """Return the encoding that the first bytes show, and what to say about it."""
    if declared := _declared(head):
        return declared, []
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(head)
    bad = _BAD.findall(text)
    if not bad:
        return "utf-8", []
    good = sum(not char.isascii() for char in text) - len(bad)
    if good >= len(bad):
        return "utf-8", []
    first = len(text[: text.index(bad[0])].encode())
    place = f"byte {first:,} (0x{head[first]:02x}) is not UTF-8 text"
    if good or _NOT_WESTERN.search(head):
        raise RecordError(
            f"{name}: {place}. Give the encoding of the file, for example --encoding "
            "cp1252 or --encoding gb18030."
        )
    return "cp1252", [
        f"{name}: {place}, so the file is read as cp1252 (Western); if that is wrong, "
        "give --encoding."
    ]


def _declared(head: bytes) -> str | None:
    """Return the encoding that an XML or BibTeX file says it has, if it can be."""
    if not (found := _DECLARED.match(head)):
        return None
    try:
        encoding = checked_encoding((found[1] or found[2]).decode())
    except RecordError:
        return None
    # What starts with these ASCII letters is not UTF-16, whatever it says.
    return encoding if encoding and reads_any_byte(encoding) else None
