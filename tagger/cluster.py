"""Work spread over a Dask cluster; needs ``pip install "paper-tagger[dask]"``.

>>> for part in tag_dataset("parts/", "tagged/", cluster="local"):  # doctest: +SKIP
...     print(part.account or part.error)
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date as Day
from pathlib import Path
from typing import Any

from tagger.autotag import model_id
from tagger.dataset import Account, Part, Plan, parts_of, parts_to_do, tag_part
from tagger.errors import ClusterError, TaggerError
from tagger.places import Folder

__all__ = ["LOCAL", "PartDone", "connected", "spread", "tag_dataset"]

LOCAL = "local"
"""Address of a cluster that is started on this machine, and ended after use."""

PATIENCE = 10.0
"""Seconds to wait for a scheduler, and for its first worker."""


@dataclass(frozen=True, slots=True)
class PartDone:
    """A part of a data set, and what came of it.

    Parameters
    ----------
    source : str
        Path or URL.
    account : Account or None
        None if it could not be tagged.
    error : str or None
        Why not.
    before : bool
        True if an earlier run had tagged it.
    n_parts : int
        How many parts the data set has.
    """

    source: str
    account: Account | None
    error: str | None
    before: bool
    n_parts: int


def tag_dataset(
    source: str,
    out: str,
    *,
    cluster: str = LOCAL,
    workers: int = 1,
    model: str | None = None,
    date: str | None = None,
    overwrite: bool = False,
    format: str | None = None,
    encoding: str | None = None,
    mapping: Mapping[str, str | Sequence[str]] | None = None,
) -> Iterator[PartDone]:
    """Tag the files of a folder on a cluster, each whole or not at all.

    The output has the bytes that tagging the folder on one machine gives. Parts
    that an earlier run has tagged stay; one that cannot be tagged does not stop
    the others. If a worker dies, another does its parts again.

    Parameters
    ----------
    source, out : str
        Folders that all workers reach under the same name: paths on a shared
        disk, or URLs that fsspec knows.
    cluster : str, default=LOCAL
        Address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``.
    workers : int, default=1
        Processes to start if the cluster is local; threads that score side by
        side on each worker if it is not.
    model : str, optional
        Folder of a model that all workers reach; the shipped model by default.
    date : str, optional
        Day that new tags get. By default that of the run that is gone on with,
        or today.
    overwrite : bool, default=False
        Replace what stands in the output.
    format, encoding, mapping
        As for `tagger.formats.read_entries`.

    Yields
    ------
    part : PartDone
        Those done before first, then as they get done, in no order.

    Raises
    ------
    ClusterError
        If the cluster cannot be reached, or goes away.
    RecordError
        If there is nothing to tag, or something in the way.
    """
    parts, _ = parts_of(source, out)
    how = Plan(
        out=Folder(out).name,
        model=str(Path(model).resolve()) if model else None,
        name=model_id(model),
        date=date or Day.today().isoformat(),
        jobs=1 if cluster == LOCAL else workers,
        format=format,
        encoding=encoding,
        mapping=dict(mapping or {}),
    )
    to_do, done = parts_to_do(how, parts, overwrite=overwrite)
    if date is None and done:
        how = how.on(min(account.date for account in done))
    names = {part.place: part.source for part in parts}
    for earlier in done:
        yield PartDone(names[earlier.place], earlier, None, True, len(parts))
    if to_do:
        try:
            with connected(cluster, workers=workers) as client:
                for part, account, error in _tagged(client, cluster, how, to_do):
                    yield PartDone(part.source, account, error, False, len(parts))
        finally:
            # What a worker that died, or was told to stop, had begun.
            Folder(out).clear()


@contextmanager
def spread(address: str = LOCAL, *, workers: int = 1) -> Iterator[None]:
    """Let what joblib does in the block be done on a cluster.

    Wrap it around `tagger.training.train`, or any grid search of scikit-learn.

    Parameters
    ----------
    address : str, default=LOCAL
        Address of a Dask scheduler.
    workers : int, default=1
        Processes to start if the cluster is local.

    Raises
    ------
    ClusterError
        If the cluster cannot be reached.
    """
    from joblib import parallel_config

    with connected(address, workers=workers), parallel_config(backend="dask"):
        yield


@contextmanager
def connected(address: str, *, workers: int = 1) -> Iterator[Any]:
    """Give a Dask client of a cluster that has a worker at least.

    Parameters
    ----------
    address : str
        Of a scheduler; `LOCAL` starts one with worker processes of its own.
    workers : int, default=1
        How many processes to start if the cluster is local.

    Raises
    ------
    ClusterError
        If Dask is not installed, nobody answers, or no worker comes, each within
        `PATIENCE`.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ClusterError(
            "A cluster needs Dask, which is not installed here; install it with: "
            'pip install "paper-tagger[dask]".'
        ) from error
    if address == LOCAL:
        try:
            local = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
        except (RuntimeError, OSError) as error:  # TimeoutError is an OSError
            raise ClusterError(
                f"The {workers} local workers did not start ({error}); there may be "
                "too little memory. Run the same command again, with fewer workers."
            ) from error
        with local as made, Client(made) as client:
            yield client
        return
    try:
        with _silence():
            client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address!r} within {PATIENCE:.0f} seconds; "
            "check the address, such as tcp://10.0.0.1:8786, and that it runs."
        ) from error
    with client, _silence():
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise ClusterError(
                f"The Dask scheduler at {address!r} has no worker; start some with: "
                f"dask worker {address}."
            ) from error
        yield client


@contextmanager
def _silence() -> Iterator[None]:
    """Keep Dask from telling at length what we say in a sentence."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _tagged(
    client: Any, address: str, how: Plan, parts: Sequence[Part]
) -> Iterator[tuple[Part, Account | None, str | None]]:
    """Yield each part with its account, or with why it has none."""
    from distributed import as_completed

    futures = {client.submit(tag_part, how, part, pure=False): part for part in parts}
    for future in as_completed(futures):
        part = futures.pop(future)
        if future.status == "finished":
            yield part, future.result(), None
        elif future.status == "cancelled":
            raise ClusterError(
                f"The cluster at {address!r} went away; run the same command again to "
                "go on where it stopped."
            )
        else:
            yield part, None, _reason(future.exception())


def _reason(error: BaseException) -> str:
    """Return why a part could not be tagged, as a sentence."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return (
            "every worker that took it died, perhaps for want of memory; cut the file "
            "into smaller ones."
        )
    if isinstance(error, ModuleNotFoundError):
        return f"the workers lack what it takes ({error}); install paper-tagger there."
    if isinstance(error, TaggerError):
        return str(error)
    return f"{type(error).__name__}: {error}"
