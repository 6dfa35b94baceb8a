"""What names a paper: arXiv ids, DOIs, titles and texts in one normal form."""

from __future__ import annotations

import re
import unicodedata
from itertools import filterfalse

__all__ = ["arxiv_id", "normal_doi", "normal_name", "normal_title", "text_fingerprint"]

_ARXIV_PREFIX = re.compile(
    r"^(?:https?://)?(?:(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/|"
    r"(?:dx\.)?doi\.org/10\.48550/arxiv\.|10\.48550/arxiv\.|"
    r"oai:arxiv\.org:|arxiv:\s*)",
    re.IGNORECASE,
)
_ARXIV_NEW = re.compile(r"(\d\d)(0[1-9]|1[0-2])\.(\d{4,5})(?:v\d+)?")
_ARXIV_OLD = re.compile(r"([a-zA-Z][a-zA-Z-]*)(?:\.[a-zA-Z-]{2,})?/(\d{7})(?:v\d+)?")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_TEX = re.compile(r"""\\["'`^~=.]|[{}$\\]""")
_WORD = re.compile(r"[^\W_]+")
# Shorter texts are notices ("This paper has been withdrawn ..."), shared by
# papers that have nothing else in common.
_WORDS_THAT_NAME_A_TEXT = 30


def arxiv_id(text: str) -> str | None:
    """Return the arXiv base id that `text` is, or None if it is not one.

    The version is dropped, the archive of an old id is kept, its subject
    class is not: these never name another paper.

    Examples
    --------
    >>> arxiv_id("https://arxiv.org/abs/2401.00001v2")
    '2401.00001'
    >>> arxiv_id("hep-th/9901001v1"), arxiv_id("math.GT/0309136")
    ('hep-th/9901001', 'math/0309136')
    >>> arxiv_id("see 2401.00001") is None
    True
    """
    found = _ARXIV_PREFIX.match(text.strip())
    bare = text.strip()[found.end() :] if found else text.strip()
    if bare.lower().endswith(".pdf"):
        bare = bare[:-4]
    if new := _ARXIV_NEW.fullmatch(bare):
        # Five digits since January 2015; a plain number such as 1234.5678 has
        # neither the month nor the length, or is taken for a paper of 2012.
        if (len(new[3]) == 5) == (int(new[1]) >= 15):
            return f"{new[1]}{new[2]}.{new[3]}"
        return None
    if old := _ARXIV_OLD.fullmatch(bare):
        return f"{old[1].lower()}/{old[2]}"
    return None


def normal_doi(text: str) -> str | None:
    """Return the DOI in `text` in lower case without its prefix, or None.

    Examples
    --------
    >>> normal_doi("https://doi.org/10.1000/ABC.1")
    '10.1000/abc.1'
    """
    found = _DOI.search(text)
    return found[0].rstrip(".,;)").lower() if found else None


def normal_title(title: str) -> str:
    """Return the letters and digits of a title, without case and accents.

    Examples
    --------
    >>> normal_title("{FP8} Long-Context  Training")
    'fp8longcontexttraining'
    """
    return "".join(_words(title))


def normal_name(name: str) -> str:
    """Return the family name of an author, without case and accents.

    Examples
    --------
    >>> normal_name("Peter Richtárik"), normal_name("Richtarik, P.")
    ('richtarik', 'richtarik')
    """
    words = _words(name.split(",")[0])
    return words[-1] if words else ""


def text_fingerprint(text: str) -> str | None:
    """Return 16 hex digits that name a text, or None if it is too short to."""
    words = _words(text)
    if len(words) < _WORDS_THAT_NAME_A_TEXT:
        return None
    from hashlib import blake2b  # takes 3 ms, and `tagger predict` needs none

    return blake2b("".join(words).encode(), digest_size=8).hexdigest()


def _words(text: str) -> list[str]:
    """Return words in lower case; accents and TeX marks are dropped."""
    plain = text if text.isascii() else _without_accents(text)
    return _WORD.findall(_TEX.sub("", plain).casefold())


def _without_accents(text: str) -> str:
    """Return `text` in compatibility form without combining marks."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(filterfalse(unicodedata.combining, decomposed))
