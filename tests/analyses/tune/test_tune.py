"""Reports on training runs: the shipped ones, and small ones whose answer is known."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from assay.analyses.tune import tune
from assay.analyses.tune.result import TuningReport
from assay.errors import InputError, UsageError
from assay.examples import RUNS
from tests.analyses.tune.shipped import ARMS, EMBEDDINGS, FULL, LORA, last_validation, losses
from tests.training.runs import write_run


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


def test_every_criterion_has_a_status_and_every_recommendation_a_number(shipped: TuningReport) -> None:
    assert {c.status for c in shipped.criteria} <= {"met", "not met", "not measured"}
    assert all(any(sign.isdigit() for sign in one.because) for one in shipped.recommendations)
    names = {c.name for c in shipped.criteria if c.group == "primary"}
    assert names == {"performance_loss", "parameter_reduction", "memory_reduction"}


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
    with pytest.raises(InputError, match="seed 0 of full was given already"):
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
