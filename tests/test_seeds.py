"""The starter set is data that `tagger train` relies on, so it is tested like code."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

SEEDS = Path(__file__).resolve().parent.parent / "seeds"
LINES = (SEEDS / "records.jsonl").read_text(encoding="utf-8").splitlines()
# Names of methods ("Muon with block-periodic orthogonalization (MuonBP)") cannot be
# said in other words; a run longer than this would be a copied phrase.
LONGEST_SHARED_RUN = 7


def parsed() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LINES]


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def runs(tokens: list[str], length: int) -> set[tuple[str, ...]]:
    """Every run of `length` words in `tokens`."""
    return set(zip(*(tokens[start:] for start in range(length)), strict=False))


def test_every_line_is_one_json_object() -> None:
    assert [type(json.loads(line)) for line in LINES] == [dict] * 48


def test_ids_are_unique_slugs() -> None:
    ids = [record["id"] for record in parsed()]
    assert len(set(ids)) == 48
    assert [i for i in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", i)] == []


def test_every_theme_is_in_the_theme_file() -> None:
    with (SEEDS / "themes.toml").open("rb") as file:
        known = {theme["id"] for theme in tomllib.load(file)["theme"]}
    used = {theme for record in parsed() for theme in record["themes"]}
    assert used - known == set()


def test_every_record_has_at_least_one_theme_and_none_twice() -> None:
    themes = [record["themes"] for record in parsed()]
    assert [t for t in themes if not t or len(set(t)) < len(t)] == []


def test_every_summary_has_60_to_120_words() -> None:
    counts = {record["id"]: len(record["abstract"].split()) for record in parsed()}
    assert {i: n for i, n in counts.items() if not 60 <= n <= 120} == {}


def test_summaries_hold_no_markup_and_no_stray_space() -> None:
    abstracts = [record["abstract"] for record in parsed()]
    assert [a for a in abstracts if re.search(r"[\\$<>]|\s\s|^\s|\s$|http", a)] == []


def test_no_author_keeps_a_number_or_the_mark_of_a_cut_list() -> None:
    authors = [a for record in parsed() for a in record.get("authors", [])]
    assert [a for a in authors if re.search(r"\d|等|^\s|\s$", a)] == []


def test_facts_of_an_author_page_record_with_two_sources() -> None:
    record = next(r for r in parsed() if (r["title"] or "").startswith("JanusPipe"))
    assert {k: v for k, v in record.items() if k not in ("id", "abstract")} == {
        "title": "JanusPipe: Efficient Pipeline Parallel Training for Machine Learning"
        " Interatomic Potentials",
        "year": 2026,
        "subject": "cs.DC",
        "page_author": ["Hongtao Xu", "Mingzhen Li"],
        "sources": ["000_409ae2d69526a4f7.txt", "002_0eca0ab1dc3f709a.txt"],
        "themes": ["interatomic-potentials", "distributed-training"],
    }


def test_facts_of_a_search_listing_record() -> None:
    record = next(r for r in parsed() if r["id"].startswith("fedmuon"))
    assert {k: v for k, v in record.items() if k not in ("id", "abstract")} == {
        "title": None,
        "year": None,
        "subject": None,
        "authors": [
            "Yuki Takezawa",
            "Anastasia Koloskova",
            "Xiaowen Jiang",
            "Sebastian Stich",
        ],
        "area": "Optimization",
        "topic": "Large Scale, Parallel and Distributed",
        "sources": ["001_10e71e13e859317d.txt"],
        "themes": ["optimizers", "federated-learning"],
    }


def test_only_the_list_that_its_document_cuts_is_marked_as_cut() -> None:
    cut = [record["authors"] for record in parsed() if record.get("authors_cut")]
    assert [(len(names), names[0], names[-1]) for names in cut] == [
        (10, "Huiyang Hu", "Yaowei Wang")
    ]


def test_five_papers_stand_in_two_documents() -> None:
    sources = [record["sources"] for record in parsed()]
    assert sorted(len(names) for names in sources) == [1] * 43 + [2] * 5
    assert sum(len(names) for names in sources) == 53


def test_the_example_has_a_title_line_a_blank_line_and_one_abstract() -> None:
    text = (SEEDS / "example-abstract.txt").read_text(encoding="utf-8")
    title, blank, abstract = text.rstrip("\n").split("\n")
    assert (blank, "FP8" in title, 100 <= len(abstract.split()) <= 150) == (
        "",
        True,
        True,
    )


@pytest.mark.shared
def test_no_summary_repeats_a_long_phrase_of_a_source_document(shared: Path) -> None:
    length = LONGEST_SHARED_RUN + 1
    theirs: set[tuple[str, ...]] = set()
    for path in sorted((shared / "seeds").glob("*.txt")):
        theirs |= runs(words(path.read_text(encoding="utf-8")), length)
    assert theirs, "The source documents hold no words."
    repeated = {
        record["id"]: [" ".join(run) for run in sorted(both)]
        for record in parsed()
        if (both := runs(words(record["abstract"]), length) & theirs)
    }
    assert repeated == {}


@pytest.mark.shared
def test_records_follow_the_labelled_papers_in_order(shared: Path) -> None:
    text = (shared / "gold" / "seeds.jsonl").read_text(encoding="utf-8")
    gold = [json.loads(line) for line in text.splitlines()]
    assert [(r["sources"][0], r["title"], r["themes"]) for r in parsed()] == [
        (g["source"], g["title"], g["themes"]) for g in gold
    ]
