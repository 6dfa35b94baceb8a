"""A data set of many files, tagged part by part, by whoever is free.

Beside the output an account is kept of each part, in the hidden folder
``.tagger``: a part is done when its account says so, whoever died in between.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from tagger.arrivals import Job, jobs_in, places_of
from tagger.autotag import model_id
from tagger.errors import ModelError, RecordError
from tagger.formats import FORMATS, Entry, Reading, suffix_of
from tagger.model import Tagger, load
from tagger.places import HIDDEN, Folder, Work, at_hand
from tagger.tagging import Existing, Tagging

__all__ = ["Account", "Part", "Plan", "parts_of", "parts_to_do", "tag_part"]


@dataclass(frozen=True, slots=True)
class Plan:
    """How each part of a data set is tagged; the same for all, on every worker.

    Parameters
    ----------
    out : str
        Folder or URL of the output.
    model : str or None
        Folder of the model as the workers see it; None is the shipped model.
    name : str
        Id of the model; a worker that finds another one refuses to work.
    date : str
        Day that new tags get.
    jobs : int
        Threads that score side by side on a worker.
    format, encoding, mapping
        As for `tagger.formats.read_entries`.
    """

    out: str
    model: str | None
    name: str
    date: str
    jobs: int = 1
    format: str | None = None
    encoding: str | None = None
    mapping: Mapping[str, str | Sequence[str]] | None = None

    def on(self, date: str) -> Plan:
        """Return the same with another day."""
        return replace(self, date=date)

    @property
    def terms(self) -> dict[str, Any]:
        """Return what two runs must share to go on with each other's work."""
        return {
            "name": self.name,
            "format": self.format,
            "encoding": self.encoding,
            # As JSON gives it back.
            "mapping": {
                field: [names] if isinstance(names, str) else list(names)
                for field, names in (self.mapping or {}).items()
            },
        }


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a data set.

    Parameters
    ----------
    source : str
        Path or URL.
    place : str
        Where it goes under the folder for output, with ``/`` between names.
    state : str
        Changes when the file does.
    """

    source: str
    place: str
    state: str


@dataclass(frozen=True, slots=True)
class Account:
    """What came of a part.

    Parameters
    ----------
    place, state : str
        Of the part.
    whole : bool
        False while the part is being put in its place.
    output : str
        Where it was put; of a format without a place for tags under another name.
    date : str
        Day that its new tags got.
    terms : dict
        See `Plan.terms`.
    read, used : int
        Records.
    reasons, decided : dict of str to int
        Why records were skipped, and what was decided on the others.
    skipped : list of dict
        Each skipped record: ``file``, ``line``, ``reason``, ``problem``.
    notes : list of str
        Whole sentences.
    not_json : int
        Records that hold a NaN in JSON.
    """

    place: str
    state: str
    whole: bool
    output: str
    date: str
    terms: dict[str, Any]
    read: int = 0
    used: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    decided: dict[str, int] = field(default_factory=dict)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    not_json: int = 0


def parts_of(source: str, out: str) -> tuple[list[Part], list[str]]:
    """Return the parts of a data set, and the files that are no records.

    Parameters
    ----------
    source, out : str
        Folder or file of the records, and folder for the output; paths or URLs.
        Files behind a URL are known by the endings of their names.

    Raises
    ------
    RecordError
        If there is no part, or a place cannot be reached.
    """
    to = Folder(out)
    if to.path and to.path.exists() and not to.path.is_dir():
        raise RecordError(f"{out} is a file; a data set needs a folder for its output.")
    held = Folder(source)
    if held.path and to.path and held.path.resolve() in to.path.resolve().parents:
        raise RecordError(
            f"{out} lies inside {source}, where a later run would read it as records; "
            "choose a folder beside it."
        )
    if held.path:
        jobs, others = jobs_in([str(held.path)], to.path or Path())
        return [
            Part(str(job.source), job.place.as_posix(), held.state(str(job.source)))
            for job in jobs
        ], [str(path) for path in others]
    names = held.names()
    endings = {ending for kind in FORMATS for ending in kind.suffixes}
    known = [name for name in names if suffix_of(name) in endings]
    if not known:
        raise RecordError(
            f"{source} holds no file whose name ends like one of records: "
            f"{', '.join(sorted(endings))}."
        )
    parts = [Part(held.url(name), name, held.state(name)) for name in known]
    return parts, [held.url(name) for name in names if name not in set(known)]


def parts_to_do(
    how: Plan, parts: Iterable[Part], *, overwrite: bool = False
) -> tuple[list[Part], list[Account]]:
    """Tell the parts that are to be tagged from those that are done.

    What a run that was ended left half done is removed.

    Returns
    -------
    to_do : list of Part
    done : list of Account

    Raises
    ------
    RecordError
        If something else stands in the place of a part, unless it is to be
        overwritten.
    """
    out = Folder(how.out)
    out.clear()
    to_do: list[Part] = []
    done: list[Account] = []
    for part in parts:
        account = _read_account(out, part.place)
        if overwrite or account is None or not account.whole:
            if account is None and not overwrite:
                _refuse_others(out, part)
            to_do.append(part)
        elif account.state != part.state or not out.exists(account.output):
            to_do.append(part)
        elif account.terms != how.terms:
            raise RecordError(
                f"{out.name} holds {account.output}, tagged by the model "
                f"{account.terms.get('name')!r} or read in another way than now; "
                "choose another place, or replace what it holds with --overwrite."
            )
        else:
            done.append(account)
    return to_do, done


def tag_part(how: Plan, part: Part) -> Account:
    """Tag one part, and put it in its place whole; runs on a worker.

    Doing it twice, even at the same time, changes nothing.

    Raises
    ------
    RecordError
        If the part cannot be read or written.
    ModelError
        If the worker has no such model.
    """
    out = Folder(how.out)
    skipped: list[dict[str, Any]] = []

    def look(reading: Reading, _: str | Path) -> Iterator[Entry]:
        for entry in reading:
            if entry.record is None:
                where = {"file": part.source, "line": entry.line}
                why = {"reason": entry.reason, "problem": entry.problem}
                skipped.append({**where, **why})
            yield entry

    tagging = Tagging(
        _model(how.model, how.name),
        name=how.name,
        date=how.date,
        existing=Existing.REPLACE,
        jobs=how.jobs,
        look=look,
        format=how.format,
        encoding=how.encoding,
        mapping=how.mapping,
    )
    with at_hand(part.source) as path, out.work() as work:
        outcome = tagging.job(Job(path, Path(path.name)), work.path)
        (made,) = work.path.iterdir()
        account = Account(
            place=part.place,
            state=part.state,
            whole=True,
            output=posixpath.join(posixpath.dirname(part.place), made.name),
            date=how.date,
            terms=how.terms,
            read=outcome.reading.n_read,
            used=outcome.reading.n_used,
            reasons=dict(outcome.reading.reasons),
            decided=dict(outcome.decided),
            skipped=skipped,
            notes=outcome.reading.notes,
            not_json=outcome.reading.n_not_json,
        )
        # Said beforehand, so that a part without an account is not ours.
        _keep(work, replace(account, whole=False))
        work.put(made, account.output)
        _keep(work, account)
    return account


@lru_cache(maxsize=1)
def _model(folder: str | None, name: str) -> Tagger:
    """Return the model, loaded once by each worker."""
    found = model_id(folder)
    if found != name:
        raise ModelError(
            f"A worker has the model {found!r} where {name!r} is wanted; install the "
            "same paper-tagger everywhere, or give -m a folder that all workers share."
        )
    return load(folder)


def _keep(work: Work, account: Account) -> None:
    """Write the account of a part."""
    data = json.dumps(asdict(account), ensure_ascii=False).encode("utf-8", "replace")
    work.put_bytes(data, _account_of(account.place))


def _read_account(out: Folder, place: str) -> Account | None:
    """Return the account of a part, None if there is none."""
    data = out.read(_account_of(place))
    if data is None:
        return None
    try:
        return Account(**json.loads(data))
    except (ValueError, TypeError):
        return Account(place, "", False, "", "", {})


def _account_of(place: str) -> str:
    return f"{HIDDEN}/parts/{place}.json"


def _refuse_others(out: Folder, part: Part) -> None:
    """Refuse to replace a file that no run of ours has written."""
    for place in places_of(Path(part.place)):
        if out.exists(place.as_posix()):
            raise RecordError(
                f"{out.name}/{place} exists already, and no run like this one wrote "
                "it; choose another place, or replace it with --overwrite."
            )
