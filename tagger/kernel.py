"""The compiled part, if there is one: the same definitions, faster.

`tagger.tokens`, `tagger.features` and `tagger.model` define in Python what is
computed. Where a C compiler was at hand, `_kernel.c` does it without Python
objects for tokens and without holding the interpreter's lock; what is rare in
papers it hands back to Python, text by text.
"""

from __future__ import annotations

from types import ModuleType

__all__ = ["compiled"]

compiled: ModuleType | None
try:
    from tagger import _kernel as compiled
except ImportError:  # built without a compiler
    compiled = None
