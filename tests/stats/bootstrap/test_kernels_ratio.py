"""The compiled passes of a ratio against one series for every point, and against the numpy path."""

import numpy as np
import pytest

from assay.stats.bootstrap import interval
from assay.stats.bootstrap import kernels_ratio as kernels
from assay.stats.bootstrap.inversion import Pointwise
from assay.stats.bootstrap.kernels_ratio import CompiledTilted, compiled_ratio
from assay.stats.bootstrap.tilted import Tilted, tilted
from assay.stats.records import IntervalName
from assay.stats.units import Units, standard_error

LEVELS = (0.001, 0.025, 0.5, 0.975, 0.999)


def ratio(tails: str, n: int, seed: int = 0, spread: float = 0.5) -> Units:
    rng = np.random.default_rng(seed)
    tokens = rng.lognormal(6, spread, n)
    values = {"normal": rng.normal(0.1, 1, n), "t2": rng.standard_t(2, n), "exponential": rng.exponential(1, n)}
    return Units(values[tails] * tokens, tokens)


@pytest.mark.untraced
@pytest.mark.parametrize("n", [120, 180, 1_000, 5_000])
@pytest.mark.parametrize("tails", ["normal", "t2", "exponential"])
def test_against_one_series_for_every_point(tails: str, n: int) -> None:
    taken = 0
    for seed in range(4):
        units = ratio(tails, n, seed)
        found = compiled_ratio(units)
        if found is None:
            continue
        taken += 1
        each = Pointwise(units, found.error, None)
        assert found.cdf(units.estimate) == pytest.approx(each.cdf(units.estimate), abs=1e-8)
        np.testing.assert_allclose(found.quantiles(LEVELS), each.quantiles(LEVELS), atol=1e-6 * found.error)
    assert taken >= 2


@pytest.mark.parametrize("method", ["bca", "bca-plain", "percentile"])
@pytest.mark.parametrize("tails", ["normal", "t2", "exponential"])
def test_limits_own_p_and_fallbacks_are_those_of_the_numpy_path(tails: str, method: IntervalName) -> None:
    for n in (12, 60, 180, 700):
        for seed in range(5):
            units = ratio(tails, n, seed)
            slow = interval(units, method=method, backend="numpy", own_p=True)
            fast = interval(units, method=method, backend="compiled", own_p=True)
            error = standard_error(units)
            assert error is not None
            assert fast.interval.low == pytest.approx(slow.interval.low, abs=1e-8 * error)
            assert fast.interval.high == pytest.approx(slow.interval.high, abs=1e-8 * error)
            assert fast.own_p == pytest.approx(slow.own_p, rel=1e-6)
            assert (fast.interval.method, fast.source, fast.fallbacks) == (
                slow.interval.method,
                slow.source,
                slow.fallbacks,
            )


@pytest.mark.parametrize(
    "units",
    [
        Units(np.random.default_rng(1).normal(size=9), np.linspace(1, 2, 9)),  # few
        Units(np.random.default_rng(1).normal(size=180), np.linspace(1, 2, 180), np.full(180, 1 / 180)),  # weights
        Units(1e200 * np.random.default_rng(1).normal(size=180), np.linspace(1, 2, 180)),  # squares are no numbers
        Units(np.append(np.random.default_rng(1).normal(size=179), 1e6), np.linspace(1, 2, 180)),  # a dominating unit
        Units(np.random.default_rng(1).normal(size=40), np.append(np.ones(39), 60.0)),  # most of the denominators
        ratio("t2", 180, seed=1, spread=1.5),  # very unequal denominators
    ],
)
def test_what_they_do_not_cover_is_left_to_the_numpy_path(units: Units) -> None:
    assert compiled_ratio(units) is None
    assert interval(units, backend="compiled") == interval(units, backend="numpy")


def test_limits_that_newton_does_not_find_are_those_of_the_numpy_path() -> None:
    units = ratio("exponential", 180)
    found, expected = compiled_ratio(units), tilted(units)
    assert isinstance(found, CompiledTilted)
    assert isinstance(expected, Tilted)
    far = (1e-12, 0.5)
    np.testing.assert_allclose(found.quantiles(far), expected.quantiles(far), atol=1e-6 * found.error)


def test_auto_never_takes_them_and_has_the_bits_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or limits would depend on what a process has computed before, or on what is installed."""
    units = ratio("normal", 180)
    compiled_ratio(units)  # so that it is kept
    expected, calls = interval(units, backend="numpy"), list[Units]()
    monkeypatch.setattr(kernels, "compiled_ratio", calls.append)
    assert [interval(units) for _ in range(3)] == [expected] * 3
    assert not calls
    assert interval(units, backend="compiled") == expected  # where they decline
    assert calls == [units]


def test_the_kernels_as_plain_python_agree_with_their_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ["_left_out", "_sums", "_moments", "_turned", "_value_and_density", "ratio_series", "ratio_quantile"]
    cases = [ratio("normal", 60), ratio("t2", 60, seed=3), ratio("normal", 20), ratio("t2", 60, spread=1.5)]
    cases += [Units(1e200 * cases[0].numerators, cases[0].denominators)]
    machine = [kernels.ratio_series(u.numerators, u.denominators, u.estimate, kernels._PEAKS) for u in cases]
    limits = [kernels.ratio_quantile(machine[0][-1], 60, machine[0][1], guess, 1.9) for guess in (1.9, 9.0)]
    for name in plain:
        monkeypatch.setattr(kernels, name, getattr(kernels, name).py_func)
    for units, expected in zip(cases, machine, strict=True):
        found = kernels.ratio_series(units.numerators, units.denominators, units.estimate, kernels._PEAKS)
        assert found[:-1] == pytest.approx(expected[:-1], rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(found[-1], expected[-1], atol=1e-12)
    again = [kernels.ratio_quantile(machine[0][-1], 60, machine[0][1], guess, 1.9) for guess in (1.9, 9.0)]
    assert again == pytest.approx(limits, rel=1e-9, nan_ok=True)
    assert np.isnan(again[1])
