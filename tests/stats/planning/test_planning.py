"""Power. Oracles: statsmodels' TTestPower and scipy's noncentral t, enumeration of McNemar's test, worked examples of
G*Power and PowerTOST, the formula of Miettinen and Connor, double integrals and simulation."""

from functools import cache
from itertools import pairwise
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy import stats as scipy_stats
from statsmodels.stats.power import TTestPower

from assay import Design, Panel
from assay.analyses.compare import compare_panel
from assay.errors import UsageError
from assay.stats.detectable_shifts import detectable_shift, t_power
from assay.stats.planning import (
    MOST_ITEMS,
    chosen_test,
    critical_counts,
    difference_for,
    equivalence_power,
    items_for,
    mcnemar_power,
    power_of,
)
from assay.stats.planning.plans import Goal, Means, Shares, Spread, Structure, StudyPlan
from benchmarks.simulation.planning import STUDIES, Study
from benchmarks.simulation.planning import found as found_by

GOAL = Goal()
levels = st.sampled_from([0.8, 0.9, 0.95, 0.99])


@pytest.mark.parametrize("n", [2, 3, 10, 50, 1000, 100_000])
@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0, 2.8, -4.0])
def test_t_power_against_statsmodels_and_scipy(n: int, shift: float) -> None:
    theirs = TTestPower().power(shift / sqrt(n), n, 0.05)
    critical = scipy_stats.t.ppf(0.975, n - 1)
    twin = scipy_stats.nct.sf(critical, n - 1, shift) + scipy_stats.nct.cdf(-critical, n - 1, shift)
    assert t_power(shift, n - 1, 0.95) == pytest.approx(theirs, abs=1e-9)
    assert t_power(shift, n - 1, 0.95) == pytest.approx(twin, abs=1e-9)


@pytest.mark.parametrize(("effect", "power", "level"), [(0.2, 0.8, 0.95), (0.5, 0.9, 0.99), (1.5, 0.95, 0.9)])
def test_items_against_statsmodels(effect: float, power: float, level: float) -> None:
    theirs = TTestPower().solve_power(effect, alpha=1 - level, power=power)
    assert items_for(Means(1.0), effect, Goal(level=level, power=power)) == int(np.ceil(theirs))


@pytest.mark.parametrize("n", [5, 40, 700])
def test_detectable_difference_against_statsmodels(n: int) -> None:
    found = difference_for(Means(4.0), n, GOAL)
    assert found is not None
    assert found == pytest.approx(2 * TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8), rel=1e-5)
    assert TTestPower().power(found / 2, n, 0.05) == pytest.approx(0.8, abs=1e-9)


def test_items_against_cohens_tables() -> None:
    """Cohen (1988), table 2.4.1: two-sided 0.05, power 0.80; pairs for d_z = 0.2, 0.5, 0.8 (G*Power: 199, 34, 15)."""
    assert [items_for(Means(1.0), effect, GOAL) for effect in (0.2, 0.5, 0.8)] == [199, 34, 15]


# ------------------------------------------------------------------------------------------ 0/1 scores


@cache
def shown(n: int, level: float, *, exact: bool) -> list[tuple[int, int, int]]:
    """Every outcome (b, c, neither) of which `compare` shows a difference."""
    design = Design(level=level, test="mcnemar" if exact else "auto")
    outcomes = [(b, c, n - b - c) for b in range(n + 1) for c in range(n + 1 - b)]
    panels = [Panel.from_arrays([[0, 1]] * b + [[1, 0]] * c + [[1, 1]] * rest) for b, c, rest in outcomes]
    verdicts = [compare_panel(panel, design).verdict for panel in panels]
    return [outcome for outcome, verdict in zip(outcomes, verdicts, strict=True) if verdict in ("better", "worse")]


@pytest.mark.untraced
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(("better", "worse"), [(0.3, 0.05), (0.5, 0.2), (0.1, 0.1), (0.6, 0.4), (0.4, 0.0)])
@pytest.mark.parametrize("n", [6, 16])
def test_mcnemar_power_against_enumeration_of_verdicts(n: int, better: float, worse: float, *, exact: bool) -> None:
    multinomial = scipy_stats.multinomial(n, [better, worse, 1 - better - worse])
    expected = sum(float(multinomial.pmf(outcome)) for outcome in shown(n, 0.95, exact=exact))
    assert mcnemar_power(n, better, worse, 0.95, exact=exact) == pytest.approx(expected, abs=1e-10)


def test_exact_mcnemar_power_against_the_manual_of_gpower() -> None:
    """Odds ratio 0.25, 40% discordant, 50 pairs, one-sided 0.05: power 0.8393, and an actual α of 0.0326."""
    assert mcnemar_power(50, 0.32, 0.08, 0.90, exact=True) == pytest.approx(0.8393, abs=1e-4)
    assert mcnemar_power(50, 0.2, 0.2, 0.90, exact=True) / 2 == pytest.approx(0.0326, abs=5e-5)


def test_mid_p_power_is_more_than_that_of_the_exact_test() -> None:
    """100 items, 10 points of 20% that differ: 62% against 54%."""
    assert mcnemar_power(100, 0.15, 0.05, 0.95) == pytest.approx(0.62, abs=0.005)
    assert mcnemar_power(100, 0.15, 0.05, 0.95, exact=True) == pytest.approx(0.54, abs=0.005)


@pytest.mark.untraced
@pytest.mark.parametrize(("discordant", "difference"), [(0.2, 0.06), (0.1, 0.05), (0.5, 0.1), (0.3, 0.02)])
def test_items_against_the_formula_of_miettinen_and_connor(discordant: float, difference: float) -> None:
    """n = (z √ψ + z' √(ψ − d²))² / d² is of the test without continuity correction: up to 1/d items fewer, or so."""
    z, beta = float(scipy_stats.norm.ppf(0.975)), float(scipy_stats.norm.ppf(0.8))
    formula = (z * sqrt(discordant) + beta * sqrt(discordant - difference**2)) ** 2 / difference**2
    exact = Goal(test="mcnemar")
    assert formula < items_for(Shares(discordant=discordant), difference, exact) < formula + 2 / difference
    assert items_for(Shares(discordant=discordant), difference, GOAL) == pytest.approx(formula, abs=1.2 / difference)


@pytest.mark.parametrize("tail", [0.025, 0.005, 1e-6])
def test_critical_counts_against_the_binomial_of_scipy(tail: float) -> None:
    m = np.arange(200.0)
    expected = scipy_stats.binom.ppf(tail, m[1:], 0.5)
    at_most = scipy_stats.binom.cdf(expected, m[1:], 0.5) <= tail
    assert critical_counts(m, 2 * tail, exact=True).tolist() == [-1, *np.where(at_most, expected, expected - 1)]
    counts = np.arange(100)
    for size, found in zip(range(1, 200), critical_counts(m, 2 * tail)[1:], strict=True):
        below = scipy_stats.binom.cdf(counts, size, 0.5) - scipy_stats.binom.pmf(counts, size, 0.5) / 2
        rejected = counts[(below <= tail) & (2 * counts < size)]
        assert found == (rejected.max() if len(rejected) else -1)


@pytest.mark.untraced
def test_power_in_clusters_against_simulated_verdicts() -> None:
    """40 clusters of 5 items: a cluster's items differ together with probability 0.3, else by themselves."""
    rng, shown, runs = np.random.default_rng(5), 0, 400
    clusters = np.repeat(np.arange(40), 5)
    for _ in range(runs):
        own, shared = (rng.choice([1, -1, 0], size, p=[0.2, 0.08, 0.72]) for size in (200, 40))
        copied = rng.random(200) < np.sqrt(0.3)
        d = np.where(copied, shared[clusters], own)
        panel = Panel.from_arrays(np.column_stack([d < 0, d > 0]).astype(float), clusters=clusters)
        shown += compare_panel(panel, Design()).verdict != "no difference shown"
    plan = Shares(discordant=0.28, structure=Structure(cluster_size=5, icc=0.3))
    assert shown / runs == pytest.approx(power_of(plan, 200, 0.12, GOAL), abs=0.06)


def test_mcnemar_items_are_enough_from_there_on() -> None:
    """Where every item differs the power goes up and down; after the first n that is enough others are not."""
    plan, goal = Shares(discordant=1.0), GOAL
    power = [power_of(plan, n, 0.25, goal) for n in range(2, 250)]
    assert any(b < a for a, b in pairwise(power))
    last_miss = max(n for n, p in enumerate(power, start=2) if p < 0.8)
    first_hit = min(n for n, p in enumerate(power, start=2) if p >= 0.8)
    assert items_for(plan, 0.25, goal) == last_miss + 1 > first_hit


# ------------------------------------------------------------------------------------------ equivalence


def test_equivalence_against_powertost() -> None:
    """R's sampleN.TOST(CV = 0.3, theta0 = 0.95): 40 subjects in a 2 × 2 crossover have a power of 0.815845."""
    error = sqrt(log(1.09)) * sqrt(2 / 40)
    assert equivalence_power(log(0.95) / error, log(1.25) / error, 38, 0.90) == pytest.approx(0.815845, abs=1e-6)


@pytest.mark.parametrize(("shift", "margin", "df"), [(0.0, 3.0, 4), (1.0, 5.0, 30), (0.5, 2.1, 300), (2.0, 6.0, 1)])
def test_equivalence_against_a_double_integral(shift: float, margin: float, df: int) -> None:
    critical = scipy_stats.t.ppf(0.975, df)

    def inside(s: float) -> float:
        room = max(margin - critical * s, 0.0)
        within = scipy_stats.norm.cdf(room - shift) - scipy_stats.norm.cdf(-room - shift)
        return float(within * scipy_stats.chi.pdf(s * sqrt(df), df) * sqrt(df))

    expected, _ = integrate.quad(inside, 0, margin / critical, epsabs=1e-12, points=[min(1, margin / critical / 2)])
    assert equivalence_power(shift, margin, df, 0.95) == pytest.approx(expected, abs=1e-8)


def test_equivalence_is_never_shown_by_an_interval_as_wide_as_the_margin() -> None:
    assert equivalence_power(0.0, 0.5, 1000, 0.95) == 0.0


@given(st.floats(0, 2), st.floats(1, 8), st.integers(2, 200))
def test_equivalence_by_symmetry_and_bounds(shift: float, margin: float, df: int) -> None:
    power = equivalence_power(shift, margin, df, 0.95)
    assert 0 <= power <= 1
    assert power == pytest.approx(equivalence_power(-shift, margin, df, 0.95), abs=1e-9)
    assert power <= equivalence_power(0.0, margin, df, 0.95) + 1e-9


# ------------------------------------------------------------------------------------------ properties

plans: st.SearchStrategy[StudyPlan] = st.one_of(
    st.floats(0.05, 3).map(lambda sd: Spread(sd=sd).means()),
    st.builds(
        lambda sd, size, icc: Spread(sd=sd, structure=Structure(cluster_size=size, icc=icc)).means(),
        st.floats(0.1, 2),
        st.integers(2, 9),
        st.floats(0, 0.5),
    ),
    st.floats(0.1, 0.6).map(lambda share: Shares(discordant=share)),
    st.builds(lambda p, r: Shares(p_a=p, correlation=r), st.floats(0.3, 0.7), st.floats(-0.2, 0.6)),
)


@given(plans, st.integers(30, 3000), st.floats(0.01, 0.09), levels)
@settings(max_examples=40)
def test_more_items_and_larger_differences_have_more_power(plan: StudyPlan, n: int, d: float, level: float) -> None:
    """But for a saw where counts decide: McNemar's power falls by up to 0.015 where another count is too few."""
    goal = Goal(level=level, power=0.9)
    power = power_of(plan, n, d, goal)
    assert 0 <= power <= 1
    assert power_of(plan, n + 40, d, goal) >= power - (0.02 if isinstance(plan, Shares) else 1e-9)
    assert power_of(plan, n, 1.1 * d, goal) >= power - 1e-9
    assert power == pytest.approx(power_of(plan, n, -d, goal), abs=1e-9) or isinstance(plan, Shares)


@pytest.mark.untraced
@given(plans, st.floats(0.03, 0.09), levels)
@settings(max_examples=25)
def test_items_and_differences_are_inverse(plan: StudyPlan, d: float, level: float) -> None:
    goal = Goal(level=level)
    n = items_for(plan, d, goal)
    assert power_of(plan, n, d, goal) >= goal.power
    detected = difference_for(plan, n, goal)
    assert detected is not None
    assert detected <= d * (1 + 1e-9)
    assert power_of(plan, n, detected, goal) == pytest.approx(goal.power, abs=1e-6)
    assert items_for(plan, 0.7 * d, goal) > n  # a smaller difference takes more


@given(st.floats(0.1, 2), st.floats(0.02, 0.2))
@settings(max_examples=20)
def test_one_item_fewer_is_not_enough(sd: float, d: float) -> None:
    n = items_for(Means(sd**2), d, GOAL)
    assert n == 2 or power_of(Means(sd**2), n - 1, d, GOAL) < GOAL.power


def test_repeats_and_clusters_by_hand() -> None:
    """0.5² × (1 + 4 × 0.2) − 2 × 0.2² × (1 − 1/4) = 0.39; without clusters 0.25 − 0.06 = 0.19."""
    both = Spread(sd=0.5, structure=Structure(cluster_size=5, icc=0.2, repeats=4, sd_within=0.2)).means()
    assert both.variance == pytest.approx(0.39)
    assert both.df(100) == 19
    alone = Spread(sd=0.5, structure=Structure(repeats=4, sd_within=0.2)).means()
    assert alone.variance == pytest.approx(0.19)
    assert items_for(both, 0.1, GOAL) % 5 == 0


def test_comparisons_share_the_error() -> None:
    many = Goal(comparisons=10)
    assert many.adjusted_level == pytest.approx(0.995)
    assert items_for(Means(1.0), 0.2, many) == items_for(Means(1.0), 0.2, Goal(level=0.995))


def test_a_shift_that_is_detectable_has_the_power() -> None:
    for df, level, power in ((1, 0.5, 0.6), (3, 0.95, 0.8), (1e6, 0.99, 0.5)):
        assert t_power(detectable_shift(df, level, power), df, level) == pytest.approx(power, abs=1e-9)


def test_tests_are_chosen_by_what_is_measured() -> None:
    shares, runs = Shares(discordant=0.2), Shares(discordant=0.2, structure=Structure(repeats=3, sd_within=0.1))
    assert chosen_test(Means(1.0), GOAL) == "t"
    assert chosen_test(shares, GOAL) == "mcnemar-midp"
    assert chosen_test(shares, Goal(test="mcnemar")) == "mcnemar"
    assert chosen_test(Shares(discordant=0.2, structure=Structure(cluster_size=4, icc=0.1)), GOAL) == "mcnemar-score"
    assert chosen_test(runs, GOAL) == "t"
    assert chosen_test(shares, Goal(margin=0.1)) == "equivalence"
    assert power_of(runs, 200, 0.05, GOAL) > power_of(shares, 200, 0.05, GOAL)


def test_without_any_spread_a_difference_is_certain() -> None:
    plan = Shares(discordant=1.0, structure=Structure(repeats=2, sd_within=0.1))
    assert power_of(plan, 10, 1.0, GOAL) == 1
    assert power_of(plan, 10, 1.0, Goal(margin=0.5)) == 0


def test_a_difference_that_nothing_can_show_is_none() -> None:
    assert difference_for(Shares(discordant=0.1), 20, GOAL) is None
    assert difference_for(Shares(discordant=0.9, p_a=0.4), 300, Goal(power=0.1)) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("plan", "difference", "goal", "message"),
    [
        (Means(1.0), 0.0, GOAL, "difference must not be 0"),
        (Means(1.0), 0.3, Goal(margin=0.2), "inside the margin"),
        (Means(1.0), 1e-9, GOAL, f"more than {MOST_ITEMS:,} items"),
        (Shares(discordant=0.1), 0.2, GOAL, "discordant share of at least 0.2"),
    ],
)
def test_items_that_no_number_is_enough_for(plan: StudyPlan, difference: float, goal: Goal, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        items_for(plan, difference, goal)


def test_one_cluster_is_not_enough() -> None:
    with pytest.raises(UsageError, match=r"more than those of one cluster \(5\), but got 5"):
        power_of(Means(1.0, 5), 5, 0.1, GOAL)
    with pytest.raises(UsageError, match="more than those of one cluster"):
        difference_for(Means(1.0, 5), 4, GOAL)
    with pytest.raises(UsageError, match="ask for the items or for the power"):
        difference_for(Means(1.0), 40, Goal(margin=0.1))


@pytest.mark.untraced
@pytest.mark.parametrize("study", [STUDIES[0], STUDIES[8], STUDIES[12], STUDIES[14], STUDIES[16]], ids=lambda s: s.name)
def test_predicted_power_against_simulation(study: Study) -> None:
    share = np.mean([found_by(study, simulation)[0] for simulation in range(400)])
    predicted = study.predicted()
    assert abs(share - predicted) < 4 * sqrt(predicted * (1 - predicted) / 400)
