"""Reading theme files: TOML, with the line that each mistake stands on."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import IO, Any

from tagger.errors import ThemeError
from tagger.themes import Theme, Where, check_themes, did_you_mean, kind_of

__all__ = ["read_themes"]


def read_themes(
    source: str | PathLike[str] | IO[bytes] | IO[str],
) -> tuple[Theme, ...]:
    """Read and check a theme file: TOML, one ``[[theme]]`` table a theme.

    Parameters
    ----------
    source : path or file object
        UTF-8, with or without a byte-order mark, any line ends.

    Returns
    -------
    themes : tuple of Theme
        At least one, in file order.

    Raises
    ------
    ThemeError
        If the file cannot be read or a theme in it is wrong; the message names
        the file and the line.

    Examples
    --------
    >>> import io
    >>> read_themes(io.StringIO('theme = [{name = "GPT-4.1"}]'))[0].id
    'gpt-4-1'
    """
    name, text = _read_text(source)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ThemeError(_syntax_message(name, text, error)) from error
    except RecursionError as error:
        raise ThemeError(
            f"{name} is nested too deep; a theme file is a list of [[theme]] tables."
        ) from error
    return check_themes(_tables(document, name, text), _line_finder(name, text))


def _read_text(source: str | PathLike[str] | IO[bytes] | IO[str]) -> tuple[str, str]:
    """Name of the source, and its text without byte-order mark and CR."""
    content: bytes | str
    if isinstance(source, (str, PathLike)):
        name = str(Path(source))
        try:
            content = Path(source).read_bytes()
        except OSError as error:
            raise ThemeError(
                f"{name}: the theme file cannot be read ({error.strerror}); "
                "check the path."
            ) from error
    else:
        name = str(getattr(source, "name", "theme file"))
        content = source.read()
    if isinstance(content, bytes):
        try:
            content = content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise ThemeError(
                f"{name}:{line}: byte {error.object[error.start]:#04x} is not UTF-8; "
                "save the theme file as UTF-8."
            ) from error
    lines = content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return name, lines


def _syntax_message(name: str, text: str, error: tomllib.TOMLDecodeError) -> str:
    found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", str(error))
    line = found[1] if found and found[1] else str(len(text.splitlines()) or 1)
    problem = str(error)[: found.start()] if found else str(error)
    return f"{name}:{line}: not valid TOML: {problem}; correct that line."


def _tables(document: dict[str, Any], name: str, text: str) -> list[Any]:
    """Return the theme tables; nothing else may stand at the top of the file."""
    for key in document:
        if key != "theme":
            line = _find(rf"\s*(\[\[?\s*)?{re.escape(key)}\b", text.splitlines()) or 1
            raise ThemeError(
                f"{name}:{line}: unknown entry {key!r} at the top of the theme file"
                f"{did_you_mean(key, ['theme'])}; write one [[theme]] table a theme."
            )
    tables = document.get("theme", [])
    if not isinstance(tables, list):
        line = _find(r"\s*\[?\s*theme\b", text.splitlines()) or 1
        raise ThemeError(
            f"{name}:{line}: 'theme' is {kind_of(tables)}, expected an array of "
            "tables; write [[theme]] with two brackets."
        )
    if not tables:
        raise ThemeError(
            f"{name}:1: the file has no theme; write at least one [[theme]] table "
            "with a name."
        )
    return tables


def _line_finder(name: str, text: str) -> Where:
    """Find places in the source by searching it: tomllib keeps no positions."""
    lines = text.splitlines()
    heads = [n for n, line in enumerate(lines) if re.match(r"\s*\[\[\s*theme\b", line)]

    def where(at: int, key: str | None, value: str | None) -> str:
        if at >= len(heads):  # theme = [{...}], all in one array
            return f"{name}:{_find('theme', lines) or 1}"
        end = heads[at + 1] if at + 1 < len(heads) else len(lines)
        line = heads[at] + 1
        if key is not None:
            equals = rf"\s*[\"']?{re.escape(key)}[\"']?\s*="
            line += (_find(equals, lines[line:end]) or 0) if line < end else 0
        if value is not None:
            block = lines[line - 1 : end]
            block = block[: _find(r"[^#]*\]\s*(#.*)?$", block)]
            # the last place: of a phrase written twice, the second is the mistake
            quoted = re.compile(rf"[\"']{re.escape(value)}[\"']")
            line += max((n for n, s in enumerate(block) if quoted.search(s)), default=0)
        return f"{name}:{line}"

    return where


def _find(pattern: str, lines: Sequence[str]) -> int | None:
    """Return the first line, from 1, that begins with the pattern."""
    return next((n for n, s in enumerate(lines, 1) if re.match(pattern, s)), None)
