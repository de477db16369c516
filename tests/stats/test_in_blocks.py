"""Moments of many units, some at a time: what numpy gives for whole arrays."""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Any

import numpy as np
import pytest

from assay.stats import in_blocks
from assay.stats.bootstrap import bootstrap_of, interval
from assay.stats.ranges import drawn_by, in_ranges
from assay.stats.units import Units, deviation_of_difference, deviations, shape, weighted_deviation

N = in_blocks.MANY + 1_000


@pytest.fixture(scope="module")
def windows() -> Units:
    rng = np.random.default_rng(5)
    tokens = np.ceil(rng.lognormal(5, 0.5, N))
    return Units((rng.normal(0.1, 1.0, N) + 0.05 * rng.exponential(1.0, N)) * tokens, tokens)


def test_sums_of_blocks_against_numpy() -> None:
    values = np.random.default_rng(1).normal(size=N)
    assert in_blocks.total(lambda part: values[part], N) == pytest.approx(float(values.sum()), rel=1e-9)
    assert in_blocks.largest(lambda part: values[part], N) == float(np.abs(values).max())
    assert in_blocks.largest(lambda part: -np.abs(values[part]), N) == float(np.abs(values).max())
    found = in_blocks.power_sums(lambda part: values[part], N, 2.0, [2, 3, 6])
    assert found == pytest.approx([float(((values / 2) ** power).sum()) for power in (2, 3, 6)], rel=1e-9)


def test_the_standard_error_by_its_formula(windows: Units) -> None:
    num, den = windows.numerators, windows.denominators
    residual = num - num.sum() / den.sum() * den
    expected = sqrt(float((residual**2).sum()) * N / (N - 1)) / float(den.sum())
    assert windows.error == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("equal", [True, False])
def test_the_shape_by_its_moments(windows: Units, equal: bool) -> None:
    units = Units(windows.numerators, np.ones(N)) if equal else windows
    found, pull = shape(units), deviations(units)
    assert found is not None
    skewness = float((pull**3).sum()) / float((pull**2).sum()) ** 1.5
    assert found.acceleration == pytest.approx(skewness / 6, rel=0.05)


def test_units_without_spread_have_no_shape() -> None:
    assert shape(Units(np.ones(N), np.ones(N))) is None


def test_deviations_against_numpy() -> None:
    rng = np.random.default_rng(2)
    a, b, weights = rng.normal(size=N), rng.normal(size=N), rng.uniform(1, 2, N)
    expected = sqrt(float(np.cov(b - a, aweights=weights, ddof=0)) * N / (N - 1))
    assert deviation_of_difference(a, b, weights) == pytest.approx(expected, rel=1e-9)
    assert weighted_deviation(b - a, weights) == pytest.approx(expected, rel=1e-9)


def test_turned_around_the_interval_and_its_distribution_are_mirrored(windows: Units) -> None:
    turned = Units(-windows.numerators, windows.denominators)
    plain, mirrored = interval(windows).interval, interval(turned).interval
    assert (mirrored.low, mirrored.high) == pytest.approx((-plain.high, -plain.low), rel=1e-12)
    ours, theirs = bootstrap_of(windows), bootstrap_of(turned)
    x = windows.estimate + (windows.error or 0.0)
    assert ours.cdf(x) == pytest.approx(1 - theirs.cdf(-x), abs=1e-9)
    assert ours.quantiles([0.1, 0.7]) == pytest.approx(-theirs.quantiles([0.9, 0.3]), rel=1e-9)
    assert (ours.method, ours.note) == (theirs.method, theirs.note)


class Halves:
    """Two workers that are none: ranges one after the other."""

    ranges = 2

    def drawn(self, draw: Any, shared: Any, ranges: Sequence[tuple[int, int]]) -> Iterator[Any]:
        return (draw(shared, first, count) for first, count in ranges)


def test_ranges_are_drawn_by_workers_where_that_is_worth_it() -> None:
    def draw(shared: str, first: int, count: int) -> str:
        return shared[first : first + count]

    with drawn_by(Halves()):
        assert list(in_ranges(draw, "abcdef", 6, seconds=60)) == ["abc", "def"]
        assert list(in_ranges(draw, "abcdef", 6, seconds=60, step=4)) == ["abcd", "ef"]
        assert list(in_ranges(draw, "abcdef", 6, seconds=0.001)) == ["abcdef"]
    assert list(in_ranges(draw, "abcdef", 6, seconds=60)) == ["abcdef"]
