"""The main job, from a built wheel in a clean environment."""

import json
import os
import subprocess
import sys
import zipfile

import pytest

pytestmark = pytest.mark.slow


def run(*command, cwd):
    """Run a command outside the checkout; give what it printed."""
    outside = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=outside,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    """Build the wheel from a copy of what belongs to it."""
    import shutil

    place = tmp_path_factory.mktemp("wheel")
    source = place / "source"
    source.mkdir()
    for name in ("tagger", "models", "seeds"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(root / name, source / name, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    options = ["--no-deps", "--wheel-dir", place]
    run(*pip, "wheel", source, *options, cwd=place)
    (found,) = place.glob("paper_tagger-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Install the wheel; give the folder of its commands."""
    place = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", place, cwd=place)
    python = place / "bin" / "python"
    # The new environment sees the libraries of ours, but not the checkout.
    (site,) = place.glob("lib/python*/site-packages")
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (site / "libraries.pth").write_text("\n".join(ours))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-index", "--force-reinstall"]
    run(*pip, "--python", python, "install", *options, wheel, cwd=place)
    where = run(python, "-c", "import tagger; print(tagger.__file__)", cwd=place)
    assert where.startswith(str(site))
    return place / "bin"


def test_the_wheel_holds_models_and_seeds_and_the_type_marker(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        "tagger/py.typed",
        "tagger/seeds/themes.toml",
        "tagger/seeds/records.jsonl",
        "tagger/models/themes/manifest.json",
        "tagger/models/background/manifest.json",
        "tagger/report_templates/report.html",
        "tagger/cli/predict.py",
    }
    assert wanted <= names
    assert not [name for name in names if "__pycache__" in name]


def test_an_abstract_is_tagged_from_another_folder(installed, tmp_path):
    abstract = tmp_path / "abstract.txt"
    abstract.write_text("A second-order optimizer\n\nWe train networks with Muon.\n")
    found = json.loads(run(installed / "tagger", "predict", abstract, cwd=tmp_path))
    assert found["status"] == "tagged"
    assert "optimizers" in [tag["theme"] for tag in found["tags"]]


def test_a_model_is_trained_on_the_starter_set_and_used(installed, tmp_path):
    shown = run(installed / "tagger", "train", cwd=tmp_path)
    assert "The model is in my-model" in shown
    (tmp_path / "a.jsonl").write_text('{"title": "Adam, an optimizer"}\n')
    options = ["a.jsonl", "-m", "my-model"]
    found = json.loads(run(installed / "tagger", "predict", *options, cwd=tmp_path))
    assert found["tags"][0]["theme"] == "optimizers"
