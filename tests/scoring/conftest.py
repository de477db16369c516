"""A real, tiny language model with random weights, saved as `transformers` saves models."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TEXT = "The quick brown fox jumps over the lazy dog. 日本語の文も少しあります。 Ünïcödé, too! " * 40


def save_tokenizer(folder: Path, *, bos: bool) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([TEXT], trainer)
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    special = {"bos_token": "<s>", "eos_token": "</s>"}
    fast: Any = PreTrainedTokenizerFast
    fast(tokenizer_object=tokenizer, **special).save_pretrained(folder)


def save_model(folder: Path, kind: str, seed: int = 0) -> None:
    import torch
    import transformers

    sizes: dict[str, Any] = {
        "vocab_size": 300,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "max_position_embeddings": 128,
        "initializer_range": 0.3,
    }
    if kind == "gemma2":  # its forward caps the logits, so head(body(x)) is not what it computes
        sizes |= {"head_dim": 16, "final_logit_softcapping": 5.0, "initializer_range": 0.5}
    torch.manual_seed(seed)
    auto: Any = transformers.AutoModelForCausalLM
    model = auto.from_config(transformers.AutoConfig.for_model(kind, **sizes))
    model.save_pretrained(folder)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A function that gives the folder of a tiny model of some kind, made once."""
    made: dict[tuple[str, bool, int], Path] = {}

    def folder(kind: str = "llama", *, bos: bool = True, seed: int = 0) -> Path:
        key = (kind, bos, seed)
        if key not in made:
            made[key] = tmp_path_factory.mktemp(f"{kind}-{seed}")
            save_model(made[key], kind, seed)
            save_tokenizer(made[key], bos=bos)
        return made[key]

    return folder
