"""The pictures of a report, drawn by matplotlib in the colours of its page."""

from __future__ import annotations

import hashlib
import io
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

__all__ = ["draw_pictures"]

# Stand-ins in the drawings, replaced by the page's own colours so that the
# pictures follow it into the dark.
_INK = "#010203"
_ACCENT = "#040506"
_FAINT = "#070809"
_COLOURS = {_INK: "currentColor", _ACCENT: "var(--accent)", _FAINT: "var(--line)"}


def draw_pictures(report: Mapping[str, Any]) -> dict[str, Any]:
    """Draw every picture of a report.

    Parameters
    ----------
    report : dict
        What `tagger.report.build_report` returned.

    Returns
    -------
    pictures : dict of str to markup
        SVG elements: ``themes``, ``reliability``, ``coverage``, ``learning``
        where the report has a learning curve; and ``curves``, a dict of them
        by theme id.
    """
    from markupsafe import Markup, escape

    def picture(draw: Callable[[Any], None], label: str, **size: float) -> Markup:
        return Markup(_picture(draw, str(escape(label)), **size))

    names, figures = report["names"], report["evaluation"]["themes"]
    pictures: dict[str, Any] = {
        "themes": picture(
            lambda axes: _draw_themes(axes, figures, names),
            "F1 of each theme with its 95 % interval",
            height=0.6 + 0.27 * len(figures),
        ),
        "reliability": picture(
            lambda axes: _draw_reliability(axes, report["reliability"]),
            "Share of labels against mean probability",
        ),
        "coverage": picture(
            lambda axes: _draw_coverage(axes, report["coverage"]),
            "Micro F1 and exact match against the share of records judged",
        ),
        "curves": {
            theme: picture(
                partial(_draw_curve, curve=curve),
                f"Precision-recall curve of {names[theme]}",
                height=1.9,
                width=2.4,
            )
            for theme, curve in report["curves"].items()
        },
    }
    if report["learning_curve"]:
        pictures["learning"] = picture(
            lambda axes: _draw_learning(axes, report["learning_curve"]),
            "Micro F1 against the number of training records",
        )
    return pictures


def _picture(
    draw: Callable[[Any], None], label: str, *, height: float = 3.0, width: float = 3.6
) -> str:
    """Draw on matplotlib axes; return an SVG element that takes the page's colours.

    Pictures are 360 units wide or less, so that their text is readable at a
    phone's width without being scaled down.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": label,
        "font.family": "sans-serif",
        "font.size": 8.5,
        "axes.edgecolor": _FAINT,
        "axes.labelcolor": _INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.color": _INK,
        "ytick.color": _INK,
        "text.color": _INK,
        "axes.grid": True,
        "grid.color": _FAINT,
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "legend.frameon": False,
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    for stand_in, colour in _COLOURS.items():
        svg = svg.replace(stand_in, colour)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    # Ids are made unique, because all pictures share one page.
    prefix = hashlib.sha256(label.encode()).hexdigest()[:6]
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    svg = re.sub(r'href="#', f'href="#{prefix}', svg)
    opening = f'<svg role="img" aria-label="{label}"'
    return svg.replace("<svg", opening, 1)


def _draw_themes(
    axes: Any, figures: Sequence[Mapping[str, Any]], names: Mapping[str, str]
) -> None:
    """Draw F1 and interval of each theme, the best at the top."""
    known = [f for f in figures if f["f1"]["value"] is not None]
    known.sort(key=lambda f: f["f1"]["value"])
    for place, figure in enumerate(known):
        f1 = figure["f1"]
        axes.plot([f1["low"], f1["high"]], [place, place], color=_FAINT, linewidth=3)
        axes.plot(f1["value"], place, "o", color=_ACCENT, markersize=4)
    labels = [textwrap.fill(names[figure["theme"]], 26) for figure in known]
    axes.set_yticks(range(len(known)), labels, fontsize=7.5)
    axes.set_ylim(-0.7, len(known) - 0.3)
    axes.set_xlim(right=1.005)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("F1")


def _draw_reliability(axes: Any, bins: Sequence[Mapping[str, float]]) -> None:
    """Draw the share of labels in each bin of probability."""
    axes.plot([0, 1], [0, 1], color=_FAINT, linewidth=1.2)
    x = [b["mean_probability"] for b in bins]
    axes.plot(x, [b["share"] for b in bins], "o-", color=_ACCENT, markersize=4)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("mean probability")
    axes.set_ylabel("share that has the label")


def _draw_coverage(axes: Any, points: Sequence[Mapping[str, float]]) -> None:
    """Draw what is right among the most certain records."""
    x = [point["coverage"] for point in points]
    axes.plot(x, [p["micro_f1"] for p in points], color=_ACCENT, label="micro F1")
    exact = [p["exact_match"] for p in points]
    axes.plot(x, exact, "--", color=_INK, linewidth=1.2, label="exact match")
    axes.set_xlim(0, 1.02)
    axes.set_ylim(top=1.02)
    axes.set_xlabel("share of records judged, most certain first")
    axes.legend(loc="lower left")


def _draw_curve(axes: Any, curve: Mapping[str, Any]) -> None:
    """Draw precision over recall, with a ring where the threshold stands."""
    if curve["recall"]:
        recall = [0.0, *curve["recall"]]
        precision = [curve["precision"][0], *curve["precision"]]
        axes.plot(recall, precision, color=_ACCENT, linewidth=1.4)
    chosen = curve["chosen"]
    if chosen["recall"] is not None and chosen["precision"] is not None:
        place = (chosen["recall"], chosen["precision"])
        axes.plot(*place, "o", markeredgecolor=_INK, markerfacecolor="none")
    axes.set_xlim(-0.02, 1.05)
    axes.set_ylim(-0.02, 1.08)
    axes.set_xticks([0, 0.5, 1])
    axes.set_yticks([0, 0.5, 1])
    axes.set_xlabel("recall", fontsize=8)
    axes.set_ylabel("precision", fontsize=8)


def _draw_learning(axes: Any, points: Sequence[Mapping[str, float]]) -> None:
    """Draw micro F1 against the size of the training set."""
    x = [point["records"] for point in points]
    value = [point["value"] for point in points]
    low = [point["value"] - point["low"] for point in points]
    high = [point["high"] - point["value"] for point in points]
    axes.errorbar(
        x, value, [low, high], fmt="o-", color=_ACCENT, ecolor=_FAINT, markersize=4
    )
    axes.set_xlabel("training records")
    axes.set_ylabel("micro F1")
