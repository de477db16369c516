"""The public record: worlds have the truth that they claim, and counts are what they are called."""

from math import inf, nan, sqrt

import numpy as np
import pytest

from benchmarks.record import Row, chart, report
from benchmarks.simulation.tools import OURS, Said
from benchmarks.simulation.worlds import WORLDS, Answers, Passages, World


def average(world: World, difference: float, samples: int) -> tuple[float, float]:
    """Mean estimate of many samples, and its standard error."""
    found = [world.draw(i, difference).units.estimate for i in range(samples)]
    return float(np.mean(found)), float(np.std(found) / sqrt(samples))


@pytest.mark.parametrize(
    "world",
    [w for w in WORLDS if "difference ~" not in w.name and w.n >= 30],
    ids=lambda w: f"{w.name}, n = {w.n}",
)
def test_the_true_difference_is_the_mean_of_the_estimates(world: World) -> None:
    """A ratio of sums is biased by 1/n, so worlds in which differences go with tokens are left to the next test."""
    for difference in (0.0, world.power_difference):
        mean, error = average(world, difference, 400)
        assert abs(mean - difference) < 4.5 * error + 1e-12


@pytest.mark.parametrize("name", ["log-normal(1) tokens, difference ~ log tokens"])
def test_the_truth_of_a_tied_difference_by_closed_form(name: str) -> None:
    """With t = exp(Z), E[t·log t]/E[t] = 1: what is taken off so that the difference is 0."""
    world = next(world for world in WORLDS if world.name == name)
    rng = np.random.default_rng(3)
    tokens = np.exp(rng.normal(size=1_000_000))
    drawn = world.sample(np.random.default_rng(4), 0.0)
    taken_off = np.mean(np.log(tokens) * tokens) / np.mean(tokens)
    assert taken_off == pytest.approx(1, abs=0.02)
    assert drawn.tokens is not None
    assert np.mean(drawn.b - drawn.a - np.log(drawn.tokens / 200)) == pytest.approx(-1, abs=4 / sqrt(world.n))


def test_answers_differ_as_often_as_said_by_hand() -> None:
    world = Answers("made", 200_000, "right or wrong", 0.2)
    drawn = world.sample(np.random.default_rng(1), 0.05)
    assert drawn.binary
    assert np.mean(drawn.a != drawn.b) == pytest.approx(0.2, abs=0.005)
    assert np.mean(drawn.b - drawn.a) == pytest.approx(0.05, abs=0.005)


def test_passages_are_alike_as_said() -> None:
    world = Passages("made", 100_000, "clusters", 5, 0.5)
    drawn = world.sample(np.random.default_rng(1), 0.0)
    means = (drawn.b - drawn.a).reshape(-1, 5).mean(axis=1)
    assert means.var() == pytest.approx(0.5 + 0.5 / 5, rel=0.03)


def test_power_is_what_student_s_t_finds_in_80_of_100() -> None:
    world = next(world for world in WORLDS if (world.name, world.n) == ("normal", 500))
    tool = OURS["assay t-test"]
    said = [tool(world.draw(i, world.power_difference)) for i in range(600)]
    found = np.mean([one is not None and one.p <= 0.05 for one in said])
    assert found == pytest.approx(0.8, abs=4 * sqrt(0.16 / 600))


def row(shown: list[Said], null: list[Said]) -> Row:
    world = Answers("made", 100, "right or wrong", 0.16)  # 2.8 · √(0.16/100) = 0.112
    return Row(world, "assay", shown, null, seconds=0.006)


def test_coverage_size_and_power_by_hand() -> None:
    shown = [Said(0.1, 0.2, 0.01), Said(0.12, 0.2, 0.03), Said(-0.1, 0.1, 0.4), Said(nan, nan, nan)]
    made = row(shown, [Said(-1, 1, 0.05), Said(-1, 1, 0.06)])
    assert made.covers == 0.25  # the second and third miss, the fourth has no limits
    assert made.misses == (0.25, 0.25)
    assert made.width == pytest.approx(0.1)
    assert made.size == 0.5
    assert made.power == 0.5
    assert made.milliseconds == pytest.approx(1.0)


def test_a_tool_without_intervals_or_tests_has_none() -> None:
    only_p, only_limits = row([Said(p=0.1)], [Said(p=0.2)]), row([Said(-inf, inf)], [Said(-inf, inf)])
    assert only_p.covers is None
    assert only_p.width is None
    assert only_limits.size is None
    assert only_limits.covers == 1.0


def test_the_report_has_a_line_for_every_row_and_the_chart_a_dot() -> None:
    made = row([Said(0.1, 0.2, 0.01)], [Said(-1, 1, 0.05)])
    text = report([made], 1, ["evalsig"])
    assert "| made | 100 | assay | 100.0" in " ".join(text.split()).replace(" | ", " | ")
    assert "Not installed, and left out: evalsig." in text
    assert len(chart([made], "covers", "coverage", 95)["data"]["values"]) == 1
