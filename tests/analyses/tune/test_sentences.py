"""What a tuning report says: each sentence from numbers written here, so that its words are read in a test."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analyses.tune import tune
from assay.analyses.tune.advice import advice_of
from assay.analyses.tune.arms import ArmSummary, RatePoint, Sensitivity
from assay.analyses.tune.contrasts import Contrast
from assay.analyses.tune.criteria import Criterion
from assay.analyses.tune.curves import stops
from assay.analyses.tune.result import TuningReport
from assay.analyses.tune.sentences import (
    ONE_SEED,
    contrast_sentence,
    divergences,
    in_line,
    rates_sentence,
    sentence_of,
)
from assay.examples import RUNS
from assay.stats.records import Estimate, Interval
from tests.training.runs import write_run

RATIO = Estimate(1.21, Interval(1.05, 1.4, 0.95, "t"), 0.1, 3)
SEEDS = Estimate(0.19, Interval(0.05, 0.33, 0.95, "t"), 0.03, 3)
ONE = Estimate(0.19, None, None, 1, "one seed")
NONE = Estimate(None, None, None, 0, "not measured in every run")


@pytest.fixture(scope="module")
def shipped() -> TuningReport:
    return tune(*(RUNS / f"{arm}-{seed}" for arm in ("full", "lora") for seed in range(3)))


FEW = " in 16 clusters, too few to rely on unless the differences are roughly symmetric"


def said(
    report: TuningReport,
    verdict: Any = "worse",
    size: Estimate = RATIO,
    *,
    seeds: Estimate = SEEDS,
    runs: int = 3,
    windows: bool = True,
    accuracies: tuple[float, float] | None = None,
    kind: str = "perplexity",
) -> str:
    """The sentence about a contrast with these numbers; windows of one seed decide nothing here."""
    shipped, arms = report.contrasts[0], [report.arm(name) for name in ("full", "lora r=16")]
    found = msgspec.structs.replace(
        shipped,
        arm="lora",
        verdict=verdict,
        seeds=seeds,
        windows=msgspec.structs.replace(shipped.windows, ratio=None) if windows and shipped.windows else None,
        ratios={"perplexity": NONE, kind: size},
        accuracy=None if accuracies is None else "test accuracy",
    )
    scores = accuracies or (0.0, 0.0)
    first, second = (
        msgspec.structs.replace(arm, runs=arm.runs[:runs], quality={"test accuracy": Estimate(score, None, None, runs)})
        for arm, score in zip(arms, scores, strict=True)
    )
    return contrast_sentence(found, (first, second))


@pytest.mark.parametrize(
    ("verdict", "head"),
    [
        ("worse", "lora is worse than full on the validation text"),
        ("better", "lora is better than full on the validation text"),
        ("no difference shown", "No difference shown between full and lora on the validation text"),
    ],
)
def test_a_verdict_has_its_number_its_seeds_and_its_windows(shipped: TuningReport, verdict: str, head: str) -> None:
    assert said(shipped, verdict) == f"{head} (perplexity × 1.210, 95% CI 1.050 to 1.400; 3 seeds; 105 windows{FEW})."


def test_a_difference_of_losses_has_a_sign(shipped: TuningReport) -> None:
    assert "(validation loss +0.190, 95% CI +0.050 to +0.330; 3 seeds)" in said(
        shipped, kind="validation_loss", windows=False
    )


def test_one_seed_is_said_and_accuracies_stand_beside_the_loss(shipped: TuningReport) -> None:
    found = said(shipped, seeds=ONE, runs=1, accuracies=(0.5, 0.625))
    assert found.endswith(f"test accuracy 0.5 → 0.625; {ONE_SEED}; 105 windows{FEW}).")


def test_without_an_interval_it_is_said_why_nothing_can_be_said(shipped: TuningReport) -> None:
    head = "Cannot say whether full or lora is better: "
    nothing = said(shipped, "not measured", NONE, seeds=NONE, windows=False)
    assert nothing == f"{head}not every run has a validation loss."
    assert said(shipped, "not measured", ONE, seeds=ONE, runs=1, windows=False) == (
        f"{head}the runs logged no per-example validation loss, and one loss per run has no interval ({ONE_SEED})."
    )


def test_runs_that_are_not_finished_are_named_at_the_end(shipped: TuningReport) -> None:
    first, second = shipped.arm("full"), shipped.arm("lora r=16")
    cut = msgspec.structs.replace(second.runs[0], finished=False, last_step=3, max_steps=9)
    found = contrast_sentence(shipped.contrasts[0], (first, msgspec.structs.replace(second, runs=(cut,))))
    assert found.endswith(f"105 windows{FEW}); lora r=16 stopped at step 3 of 9.")


def test_learning_rates_in_a_sentence() -> None:
    points = (RatePoint(0.001, 2.0, 1, 0), RatePoint(0.01, 1.5, 1, 0), RatePoint(0.1, None, 1, 1))
    assert rates_sentence(Sensitivity("lora", points, 0.202, 0.143, 0.01, at_edge=False)) == (
        "lora: across 3 learning rates from 0.001 to 0.1, the held-out loss varies by 20.2% "
        "(standard deviation over mean, with the divisor n − 1; 14.3% with n, as np.std); 0.01 is best; "
        "diverged at 0.1."
    )
    assert rates_sentence(Sensitivity("lora", points[:1], None, None, 0.001, at_edge=True)) == (
        "lora: fewer than two learning rates have a held-out loss."
    )


def test_a_single_arm_says_how_it_went(tmp_path: Path) -> None:
    (arm,) = tune(write_run(tmp_path / "a", [3.0, 2.0, 1.5, 1.2])).arms
    assert sentence_of([arm], []) == (
        "full: final training loss 1.35, not measured at the end, overfitting not measured, gradients not measured."
    )
    assert sentence_of([arm], ["Found."]) == "Found."


def test_stops_and_divergences_name_the_run_where_there_are_several(shipped: TuningReport) -> None:
    arm = shipped.arm("full")
    first = arm.runs[0]
    cut = msgspec.structs.replace(first, finished=False, last_step=3, max_steps=None)
    assert stops("full", [cut]) == ["full stopped at step 3"]
    assert stops("full", [cut, first]) == [f"full ({cut.label}) stopped at step 3"]
    lost = msgspec.structs.replace(first, finished=False, diverged_at=1200)
    assert stops("full", [lost]) == []  # another matter
    assert divergences(msgspec.structs.replace(arm, runs=(lost,))) == [f"full diverged at step 1,200 ({lost.label})"]


def test_an_estimate_on_one_line() -> None:
    assert in_line(RATIO) == "1.210 [1.050 to 1.400]"
    assert in_line(ONE) == "0.19"
    assert in_line(NONE) == "not measured"
    assert in_line(replace(RATIO, value=-0.0001, interval=Interval(-0.2, -1e-9, 0.95, "t"))).endswith("<0]")


# -------------------------------------------------------------------------------------------------------------- advice


def primary(name: str, status: Any, value: float | None) -> Criterion:
    return Criterion(name, "primary", "lora r=16", "> 0.4", status, Estimate(value, None, None, 3), "")


def advised(shipped: TuningReport, performance: str, memory: str, saved: float | None = 0.1) -> str:
    measured = None if performance == "not measured" else 0.05
    criteria = [primary("performance_loss", performance, measured), primary("memory_reduction", memory, saved)]
    return advice_of(shipped.arms, shipped.contrasts, criteria, ())[0].text


@pytest.mark.parametrize(
    ("performance", "memory", "saved", "text"),
    [
        ("met", "met", 0.5, "Use lora r=16 instead of full: every primary criterion is met."),
        ("met", "not met", 0.1, "Use lora r=16 instead of full if what it saves is enough: memory reduction not met."),
        ("met", "not met", -0.1, "Keep full over lora r=16, or change lora r=16: memory reduction not met."),
        ("not met", "met", 0.5, "Keep full over lora r=16, or change lora r=16: performance loss not met."),
        ("met", "not measured", None, "Do not decide between full and lora r=16 yet: memory reduction not measured."),
        (
            "not measured",
            "not met",
            0.1,
            "Do not decide between full and lora r=16 yet: performance loss not measured; memory reduction not met.",
        ),
    ],
)
def test_what_to_choose_by_what_was_met(
    shipped: TuningReport, performance: str, memory: str, saved: float | None, text: str
) -> None:
    assert advised(shipped, performance, memory, saved) == text


def with_runs(shipped: TuningReport, changed: int, **fields: Any) -> ArmSummary:
    """The shipped full fine-tuning, with so many of its runs changed."""
    arm = shipped.arm("full")
    quiet = [
        msgspec.structs.replace(run, plateau=msgspec.structs.replace(run.plateau, verdict="flat")) for run in arm.runs
    ]
    runs = [msgspec.structs.replace(run, **fields) if i < changed else run for i, run in enumerate(quiet)]
    return msgspec.structs.replace(arm, runs=tuple(runs))


@pytest.mark.parametrize(
    ("changed", "share"), [(1, "1 of 3 runs shows it: "), (2, "2 of 3 runs show it: in the first, ")]
)
def test_runs_that_share_a_reason_are_counted(shipped: TuningReport, changed: int, share: str) -> None:
    (found,) = advice_of([with_runs(shipped, changed, diverged_at=40)], (), (), ())
    assert found.text == "Lower the learning rate of full or warm it up."
    assert found.because == f"{share}its loss is not finite at step 40"


def test_few_seeds_and_an_edge_of_the_rates_are_advice(tmp_path: Path) -> None:
    (arm,) = tune(write_run(tmp_path / "a", [3.0, 2.0])).arms
    edge = Sensitivity(
        "full", (RatePoint(0.1, 2.0, 1, 0), RatePoint(0.2, 1.0, 1, 0)), 0.4, 0.3, 0.2, at_edge=True, sentence=""
    )
    seeds, rates = advice_of([arm], (), (), [edge])
    assert str(seeds) == "Train full with at least 3 seeds. Because it has 1 run, too few to say how much seeds differ."
    assert str(rates) == (
        "Try learning rates above 0.2 for full. Because 0.2, the best, is at the edge of those tried (0.1 to 0.2)."
    )


def test_nothing_is_chosen_between_runs_that_did_not_finish(shipped: TuningReport) -> None:
    (contrast,) = shipped.contrasts
    cut = msgspec.structs.replace(with_runs(shipped, 1, finished=False, last_step=7), name=contrast.arm)
    found = advice_of([shipped.arm("full"), cut], [contrast], (), ())[0]
    assert isinstance(contrast, Contrast)
    assert found.text == "Do not decide between full and lora r=16 yet: not every run finished."
    assert "stopped at step 7" in found.because


# ------------------------------------------------------------------------------------- no advice contradicts another


def contradictions(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of advice on one arm that cannot both be followed."""
    pairs = (
        ("Train full longer", "Stop full earlier"),
        ("Finish full", "Stop full earlier"),
        ("Train full longer", "Lower the learning rate of full"),
        ("Try learning rates above", "Lower the learning rate of full"),
        ("Try learning rates above", "Clip the gradients of full"),
        ("Keep full over lora", "Use lora"),
    )
    return [(a, b) for a, b in pairs if any(t.startswith(a) for t in texts) and any(t.startswith(b) for t in texts)]


@given(
    plateau=st.sampled_from(["flat", "still falling", "rising", "not shown", "not measured"]),
    overfitting=st.sampled_from(["shown", "seen but not tested", "not shown", "not measured"]),
    gradients=st.sampled_from(["stable", "unstable", "not measured"]),
    diverged=st.sampled_from([None, 40]),
    finished=st.booleans(),
    changed=st.integers(1, 3),
    best=st.sampled_from([0.1, 0.2]),
)
def test_no_advice_contradicts_another(
    every_arm: TuningReport,
    *,
    plateau: Any,
    overfitting: Any,
    gradients: Any,
    diverged: int | None,
    finished: bool,
    changed: int,
    best: float,
) -> None:
    run = every_arm.arm("full").runs[0]
    fields = {
        "plateau": msgspec.structs.replace(run.plateau, verdict=plateau),
        "overfitting": msgspec.structs.replace(run.overfitting, verdict=overfitting, first_step=1),
        "gradients": msgspec.structs.replace(run.gradients, verdict=gradients),
        "diverged_at": diverged,
        "finished": finished,
    }
    arm = with_runs(every_arm, changed, **fields)
    points = (RatePoint(0.1, 2.0, 1, 0), RatePoint(0.2, 1.0, 1, 0))
    rates = Sensitivity("full", points, 0.4, 0.3, best, at_edge=True)
    assert contradictions([one.text for one in advice_of([arm], (), (), [rates])]) == []


@pytest.mark.parametrize("performance", ["met", "not met"])
@pytest.mark.parametrize("memory", ["met", "not met"])
@pytest.mark.parametrize("verdict", ["no difference shown", "undecided"])
def test_where_no_difference_is_shown_nothing_is_kept(
    shipped: TuningReport, verdict: Any, performance: str, memory: str
) -> None:
    (contrast,) = shipped.contrasts
    alike = msgspec.structs.replace(contrast, verdict=verdict)
    criteria = [primary("performance_loss", performance, 0.05), primary("memory_reduction", memory, -0.1)]
    for asked in ((), criteria):
        text = advice_of(shipped.arms, [alike], asked, ())[0].text
        assert "Keep" not in text
        if "not met" in (performance, memory) or not asked:
            assert text.startswith(("No difference ", "Do not decide", "Use lora r=16 instead of full if"))


def test_runs_that_are_the_same_are_said_not_to_differ(tmp_path: Path) -> None:
    """The same losses, times and parameters in both arms: what differs is the name."""
    about: dict[str, Any] = {"valid": {0: 3.0, 9: 1.5}, "parameters": {"total": 100, "trainable": 100}}
    runs = [
        write_run(tmp_path / f"{arm}{seed}", [3.0 - 0.1 * seed] * 9, arm=arm, seed=seed, **about)
        for arm in ("a", "b")
        for seed in range(3)
    ]
    report = tune(*runs, baseline="a")
    first = report.recommendations[0]
    assert first.text == "Nothing that was measured is shown to differ between a and b: neither is to be preferred."
    assert report.contrasts[0].verdict == "no difference shown"
    assert "Keep" not in str(report)


@pytest.mark.parametrize(
    ("verdict", "head"),
    [
        ("better", "Use lora r=16 instead of full."),
        ("worse", "Keep full over lora r=16, or change lora r=16."),
        ("undecided", "Do not decide between full and lora r=16 yet: there are too few windows"),
        ("not measured", "Do not decide between full and lora r=16 yet: no validation loss with an interval"),
        ("no difference shown", "No difference in quality is shown between full and lora r=16: choose by what they"),
    ],
)
def test_without_targets_quality_decides(shipped: TuningReport, verdict: Any, head: str) -> None:
    found = advice_of(shipped.arms, [msgspec.structs.replace(shipped.contrasts[0], verdict=verdict)], (), ())[0]
    assert found.text.startswith(head)
    assert "parameters × 0.1504" in found.because


def test_savings_alone_do_not_make_up_for_a_performance_that_nobody_asked_about(shipped: TuningReport) -> None:
    saved = [primary("parameter_reduction", "met", 0.9)]
    texts = {
        verdict: advice_of(shipped.arms, [msgspec.structs.replace(shipped.contrasts[0], verdict=verdict)], saved, ())[
            0
        ].text
        for verdict in ("better", "worse", "no difference shown", "not measured")
    }
    assert texts["better"] == "Use lora r=16 instead of full: every primary criterion is met."
    assert texts["no difference shown"].startswith("No difference in quality is shown between full and lora r=16, and")
    assert texts["not measured"] == "Do not decide between full and lora r=16 yet: performance not measured."
    assert texts["worse"].startswith("lora r=16 is worse than full")
