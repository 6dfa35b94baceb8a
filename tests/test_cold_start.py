"""Nothing is loaded that a command does not need."""

import os
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
    assert len(loaded) < 145


def test_a_command_loads_no_other_command(root):
    loaded = modules_after(root, "predict", "--help")
    assert {name for name in loaded if name.startswith("tagger.")} == {
        "tagger.cli",
        "tagger.cli.inputs",
        "tagger.cli.options",
        "tagger.cli.predict",
        "tagger.cli.progress",
        "tagger.cli.stopping",
        "tagger.cli.streams",
        "tagger.errors",
    }


def test_predict_loads_numpy_and_no_other_library(root):
    loaded = modules_after(root, "predict", "seeds/example-abstract.txt")
    assert not {name.partition(".")[0] for name in loaded} & HEAVY
    assert not {"tagger.training", "tagger.evaluation", "tagger.keywords"} & loaded
    assert not {"difflib", "html", "numpy.ma", "shutil", "tempfile"} & loaded
    assert not {"_hashlib", "tagger.exclusive"} & loaded
    assert len(loaded) < 310


def test_predict_starts_no_threads_that_multiply(root):
    program = (
        "from os import environ\n"
        "from tagger.cli import main\n"
        "main(['predict', 'seeds/example-abstract.txt'], standalone_mode=False)\n"
        "print(environ['OPENBLAS_NUM_THREADS'])"
    )
    environment = {k: v for k, v in os.environ.items() if "NUM_THREADS" not in k}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stdout.splitlines()[-1] == "1"


# What every reading needs, whatever the format.
ALWAYS = set(
    "encodings entries opening packing reading registry seen_names sources "
    "text_stream".split()
)


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("abstract.txt", "plain_text"),
        ("records.jsonl", "json_lines json_shapes json_text history unwrapping"),
        ("references.bib", "bibtex bibtex_text history unwrapping"),
        ("references.ris", "tag_lines history unwrapping"),
        ("records.csv", "delimited table_text columns history"),
        ("arxiv-api.atom", "feeds xml_records xml_text unwrapping"),
    ],
)
def test_of_the_formats_only_those_are_loaded_that_a_file_looks_like(
    root, name, needed
):
    loaded = modules_after(root, "predict", f"tests/samples/{name}")
    formats = {module[15:] for module in loaded if module.startswith("tagger.formats.")}
    assert formats == ALWAYS | set(needed.split())
    assert "gzip" not in loaded
    assert ("csv" in loaded) == (name == "records.csv")
