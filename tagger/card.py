"""The card of a trained model: themes, data, split, figures, limits, from its facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tagger.definitions import FEW_LABELS
from tagger.model import Tagger
from tagger.wording import counted

__all__ = ["model_card"]

_SHOWN = (
    "micro_f1",
    "macro_f1",
    "micro_precision",
    "micro_recall",
    "samples_f1",
    "exact_match",
    "macro_average_precision",
    "calibration_error",
    "coverage",
)


def model_card(model: Tagger) -> str:
    """Write the card of a model, as Markdown.

    Parameters
    ----------
    model : Tagger
        With the facts that training keeps; figures are taken from there, and
        nothing is measured anew.

    Returns
    -------
    str
        Ends with a newline; equal for equal models.
    """
    held_out = model.facts.get("held_out")
    lines = [
        f"# A model of {counted(len(model.themes), 'theme')}",
        "",
        "Reads title and abstract of a scientific paper and says which of these "
        "themes it is about, with a calibrated probability, or that none applies, or "
        "that it cannot say. Plain arrays and a manifest: loading runs no code.",
        "",
        *_data(model),
        "## How good it is",
        "",
        *(_figures(held_out) if held_out else _no_figures()),
        "## Themes",
        "",
        *_themes(model, held_out),
        "## Limits",
        "",
        *_limits(model, held_out),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _data(model: Tagger) -> Iterator[str]:
    """Say what it learned from, and how."""
    facts = model.facts
    yield from ("## What it learned from", "")
    for name, value in facts.get("trained_on", {}).items():
        shown = f"{value:,}" if isinstance(value, int) else f"`{value}`"
        if re.fullmatch(r"[0-9a-f]{64}", str(value)):
            shown = f"SHA-256 {shown}"
        yield f"- {name.removeprefix('n_').replace('_', ' ')}: {shown}"
    settings = facts.get("settings", {})
    if settings:
        shown = ", ".join(f"{name} {value}" for name, value in settings.items())
        yield f"- settings: {shown}"
    versions = facts.get("package", {})
    if versions:
        shown = ", ".join(f"{name} {value}" for name, value in versions.items())
        yield f"- versions: {shown}"
    if "command" in facts:
        yield f"- command: `{facts['command']}`"
    yield ""


def _figures(held_out: Mapping[str, Any]) -> Iterator[str]:
    """Give the overall figures, with their definitions and baselines."""
    overall, baselines = held_out["overall"], held_out["baselines"]
    none, unsure = held_out["records_without_label"], held_out["unsure_pairs"]
    yield (
        f"On {counted(held_out['records'], 'record')} with "
        f"{counted(held_out['labels'], 'label')} "
        f"({counted(none, 'record rightly has', 'records rightly have')} none; "
        f"{counted(unsure, 'pair marked unsure is', 'pairs marked unsure are')} left "
        "out). In brackets: 95 % interval from a bootstrap over records."
    )
    yield from ("", "| figure | value | definition |", "| --- | --- | --- |")
    for name in _SHOWN:
        if name in overall:
            title = name.replace("_", " ").replace(" f1", " F1")
            text = held_out["definitions"][name]
            yield f"| {title} | {_figure(overall[name])} | {text} |"
    yield from ("", "| decided by | micro F1 | macro F1 | exact match |")
    yield "| --- | --- | --- | --- |"
    own = {name: figure["value"] for name, figure in overall.items()}
    for name, row in {"this model": own, **baselines}.items():
        cells = (row[key] for key in ("micro_f1", "macro_f1", "exact_match"))
        yield f"| {name} | {' | '.join(_number(cell) for cell in cells)} |"
    yield ""


def _no_figures() -> Iterator[str]:
    yield (
        "Not measured: it learned from too few labelled records to hold any out. "
        "Measure it on labelled records with `tagger evaluate`."
    )
    yield ""


def _themes(model: Tagger, held_out: Mapping[str, Any] | None) -> Iterator[str]:
    """Give each theme with its threshold and figures."""
    rows = {row["theme"]: row for row in held_out["themes"]} if held_out else {}
    yield "| theme | what it is | threshold | labels | precision | recall | F1 |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for theme, threshold in zip(model.themes, model.thresholds, strict=True):
        row = rows.get(theme.id)
        cells = [f"`{theme.id}`", _plain(theme.name), f"{threshold:.2f}"]
        cells += [f"{row['support']:,}"] if row else ["-"]
        cells += [
            _figure(row[name]) if row else "-" for name in ("precision", "recall", "f1")
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _limits(model: Tagger, held_out: Mapping[str, Any] | None) -> Iterator[str]:
    """Say what it should not be trusted with."""
    split = model.facts.get("split")
    folds = model.facts.get("settings", {}).get("folds")
    if split or (held_out and folds):
        text = split or f"{folds}-fold cross-validation on the training records"
        yield (
            f"- Split: {text}. Every record was scored by a model that learned without "
            "it and without any version of it, and calibrated and cut by what the "
            "other folds say. The figures hold for records drawn like these; other "
            "journals, years or fields need a measurement of their own."
        )
    if held_out:
        few = [r["theme"] for r in held_out["themes"] if r["support"] < FEW_LABELS]
        if few:
            yield (
                f"- Fewer than {FEW_LABELS} labels, so that their figures say little: "
                f"{', '.join(few)}."
            )
    if model.exclusive:
        yield "- Gives a record one theme, or none where two are as probable."
    yield "- Reads English. Other languages are abstained from, not judged."
    yield "- Judges title and abstract only; what the full text adds is not seen."
    yield "- A paper that mentions a theme in passing may still be given it."


def _figure(figure: Mapping[str, float | None]) -> str:
    if figure["low"] is None:
        return _number(figure["value"])
    low, high = _number(figure["low"]), _number(figure["high"])
    return f"{_number(figure['value'])} [{low}, {high}]"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _plain(text: str) -> str:
    return text.replace("|", "\\|")
