"""Work spread over a Dask cluster; needs ``pip install "paper-tagger[dask]"``.

>>> for part in tag_dataset("parts/", "tagged/", cluster="local"):  # doctest: +SKIP
...     print(part.account or part.error)
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date as Day
from pathlib import Path
from typing import Any

from tagger.autotag import model_id
from tagger.dataset import Account, Part, Plan, parts_of, parts_to_do, tag_part
from tagger.errors import ClusterError, RecordError, TaggerError
from tagger.places import HIDDEN, Folder
from tagger.wording import counted

__all__ = [
    "LOCAL",
    "PartDone",
    "check_address",
    "connected",
    "spread",
    "tag_dataset",
]

LOCAL = "local"
"""Address of a cluster that is started on this machine, and ended after use."""

PATIENCE = 10.0
"""Seconds to wait for a scheduler, and for its first worker."""

_ADDRESS = re.compile(r"[a-z]+://\S+|(?:\[[^\s\]]+\]|[^\s:/\[\]]+):[0-9]+")


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
    left_out: Callable[[Sequence[str]], object] | None = None,
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
    left_out : callable, optional
        Gets the names of the files that are no records, before any is tagged.
    format, encoding, mapping
        As for `tagger.formats.read_entries`.

    Yields
    ------
    part : PartDone
        Those done before first, then as they get done, in no order.

    Raises
    ------
    ClusterError
        If the address is none, or the cluster cannot be reached, or goes away.
    RecordError
        If there is nothing to tag, something in the way, or the output cannot be
        written.
    """
    check_address(cluster)
    parts, others = parts_of(source, out)
    if left_out is not None:
        left_out(others)
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


def check_address(address: str) -> None:
    """Refuse what cannot be the address of a cluster, without asking for one.

    Raises
    ------
    ClusterError
        If it is neither `LOCAL` nor like ``"tcp://10.0.0.1:8786"``.
    """
    if address == LOCAL or _ADDRESS.fullmatch(address):
        return
    hint = ""
    if address.strip().lower() == LOCAL:
        hint = f" Did you mean {LOCAL!r}?"
    raise ClusterError(
        f"{address!r} is no address of a cluster; expected that of a Dask scheduler, "
        f"such as 'tcp://10.0.0.1:8786', or {LOCAL!r} for processes on this "
        f"machine.{hint}"
    )


@contextmanager
def spread(address: str = LOCAL, *, workers: int = 1) -> Iterator[None]:
    """Let what joblib does in the block be done on a cluster.

    Wrap it around `tagger.training.train`, or any grid search of scikit-learn. What
    is learned has the bytes that it has without a cluster, if the processors are of
    one kind.

    Parameters
    ----------
    address : str, default=LOCAL
        Address of a Dask scheduler.
    workers : int, default=1
        Processes to start if the cluster is local.

    Raises
    ------
    ClusterError
        If the cluster cannot be reached, goes away, or is not fit for the work.
    """
    from joblib import parallel_config

    with connected(address, workers=workers) as client:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        _check_workers(client)
        try:
            with _one_thread_each(client), parallel_config(backend="dask"):
                yield
        except (CancelledError, CommClosedError) as error:
            raise _gone(address) from error
        except KilledWorker as error:
            raise ClusterError(
                "Every worker that took a part of the work died, perhaps for want of "
                "memory; start workers with more of it, or do without --cluster."
            ) from error


def _check_workers(client: Any) -> None:
    """Refuse workers that would not learn what is learned here."""
    ours = versions()
    try:
        with _silence():
            theirs = client.run(versions)
    except ModuleNotFoundError as error:
        raise ClusterError(f"On the cluster {_reason(error)}") from error
    for worker, found in theirs.items():
        if found != ours:
            raise ClusterError(
                f"The worker {worker} has {found}, and here is {ours}; install the "
                "same everywhere."
            )


def versions() -> str:
    """Return the versions, here or on a worker, of what decides on the last digit."""
    from importlib.metadata import version

    names = ("paper-tagger", "numpy", "scipy")
    return ", ".join(f"{name} {version(name)}" for name in names)


@contextmanager
def _one_thread_each(client: Any) -> Iterator[None]:
    """Let the workers do linear algebra in one thread, as training does here.

    Sums in several threads have another order, and so another last digit.
    """
    from distributed import WorkerPlugin

    class OneThread(WorkerPlugin):
        name = f"tagger-one-thread-{client.id}"  # others may use the workers too

        def setup(self, worker: Any) -> None:
            import scipy.linalg  # noqa: F401  (loads what is to be limited)
            from threadpoolctl import threadpool_limits

            self.limits = threadpool_limits(1)

        def teardown(self, worker: Any) -> None:
            self.limits.restore_original_limits()

    with _silence():
        client.register_plugin(OneThread())
    try:
        with warnings.catch_warnings():
            # Dask on how it is handed over what is to be learned from.
            warnings.filterwarnings("ignore", "Sending large graph")
            yield
    finally:
        # The cluster may have gone away.
        with _silence(), suppress(OSError, ValueError):
            client.unregister_worker_plugin(OneThread.name)


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
        If the address is none, Dask is not installed, nobody answers, or no worker
        comes, each within `PATIENCE`.
    """
    check_address(address)
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
                f"{counted(workers, 'local worker')} did not start ({error}); there "
                "may be too little memory. Run the same command again, with fewer "
                "workers."
            ) from error
        with local as made, Client(made) as client:
            yield client
        return
    try:
        with _silence():
            _greet(address)
            client = Client(address, timeout=PATIENCE)
    # What is no scheduler may answer anything, and reading that may fail anyhow.
    except Exception as error:
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


def _greet(address: str) -> None:
    """Let a scheduler say who it is; a client waits for that without end."""
    from distributed import Security, rpc
    from distributed.utils import LoopRunner

    async def who() -> None:
        how = Security().get_connection_args("client")
        async with rpc(address, timeout=PATIENCE, connection_args=how) as scheduler:
            await scheduler.identity()

    LoopRunner().run_sync(who, callback_timeout=PATIENCE)


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

    _try_out(client, address, how.out)
    futures = {client.submit(tag_part, how, part, pure=False): part for part in parts}
    for future in as_completed(futures):
        part = futures.pop(future)
        if future.status == "finished":
            yield part, future.result(), None
        elif future.status == "cancelled":
            raise _gone(address)
        else:
            yield part, None, _reason(future.exception())


def _try_out(client: Any, address: str, out: str) -> None:
    """Let one worker see whether it can write the output, before all try."""
    future = client.submit(write_nothing, out, pure=False)
    error = future.exception()
    if future.status == "cancelled":
        raise _gone(address)
    if isinstance(error, TaggerError):
        raise error
    if error is not None:
        raise ClusterError(f"On the cluster {_reason(error)}") from error


def write_nothing(out: str) -> None:
    """Write an empty file to a folder, where `Folder.clear` removes it.

    Raises
    ------
    RecordError
        If that cannot be done.
    """
    try:
        with Folder(out).work() as work:
            work.put_bytes(b"", f"{HIDDEN}/work/tried")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RecordError(f"{out} cannot be written: {reason}.") from error


def _gone(address: str) -> ClusterError:
    return ClusterError(
        f"The cluster at {address!r} went away; run the same command again."
    )


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
