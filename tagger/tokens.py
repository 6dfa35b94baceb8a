"""The field's tokenizer, with character spans: one definition, used by all.

A token is a run of letters and digits of a cleaned text (see `tagger.text`).
A decimal point, colon or comma between digits stays inside (``1.5``, ``2:4``),
``C++``, ``C#`` and ``A*`` are whole. A hyphen joins: ``4-bit`` and
``long-context`` are read as two tokens that belong together, so that they
equal "4 bit" and "long context", and any n-gram over them is kept whole.

A token's *norm* folds what does not change its meaning: case, accents, Greek
letters to their names (``μP`` equals ``muP``), the plural s, -ise to -ize.
Its *code* is a 64-bit hash of the norm; n-grams are codes too. All of it is
plain integer arithmetic, the same on every machine.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from tagger import kernel

__all__ = ["Tokens", "code", "join_codes", "norm", "phrase_codes", "tokenize", "words"]

_MASK = (1 << 64) - 1

# Group 1 is a token; a match without it is a possessive to be passed over.
_TOKEN = re.compile(
    r"'s(?![^\W_])"
    r"|((?<![^\W_])[A-Za-z](?:\+\+|[#*])(?![^\W_])"
    r"|[^\W_]+(?:(?<=\d)[.,:](?=\d)[^\W_]+)*)"
)
# Between two tokens of one phrase there may be blanks, hyphens, slashes and
# quotes, or one sign without blanks (llama.cpp, MPI+OpenMP); anything else (a
# comma, a full stop, a parenthesis) parts them.
_SAME_PHRASE = re.compile(r"(?:(?:[\s\-/_\"`~^]|'s?(?![^\W_])|')*|[.+@&:=|×])\Z")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text.

    Parameters
    ----------
    starts, ends : list of int
        Character span [start, end) of each token in the text.
    codes : list of int
        Code of each token's norm, in [0, 2**64).
    breaks : list of bool
        True where no n-gram may reach from the previous token to this one.
    """

    starts: list[int]
    ends: list[int]
    codes: list[int]
    breaks: list[bool]

    def __len__(self) -> int:
        return len(self.codes)


def tokenize(text: str) -> Tokens:
    """Split a cleaned text into tokens.

    Examples
    --------
    >>> t = tokenize("4-bit C++ (FP8)")
    >>> list(zip(t.starts, t.ends, t.breaks))
    [(0, 1, True), (2, 5, False), (6, 9, False), (11, 14, True)]
    """
    found = None if kernel.compiled is None else kernel.compiled.tokenize(text)
    return _tokenize(text) if found is None else Tokens(*found)


def _tokenize(text: str) -> Tokens:
    starts: list[int] = []
    ends: list[int] = []
    codes: list[int] = []
    breaks: list[bool] = []
    last = 0
    for match in _TOKEN.finditer(text):
        surface = match[1]
        if surface is None:
            continue
        start, end = match.span(1)
        gap = text[last:start]
        starts.append(start)
        ends.append(end)
        codes.append(code(surface))
        first = len(codes) == 1
        breaks.append(first or (gap != " " and not _SAME_PHRASE.match(gap)))
        last = end
    return Tokens(starts, ends, codes, breaks)


def words(text: str) -> Iterator[tuple[int, int]]:
    """Give the spans of the words a reader sees: tokens joined by hyphens.

    Examples
    --------
    >>> text = "4-bit k-means on A* and DeepMD-kit"
    >>> [text[a:b] for a, b in words(text)]
    ['4-bit', 'k-means', 'on', 'A*', 'and', 'DeepMD-kit']
    """
    tokens = tokenize(text)
    start = end = -1
    for next_start, next_end in zip(tokens.starts, tokens.ends, strict=True):
        if start >= 0 and text[end:next_start] in ("-", "_"):
            end = next_end
            continue
        if start >= 0:
            yield start, end
        start, end = next_start, next_end
    if start >= 0:
        yield start, end


_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρστυφχψως",
        (
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi "
            "omicron pi rho sigma tau upsilon phi chi psi omega sigma"
        ).split(),
        strict=True,
    )
)
_BRITISH = re.compile(r"(?<=..)is(?=(?:e|ed|es|er|ers|ing|ation|ations)\Z)")


def fold(surface: str) -> str:
    """Fold case, accents and Greek letters, character by character."""
    text = surface.casefold()
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKD", text).casefold()
    return "".join(_GREEK.get(c, c) for c in text if not unicodedata.combining(c))


def norm(surface: str) -> str:
    """Fold a token to the form that is compared.

    References
    ----------
    The plural rule is the S-stemmer of D. Harman, "How effective is
    suffixing?", JASIS 42 (1991).

    Examples
    --------
    >>> [norm(t) for t in ("MLIPs", "Optimisers", "μP", "naïve", "loss", "2:4")]
    ['mlip', 'optimizer', 'mup', 'naive', 'loss', '2:4']
    """
    text = fold(surface)
    if len(text) < 4 or text[-1].isdigit():
        return text
    text = _BRITISH.sub("iz", text)
    if not text.endswith("s") or text.endswith(("ss", "us", "is")):
        return text
    if text.endswith("ies") and len(text) > 4:
        return text[:-3] + "y"
    if text.endswith(("sses", "ches", "shes", "xes")):
        return text[:-2]
    return text[:-1]


_codes: dict[str, int] = {}
_CODES_KEPT = 1 << 20


def code(surface: str) -> int:
    """Give the 64-bit code of a token: FNV-1a over the UTF-8 of its norm.

    References
    ----------
    Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm", IETF draft.
    """
    known = _codes.get(surface)
    if known is not None:
        return known
    value = 0xCBF29CE484222325
    for byte in norm(surface).encode("utf-8", "surrogatepass"):
        value = (value ^ byte) * 0x100000001B3 & _MASK
    if len(_codes) >= _CODES_KEPT:  # a stream of made-up words must not fill memory
        _codes.clear()
    _codes[surface] = value
    return value


def join_codes(left: int, right: int) -> int:
    """Give the code of an n-gram from the code of its head and its last token.

    The finaliser is that of splitmix64 (Steele, Lea, Flood, OOPSLA 2014), so
    that order counts and codes stay spread over all 64 bits.
    """
    value = (left * 0x9E3779B97F4A7C15 + right) & _MASK
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _MASK
    return value ^ value >> 31


def phrase_codes(phrase: str) -> tuple[int, ...]:
    """Give the codes of a phrase's tokens, as a keyword is compared."""
    return tuple(tokenize(phrase).codes)
