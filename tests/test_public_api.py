"""The names a user imports."""

import subprocess
import sys

import pytest

import tagger


def test_all_is_sorted_and_complete():
    assert tagger.__all__ == sorted(tagger.__all__)
    assert set(tagger._ROOMS) <= set(tagger.__all__)
    assert set(tagger.__all__) <= set(dir(tagger))


@pytest.mark.parametrize("name", tagger.__all__)
def test_every_public_name_is_there_and_documented(name):
    value = getattr(tagger, name)
    assert value.__doc__
    assert value.__name__ == name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'tagger' has no attribute 'nay'"):
        tagger.nay  # noqa: B018


def test_the_version_is_that_of_the_distribution():
    assert tagger.__version__.count(".") == 2


def test_the_errors_form_one_tree():
    kinds = (tagger.RecordError, tagger.ThemeError, tagger.ModelError)
    assert all(issubclass(kind, tagger.TaggerError) for kind in kinds)
    assert issubclass(tagger.TaggerError, ValueError)


def test_prediction_loads_no_heavy_library(tiny_dir, root):
    heavy = "sklearn spacy pandas scipy matplotlib jinja2 pyarrow joblib"
    program = (
        "import sys, tagger\n"
        f"model = tagger.load({str(tiny_dir)!r})\n"
        "record = tagger.Record(id='x', title='Adam')\n"
        "model.tag([record]), model.explain(record, 'optimizers')\n"
        f"print(*[name for name in {heavy.split()} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
