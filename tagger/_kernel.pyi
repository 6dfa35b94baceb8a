from collections.abc import Callable
from typing import Any

from typing_extensions import Buffer

Help = Callable[[str], tuple[bytes, bytes]]

class Model: ...

def events(
    texts: list[str],
    help: Help,
    prefixes: Buffer | None,
    title_weight: float,
    order: int,
    /,
) -> tuple[bytes, bytes, bytes, bytes, bytes]: ...
def tokenize(
    text: str, /
) -> tuple[list[int], list[int], list[int], list[bool]] | None: ...
def model(
    arrays: tuple[Buffer, ...], order: int, title_weight: float, empty_idf: float, /
) -> Model: ...
def score(model: Model, texts: list[str], help: Help, /) -> tuple[bytes, bytes]: ...
def decisions(
    records: list[Any],
    P: Buffer,
    given: Buffer,
    reasons: Buffer,
    themes: tuple[str, ...],
    names: tuple[str, ...],
    decision: type,
    tag: type,
    /,
) -> list[Any]: ...
def is_clean(text: str, /) -> bool: ...
def checksum(data: Buffer, /) -> int: ...
