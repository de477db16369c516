"""Shares of simulations against scipy and statsmodels, and the rule of the recommendation by hand."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from assay.analyses.calibrate.comparing import FIELDS
from assay.analyses.calibrate.pictures import rated
from assay.analyses.calibrate.result import claims_too_often, is_short
from assay.analyses.calibrate.tallies import coverages, rate, recommended, share_of
from assay.stats.records import Estimate
from assay.stats.units import Floats


def rows(held: Floats, widths: list[float]) -> Floats:
    """Rows of a simulation (S, methods × `FIELDS`) in which these methods held the truth."""
    found = np.zeros((*held.shape, FIELDS))
    found[:, :, 0] = np.where(held > 0, 0, 1)
    found[:, :, 1] = widths
    return found.reshape(len(held), -1)


def held(*counts: int, n: int = 1_000) -> Floats:
    """Methods that hold the truth in the first so many simulations: whoever holds it more often adds to the others."""
    return np.array([[place < count for count in counts] for place in range(n)], dtype=np.float64)


@pytest.mark.parametrize(("count", "n"), [(0, 20), (931, 1000), (20, 20)])
def test_share_against_statsmodels(count: int, n: int) -> None:
    found = share_of(np.arange(n) < count)
    low, high = proportion_confint(count, n, method="beta")
    assert found.interval is not None
    assert found.interval.low == pytest.approx(0.0 if count == 0 else low, abs=1e-9)
    assert found.interval.high == pytest.approx(1.0 if count == n else high, abs=1e-9)
    assert found.standard_error == pytest.approx(np.sqrt(count / n * (1 - count / n) / n))


def test_p_better_against_scipy_and_statsmodels() -> None:
    rng = np.random.default_rng(5)
    outcome = (rng.random((400, 4)) < [0.9, 0.93, 0.95, 0.85]).astype(np.float64)
    found = coverages(rows(outcome, [1.0] * 4), ["auto", "a", "b", "c"])
    p = []
    for other in outcome.T[1:]:
        b, c = int(((other == 1) & (outcome[:, 0] == 0)).sum()), int(((other == 0) & (outcome[:, 0] == 1)).sum())
        p.append(stats.binomtest(b, b + c).pvalue)
    expected = multipletests(p, method="holm")[1]
    assert found[0].p_better is None
    assert found[1].p_better == pytest.approx(expected[0])
    assert found[2].p_better == pytest.approx(expected[1])
    assert found[3].p_better == 1.0  # it covers less


@pytest.mark.parametrize(
    ("counts", "widths", "expected"),
    [
        ((945, 955, 960), [1.0, 1.1, 1.2], None),  # 94.5% ± 0.7 is not short
        ((900, 948, 955), [1.0, 1.1, 1.2], "a"),  # both reach 95%: the narrower one
        ((900, 948, 955), [1.0, 1.3, 1.2], "b"),
        ((900, 915, 920), [1.0, 1.1, 1.2], "b"),  # both short, both better: the one that covers most
        ((900, 902, 903), [1.0, 1.1, 1.2], None),  # three simulations more are luck
        ((900, 890, 850), [1.0, 1.1, 1.2], None),
    ],
)
def test_recommendation_by_hand(counts: tuple[int, ...], widths: list[float], expected: str | None) -> None:
    assert recommended(coverages(rows(held(*counts), widths), ["auto", "a", "b"]), 0.95) == expected


def test_short_is_beyond_the_error_of_the_simulation() -> None:
    """The upper limits of 935 and 937 of 1,000 by scipy: 0.9494 and 0.9512."""
    for count, short in ((935, True), (937, False)):
        upper = stats.beta.ppf(0.975, count + 1, 1000 - count)
        assert (upper < 0.95) == short
        assert is_short(coverages(rows(held(count), [1.0]), ["auto"])[0], 0.95) == short


def test_rates_leave_out_what_could_not_happen_and_are_broken_beyond_their_error() -> None:
    happened = np.array([1.0] * 30 + [0.0] * 70 + [np.nan] * 50)
    found = rate("x", "x", happened, "at most", 0.05)
    assert (found.found.value, found.found.n, found.broken) == (0.3, 100, True)
    assert not rate("x", "x", happened, "at least", 0.25).broken
    assert rate("x", "x", happened, "at least", 0.5).broken
    assert not rate("x", "x", happened).broken
    assert rate("x", "x", np.array([np.nan])).found.value is None


def test_a_share_in_words() -> None:
    assert rated(Estimate(0.9386, None, 0.0054, 2000)) == "93.9% ± 0.5"
    assert rated(None) == "–"
    none, most = share_of(np.zeros(40) > 0), share_of(np.ones(40) > 0)
    low, high = proportion_confint(40, 40, method="beta")
    assert rated(most) == f"100.0% ({100 * low:.1f} to {100 * high:.1f})"  # its standard error, 0, would say it is sure
    assert rated(none) == f"0.0% (0.0 to {100 * (1 - low):.1f})"


@pytest.mark.parametrize(("count", "often"), [(64, False), (66, True)])
def test_too_many_false_verdicts_are_beyond_the_error_of_the_simulation(count: int, often: bool) -> None:
    """The lower limits of 64 and 66 of 1,000 by scipy: 0.0496 and 0.0514."""
    found = rows(held(950), [1.0])
    found[:count, 2] = 1
    assert (stats.beta.ppf(0.025, count, 1001 - count) > 0.05) == often
    assert claims_too_often(coverages(found, ["auto"])[0], 0.95) == often
