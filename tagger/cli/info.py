"""`tagger info`: what a model knows, how it was made, how good it is."""

from __future__ import annotations

import click

from tagger.cli.options import echo_json, model_option
from tagger.wording import counted

__all__ = ["info"]


@click.command()
@model_option
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
def info(model_dir: str | None, as_json: bool) -> None:
    """Describe a model: themes, thresholds, training data, held-out figures.

    \b
    Examples:
      tagger info -m my-model
      tagger info --json | python -m json.tool
    """
    from tagger.model import load
    from tagger.themes import theme_to_dict

    model = load(model_dir)
    figures = (model.facts.get("held_out") or {}).get("themes", [])
    f1 = {row["theme"]: row["f1"] for row in figures}
    if as_json:
        themes = [
            {**theme_to_dict(theme), "threshold": round(float(cut), 4)}
            for theme, cut in zip(model.themes, model.thresholds, strict=True)
        ]
        echo_json({**model.facts, "exclusive": model.exclusive, "themes": themes})
        return
    size = len(model.vocabulary), len(model.phrases.codes)
    click.echo(
        f"{counted(len(model.themes), 'theme')}, {counted(size[0], 'n-gram')}, "
        f"{counted(size[1], 'keyword')}"
    )
    for name, value in model.facts.get("trained_on", {}).items():
        click.echo(f"{name.replace('_', ' ')}: {value}")
    overall = (model.facts.get("held_out") or {}).get("overall", {})
    for name in ("micro_f1", "macro_f1"):
        if name in overall:
            click.echo(f"held-out {name.replace('_', ' ')}: {_figure(overall[name])}")
    click.echo(f"\n{'theme':<28} {'threshold':>9}  held-out F1")
    for theme, cut in zip(model.themes, model.thresholds, strict=True):
        shown = _figure(f1[theme.id]) if theme.id in f1 else "-"
        click.echo(f"{theme.id:<28} {cut:>9.2f}  {shown}")


def _figure(figure: dict[str, float | None]) -> str:
    value, low, high = (figure[name] for name in ("value", "low", "high"))
    if value is None:
        return "-"
    around = f" [{low:.3f}, {high:.3f}]" if low is not None and high is not None else ""
    return f"{value:.3f}{around}"
