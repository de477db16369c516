"""Preview→final drift against Welch's test, and its false alarms on random splits of one unedited model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_ind

from assay.certificate.rules import drift
from assay.data import Panel
from assay.design import Policy
from tests.certificate.issuing import certify_alone as certify
from tests.certificate.samples import example, losses

Array = np.ndarray[Any, np.dtype[np.float64]]


def panel(values: Array, tokens: Array) -> Panel:
    return Panel.from_arrays(values * tokens, tokens)


@pytest.mark.parametrize(("before", "after"), [(180, 180), (40, 90), (2, 3)])
def test_equal_tokens_against_scipys_welch_test(before: int, after: int) -> None:
    rng = np.random.default_rng(before)
    first, second = rng.normal(3, 1, before), rng.normal(3.3, 0.6, after)
    found = drift(panel(first, np.full(before, 64.0)), panel(second, np.full(after, 64.0)), 0)
    expected = ttest_ind(second, first, equal_var=False)
    assert found is not None
    assert found.log_ratio == pytest.approx(second.mean() - first.mean())
    assert found.log_ratio / found.standard_error == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6)
    for level in (0.9, 0.95):
        limits = expected.confidence_interval(level)
        assert found.limits(level) == pytest.approx((limits.low, limits.high), rel=1e-6)
        assert (limits.low <= 0 <= limits.high) == (found.p_value >= 1 - level)


def test_clusters_count_as_one_unit_each() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(3, 1, 8), rng.normal(3, 1, 8)
    clusters = np.repeat(np.arange(8), 5)
    tokens = np.full(40, 10.0)
    panels = [Panel.from_arrays(np.repeat(v, 5) * tokens, tokens, clusters=clusters) for v in (first, second)]
    found = drift(panels[0], panels[1], 0)
    assert found is not None
    assert found.p_value == pytest.approx(ttest_ind(second, first, equal_var=False).pvalue, rel=1e-6)


def test_false_alarms_on_random_splits_of_one_model(record_property: Any) -> None:
    """The requirement is 5% at most; a band of ±5% around 1, as a peer has it, raises many times more."""
    table = example("losses-base.csv")
    values, tokens = np.array(table["loss"]), np.array(table["tokens"])
    rng, splits = np.random.default_rng(2024), 2_000
    alarms, outside = 0, 0
    for _ in range(splits):
        order = rng.permutation(len(values))
        before, after = order[:180], order[180:]
        found = drift(panel(values[before], tokens[before]), panel(values[after], tokens[after]), 0)
        assert found is not None
        alarms += found.alarm
        outside += not 0.95 <= np.exp(found.log_ratio) <= 1.05
    record_property("false alarms", alarms / splits)
    record_property("outside the fixed band", outside / splits)
    assert alarms / splits <= 0.05
    assert outside / splits > 5 * alarms / splits


def test_a_real_drift_raises_an_alarm(tmp_path: Path) -> None:
    base = losses(100)
    drifted = base | {"loss": [loss + (0.5 if i >= 100 else 0.0) for i, loss in enumerate(base["loss"])]}
    found = certify(drifted, drifted, tmp_path / "c.json").to_dict()
    assert found["drift"]["alarm"] is True
    assert found["drift"]["ratio"] == pytest.approx(np.exp(found["drift"]["log_ratio"]), rel=1e-11)
    assert found["drift"]["ratio"] == pytest.approx(
        found["primary_metric"]["final"] / found["primary_metric"]["preview"], rel=1e-10
    )
    assert found["decision"]["verdict"] == "pass"  # drift is reported; the ratio decides


def test_the_interval_is_at_the_level_of_the_policy_and_shown_beside_the_ratio(tmp_path: Path) -> None:
    base = losses(100)
    issued = certify(base, base, tmp_path / "c.json", policy=Policy(level=0.99))
    found = issued.drift
    assert found is not None
    assert found.ci is not None
    values, tokens = np.array(base["loss"]), np.array(base["tokens"])
    expected = drift(panel(values[:100], tokens[:100]), panel(values[100:], tokens[100:]), 0)
    assert expected is not None
    assert found.ci == pytest.approx(expected.limits(0.99), rel=1e-11)
    assert found.display_ci == pytest.approx(np.exp(found.ci), rel=1e-11)
    shown = {fact.label: fact for fact in issued.facts}["preview → final drift"]
    assert shown.text == "× 0.999  [0.885 to 1.127], p = 0.97: within sampling noise"


def test_a_drift_that_the_interval_shows_and_no_alarm_is_raised_for_is_not_called_noise(tmp_path: Path) -> None:
    base = losses(100)
    drifted = base | {"loss": [loss + (0.108 if i >= 100 else 0.0) for i, loss in enumerate(base["loss"])]}
    issued = certify(drifted, drifted, tmp_path / "c.json")
    assert issued.drift is not None
    assert 0.01 < issued.drift.p_value < 0.05
    assert issued.drift.display_ci is not None
    assert issued.drift.display_ci[0] > 1
    shown = {fact.label: fact.text for fact in issued.facts}["preview → final drift"]
    assert shown.endswith("hardly sampling noise, but no alarm (p ≥ 0.01)")


def test_limits_beyond_every_number_are_null(tmp_path: Path) -> None:
    columns = losses(2) | {"loss": [1.0, 300.0, 1.0, 320.0]}
    found = certify(columns, columns, tmp_path / "c.json").drift
    assert found is not None
    assert found.ci is not None
    assert found.display_ci is None


def test_no_spread_has_no_drift_to_judge() -> None:
    flat, tokens = np.full(10, 2.0), np.full(10, 5.0)
    assert drift(panel(flat, tokens), panel(flat, tokens), 0) is None
    assert drift(panel(flat[:1], tokens[:1]), panel(flat, tokens), 0) is None
