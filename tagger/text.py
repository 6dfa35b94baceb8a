r"""Cleaning one string: LaTeX, JATS and HTML, Unicode; with a way back.

Pure functions. `clean` never loses track of where a character came from, so
that evidence can be shown in the text as the user wrote it. A LaTeX library
such as pylatexenc turns ``\textsc{Adam}`` into ``Adam`` too, but none says at
which characters of the source the ``Adam`` stood; that is why the rules are
here, as a few substitutions that keep their offsets.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter

__all__ = ["CleanText", "clean", "is_placeholder"]


@dataclass(frozen=True, slots=True)
class CleanText:
    """A cleaned string and the way back to the string it was made from.

    Parameters
    ----------
    text : str
        The cleaned string.
    anchors : tuple of (int, int, int)
        Offset in `text`, offset in the source, width; ascending. Width 0: from
        here to the next anchor, characters correspond one to one. Width w > 0:
        this one character stands for w characters of the source.
    """

    text: str
    anchors: tuple[tuple[int, int, int], ...] = ((0, 0, 0),)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Give the source span [start, end) of a non-empty span of `text`."""
        return self._origin(start)[0], sum(self._origin(end - 1))

    def _origin(self, offset: int) -> tuple[int, int]:
        """Give the source offset and the source width of one character."""
        at, source, width = self.anchors[self._after(offset) - 1]
        return source + offset - at, width or 1

    def _after(self, offset: int) -> int:
        """Give the index of the first anchor behind `offset`."""
        return bisect_right(self.anchors, offset, key=itemgetter(0))


def clean(source: str) -> CleanText:
    r"""Turn a title or abstract as it came into plain text.

    Parameters
    ----------
    source : str
        Text that may hold LaTeX, JATS, HTML, entities, ligatures, soft
        hyphens, line-break hyphens, an "Abstract" head.

    Returns
    -------
    CleanText
        Composed (NFKC) text with ASCII hyphens and quotes.

    Examples
    --------
    >>> clean(r"a $1.51\times$ gain of na\"ive \textit{SGD}").text
    'a 1.51× gain of naïve SGD'
    >>> clean("<jats:p>We show <jats:italic>x</jats:italic> &lt; y</jats:p>").text
    ' We show x < y '
    """
    done = CleanText(source)
    if not re.search(_UNUSUAL, source):
        return done
    if "&" in source:
        done = _replace(_ENTITY, _entity, done)
    if "<" in done.text:
        done = _replace(_HEADING, _space, done)
        done = _replace(_TAG, _tag, done)
    if "\\" in done.text or "{" in done.text or "$" in done.text:
        for pattern, replacement in _LATEX:
            done = _replace(pattern, replacement, done)
    if not done.text.isascii():
        done = _replace(_NOT_ASCII, _compose, done)
    done = _replace(_LINE_HYPHEN, _join_line, done)
    return _replace(_ABSTRACT_HEAD, _nothing, done)


def is_placeholder(text: str) -> bool:
    """Say whether a cleaned abstract only says that there is none.

    Examples
    --------
    >>> is_placeholder("This paper has been withdrawn by the author.")
    True
    >>> is_placeholder("Withdrawn drugs are classified from their structure.")
    False
    """
    return bool(re.match(_PLACEHOLDER, text))


Replacement = Callable[[re.Match[str]], str]


def _replace(pattern: str, replacement: Replacement, old: CleanText) -> CleanText:
    """Substitute in `old`, keeping the way back to its source."""
    pieces: list[str] = []
    anchors: list[tuple[int, int, int]] = []
    size = done = 0

    def keep(start: int, end: int) -> None:
        """Carry [start, end) of the old text over, with its anchors."""
        nonlocal size
        if start == end:
            return
        first = old._after(start)
        at, source, width = old.anchors[first - 1]
        anchors.append((size, source + start - at, width))
        for at, source, width in old.anchors[first:]:
            if at >= end:
                break
            anchors.append((size + at - start, source, width))
        pieces.append(old.text[start:end])
        size += end - start

    for match in re.finditer(pattern, old.text):
        new = replacement(match)
        if new == match[0]:
            continue
        keep(done, match.start())
        done = match.end()
        # All characters of a replacement point at the whole that it replaces.
        if new:
            source = old._origin(match.start())[0]
            width = sum(old._origin(match.end() - 1)) - source
            anchors.extend((size + i, source, width) for i in range(len(new)))
        pieces.append(new)
        size += len(new)
    if not pieces and not done:
        return old
    keep(done, len(old.text))
    return CleanText("".join(pieces), tuple(anchors) or ((0, 0, 0),))


# Anything below makes the full treatment worth its time.
# Patterns are compiled when they are first used, and kept by `re`: most texts,
# and the start of the program, need none of them.
_UNUSUAL = r"[^\x00-\x7f]|[&<\\{$]|-\s*\n|(?i:^\s*abstract\b)"

# --- markup -------------------------------------------------------------------

_ENTITY = r"&(?:amp;)*(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});"


def _entity(match: re.Match[str]) -> str:
    import html  # whose table is long, for the few texts that hold entities

    text = match[0]
    while (decoded := html.unescape(text)) != text:
        text = decoded
    return text


_INLINE = (
    "a|abbr|b|big|bold|cite|code|em|ext-link|font|i|inline-formula|italic|mark|"
    "monospace|named-content|overline|s|sc|small|span|strike|strong|styled-content|"
    "sub|sup|tt|u|underline|uri|xref|m[inos]|mtext|math|m(?:row|sup|sub|subsup|frac|"
    "sqrt|root|style|over|under|underover|space|fenced|table|tr|td|stretchy)|"
    "semantics|annotation|mspace|mpadded|mphantom|menclose|tex-math|alternatives"
)
_BLOCK = (
    "abstract|article|br|caption|dd|disp-formula|disp-quote|div|dl|dt|h[1-6]|hr|img|"
    "label|li|list|list-item|ol|p|pre|sec|section|table|tbody|td|th|thead|title|tr|ul"
)
_TAG = (
    r"(?is)"
    rf"</?(?:(?:jats|mml|m|ns\d):[A-Za-z][\w.-]*|(?P<inline>{_INLINE})|(?:{_BLOCK}))"
    r"(?:\s[^<>]{0,2000})?\s*/?>|<!--(?:(?!<!--).){0,5000}?-->|<\?.{0,500}?\?>"
)
_TAG_NAME = r"</?(?:\w+:)?([\w.-]+)"
_INLINE_NAME = rf"(?i)(?:{_INLINE})\Z"
_HEADING = (
    r"(?i)"
    r"<(?P<tag>(?:jats:)?title|h[1-6]|(?:jats:)?bold|strong|b)>\s*(?:abstract|summary)"
    r"\s*[.:]?\s*</(?P=tag)>"
)


def _tag(match: re.Match[str]) -> str:
    """Inline markup vanishes; a block boundary is a boundary of words."""
    name = re.match(_TAG_NAME, match[0])
    return "" if name and re.match(_INLINE_NAME, name[1]) else " "


def _space(match: re.Match[str]) -> str:
    return " "


def _nothing(match: re.Match[str]) -> str:
    return ""


def _group(match: re.Match[str]) -> str:
    return match[1]


# --- LaTeX --------------------------------------------------------------------

_COMBINING = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308",
    "=": "\u0304", ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b",
    "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323", "b": "\u0331",
}  # fmt: skip
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron "
    "pi rho sigma tau upsilon phi chi psi omega"
).split()
_LETTERS = "αβγδεζηθικλμνξοπρστυφχψω"
_SYMBOLS = {
    **dict(zip(_GREEK, _LETTERS, strict=True)),
    **{
        name.capitalize(): letter.upper()
        for name, letter in zip(_GREEK, _LETTERS, strict=True)
    },
    "varepsilon": "ε", "vartheta": "θ", "varphi": "φ", "varrho": "ρ", "varsigma": "ς",
    "i": "i", "j": "j", "l": "ł", "L": "Ł", "o": "ø", "O": "Ø", "ss": "ß",
    "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å",
    "times": "×", "cdot": "·", "pm": "±", "mp": "∓", "approx": "≈", "sim": "~",
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "ll": "≪",
    "gg": "≫", "infty": "∞", "to": "→", "rightarrow": "→", "leftarrow": "←",
    "ell": "ℓ", "hbar": "ħ", "circ": "°", "degree": "°", "partial": "∂",
    "nabla": "∇", "in": "∈", "propto": "∝", "equiv": "≡", "sum": "∑", "prod": "∏",
    "int": "∫", "star": "*", "ast": "*", "dagger": "†", "ldots": "…", "dots": "…",
    "cdots": "…", "LaTeX": "LaTeX", "TeX": "TeX", "log": "log", "exp": "exp",
    "min": "min", "max": "max", "arg": "arg", "sin": "sin", "cos": "cos", "tan": "tan",
    "textasciitilde": "~", "textbackslash": "\\", "textmu": "μ", "textdegree": "°",
    "textquotesingle": "'", "textendash": "-", "textemdash": " - ", "S": "§",
    "quad": " ", "qquad": " ", "newline": " ", "par": " ", "item": " ",
}  # fmt: skip
# Commands whose argument is not text.
_SILENT = (
    "cite|citep|citet|citealp|citeauthor|citeyear|ref|eqref|cref|autoref|label|vspace|"
    "hspace|includegraphics|input|begin|end|color|textcolor|usepackage|pagestyle|"
    "setlength|oddsidemargin|bibliography|bibliographystyle|fontsize"
)


def _accent(match: re.Match[str]) -> str:
    letter = match["letter"].replace("\\", "")
    return unicodedata.normalize("NFC", letter + _COMBINING[match["accent"]])


def _symbol(match: re.Match[str]) -> str:
    # A macro of the author's own (\ours, \method) is a name we cannot know;
    # one that opens a group ({\ours} text) only disappears.
    return _SYMBOLS.get(match[1], "")


_LATEX: tuple[tuple[str, Replacement], ...] = (
    (
        (
            r"(?s)\\documentclass.{0,20000}?\\begin\{document\}"
            r"|\\end\{document\}|\A.{0,20000}?\\begin\{abstract\}"
            r"|\\end\{abstract\}.*\Z"
        ),
        _space,
    ),
    (r"\\\\(?:\[[^\]]{0,20}\])?", _space),
    (
        (
            r"\\(?P<accent>[`'^~\"=.])\s*(?:\{\s*(?P<braced>)?)?"
            r"(?P<letter>\\?[A-Za-z])(?(braced)\s*\})"
        ),
        _accent,
    ),
    (
        (
            r"\\(?P<accent>[uvHckrdb])(?:\s*\{|\s+)(?P<letter>\\?[A-Za-z])(?![A-Za-z])\}?"
        ),
        _accent,
    ),
    (
        rf"\\(?:{_SILENT})\*?(?:\[[^\]]{{0,200}}\])*\{{[^{{}}]{{0,500}}\}}",
        _nothing,
    ),
    (r"\\href\s*\{[^{}]{0,500}\}", _nothing),
    (r"\\(?:left|right|[bB]igg?[lr]?)(?![A-Za-z])", _nothing),
    (r"\\([A-Za-z]+)\*?(?:(?<=\s)|[ \t]+(?=[A-Za-z(])|\s*\{\})?", _symbol),
    (r"\\[,;:! ]", _space),
    (r"\\([%&_#${}])", _group),
    (r"\\[()\[\]/-]|(?<!\\)[${}]", _nothing),
)

# --- Unicode and lines --------------------------------------------------------

# A base letter belongs to what it composes with.
_NOT_ASCII = r"(?:[A-Za-z](?=[\u0300-\u036f]))?[^\x00-\x7f]+"
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2014\u2015", " - "),
        **dict.fromkeys("\u2018\u2019\u201a\u2032\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff\u00ac", ""),
        **dict.fromkeys("\u00a0\u2028\u2029", " "),
    }
)


def _compose(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0].translate(_PLAIN))


# A hyphen at a line's end: "optimi-\nzation" is one word, "state-of-the-\nart"
# and "long-\ncontext" keep theirs. Word endings tell them apart.
_LINE_HYPHEN = r"(?<=[a-z])-[ \t]*\r?\n[ \t]*(?=([a-z]+))"
_ENDING = (
    r"(?:[a-z]{0,4}(?:tion|sion|ment|ness|ity|ance|ence|ing|ized?|izer|ist|ism|ical|able|"
    r"ible|ous|ive|ful|ally|tic|ture|gence|rithm|work|ter|ters|tor|tors|ed|ly|er|al|el|"
    r"cy|ty|ry|gy))s?\Z"
)
_WORDS = frozenset(
    "time line scale level order based aware free shot step bit rank term art text "
    "training tuning learning making solving sharing scaling model modal network "
    "agent dimensional driven efficient specific source forward product precision "
    "parallel attention memory layer quality performance resolution range parameter "
    "computer center number user device server supervised guided trained generated "
    "engineered enhanced augmented optimized".split()
)


def _join_line(match: re.Match[str]) -> str:
    tail = match[1]
    return "" if tail not in _WORDS and re.match(_ENDING, tail) else "-"


_ABSTRACT_HEAD = (
    r"\A\s*(?:(?i:abstract)\s*(?:[:.]|--+|-(?=\s)|(?<=\s)-)\s*"
    r"|(?:Abstract|ABSTRACT)(?:-|\s+)(?=(?:We|This|In|The|A|An|Our|It|To|For|As|With|While|"
    r"Recent|Recently|Despite|Although|Many|Most|Large|Deep|Machine|Background|These|"
    r"There|Given|When|Since|On|Here|Current|Existing|Modern|Training|Neural)\b))"
)
_PLACEHOLDER = (
    r"(?is)\s*(?:\W*|(?:n\s*/\s*a|none|null|nan|tba|tbd|to be added|unknown)\W*"
    r"|\W*(?:no|not)\s+(?:an?\s+)?(?:abstract|summary)?\s*(?:is\s+)?(?:available|provided|"
    r"given|found)\W*|abstract\W*"
    r"|\W*(?:(?:this|the)\s+(?:paper|article|submission|manuscript|preprint|work)\s+"
    r"(?:(?:has|is)\s+(?:now\s+)?(?:been\s+)?|was\s+)withdrawn\b"
    r"|withdrawn(?=\W*\Z|\s*[.:;,(-]|\s+(?:by|due|because|for|since|pending)\b)"
    r").{0,300})\Z"
)
