"""The house: every room on its floor, every library in its room."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "tagger"

# Each room: its floor, and the third-party libraries that may be used in it. A
# room imports from lower floors only; a folder (a family of formats, of commands)
# is one room, whose files may import each other. A room may be planned here
# before it is built.
ROOMS = {
    "_kernel": (-2, ""),
    "kernel": (-1, ""),
    "errors": (0, ""),
    "text": (0, "ftfy pylatexenc"),
    "tokens": (0, ""),
    "resources": (0, ""),
    "wording": (0, ""),
    "minhash": (0, "numpy"),
    "intervals": (0, "numpy"),
    "definitions": (0, ""),
    "figures": (4, "numpy pandas"),
    "values": (1, ""),
    "fields": (1, ""),
    "identity": (1, ""),
    "store": (1, "numpy"),
    "records": (2, ""),
    "themes": (1, ""),
    "theme_file": (2, ""),
    "duplicates": (3, ""),
    "formats": (3, "backports pandas pyarrow"),
    "labels": (3, "numpy"),
    "splits": (3, "numpy"),
    "features": (3, "numpy scipy sklearn"),
    "decide": (3, "numpy"),
    "fingerprints": (4, "numpy scipy"),
    "metrics": (4, "numpy"),
    "keywords": (4, "numpy spacy"),
    "background": (4, "numpy scipy sklearn"),
    "judge": (4, "numpy"),
    "exclusive": (4, "numpy scipy"),
    "handover": (0, ""),
    "company": (5, "numpy scipy threadpoolctl"),
    "inspection": (5, "numpy"),
    "scorer": (4, "numpy"),
    "classifier": (4, "joblib numpy scipy sklearn"),
    "calibration": (5, "numpy scipy sklearn"),
    "model": (5, "numpy scipy"),
    "evaluation": (5, "numpy"),
    "curves": (5, "numpy"),
    "counts": (4, "numpy scipy"),
    "material": (5, "joblib numpy"),
    "baselines": (6, "numpy scipy sklearn"),
    "autotag": (6, ""),
    "arrivals": (6, ""),
    "tagging": (7, ""),
    "places": (1, "fsspec"),
    "dataset": (8, ""),
    "cluster": (9, "distributed joblib scipy threadpoolctl"),
    "seen": (6, ""),
    "card": (6, ""),
    "plans": (6, "numpy"),
    "groups": (6, "numpy"),
    "answers": (6, "numpy"),
    "training": (7, "joblib numpy scipy sklearn threadpoolctl"),
    "comparison": (6, "numpy"),
    "pictures": (6, "markupsafe matplotlib"),
    "mistakes": (7, "numpy"),
    "heldout": (8, "numpy"),
    "rendering": (7, "jinja2 markupsafe numpy"),
    "report": (8, ""),
    "findings": (9, ""),
    "review": (10, "numpy"),
    "__init__": (11, ""),
    "cli": (12, "click numpy rich"),
    "__main__": (13, ""),
}
DRAWERS = {"base", "common", "core", "helpers", "misc", "utils"}
FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(file):
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def imports_of(file):
    """Give the dotted names a file imports, inside functions too."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} imports relatively"
            if node.module == "tagger":
                yield from (f"tagger.{alias.name}" for alias in node.names)
            else:
                yield node.module


def rooms_used(file):
    """Give the rooms a file imports from; a name of the package is its door."""
    for name in imports_of(file):
        first, _, rest = name.partition(".")
        if first == "tagger":
            room = rest.split(".")[0]
            yield room if room in ROOMS else "__init__"


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_a_room_is_known_and_imports_from_lower_floors_only(file):
    room = room_of(file)
    assert room in ROOMS, f"{room} has no floor yet; give it one in ROOMS"
    floor, _ = ROOMS[room]
    inside = {room} if (PACKAGE / room).is_dir() else set()
    higher = {r for r in set(rooms_used(file)) - inside if ROOMS[r][0] >= floor}
    assert not higher, f"{room} is on floor {floor} and imports from {higher}"


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_a_room_uses_its_own_libraries_only(file):
    _, libraries = ROOMS.get(room_of(file), (0, ""))
    outside = {name.partition(".")[0] for name in imports_of(file)}
    # `compression` is part of Python from 3.14 on.
    outside -= sys.stdlib_module_names | {"tagger", "compression"}
    assert outside <= set(libraries.split())


def test_no_room_is_a_drawer():
    names = {part for file in FILES for part in file.with_suffix("").parts}
    assert not names & DRAWERS


def test_the_rules_see_imports_inside_functions_and_of_the_package(tmp_path):
    file = tmp_path / "room.py"
    file.write_text(
        "import numpy.linalg\nfrom tagger import themes, load\n"
        "def f():\n    from tagger.formats.sources import Head\n"
    )
    assert set(rooms_used(file)) == {"themes", "__init__", "formats"}
    assert "numpy.linalg" in set(imports_of(file))


def test_the_front_door_loads_no_heavy_library():
    rooms = "tagger, tagger.features, tagger.formats, tagger.records, tagger.themes"
    heavy = "sklearn spacy pandas scipy matplotlib jinja2 pyarrow"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys, {rooms}\n"
            f"print(*[name for name in {heavy.split()} if name in sys.modules])",
        ],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
