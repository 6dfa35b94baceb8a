"""One paper record: its checked shape, and the keys by which it is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import Any

from tagger.errors import RecordError
from tagger.fields import DEFAULT_NAMES, NameTable, plain_name
from tagger.identity import (
    arxiv_id,
    normal_doi,
    normal_name,
    normal_title,
    text_fingerprint,
)
from tagger.values import (
    MAX_TEXT,
    as_authors,
    as_labels,
    as_text,
    as_year,
    clean_text,
    is_clean,
    is_missing,
)

__all__ = [
    "Record",
    "Tag",
    "batches",
    "identity_keys",
    "make_record",
    "normal_title",
    "record_fields",
]

_ID_FIELDS = frozenset(
    {"arxiv", "arxivid", "eprint", "entryid", "url", "link", "archiveid"}
)


_TEXTS = frozenset({"id", "title", "abstract", "subject", "venue", "doi"})
_LISTS = frozenset({"themes", "unsure", "sources"})


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Record:
    """A paper, as every part of the package behind the readers sees it.

    Parameters
    ----------
    id : str
        Name of the record in its file; never empty. Readers make one
        (``"new.jsonl:17"``) where the file has none.
    title, abstract : str
        Text as it came, not cleaned; ``""`` when the file has none.
    themes : tuple of str or None
        Labels a person gave. ``()`` is "labelled: no theme applies",
        ``None`` is "not labelled". They are never the same thing.
    unsure : tuple of str
        Themes a person could not decide; left out of training and counts.
    year : int or None
        Year of publication.
    authors : tuple of str
        In order; possibly cut, see `authors_cut`.
    authors_cut : bool
        True when the source says that the author list goes on.
    subject : str or None
        Subject class as the source gives it, such as ``"cs.LG"``.
    venue : str or None
        Journal, conference or preprint server.
    doi : str or None
        As the source gives it.
    sources : tuple of str
        Names of the files or documents that hold this paper, in reading
        order.
    line : int or None
        First line (from 1) or row of the record in its source, for messages.
    extra : mapping of str to object
        Every other field, unchanged, under the source's own name.
    """

    id: str
    title: str = ""
    abstract: str = ""
    themes: tuple[str, ...] | None = None
    unsure: tuple[str, ...] = ()
    year: int | None = None
    authors: tuple[str, ...] = ()
    authors_cut: bool = False
    subject: str | None = None
    venue: str | None = None
    doi: str | None = None
    sources: tuple[str, ...] = ()
    line: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __init__(
        self,
        *,
        id: str,
        title: str = "",
        abstract: str = "",
        themes: tuple[str, ...] | None = None,
        unsure: tuple[str, ...] = (),
        year: int | None = None,
        authors: tuple[str, ...] = (),
        authors_cut: bool = False,
        subject: str | None = None,
        venue: str | None = None,
        doi: str | None = None,
        sources: tuple[str, ...] = (),
        line: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        # Frozen, a field is set by a call; for as long as all are filled in, this
        # is an object that is open, which takes a third of the time.
        record: Any = self
        kind = record.__class__
        object.__setattr__(record, "__class__", _OpenRecord)
        record.id = id
        record.title = title
        record.abstract = abstract
        record.themes = themes
        record.unsure = unsure
        record.year = year
        record.authors = authors
        record.authors_cut = authors_cut
        record.subject = subject
        record.venue = venue
        record.doi = doi
        record.sources = sources
        record.line = line
        record.extra = {} if extra is None else extra
        record.__class__ = kind


class _OpenRecord:
    __slots__ = tuple(each.name for each in fields(Record))


@dataclass(frozen=True, slots=True)
class Tag:
    """A theme given to a record.

    Parameters
    ----------
    theme : str
        Id of the theme.
    probability : float
        In [0, 1]; 1 for what a person says.
    source : str, default="model"
        Who gave it: ``"model"``, ``"human"``, or another name.
    model : str, optional
        Id of the model that gave it.
    date : str, optional
        Day since when the model gives it so, as ``"2026-01-31"``.
    """

    theme: str
    probability: float
    source: str = "model"
    model: str | None = None
    date: str | None = None


def make_record(
    fields: Mapping[str, Any],
    *,
    source: str,
    line: int | None,
    mapping: NameTable = DEFAULT_NAMES,
    notes: Counter[str] | None = None,
) -> Record:
    """Check the fields of one record as a file gives them; the only door.

    Parameters
    ----------
    fields : mapping of str to object
        Names and values as the file has them.
    source : str
        Name of the file.
    line : int or None
        Line or row where the record starts, from 1.
    mapping : NameTable
        Which name means which field: `tagger.fields.name_table`.
    notes : Counter, optional
        Gains one for each kind of thing that had to be changed or is missing;
        the keys complete the sentence "3 records ...".

    Raises
    ------
    RecordError
        If no field can be a title or an abstract, or a value has the wrong
        type. The message names the file and the line.
    """
    where = source if line is None else f"{source}:{line}"
    seen: set[str] = set()
    known, extra = _sorted_fields(fields, mapping, seen)
    if "title" not in known and "abstract" not in known:
        raise RecordError(
            f"{where}: the record has no title and no abstract; its fields are "
            f"{_listing(fields)}. Name one with --map abstract=FIELD."
        )

    given: dict[str, Any] = {}
    # Most fields are missing in most records, so only those that are there are read.
    for name, value in known.items():
        if value is None or value == "":
            continue
        if name in _TEXTS:
            # Nearly all texts are kept as they are.
            if type(value) is str and len(value) <= MAX_TEXT and is_clean(value):
                given[name] = value
            elif text := _text(value, name, where, seen):
                given[name] = text
        elif name in _LISTS:
            given[name] = as_labels(value, name, where)
        elif name == "year":
            given[name] = as_year(value)
            if given[name] is None:
                seen.add("with a year that cannot be read, left out")
        elif name == "authors":
            authors, cut = as_authors(value, name, where)
            given[name] = tuple([clean_text(author)[0] for author in authors])
            given["authors_cut"] = cut or given.get("authors_cut", False)
        else:
            given[name] = _is_true(value) or given.get(name, False)
    given["id"] = given.get("id", "").strip() or where
    given["unsure"] = given.get("unsure") or ()
    given["sources"] = given.get("sources") or (source,)
    if "doi" in given:
        given["doi"] = given["doi"].strip() or None
    record = Record(line=line, extra=extra, **given)
    if not record.abstract or record.abstract.isspace():
        seen.add("without an abstract" if record.title.strip() else "without any text")
    if notes is not None and seen:
        notes.update(seen)
    return record


def record_fields(record: Record) -> dict[str, Any]:
    """Return the fields to write for a record; `make_record` reads them back.

    Empty fields are left out, but ``themes`` of ``()`` is written as ``[]``:
    it says that a person found no theme.
    """
    fields: dict[str, Any] = {"id": record.id, "title": record.title}
    fields["abstract"] = record.abstract
    for name in ("year", "subject", "venue", "doi"):
        if (value := getattr(record, name)) is not None:
            fields[name] = value
    if record.authors:
        fields["authors"] = list(record.authors)
    if record.authors_cut:
        fields["authors_cut"] = True
    if record.themes is not None:
        fields["themes"] = list(record.themes)
    if record.unsure:
        fields["unsure"] = list(record.unsure)
    fields["sources"] = list(record.sources)
    return fields | {k: v for k, v in record.extra.items() if k not in fields}


def identity_keys(record: Record) -> tuple[str, ...]:
    """Return the names by which a paper is known, the surest first.

    Two records that share a key are the same paper. The keys are the arXiv id
    without its version, the DOI, the title with the first author, and the text
    of the abstract where it is long enough to name a paper.

    Examples
    --------
    >>> identity_keys(Record(id="2401.00001v2", title="On Tags", authors=("A Li",)))
    ('arxiv:2401.00001', 'title:ontags|li')
    """
    keys = []
    names = [record.id, record.doi or ""]
    names += [
        value
        for name, value in record.extra.items()
        if isinstance(value, str) and plain_name(name) in _ID_FIELDS
    ]
    keys += [f"arxiv:{found}" for name in names if (found := arxiv_id(name))]
    doi = normal_doi(record.doi) if record.doi else None
    if doi and not doi.startswith("10.48550/"):
        keys.append(f"doi:{doi}")
    if title := normal_title(record.title):
        first = normal_name(record.authors[0]) if record.authors else ""
        keys.append(f"title:{title}|{first}")
    if fingerprint := text_fingerprint(record.abstract):
        keys.append(f"text:{fingerprint}")
    return tuple(dict.fromkeys(keys))


def _sorted_fields(
    fields: Mapping[str, Any], mapping: NameTable, seen: set[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return values by field of a record, and the rest under its own name."""
    extra = dict(fields)
    for name, value in fields.items():
        if isinstance(value, float) and is_missing(value):
            seen.add("with a NaN, read as missing")
            extra[name] = None
    known: dict[str, Any] = {}
    for target, names in mapping.plan(tuple(extra)):
        best = names[0]
        if len(names) > 1:
            # The preferred name wins, but not when it is empty and another is not.
            best = next((n for n in names if extra[n] not in (None, "")), best)
        known[target] = extra.pop(best)
    return known, extra


def batches(records: Iterable[Record], size: int) -> Iterator[list[Record]]:
    """Yield records in lists of up to so many, in their order; >= 1."""
    records = iter(records)
    while batch := list(islice(records, size)):
        yield batch


def _text(value: Any, name: str, where: str, seen: set[str]) -> str:
    """Return a field's text, with what cannot be printed replaced."""
    cleaned, changed = clean_text(as_text(value, name, where))
    if changed:
        seen.add("with control characters or broken Unicode, replaced")
    if len(cleaned) > MAX_TEXT:
        seen.add(f"with a text over {MAX_TEXT:,} characters, truncated")
        return cleaned[:MAX_TEXT]
    return cleaned


def _is_true(value: Any) -> bool:
    """Read a truth value from JSON or from a table."""
    return value is True or str(value).strip().lower() in {"true", "1", "yes"}


def _listing(names: Iterable[str]) -> str:
    """Return names for a message, the first ten of them."""
    listed = [str(name) for name in names]
    rest = f" and {len(listed) - 10} more" if len(listed) > 10 else ""
    return f"{listed[:10]}{rest}"
