"""The report: what it holds, and that it stands alone."""

import json
import re
from html.parser import HTMLParser

import jsonschema
import numpy as np
import pytest

from tagger.comparison import compare
from tagger.evaluation import evaluate
from tagger.fingerprints import Overlap
from tagger.groups import evaluate_groups
from tagger.records import Record
from tagger.report import (
    build_report,
    provenance,
    render_html,
    render_markdown,
    report_schema,
    write_report,
)
from tagger.splits import field_values

THEMES = ("bells", "moss", "orchards")
RECORDS = [
    Record(id="a", title="On <b>bells</b> & moss", abstract="Bells ring.", year=2024),
    Record(id="b", title="Moss", abstract="Moss grows on bells.", year=2025),
    Record(id="c", title="", abstract="</p><script>alert(1)</script>"),
    Record(id="d", title="Apples", abstract="Trees."),
]
Y = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0], [0, -1, 1]], dtype=np.int8)
P = np.array([[0.9, 0.2, 0.1], [0.8, 0.7, 0.1], [0.1, 0.1, 0.6], [0.1, 0.9, 0.3]])
D = P >= 0.5


def evidence(row, column):
    text = "bells"
    start = RECORDS[row].abstract.lower().find(text)
    if start < 0:
        return []
    end = start + len(text)
    return [
        {
            "field": "abstract",
            "start": start,
            "end": end,
            "text": RECORDS[row].abstract[start:end],
            "contribution": 1.25,
        }
    ]


@pytest.fixture(scope="module")
def report():
    years = [field_values(record, "year") for record in RECORDS]
    return build_report(
        RECORDS,
        THEMES,
        Y,
        P,
        D,
        evaluate(Y, P, D, THEMES, n_boot=20),
        names={"bells": "Bells & <chimes>"},
        thresholds=[0.5, 0.5, 0.5],
        explain=evidence,
        groups={"year": evaluate_groups(Y, D, years, n_boot=5)},
        overlaps=[Overlap(7, "e", "t", "same paper", 0.4)],
        comparison=compare(Y, P >= 0.7, D, THEMES, n_boot=20),
        learning_curve=[{"records": 10, "value": 0.5, "low": 0.4, "high": 0.6}],
        out_of_fold=True,
        made=provenance(RECORDS, command="tagger evaluate x", seed=0, seconds=1.0),
    )


@pytest.fixture(scope="module")
def page(report):
    return render_html(report)


def test_report_is_json_by_its_schema(report):
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    written = json.loads(json.dumps(report, allow_nan=False))
    jsonschema.validate(written, schema)
    assert written == report


def test_schema_refuses_a_report_that_lacks_a_part(report):
    broken = {key: value for key, value in report.items() if key != "evaluation"}
    with pytest.raises(jsonschema.ValidationError, match="'evaluation' is a required"):
        jsonschema.validate(broken, report_schema())


def test_label_errors_are_only_looked_for_out_of_fold():
    evaluation = evaluate(Y, P, D, THEMES, n_boot=2)
    found = build_report(RECORDS, THEMES, Y, P, D, evaluation)
    assert found["label_errors"] is None
    assert "Likely label errors" not in render_html(found)


def test_provenance_changes_with_a_label():
    made = {"command": "c", "seed": 1, "seconds": 2.0}
    one = provenance([Record(id="a", themes=("x",))], **made)
    two = provenance([Record(id="a", themes=())], **made)
    assert one["records_sha256"] != two["records_sha256"]
    assert one["seed"] == 1
    assert "numpy" in one["versions"]


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.ids, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        for name in ("href", "src", "xlink:href", "action"):
            self.links += [attrs[name]] if attrs.get(name) else []


def test_page_fetches_nothing_and_runs_nothing(page):
    parsed = _Page()
    parsed.feed(page)
    assert "script" not in parsed.tags
    assert "img" not in parsed.tags
    assert all(link.startswith("#") for link in parsed.links)
    assert "@import" not in page
    assert not re.findall(r"url\((?!#)", page)


def test_page_links_lead_somewhere_and_ids_are_unique(page):
    parsed = _Page()
    parsed.feed(page)
    assert len(parsed.ids) == len(set(parsed.ids))
    assert {link[1:] for link in parsed.links} <= set(parsed.ids)


def test_page_escapes_text_of_records_and_themes(page):
    assert "<script>" not in page
    assert "&lt;/p&gt;&lt;script&gt;alert(1)" in page
    assert "On &lt;b&gt;bells&lt;/b&gt; &amp; moss" in page
    assert "Bells &amp; &lt;chimes&gt;" in page
    assert "<chimes>" not in page


def test_page_marks_the_evidence_in_the_text(page):
    assert "Moss grows on <mark>bells</mark>." in page
    assert "<q>bells</q> +1.25" in page


def test_pictures_take_the_colours_of_the_page(page):
    assert page.count("<svg") == 4 + len(THEMES)
    assert "currentColor" in page
    assert "var(--accent)" in page
    assert "#010203" not in page


def test_page_says_what_was_left_out_and_how_it_was_made(page):
    assert "1 further records were left out" in page
    assert "tagger evaluate x" in page
    assert "2 seconds" not in page


def test_a_report_with_no_error_and_no_extras_is_a_page():
    perfect = (Y == 1).astype(float)
    evaluation = evaluate(Y, perfect, Y == 1, THEMES, n_boot=2)
    found = build_report(RECORDS, THEMES, Y, perfect, Y == 1, evaluation)
    page = render_html(found)
    assert "No record was tagged wrongly." in page
    assert "How it was made" in page


def test_markdown_tables_have_equal_columns(report):
    text = render_markdown(report)
    tables = re.split(r"\n\n+", text)
    rows = [part.splitlines() for part in tables if part.startswith("|")]
    assert len(rows) == 5
    for table in rows:
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table}) == 1
        assert re.fullmatch(r"(\| --- )+\|", table[1])
    assert "| Bells & <chimes> | 1 | 2 | 0.500 [" in text


def test_written_report_is_three_files_and_the_same_twice(report, tmp_path):
    paths = write_report(report, tmp_path / "out")
    assert [path.name for path in paths] == ["report.json", "report.md", "report.html"]
    first = [path.read_bytes() for path in paths]
    again = [path.read_bytes() for path in write_report(report, tmp_path / "out")]
    assert first == again
    assert json.loads(first[0]) == report
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_records_abstained_from_are_given_no_tag_anywhere():
    abstained = np.array([False, True, True, False])
    evaluation = evaluate(Y, P, D, THEMES, abstained=abstained, n_boot=2)
    found = build_report(RECORDS, THEMES, Y, P, D, evaluation, abstained=abstained)
    jsonschema.validate(found, report_schema())
    assert found["evaluation"]["abstained"] == 2
    assert {pair["given"] for pair in found["confusions"]} == {None}
    assert found["curves"]["moss"]["chosen"] == {"recall": 0.0, "precision": None}
    assert found["coverage"][-1]["exact_match"] == 0.25
    assert 'Tags: <span class="quiet">none</span> (abstained from)' in render_html(
        found
    )


def test_an_evaluation_of_other_decisions_is_refused():
    evaluation = evaluate(Y, P, D, THEMES, n_boot=2)
    abstained = np.array([True, False, False, False])
    with pytest.raises(ValueError, match=r"counts the tags .*the same records abst"):
        build_report(RECORDS, THEMES, Y, P, D, evaluation, abstained=abstained)
