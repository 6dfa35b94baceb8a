"""Fixtures every test may use."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def root() -> Path:
    """Give the root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Give the folder of real records beside the checkout, or skip."""
    if not (SHARED / "gold").is_dir():
        pytest.skip("needs the real records in ../shared, which are not here")
    return SHARED
