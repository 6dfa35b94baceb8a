"""Which records a model was trained on, exactly or nearly."""

from __future__ import annotations

from collections.abc import Sequence

from tagger.fingerprints import Fingerprints, Overlap, find_overlap
from tagger.model import Tagger
from tagger.records import Record

__all__ = ["seen_in_training"]


def seen_in_training(
    models: Sequence[Tagger], records: Sequence[Record]
) -> tuple[Overlap, ...]:
    """Find the records that one of some models was trained on.

    Parameters
    ----------
    models : sequence of Tagger
        One without fingerprints (of themes alone, without labels) has seen none.
    records : sequence of Record

    Returns
    -------
    overlaps : tuple of Overlap
        At most one a record, by row. The same record, another version of the
        paper, and a near-duplicate text all count; see
        `tagger.fingerprints.find_overlap`.
    """
    found: dict[int, Overlap] = {}
    for model in models:
        if model.arrays:
            kept = Fingerprints.from_arrays(dict(model.arrays))
            for overlap in find_overlap(records, kept):
                found.setdefault(overlap.row, overlap)
    return tuple(found[row] for row in sorted(found))
