"""Undoing the line breaks that a format puts into running text."""

from __future__ import annotations

import re

__all__ = ["unwrapped"]

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_INDENTED = re.compile(r"\n[ \t]*\n\s*|\n[ \t]+")
_BLANK = re.compile(r"[ \t\n]+")


def unwrapped(text: str, *, indents: bool = False) -> str:
    r"""Return text with its lines joined; blank lines stay paragraphs.

    A line that ends in a hyphen keeps its end: whether the word goes on is for
    the cleaning of text to say.

    Parameters
    ----------
    text : str
        As the format holds it.
    indents : bool, default=False
        True where an indented line starts a paragraph, as on arXiv.

    Examples
    --------
    >>> unwrapped(" Foo\n  bar ")
    'Foo bar'
    >>> unwrapped("We tag\npapers.\n  They are good.\n", indents=True)
    'We tag papers.\n\nThey are good.'
    """
    text = text.strip()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    parts = (_INDENTED if indents else _PARAGRAPH).split(text)
    return "\n\n".join(
        _BLANK.sub(_joined, part.strip()) for part in parts if part.strip()
    )


def _joined(found: re.Match[str]) -> str:
    """Return what stands between two words."""
    at = found.start()
    hyphen = at > 0 and found.string[at - 1] == "-" and "\n" in found[0]
    return "\n" if hyphen else " "
