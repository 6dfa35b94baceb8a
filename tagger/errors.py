"""The exceptions a caller may want to catch.

TaggerError
├── RecordError   a paper record, or a file of records, cannot be used
├── ThemeError    a theme, or a file of themes, cannot be used
├── ModelError    a saved model cannot be read, written or applied
└── ClusterError  a cluster cannot be reached or used

Programming mistakes (a wrong type, arrays of different shapes) stay
`TypeError` and `ValueError`.
"""

__all__ = ["ClusterError", "ModelError", "RecordError", "TaggerError", "ThemeError"]


class TaggerError(ValueError):
    """Something in the input is wrong; the message says what and where."""


class RecordError(TaggerError):
    """A record or a file of records cannot be used."""


class ThemeError(TaggerError):
    """A theme, or a file of themes, cannot be used."""


class ModelError(TaggerError):
    """A saved model cannot be read, written or applied."""


class ClusterError(TaggerError):
    """A cluster cannot be reached or used."""
