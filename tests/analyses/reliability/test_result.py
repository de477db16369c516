"""The record of repeated runs: plain data there and back, facts, tables and frames."""

import json
from itertools import pairwise

import numpy as np
import pytest

from assay.analyses.reliability import reliability
from assay.analyses.reliability.result import Reliability
from assay.errors import InputError, UsageError
from assay.results.explanations import EXPLANATIONS
from assay.results.figures import Forest
from assay.stats.planning.plans import Goal
from assay.stats.records import Estimate
from tests.analyses.reliability.repeated import columns, limits, simulated


@pytest.mark.parametrize("models", ["A", "AB", "ABC"])
def test_the_record_survives_json(models: str) -> None:
    found = reliability(columns(simulated(len(models)), models))
    text = json.dumps(found.to_dict(), allow_nan=False)
    again = Reliability.from_dict(json.loads(text))
    assert again == found
    assert (str(again), json.dumps(again.to_dict())) == (str(found), json.dumps(found.to_dict()))
    with pytest.raises(InputError, match="schema must be"):
        Reliability.from_dict({"schema": "assay/comparison/1"})


def test_rows_fit_into_80_columns_and_html_is_escaped(three: Reliability) -> None:
    lines = str(three).splitlines()
    assert max(len(line) for line in lines[2:] if not line.startswith(("signature", "note"))) <= 80
    named = reliability(columns(simulated(2), ["<A>", "B"]))
    assert "&lt;A&gt;" in named._repr_html_()
    assert "<A>" not in named._repr_html_()


def test_the_frame_has_a_row_per_model_and_one_for_all(three: Reliability) -> None:
    frame = three.to_frame()
    assert frame["model"].tolist() == ["A", "B", "C", "all models"]
    assert frame["runs"].tolist() == [5, 5, 5, 5]
    assert frame["ICC(2,1)"].tolist()[0] == three.models[0].icc["ICC(2,1)"].value
    assert (frame["run_sd_low"][0], frame["run_sd_high"][0]) == limits(three.models[0].run_sd)
    assert frame["score"].isna().tolist() == [False, False, False, True]
    assert len(reliability(columns(simulated(1))).to_frame()) == 1


def test_facts_hold_numbers_and_know_how_they_are_computed(three: Reliability) -> None:
    facts = {fact.label: fact for fact in three.facts}
    assert list(facts) == [
        "noise of a score",
        "detectable, 1 run",
        "detectable, 5 runs",
        "Kendall's τ",
        "whole order",
        "items",
    ]
    assert facts["noise of a score"].value == three.run_sd
    one = facts["detectable, 1 run"].value
    assert isinstance(one, Estimate)
    assert (one.value, one.interval) == (three.detectable.one_run, three.detectable.one_run_limits)
    assert facts["items"].value == 40
    assert all(fact.key in EXPLANATIONS for fact in three.facts)
    assert all(fact.text in str(three) for fact in three.facts)


def test_what_is_not_detectable_says_why() -> None:
    still = reliability(columns(np.repeat(simulated(1, 5, 1), 4, axis=2)))
    facts = {fact.label: fact.text for fact in still.facts}
    assert facts["detectable"] == "undefined: the scores of all runs are equal, so they show no noise"
    assert facts["noise of a score"].startswith("±0")


def test_tables_hold_numbers(three: Reliability) -> None:
    assert three.across is not None
    tables = {table.key: table.records() for table in three.tables}
    assert list(tables) == ["runs", "items", "models icc", "variance", "pairs"]
    assert [row["score"] for row in tables["runs"]] == [model.score for model in three.models]
    assert [row["run_sd"] for row in tables["runs"]] == [model.run_sd.value for model in three.models]
    assert [row["one_run"] for row in tables["models icc"]] == [
        three.across.icc[f"ICC({i},1)"].value for i in (1, 2, 3)
    ]
    assert [row["mean_of_runs"] for row in tables["models icc"]] == [
        three.across.icc[f"ICC({i},k)"].value for i in (1, 2, 3)
    ]
    assert sum(row["share"] for row in tables["variance"]) == pytest.approx(1)
    assert [(row["ahead"], row["behind"]) for row in tables["pairs"]] == list(pairwise(three.across.order))
    assert tables["pairs"][0]["order_repeats"] == three.across.neighbours[0].repeats.value
    assert all(table.explained is None or table.explained in EXPLANATIONS for table in three.tables)


def test_one_model_has_the_correlations_of_its_items() -> None:
    found = reliability(columns(simulated(1)))
    assert [table.key for table in found.tables] == ["runs", "items icc", "variance"]
    assert found.tables[1].header[0] == ""
    assert found.subject == "A"
    assert [(fact.label, fact.text) for fact in found.compared] == [("model", "A"), ("on", "40 items in every run")]


def test_notes_are_cautions_in_text_and_record(three: Reliability) -> None:
    found = reliability(columns(simulated(2, 10, 2), "AB"))
    assert [str(caution) for caution in found.cautions] == list(found.notes)
    assert "the upper limit of the noise rests on 2 degrees of freedom between runs" in str(found)
    assert (three.status, three.gauge) == ("plain", None)


def test_the_figure_has_every_run_around_the_mean_by_hand(three: Reliability) -> None:
    (figure,) = three.figures
    assert isinstance(figure, Forest)
    for line, model in zip(figure.lines, three.models, strict=True):
        assert [mark.value for mark in line.others] == list(model.scores)
        assert line.value == pytest.approx(np.mean(model.scores))
        assert line.high is not None
        assert line.low is not None
        assert (line.high - line.low) / 2 == pytest.approx(model.run_sd.value)


def test_the_signature_names_data_and_settings(three: Reliability) -> None:
    assert three.signature.startswith("assay:")
    assert "|reliability|units:items|n:40|models:3|runs:5+5+5|level:0.95|power:0.8|data:" in three.signature
    assert reliability(columns(simulated(seed=2), "ABC")).signature != three.signature


def test_misuse_is_refused() -> None:
    with pytest.raises(UsageError, match="needs a table"):
        reliability()
    with pytest.raises(UsageError, match="leave out the rest"):
        reliability(columns(simulated(1)), goal=Goal(margin=0.1))
    with pytest.raises(InputError, match="only one item is in every run"):
        reliability(columns(simulated(1, 1)))
