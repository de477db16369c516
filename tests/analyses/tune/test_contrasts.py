"""An arm against the baseline: over seeds and over windows, against scipy; and what one seed cannot show."""

import json
import shutil
from math import log
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from scipy import stats

from assay.analyses.tune import tune
from assay.analyses.tune.arms import Trained
from assay.analyses.tune.contrasts import windows_panel
from assay.analyses.tune.result import TuningReport
from assay.data.training.run_folder import read_run
from assay.errors import InputError
from tests.analyses.tune.shipped import FULL, LORA, losses, mean_loss
from tests.analyses.tune.test_validation import peft, trainer
from tests.training.runs import write_run


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


def test_the_published_recipe_against_scipy(shipped: TuningReport) -> None:
    found, a, b = shipped.contrasts[0].recipe, losses(FULL[0])[0], losses(LORA[0])[0]
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.t == pytest.approx(stats.ttest_rel(b, a).statistic)
    # as published, with np.var and stats.norm.interval
    assert found.cohens_d == pytest.approx((np.mean(b) - np.mean(a)) / np.sqrt((np.var(b) + np.var(a)) / 2))
    wanted = stats.norm.interval(0.95, loc=np.mean(b) - np.mean(a), scale=np.sqrt(np.var(b) + np.var(a)))
    assert (found.low, found.high) == pytest.approx(wanted)
    # C5: its interval is about √n times too wide for a mean
    paired = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert (found.high - found.low) / (paired.high - paired.low) > 5


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


def test_perplexity_is_over_seeds_where_there_are_several_and_over_windows_else(shipped: TuningReport) -> None:
    (contrast,) = shipped.contrasts
    a, b = ([mean_loss(run) for run in arm] for arm in (FULL, LORA))
    limits = stats.ttest_rel(b, a).confidence_interval(0.95)
    found = contrast.ratios["perplexity"].interval
    assert found is not None
    assert (log(found.low), log(found.high)) == pytest.approx((limits.low, limits.high))
    (alone,) = tune(FULL[0], LORA[0]).contrasts
    assert alone.windows is not None
    assert alone.ratios["perplexity"] == alone.windows.ratio


def test_other_seeds_are_not_paired_and_compared_by_welch(tmp_path: Path) -> None:
    a, b = [2.0, 2.1, 2.05], [2.4, 2.2, 2.5]
    for arm, seeds, last in (("full", (0, 1, 2), a), ("lora", (3, 4, 5), b)):
        for seed, loss in zip(seeds, last, strict=True):
            write_run(tmp_path / f"{arm}-{seed}", [3.0] * 20, arm=arm, seed=seed, valid={20: loss})
    (contrast,) = tune(*sorted(tmp_path.iterdir())).contrasts
    wanted = stats.ttest_ind(b, a, equal_var=False)
    assert (contrast.paired_seeds, contrast.seeds_test.name) == (False, "Welch t over seeds")
    assert contrast.seeds_test.p_value == pytest.approx(wanted.pvalue)
    limits = wanted.confidence_interval(0.95)
    assert contrast.seeds.interval is not None
    assert (contrast.seeds.interval.low, contrast.seeds.interval.high) == pytest.approx((limits.low, limits.high))


def test_ratios_are_exponentials_of_mean_log_differences_by_hand(tmp_path: Path) -> None:
    """Time per step over seeds: 0.5 s each, so that the ratio is 1 and has no width."""
    for arm in ("full", "lora"):
        for seed in range(3):
            write_run(tmp_path / f"{arm}-{seed}", [3.0] * 20, arm=arm, seed=seed, valid={20: 2.0})
    ratio = tune(*sorted(tmp_path.iterdir())).contrasts[0].ratios["time_per_step"]
    assert ratio.value == 1
    assert ratio.interval is not None
    assert (ratio.interval.low, ratio.interval.high) == (1, 1)


def test_parameters_are_counted_and_have_no_interval(shipped: TuningReport) -> None:
    found = shipped.contrasts[0].ratios["parameters"]
    assert found.value == pytest.approx(143_360 / 952_960)
    assert (found.interval, found.reason) == (None, "counted")


def test_a_test_accuracy_comes_before_one_that_training_has_seen(tmp_path: Path) -> None:
    a = peft(tmp_path / "full.json", 0.5, 1000, 1000)
    b = peft(tmp_path / "lora.json", 0.6, 500, 10)
    (contrast,) = tune(a, b).contrasts
    assert contrast.accuracy == "test accuracy"
    assert contrast.ratios["accuracy"].value == pytest.approx(1.2)
    assert "test accuracy 0.5 → 0.6" in contrast.sentence


def test_a_difference_is_shown_only_if_windows_and_seeds_agree(every_arm: TuningReport) -> None:
    found = next(one for one in every_arm.contrasts if one.arm == "lora r=16 + embeddings")
    assert found.windows is not None
    assert found.windows.verdict == "worse"  # other text would not undo it
    assert found.seeds.interval is not None
    assert found.seeds.interval.low < 0 < found.seeds.interval.high  # other seeds might
    assert found.verdict == "no difference shown"


def rewritten(folder: Path, query: str) -> Path:
    """A copy of a run whose scored windows are a query of those it had."""
    shutil.copytree(FULL[1], folder)
    (windows,) = (folder / "windows").glob("*.parquet")
    changed = folder / "changed.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query.format(windows)}) TO '{changed}'")
    changed.replace(windows)
    return folder


def test_seeds_with_other_windows_are_refused(tmp_path: Path) -> None:
    other = rewritten(tmp_path / "tokens", "SELECT * REPLACE (tokens + 1 AS tokens) FROM '{}'")
    with pytest.raises(InputError, match=r"tokens/windows.*the same window must have the same tokens in all files"):
        tune(FULL[0], other, LORA[0])
    fewer = rewritten(tmp_path / "fewer", "SELECT * FROM '{}' LIMIT 100")
    with pytest.raises(InputError, match=r"fewer/windows: its validation windows are not those of .*full-0/windows"):
        tune(FULL[0], fewer, LORA[0])


def test_windows_are_a_panel_with_a_column_for_each_run() -> None:
    arms = [[Trained(read_run(run, None)) for run in runs] for runs in (FULL, LORA[:1])]
    panel = windows_panel(("full", "lora"), arms)
    assert panel is not None
    assert panel.systems == ("full, run 1", "full, run 2", "full, run 3", "lora, run 1")
    assert [(runs.model, runs.columns) for runs in panel.models] == [("full", (0, 1, 2)), ("lora", (3,))]
    assert (panel.n, panel.cluster, panel.n_clusters) == (105, "document", 16)
    for column, run in enumerate((*FULL, LORA[0])):
        loss, tokens = losses(run)
        np.testing.assert_array_equal(panel.column("loss", column), loss * tokens)
        assert panel.estimate(column) == pytest.approx(mean_loss(run), rel=1e-14)
    assert panel.averaged().estimate(0) == pytest.approx(np.mean([mean_loss(run) for run in FULL]), rel=1e-14)


def test_losses_alone_of_one_seed_decide_nothing(tmp_path: Path) -> None:
    paths = [trainer(tmp_path / arm / "trainer_state.json", eval_loss=[0.5, 0.4, 0.35, 0.33]) for arm in ("a", "b")]
    (contrast,) = tune(*paths, language_model=True).contrasts
    data: dict[str, Any] = json.loads(json.dumps(tune(*paths).to_dict()))["statistical_analysis"]["contrasts"][0]
    assert (contrast.verdict, contrast.windows, contrast.recipe) == ("not measured", None, None)
    assert (data["windows"], data["recipe"]) == (None, None)
    assert contrast.ratios["perplexity"].value == 1
