"""Pilots: the spread that two systems show, by hand and against numpy and scipy."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from assay.analyses.power.pilot import Planned, noise_of, pilot_of
from assay.data import Panel
from assay.errors import InputError, UsageError
from assay.stats.planning.plans import Means, Shares


def panel(n: int = 50, seed: int = 3, **more: object) -> Panel:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, 2))
    return Panel.from_arrays(values, systems=["old", "new"], **more)  # type: ignore[arg-type]


def test_the_spread_of_plain_scores_against_numpy() -> None:
    found, planned = pilot_of(panel(), panel(), level=0.95, repeats=None)
    a, b = panel().values.T
    assert (found.systems, found.n, found.kind) == (("old", "new"), 50, "scores")
    assert found.sd == pytest.approx(np.std(b - a, ddof=1))
    assert found.correlation == pytest.approx(np.corrcoef(a, b)[0, 1])
    assert found.design_effect == pytest.approx(1)
    assert isinstance(planned.likely, Means)
    assert planned.likely.variance == pytest.approx(np.var(b - a, ddof=1))
    assert (planned.least, planned.most) == (Means(found.limits.low), Means(found.limits.high))


def test_swapping_the_systems_changes_no_spread() -> None:
    values = panel().values
    swapped = Panel.from_arrays(values[:, ::-1], systems=["new", "old"])
    one, other = (pilot_of(p, p, level=0.95, repeats=None)[0] for p in (panel(), swapped))
    assert (one.sd, one.correlation) == pytest.approx((other.sd, other.correlation))
    assert (one.limits.low, one.limits.high) == pytest.approx((other.limits.low, other.limits.high))


def test_clusters_multiply_the_variance_by_hand() -> None:
    """Ten clusters of five equal items: five times the variance, and items come in fives."""
    rng = np.random.default_rng(4)
    values = np.repeat(rng.normal(size=(10, 2)), 5, axis=0)
    clustered = Panel.from_arrays(values, clusters=[i // 5 for i in range(50)])
    found, planned = pilot_of(clustered, clustered, level=0.95, repeats=None)
    gaps = values[:, 1] - values[:, 0]
    assert (found.n_clusters, found.cluster_by) == (10, clustered.cluster_by)
    expected = 5 * float(np.var(gaps[::5], ddof=1))
    assert isinstance(planned.likely, Means)
    assert (planned.likely.variance, planned.likely.cluster_size) == pytest.approx((expected, 5))


def test_right_and_wrong_are_shares_against_scipy() -> None:
    values = np.zeros((40, 2))
    values[:30] = 1
    values[30:36, 1] = 1
    binary = Panel.from_arrays(values)
    found, planned = pilot_of(binary, binary, level=0.9, repeats=None)
    ends = scipy_stats.binomtest(6, 40).proportion_ci(0.9, "exact")
    assert found.discordant == pytest.approx(6 / 40)
    assert (found.limits.low, found.limits.high) == pytest.approx((ends.low, ends.high))
    assert planned.likely == Shares(discordant=6 / 40)


def test_a_constant_system_has_no_correlation() -> None:
    values = np.column_stack([np.ones(20), np.arange(20.0)])
    assert pilot_of(*[Panel.from_arrays(values)] * 2, level=0.95, repeats=None)[0].correlation is None


def test_what_the_difference_takes_is_within_reach() -> None:
    planned = Planned(Shares(discordant=0.1), Shares(discordant=0.02), Shares(discordant=0.3))
    reached = planned.within_reach(-0.05)
    shares = [plan.discordant for plan in (reached.likely, reached.least, reached.most) if isinstance(plan, Shares)]
    assert shares == pytest.approx([0.1, 0.05, 0.3])
    means = Planned(Means(1.0), Means(0.5), Means(2.0))
    assert means.within_reach(0.9) == means


def test_runs_are_taken_off_and_put_on_again_by_hand() -> None:
    """Two runs of each: their noise is halved in the pilot; eight runs leave an eighth."""
    rng = np.random.default_rng(5)
    runs = Panel.from_arrays(rng.normal(size=(30, 4)), models=["A", "A", "B", "B"])
    both = runs.averaged()
    found, planned = pilot_of(both, runs, level=0.95, repeats=8)
    within = [float(runs.values[:, columns].var(axis=1, ddof=1).mean()) for columns in (slice(0, 2), slice(2, 4))]
    assert found.sd_within == pytest.approx(np.sqrt(within))
    assert found.runs == pytest.approx(2)
    spread = float(np.var(both.values[:, 1] - both.values[:, 0], ddof=1))
    assert isinstance(planned.likely, Means)
    assert planned.likely.variance == pytest.approx(max(spread - sum(within) / 2, 0) + sum(within) / 8)


def test_pilots_that_say_nothing_are_refused() -> None:
    same = Panel.from_arrays(np.ones((5, 2)))
    with pytest.raises(InputError, match="the same difference everywhere"):
        pilot_of(same, same, level=0.95, repeats=None)
    with pytest.raises(UsageError, match="what 4 repeats would save is unknown"):
        pilot_of(panel(), panel(), level=0.95, repeats=4)


def test_noise_of_runs_by_hand() -> None:
    """1, 0, 0 has squares 2/3; 1, 0 has 1/2; the third unit stands alone."""
    nan = float("nan")
    found = noise_of(np.array([[1.0, 0.0, 0.0], [1.0, 0.0, nan], [nan, 1.0, nan]]))
    assert found is not None
    assert found.variance == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert found.inverse_runs == pytest.approx((1 / 3 + 1 / 2 + 1) / 3)
    assert noise_of(np.array([[1.0, nan], [nan, 0.0]])) is None
