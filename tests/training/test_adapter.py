"""LoRA as it is asked for, on tiny models: what is trained, what stays tied, and that what is read back is the same."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
peft = pytest.importorskip("peft")

from assay import models  # noqa: E402
from assay.errors import InputError, UsageError  # noqa: E402
from assay.scoring.hf import ModelScorer  # noqa: E402
from assay.scoring.models_and_texts import ModelSpec  # noqa: E402
from assay.training.fitting import (  # noqa: E402
    Settings,
    batches_of_rows,
    fit,
    with_adapter,
)
from assay.training.recorder import Schedule  # noqa: E402
from tests.training.runs import one_thread, read_logs  # noqa: E402
from tests.training.test_fit import TRAIN, VALID, VOCABULARY, tiny  # noqa: E402

WIDTH = 16
TABLE = VOCABULARY * WIDTH
ADDED = 2 * ((16 + 16) + 2 * (16 + 8) + (16 + 16) + 3 * (16 + 32))  # rank 2 on q, k, v, o and the MLP


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    with one_thread():
        yield


def settings(**asked: Any) -> Settings:
    return Settings(**({"rank": 2, "steps": 6, "rows": 4, "warmup": 0, "checkpoint": 0, "learning_rate": 1e-2} | asked))


def trained(folder: Path, model: Any, chosen: Settings, quality: int = 0, suite: Any = None) -> tuple[Any, Any]:
    """The log, and the model as it was at the end."""
    last: list[Any] = []

    def measure(found: Any) -> dict[str, float]:
        last.append(found)
        return {} if suite is None else suite(found)

    schedule = Schedule(validation=2, memory=3, quality=quality)
    batches = batches_of_rows(VALID, 3)
    fit(model, TRAIN, folder, settings=chosen, validation=batches, suite=measure, schedule=schedule)
    return read_logs([folder])[0], last[-1].get_base_model()


def weights(model: Any) -> tuple[Any, Any]:
    return model.get_input_embeddings().weight, model.get_output_embeddings().weight


@pytest.mark.parametrize("tied", [True, False])
def test_embeddings_are_trained_as_copies_that_count_and_stay_tied(tmp_path: Path, tied: bool) -> None:
    model = tiny(tied=tied)
    before = [weight.detach().clone() for weight in weights(model)]
    base = sum(parameter.numel() for parameter in model.parameters())
    log, found = trained(tmp_path / "run", model, settings(train_embeddings=True))
    tables = TABLE if tied else 2 * TABLE
    assert (log.arm, log.total, log.trainable) == ("lora r=2 + embeddings", base + ADDED + tables, ADDED + tables)
    assert log.memory["gradients"] == 4 * log.trainable
    tensors = 2 * 7 + (1 if tied else 2)  # A and B of seven layers, and the tables
    assert log.memory["optimizer"] == 2 * 4 * log.trainable + 4 * tensors
    buffers = sum(buffer.numel() for buffer in tiny().buffers())
    assert log.memory["parameters"] == 4 * (log.total + buffers)
    now = weights(found)
    assert (now[0] is now[1]) == tied
    assert all(not torch.equal(old, new) for old, new in zip(before, now, strict=True))
    kept = found.get_input_embeddings().original_module.weight
    assert torch.equal(kept, before[0])


def test_what_is_read_back_scores_exactly_as_what_was_trained(tmp_path: Path) -> None:
    """By the scorer of `assay score`: the base as it is on disk, with the adapter that was saved."""
    model = transformers.AutoModelForCausalLM.from_pretrained(models.path("base"))
    assert model.config.tie_word_embeddings
    _, found = trained(tmp_path / "run", model, settings(train_embeddings=True, learning_rate=1e-3))
    scorer = ModelScorer(ModelSpec(str(models.path("base")), adapter=str(tmp_path / "run" / "trained")))
    read = weights(scorer.model)
    assert read[0] is read[1]
    assert torch.equal(read[0], weights(found)[0])
    with torch.inference_mode():
        for row in VALID:
            ids = torch.tensor([row])
            assert torch.equal(scorer.model(ids).logits, found.eval()(ids).logits)
    losses = scorer.losses(VALID)
    scorer.model = found
    assert all(np.array_equal(a, b) for a, b in zip(losses, scorer.losses(VALID), strict=True))
    assert abs(losses[0].mean() - base_losses()[0].mean()) > 1e-3


def base_losses() -> Any:
    return ModelScorer(ModelSpec(str(models.path("base")))).losses(VALID)


@pytest.mark.parametrize("tied", [True, False])
def test_a_killed_run_with_embeddings_and_dropout_goes_on_as_if_nothing_was(tmp_path: Path, tied: bool) -> None:
    chosen = settings(train_embeddings=True, dropout=0.3, checkpoint=3)

    def kill(_: Any) -> dict[str, float]:
        if '"kind": "step", "step": 5' in (tmp_path / "killed" / "events.jsonl").read_text():
            raise KeyboardInterrupt
        return {}

    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "killed", tiny(tied=tied), chosen, 1, kill)
    log, found = trained(tmp_path / "killed", tiny(tied=tied), chosen)
    whole, wanted = trained(tmp_path / "whole", tiny(tied=tied), chosen)
    assert "resumed from step 3" in log.notes
    assert log.loss.values.tolist() == pytest.approx(whole.loss.values.tolist(), rel=1e-6)
    now = weights(found)
    assert (now[0] is now[1]) == tied
    for mine, other in zip(now, weights(wanted), strict=True):
        assert torch.allclose(mine, other, rtol=1e-5, atol=1e-7)


def test_what_is_measured_does_not_change_the_dropout(tmp_path: Path) -> None:
    def draw(_: Any) -> dict[str, float]:
        return {"drawn": float(torch.rand(1))}

    chosen = settings(dropout=0.3)
    often, _ = trained(tmp_path / "often", tiny(), chosen, 1, draw)
    once, _ = trained(tmp_path / "once", tiny(), chosen)
    without, _ = trained(tmp_path / "without", tiny(), settings())
    assert often.loss.values.tolist() == once.loss.values.tolist()
    assert once.loss.values.tolist() != without.loss.values.tolist()


def test_scaling_dropout_and_layers_are_those_of_the_settings() -> None:
    found = with_adapter(tiny(), settings(alpha=3, dropout=0.25, modules="q_proj,o_proj"))
    layers = {name.rpartition(".")[2]: part for name, part in found.named_modules() if hasattr(part, "lora_A")}
    assert set(layers) == {"q_proj", "o_proj"}
    for layer in layers.values():
        assert (layer.scaling["default"], layer.lora_dropout["default"].p) == (3 / 2, 0.25)


def test_tied_embeddings_of_other_names_stay_tied(tmp_path: Path) -> None:
    """GPT-2 reads tokens with wte, a name that peft does not look for, and writes them with lm_head."""
    small = {"vocab_size": VOCABULARY, "n_embd": WIDTH, "n_head": 2, "n_layer": 1, "n_positions": 32}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**small, bos_token_id=0, eos_token_id=0))
    _, found = trained(tmp_path / "run", model, settings(train_embeddings=True, modules="c_attn"))
    now = weights(found)
    assert now[0] is now[1]


def test_embeddings_that_would_come_apart_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peft.tuners.tuners_utils.EMBEDDING_LAYER_NAMES", [])  # as if peft knew none of the names
    with pytest.raises(InputError, match="would train them apart"):
        with_adapter(tiny(tied=True), settings(train_embeddings=True))


def test_an_arm_is_named_after_what_is_not_the_default() -> None:
    names: dict[str, dict[str, Any]] = {
        "lora r=16": {"rank": 16, "alpha": 32},
        "lora r=2 alpha=3 dropout=0.1 on a,b": {"alpha": 3, "dropout": 0.1, "modules": "b, a,b"},
        "lora r=2 + embeddings": {"train_embeddings": True},
        "full": {"method": "full"},
    }
    assert [settings(**asked).arm for asked in names.values()] == list(names)
    assert settings(modules="b,a") == settings(modules="a,b")
    assert settings(alpha=None) == settings(alpha=4)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"alpha": 0}, "alpha must be at least 1"),
        ({"dropout": 1.0}, "dropout must be from 0"),
        ({"dropout": -0.1}, "dropout must be from 0"),
        ({"dropout": float("nan")}, "dropout must be from 0"),
        ({"modules": "q_proj,,v_proj"}, "comma-separated names"),
        ({"modules": "all-linear,q_proj"}, "comma-separated names"),
        ({"method": "full", "train_embeddings": True}, "has no LoRA to set, but got \\+ embeddings"),
        ({"method": "full", "modules": "q_proj"}, "but got on q_proj"),
    ],
)
def test_settings_that_cannot_be_are_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        settings(**asked)


@pytest.mark.parametrize("name", ["query", "lm_head", "embed_tokens", "mlp"])
def test_a_layer_that_is_not_a_linear_one_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"no linear layer '{name}' besides its head; it has down_proj, gate_proj"):
        with_adapter(tiny(), settings(modules=f"q_proj,{name}"))
