"""The bound decides: the gates that others got wrong, and the number of windows that would settle an open case."""

from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.certificate import certify
from assay.certificate.build import computed_facts
from assay.certificate.rules import decide, rules_of, union_of, windows_of
from assay.data import read_table
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.stats.bootstrap import interval
from assay.stats.units import Units
from tests.certificate.samples import Columns, losses, scores


def test_a_point_below_the_limit_with_an_interval_across_it_is_insufficient_evidence() -> None:
    found = decide(1.09, 0.94, 1.30, 1.10, 180)
    assert (found.verdict, found.limit, found.bound) == ("insufficient evidence", 1.10, 1.30)


def test_a_ratio_of_109_with_a_wide_interval_is_insufficient_evidence_from_windows_on(tmp_path: Path) -> None:
    n = 90
    quantiles = np.linspace(-2, 2, n)
    deltas = log(1.09) + 0.7 * (quantiles - quantiles.mean())
    base = losses(n) | {"tokens": [100.0] * (2 * n), "loss": [5.0] * (2 * n)}
    after = base | {"loss": [5.0] * n + (5 + deltas).tolist()}
    found = certify(base, after, tmp_path / "c.json").to_dict()
    low, high = found["primary_metric"]["display_ci"]
    assert found["primary_metric"]["ratio_vs_baseline"] == pytest.approx(1.09)
    assert 0.9 < low < 1.0
    assert 1.2 < high < 1.4
    assert found["decision"]["verdict"] == "insufficient evidence"
    assert found["decision"]["windows_needed"] > 10_000


def test_an_accuracy_that_falls_from_90_to_40_percent_is_a_regression(tmp_path: Path) -> None:
    found = certify(scores(180, 200), scores(80, 200), tmp_path / "c.json")
    assert (found.verdict, found.passed) == ("regression", False)
    assert found.to_dict()["primary_metric"]["difference_vs_baseline"] == pytest.approx(-0.5)


def test_an_error_rate_that_rises_is_a_regression_where_lower_is_better(tmp_path: Path) -> None:
    worse = certify(scores(20, 200), scores(120, 200), tmp_path / "a.json", lower_is_better=True)
    better = certify(scores(120, 200), scores(20, 200), tmp_path / "b.json", lower_is_better=True)
    assert (worse.verdict, better.verdict) == ("regression", "pass")
    assert worse.to_dict()["decision"]["bound"] == worse.to_dict()["primary_metric"]["ci"][0]


@pytest.mark.parametrize(("shift", "verdict"), [(0.05, "pass"), (-0.2, "pass"), (0.0, "pass"), (0.12, "regression")])
@pytest.mark.parametrize("size", [1.0, 1e-3])
def test_equal_differences_give_a_collapsed_interval_and_a_gate_that_works(
    shift: float, size: float, verdict: str, tmp_path: Path
) -> None:
    base = losses(40)
    policy = Policy(max_ratio=exp(0.1 * size), note="scaled")
    after = base | {"loss": [loss + shift * size for loss in base["loss"]]}
    found = certify(base, after, tmp_path / "c.json", policy=policy).to_dict()
    metric, summary = found["primary_metric"], found["ppl"]["stats"]["paired_delta_summary"]
    assert (summary["degenerate"], summary["std"]) == (True, 0.0)
    assert metric["ci"] == [metric["difference_vs_baseline"]] * 2
    assert metric["difference_vs_baseline"] == pytest.approx(shift * size, abs=1e-15)
    assert found["decision"]["verdict"] == verdict


def test_one_cluster_decides_nothing(tmp_path: Path) -> None:
    documents: Columns = {"document": ["the only one"] * 60}
    first, second = losses(30) | documents, losses(30, 2) | documents
    with pytest.raises(InputError, match="all 30 windows are in one cluster"):
        certify(first, second, tmp_path / "c.json", cluster="document")
    tables = [read_table(one, name=name, cluster="document") for one, name in ((first, "A"), (second, "B"))]
    windows = windows_of(union_of(*tables, cluster="document", lower_is_better=None))
    found = computed_facts(windows, Policy(), rules_of(windows, Policy()))  # as certificates of before have it
    assert found["primary_metric"].standard_error is None
    assert (found["decision"].verdict, found["decision"].windows_needed) == ("insufficient evidence", None)


def test_the_limit_itself_passes_and_the_next_number_does_not() -> None:
    assert decide(1.0, 0.9, 1.1, 1.1, 10).verdict == "pass"
    assert decide(1.0, 0.9, np.nextafter(1.1, 2), 1.1, 10).verdict == "insufficient evidence"
    assert decide(1.2, 1.1, 1.3, 1.1, 10).verdict == "insufficient evidence"
    assert decide(1.2, np.nextafter(1.1, 2), 1.3, 1.1, 10).verdict == "regression"


finite = st.floats(-1e6, 1e6)


@given(finite, st.floats(0, 1e3), st.floats(0, 1e3), finite, st.integers(1, 10**6))
def test_the_verdict_is_where_the_interval_lies(mean: float, below: float, above: float, limit: float, n: int) -> None:
    low, high = mean - below, mean + above
    found = decide(mean, low, high, limit, n)
    expected = "pass" if high <= limit else "regression" if low > limit else "insufficient evidence"
    assert found.verdict == expected
    assert (found.needed is None) or (expected == "insufficient evidence" and found.needed > n)


@given(st.floats(0.001, 0.09), st.floats(0.001, 0.09), st.integers(10, 1000))
def test_more_windows_are_needed_the_nearer_the_estimate_is_to_the_limit(a: float, b: float, n: int) -> None:
    near, far = sorted((a, b))
    needed = [decide(1.1 - gap, 0.9, 1.1 - gap + 0.1, 1.1, n).needed for gap in (near, far)]
    assert needed[0] is not None
    assert needed[1] is not None
    assert needed[0] >= needed[1]


def test_so_many_windows_settle_it_about_half_of_the_time_by_simulation() -> None:
    rng = np.random.default_rng(3)
    windows = rng.normal(0.05, 0.5, 100)  # an estimate below the limit, an interval across it
    found = interval(Units(windows, np.ones(100)), method="t").interval
    decided = decide(exp(windows.mean()), exp(found.low), exp(found.high), 1.10, 100)
    assert decided.needed is not None
    wanted = "pass" if exp(windows.mean()) <= 1.10 else "regression"

    def settled() -> bool:
        drawn = Units(rng.choice(windows, decided.needed or 0), np.ones(decided.needed or 0))
        limits = interval(drawn, method="t").interval
        return decide(exp(drawn.estimate), exp(limits.low), exp(limits.high), 1.10, drawn.n).verdict == wanted

    assert np.mean([settled() for _ in range(300)]) > 0.4


def test_a_lower_level_weakens_every_gate_and_needs_a_note() -> None:
    with pytest.raises(UsageError, match="level of the tier balanced changed: say why with `note=TEXT`"):
        Policy(level=0.5).complete()
    assert Policy(level=0.5, note="a trial").complete().level == 0.5
    assert Policy(level=0.99).complete().level == 0.99
