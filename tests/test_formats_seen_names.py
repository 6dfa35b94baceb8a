"""The compact set of names."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tagger.formats.seen_names import SeenNames


@settings(deadline=None)
@given(st.lists(st.text(max_size=3)))
def test_a_name_is_new_once(names):
    seen, known = SeenNames(), set()
    for name in names:
        assert seen.add(name) == (name not in known)
        known.add(name)


def test_it_grows_and_forgets_nothing():
    seen = SeenNames()
    assert all(seen.add(str(n)) for n in range(5_000))
    assert not any(seen.add(str(n)) for n in range(5_000))
