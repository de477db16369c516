"""The compiled passes against the numpy path, which has oracles of its own (see test_exact and test_bootstrap)."""

from collections.abc import Callable

import numpy as np
import pytest

from assay.stats.bootstrap import interval
from assay.stats.bootstrap.kernels_exact import compiled_series
from assay.stats.records import IntervalName
from assay.stats.units import Floats, Units, shape, standard_error

SAMPLES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(0.3, 1.0, n),
    "log-normal": lambda rng, n: rng.lognormal(0.0, 1.0, n),
    "t2": lambda rng, n: rng.standard_t(2, n),
    "tiny": lambda rng, n: 1e-90 * rng.normal(size=n),
}


@pytest.mark.untraced
@pytest.mark.parametrize("method", ["bca", "bca-plain", "percentile"])
@pytest.mark.parametrize("n", [30, 180, 1_000, 5_000])
@pytest.mark.parametrize("name", SAMPLES)
def test_limits_against_the_numpy_path(name: str, n: int, method: IntervalName) -> None:
    units = Units(SAMPLES[name](np.random.default_rng(n), n), np.full(n, 3.0))
    slow = interval(units, method=method).interval
    fast = interval(units, method=method, backend="compiled").interval
    error = standard_error(units)
    assert error is not None
    assert fast.low == pytest.approx(slow.low, abs=1e-7 * error)
    assert fast.high == pytest.approx(slow.high, abs=1e-7 * error)


@pytest.mark.untraced
def test_the_compiled_path_is_really_taken_where_it_applies() -> None:
    units = Units(np.random.default_rng(0).normal(size=180), np.ones(180))
    found = compiled_series(units)
    assert found is not None
    form = shape(units)
    assert form is not None
    assert found.shape.acceleration == pytest.approx(form.acceleration, rel=1e-9)
    assert found.shape.trust == pytest.approx(form.trust, rel=1e-9)
    assert found.shape.degrees_of_freedom == pytest.approx(form.degrees_of_freedom, rel=1e-9)


@pytest.mark.parametrize(
    "units",
    [
        Units((np.arange(180) % 3 == 0).astype(float), np.ones(180)),  # 0/1: a lattice
        Units(np.random.default_rng(1).normal(size=180), np.ones(180), np.full(180, 1 / 180)),  # weights
        Units(np.random.default_rng(1).normal(size=8), np.ones(8)),  # few
        Units(np.full(180, 2.5), np.ones(180)),  # no spread
        Units(np.append(np.random.default_rng(1).normal(size=179), 1e6), np.ones(180)),  # a dominating unit
    ],
)
def test_what_it_does_not_cover_is_left_to_the_numpy_path(units: Units) -> None:
    assert compiled_series(units) is None
    assert interval(units, backend="compiled") == interval(units)


def test_the_kernels_as_plain_python_agree_with_their_machine_code() -> None:
    from assay.stats.bootstrap import kernels_exact as kernels

    values = np.random.default_rng(2).normal(size=60)
    psi, twin = np.empty(256, dtype=np.complex128), np.empty(256, dtype=np.complex128)
    compiled = kernels.mean_series(values, 1e-10, 1e-10, 0.01, psi)
    plain = kernels.mean_series.py_func(values, 1e-10, 1e-10, 0.01, twin)
    assert plain == pytest.approx(compiled, rel=1e-9)
    np.testing.assert_allclose(psi[: compiled[0]], twin[: compiled[0]], atol=1e-12)
