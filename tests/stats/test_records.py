"""Records survive a trip through dictionaries, and intervals change their scale as numbers do."""

import json
from dataclasses import FrozenInstanceError
from math import exp, inf, log

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.records import Estimate, Fallback, Interval, Test

LIMITS = st.tuples(st.floats(-50, 50), st.floats(-50, 50)).map(sorted)


@given(LIMITS)
def test_exp_of_an_interval_is_exp_of_its_limits(limits: list[float]) -> None:
    """The ratio interval is exp of the interval of the difference, exactly (P3)."""
    found = Interval(limits[0], limits[1], 0.95, "bca").exp()
    assert (found.low, found.high, found.level, found.method) == (exp(limits[0]), exp(limits[1]), 0.95, "bca")


@given(LIMITS, st.floats(-10, 10))
def test_scaling_an_interval_scales_and_orders_its_limits(limits: list[float], factor: float) -> None:
    found = Interval(limits[0], limits[1], 0.9, "t").scaled(factor)
    assert [found.low, found.high] == sorted(limit * factor for limit in limits)
    assert (found.level, found.method) == (0.9, "t")


def test_nats_become_bits() -> None:
    found = Interval(log(2), 3 * log(2), 0.95, "bca").scaled(1 / log(2))
    assert [found.low, found.high] == pytest.approx([1, 3])


@pytest.mark.parametrize(
    "record",
    [
        Interval(-0.25, inf, 0.95, "bca"),
        Fallback("exact bca", "10000 random resamples", "too uneven"),
        Estimate(1.5, Interval(1.0, 2.0, 0.9, "percentile"), 0.25, 180),
        Estimate(None, None, None, 1, "one unit"),
        Test("sign-flip", 2.5, 0.0125, 30),
        Test("wilcoxon", None, None, 0, "no pairs"),
    ],
)
def test_records_survive_a_round_trip_through_json(record: Interval | Fallback | Estimate | Test) -> None:
    assert msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(record))), type(record)) == record


def test_what_is_undefined_is_null_with_a_reason() -> None:
    found = msgspec.to_builtins(Estimate(None, None, None, 0, "no pairs"))
    assert found == {"value": None, "interval": None, "standard_error": None, "n": 0, "reason": "no pairs"}


def test_records_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Interval(0.0, 1.0, 0.95, "bca").low = 2.0  # type: ignore[misc]  # that is the point


def test_the_ratio_scale_by_hand() -> None:
    found = Estimate(0.0, Interval(-1.0, 2.0, 0.95, "bca"), 0.5, 7, "why").exp()
    assert found == Estimate(1.0, Interval(exp(-1.0), exp(2.0), 0.95, "bca"), 0.5, 7, "why")
    assert Estimate(log(2), None, 0.1, 7).exp().standard_error == pytest.approx(0.2)  # d exp(x) = exp(x) dx


def test_what_is_undefined_stays_undefined_on_the_ratio_scale() -> None:
    found = Estimate(0.0, None, None, 1, "one unit has no standard error").exp()
    assert (found.value, found.standard_error, found.reason) == (1.0, None, "one unit has no standard error")
    assert Estimate(None, None, 0.1, 0, "no units").exp() == Estimate(None, None, None, 0, "no units")


def test_an_exponential_beyond_every_number_is_undefined_with_a_reason() -> None:
    for estimate in (Estimate(800.0, None, 1.0, 3), Estimate(1.0, Interval(0.0, 800.0, 0.95, "t"), 1.0, 3)):
        assert estimate.exp("the ratio is too large") == Estimate(None, None, None, 3, "the ratio is too large")
