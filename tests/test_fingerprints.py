"""Fingerprints: which records are one paper, and leaks found."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tagger.errors import ModelError
from tagger.fingerprints import Fingerprints, find_overlap, fingerprints, group_ids
from tagger.records import Record

ABSTRACT = (
    "We study how a robot gardener learns to prune apple trees from a handful of "
    "demonstrations. A camera watches each branch, a small network guesses where the "
    "next cut should fall, and a person corrects the guess by voice. After two "
    "afternoons in an orchard the gardener prunes eight trees an hour and damages "
    "fewer buds than a beginner. We describe the corrections that helped most, the "
    "weather that confused the camera, and why the voice channel was worth its cost."
)
OTHER = (
    "Old bells ring differently after repair. By measuring ninety church bells before "
    "and after welding, we relate the change of pitch to the length and depth of the "
    "crack, and give founders a table from which the sound of a mended bell can be "
    "foreseen within a tenth of a semitone, whatever the alloy or age of the bell."
)


def with_words_changed(text, count):
    words = text.split()
    for i in np.linspace(0, len(words) - 1, count).astype(int):
        words[i] = f"changed{i}"
    return " ".join(words)


def _trigrams(paper):
    words = re.findall(r"\w+", f"{paper.title} {paper.abstract}".lower())
    return set(zip(words, words[1:], words[2:], strict=False))


def test_versions_and_near_duplicates_share_a_number():
    records = [
        Record(id="a", title="Pruning apples by voice", abstract=ABSTRACT),
        Record(id="b", title="How mended bells sound", abstract=OTHER),
        Record(id="c", title="A gardener that listens", abstract=ABSTRACT),
        Record(
            id="d",
            title="Something else entirely",
            abstract=with_words_changed(ABSTRACT, 10),
        ),
    ]
    assert group_ids(records).tolist() == [0, 1, 0, 0]


def test_short_notes_do_not_join_papers():
    note = "This paper has been withdrawn by the authors because of an error."
    records = [
        Record(id="a", title="On the pruning of apple trees", abstract=note),
        Record(id="b", title="A theory of the sound of bells", abstract=note),
    ]
    near = [o.kind for o in find_overlap(records[:1], fingerprints(records[1:]))]
    assert "near-duplicate" not in near


def test_no_records_have_no_groups():
    assert group_ids([]).tolist() == []


def test_papers_are_numbered_by_first_appearance():
    keys = ("2401.00003", "2401.00001", "2401.00003v2", "2401.00002", "2401.00001")
    assert group_ids([Record(id=key) for key in keys]).tolist() == [0, 1, 0, 2, 1]


def test_one_paper_may_hang_together_by_different_keys():
    records = [
        Record(id="2401.00001", title="Pruning by voice"),
        Record(id="x", title="Pruning by voice", doi="10.1000/1"),
        Record(id="y", title="Of moss"),
        Record(id="z", doi="10.1000/1"),
    ]
    assert group_ids(records).tolist() == [0, 0, 1, 0]


def test_each_kind_of_leak_is_named():
    paper = Record(id="arxiv:2401.00001v1", title="Pruning by voice", abstract=ABSTRACT)
    trained = fingerprints([Record(id="b", title="Bells", abstract=OTHER), paper])
    tests = [
        replace(paper, id="copy"),
        Record(id="arxiv:2401.00001v3", title="Pruning", abstract="A new text."),
        Record(id="x", title="Trees", abstract=with_words_changed(ABSTRACT, 10)),
        Record(id="new", title="Of moss", abstract="Moss grows on the north side."),
    ]
    found = find_overlap(tests, trained)
    assert [(o.row, o.id, o.trained_id, o.kind) for o in found] == [
        (0, "copy", paper.id, "exact"),
        (1, "arxiv:2401.00001v3", paper.id, "same paper"),
        (2, "x", paper.id, "near-duplicate"),
    ]
    assert found[0].similarity == 1.0
    assert 0.25 < found[2].similarity < 0.9


def test_records_without_text_are_no_leak_of_each_other():
    trained = fingerprints([Record(id="a"), Record(id="b")])
    assert find_overlap([Record(id="c")], trained) == ()


def test_fingerprints_survive_as_plain_arrays():
    records = [
        Record(id="a", title="Pruning by voice", abstract=ABSTRACT),
        Record(id="\u00fc\ud800", title="Bells", abstract=OTHER),
    ]
    before = fingerprints(records)
    arrays = before.to_arrays()
    assert all(array.dtype != object for array in arrays.values())
    after = Fingerprints.from_arrays(arrays)
    assert after.ids == ("a", "\u00fc\ud800")
    assert find_overlap(records, after) == find_overlap(records, before)
    assert arrays["minima"].shape == (2, 16)


def test_fingerprints_of_no_records_survive():
    assert Fingerprints.from_arrays(fingerprints([]).to_arrays()).ids == ()


def test_fingerprints_without_an_array_are_refused():
    arrays = fingerprints([Record(id="a", title="Bells")]).to_arrays()
    del arrays["minima"]
    with pytest.raises(ModelError, match=r"lack the array 'minima'"):
        Fingerprints.from_arrays(arrays)


def test_fingerprints_of_other_sizes_are_refused():
    arrays = fingerprints([Record(id="a", title="Bells")]).to_arrays()
    arrays["trigrams"] = np.zeros(3, dtype=np.int32)
    with pytest.raises(ModelError, match=r"do not fit together: 3 records, but 1 ids"):
        Fingerprints.from_arrays(arrays)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("keys", np.zeros(1), r"'keys' .* is float64 .*; expected uint64 of shape"),
        ("minima", np.zeros((1, 3), np.uint64), r"shape \(1, 3\); .* \('n', 16\)"),
        ("key_rows", np.array([-1, 0], np.int32), r"do not fit together: 1 records"),
        ("key_rows", np.array([0, 1], np.int32), r"do not fit together: 1 records"),
    ],
)
def test_fingerprints_that_are_damaged_are_refused(name, array, message):
    arrays = fingerprints([Record(id="a", title="Bells")]).to_arrays()
    arrays[name] = array
    with pytest.raises(ModelError, match=message):
        Fingerprints.from_arrays(arrays)


@pytest.mark.shared
def test_planted_leaks_are_all_found_and_distinct_papers_are_not(shared):
    import pandas as pd

    frame = pd.read_parquet(shared / "data" / "abstracts" / "part-0.parquet")
    frame = frame.sample(10_000, random_state=0)
    papers = [
        Record(id=i, title=t, abstract=a)
        for i, t, a in zip(frame["id"], frame["title"], frame["abstract"], strict=True)
    ]
    groups = group_ids(papers)
    for group in np.flatnonzero(np.bincount(groups) > 1):
        # Real papers do copy their own abstracts; nothing less may be joined.
        one, two, *_ = (_trigrams(papers[i]) for i in np.flatnonzero(groups == group))
        assert len(one & two) / len(one | two) > 0.2
    assert len(np.unique(groups)) >= 9_990
    trained = fingerprints(papers)
    long = [p for p in papers if len(p.abstract.split()) >= 60][:300]
    planted = [replace(p, id=f"same{i}") for i, p in enumerate(long)]
    planted += [replace(p, title="A reworded title of it") for p in long]
    planted += [
        Record(id=f"copy{i}", title="Copied", abstract=with_words_changed(text, 10))
        for i, text in enumerate(p.abstract for p in long)
    ]
    found = find_overlap(planted, trained)
    assert [o.row for o in found] == list(range(len(planted)))
    assert [o.trained_id for o in found] == [p.id for p in long] * 3
