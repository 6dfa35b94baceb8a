"""Being told to stop: what was begun is put away first."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["stopped_by_signals"]

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Leave the block in good order when the process is told to stop.

    Without this SIGTERM and SIGHUP end the process where it stands, and what a
    file was written to beside its place stays there. The exit code is the usual
    one, 128 and the number of the signal: 130 for Ctrl-C, 143 for SIGTERM. A
    second signal ends the process at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    # What the shell said to ignore (`nohup`) stays ignored.
    ours = [n for n, held in before.items() if held is not signal.SIG_IGN]
    for number in ours:
        signal.signal(number, _stop)
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _stop(number: int, frame: FrameType | None) -> None:
    """Leave every block that is open; the next signal does not wait for that."""
    signal.signal(number, signal.SIG_DFL)
    sys.exit(128 + number)
