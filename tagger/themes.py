"""Themes: what they are, and the checks that a theme file must pass."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tagger.errors import ThemeError

__all__ = [
    "Theme",
    "Where",
    "check_themes",
    "did_you_mean",
    "kind_of",
    "theme_to_dict",
    "themes_from_dicts",
]

KEYS = ("id", "name", "description", "keywords", "not", "group", "parent")
ID_LENGTH = 64

Where: TypeAlias = Callable[[int, str | None, str | None], str]
"""Says where something stands: position of the theme, its key, a value in it."""


@dataclass(frozen=True, slots=True)
class Theme:
    """A class that records can be about.

    Parameters
    ----------
    id : str
        Stable name in records and models: lower-case letters, digits and single
        hyphens, 1 to 64 characters, so that it is safe in a path.
    name : str
        What people see; any text.
    description : str
        What the theme covers; white space is folded to single blanks.
    keywords : tuple of str
        Phrases that speak for the theme, as written, in file order.
    exclude : tuple of str
        Phrases that speak against it; ``not`` in a theme file.
    group : str
        Heading that gathers themes; ``""`` when there is none.
    parent : str or None
        Id of the broader theme.
    """

    id: str
    name: str
    description: str = ""
    keywords: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    group: str = ""
    parent: str | None = None


def themes_from_dicts(
    entries: Iterable[Mapping[str, Any]], *, source: str = "themes"
) -> tuple[Theme, ...]:
    """Build checked themes from mappings with the keys of a theme file.

    Parameters
    ----------
    entries : iterable of mapping
        One a theme, as `theme_to_dict` makes them.
    source : str, default="themes"
        What to call the place in messages, such as a manifest's path.

    Returns
    -------
    themes : tuple of Theme
        In the order of `entries`.

    Raises
    ------
    ThemeError
        If a theme is wrong; the message gives its position, from 1.
    """
    return check_themes(
        list(entries), lambda at, _key, _value: f"{source}, theme {at + 1}"
    )


def theme_to_dict(theme: Theme) -> dict[str, Any]:
    """Give a theme as JSON-ready values; `themes_from_dicts` turns it back.

    Examples
    --------
    >>> theme_to_dict(Theme(id="a", name="A", exclude=("b",)))["not"]
    ['b']
    """
    return {
        "id": theme.id,
        "name": theme.name,
        "description": theme.description,
        "keywords": list(theme.keywords),
        "not": list(theme.exclude),
        "group": theme.group,
        "parent": theme.parent,
    }


def check_themes(entries: Sequence[Any], where: Where) -> tuple[Theme, ...]:
    """Build themes from the tables of a theme file, or say what is wrong.

    Parameters
    ----------
    entries : sequence
        One a theme; a mapping each, unless the file is wrong.
    where : callable
        Called with the position of a theme, a key or None, and a value or
        None; gives the place for a message.

    Returns
    -------
    themes : tuple of Theme
        In the order of `entries`.

    Raises
    ------
    ThemeError
        If there is no theme, or one is wrong.
    """
    themes = tuple(_theme(entry, at, where) for at, entry in enumerate(entries))
    if not themes:
        raise ThemeError("The list of themes is empty; give at least one theme.")
    ids: dict[str, int] = {}
    names: dict[str, int] = {}
    for at, theme in enumerate(themes):
        if theme.id in ids:
            raise ThemeError(
                f"{where(at, 'id', None)}: id {theme.id!r} is already that of "
                f"{themes[ids[theme.id]].name!r} ({where(ids[theme.id], None, None)}); "
                "give each theme its own id."
            )
        folded = _fold(theme.name)
        if folded in names:
            raise ThemeError(
                f"{where(at, 'name', None)}: name {theme.name!r} differs from "
                f"{themes[names[folded]].name!r} ({where(names[folded], None, None)}) "
                "in case, hyphens or blanks at most; give each theme its own name."
            )
        ids[theme.id] = names[folded] = at
    _check_parents(themes, ids, where)
    return themes


def _check_parents(
    themes: Sequence[Theme], ids: Mapping[str, int], where: Where
) -> None:
    for at, theme in enumerate(themes):
        path = [theme.id]
        parent = theme.parent
        while parent is not None:
            if parent not in ids:
                child = ids[path[-1]]
                raise ThemeError(
                    f"{where(child, 'parent', None)}: parent {parent!r} of theme "
                    f"{path[-1]!r} is no theme of the file"
                    f"{did_you_mean(parent, list(ids))}; name the id of a theme."
                )
            path.append(parent)
            if parent in path[:-1]:
                raise ThemeError(
                    f"{where(at, 'parent', None)}: the parents of theme "
                    f"{theme.id!r} go in a circle ({' > '.join(path)}); "
                    "take one of them out."
                )
            parent = themes[ids[parent]].parent


def _theme(entry: Any, at: int, where: Where) -> Theme:
    if not isinstance(entry, Mapping):
        raise ThemeError(
            f"{where(at, None, None)}: a theme is {kind_of(entry)}, expected a table "
            f"with the keys {', '.join(KEYS)}."
        )
    for key in entry:
        if key not in KEYS:
            raise ThemeError(
                f"{where(at, str(key), None)}: unknown key {key!r}"
                f"{did_you_mean(str(key), KEYS)}; a theme has the keys "
                f"{', '.join(KEYS)}."
            )
    name = _text(entry, "name", at, where)
    if not name:
        raise ThemeError(
            f"{where(at, 'name' if 'name' in entry else None, None)}: the theme has no "
            'name; write name = "..." in it.'
        )
    keywords = _phrases(entry, "keywords", at, where)
    exclude = _phrases(entry, "not", at, where)
    for folded, phrase in exclude.items():
        if folded in keywords:
            raise ThemeError(
                f"{where(at, 'not', phrase)}: {phrase!r} of theme {name!r} is both a "
                "keyword and a 'not' phrase; take it out of one of the two lists."
            )
    return Theme(
        id=_id(entry, name, at, where),
        name=name,
        description=_text(entry, "description", at, where),
        keywords=tuple(keywords.values()),
        exclude=tuple(exclude.values()),
        group=_text(entry, "group", at, where),
        parent=_text(entry, "parent", at, where) or None,
    )


def _id(entry: Mapping[str, Any], name: str, at: int, where: Where) -> str:
    if "id" not in entry:
        slug = _slug(name)
        if not slug:
            raise ThemeError(
                f"{where(at, 'name', None)}: no id can be made from the name {name!r}; "
                'write id = "..." with lower-case letters a-z, digits and hyphens.'
            )
        return slug
    found = entry["id"]
    ok = isinstance(found, str) and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", found)
    if not ok or len(found) > ID_LENGTH:
        hint = _slug(name)
        raise ThemeError(
            f"{where(at, 'id', None)}: id {found!r} of theme {name!r} is not an id: "
            "lower-case letters a-z, digits and single hyphens, at most "
            f"{ID_LENGTH} characters" + (f"; {hint!r} would do." if hint else ".")
        )
    return str(found)


def _slug(name: str) -> str:
    """Make an id from a name: 'FP8/FP4, precision' -> 'fp8-fp4-precision'."""
    spelled = name.replace("#", " sharp ").replace("+", " plus ").replace("&", " and ")
    plain = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    return slug[:ID_LENGTH].rstrip("-")


def _text(entry: Mapping[str, Any], key: str, at: int, where: Where) -> str:
    value = entry.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ThemeError(
            f"{where(at, key, None)}: {key!r} is {kind_of(value)} ({value!r}), "
            "expected text in quotes."
        )
    return " ".join(value.split())


def _phrases(
    entry: Mapping[str, Any], key: str, at: int, where: Where
) -> dict[str, str]:
    """Give the phrases in file order, each under its folded form."""
    values = entry.get(key, [])
    if not isinstance(values, (list, tuple)):
        raise ThemeError(
            f"{where(at, key, None)}: {key!r} is {kind_of(values)} ({values!r}), "
            f'expected a list of phrases; write {key} = ["...", "..."].'
        )
    seen: dict[str, str] = {}
    for value in values:
        if not isinstance(value, str):
            raise ThemeError(
                f"{where(at, key, None)}: {key!r} holds {kind_of(value)} ({value!r}), "
                "expected phrases in quotes."
            )
        folded = _fold(value)
        if not folded[:1].isalnum() and not any(c.isalnum() for c in folded):
            raise ThemeError(
                f"{where(at, key, value)}: {key!r} holds {value!r}, a phrase without a "
                "letter or digit; take it out."
            )
        if folded in seen:
            raise ThemeError(
                f"{where(at, key, value)}: {key!r} holds {value!r} twice (first as "
                f"{seen[folded]!r}; case and hyphens make no difference); "
                "take one of them out."
            )
        seen[folded] = " ".join(value.split())
    return seen


def _fold(phrase: str) -> str:
    """Forget what matching forgets: case, hyphens, runs of blanks."""
    if phrase.isascii():  # nearly all are, and a model is loaded in a moment
        return " ".join(phrase.lower().replace("-", " ").replace("_", " ").split())
    plain = unicodedata.normalize("NFKC", phrase).casefold()
    return " ".join(re.sub(r"[-\u2010-\u2015_\s]+", " ", plain).split())


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Offer the known word that is closest to a mistyped one, if any is close.

    Examples
    --------
    >>> did_you_mean("keyword", ["keywords", "name"])
    " (did you mean 'keywords'?)"
    """
    from difflib import get_close_matches  # loaded for mistakes alone

    close = get_close_matches(word.casefold(), known, n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def kind_of(value: object) -> str:
    """Say what kind of value a theme file holds, in words.

    Examples
    --------
    >>> kind_of([])
    'a list'
    """
    names = {bool: "true or false", int: "a number", float: "a number", str: "text"}
    names |= {list: "a list", dict: "a table", type(None): "nothing"}
    return names.get(type(value), f"a {type(value).__name__}")
