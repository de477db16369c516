"""The design of a comparison: its defaults, what it refuses, and the one line that reproduces a result."""

from dataclasses import FrozenInstanceError
from importlib.metadata import version
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from assay.design import DESIGN_EFFECT_LIMIT, Design, Method, signature
from assay.errors import AssayError, UsageError
from assay.stats.bootstrap import interval
from assay.stats.units import Units


def test_the_defaults_are_those_the_documentation_names() -> None:
    design = Design()
    assert (design.method, design.level, design.scheme, design.resamples) == ("auto", 0.95, "auto", None)
    assert (design.seed, design.test, design.margin) == (0, "auto", None)
    assert DESIGN_EFFECT_LIMIT == 1.05  # C4


@pytest.mark.parametrize("level", [0.5, 0.68, 0.9, 0.999999])
@pytest.mark.parametrize("method", ["bca", "bca-plain", "percentile", "t", "studentized"])
def test_every_method_and_any_usual_level_is_accepted(method: Any, level: float) -> None:
    assert Design(method=method, level=level).level == level


REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"method": "bootstrap"},
        (
            "method must be one of auto, bca, bca-plain, percentile, t, t-hall, studentized, tango, agresti-coull, "
            "but got 'bootstrap'."
        ),
    ),
    ({"scheme": "window"}, "scheme must be one of auto, tokens, windows, but got 'window'."),
    ({"test": "z"}, "test must be one of auto, sign-flip, mcnemar-midp, mcnemar, t, wilcoxon, but got 'z'."),
    ({"level": 95}, "level must be at least 0.5 and below 1, but got 95; 0.95 is usual."),
    ({"level": 0.05}, "level must be at least 0.5 and below 1, but got 0.05; 0.95 is usual."),
    ({"level": 1.0}, "level must be at least 0.5 and below 1, but got 1.0; 0.95 is usual."),
    ({"level": nan}, "level must be at least 0.5 and below 1, but got nan; 0.95 is usual."),
    ({"resamples": 99}, "resamples must be at least 100, but got 99; leave it out for the exact interval."),
    (
        {"resamples": 1_000_001},
        "resamples must be at most 1,000,000, but got 1000001; leave it out for the exact interval.",
    ),
    ({"resamples": 0}, "resamples must be at least 100, but got 0; leave it out for the exact interval."),
    ({"seed": -1}, "seed must be an integer from 0 to 2^64 - 1, but got -1."),
    ({"seed": 2**64}, "seed must be an integer from 0 to 2^64 - 1, but got 18446744073709551616."),
    ({"margin": 0.0}, "margin must be positive and finite, but got 0.0."),
    ({"margin": -0.1}, "margin must be positive and finite, but got -0.1."),
    ({"margin": inf}, "margin must be positive and finite, but got inf."),
    ({"margin": nan}, "margin must be positive and finite, but got nan."),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED, ids=[str(settings) for settings, _ in REFUSED])
def test_what_makes_no_sense_is_refused_with_the_rule_and_what_was_seen(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Design(**settings)
    assert str(caught.value) == message
    assert caught.value.exit_code == 2
    assert isinstance(caught.value, AssayError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_every_seed_of_64_bits_counts_and_zero_is_a_seed(seed: int) -> None:
    assert Design(seed=seed).seed == seed


def test_an_unknown_setting_is_not_swallowed() -> None:
    settings: dict[str, Any] = {"n_resamples": 100}
    with pytest.raises(TypeError, match="n_resamples"):
        Design(**settings)


def test_settings_are_named_and_cannot_be_changed() -> None:
    positional: Any = Design
    with pytest.raises(TypeError):
        positional("t")
    design: Any = Design()
    with pytest.raises(FrozenInstanceError):
        design.level = 0.9


def test_the_signature_is_the_version_what_was_estimated_and_every_part() -> None:
    major_minor = ".".join(version("assay-eval").split(".")[:2])
    line = signature("ratio", units="windows", n=180, method="bca", resamples=1200, level=0.95, seed=0, data="3fa2")
    assert line == (
        f"assay:{major_minor}|ratio|units:windows|n:180|method:bca|resamples:1200|level:0.95|seed:0|data:3fa2"
    )


def test_the_signature_leaves_out_what_is_none_but_not_what_is_zero() -> None:
    assert signature("difference", clusters=None, seed=0, n=3).endswith("|difference|seed:0|n:3")


@pytest.mark.parametrize("method", ["auto", "bca", "percentile", "t", "studentized"])
@pytest.mark.parametrize("resamples", [None, 200])
def test_a_designs_interval_is_that_of_its_settings(method: Method, resamples: int | None) -> None:
    units = Units(np.array([3.0, 1, 4, 1, 5, 9, 2, 6]), np.array([1.0, 2, 1, 2, 1, 2, 1, 2]))
    design = Design(method=method, resamples=resamples, seed=5, level=0.9)
    asked: dict[str, Any] = {"method": method, "resamples": resamples, "seed": 5}
    assert design.interval(units) == interval(units, confidence_level=0.9, **asked)
    assert design.interval(units, 0.99, own_p=True) == interval(units, confidence_level=0.99, own_p=True, **asked)
