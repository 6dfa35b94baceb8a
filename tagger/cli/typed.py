"""What is typed for `tagger evaluate`, read and checked before any work is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from tagger.model import Tagger
    from tagger.plans import SplitPlan
    from tagger.training import Settings

__all__ = [
    "RANGES",
    "Limits",
    "check_exclusive",
    "check_usage",
    "read_limits",
    "read_other",
    "read_plan",
]

Limits = Mapping[str, float]
"""Figure to the least it may be."""

RANGES: dict[str, tuple[str, Callable[[float], bool]]] = {
    "penalty": ("a number above 0", lambda v: v > 0),
    "caution": ("a number from 0 on", lambda v: v >= 0),
    "semantic": ("a number above 0", lambda v: v > 0),
    "slope": ("a number from 0 on", lambda v: v >= 0),
    "middle": ("a number", lambda v: True),
    "least_records": ("a whole number from 1 on", lambda v: v >= 1),
    "abstract_alone": ("a number from 0 to 1", lambda v: 0 <= v <= 1),
    "title_alone": ("a number from 0 to 1", lambda v: 0 <= v <= 1),
    "folds": ("a whole number from 2 on", lambda v: v >= 2),
}


def read_plan(
    context: click.Context, option: click.Parameter, value: str | None
) -> SplitPlan | None:
    """Read --split."""
    from tagger.plans import read_split

    try:
        return None if value is None else read_split(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def read_limits(
    context: click.Context, option: click.Parameter, values: Iterable[str]
) -> Limits:
    """Read every --fail-under."""
    from tagger.definitions import DEFINITIONS, SMALLER_IS_BETTER, THEME_FIGURES

    known = [n for n in DEFINITIONS if n not in SMALLER_IS_BETTER | THEME_FIGURES]
    limits: dict[str, float] = {}
    for value in values:
        name, equals, typed = value.partition("=")
        number = _number(typed)
        if equals and not name.strip():
            raise click.BadParameter(
                f"{value!r} names no figure; expected one and its least value, like "
                "'micro_f1=0.85'."
            )
        if not equals or number is None:
            raise click.BadParameter(f"{value!r} is not like 'micro_f1=0.85'.")
        if name not in known:
            raise click.BadParameter(
                f"{name!r} is no figure with a lower limit; {_hint(name, known)}"
            )
        if not 0 <= number <= 1:
            percent = 1 < number <= 100
            hint = f"; did you mean {name}={number / 100:g}?" if percent else "."
            raise click.BadParameter(
                f"{value!r} is out of range: every figure is from 0 to 1{hint}"
            )
        limits[name] = max(number, limits.get(name, 0.0))
    return limits


def read_other(compare: str | None) -> Tagger | Settings | None:
    """Read --compare: a folder, or settings such as ``penalty=0.01``."""
    from dataclasses import asdict, replace
    from pathlib import Path

    from tagger.model import load
    from tagger.training import Settings

    if compare is None:
        return None
    if "=" not in compare or Path(compare).exists():
        return load(compare)
    usual, changes = asdict(Settings()), {}
    for pair in compare.split(","):
        name, equals, typed = (part.strip() for part in pair.partition("="))
        if not equals:
            _refuse(f"holds {pair!r}, which is not like 'penalty=0.01'.")
        if name not in usual:
            _refuse(f"names {name!r}, which is no setting; {_hint(name, usual)}")
        if name in changes:
            _refuse(f"gives {name} twice; give it once.")
        expected, fits = RANGES[name]
        number = _number(typed)
        whole = isinstance(usual[name], int)
        if number is None or not fits(number) or (whole and number % 1):
            _refuse(f"gives {name} the value {typed!r}; expected {expected}.")
        changes[name] = type(usual[name])(number)
    return replace(Settings(), **changes)


def check_usage(
    theme_path: str | None,
    model_dir: str | None,
    plan: SplitPlan | None,
    repeat: int,
    unlabelled: bool,
    exclusive: bool,
    keep_seen: bool,
    compare: str | None,
    cluster: str | None,
) -> None:
    """Refuse options that do not go together."""
    from os.path import exists

    if theme_path is not None and model_dir is not None:
        raise click.UsageError("Use just one of --model and --themes.")
    anew = plan is not None or repeat > 1 or unlabelled or exclusive
    if theme_path is None and (anew or cluster is not None):
        raise click.UsageError(
            "--split, --repeat, --unlabelled, --exclusive and --cluster train anew, "
            "which needs --themes."
        )
    check_exclusive(unlabelled, exclusive)
    if theme_path is None and compare and "=" in compare and not exists(compare):
        raise click.UsageError(
            f"--compare {compare} names settings, which train anew and need --themes."
        )
    if theme_path is not None and keep_seen:
        raise click.UsageError(
            "--keep-seen is about a saved model; with --themes nothing tested was "
            "trained on."
        )
    if plan is not None and plan.kind in ("group", "time") and repeat > 1:
        raise click.UsageError(
            f"A split by {plan.kind} is the same every time; --repeat is for cv and "
            "holdout."
        )


def check_exclusive(unlabelled: bool, exclusive: bool) -> None:
    """Refuse records that would not be learned from."""
    if unlabelled and exclusive:
        raise click.UsageError(
            "--exclusive learns from labels and keywords alone; leave --unlabelled "
            "(and --listed) out."
        )


def _number(typed: str) -> float | None:
    """Read a number; None where it is none, or not finite."""
    from math import isfinite

    try:
        number = float(typed)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _hint(name: str, known: Iterable[str]) -> str:
    """End a sentence with the name that was likely meant, or with all."""
    from difflib import get_close_matches

    names = list(known)
    close = get_close_matches(name.strip().lower().replace(" ", "_"), names, 1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"choose one of {', '.join(names)}."


def _refuse(what: str) -> NoReturn:
    raise click.UsageError(f"--compare {what}")
