"""Reading and writing files of records, whatever their format.

Each name is loaded from its module when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tagger.formats.appending import append_entries as append_entries
    from tagger.formats.appending import open_to_append as open_to_append
    from tagger.formats.collecting import read_records as read_records
    from tagger.formats.entries import Entry as Entry
    from tagger.formats.folders import files_in as files_in
    from tagger.formats.folders import files_of as files_of
    from tagger.formats.folders import walked as walked
    from tagger.formats.opening import holds_records as holds_records
    from tagger.formats.opening import read_entries as read_entries
    from tagger.formats.output import open_target as open_target
    from tagger.formats.reading import Reading as Reading
    from tagger.formats.reading import summary_line as summary_line
    from tagger.formats.reading import write_entries as write_entries
    from tagger.formats.registry import FORMATS as FORMATS
    from tagger.formats.sources import suffix_of as suffix_of

_MODULES = {
    "FORMATS": "registry",
    "Entry": "entries",
    "Reading": "reading",
    "append_entries": "appending",
    "files_in": "folders",
    "files_of": "folders",
    "holds_records": "opening",
    "open_target": "output",
    "open_to_append": "appending",
    "read_entries": "opening",
    "read_records": "collecting",
    "suffix_of": "sources",
    "summary_line": "reading",
    "walked": "folders",
    "write_entries": "reading",
}

__all__ = [
    "FORMATS",
    "Entry",
    "Reading",
    "append_entries",
    "files_in",
    "files_of",
    "holds_records",
    "open_target",
    "open_to_append",
    "read_entries",
    "read_records",
    "suffix_of",
    "summary_line",
    "walked",
    "write_entries",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'tagger.formats' has no attribute {name!r}")
    value = getattr(import_module(f"tagger.formats.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
