"""The card of a model."""

import re
from dataclasses import replace

from tagger.card import model_card
from tagger.model import load, save
from tagger.training import train


def test_the_card_holds_the_figures_of_the_manifest(tiny):
    card = model_card(tiny)
    micro = tiny.facts["held_out"]["overall"]["micro_f1"]
    assert f"| micro F1 | {micro['value']:.3f} [{micro['low']:.3f}, " in card
    assert "On 9 records with 7 labels (2 records rightly have none;" in card
    assert "| nothing | " in card
    assert "5-fold cross-validation on the training records" in card
    assert "- seed: 0" in card


def test_every_theme_has_a_row_with_its_threshold(tiny):
    card = model_card(tiny)
    for theme, threshold in zip(tiny.themes, tiny.thresholds, strict=True):
        assert f"| `{theme.id}` | {theme.name} | {threshold:.2f} | " in card


def test_themes_with_few_labels_are_named_as_a_limit(tiny):
    assert "little: optimizers, low-precision, potentials." in model_card(tiny)


def test_a_model_of_a_theme_file_alone_says_that_it_was_not_measured(
    toy_themes, toy_background
):
    card = model_card(train([], toy_themes, background=toy_background))
    assert "Not measured: it learned from too few labelled records" in card
    assert "| `optimizers` | Optimizers | 0.50 | - | - | - | - |" in card


def test_tables_have_equal_columns_even_with_a_bar_in_a_name(tiny):
    odd = replace(tiny.themes[0], name="Either | or")
    model = replace(tiny, themes=(odd, *tiny.themes[1:]))
    for table in re.findall(r"(?:^\|.*\n)+", model_card(model), flags=re.M):
        rows = table.splitlines()
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1


def test_a_card_is_saved_with_the_model_and_equal_after_loading(tiny, tmp_path):
    save(tiny, tmp_path / "model", texts={"README.md": model_card(tiny)})
    written = (tmp_path / "model" / "README.md").read_text("utf-8")
    assert model_card(load(tmp_path / "model")) == written


def test_a_card_says_what_is_special(tiny):
    model = replace(
        tiny, exclusive=True, facts={**tiny.facts, "split": "the spring of 2025"}
    )
    card = model_card(model)
    assert "- Gives a record one theme, or none where two are as probable." in card
    assert "- Split: the spring of 2025." in card
