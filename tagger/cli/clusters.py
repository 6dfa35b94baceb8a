"""The option --cluster: what is typed for it, and what it does to training."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import click

__all__ = ["fit_cluster_option", "fits_on", "read_address"]


def read_address(
    context: click.Context, option: click.Parameter, value: str | None
) -> str | None:
    """Read --cluster, without asking whether somebody answers."""
    if value is None:
        return None
    from tagger.cluster import check_address
    from tagger.errors import ClusterError

    try:
        check_address(value)
    except ClusterError as error:
        raise click.BadParameter(str(error)) from error
    return value


fit_cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    callback=read_address,
    help="Share the fits out among the workers of a Dask scheduler, or of --jobs "
    "processes started here: 'local'. Same model.",
)


def fits_on(cluster: str | None, jobs: int) -> AbstractContextManager[None]:
    """Give a block in which fits are shared out, if there is a cluster."""
    if cluster is None:
        return nullcontext()
    from tagger.cluster import spread

    return spread(cluster, workers=jobs)
