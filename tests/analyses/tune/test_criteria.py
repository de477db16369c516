"""Targets and criteria: met by the worse limit, and said why where not."""

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.analyses.tune import tune
from assay.analyses.tune.criteria import Criterion, criteria_of
from assay.analyses.tune.result import TuningReport
from assay.analyses.tune.targets import (
    JAPANESE,
    Targets,
    grade_of,
    read_targets,
    targets_from,
    targets_of,
    targets_schema,
)
from assay.errors import InputError, UsageError
from assay.stats.records import Estimate, Interval
from tests.analyses.tune.shipped import FULL, LORA
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
    assert JAPANESE.grades is not None
    assert [grade_of(x, JAPANESE.grades) for x in (9.9, 10, 11.9, 12, 14.9, 15)] == [
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
    return next(c for c in criteria_of(report.arms, (changed,), JAPANESE) if c.name == name and c.arm == changed.arm)


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
    criteria = criteria_of(shipped.arms, (judged,), JAPANESE)
    criterion = next(c for c in criteria if c.name == "performance_loss")
    assert (criterion.status, criterion.why) == ("not met", "by test accuracy")
    assert criterion.estimate.value == pytest.approx(0.2)


def test_convergence_names_each_fault_once(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"{i}", [3.0, "nan"], arm="lora", seed=i) for i in range(2)]
    base = [write_run(tmp_path / f"b{i}", [3.0, 2.0], seed=i) for i in range(2)]
    criteria = tune(*runs, *base, targets="japanese").criteria
    stable = next(c for c in criteria if c.name == "stable_convergence" and c.arm == "lora")
    assert (stable.status, stable.why, stable.estimate.value) == ("not met", "diverged at step 2", 0)


def test_without_gradient_norms_convergence_is_not_measured(tmp_path: Path) -> None:
    report = tune(
        write_run(tmp_path / "a", [3.0] * 9), write_run(tmp_path / "b", [3.0] * 9, arm="lora"), targets="japanese"
    )
    stable = next(c for c in report.criteria if c.name == "stable_convergence")
    assert (stable.status, stable.why) == ("not measured", "no gradient norms in the log")


def test_targets_that_are_no_names_with_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="targets must be names with limits"):
        targets_of([1], "t.json")
    with pytest.raises(InputError, match="must be a number, but got 'True'"):
        targets_of({"kanji": True}, "t.json")
    with pytest.raises(InputError, match="unknown target 'zzz'; the names are perplexity"):
        targets_of({"zzz": 1}, "t.json")
    (tmp_path / "t.toml").write_text("kanji = = 1")
    with pytest.raises(InputError, match="cannot be read"):
        read_targets(tmp_path / "t.toml")


# -------------------------------------------------------------------------------------------------------- only if asked


def test_nothing_is_judged_that_was_not_asked() -> None:
    assert tune(*FULL).criteria == ()
    assert tune(*FULL).targets is None
    only = tune(*FULL, *LORA, targets=Targets(memory_reduction=0.1)).criteria
    assert [(c.name, c.arm, c.wanted) for c in only] == [("memory_reduction", "lora r=16", "> 0.1")]


def test_the_japanese_targets_are_those_of_the_source(shipped: TuningReport) -> None:
    """Source 002, §1.1 (below 12), §7.1 and §7.2."""
    wanted = {c.name: c.wanted for c in shipped.criteria if c.arm == "lora r=16"}
    assert wanted == {
        "perplexity": "< 12",
        "character_accuracy": "> 0.85",
        "hiragana": "> 0.9",
        "katakana": "> 0.88",
        "kanji": "> 0.8",
        "trainable_share": "< 0.01",
        "performance_loss": "< 0.1",
        "parameter_reduction": "> 0.99",
        "memory_reduction": "> 0.4",
        "time_reduction": "> 0.2",
        "stable_convergence": "every run",
        "fluency_loss": "< 0.1",
    }
    full = next(c for c in shipped.criteria if c.name == "perplexity" and c.arm == "full")
    assert (full.status, full.why) == ("not met", "good; the value meets it, the interval does not: not shown")


def _run(folder: Path, scores: dict[str, float], arm: str = "full") -> Path:
    run = write_run(folder, [3.0, 2.0], arm=arm, valid={2: 2.0})
    event = json.dumps({"kind": "quality", "step": 2, **scores})
    with (run / "events.jsonl").open("a") as file:
        file.write(event + "\n")
    return run


def test_japanese_rows_are_for_japanese_text_only(tmp_path: Path) -> None:
    english = _run(tmp_path / "en", {"character_accuracy": 0.9, "other": 0.9})
    chinese = _run(tmp_path / "zh", {"character_accuracy": 0.9, "kanji": 0.9, "other": 0.9}, "zh")
    japanese = _run(tmp_path / "ja", {"character_accuracy": 0.9, "hiragana": 0.9, "kanji": 0.7, "other": 0.9})
    for run in (english, chinese):
        report = tune(run, targets="japanese")
        assert report.japanese_specific == {}
        assert set(report.arms[0].quality) >= {"character_accuracy"}
        assert not set(report.arms[0].quality) & {"hiragana", "kanji", "other"}
        assert [c.name for c in report.criteria] == ["perplexity"]
        assert any("these targets are not judged: character accuracy, hiragana" in note for note in report.notes)
        assert "Japanese-specific metrics" not in [section.title for section in report.sections]
    report = tune(japanese, targets="japanese")
    assert list(report.japanese_specific["full"]) == ["character_accuracy", "hiragana", "kanji", "other"]
    assert {c.name: c.status for c in report.criteria}["kanji"] == "not met"


def test_an_accuracy_of_characters_alone_is_judged_on_any_text(tmp_path: Path) -> None:
    run = _run(tmp_path / "en", {"character_accuracy": 0.9, "other": 0.9})
    (criterion,) = tune(run, targets=Targets(character_accuracy=0.85)).criteria
    assert criterion.status == "met"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "targets must be names with limits"),
        ('{"kanji": 80}', "'kanji' must be from 0 to 1, but got 80 (40% is 0.4)"),
        ('{"perplexity": 0}', "'perplexity' must be above 0, but got 0"),
        ('{"perplexity": 1e999}', "1e999 is not a finite number"),
        ('{"perplexity": 1' + "0" * 400 + "}", "401 digits"),
        ('{"stable_convergence": false}', "'stable_convergence' must be true, or left out"),
        ('{"grades": {"good": 12, "fair": 10}}', "'grades' must be names with rising perplexities"),
        ('{"grades": [1]}', "'grades' must be names with rising perplexities"),
    ],
)
def test_what_is_wrong_with_a_target_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(InputError, match=re.escape(said)) as error:
        read_targets(tmp_path / "t.json")
    assert str(error.value).startswith(f"{tmp_path / 't.json'}: ") or "cannot be read" in str(error.value)


def test_targets_made_in_python_are_checked_and_names_are_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'kanji' must be from 0 to 1"):
        Targets(kanji=80)
    with pytest.raises(InputError, match="no such file, and no targets of that name"):
        targets_from("japanes")
    assert targets_from("japanese") is JAPANESE
    (tmp_path / "t.toml").write_text("perplexity = 20\n[grades]\nfine = 25\n")
    found = targets_from(tmp_path / "t.toml")
    assert found == Targets(perplexity=20.0, grades={"fine": 25.0})
    assert tune(*FULL, targets=found).criteria[0].why == "fine"


def test_the_published_schema_accepts_what_is_read_and_refuses_what_is_not(tmp_path: Path) -> None:
    """The oracle is jsonschema's reading of the schema."""
    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft202012Validator(targets_schema())
    good = {name: value for name, value in asdict(JAPANESE).items() if value is not None}
    assert check.is_valid(good)
    assert targets_of(good, "t") == JAPANESE
    wrong: list[dict[str, Any]] = [{}, {"kanji": 80}, {"perplexity": 0}, {"zzz": 1}, {"kanji": "x"}, {"grades": {}}]
    for bad in wrong:
        assert not check.is_valid(bad)
        with pytest.raises(InputError):
            targets_of(bad, "t")
