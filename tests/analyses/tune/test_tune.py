"""Reports on training runs: the shipped ones, and small ones whose answer is known."""

import json
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from assay.analyses.tune import tune
from assay.analyses.tune.criteria import grade_of, read_targets
from assay.analyses.tune.records import Targets
from assay.analyses.tune.result import TuningReport
from assay.data import read_table
from assay.errors import InputError, UsageError
from assay.examples.tuning import RUNS
from assay.stats.units import Floats
from tests.training.runs import write_run

ARMS = ("lora", "lora-embeddings", "full")
LORA, EMBEDDINGS, FULL = ([RUNS / f"{arm}-{seed}" for seed in range(3)] for arm in ARMS)


@pytest.fixture(scope="module")
def shipped() -> TuningReport:
    return tune(*LORA, *FULL, RUNS / "lora-rates", RUNS / "full-rates")


@pytest.fixture(scope="module")
def every_arm() -> TuningReport:
    return tune(*LORA, *EMBEDDINGS, *FULL, *(RUNS / f"{arm}-rates" for arm in ARMS))


def losses(run: Path) -> tuple[Floats, Floats]:
    table = read_table(run / "windows")
    order = np.argsort(table.ids.astype(str))
    return table.numbers["loss"][order], table.numbers["tokens"][order]


def test_plain_data_and_back(shipped: TuningReport) -> None:
    assert TuningReport.from_dict(json.loads(json.dumps(shipped.to_dict(), allow_nan=False))) == shipped
    with pytest.raises(InputError, match="not a tuning result"):
        TuningReport.from_dict({"schema": "x"})


def test_the_perplexity_of_an_arm_is_token_weighted_over_windows_and_a_mean_over_seeds(shipped: TuningReport) -> None:
    means = [float((loss * tokens).sum() / tokens.sum()) for loss, tokens in map(losses, FULL)]
    assert shipped.arm("full").quality["validation_loss"].value == pytest.approx(np.mean(means))
    assert shipped.arm("full").quality["perplexity"].value == pytest.approx(exp(np.mean(means)))


def test_seeds_in_pairs_against_scipy(shipped: TuningReport) -> None:
    a, b = ([float((x * t).sum() / t.sum()) for x, t in map(losses, arm)] for arm in (FULL, LORA))
    (contrast,) = shipped.contrasts
    wanted = stats.ttest_rel(b, a)
    limits = wanted.confidence_interval(0.95)
    assert (contrast.baseline, contrast.paired_seeds, contrast.verdict) == ("full", True, "worse")
    assert contrast.seeds.interval is not None
    assert contrast.seeds_test.p_value == pytest.approx(wanted.pvalue)
    assert (contrast.seeds.interval.low, contrast.seeds.interval.high) == pytest.approx((limits.low, limits.high))


def test_windows_are_means_over_seeds_and_clustered_by_document(shipped: TuningReport) -> None:
    found = shipped.contrasts[0].windows
    a, b = (np.mean([losses(run)[0] for run in arm], axis=0) for arm in (FULL, LORA))
    tokens = losses(FULL[0])[1]
    assert found is not None
    assert found.difference.value == pytest.approx(float(((b - a) * tokens).sum() / tokens.sum()))
    assert (found.n_pairs, found.n_clusters, found.cluster_by) == (105, 16, "document")


def test_the_sources_formulas_against_scipy(shipped: TuningReport) -> None:
    found, a, b = shipped.contrasts[0].recipe, losses(FULL[0])[0], losses(LORA[0])[0]
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.t == pytest.approx(stats.ttest_rel(b, a).statistic)
    # the lines of the source, with its np.var and stats.norm.interval
    assert found.cohens_d == pytest.approx((np.mean(b) - np.mean(a)) / np.sqrt((np.var(b) + np.var(a)) / 2))
    wanted = stats.norm.interval(0.95, loc=np.mean(b) - np.mean(a), scale=np.sqrt(np.var(b) + np.var(a)))
    assert (found.low, found.high) == pytest.approx(wanted)
    # C5: its interval is about √n times too wide for a mean
    paired = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert (found.high - found.low) / (paired.high - paired.low) > 5


def test_sensitivity_is_standard_deviation_over_mean(shipped: TuningReport) -> None:
    found = shipped.sensitivity[0]
    runs = sorted((RUNS / "lora-rates").iterdir(), key=lambda run: float(run.name.removeprefix("lr-")))
    means = [last_validation(run)["loss"] for run in runs]
    assert [point.loss for point in found.points] == pytest.approx(means)
    assert found.variation == pytest.approx(np.std(means, ddof=1) / np.mean(means))
    assert found.best == found.points[int(np.argmin(means))].rate


def last_validation(run: Path) -> dict[str, Any]:
    lines = (run / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return [event for event in events if event["kind"] == "validation"][-1]


@pytest.mark.parametrize("arm", ARMS)
def test_the_shipped_rates_were_chosen_on_text_and_seeds_of_their_own(every_arm: TuningReport, arm: str) -> None:
    rates = sorted((RUNS / f"{arm}-rates").iterdir())
    best = min(rates, key=lambda run: last_validation(run)["loss"])
    finals = [RUNS / f"{arm}-{seed}" for seed in range(3)]
    about = {run: json.loads((run / "training.json").read_text()) for run in (*rates, *finals)}
    assert {about[run]["learning_rate"] for run in finals} == {about[best]["learning_rate"]}
    for name in ("training", "max_steps", "rows_per_step", "context", "tokenizer", "base"):
        assert len({json.dumps(one[name]) for one in about.values()}) == 1
    for name in ("validation", "seed"):
        assert not {about[run][name] for run in rates} & {about[run][name] for run in finals}
    assert not any("tried on the validation text" in note for note in every_arm.notes)


def test_all_arms_were_given_the_same_rates(every_arm: TuningReport) -> None:
    tried = [[point.rate for point in one.points] for one in every_arm.sensitivity]
    assert tried[0] == tried[1] == tried[2]
    assert not any(one.at_edge for one in every_arm.sensitivity)


def test_every_arm_is_compared_with_the_one_that_trains_everything(
    every_arm: TuningReport, shipped: TuningReport
) -> None:
    assert [one.name for one in every_arm.arms] == ["lora r=16", "lora r=16 + embeddings", "full"]
    assert {(one.arm, one.baseline) for one in every_arm.contrasts} == {
        ("lora r=16", "full"),
        ("lora r=16 + embeddings", "full"),
    }
    (alone,) = shipped.contrasts
    assert next(one for one in every_arm.contrasts if one.arm == "lora r=16").seeds == alone.seeds


def test_the_parameters_of_the_shipped_arms_in_closed_form(every_arm: TuningReport) -> None:
    width, keys, hidden, layers, tokens, rank = 128, 64, 320, 4, 2048, 16  # of the recipe in assay.models
    added = layers * rank * (2 * (width + width) + 2 * (width + keys) + 3 * (width + hidden))
    base, table = 952_960, tokens * width
    assert [(arm.total, arm.trainable) for arm in every_arm.arms] == [
        (base + added, added),
        (base + added + table, added + table),
        (base, base),
    ]


def test_lora_learns_a_new_language_with_embeddings_and_hardly_without(every_arm: TuningReport) -> None:
    """What the page says of the experiment; the losses are those of the windows."""
    lora, embeddings, full = (
        [float((x * t).sum() / t.sum()) for x, t in map(losses, arm)] for arm in (LORA, EMBEDDINGS, FULL)
    )
    assert min(lora) > max(embeddings) > min(embeddings)
    assert min(lora) > max(full)
    assert stats.ttest_rel(lora, embeddings).pvalue < 0.05
    assert every_arm.arm("lora r=16 + embeddings").quality["validation_loss"].value == pytest.approx(
        np.mean(embeddings)
    )


def test_rates_that_were_tried_on_the_validation_text_are_noted(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / f"r{rate}", [2.0, 1.0], validation="x", sweep=True, learning_rate=rate) for rate in (1, 2)
    ]
    found = tune(*runs, write_run(tmp_path / "a", [2.0, 1.0], validation="x"))
    assert any("tried on the validation text itself" in note for note in found.notes)
    apart = tune(*runs, write_run(tmp_path / "b", [2.0, 1.0], validation="y"))
    assert not any("tried on the validation text" in note for note in apart.notes)


def test_the_perplexity_of_the_source_is_shown_where_it_differs(shipped: TuningReport) -> None:
    means = [last_validation(run)["source_loss"] for run in FULL]
    found = shipped.arm("full").quality
    assert found["perplexity_by_batch_length"].value == pytest.approx(exp(np.mean(means)))
    assert found["perplexity_by_batch_length"].value != found["perplexity"].value


def test_swapping_the_baseline_inverts_the_ratio(shipped: TuningReport) -> None:
    other = tune(*LORA, *FULL, baseline="lora r=16").contrasts[0]
    mine = shipped.contrasts[0]
    assert (mine.verdict, other.verdict) == ("worse", "better")
    assert mine.ratios["perplexity"].value == pytest.approx(1 / (other.ratios["perplexity"].value or 0))


def test_one_seed_says_what_it_cannot_show() -> None:
    report = tune(LORA[0], FULL[0])
    (contrast,) = report.contrasts
    assert (contrast.seeds.interval, contrast.seeds_test.p_value) == (None, None)
    assert "one seed" in contrast.sentence
    assert any("at least 3 seeds" in one.text for one in report.recommendations)


def test_every_criterion_has_a_status_and_every_recommendation_a_number(shipped: TuningReport) -> None:
    assert {c.status for c in shipped.criteria} <= {"met", "not met", "not measured"}
    assert all(any(sign.isdigit() for sign in one.because) for one in shipped.recommendations)
    names = {c.name for c in shipped.criteria if c.group == "primary"}
    assert names == {"performance_loss", "parameter_reduction", "memory_reduction"}


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


def test_different_validation_sets_and_tokenizers_are_refused(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", [2.0, 1.0], validation="x", tokenizer="t")
    b = write_run(tmp_path / "b", [2.0, 1.0], arm="lora", validation="y", tokenizer="t")
    c = write_run(tmp_path / "c", [2.0, 1.0], arm="lora", validation="x", tokenizer="u")
    with pytest.raises(InputError, match="different validation sets"):
        tune(a, b)
    with pytest.raises(InputError, match="different tokenizers"):
        tune(a, c)


def test_the_same_run_twice_and_seeds_of_different_rates_are_refused(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", [2.0, 1.0], learning_rate=1e-3)
    b = write_run(tmp_path / "b", [2.0, 1.0], seed=1, learning_rate=1e-4)
    with pytest.raises(InputError, match="seed 0 of full is there already"):
        tune(a, a)
    with pytest.raises(InputError, match="different learning rates"):
        tune(a, b)
    with pytest.raises(UsageError, match="no arm 'x'"):
        tune(a, baseline="x")
    with pytest.raises(UsageError, match="needs a training run"):
        tune()


def test_a_divergence_is_named_with_its_step(tmp_path: Path) -> None:
    report = tune(write_run(tmp_path / "a", [3.0, 2.9, 2.8, "nan", 9.0]), write_run(tmp_path / "b", [3.0] * 5, arm="b"))
    assert "full diverged at step 4" in report.sentence
    assert any("Lower the learning rate of full" in one.text for one in report.recommendations)
    assert json.dumps(report.to_dict(), allow_nan=False)


def test_time_and_parameters_in_closed_form(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", [3.0] * 20, parameters={"total": 1000, "trainable": 1000})
    b = write_run(tmp_path / "b", [3.0] * 20, arm="lora", parameters={"total": 1010, "trainable": 10})
    report = tune(a, b)
    assert report.baseline == "full"
    time = report.arm("lora").time
    assert (time["seconds_per_step"].value, time["steps_per_hour"].value) == (0.5, 7200)
    assert time["tokens_per_second"].value == pytest.approx(200)
    assert report.arm("lora").share == pytest.approx(10 / 1010)
    assert report.contrasts[0].ratios["parameters"].value == pytest.approx(0.01)
    assert report.contrasts[0].verdict == "not measured"
