"""The arithmetic of LoRA (T1), on a model of the shape of Qwen2.5-0.5B that has no weights."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from assay.training.callback import Peak, bytes_of, count_parameters, gradient_bytes, optimizer_bytes  # noqa: E402
from assay.training.fitting import Settings, with_adapter  # noqa: E402

LAYERS, WIDTH, HIDDEN, VOCABULARY, KEYS, RANK = 24, 896, 4864, 151936, 128, 16


def qwen(*, tied: bool = True) -> Any:
    config = transformers.Qwen2Config(
        hidden_size=WIDTH,
        intermediate_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=14,
        num_key_value_heads=2,
        vocab_size=VOCABULARY,
        tie_word_embeddings=tied,
    )
    with torch.device("meta"):
        return transformers.Qwen2ForCausalLM(config)


def adapted(model: Any, **settings: Any) -> Any:
    with torch.device("meta"):
        return with_adapter(model, Settings(rank=RANK, **settings))


ATTENTION = 2 * WIDTH * WIDTH + WIDTH + 2 * (WIDTH * KEYS + KEYS)  # q with its bias, o; k and v with theirs
LAYER = ATTENTION + 3 * WIDTH * HIDDEN + 2 * WIDTH  # the three matrices of the MLP, two norms
TABLE = VOCABULARY * WIDTH
BASE = TABLE + LAYERS * LAYER + WIDTH
ADDED = LAYERS * RANK * (2 * (WIDTH + WIDTH) + 2 * (WIDTH + KEYS) + 3 * (WIDTH + HIDDEN))


def test_qwen_with_lora_in_closed_form() -> None:
    model = qwen()
    assert BASE == 494_032_768  # what the model's card calls 0.49B
    assert count_parameters(model) == {"total": BASE, "trainable": BASE}
    found = adapted(model)
    assert ADDED == 8_798_208
    assert count_parameters(found) == {"total": BASE + ADDED, "trainable": ADDED}
    assert sum(p.numel() for p in found.parameters() if p.requires_grad) == ADDED


def test_qwen_with_lora_on_two_modules_in_closed_form() -> None:
    added = LAYERS * RANK * ((WIDTH + WIDTH) + (WIDTH + KEYS))
    assert count_parameters(adapted(qwen(), modules="v_proj,q_proj")) == {"total": BASE + added, "trainable": added}


@pytest.mark.parametrize("tied", [True, False])
def test_qwen_with_lora_and_embeddings_in_closed_form(tied: bool) -> None:
    """Each table that is trained is a copy beside the frozen one: a single table where the two are tied."""
    tables = TABLE if tied else 2 * TABLE
    base = BASE - TABLE + tables
    found = count_parameters(adapted(qwen(tied=tied), train_embeddings=True))
    assert found == {"total": base + ADDED + tables, "trainable": ADDED + tables}


def test_bytes_of_parts_in_closed_form() -> None:
    model = torch.nn.Linear(30, 20)  # 620 numbers
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(2, 30)).sum().backward()
    assert gradient_bytes(model) == 620 * 4
    optimizer.step()
    assert optimizer_bytes(optimizer) == 2 * 620 * 4 + 2 * 4  # two moments, and a step for each tensor
    assert bytes_of([model.weight, model.weight.view(-1), "x"]) == 600 * 4  # a storage once


def test_the_peak_of_the_resident_set_sees_a_large_tensor() -> None:
    peak = Peak("cpu")
    size = 64 << 20
    held = torch.ones(size // 4)
    found = peak.measured(parameters=0, gradients=0, optimizer=0)
    assert held.sum() == size // 4
    assert found["activations"] > 0.9 * size


def test_what_a_measurement_leaves_behind_is_not_training() -> None:
    peak = Peak("cpu")
    size = 64 << 20
    with peak.aside():
        kept = torch.ones(size // 4)
    found = peak.measured(parameters=0, gradients=0, optimizer=0)
    assert kept.sum() == size // 4
    assert found["activations"] < 0.1 * size
    held = torch.ones(size // 4)
    found = peak.measured(parameters=0, gradients=0, optimizer=0)
    assert held.sum() == size // 4
    assert 0.9 * size < found["activations"] < 1.1 * size


class FakeAllocator:
    """What torch.cuda says of a GPU with this history of allocations, in bytes."""

    def __init__(self) -> None:
        self.held = self.most = 0

    def allocate(self, size: int) -> None:
        self.held += size
        self.most = max(self.most, self.held)

    def reset_peak_memory_stats(self, _device: object) -> None:
        self.most = self.held

    def memory_allocated(self, _device: object) -> int:
        return self.held

    def max_memory_allocated(self, _device: object) -> int:
        return self.most

    def memory_reserved(self, _device: object) -> int:
        return 2 * self.held

    def max_memory_reserved(self, _device: object) -> int:
        return 2 * self.most


def test_on_a_gpu_allocated_reserved_and_their_peaks_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no GPU here: the four functions of torch.cuda are replaced, everything above them is ours."""
    gpu = FakeAllocator()
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
        monkeypatch.setattr(torch.cuda, name, getattr(gpu, name))
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", gpu.reset_peak_memory_stats)
    gpu.allocate(100)  # the parameters
    peak = Peak("cuda")
    with peak.aside() as inference:
        gpu.allocate(30)
        gpu.allocate(-30)
    gpu.allocate(70 + 20)  # gradients and optimizer 70, activations 20
    gpu.allocate(-20)
    assert inference.peak == 130
    assert peak.measured(parameters=100, gradients=30, optimizer=40) == {
        "parameters": 100,
        "gradients": 30,
        "optimizer": 40,
        "activations": 20,
        "peak": 190,
        "allocated": 170,
        "reserved": 340,
        "peak_reserved": 380,
    }
