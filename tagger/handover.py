"""How soon threads hand the interpreter's lock over to one another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["handed_over_soon"]

# Seconds; Python's own is ten times that. A thread back from the compiled part
# waits so long for one that runs Python, and a batch takes about 8 ms.
_SOON = 0.0005

_lock = Lock()
_inside = 0
_before = 0.0


@contextmanager
def handed_over_soon() -> Iterator[None]:
    """Let threads of this process wait less for each other, until the block ends.

    Blocks may overlap, in several threads too: the last to end puts back what was.
    """
    global _inside, _before
    with _lock:
        if _inside == 0:
            _before = sys.getswitchinterval()
            sys.setswitchinterval(min(_SOON, _before))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                sys.setswitchinterval(_before)
