"""How soon threads hand the interpreter's lock over."""

import sys

from tagger.handover import handed_over_soon


def test_blocks_that_overlap_put_back_what_was_when_the_last_ends():
    before = sys.getswitchinterval()
    first, second = handed_over_soon(), handed_over_soon()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getswitchinterval() < before
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == before


def test_a_stream_that_is_left_in_the_middle_puts_it_back(tiny, toy_records):
    before = sys.getswitchinterval()
    stream = tiny.tag_stream(toy_records, jobs=2)
    next(stream)
    assert sys.getswitchinterval() < before
    stream.close()
    assert sys.getswitchinterval() == before


def test_a_shorter_time_that_was_set_stays():
    before = sys.getswitchinterval()
    try:
        sys.setswitchinterval(1e-5)
        with handed_over_soon():
            assert sys.getswitchinterval() <= 1.1e-5
    finally:
        sys.setswitchinterval(before)
