"""What unlabelled abstracts taught, and its folder."""

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tagger.background import idf, load_background, save_background
from tagger.errors import ModelError
from tagger.store import write_folder


def test_idf_is_the_smoothed_one():
    wanted = [1 + math.log(11 / 2), 1.0]
    assert_allclose(idf(np.array([1, 10]), 10), wanted, rtol=1e-6)


def test_the_space_is_vectors_in_units_of_scale(toy_background):
    space = toy_background.space
    assert space.shape == toy_background.vectors.shape
    assert space.dtype == np.float32
    assert_allclose(space.max(), 1.27, rtol=1e-6)
    assert (toy_background.idf > 1).all()


def test_a_background_is_read_back_as_it_was_written(toy_background, tmp_path):
    save_background(toy_background, tmp_path / "b", {"made": "by hand"})
    found = load_background(tmp_path / "b")
    assert found.n_documents == 1000
    for name in ("codes", "df", "vectors", "scale"):
        assert_array_equal(getattr(found, name), getattr(toy_background, name))
    manifest = json.loads((tmp_path / "b" / "manifest.json").read_text("utf-8"))
    assert manifest["made"] == "by hand"


def arrays(background):
    return {
        "codes": background.codes,
        "df": background.df,
        "vectors": background.vectors,
        "scale": background.scale,
    }


def test_a_background_without_an_array_is_refused(toy_background, tmp_path):
    less = {k: v for k, v in arrays(toy_background).items() if k != "df"}
    write_folder(tmp_path / "b", "background", less, {"n_documents": 10})
    with pytest.raises(ModelError, match=r"b is not whole: array 'df' is missing\."):
        load_background(tmp_path / "b")


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("df", np.zeros(2, np.uint32)),
        ("scale", np.zeros(2, np.float32)),
        ("vectors", np.zeros((3, 3), np.int8)),
        ("codes", np.array(7, np.uint64)),
        ("df", np.array(["a"] * 18)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(toy_background, tmp_path, name, array):
    changed = {**arrays(toy_background), name: array}
    write_folder(tmp_path / "b", "background", changed, {"n_documents": 10})
    with pytest.raises(ModelError, match="its arrays do not fit each other"):
        load_background(tmp_path / "b")


@pytest.mark.parametrize("n", [None, "10", 0])
def test_a_background_must_say_how_many_abstracts_it_saw(toy_background, tmp_path, n):
    write_folder(
        tmp_path / "b", "background", arrays(toy_background), {"n_documents": n}
    )
    with pytest.raises(ModelError, match="its arrays do not fit each other"):
        load_background(tmp_path / "b")
