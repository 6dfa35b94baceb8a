"""A report as text: an HTML page, Markdown, a table for a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import numpy as np

from tagger.baselines import RULES
from tagger.comparison import Comparison
from tagger.definitions import FEW_LABELS, SMALLER_IS_BETTER
from tagger.evaluation import Evaluation
from tagger.pictures import draw_pictures
from tagger.wording import counted

__all__ = [
    "format_comparison",
    "format_gain",
    "format_seen",
    "format_table",
    "render_html",
    "render_markdown",
    "report_schema",
]


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of a report."""
    schema: dict[str, Any] = json.loads(_template("report.schema.json"))
    return schema


def render_html(report: Mapping[str, Any]) -> str:
    """Write a report as one page that needs nothing else.

    Parameters
    ----------
    report : dict
        What `tagger.report.build_report` returned.

    Returns
    -------
    str
        HTML with its style and pictures inside; nothing is fetched.
    """
    alone = {theme: {"missed": 0, "given": 0} for theme in report["names"]}
    for pair in report["confusions"]:
        if pair["given"] is None:
            alone[pair["missed"]]["missed"] = pair["count"]
        elif pair["missed"] is None:
            alone[pair["given"]]["given"] = pair["count"]
    return _render("report.html", report, pictures=draw_pictures(report), alone=alone)


def render_markdown(report: Mapping[str, Any]) -> str:
    """Write a report as Markdown, for a README or a paper.

    Parameters
    ----------
    report : dict
        What `tagger.report.build_report` returned.

    Returns
    -------
    str
        Overall figures, baselines, themes, groups and how it was made.
    """
    return _render("report.md", report)


def format_table(evaluation: Evaluation) -> str:
    """Write an evaluation as a plain, aligned table for a terminal.

    Parameters
    ----------
    evaluation : Evaluation
        What `tagger.evaluation.evaluate` returned.

    Returns
    -------
    str
        Lines without colour; no final newline.
    """
    e = evaluation
    names = ("precision", "recall", "f1", "average_precision")
    head = ["theme", "labels", "given", "precision", "recall", "F1", "AP"]
    rows = [
        [t.theme, f"{t.support:,}", f"{t.given:,}"]
        + [_cell(getattr(t, name).to_dict()) for name in names]
        for t in e.themes
    ]
    width = [max(len(row[c]) for row in [head, *rows]) for c in range(len(head))]
    lines = [
        f"{counted(e.n_records, 'record')}, {counted(len(e.themes), 'theme')}, "
        f"{counted(e.n_labels, 'label')}; {counted(e.n_unlabelled, 'record')} without "
        f"a label; {counted(e.n_unsure, 'unsure pair')} left out; "
        f"{counted(e.n_abstained, 'record')} abstained from",
        "",
    ]
    for row in [head, *rows]:
        cells = [row[0].ljust(width[0])]
        cells += [row[c].rjust(width[c]) for c in (1, 2)]
        cells += [row[c].ljust(width[c]) for c in range(3, len(row))]
        lines.append("  ".join(cells).rstrip())
    few = [t.theme for t in e.themes if t.support < FEW_LABELS]
    if few:
        lines += ["", f"fewer than {FEW_LABELS} labels, too few to tell: "]
        lines[-1] += ", ".join(few) if len(few) <= 8 else f"{len(few)} themes"
    lines.append("")
    wide = max(len(name) for name in e.overall)
    lines += [
        f"{name.ljust(wide)}  {_cell(figure.to_dict(), _digits(name))}"
        for name, figure in e.overall.items()
    ]
    lines.append("")
    wide = max(len(name) for name in e.baselines) + len("baseline: ")
    for name, figures in e.baselines.items():
        shown = ", ".join(
            f"{key} {_figure(figures[key])}"
            for key in ("micro_f1", "macro_f1", "samples_f1", "exact_match")
        )
        lines.append(f"{('baseline: ' + name).ljust(wide)}  {shown}")
    lines.append("")
    lines.append(
        f"In brackets: 95 % bootstrap interval over records, {e.n_boot:,} resamples."
    )
    return "\n".join(lines)


def format_comparison(comparison: Comparison) -> str:
    """Write a comparison as a plain, aligned table for a terminal.

    Parameters
    ----------
    comparison : Comparison
        What `tagger.comparison.compare` returned.

    Returns
    -------
    str
        Overall differences, and those of the themes whose interval leaves out 0;
        no final newline.
    """
    first, second = comparison.names
    lines = [
        f"{second} against {first}, paired on the same records; the tags of "
        f"{counted(len(comparison.changed), 'record')} differ",
        "",
    ]
    wide = max(len(name) for name in (*comparison.differences, *comparison.themes))
    for name, figure in comparison.differences.items():
        share = f"better in {100 * comparison.better[name]:.0f} % of resamples"
        cell = _cell(figure.to_dict(), _digits(name))
        lines.append(f"{name.ljust(wide)}  {cell}  {share}")
    certain = {t: f for t, f in comparison.themes.items() if f.low > 0 or f.high < 0}
    lines += ["", f"F1 of themes that differ: {len(certain)}"]
    lines += [f"{t.ljust(wide)}  {_cell(f.to_dict())}" for t, f in certain.items()]
    return "\n".join(lines)


def format_gain(evaluation: Evaluation) -> str:
    """Say in a sentence how much better it is than the keywords alone."""
    ours = round(evaluation.overall["micro_f1"].value, 3)
    rules = round(evaluation.baselines[RULES]["micro_f1"], 3)
    both = f"{_figure(ours)} against {_figure(rules)}"
    if ours > rules:
        gain = _figure(ours - rules)
        return f"Better than the keywords alone by {gain} micro F1 ({both})."
    return f"Not better than the keywords alone: micro F1 {both}."


def format_seen(flattered: Evaluation) -> str:
    """Write the figures that records trained on would give, as one line."""
    shown = ", ".join(
        f"{key} {_cell(flattered.overall[key].to_dict())}"
        for key in ("micro_f1", "macro_f1", "samples_f1", "exact_match")
    )
    return (
        f"with the records it was trained on ({flattered.n_records:,} in all, not to "
        f"be trusted): {shown}"
    )


def _template(name: str) -> str:
    folder = resources.files("tagger") / "report_templates"
    return (folder / name).read_text(encoding="utf-8")


def _render(name: str, report: Mapping[str, Any], **more: Any) -> str:
    """Fill one template in."""
    import jinja2

    page = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=name.endswith(".html"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page.filters |= {"figure": _figure, "marked": _marked, "cell": _cell}
    themes, overall = (report["evaluation"][key] for key in ("themes", "overall"))
    named = [(key, _title(key), overall[key]) for key in overall]
    return page.get_template(name).render(
        r=report,
        e=report["evaluation"],
        overall=named,
        title_of=_title,
        digits_of=_digits,
        few=[t["theme"] for t in themes if t["support"] < FEW_LABELS],
        few_labels=FEW_LABELS,
        **more,
    )


def _title(name: str) -> str:
    """Turn the name of a figure into words."""
    words = name.replace("_", " ").replace(" f1", " F1")
    words = re.sub(r"^f1$", "F1", words)
    return words[0].upper() + words[1:]


def _digits(name: str) -> int:
    """Digits to show of a figure; those that are small when good get one more."""
    return 4 if name in SMALLER_IS_BETTER else 3


def _figure(number: float | None, digits: int = 3) -> str:
    if number is None or np.isnan(number):
        return "-"
    # Adding zero turns "-0.000" into "0.000".
    return f"{round(number, digits) + 0.0:.{digits}f}"


def _cell(figure: Mapping[str, float | None], digits: int = 3) -> str:
    """Write a figure and its interval, where there is one."""
    value, low, high = (
        _figure(figure[key], digits) for key in ("value", "low", "high")
    )
    return value if figure["low"] is None else f"{value} [{low}, {high}]"


def _marked(text: str, field: str, wrong: Sequence[Mapping[str, Any]]) -> Any:
    """Escape a text and mark the evidence for its wrong themes."""
    from markupsafe import Markup, escape

    spans: list[tuple[int, int]] = []
    every = (e for w in wrong for e in w["evidence"] if e["field"] == field)
    for start, end in sorted((int(e["start"]), int(e["end"])) for e in every):
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    parts, at = [], 0
    for start, end in spans:
        parts += [escape(text[at:start]), Markup("<mark>")]
        parts += [escape(text[start:end]), Markup("</mark>")]
        at = end
    return Markup("").join([*parts, escape(text[at:])])
