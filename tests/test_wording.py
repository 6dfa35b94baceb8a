"""How messages are worded."""

import pytest

from tagger.wording import counted


@pytest.mark.parametrize(
    ("n", "words", "said"),
    [
        (0, ("record",), "0 records"),
        (1, ("record",), "1 record"),
        (2, ("record",), "2 records"),
        (1234567, ("entry", "entries"), "1,234,567 entries"),
        (1, ("record was", "records were"), "1 record was"),
    ],
)
def test_one_is_told_from_many(n, words, said):
    assert counted(n, *words) == said
