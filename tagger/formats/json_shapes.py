"""What the JSON of each service calls its fields, and how it packs them.

A shape is known by the fields of one record, so a file may mix them. Text stays
as the service gives it; only what its JSON encodes is undone: an abstract kept
as positions of words, lists of one title, values wrapped in objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from tagger.formats.unwrapping import unwrapped

__all__ = ["LIST_FIELDS", "is_csl", "plain_fields"]

LIST_FIELDS = (
    "records",
    "papers",
    "results",
    "data",
    "items",
    "notes",
    "works",
    "recommendedPapers",
)
"""Fields of the outer object that may hold the list of records."""

Fields = dict[str, Any]
_NAME_FIELDS = ("name", "given", "family", "literal", "firstName", "lastName")
_TELLING = frozenset(
    "DOI abstract_inverted_index authors_parsed content corpusId corpusid data "
    "externalIds message paperId submitter type".split()
)
"""An object without any of these is of no known shape, unless its id says so."""
_OPENALEX_ID = re.compile(r"https?://openalex\.org/W\d+", re.IGNORECASE)


def plain_fields(value: Fields) -> tuple[str | None, Fields]:
    """Return the kind of a JSON record, and fields that the door understands.

    Parameters
    ----------
    value : dict of str to object
        One record as a service, a reference manager or a dump gives it.

    Returns
    -------
    kind : str or None
        Such as ``"OpenAlex work"``; None if it is of no known shape.
    fields : dict of str to object
        Known fields under plain names, all others as they came; may be `value`.
    """
    kind, fields = _by_shape(value)
    for name in ("authors", "author"):
        people = fields.get(name)
        if isinstance(people, list) and any(map(_nameless, people)):
            # Services keep the place of a person whose name they do not know.
            named = [person for person in people if not _nameless(person)]
            fields = {**fields, name: named}
    return kind, fields


def _by_shape(value: Fields) -> tuple[str | None, Fields]:
    """Return the kind of a JSON record, and its fields undone."""
    id = value.get("id")
    is_address = isinstance(id, str) and id[:4].lower() == "http"
    if not is_address and value.keys().isdisjoint(_TELLING):
        return None, value
    message = value.get("message")
    if isinstance(message, Mapping) and ("message-type" in value or "DOI" in message):
        value = dict(message)
    if "abstract_inverted_index" in value or _OPENALEX_ID.match(str(value.get("id"))):
        return "OpenAlex work", _openalex(value)
    if isinstance(value.get("content"), Mapping):
        return "OpenReview note", _openreview(value)
    if isinstance(value.get("data"), Mapping) and "itemType" in value["data"]:
        return "Zotero item", {**value, **value["data"]}
    if isinstance(value.get("title"), list) and ("DOI" in value or "type" in value):
        return "Crossref work", _crossref(value)
    if is_csl(value):
        return "CSL item", dict(value)
    if "authors_parsed" in value or {"submitter", "report-no"} <= value.keys():
        return "arXiv metadata", _arxiv(value)
    if value.keys() & {"paperId", "corpusid", "corpusId", "externalIds"}:
        return "Semantic Scholar paper", _semantic_scholar(value)
    return None, dict(value)


def is_csl(value: Mapping[str, Any]) -> bool:
    """Tell whether a JSON record is a CSL item, as reference managers write it."""
    if not isinstance(value.get("type"), str) or isinstance(value.get("title"), list):
        return False
    authors = value.get("author")
    named = isinstance(authors, list) and any(
        isinstance(a, Mapping) and ("family" in a or "literal" in a) for a in authors
    )
    dated = isinstance(value.get("issued"), Mapping)
    return "title" in value and (named or dated or "container-title" in value)


def _openalex(value: Mapping[str, Any]) -> Fields:
    """Undo the inverted index of an OpenAlex work, and name its people."""
    fields = dict(value)
    index = fields.pop("abstract_inverted_index", None)
    if isinstance(index, Mapping):
        fields["abstract"] = _from_positions(index)
    fields["title"] = value.get("title") or value.get("display_name")
    people = (_at(p, "author", "display_name") for p in _list(value, "authorships"))
    fields["authors"] = [name for name in people if isinstance(name, str)]
    fields["year"] = value.get("publication_year")
    fields["venue"] = _at(value, "primary_location", "source", "display_name")
    fields["subject"] = _at(value, "primary_topic", "display_name")
    return fields


def _from_positions(index: Mapping[str, Any]) -> str:
    """Return a text from its words and their positions; gaps are closed."""
    placed: list[tuple[int, str]] = []
    for word, positions in index.items():
        if isinstance(positions, list):
            placed += [(at, word) for at in positions if isinstance(at, int)]
    return " ".join(word for _, word in sorted(placed, key=lambda pair: pair[0]))


def _crossref(value: Mapping[str, Any]) -> Fields:
    """Take the first of the lists of a Crossref work."""
    fields = dict(value)
    for name in ("title", "container-title"):
        parts = [part for part in _list(value, name) if isinstance(part, str)]
        fields[name] = parts[0] if parts else None
    fields["id"] = value.get("id") or value.get("DOI")
    dates = ("issued", "published", "published-print", "published-online", "created")
    fields["year"] = next((year for d in dates if (year := _year(value.get(d)))), None)
    fields["authors"] = [
        name for person in _list(value, "author") if (name := _person(person))
    ]
    fields["subject"] = "; ".join(map(str, _list(value, "subject"))) or None
    return fields


def _openreview(value: Mapping[str, Any]) -> Fields:
    """Lift the content of an OpenReview note; version 2 wraps each value."""
    fields = {name: part for name, part in value.items() if name != "content"}
    for name, part in value["content"].items():
        wrapped = isinstance(part, Mapping) and "value" in part
        fields.setdefault(name, part["value"] if wrapped else part)
    stamp = value.get("pdate") or value.get("odate") or value.get("cdate")
    if "year" not in fields and isinstance(stamp, int) and 0 < stamp < 4e12:
        fields["year"] = datetime.fromtimestamp(stamp / 1000, UTC).year
    area = fields.get("primary_area") or fields.get("Primary_Area")
    if area and not fields.get("subject"):
        fields["subject"] = area
    return fields


def _arxiv(value: Mapping[str, Any]) -> Fields:
    """Unwrap the lines of an arXiv record; its first category is the subject."""
    fields = dict(value)
    for name in ("title", "abstract"):
        if isinstance(value.get(name), str):
            fields[name] = unwrapped(value[name], indents=name == "abstract")
    categories = value.get("categories")
    if isinstance(categories, str) and categories.split():
        fields["subject"] = categories.split()[0]
    parsed = [person for person in _list(value, "authors_parsed") if _texts(person)]
    if parsed:
        fields["authors"] = [
            " ".join(filter(None, (*person[1:2], person[0], *person[2:3])))
            for person in parsed
        ]
    versions = _list(value, "versions")
    first = _at(versions[0], "created") if versions else None
    fields["year"] = first or value.get("update_date")
    return fields


def _semantic_scholar(value: Mapping[str, Any]) -> Fields:
    """Name a Semantic Scholar paper by its own id, and keep its other ids."""
    fields = dict(value)
    own = ("paperId", "corpusid", "corpusId")
    fields["id"] = next((value[name] for name in own if value.get(name)), None)
    access = value.get("openaccessinfo")
    others = (
        value.get("externalIds")
        or value.get("externalids")
        or _at(access, "externalids")
    )
    if isinstance(others, Mapping):
        fields.setdefault("doi", others.get("DOI"))
        fields.setdefault("arxiv", others.get("ArXiv"))
    fields["venue"] = value.get("venue") or _at(value, "journal", "name")
    studies = _list(value, "fieldsOfStudy") or [
        _at(study, "category")
        for name in ("s2FieldsOfStudy", "s2fieldsofstudy")
        for study in _list(value, name)
    ]
    named = [study for study in studies if isinstance(study, str)]
    fields["subject"] = "; ".join(dict.fromkeys(named)) or None
    return fields


def _at(value: Any, *names: str) -> Any:
    """Return a value inside objects, None where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    """Return a field that should be a list, empty if it is not."""
    found = value.get(name)
    return found if isinstance(found, list) else []


def _texts(value: Any) -> bool:
    """Tell whether a value is a list of texts."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(part, str) for part in value)
    )


def _nameless(person: Any) -> bool:
    """Tell whether an object has the fields of a name, and nothing in them."""
    if not isinstance(person, Mapping):
        return False
    names = [person[key] for key in _NAME_FIELDS if key in person]
    return bool(names) and not any(names)


def _person(value: Any) -> str:
    """Return the name of a Crossref contributor; a group has one name."""
    parts: Iterable[Any] = (_at(value, "given"), _at(value, "family"))
    named = " ".join(part for part in parts if isinstance(part, str))
    whole = _at(value, "name")
    return named or (whole if isinstance(whole, str) else "")


def _year(value: Any) -> int | None:
    """Return the year of ``{"date-parts": [[2024, 1, 31]]}``."""
    parts = _at(value, "date-parts")
    try:
        year = parts[0][0]
    except (TypeError, IndexError, KeyError):
        return None
    return int(year) if isinstance(year, int) else None
