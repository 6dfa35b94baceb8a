"""The held-out report: all that was found, as JSON, Markdown and one HTML page."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from os import PathLike
from pathlib import Path
from typing import Any

from tagger.comparison import Comparison
from tagger.curves import coverage_curve, precision_recall_curves, reliability_curve
from tagger.evaluation import Evaluation
from tagger.fingerprints import Overlap
from tagger.groups import GroupFigures
from tagger.labels import Labels
from tagger.metrics import Flags, Scores, tags_given
from tagger.mistakes import (
    Explain,
    changed_records,
    confusions,
    label_errors,
    worst_errors,
)
from tagger.records import Record
from tagger.rendering import render_html, render_markdown, report_schema

__all__ = [
    "build_report",
    "provenance",
    "render_html",
    "render_markdown",
    "report_schema",
    "write_report",
]


def build_report(
    records: Sequence[Record],
    themes: Sequence[str],
    y: Labels,
    P: Scores,
    D: Flags,
    evaluation: Evaluation,
    *,
    title: str = "Held-out report",
    split: str = "",
    names: Mapping[str, str] | None = None,
    thresholds: Sequence[float] | None = None,
    abstained: Flags | None = None,
    explain: Explain | None = None,
    groups: Mapping[str, Sequence[GroupFigures]] | None = None,
    overlaps: Sequence[Overlap] = (),
    seen: Mapping[str, Any] | None = None,
    comparison: Comparison | None = None,
    learning_curve: Sequence[Mapping[str, float]] = (),
    out_of_fold: bool = False,
    made: Mapping[str, Any] | None = None,
    n_errors: int = 30,
) -> dict[str, Any]:
    """Gather everything a report says, as plain JSON values.

    Parameters
    ----------
    records : sequence of Record, length n_records
        The records tested on, in row order.
    themes : sequence of str, length n_themes
        Theme ids in column order.
    y, P, D : ndarray of shape (n_records, n_themes)
        Labels (1, 0, -1 unsure), probabilities in [0, 1], tags decided on.
    evaluation : Evaluation
        Of the same arrays.
    title, split : str
        Headline, and a sentence on which records were tested and how.
    names : dict of str to str, optional
        What to show for a theme id.
    thresholds : sequence of float, length n_themes, optional
        Probability from which a theme is given, inclusive.
    abstained : ndarray of bool, shape (n_records,), optional
        Records that were not judged. They count as given no tag.
    explain : callable, optional
        ``explain(row, column)`` gives the evidence for one tag, as dicts with
        ``field``, ``start``, ``end``, ``text`` and ``contribution``.
    groups : dict of str to sequence of GroupFigures, optional
        Results by field.
    overlaps : sequence of Overlap
        Records that were left out because the model was trained on them.
    seen : mapping, optional
        ``records`` and ``overall``: how many records the figures would hold with
        those left out, and what they would be.
    comparison : Comparison, optional
        With another set of decisions, which is its first.
    learning_curve : sequence of dict
        ``records``, ``value``, ``low`` and ``high`` of micro F1.
    out_of_fold : bool, default=False
        True when no record was trained on for its own probabilities. Only then
        are likely label errors looked for.
    made : mapping, optional
        How the report was made; see `provenance`.
    n_errors : int, default=30
        Records shown as worst errors, and likely label errors listed.

    Returns
    -------
    report : dict
        Valid under `report_schema`.

    Raises
    ------
    ValueError
        If the evaluation is of other decisions.
    """
    given = tags_given(y, D, abstained)
    counts = {t.theme: t.given for t in evaluation.themes}
    if counts != dict(zip(themes, given.sum(axis=0).tolist(), strict=True)):
        raise ValueError(
            f"The evaluation counts the tags {counts}, and the decisions hold "
            f"{given.sum(axis=0).tolist()}; expected the evaluation of the same "
            "arrays, with the same records abstained from."
        )
    return {
        "schema": 1,
        "title": title,
        "split": split,
        "names": {theme: (names or {}).get(theme, theme) for theme in themes},
        "thresholds": None
        if thresholds is None
        else dict(zip(themes, map(float, thresholds), strict=True)),
        "evaluation": evaluation.to_dict(),
        "curves": precision_recall_curves(y, P, given, themes),
        "reliability": reliability_curve(y, P),
        "coverage": coverage_curve(y, P, given, abstained=abstained),
        "confusions": confusions(y, given, themes),
        "errors": worst_errors(
            records, themes, y, P, D, explain, n_errors, abstained=abstained
        ),
        "label_errors": label_errors(records, themes, y, P)[:n_errors]
        if out_of_fold
        else None,
        "groups": {
            field: [group.to_dict() for group in found]
            for field, found in (groups or {}).items()
        },
        "overlaps": [
            {
                "id": overlap.id,
                "trained_id": overlap.trained_id,
                "kind": overlap.kind,
                "similarity": round(overlap.similarity, 3),
            }
            for overlap in overlaps
        ],
        "seen": None if seen is None else dict(seen),
        "comparison": None
        if comparison is None
        else comparison.to_dict()
        | {"changed": changed_records(records, themes, y, given, comparison)},
        "learning_curve": [dict(point) for point in learning_curve],
        "made": dict(made or {}),
    }


def provenance(
    records: Sequence[Record],
    *,
    command: str,
    seed: int,
    seconds: float,
    files: Sequence[str | PathLike[str]] = (),
) -> dict[str, Any]:
    """Say how a report was made.

    Parameters
    ----------
    records : sequence of Record
        The records tested on.
    command : str
        What was typed.
    seed : int
        Of everything random.
    seconds : float
        Time taken.
    files : sequence of path
        Data and models used; a folder is known by its manifest. What is no file,
        such as standard input, is passed over.

    Returns
    -------
    made : dict
        With versions, fingerprints (SHA-256) of texts and labels and of the files,
        and the date.
    """
    digest = hashlib.sha256()
    for r in records:
        fields = [r.id, r.title, r.abstract, r.themes and sorted(r.themes)]
        line = json.dumps([*fields, sorted(r.unsure)])
        digest.update(line.encode() + b"\n")
    versions = {"python": platform.python_version()}
    for package in ("paper-tagger", "numpy", "scipy", "scikit-learn"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "command": command,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "seed": seed,
        "records_sha256": digest.hexdigest(),
        "files_sha256": _checksums(files),
        "versions": versions,
    }


def _checksums(files: Sequence[str | PathLike[str]]) -> dict[str, str]:
    """SHA-256 of each file, by its last name."""
    found = {}
    for file in map(Path, files):
        inside = file / "manifest.json" if file.is_dir() else file
        if inside.is_file():
            with open(inside, "rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            found[file.name] = digest
    return found


def write_report(
    report: Mapping[str, Any], folder: str | PathLike[str]
) -> tuple[Path, Path, Path]:
    """Write a report as JSON, Markdown and HTML, each file whole or not at all.

    Parameters
    ----------
    report : dict
        What `build_report` returned.
    folder : path
        Made when missing; files of an earlier report in it are replaced.

    Returns
    -------
    paths : tuple of Path
        ``report.json``, ``report.md`` and ``report.html``.
    """
    data = json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False)
    texts = {
        "report.json": data + "\n",
        "report.md": render_markdown(report),
        "report.html": render_html(report),
    }
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        beside = target / f".{name}.{os.getpid()}"
        beside.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        beside.replace(target / name)
    return target / "report.json", target / "report.md", target / "report.html"
