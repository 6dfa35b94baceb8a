"""Tag scientific papers with the themes they are about.

>>> import tagger
>>> model = tagger.load()
>>> record = tagger.Record(
...     id="x",
...     title="A second-order optimizer for deep networks",
...     abstract="We study an optimizer that preconditions stochastic gradient "
...     "descent with curvature, and prove its convergence rate.",
... )
>>> [tag.theme for tag in model.tag([record])[0].tags]
['optimizers']

Nothing heavy is loaded before it is used: prediction needs numpy alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tagger.errors import ClusterError, ModelError, RecordError, TaggerError, ThemeError

if TYPE_CHECKING:
    from tagger.decide import Decision as Decision
    from tagger.formats import read_entries as read_entries
    from tagger.formats import read_records as read_records
    from tagger.formats import write_entries as write_entries
    from tagger.model import Evidence as Evidence
    from tagger.model import Explanation as Explanation
    from tagger.model import Tagger as Tagger
    from tagger.model import load as load
    from tagger.model import save as save
    from tagger.records import Record as Record
    from tagger.records import Tag as Tag
    from tagger.theme_file import read_themes as read_themes
    from tagger.themes import Theme as Theme

__all__ = [
    "ClusterError",
    "Decision",
    "Evidence",
    "Explanation",
    "ModelError",
    "Record",
    "RecordError",
    "Tag",
    "Tagger",
    "TaggerError",
    "Theme",
    "ThemeError",
    "load",
    "read_entries",
    "read_records",
    "read_themes",
    "save",
    "write_entries",
]

_ROOMS = {
    "Decision": "decide",
    "Evidence": "model",
    "Explanation": "model",
    "Record": "records",
    "Tag": "records",
    "Tagger": "model",
    "Theme": "themes",
    "load": "model",
    "read_entries": "formats",
    "read_records": "formats",
    "read_themes": "theme_file",
    "save": "model",
    "write_entries": "formats",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("paper-tagger")
    if name not in _ROOMS:
        raise AttributeError(f"module 'tagger' has no attribute {name!r}")
    value = getattr(import_module(f"tagger.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
