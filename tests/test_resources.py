"""Where shipped files lie."""

import shutil

from tagger.resources import resource


def test_the_files_of_a_checkout_are_found_beside_the_package(root):
    assert resource("seeds/themes.toml") == root / "seeds" / "themes.toml"
    assert resource("seeds/themes.toml").is_file()


def test_an_installed_package_carries_its_files_inside(root, tmp_path):
    inside = tmp_path / "tagger" / "seeds"
    inside.mkdir(parents=True)
    shutil.copy(root / "tagger" / "resources.py", tmp_path / "tagger")
    scope = {"__file__": str(tmp_path / "tagger" / "resources.py")}
    code = (tmp_path / "tagger" / "resources.py").read_text("utf-8")
    exec(compile(code, "resources.py", "exec"), scope)
    assert scope["resource"]("seeds") == inside
