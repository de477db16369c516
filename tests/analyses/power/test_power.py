"""`power`: from numbers and from pilots. Oracles: statsmodels, scipy's exact binomial limits, variances by hand, the
variances that pilots were drawn with, and simulated coverage."""

import json
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.power import TTestPower

from assay import examples
from assay.analyses.power import power
from assay.data import Selection
from assay.errors import InputError, UsageError
from assay.stats.planning import difference_for, items_for, power_of
from assay.stats.planning.plans import Goal, Means, Shares, Spread, Structure
from assay.stats.reliability import variance_limits
from benchmarks.simulation.repeated import PILOTS, PilotData
from tests.analyses.power.pilots import arms, gaps, limits, repeated

# ------------------------------------------------------------------------------------------ from numbers


def test_items_for_a_difference_against_statsmodels() -> None:
    found = power(Spread(sd=0.145), difference=0.02)
    assert found.items == int(np.ceil(TTestPower().solve_power(0.02 / 0.145, alpha=0.05, power=0.8)))
    assert found.sentence == "415 items detect a difference of 0.02 with 80% power."
    assert found.power == pytest.approx(TTestPower().power(0.02 / 0.145, 415, 0.05))
    assert (found.solved_for, found.test, found.answer.value) == ("items", "t", 415)
    assert found.answer.interval is None
    assert "the numbers were given" in str(found.answer.reason)


def test_the_difference_and_the_power_of_items() -> None:
    detected = power(Spread(sd=0.145), items=415)
    assert detected.difference == pytest.approx(difference_for(Means(0.145**2), 415, Goal()))
    assert detected.sentence == "415 items detect a difference of 0.02 with 80% power."
    reached = power(Spread(sd=0.145), items=415, difference=0.03)
    assert (reached.solved_for, reached.power) == ("power", power_of(Means(0.145**2), 415, 0.03, Goal()))
    assert reached.sentence == "415 items detect a difference of 0.03 with 99% power."


def test_shares_are_tested_by_mcnemar_and_say_what_they_assume() -> None:
    found = power(Shares(p_a=0.7, correlation=0.5), difference=0.05)
    assert found.test == "mcnemar-midp"
    assert found.items == items_for(Shares(p_a=0.7, correlation=0.5), 0.05, Goal())
    expected = {
        "p_a": 0.7,
        "p_b": 0.75,
        "correlation": 0.5,
        "discordant": sum(Shares(p_a=0.7, correlation=0.5).discordance(0.05)),
    }
    assert found.assumptions == pytest.approx(expected)
    assert power(Shares(discordant=0.2), items=300).assumptions == {"discordant": 0.2}


def test_clusters_and_repeats_are_said() -> None:
    plan = Spread(sd=0.4, structure=Structure(cluster_size=5, icc=0.2, repeats=4, sd_within=0.1))
    found = power(plan, difference=0.03)
    assert found.items % 5 == 0
    assert found.clusters == found.items / 5
    assert found.sentence.startswith(f"{found.items:,} items in {found.items // 5} clusters detect")
    expected = {"sd": 0.4, "cluster_size": 5, "icc": 0.2, "repeats": 4, "sd_within": 0.1}
    assert found.assumptions == expected
    assert {"items per cluster", "icc within clusters", "runs of each item"} <= {fact.label for fact in found.facts}


def test_equivalence_supposes_no_difference_unless_told() -> None:
    found = power(Spread(sd=0.145), goal=Goal(margin=0.02))
    assert found.sentence == "555 items show equivalence within ±0.02 with 80% power if the true difference is 0."
    assert (found.test, found.difference) == ("equivalence", 0)
    with_one = power(Spread(sd=0.145), difference=0.005, goal=Goal(margin=0.02))
    assert with_one.items > found.items
    assert power(Spread(sd=0.145), items=555, goal=Goal(margin=0.02)).power == found.power


def test_comparisons_are_said() -> None:
    found = power(Spread(sd=1.0), difference=0.2, goal=Goal(comparisons=10))
    assert found.sentence.endswith("with 80% power (each of 10 comparisons at 0.5%).")
    assert any("0.5% error for each of 10 comparisons (Bonferroni)" in fact.text for fact in found.facts)


def test_what_items_cannot_detect_is_said() -> None:
    found = power(Shares(discordant=0.1), items=20)
    assert found.sentence == "20 items cannot detect any possible difference with 80% power."
    assert (found.difference, found.power, found.answer.value) == (None, None, None)
    assert "not even the largest" in str(found.answer.reason)
    json.dumps(found.to_dict(), allow_nan=False)
    assert [point.items for point in found.curve if point.value is not None][0] > 20  # noqa: RUF015 - the first that is


# ------------------------------------------------------------------------------------------ from a pilot


def test_a_pilot_is_its_spread_and_not_its_difference() -> None:
    a, b = arms()
    found = power(a, b, difference=0.1)
    variance = float(gaps(a, b).var(ddof=1))
    assert found.items == items_for(Means(variance), 0.1, Goal())
    shifted = power(a, b | {"score": b["score"] + 5.0}, difference=0.1)
    assert shifted.items == found.items
    assert found.pilot is not None
    assert found.pilot.sd == pytest.approx(sqrt(variance))
    assert found.pilot.correlation == pytest.approx(np.corrcoef(a["score"], b["score"])[0, 1])
    assert found.pilot.design_effect == pytest.approx(1)
    assert found.pilot.systems == ("A", "B")


def test_the_interval_of_items_is_that_of_the_variance() -> None:
    a, b = arms()
    spread = variance_limits(gaps(a, b), 0.9)
    found = power(a, b, difference=0.1, goal=Goal(level=0.9))
    expected = [items_for(Means(v), 0.1, Goal(level=0.9)) for v in (spread.low, spread.high)]
    assert limits(found) == tuple(expected)
    assert f"by a pilot of 60 items: {expected[0]} to {expected[1]}, 90% CI" in found.sentence
    detected = power(a, b, items=100)
    assert limits(detected)[0] < (detected.difference or 0) < limits(detected)[1]
    reached = power(a, b, items=100, difference=0.1)
    assert limits(reached)[0] < (reached.power or 0) < limits(reached)[1]


def test_clusters_of_a_pilot_against_the_sandwich() -> None:
    """n × the cluster-robust variance of the mean; clusters of four stay clusters of four."""
    clusters = [str(i // 4) for i in range(60)]
    a, b = arms(cluster=clusters)
    found = power(a, b, difference=0.1)
    sums = (gaps(a, b) - gaps(a, b).mean()).reshape(15, 4).sum(axis=1)
    variance = 60 * (15 / 14) * float((sums**2).sum()) / 60**2
    assert found.items == items_for(Means(variance, 4.0), 0.1, Goal())
    assert found.items % 4 == 0
    assert found.pilot is not None
    assert found.pilot.design_effect == pytest.approx(variance / found.pilot.sd**2)


def test_a_pilot_of_losses_weighs_tokens() -> None:
    found = power(examples.path("losses-base.csv"), examples.path("losses-int8.csv"), difference=0.001)
    assert found.unit == "window"
    assert "a difference of 0.001 nats per token (perplexity × 1.001)" in found.sentence
    assert found.pilot is not None
    assert found.pilot.design_effect > 1


def test_a_pilot_of_right_and_wrong_is_mcnemars() -> None:
    a, b = examples.path("scores-base.csv"), examples.path("scores-trigram.csv")
    found = power(a, b, difference=0.03, columns={"cluster": ""})
    assert found.test == "mcnemar-midp"
    assert found.pilot is not None
    assert found.pilot.discordant == 0.096
    ends = scipy_stats.binomtest(48, 500).proportion_ci(method="exact")
    assert (found.pilot.limits.low, found.pilot.limits.high) == pytest.approx((ends.low, ends.high))
    assert found.items == items_for(Shares(discordant=0.096), 0.03, Goal())
    assert ("items that differ", "9.6  [7.2 to 12.5] %") in [(fact.label, fact.text) for fact in found.facts]
    with_clusters = power(a, b, difference=0.03)
    assert (with_clusters.test, with_clusters.unit) == ("t", "item")
    assert with_clusters.clusters is not None


def test_the_least_share_of_a_pilot_leaves_room_for_the_difference() -> None:
    """1 of 40 items differs: the interval starts below the 3 points to be shown, and cannot."""
    items = list(range(40))
    found = power({"item": items, "score": [0] * 40}, {"item": items, "score": [1] + [0] * 39}, difference=0.02)
    assert limits(found)[0] == items_for(Shares(discordant=0.02 * (1 + 1e-9)), 0.02, Goal())
    assert found.pilot is not None
    assert found.pilot.correlation is None


def test_a_pilot_with_fewer_differing_items_than_the_difference_takes_says_so() -> None:
    items = list(range(40))
    baseline, two_more = [0, 0, 1] + [0] * 37, [1, 1, 1] + [0] * 37
    found = power({"item": items, "score": baseline}, {"item": items, "score": two_more}, difference=0.1)
    assert found.items == items_for(Shares(discordant=0.1 * (1 + 1e-9)), 0.1, Goal())
    assert found.notes == ("5% of the pilot's items differ, fewer than the difference needs; the plan assumes 10%",)


def test_repeats_take_away_the_noise_of_runs() -> None:
    """Differences of two systems: 2 of items, 2·0.8²/K of noise. From 2 runs to 1, to 2, to 100."""
    a, b = repeated(0.8, 2, 4000)
    wanted = {k: power(a, b, difference=0.1, repeats=k).items for k in (1, 2, 100)}
    for k, items in wanted.items():
        assert items == pytest.approx(items_for(Means(2 + 2 * 0.64 / k), 0.1, Goal()), rel=0.08)
    assert power(a, b, difference=0.1).items == wanted[2]
    found = power(a, b, difference=0.1, repeats=100).pilot
    assert found is not None
    assert found.sd_within == pytest.approx((0.8, 0.8), rel=0.1)
    assert found.runs == 2


def test_a_pilot_of_noise_alone_keeps_what_the_runs_leave() -> None:
    """Where noise is all there is, K runs still leave 1/K of it: the variance never falls to 0."""
    rng = np.random.default_rng(2)
    a, b = ({"item": [i // 2 for i in range(40)], "run": [0, 1] * 20, "score": rng.normal(size=40)} for _ in "AB")
    assert power(a, b, difference=0.1, repeats=10).items > 2


def test_one_file_may_hold_both_models() -> None:
    table = examples.path("runs-sampled.csv")
    found = power(table, difference=0.03, models=("base", "int3"), repeats=1)
    assert found.pilot is not None
    assert found.pilot.systems == ("base", "int3")
    assert found.pilot.runs == pytest.approx(5)
    assert found.assumptions == {"repeats": 1}
    assert found.test == "t"
    assert any("averaged" in note for note in found.notes)


@pytest.mark.parametrize("pilot", [PILOTS[1], PILOTS[8], PILOTS[11]], ids=lambda pilot: pilot.name)
def test_coverage_of_the_intervals_of_pilots(pilot: PilotData) -> None:
    held = np.mean([pilot.held(simulation) for simulation in range(300)])
    assert held > 0.95 - 4 * sqrt(0.95 * 0.05 / 300)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "power needs a difference"),
        ({"items": 1}, "items must be at least 2"),
        ({"difference": float("nan")}, "difference must be finite"),
        ({"difference": 0.1, "repeats": 3}, "neither a second file nor repeats"),
        (
            {"difference": 0.1, "cluster": "c", "models": ("a", None)},
            "`models`, `cluster`: of a pilot, but",
        ),
        ({"difference": 0.1, "selection": Selection(task="t")}, r"`Selection\(task='t'\)`: of a pilot"),
    ],
)
def test_misuse_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        power(Spread(sd=1.0), **arguments)


def test_pilots_that_say_nothing_are_refused() -> None:
    a, b = arms()
    with pytest.raises(InputError, match="same difference everywhere"):
        power(a, a, difference=0.1)
    with pytest.raises(InputError, match="the pilot has one unit"):
        power({"item": [1], "score": [0]}, {"item": [1], "score": [1]}, difference=0.1)
    with pytest.raises(UsageError, match="one run of each item, so what 3 repeats would save is unknown"):
        power(a, b, difference=0.1, repeats=3)
    with pytest.raises(UsageError, match="a pilot is two files"):
        power(a, difference=0.1)
