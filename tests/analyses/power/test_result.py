"""The record of a plan: plain data there and back, facts, the curve as a table, a figure and a frame."""

import json

import pytest

from assay import examples
from assay.analyses.power import power
from assay.analyses.power.result import Power
from assay.errors import InputError
from assay.report.charts import draw
from assay.results.explanations import EXPLANATIONS
from assay.stats.planning.plans import Goal, Shares, Spread, Structure
from tests.analyses.power.pilots import arms, every_kind, limits, repeated
from tests.report.charts.drawn import channel, marks, texts


@pytest.fixture(scope="module")
def pilot() -> Power:
    return power(examples.path("losses-base.csv"), examples.path("losses-int3.csv"), difference=0.005)


@pytest.mark.parametrize("found", every_kind(), ids=lambda found: f"{found.solved_for}-{found.test}")
def test_the_record_survives_json(found: Power) -> None:
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert Power.from_dict(json.loads(text)) == found
    with pytest.raises(InputError, match="schema must be"):
        Power.from_dict({"schema": "?"})


@pytest.mark.parametrize("found", every_kind(), ids=lambda found: f"{found.solved_for}-{found.test}")
def test_the_curve_goes_through_the_answer_and_rises_with_items(found: Power) -> None:
    at = {point.items: point for point in found.curve}
    value = found.difference if found.solved_for == "difference" else found.power
    assert at[found.items].value == pytest.approx(value)
    values = [point.value for point in found.curve if point.value is not None]
    assert values == sorted(values, reverse=found.solved_for == "difference")
    assert len(found.to_frame()) == len(found.curve)
    for point in found.curve:
        assert point.low is None or point.low <= (point.value or 0) <= (point.high or 0)
    assert str(found).splitlines()[0] == found.sentence
    assert max(len(line) for line in str(found).splitlines()[2:] if not line.startswith(("signature", "note"))) <= 80


def test_the_signature_names_what_was_asked_and_of_what() -> None:
    found = power(Spread(sd=0.145), difference=0.02)
    assert found.signature.endswith(
        "|power|question:items|test:t|variance:0.021025|items:415|difference:0.02|level:0.95|power:0.8"
    )
    a, b = arms()
    assert "|data:" in power(a, b, difference=0.1).signature
    runs = Shares(discordant=0.2, structure=Structure(repeats=3, sd_within=0.1))
    assert "|discordant:0.2|cluster_size:1.0|icc:0.0|repeats:3|sd_within:0.1|" in power(runs, items=99).signature


def facts(found: Power) -> dict[str, str]:
    return {fact.label: fact.text for fact in found.facts}


@pytest.mark.parametrize("found", every_kind(), ids=lambda found: f"{found.solved_for}-{found.test}")
def test_a_saved_plan_is_shown_as_the_live_one(found: Power) -> None:
    again = Power.from_dict(json.loads(json.dumps(found.to_dict())))
    assert (str(again), again.figures, again.gauge) == (str(found), found.figures, found.gauge)
    assert json.dumps(again.to_dict()) == json.dumps(found.to_dict())


def test_the_key_of_what_was_solved_for_is_question() -> None:
    data = power(Spread(sd=1.0), items=50).to_dict()
    assert (data["schema"], data["question"]) == ("assay/power/1", "difference")
    assert "solved_for" not in data


def test_facts_hold_numbers_and_know_how_they_are_computed(pilot: Power) -> None:
    assert pilot.pilot is not None
    found = {fact.label: fact for fact in pilot.facts}
    assert list(found) == [
        "windows", "difference", "power", "test", "level",
        "pilot", "sd of a difference", "design effect", "correlation",
    ]  # fmt: skip
    assert found["windows"].value == pilot.items
    assert found["power"].value == pilot.power
    assert found["difference"].text == "0.005 nats per token"
    assert found["correlation"].value == pilot.pilot.correlation
    assert all(fact.key in EXPLANATIONS for fact in pilot.facts)
    assert all(fact.text in pilot.to_text(verbose=True) for fact in pilot.facts)


def test_facts_of_numbers_are_what_was_given() -> None:
    plan = Spread(sd=0.4, structure=Structure(cluster_size=5, icc=0.2, repeats=4, sd_within=0.1))
    shown = facts(power(plan, difference=0.03, goal=Goal(margin=0.1)))
    assert shown["margin"] == "±0.1"
    assert (shown["items per cluster"], shown["icc within clusters"], shown["sd between runs"]) == ("5", "0.2", "0.1")
    nothing = facts(power(Shares(discordant=0.1), items=20))
    assert (nothing["difference"], nothing["power"]) == ("none", "undefined")


def test_facts_of_a_pilot_with_runs_name_both_systems() -> None:
    found = power(*repeated(0.5, 2, 30), difference=0.1, repeats=3)
    assert found.pilot is not None
    shown = {fact.label: fact.value for fact in found.facts}
    assert (shown["sd between runs, A"], shown["sd between runs, B"]) == found.pilot.sd_within
    assert shown["runs of each item"] == 3


def test_the_gauge_is_the_answer_with_what_the_pilot_leaves_open(pilot: Power) -> None:
    assert pilot.gauge is not None
    assert pilot.answer.interval is not None
    assert (pilot.gauge.value, pilot.gauge.low, pilot.gauge.high) == (pilot.items, *limits(pilot))
    assert power(Spread(sd=1.0), difference=0.2).gauge is None
    assert [(fact.label, fact.text) for fact in pilot.compared] == [("pilot", "360 windows")]
    assert pilot.subject == f"{pilot.items} windows"


def test_the_table_is_the_curve_by_doublings(pilot: Power) -> None:
    (table,) = pilot.tables
    rows = table.records()
    at = {point.items: point for point in pilot.curve}
    assert [row["items"] for row in rows] == [round(pilot.items * 2**step) for step in range(-2, 3)]
    assert [row["power"] for row in rows] == [at[row["items"]].value for row in rows]
    assert [row["power_low"] for row in rows] == [at[row["items"]].low for row in rows]
    assert table.header == ("windows", "power [95% by the pilot]")
    (falling,) = power(Spread(sd=0.3), items=500).tables
    assert falling.rows[2] == ("500", "0.0377")
    assert set(falling.records()[0]) == {"items", "detectable_difference"}


def test_notes_are_cautions() -> None:
    items = list(range(40))
    found = power({"item": items, "score": [0] * 40}, {"item": items, "score": [1, 1] + [0] * 38}, difference=0.1)
    assert [str(caution) for caution in found.cautions] == list(found.notes)


# ------------------------------------------------------------------------------------------ its chart


def test_line_and_band_are_the_curve_of_the_record(pilot: Power) -> None:
    drawn = marks(pilot.figures[0])
    assert [(row["x"], row["value"]) for row in drawn["line"][0]] == [(p.items, p.value) for p in pilot.curve]
    assert [(row["low"], row["high"]) for row in drawn["area"][0]] == [(p.low, p.high) for p in pilot.curve]
    answers = {(row["x"], row["value"]) for part in ("rule", "point", "text") for layer in drawn[part] for row in layer}
    assert answers == {(pilot.items, pilot.power)}


def test_numbers_have_no_band_and_no_answer_where_there_is_none() -> None:
    assert "area" not in marks(power(Spread(sd=1.0), difference=0.2).figures[0])
    nothing = power(Shares(discordant=0.1), items=20)
    drawn = marks(nothing.figures[0])
    assert set(drawn) == {"line"}
    assert [row["x"] for row in drawn["line"][0]] == [p.items for p in nothing.curve if p.value is not None]


def test_a_curve_without_a_point_says_so() -> None:
    nothing = power(Shares(discordant=0.01), items=20)
    assert nothing.figures[0].about[-1] == "None of these numbers of items detects a difference."
    assert draw(nothing.figures[0])["description"].endswith("detects a difference.")


@pytest.mark.parametrize(
    ("found", "title", "axis"),
    [
        (power(Spread(sd=1.0), difference=0.2), "Power to detect a difference of 0.2", "power"),
        (power(Spread(sd=1.0), items=50), "Difference that is detected with 80% power", "detectable difference"),
        (power(Spread(sd=1.0), goal=Goal(margin=0.3)), "Power to show equivalence within ±0.3", "power"),
    ],
)
def test_the_chart_says_what_it_shows(found: Power, title: str, axis: str) -> None:
    assert {title, axis, "items", "Paired t test, two-sided at 5%."} & set(texts(found.figures[0])) >= {
        title,
        axis,
        "items",
    }


def test_a_pilot_of_losses_names_windows_and_nats(pilot: Power) -> None:
    written = texts(pilot.figures[0])
    assert {"windows", "Power to detect a difference of 0.005 nats per token", "432 windows"} <= set(written)
    assert pilot.figures[0].about[1].startswith("Band: what the pilot of 360 windows leaves possible")


def test_the_axis_has_doublings_of_the_answer(pilot: Power) -> None:
    assert channel(pilot.figures[0], "x")[0]["axis"]["values"] == [108, 216, 432, 864, 1728]
