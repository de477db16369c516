"""Targets and criteria: met by the worse limit, and said why where not."""

from pathlib import Path

import msgspec
import pytest

from assay.analyses.tune import tune
from assay.analyses.tune.criteria import Criterion, Targets, criteria_of, grade_of, read_targets, targets_of
from assay.analyses.tune.result import TuningReport
from assay.errors import InputError
from assay.stats.records import Estimate, Interval
from tests.analyses.tune.shipped import FULL
from tests.training.runs import write_run


def test_a_target_that_the_value_meets_and_the_interval_does_not_is_not_met(shipped: TuningReport) -> None:
    found = shipped.arm("full").quality["perplexity"]
    assert found.value is not None
    assert found.interval is not None
    between = (found.value + found.interval.high) / 2
    for limit, status in ((between, "not met"), (found.interval.high + 1, "met"), (found.interval.low, "not met")):
        report = tune(*FULL, targets=Targets(perplexity=limit))
        assert report.criteria[0].status == status
    assert "not shown" in tune(*FULL, targets=Targets(perplexity=between)).criteria[0].why


def test_grades_of_perplexity() -> None:
    assert [grade_of(x) for x in (9.9, 10, 11.9, 12, 14.9, 15)] == [
        "excellent",
        "good",
        "good",
        "acceptable",
        "acceptable",
        "poor",
    ]


def test_targets_are_read_from_json_and_toml_and_unknown_ones_refused(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"perplexity": 12}')
    (tmp_path / "t.toml").write_text("memory_reduction = 0.3\n")
    assert read_targets(tmp_path / "t.json").perplexity == 12
    assert read_targets(tmp_path / "t.toml").memory_reduction == 0.3
    for text, said in (('{"perplexty": 1}', "did you mean 'perplexity'"), ('{"kanji": "x"}', "number"), ("[", "read")):
        (tmp_path / "t.json").write_text(text)
        with pytest.raises(InputError, match=said):
            read_targets(tmp_path / "t.json")


def found(report: TuningReport, name: str, **ratios: Estimate) -> Criterion:
    """A criterion of the shipped runs, with other ratios."""
    (contrast,) = report.contrasts
    changed = msgspec.structs.replace(contrast, ratios=contrast.ratios | ratios)
    return next(c for c in criteria_of(report.arms, (changed,), Targets()) if c.name == name and c.arm == changed.arm)


def ratio(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, Interval(low, high, 0.95, "t"), 0.1, 3)


@pytest.mark.parametrize(
    ("perplexity", "status", "why"),
    [
        (ratio(1.05, 1.02, 1.08), "met", ""),
        (ratio(1.05, 0.9, 1.2), "not met", "the value meets it, the interval does not: not shown"),
        (ratio(1.3, 1.2, 1.4), "not met", ""),
        (Estimate(1.05, None, None, 1, "one seed"), "met", "one seed"),
        (Estimate(None, None, None, 0, "no losses"), "not measured", "no losses"),
    ],
)
def test_a_performance_loss_is_the_ratio_less_one(
    shipped: TuningReport, perplexity: Estimate, status: str, why: str
) -> None:
    criterion = found(shipped, "performance_loss", perplexity=perplexity)
    assert (criterion.status, criterion.why, criterion.wanted) == (status, why, "< 0.1")
    if perplexity.value is not None:
        assert criterion.estimate.value == pytest.approx(perplexity.value - 1)


def test_a_reduction_is_one_less_the_ratio_and_its_limits_change_places(shipped: TuningReport) -> None:
    criterion = found(shipped, "memory_reduction", memory=ratio(0.5, 0.45, 0.55))
    limits = criterion.estimate.interval
    assert limits is not None
    assert (criterion.estimate.value, limits.low, limits.high) == pytest.approx((0.5, 0.45, 0.55))
    assert criterion.status == "met"
    assert found(shipped, "memory_reduction", memory=ratio(0.58, 0.5, 0.66)).status == "not met"


def test_performance_without_perplexity_is_judged_by_accuracy_or_by_the_loss(shipped: TuningReport) -> None:
    none = Estimate(None, None, None, 0, "no language model")
    by_loss = found(shipped, "performance_loss", perplexity=none, validation_loss=ratio(1.02, 1.01, 1.03))
    assert (by_loss.status, by_loss.why) == ("met", "by the validation loss")
    (contrast,) = shipped.contrasts
    judged = msgspec.structs.replace(
        contrast,
        accuracy="test accuracy",
        ratios=contrast.ratios | {"perplexity": none, "accuracy": ratio(0.8, 0.75, 0.85)},
    )
    criteria = criteria_of(shipped.arms, (judged,), Targets())
    criterion = next(c for c in criteria if c.name == "performance_loss")
    assert (criterion.status, criterion.why) == ("not met", "by test accuracy")
    assert criterion.estimate.value == pytest.approx(0.2)


def test_convergence_names_each_fault_once(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"{i}", [3.0, "nan"], arm="lora", seed=i) for i in range(2)]
    base = [write_run(tmp_path / f"b{i}", [3.0, 2.0], seed=i) for i in range(2)]
    criteria = tune(*runs, *base).criteria
    stable = next(c for c in criteria if c.name == "stable_convergence" and c.arm == "lora")
    assert (stable.status, stable.why, stable.estimate.value) == ("not met", "diverged at step 2", 0)


def test_without_gradient_norms_convergence_is_not_measured(tmp_path: Path) -> None:
    report = tune(write_run(tmp_path / "a", [3.0] * 9), write_run(tmp_path / "b", [3.0] * 9, arm="lora"))
    stable = next(c for c in report.criteria if c.name == "stable_convergence")
    assert (stable.status, stable.why) == ("not measured", "no gradient norms in the log")


def test_targets_that_are_no_names_with_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="targets must be names with numbers"):
        targets_of([1], "t.json")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must be a number, but got True"):
        targets_of({"kanji": True}, "t.json")
    with pytest.raises(InputError, match="unknown target 'zzz'; the names are perplexity"):
        targets_of({"zzz": 1}, "t.json")
    (tmp_path / "t.toml").write_text("kanji = = 1")
    with pytest.raises(InputError, match="cannot be read"):
        read_targets(tmp_path / "t.toml")
