"""Nothing is loaded that a command does not need."""

import subprocess
import sys

import pytest

HEAVY = {
    *{"asyncio", "concurrent", "jinja2", "joblib", "matplotlib", "multiprocessing"},
    *{"pandas", "pyarrow", "rich", "scipy", "sklearn", "spacy", "threadpoolctl"},
}


def modules_after(root, *arguments):
    """Run a command in a fresh interpreter; give the modules it has loaded."""
    program = (
        "import sys\n"
        "from tagger.cli import main\n"
        "main(sys.argv[1:], standalone_mode=False)\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["--help"], ["predict", "--help"]])
def test_help_loads_neither_numpy_nor_a_model(root, arguments):
    loaded = modules_after(root, *arguments)
    assert not {name.partition(".")[0] for name in loaded} & {*HEAVY, "numpy"}
    assert len(loaded) < 160


def test_predict_loads_numpy_and_no_other_library(root):
    loaded = modules_after(root, "predict", "seeds/example-abstract.txt")
    assert not {name.partition(".")[0] for name in loaded} & HEAVY
    assert not {"tagger.training", "tagger.evaluation", "tagger.keywords"} & loaded
    assert len(loaded) < 380
