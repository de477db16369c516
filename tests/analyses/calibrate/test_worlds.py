"""Where simulated pairs come from: truths by numpy and by the mean of many draws."""

import numpy as np
import pytest

from assay.analyses.calibrate.scenarios import BUILT_IN, BuiltIn
from assay.analyses.calibrate.worlds import BuiltInPairs, OwnPairs, PairWorld
from assay.data import Panel
from assay.errors import InputError
from assay.stats.units import Floats
from tests.analyses.calibrate.samples import losses, scores


def mean_difference(panel: Panel) -> float:
    a, b = panel.numerators.sum(axis=0) / panel.denominators.sum()
    return float(b - a)


def drawn(world: PairWorld, draws: int) -> tuple[Floats, Floats]:
    """(draws,) Σ(B − A) and Σ weights of each draw."""
    panels = [world.draw(np.random.default_rng([7, i])) for i in range(draws)]
    sums = [float((one.numerators[:, 1] - one.numerators[:, 0]).sum()) for one in panels]
    return np.array(sums), np.array([float(one.denominators.sum()) for one in panels])


def assert_truth_by_the_mean_of_draws(world: PairWorld, draws: int = 600) -> None:
    """Σ(B − A) − truth·Σ weights has the mean 0."""
    sums, weights = drawn(world, draws)
    off = sums - world.truth * weights
    assert abs(off.mean()) < 4 * off.std() / np.sqrt(draws)


@pytest.mark.parametrize(
    "panel", [losses(), losses(40, clusters=9), losses(30, equal=12)], ids=["", "clusters", "ties"]
)
def test_truths_of_own_losses_by_numpy_and_by_the_mean_of_draws(panel: Panel) -> None:
    world = OwnPairs.of(panel)
    assert world.truth == pytest.approx(mean_difference(panel), rel=1e-12)
    assert_truth_by_the_mean_of_draws(world)
    assert world.without_difference().truth == pytest.approx(0.0, abs=1e-12)
    assert_truth_by_the_mean_of_draws(world.without_difference())
    assert world.with_difference(0.095).truth == pytest.approx(0.095, rel=1e-9)
    assert_truth_by_the_mean_of_draws(world.with_difference(0.095))


@pytest.mark.parametrize(("b", "c", "n"), [(4, 1, 20), (0, 0, 12), (5, 0, 12)])
def test_truths_of_own_scores_by_jeffreys_and_by_the_mean_of_draws(b: int, c: int, n: int) -> None:
    world = OwnPairs.of(scores(b, c, n))
    assert world.truth == pytest.approx((b - c) / (n + 1.5), rel=1e-12)
    for one in (world, world.without_difference(), world.with_difference(-0.1), world.with_difference(0.02)):
        assert_truth_by_the_mean_of_draws(one)
    assert world.without_difference().truth == 0.0
    assert world.with_difference(-0.1).truth == pytest.approx(-0.1)


@pytest.mark.parametrize(("b", "c", "n"), [(3, 1, 10), (0, 0, 10)])
def test_discordant_shares_are_those_of_jeffreys_prior(b: int, c: int, n: int) -> None:
    world, draws = OwnPairs.of(scores(b, c, n)), 2_000
    found = np.zeros(2)
    for i in range(draws):
        values = world.draw(np.random.default_rng([3, i])).numerators
        difference = values[:, 1] - values[:, 0]
        found += (difference > 0).sum(), (difference < 0).sum()
    expected = np.array([b + 0.5, c + 0.5]) / (n + 1.5)
    error = np.sqrt(expected * (1 - expected) / (draws * n))
    assert np.all(np.abs(found / (draws * n) - expected) < 4 * error)


def test_units_are_drawn_with_their_lengths_and_zeros_stay_zeros() -> None:
    panel = losses(30, equal=12)
    rows = {tuple(row) for row in np.column_stack([panel.numerators, panel.denominators]).tolist()}
    again = OwnPairs.of(panel).draw(np.random.default_rng(1))
    assert again.n == panel.n
    assert {tuple(row) for row in np.column_stack([again.numerators, again.denominators]).tolist()} <= rows
    null = OwnPairs.of(panel).without_difference().draw(np.random.default_rng(1))
    same = again.numerators[:, 0] == again.numerators[:, 1]
    assert (null.numerators[:, 0] == null.numerators[:, 1]).tolist() == same.tolist()


def test_clusters_are_drawn_whole_and_one_that_comes_twice_is_two() -> None:
    panel = losses(40, clusters=6)
    assert panel.clusters is not None
    whole = {tuple(sorted(panel.denominators[panel.clusters == code].tolist())) for code in range(6)}
    again = OwnPairs.of(panel).draw(np.random.default_rng(2))
    assert again.n_clusters == 6
    assert again.clusters is not None
    assert {tuple(sorted(again.denominators[again.clusters == code].tolist())) for code in range(6)} <= whole


def test_swapped_clusters_are_swapped_together() -> None:
    """B is right everywhere: after a coin for each of three clusters, all or nothing of each, but for made-up pairs."""
    right = np.column_stack([np.zeros(600), np.ones(600)])
    world = OwnPairs.of(Panel.from_arrays(right, clusters=np.arange(600) // 200)).without_difference()
    shares = []
    for i in range(20):
        again = world.draw(np.random.default_rng([5, i]))
        assert again.clusters is not None
        shares += [float(again.numerators[again.clusters == code, 1].mean()) for code in range(3)]
    assert all(share < 0.05 or share > 0.95 for share in shares)
    assert 15 < sum(share > 0.5 for share in shares) < 45


@pytest.mark.parametrize("scenario", BUILT_IN.values(), ids=lambda one: one.name)
def test_truths_of_built_in_scenarios_by_the_mean_of_draws(scenario: BuiltIn) -> None:
    world = BuiltInPairs.of(scenario)
    assert world.truth == pytest.approx(scenario.truth)
    limit = -0.05 if scenario.binary else 0.1
    for one, truth in (
        (world, scenario.truth),
        (world.without_difference(), 0.0),
        (world.with_difference(limit), limit),
    ):
        assert one.truth == pytest.approx(truth, abs=1e-12)
        assert_truth_by_the_mean_of_draws(one, 500)


@pytest.mark.parametrize(
    ("panel", "why"),
    [
        (scores(1, 0, 1), "at least two items to draw from, but there is one"),
        (Panel.from_arrays([[1.0, 2.5], [3.0, 4.5], [0.5, 2.0]]), "all 3 items have the same difference"),
        (Panel.from_arrays([[1.0, 0.0], [3.0, 4.5]], clusters=["a", "a"]), "at least two clusters to draw from"),
    ],
)
def test_nothing_to_draw_from(panel: Panel, why: str) -> None:
    with pytest.raises(InputError, match=why):
        OwnPairs.of(panel)


def test_a_limit_that_no_answers_reach() -> None:
    panel = Panel.from_arrays(np.column_stack([np.ones(20), np.append(np.zeros(19), 1.0)]))
    with pytest.raises(InputError, match=r"cannot be imposed: .* choose a smaller limit"):
        OwnPairs.of(panel).with_difference(-1.05)
