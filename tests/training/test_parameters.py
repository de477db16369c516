"""The arithmetic of LoRA (T1), on a model of the shape of Qwen2.5-0.5B that has no weights."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from assay.training.fitting import Settings, with_adapter  # noqa: E402
from assay.training.memory import Peak, bytes_of, count_parameters, gradient_bytes, optimizer_bytes  # noqa: E402

LAYERS, WIDTH, HIDDEN, VOCABULARY, KEYS, RANK = 24, 896, 4864, 151936, 128, 16


def test_qwen_with_lora_in_closed_form() -> None:
    config = transformers.Qwen2Config(
        hidden_size=WIDTH,
        intermediate_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=14,
        num_key_value_heads=2,
        vocab_size=VOCABULARY,
        tie_word_embeddings=True,
    )
    with torch.device("meta"):
        model = transformers.Qwen2ForCausalLM(config)
    attention = 2 * WIDTH * WIDTH + WIDTH + 2 * (WIDTH * KEYS + KEYS)  # q with its bias, o; k and v with theirs
    layer = attention + 3 * WIDTH * HIDDEN + 2 * WIDTH  # the three matrices of the MLP, two norms
    base = VOCABULARY * WIDTH + LAYERS * layer + WIDTH
    assert base == 494_032_768  # what the model's card calls 0.49B
    assert count_parameters(model) == {"total": base, "trainable": base}
    with torch.device("meta"):
        adapted = with_adapter(model, Settings(rank=RANK))
    ins_and_outs = 2 * (WIDTH + WIDTH) + 2 * (WIDTH + KEYS) + 3 * (WIDTH + HIDDEN)
    added = LAYERS * RANK * ins_and_outs
    assert added == 8_798_208
    assert count_parameters(adapted) == {"total": base + added, "trainable": added}
    assert sum(p.numel() for p in adapted.parameters() if p.requires_grad) == added


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
