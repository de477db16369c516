"""The record of a summary: plain data there and back, facts, tables, figures and frames."""

import json
from dataclasses import replace
from math import expm1

import numpy as np
import pytest

from assay import InputError, Panel, Summary, examples, summarize
from assay.data.tables import Labels
from assay.results.explanations import EXPLANATIONS
from assay.results.figures import Forest

RNG = np.random.default_rng(8)


@pytest.fixture(scope="module")
def boards() -> dict[str, Summary]:
    scores = (RNG.random((40, 3)) < [0.3, 0.6, 0.9]).astype(float)
    scores[:4, 0] = np.nan
    panel = Panel.from_arrays(scores, systems=["<A>", "B", "C"], holes=True)
    tasks = Labels(("math", "word"), np.repeat([0, 1], 20))
    return {
        "one": summarize(panel.of_models(["B"])),
        "three": summarize(panel),
        "tasks": summarize(replace(panel, labels={"task": tasks})),
        "losses": summarize(examples.path("losses-base.csv"), examples.path("losses-int3.csv"), cluster="document"),
    }


@pytest.mark.parametrize("name", ["one", "three", "tasks", "losses"])
def test_the_record_survives_json(boards: dict[str, Summary], name: str) -> None:
    found = boards[name]
    again = Summary.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert again == found
    assert str(again) == str(found)
    with pytest.raises(InputError, match="not a summary result: schema must be 'assay/summary/1'"):
        Summary.from_dict({"schema": "assay/comparison/1"})


def test_the_table_holds_the_numbers_of_the_record(boards: dict[str, Summary]) -> None:
    found = boards["three"]
    rows = found.tables[0].records()
    assert [row["model"] for row in rows] == ["C", "B", "<A>"]
    assert [row["score"] for row in rows] == [model.value.value for model in found.models]
    assert [row["score_low"] for row in rows] == [m.value.interval.low for m in found.models if m.value.interval]
    assert [row["missing"] for row in rows] == [0, 0, 4]
    assert found.tables[0].header == ("model", "score [95%]", "n", "missing", "detectable")
    assert boards["one"].tables[0].header == ("model", "score [95%]", "n", "detectable")


def test_losses_show_perplexity_and_frames_have_the_rest(boards: dict[str, Summary]) -> None:
    found = boards["losses"]
    header = ("model", "perplexity [95%]", "bits per byte [95%]", "n", "clusters", "effective")
    assert found.tables[0].header == header
    frame = found.to_frame()
    assert frame["loss"].tolist() == [model.value.value for model in found.models]
    assert {"perplexity_low", "bits_per_byte_high", "bits_per_character", "standard_error"} <= set(frame.columns)


def test_facts_and_tables_know_how_they_are_computed(boards: dict[str, Summary]) -> None:
    for found in boards.values():
        assert all(fact.key in EXPLANATIONS for fact in found.facts)
        assert all(table.explained in EXPLANATIONS for table in found.tables)
        assert all(fact.text in str(found) for fact in found.facts)
    assert [fact.text for fact in boards["losses"].facts[:2]] == [
        "360 windows in 77 clusters (document)",
        "95% t-hall, of each model alone",
    ]
    most = max(model.detectable or 0.0 for model in boards["losses"].models)
    assert f"perplexity by {100 * expm1(most):.0f}% if unrelated" in boards["losses"].facts[2].text


def test_figures_are_forests_of_what_is_quoted(boards: dict[str, Summary]) -> None:
    figure = boards["losses"].figures[0]
    assert isinstance(figure, Forest)
    assert [line.value for line in figure.lines] == [
        boards["losses"].quoted(model).value for model in boards["losses"].models
    ]
    assert figure.axis == "perplexity, lower is better"
    tasks = boards["tasks"].figures[1]
    assert isinstance(tasks, Forest)
    assert {(line.label, line.group) for line in tasks.lines} == {
        (t, m) for t in ("math", "word") for m in ("<A>", "B", "C")
    }


def test_subject_and_what_was_looked_at(boards: dict[str, Summary]) -> None:
    found = boards["three"]
    assert (found.subject, found.status) == ("C, B and <A>", "plain")
    assert [(fact.label, fact.text) for fact in found.compared] == [("models", "C, B, <A>"), ("on", "40 items")]
    assert "&lt;A&gt;" in found._repr_html_()


def test_rows_fit_into_80_columns(boards: dict[str, Summary]) -> None:
    for found in boards.values():
        lines = str(found).splitlines()[2:]
        assert max(len(line) for line in lines if not line.startswith(("signature", "note"))) <= 84


def test_many_notes_are_counted(boards: dict[str, Summary]) -> None:
    tables = [{"item": [1, 2], "score": [1, 0], "model": [f"m{i}"] * 2, f"column {i}": [0, 0]} for i in range(8)]
    found = summarize(*tables)
    assert len(found.notes) == 9
    assert [str(caution) for caution in found.cautions][-1] == "and 4 more, in the JSON"
