"""How messages are worded."""

from __future__ import annotations

__all__ = ["counted"]


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a number of things in words.

    Parameters
    ----------
    n : int
    one : str
        What they are if there is one; may go on behind the noun if `many` is given.
    many : str, optional
        What they are otherwise; `one` with an s by default.

    Examples
    --------
    >>> counted(1, "record"), counted(2133, "record"), counted(0, "entry", "entries")
    ('1 record', '2,133 records', '0 entries')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"
