"""Tags with a history: what stays, what is replaced, what is remembered.

One rule in every format. Beside the tags of a record a *memory* is kept: the
themes that the model wrote last, and those that a person took away again.

* A tag that is not the model's is a person's and stays as it is.
* The model's tags are replaced by its new ones.
* A theme that the memory says was written, and that is gone, was removed by a
  person. It is remembered as removed and not given again, until a person puts
  it back.

Where tags are objects (JSON) each says who gave it. Where they are words among
a person's keywords (BibTeX, RIS, CSL-JSON, tables) a word is the model's if the
memory says so; the memory then also holds probability, model and date. Tags
that come out as they were keep their date, so tagging twice changes no byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from tagger.errors import RecordError
from tagger.records import Tag

__all__ = [
    "MEMORY_FIELD",
    "History",
    "changed_keywords",
    "changed_words",
    "check_word",
    "history_of_words",
    "memory_text",
    "memory_value",
    "parsed_memory",
    "persons_words",
    "retagged",
    "rounded",
    "split_words",
    "telling_of_kept_out",
]

MEMORY_FIELD = "tagger"
"""Name of the field that holds the memory."""

_LONGEST_MEMORY = 100_000
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_tell_of_kept_out: ContextVar[Callable[[], object] | None] = ContextVar(
    "_tell_of_kept_out", default=None
)


@dataclass(frozen=True, slots=True)
class History:
    """The tags of a record and what is remembered about them.

    Parameters
    ----------
    tags : tuple of Tag
        A person's and the model's, as the file holds them now.
    written : tuple of Tag
        What the model wrote last; a part that is not in `tags` was removed.
    removed : tuple of str
        Themes that a person removed earlier.
    """

    tags: tuple[Tag, ...] = ()
    written: tuple[Tag, ...] = ()
    removed: tuple[str, ...] = ()


def retagged(old: History, new: Sequence[Tag]) -> History:
    """Return the history after the model gave the tags `new`.

    Examples
    --------
    >>> once = retagged(History(tags=(Tag("mine", 1.0, "human"),)), [Tag("moe", 0.9)])
    >>> [tag.theme for tag in once.tags]
    ['mine', 'moe']
    >>> without = History(once.tags[:1], once.written, once.removed)
    >>> retagged(without, [Tag("moe", 0.95)]).removed
    ('moe',)
    """
    if not (old.tags or old.written or old.removed):
        # Of most records there is nothing to remember.
        if not new:
            return old
        models = {tag.theme for tag in new if tag.source == "model"}
        if len(models) == len(new):
            return History(tuple(new), tuple(new))
    present = {tag.theme for tag in old.tags}
    gone = [tag.theme for tag in old.written if tag.theme not in present]
    removed = [t for t in dict.fromkeys((*old.removed, *gone)) if t not in present]
    kept = [tag for tag in old.tags if tag.source != "model"]
    taken = {tag.theme for tag in kept}
    fresh: list[Tag] = []
    for tag in new:
        if tag.theme in taken or (tag.source == "model" and tag.theme in removed):
            continue
        taken.add(tag.theme)
        fresh.append(tag)
    tell = _tell_of_kept_out.get()
    kept_out = (tag.source == "model" and tag.theme in removed for tag in new)
    if tell is not None and any(kept_out):
        tell()
    # A person's come first, so the next run finds them where they are now.
    fresh.sort(key=lambda tag: tag.source == "model")
    before = [tag for tag in old.tags if tag.source == "model"]
    given = [tag for tag in fresh if tag.source != "model"]
    written = fresh[len(given) :]
    if sorted(map(_without_date, before)) == sorted(map(_without_date, written)):
        written = before
    return History(
        tags=(*kept, *given, *written),
        written=tuple(written),
        removed=tuple(t for t in removed if t not in {tag.theme for tag in given}),
    )


@contextmanager
def telling_of_kept_out(tell: Callable[[], object]) -> Iterator[None]:
    """Call `tell` for each record of which `retagged` keeps a removed tag out."""
    before = _tell_of_kept_out.set(tell)
    try:
        yield
    finally:
        _tell_of_kept_out.reset(before)


def memory_value(history: History, *, rich: bool) -> dict[str, Any]:
    """Return the memory as an object to write; empty if there is nothing to say.

    Parameters
    ----------
    history : History
        After `retagged`.
    rich : bool
        True where the tags themselves say probability, model and date.
    """
    value: dict[str, Any] = {}
    if not rich:
        for name in ("model", "date"):
            found = [v for tag in history.written if (v := getattr(tag, name))]
            if found:
                value[name] = found[0]
    if history.written:
        themes = {tag.theme: rounded(tag.probability) for tag in history.written}
        value["written"] = list(themes) if rich else themes
    if history.removed:
        value["removed"] = list(history.removed)
    return value


def memory_text(history: History) -> str:
    """Return the memory as one line of JSON, "" if there is nothing to say."""
    value = memory_value(history, rich=False)
    # A brace inside a string would have a meaning in BibTeX.
    return _STRING.sub(_without_braces, json.dumps(value)) if value else ""


def parsed_memory(value: Any) -> tuple[tuple[Tag, ...], tuple[str, ...]] | None:
    """Return what the model wrote and what was removed; None if not a memory.

    Parameters
    ----------
    value : object
        What the field holds: an object, its JSON text, or something foreign.
    """
    if value is None or value == "":
        return (), ()
    if isinstance(value, str):
        if len(value) > _LONGEST_MEMORY or not value.lstrip().startswith("{"):
            return None
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, Mapping):
        return None
    if not set(value) <= {"model", "date", "written", "removed"}:
        return None
    written, removed = value.get("written") or {}, value.get("removed") or []
    model, date = value.get("model"), value.get("date")
    if not isinstance(written, Mapping | list) or not isinstance(removed, list):
        return None
    tags = []
    for theme in written:
        chance = written[theme] if isinstance(written, Mapping) else 1.0
        if not isinstance(theme, str) or not isinstance(chance, int | float):
            return None
        tags.append(
            Tag(
                theme,
                float(chance),
                "model",
                model if isinstance(model, str) else None,
                date if isinstance(date, str) else None,
            )
        )
    return tuple(tags), tuple(theme for theme in removed if isinstance(theme, str))


def history_of_words(words: Sequence[str], memory: Any) -> History:
    """Return the history of a record whose tags are words among others."""
    written, removed = parsed_memory(memory) or ((), ())
    known = {tag.theme: tag for tag in written}
    tags = tuple(known.get(word) or Tag(word, 1.0, "human") for word in words)
    return History(tags, written, removed)


def changed_words(words: Sequence[str], old: History, new: History) -> list[str]:
    """Return the words with the model's changed; all others keep their place."""
    themes = [tag.theme for tag in new.tags]
    gone = {tag.theme for tag in old.written} - set(themes)
    return [word for word in words if word not in gone] + [
        theme for theme in themes if theme not in words
    ]


def changed_keywords(text: str, old: History, new: History) -> str:
    """Return keywords as text with the model's changed.

    Examples
    --------
    >>> new = retagged(History(), [Tag("moe", 0.9)])
    >>> changed_keywords("a;b", History(), new), changed_keywords("", History(), new)
    ('a;b; moe', 'moe')
    """
    separator, words = split_words(text)
    changed = changed_words(words, old, new)
    if changed[: len(words)] != words:
        return separator.join(changed)
    if len(changed) == len(words):
        return text
    before = text.rstrip(f"{separator}\r\n\t")
    return separator.join([*([before] if words else []), *changed[len(words) :]])


def persons_words(words: Sequence[str], history: History) -> list[str]:
    """Return the words that a person wrote, which may be read as labels."""
    written = {tag.theme for tag in history.written}
    return [word for word in words if word not in written]


def split_words(text: str) -> tuple[str, list[str]]:
    """Return what stands between keywords, and the keywords.

    Examples
    --------
    >>> split_words("deep learning; moe"), split_words("a, b")
    (('; ', ['deep learning', 'moe']), (', ', ['a', 'b']))
    """
    separator = ";" if ";" in text else ","
    words = (" ".join(word.split()) for word in text.split(separator))
    return f"{separator} ", [word for word in words if word]


def check_word(theme: str, forbidden: str, where: str) -> None:
    """Refuse a theme that would be read back as something else.

    Raises
    ------
    RecordError
        If the theme holds one of the characters in `forbidden`.
    """
    if not theme.strip() or any(char in theme for char in forbidden):
        raise RecordError(
            f"{where}: the theme {theme!r} cannot stand among keywords, where "
            f"{forbidden.strip()!r} have a meaning; use a theme id of letters, digits "
            "and hyphens."
        )


def rounded(probability: float) -> float:
    """Return a probability as it is written."""
    return round(float(probability), 4)


def _without_braces(found: re.Match[str]) -> str:
    """Return a JSON string with its braces escaped."""
    return found[0].replace("{", "\\u007b").replace("}", "\\u007d")


def _without_date(tag: Tag) -> tuple[str, float, str]:
    """Return what makes two model tags the same."""
    return tag.theme, rounded(tag.probability), tag.model or ""
