"""`tagger info`."""

import json

from click.testing import CliRunner

from tagger.cli import main


def info(folder, *args):
    return CliRunner().invoke(main, ["info", "-m", str(folder), *args])


def test_a_model_is_described(tiny_dir, tiny):
    result = info(tiny_dir)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "3 themes, 18 n-grams, 9 keywords"
    assert lines[-4] == f"{'theme':<28} threshold  held-out F1"
    assert [line.split()[0] for line in lines[-3:]] == list(tiny.theme_ids)


def test_json_is_one_object(tiny_dir, tiny):
    found = json.loads(info(tiny_dir, "--json").stdout)
    assert found["exclusive"] is False
    assert [theme["id"] for theme in found["themes"]] == list(tiny.theme_ids)
    assert found["themes"][2]["not"] == ["action potential"]
    assert all(0 < theme["threshold"] < 1 for theme in found["themes"])
    assert found["trained_on"]["n_records"] == 9


def test_the_shipped_model_is_described_by_default(shipped):
    result = CliRunner().invoke(main, ["info"])
    assert result.exit_code == 0
    assert result.stdout.startswith("26 themes, ")
