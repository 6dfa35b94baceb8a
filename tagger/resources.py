"""Where the files that come with the package lie: `models/` and `seeds/`.

A wheel carries both folders inside the package; in a checkout they stand
beside it.
"""

from pathlib import Path

__all__ = ["resource"]

_PACKAGE = Path(__file__).resolve().parent


def resource(name: str) -> Path:
    """Give the path of a shipped file or folder, such as ``"models/themes"``."""
    installed = _PACKAGE / name
    return installed if installed.exists() else _PACKAGE.parent / name
