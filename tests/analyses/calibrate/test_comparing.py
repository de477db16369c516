"""Simulated comparisons: the verb itself, exact laws and enumeration are the oracles."""

from dataclasses import replace
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats

from assay.analyses.calibrate.comparing import METHODS, ComparisonTrial, alternatives
from assay.analyses.calibrate.result import MethodCoverage
from assay.analyses.calibrate.scenarios import BuiltIn, normal
from assay.analyses.calibrate.simulation import Draws, simulated
from assay.analyses.calibrate.tallies import coverages
from assay.analyses.calibrate.worlds import BuiltInPairs, OwnPairs, PairWorld
from assay.analyses.compare import compare_panel
from assay.data import Panel
from assay.design import Design
from assay.engines import LOCAL
from tests.analyses.calibrate.samples import losses, scores


def measured(world: PairWorld, design: Design, simulations: int) -> MethodCoverage:
    trial = ComparisonTrial(world, world.without_difference(), (design,))
    rows = simulated(trial, simulations, seed=3, purpose="test", engine=LOCAL)
    return coverages(rows, [design.method])[0]


def assert_share(found: float, expected: float, n: int) -> None:
    """Within four standard errors of the simulation."""
    assert abs(found - expected) <= 4 * np.sqrt(max(expected * (1 - expected), 1e-9) / n) + 1e-12


PANELS = {
    "losses": losses(60),
    "many": losses(150),
    "clusters": losses(90, clusters=25),
    "few": losses(12),
    "0/1": scores(9, 2, 50),
    "0/1 in clusters": Panel.from_arrays(scores(9, 2, 50).numerators, clusters=np.arange(50) // 4),
}


@pytest.mark.parametrize("kind", PANELS)
@pytest.mark.parametrize("first", ["auto", "t"])
def test_interval_and_verdict_are_those_of_compare(kind: str, first: str) -> None:
    world = OwnPairs.of(PANELS[kind])
    null, asked = world.without_difference(), Design(method=first)  # type: ignore[arg-type]
    names = (asked.method, *(name for name in alternatives(asked, 50) if name != "studentized"))
    designs = tuple(replace(asked, method=name) for name in names)
    for i in range(3):
        row = np.reshape(ComparisonTrial(world, null, designs).once(Draws(8, i)), (-1, 5))
        for design, (side, width, claimed, few, method) in zip(designs, row.tolist(), strict=True):
            as_it_is = compare_panel(world.draw(Draws(8, i).generator()), design)
            equal = compare_panel(null.draw(Draws(8, i).generator()), design)
            limits = as_it_is.difference.interval
            assert limits is not None
            assert METHODS[int(method)] == limits.method
            assert width == pytest.approx(limits.high - limits.low, rel=1e-9)  # compiled loops, of ratios
            assert (side == 0) == (limits.low <= world.truth <= limits.high)
            assert claimed == (equal.verdict in ("better", "worse"))
            assert few == (as_it_is.reliance == "too few")


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_student_covers_normal_differences_as_exactly_as_it_should_coverage(level: float) -> None:
    """R̂ ± t·se holds the mean of normal values with exactly this probability."""
    world = BuiltInPairs.of(BuiltIn("exact", "", 9, normal, 0.1))
    found = measured(world, Design(method="t", test="t", level=level), 500)
    assert found.covered.value is not None
    assert found.false_verdicts is not None
    assert_share(found.covered.value, level, 500)
    assert_share(found.false_verdicts.value or 0.0, 1 - level, 500)
    assert_share(found.below, (1 - level) / 2, 500)


def _outcomes(n: int, better: float, worse: float) -> list[tuple[int, int, float]]:
    return [
        (b, c, comb(n, b) * comb(n - b, c) * better**b * worse**c * (1 - better - worse) ** (n - b - c))
        for b in range(n + 1)
        for c in range(n + 1 - b)
    ]


@pytest.mark.parametrize(("b", "c", "n"), [(3, 1, 14), (0, 0, 10)])
def test_coverage_of_0_1_scores_against_enumeration(b: int, c: int, n: int) -> None:
    """All counts of a trinomial with Jeffreys' shares; intervals by `compare` of those counts."""
    better, worse = (b + 0.5) / (n + 1.5), (c + 0.5) / (n + 1.5)
    truth, expected = better - worse, 0.0
    for x, y, chance in _outcomes(n, better, worse):
        limits = compare_panel(scores(x, y, n), Design()).difference.interval
        assert limits is not None
        expected += chance * (limits.low - 1e-12 <= truth <= limits.high + 1e-12)
    found = measured(OwnPairs.of(scores(b, c, n)), Design(), 400)
    assert found.covered.value is not None
    assert_share(found.covered.value, expected, 400)


@pytest.mark.parametrize("test", ["mcnemar", "mcnemar-midp"])
def test_size_of_mcnemar_against_enumeration_with_scipy(test: str) -> None:
    b, c, n = 6, 1, 16
    share, size = (b + c + 1) / (n + 1.5) / 2, 0.0
    for x, y, chance in _outcomes(n, share, share):
        p = float(stats.binomtest(x, x + y).pvalue) if x + y else 1.0
        if test == "mcnemar-midp" and x + y:
            p -= float(stats.binom.pmf(x, x + y, 0.5)) * (1 if x != y else 0.5)
            p = min(p, 1.0)
        size += chance * (p <= 0.2)
    design = Design(test=test, level=0.8)  # type: ignore[arg-type]  # one of them
    found = measured(OwnPairs.of(scores(b, c, n)), design, 500)
    assert found.false_verdicts is not None
    assert_share(found.false_verdicts.value or 0.0, size, 500)


def test_size_of_sign_flips_against_enumeration() -> None:
    """All 5⁵ samples of five shifted differences, all 2⁵ flips of each, and Student's interval by scipy."""
    difference, level = np.array([-1.1, 0.2, 0.7, 1.3, 2.9]), 0.7
    shifted, reach = difference - difference.mean(), stats.t.ppf(0.5 + level / 2, 4)
    flips = np.array(list(product([-1, 1], repeat=5)))
    claims = 0
    for index in product(range(5), repeat=5):
        d = shifted[list(index)]
        p = float((np.abs(flips @ d) >= abs(d.sum()) - 1e-9).mean())
        error = d.std(ddof=1) / np.sqrt(5)
        claims += p <= 1 - level + 1e-12 and abs(d.mean()) > reach * error and error > 1e-12
    panel = Panel.from_arrays(np.column_stack([np.zeros(5), difference]))
    found = measured(OwnPairs.of(panel), Design(method="t", test="sign-flip", level=level), 500)
    assert found.false_verdicts is not None
    assert_share(found.false_verdicts.value or 0.0, claims / 5**5, 500)


def test_skewed_differences_are_missed_from_one_side() -> None:
    """Of means of log-normal values, the normal approximation misses those above far more often (Johnson 1978)."""
    world = BuiltInPairs.of(BuiltIn("skewed", "", 20, lambda rng, n: (np.ones(n), rng.lognormal(0, 1, n)), np.exp(0.5)))
    found = measured(world, Design(method="t", test="t"), 300)
    assert found.above > 4 * found.below
    assert found.covered.value is not None
    assert found.covered.value < 0.93
