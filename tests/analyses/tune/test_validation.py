"""Which validation loss decides, of what kind it is, and advice that looks at measured accuracy."""

import json
from pathlib import Path
from typing import Any

import pytest

from assay.analyses.tune import tune
from assay.analyses.tune.result import TuningReport
from assay.errors import InputError, UsageError
from tests.training.runs import write_run


def trainer(path: Path, **columns: list[float]) -> Path:
    """A Trainer's state: 20 training losses, and every five steps a value of each column."""
    rows: list[dict[str, Any]] = [{"step": step, "loss": 2.0 - 0.05 * step} for step in range(1, 21)]
    rows += [{"step": 5 * (i + 1), **{name: values[i] for name, values in columns.items()}} for i in range(4)]
    rows.append({"step": 20, "train_runtime": 10.0})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"global_step": 20, "max_steps": 20, "log_history": rows}))
    return path


def peft(path: Path, accuracy: float, memory: int, trainable: int) -> Path:
    metrics = [{"step": step, "train loss": 2.0 - 0.01 * step} for step in range(10, 110, 10)]
    metrics.append({"step": 100, "test accuracy": accuracy, "train loss": 1.0})
    info = {"metrics": metrics, "status": "success", "train_time": 100.0, "accelerator_memory_max": memory}
    info |= {"num_total_params": 1000, "num_trainable_params": trainable}
    run = {"experiment_name": path.stem, "train_config": {"seed": 0, "max_steps": 100}}
    path.write_text(json.dumps({"run_info": run, "train_info": info}))
    return path


# ------------------------------------------------------------------------------------------------------------- grades


def test_the_loss_of_a_classifier_is_not_graded_as_a_perplexity(tmp_path: Path) -> None:
    losses = [0.5, 0.4, 0.35, 0.33]
    path = trainer(tmp_path / "a" / "trainer_state.json", eval_loss=losses, eval_accuracy=[0.7, 0.8, 0.85, 0.86])
    report = tune(path, targets="japanese")
    assert "perplexity" not in report.arms[0].quality
    assert report.arms[0].quality["validation_loss"].value == 0.33
    assert report.arms[0].quality["eval accuracy"].value == 0.86
    criterion = next(c for c in report.criteria if c.name == "perplexity")
    assert (criterion.status, criterion.why) == ("not measured", "no log says that the loss is a language model's")
    assert "excellent" not in str(report)
    assert any("`language_model=True`" in note for note in report.notes)
    assert TuningReport.from_dict(json.loads(json.dumps(report.to_dict(), allow_nan=False))) == report
    said = tune(path, language_model=True, targets="japanese")
    assert next(c for c in said.criteria if c.name == "perplexity").why.startswith("excellent")


def test_a_log_that_speaks_of_tokens_is_a_language_models(tmp_path: Path) -> None:
    losses = [2.5, 2.4, 2.35, 2.33]
    path = trainer(tmp_path / "a" / "trainer_state.json", eval_loss=losses, eval_mean_token_accuracy=[0.5] * 4)
    assert "perplexity" in tune(path).arms[0].quality
    table = tmp_path / "t.csv"
    table.write_text("step,loss,eval_loss,perplexity\n1,3,2.5,12\n2,2.9,2.4,11\n3,2.8,2.3,10\n")
    assert "perplexity" in tune(table).arms[0].quality
    table.write_text("step,loss,eval_loss\n1,3,2.5\n2,2.9,2.4\n3,2.8,2.3\n")
    assert "perplexity" not in tune(table).arms[0].quality


def test_losses_that_are_no_language_models_compare_as_losses(tmp_path: Path) -> None:
    paths = [
        f"{arm}={trainer(tmp_path / f'{arm}{i}' / 'trainer_state.json', eval_loss=[0.5, 0.4, 0.35, last + 0.001 * i])}"
        for arm, last in (("full", 0.30), ("lora", 0.36))
        for i in range(3)
    ]
    report = tune(*paths, baseline="full", targets="japanese")
    contrast = report.contrasts[0]
    assert contrast.ratios["perplexity"].value is None
    assert contrast.ratios["validation_loss"].value == pytest.approx(0.361 / 0.301, rel=1e-3)
    assert "perplexity" not in contrast.sentence
    assert "Significance: lora − full, validation loss" in report.to_text(verbose=True)
    assert "lora is worse than full on the validation text (validation loss +0.06" in contrast.sentence
    loss = next(c for c in report.criteria if c.name == "performance_loss")
    assert loss.status == "not met"
    assert loss.why.startswith("by the validation loss")


# --------------------------------------------------------------------------------------------------------- named sets


def test_named_validation_sets_are_read_and_shown_and_one_decides(tmp_path: Path) -> None:
    news, code = [1.0, 0.9, 0.8, 0.7], [1.0, 1.1, 1.2, 1.3]
    path = trainer(tmp_path / "a" / "trainer_state.json", eval_news_loss=news, eval_code_loss=code)
    report = tune(path)
    quality = report.arms[0].quality
    assert (quality["validation_loss"].value, quality["validation_loss, news"].value) == (0.7, 0.7)
    assert quality["validation_loss, code"].value == 1.3
    said = "2 named validation sets (news, code): all are shown, and eval_news_loss decides; `validation=NAME` changes"
    assert any(said in note for note in report.notes)
    other = tune(path, validation="code")
    assert other.arms[0].quality["validation_loss"].value == 1.3
    assert other.arms[0].runs[0].overfitting.verdict == "shown"
    assert any("eval_code_loss decides" in note for note in other.notes)
    with pytest.raises(UsageError, match="no validation set 'poems'; it has news, code"):
        tune(path, validation="poems")


def test_a_loss_without_a_name_decides_before_those_with_one(tmp_path: Path) -> None:
    columns = {"eval_loss": [2.0, 1.9, 1.8, 1.7], "eval_news_loss": [1.0, 0.9, 0.8, 0.7]}
    report = tune(trainer(tmp_path / "a" / "trainer_state.json", **columns))
    assert report.arms[0].quality["validation_loss"].value == 1.7
    assert any("1 named validation set (news): all are shown, and eval_loss decides" in note for note in report.notes)


def test_named_sets_of_tables(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("step,loss,eval_news_loss,Val/Code/Loss\n1,3,2.5,1.5\n2,2.9,2.4,1.6\n3,2.8,,\n")
    quality = tune(table).arms[0].quality
    assert (quality["validation_loss"].value, quality["validation_loss, code"].value) == (2.4, 1.6)


def test_runs_that_are_judged_by_different_sets_are_refused(tmp_path: Path) -> None:
    losses = [1.0, 0.9, 0.8, 0.7]
    a = trainer(tmp_path / "a" / "trainer_state.json", eval_news_loss=losses, eval_code_loss=losses)
    b = trainer(tmp_path / "b" / "trainer_state.json", eval_code_loss=losses)
    with pytest.raises(InputError, match="eval_news_loss and eval_code_loss"):
        tune(a, b)
    assert len(tune(a, b, validation="code").contrasts) == 1


# -------------------------------------------------------------------------------------------------------------- advice


def test_advice_looks_at_measured_accuracy(tmp_path: Path) -> None:
    """Better accuracy and 34% less memory, where 40% are wanted: not a reason to keep full fine-tuning."""
    full, lora = peft(tmp_path / "full.json", 0.47, 1000, 1000), peft(tmp_path / "lora.json", 0.48, 660, 5)
    report = tune(full, lora, targets="japanese")
    assert report.contrasts[0].ratios["accuracy"].value == pytest.approx(0.48 / 0.47)
    assert "test accuracy 0.47 → 0.48" in report.sentence
    advice = report.recommendations[0]
    assert advice.text == "Use lora instead of full if what it saves is enough: memory reduction not met."
    assert "performance loss −0.02128 (by test accuracy; wanted < 0.1: met)" in advice.because


@pytest.mark.parametrize(
    ("accuracy", "memory", "said"),
    [
        (0.48, 500, "Use lora instead of full: every"),
        (0.30, 500, "Do not decide between full and lora yet: performance loss not met, but no interval shows"),
        (0.48, 1100, "Use lora"),
    ],
)
def test_advice_by_accuracy_and_memory(tmp_path: Path, accuracy: float, memory: int, said: str) -> None:
    full, lora = peft(tmp_path / "full.json", 0.47, 1000, 1000), peft(tmp_path / "lora.json", accuracy, memory, 5)
    assert tune(full, lora, targets="japanese").recommendations[0].text.startswith(said)


def test_without_any_quality_nothing_is_decided(tmp_path: Path) -> None:
    parts = {"a": {"total": 1000, "trainable": 1000}, "b": {"total": 1010, "trainable": 10}}
    runs = [write_run(tmp_path / name, [2.0, 1.0], arm=name, parameters=own) for name, own in parts.items()]
    for targets, why in ((None, "no validation loss"), ("japanese", "performance loss")):
        text = tune(*runs, targets=targets).recommendations[0].text
        assert text.startswith(f"Do not decide between a and b yet: {why}")


# ---------------------------------------------------------------------------------------------- accuracies of n items


def test_the_accuracy_of_one_run_has_agresti_and_coulls_interval_against_statsmodels(tmp_path: Path) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    path = peft(tmp_path / "lora.json", 631 / 1319, 660, 5)
    found = tune(path, items=1319).arms[0].quality["test accuracy"]
    assert found.interval is not None
    wanted = proportion.proportion_confint(631, 1319, method="agresti_coull")
    assert (found.interval.low, found.interval.high) == pytest.approx(wanted)
    assert (found.value, found.n, found.interval.method) == (631 / 1319, 1319, "agresti-coull")
    bare = tune(path)
    assert bare.arms[0].quality["test accuracy"].interval is None
    assert any("`items=N`" in note for note in bare.notes)


@pytest.mark.parametrize("items", [0, -3, 1000, 1318])
def test_items_that_the_accuracy_cannot_be_of_are_refused(tmp_path: Path, items: int) -> None:
    path = peft(tmp_path / "lora.json", 631 / 1319, 660, 5)
    with pytest.raises(UsageError, match=f"no whole number of right answers among `items={items}`"):
        tune(path, items=items)


@pytest.mark.parametrize(("n", "known"), [(872, True), (10, True), (2_000_000, False)])
def test_a_trainer_says_how_many_rows_it_evaluated_on(tmp_path: Path, n: int, known: bool) -> None:
    """Seconds and rows per second are rounded as the Trainer rounds them; beyond their digits nothing is claimed."""
    seconds, right = 12.3456, round(0.86 * n)
    columns = {"eval_loss": 0.3, "eval_accuracy": right / n, "eval_runtime": seconds}
    columns["eval_samples_per_second"] = round(n / seconds, 3)
    path = trainer(tmp_path / "a" / "trainer_state.json", **{name: [value] * 4 for name, value in columns.items()})
    found = tune(path).arms[0].quality["eval accuracy"]
    assert (found.interval is not None) is known
    assert found.n == (n if known else 1)


def test_accuracies_of_several_seeds_have_their_interval_over_seeds(tmp_path: Path) -> None:
    paths = [peft(tmp_path / f"{i}.json", (600 + 10 * i) / 1319, 660, 5) for i in range(3)]
    found = tune(*(f"lora={path}" for path in _with_seeds(paths)), items=1319).arms[0].quality["test accuracy"]
    assert found.interval is not None
    assert (found.n, found.interval.method) == (3, "t over seeds")


def _with_seeds(paths: list[Path]) -> list[Path]:
    for seed, path in enumerate(paths):
        data = json.loads(path.read_text())
        data["run_info"]["train_config"]["seed"] = seed
        path.write_text(json.dumps(data))
    return paths
