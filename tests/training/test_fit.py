"""Real runs of the Trainer on a tiny model: what is recorded against what torch counts and computes."""

import json
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from assay import tune  # noqa: E402
from assay.training import AssayCallback, Schedule, Settings, fit  # noqa: E402
from assay.training.fitting import batch_of, batches_of_rows  # noqa: E402
from assay.training.recorder import validation_loss  # noqa: E402
from tests.training.runs import one_thread, read_logs  # noqa: E402

VOCABULARY = 50


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    with one_thread():
        yield


def tiny(*, tied: bool = False) -> Any:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=32,
        pad_token_id=0,
        tie_word_embeddings=tied,
    )
    return transformers.LlamaForCausalLM(config)


def rows(n: int, seed: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(1, VOCABULARY, size=rng.integers(4, 17)).tolist() for _ in range(n)]


TRAIN, VALID = rows(40, 1), rows(7, 2)


def run(folder: Path, **settings: Any) -> Any:
    chosen = Settings(**({"steps": 6, "rows": 4, "warmup": 0, "checkpoint": 0, "learning_rate": 1e-2} | settings))
    schedule = Schedule(validation=2, memory=3, quality=3)
    fit(
        tiny(),
        TRAIN,
        folder,
        settings=chosen,
        validation=batches_of_rows(VALID, 3),
        suite=lambda _: {"character_accuracy": 0.5},
        schedule=schedule,
    )
    return read_logs([folder])[0]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("runs") / "full"
    return folder, run(folder, method="full")


def test_the_validation_loss_is_weighted_by_tokens() -> None:
    model = tiny().eval()
    total = count = 0.0
    alone = []
    for row in VALID:  # row by row, so that nothing is padded
        ids = torch.tensor([row])
        with torch.no_grad():
            alone.append(float(model(input_ids=ids, labels=ids).loss))
        total += alone[-1] * (len(row) - 1)
        count += len(row) - 1
    found, kept = validation_loss(model, batches_of_rows(VALID, 3))
    columns = kept.columns()
    assert columns is not None
    assert columns["tokens"].tolist() == [len(row) - 1 for row in VALID]
    assert columns["loss"].tolist() == pytest.approx(alone, rel=1e-5)
    assert (found["tokens"], found["rows"]) == (count, len(VALID))
    assert found["loss"] == pytest.approx(total / count, rel=1e-5)
    # C6: the source's loop, a batch's mean loss times its padded length
    source = length = 0.0
    for batch in batches_of_rows(VALID, 3):
        with torch.no_grad():
            source += model(**batch).loss.item() * batch["input_ids"].size(1)
        length += batch["input_ids"].size(1)
    assert found["source_loss"] == pytest.approx(source / length, rel=1e-5)
    assert abs(found["source_loss"] - found["loss"]) > 1e-3


def test_a_run_records_the_schedule(full: Any) -> None:
    folder, log = full
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    steps = {kind: [e["step"] for e in events if e["kind"] == kind] for kind in ("step", "validation", "memory")}
    assert steps == {"step": [1, 2, 3, 4, 5, 6], "validation": [0, 2, 3, 4, 6], "memory": [0, 1, 3, 6]}
    assert [e["step"] for e in events if "character_accuracy" in e] == [3, 6]
    assert (log.finished, log.last_step, log.max_steps, log.arm) == (True, 6, 6, "full")
    assert len(log.grad_norm) == len(log.rate) == len(log.step_seconds) == 6


def test_tokens_are_those_that_were_learned_from(full: Any) -> None:
    _, log = full
    lengths = sorted(len(row) - 1 for row in TRAIN)
    assert sum(lengths[:24]) <= log.tokens <= sum(lengths[-24:])  # 6 steps of 4 rows, padding left out
    assert log.tokens < 24 * 15


def test_parameters_and_memory_against_torch(full: Any) -> None:
    _, log = full
    model = tiny()
    size = sum(p.numel() for p in model.parameters())
    assert (log.total, log.trainable) == (size, size)
    assert log.memory["gradients"] == 4 * size
    tensors = len(list(model.parameters()))
    assert log.memory["optimizer"] == 2 * 4 * size + 4 * tensors
    assert log.memory["parameters"] >= 4 * size
    assert log.valid.values[0] == pytest.approx(log_of_uniform(), abs=0.2)


def log_of_uniform() -> float:
    return log(VOCABULARY)


def test_lora_trains_its_adapter_only(tmp_path: Path) -> None:
    log = run(tmp_path / "lora", method="lora", rank=2)
    # q, k, v, o and the three matrices of the MLP: rank times inputs and outputs
    added = 2 * ((16 + 16) + 2 * (16 + 8) + (16 + 16) + 3 * (16 + 32))
    base = sum(p.numel() for p in tiny().parameters())
    assert (log.arm, log.total, log.trainable) == ("lora r=2", base + added, added)
    assert (tmp_path / "lora" / "trained" / "adapter_model.safetensors").is_file()


def test_the_same_seed_gives_the_same_losses(full: Any, tmp_path: Path) -> None:
    again = run(tmp_path / "again", method="full")
    other = run(tmp_path / "other", method="full", seed=1)
    assert again.loss.values.tolist() == full[1].loss.values.tolist()
    assert other.loss.values.tolist() != full[1].loss.values.tolist()


def test_a_run_that_was_killed_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"method": "full", "checkpoint": 3}
    whole = run(tmp_path / "whole", **settings)
    with pytest.raises(KeyboardInterrupt):
        _killed_at(5, tmp_path / "killed", Settings(steps=6, rows=4, warmup=0, learning_rate=1e-2, **settings))
    found = run(tmp_path / "killed", **settings)
    assert found.loss.values.tolist() == pytest.approx(whole.loss.values.tolist(), rel=1e-6)
    assert "resumed from step 3" in found.notes
    assert not (tmp_path / "killed" / "checkpoints").exists()


def _killed_at(step: int, folder: Path, settings: Settings) -> None:
    def suite(_: Any) -> dict[str, float]:
        text = (folder / "events.jsonl").read_text()
        if f'"kind": "step", "step": {step}' in text:
            raise KeyboardInterrupt
        return {}

    schedule = Schedule(validation=2, memory=3, quality=1)
    batches = batches_of_rows(VALID, 3)
    fit(tiny(), TRAIN, folder, settings=settings, validation=batches, suite=suite, schedule=schedule)


def test_a_line_may_stand_for_several_steps(full: Any, tmp_path: Path) -> None:
    settings = Settings(method="full", steps=6, rows=4, warmup=0, checkpoint=0, learning_rate=1e-2)
    schedule = Schedule(step=3, validation=0, memory=0, quality=0)
    fit(tiny(), TRAIN, tmp_path / "a", settings=settings, validation=[], schedule=schedule)
    (log,) = read_logs([tmp_path / "a"])
    every = full[1]
    assert (log.loss.steps.tolist(), len(log.step_seconds), log.tokens) == ([3, 6], 6, every.tokens)
    assert log.seconds == pytest.approx(log.step_seconds.sum())
    assert log.loss.values.tolist() == pytest.approx(every.loss.values.reshape(2, 3).mean(axis=1).tolist(), rel=1e-5)


def test_a_loss_that_is_no_number_is_recorded_as_one(tmp_path: Path) -> None:
    model = tiny()
    with torch.no_grad():
        model.model.norm.weight.fill_(float("nan"))
    settings = Settings(method="full", steps=2, rows=2, checkpoint=0)
    fit(model, TRAIN, tmp_path / "a", settings=settings, validation=[], schedule=Schedule())
    assert read_logs([tmp_path / "a"])[0].diverged_at == 1


def test_the_callback_with_a_trainer_of_ones_own(tmp_path: Path) -> None:
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path / "out"),
        max_steps=3,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
    )
    callback = AssayCallback(tmp_path / "run", arm="mine", about={"note": "x"})
    trainer = transformers.Trainer(
        model=tiny(), args=arguments, train_dataset=TRAIN, data_collator=batch_of, callbacks=[callback]
    )
    trainer.train()
    (log,) = read_logs([tmp_path / "run"])
    assert (log.arm, len(log.loss), log.finished, len(log.valid)) == ("mine", 3, True, 0)
    history = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert log.loss.values.tolist() == pytest.approx(history)


def trained_with_a_callback(folder: Path, rate: float, validation: Any) -> Any:
    """An ordinary Trainer, of which the callback keeps the validation rows; the trained model."""
    arguments = transformers.TrainingArguments(
        output_dir=str(folder.with_suffix(".out")),
        max_steps=6,
        learning_rate=rate,
        per_device_train_batch_size=2,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
    )
    callback = AssayCallback(folder, arm=folder.name, validation=validation, schedule=Schedule(validation=2))
    trainer = transformers.Trainer(
        model=tiny(), args=arguments, train_dataset=TRAIN, data_collator=batch_of, callbacks=[callback]
    )
    trainer.train()
    return trainer.model.eval()


def test_two_ordinary_trainings_are_compared_row_by_row_against_the_models(tmp_path: Path) -> None:
    """The oracle is the loss that each model itself gives to each row."""
    rows = [row[i:] for row in VALID for i in range(4) if len(row) > i + 1]
    models = [trained_with_a_callback(tmp_path / name, rate, batches_of_rows(rows, 3)) for name, rate in RATES.items()]
    kept = sorted(file.name for file in (tmp_path / "slow").glob("*.parquet"))
    assert kept == ["validation-rows-000000000.parquet", "validation-rows-000000006.parquet"]
    report = tune(*(tmp_path / name for name in RATES))
    (contrast,) = report.statistical_analysis.contrasts
    assert contrast.windows is not None
    nats = []
    for model in (tiny().eval(), *models):
        with torch.no_grad():
            ids = [torch.tensor([row]) for row in rows]
            nats.append([float(model(input_ids=one, labels=one).loss) * (one.shape[1] - 1) for one in ids])
    tokens = sum(len(row) - 1 for row in rows)
    first = list(RATES).index(contrast.baseline)
    gap = (sum(nats[2 - first]) - sum(nats[1 + first])) / tokens
    assert contrast.windows.n_pairs == len(rows)
    assert contrast.windows.difference.value == pytest.approx(gap, rel=1e-4)
    assert contrast.windows.difference.interval is not None
    assert contrast.verdict != "not measured"
    since = {one.arm: one for one in report.statistical_analysis.adapted}
    for name, own in zip(RATES, nats[1:], strict=True):
        found = since[name].windows
        assert found is not None
        assert found.difference.value == pytest.approx((sum(own) - sum(nats[0])) / tokens, rel=1e-3)
    assert any("rows of the validation set" in note for note in report.notes)
    (tmp_path / "slow" / kept[1]).unlink()
    (again,) = tune(*(tmp_path / name for name in RATES)).statistical_analysis.contrasts
    assert again.windows is None


RATES = {"slow": 1e-3, "fast": 2e-2}
