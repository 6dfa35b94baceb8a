"""What the fields of a record are called in files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from tagger.errors import RecordError

__all__ = ["DEFAULT_NAMES", "FIELD_NAMES", "NameTable", "name_table", "plain_name"]

FIELD_NAMES: dict[str, tuple[str, ...]] = {
    "id": (
        "id",
        "paper_id",
        "key",
        "citation_key",
        "arxiv_id",
        "corpus_id",
        "uid",
        "pmid",
        "AN",
    ),
    "title": (
        "title",
        "article_title",
        "paper_title",
        "display_name",
        "name",
        "TI",
        "T1",
        "BTI",
    ),
    "abstract": (
        "abstract",
        "summary",
        "abstract_note",
        "paper_abstract",
        "abstract_text",
        "text",
        "body",
        "content",
        "AB",
        "N2",
    ),
    "themes": ("themes", "theme", "labels", "label"),
    "unsure": ("unsure",),
    "year": (
        "year",
        "publication_year",
        "pub_year",
        "published",
        "publication_date",
        "date",
        "issued",
        "created",
        "PY",
        "Y1",
        "DP",
        "DA",
    ),
    "authors": (
        "authors",
        "author",
        "creators",
        "author_names",
        "FAU",
        "AU",
        "A1",
    ),
    "authors_cut": ("authors_cut",),
    "subject": (
        "subject",
        "primary_category",
        "primaryclass",
        "categories",
        "subjects",
    ),
    "venue": (
        "venue",
        "journal",
        "journal_ref",
        "container_title",
        "publication_title",
        "source_title",
        "booktitle",
        "conference",
        "journaltitle",
        "JF",
        "JO",
        "JT",
        "T2",
        "SO",
    ),
    "doi": ("doi", "DO", "DI"),
    "sources": ("sources",),
}
"""Field of a record: the names it goes by in files, the preferred one first.

Names are compared without case, blanks, hyphens and underscores. Those of two
and three capitals are the tags of RIS, nbib and Web of Science.
"""

_NOT_PLAIN = re.compile(r"[\W_]+")
_PLANS_KEPT = 1024


class NameTable(dict[str, tuple[str, int]]):
    """Plain name in a file: (field of the record, rank; the lowest rank wins)."""

    def __init__(self) -> None:
        self._plans: dict[tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]] = {}

    def plan(self, names: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return each field that some names stand for, and them, the best first.

        Kept, since most records of a file have the same names.
        """
        if (known := self._plans.get(names)) is not None:
            return known
        found: dict[str, list[tuple[int, str]]] = {}
        for name in names:
            if target := self.get(plain_name(name)):
                found.setdefault(target[0], []).append((target[1], name))
        plan = tuple(
            (field, tuple(name for _, name in sorted(ranked)))
            for field, ranked in found.items()
        )
        if len(self._plans) >= _PLANS_KEPT:
            self._plans.clear()
        self._plans[names] = plan
        return plan


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """Return a field name without case, blanks, hyphens and underscores.

    Examples
    --------
    >>> plain_name("Abstract Note") == plain_name("abstractNote")
    True
    """
    return _NOT_PLAIN.sub("", name).casefold()


def name_table(mapping: Mapping[str, str | Sequence[str]] | None = None) -> NameTable:
    """Return the table of field names, with a user's own names in front.

    Parameters
    ----------
    mapping : mapping of str to str or sequence of str, optional
        Field of a record to the name, or names, it has in the file, such as
        ``{"abstract": "summary"}``.

    Returns
    -------
    table : NameTable

    Raises
    ------
    RecordError
        If `mapping` names a field that records do not have.
    """
    table = NameTable()
    for field, names in FIELD_NAMES.items():
        for rank, name in enumerate(names):
            table[plain_name(name)] = (field, rank)
    for field, given in (mapping or {}).items():
        if field not in FIELD_NAMES:
            raise RecordError(
                f"The mapping names the field {field!r}; a record has the fields "
                f"{sorted(FIELD_NAMES)}. Write it as field=name-in-the-file."
            )
        own = (given,) if isinstance(given, str) else tuple(given)
        for rank, name in enumerate(own):
            table[plain_name(name)] = (field, rank - len(own))
    return table


DEFAULT_NAMES: NameTable = name_table()
