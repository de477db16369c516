"""A byte-level BPE tokenizer in the format of `transformers`: any text goes in and comes out unchanged."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

END = "<|endoftext|>"
# Where merges stop: at scripts, digits and spaces. Numbers are digits, so that they can be copied and compared.
PIECES = (
    r" ?[A-Za-z]+|\p{N}|\p{Han}+|\p{Hiragana}+|[\p{Katakana}ー]+| ?[^\s\p{L}\p{N}]|\p{L}+|\s+"
)  # fmt: skip


def trained_tokenizer(texts: Sequence[str], size: int) -> Any:
    """256 bytes, one special token, and the merges that these texts ask for."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    pieces = pre_tokenizers.Split(Regex(PIECES), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pieces, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def save_tokenizer(tokenizer: Any, folder: Path, longest: int) -> None:
    """The tokenizer and its settings under the class name that every version of `transformers` knows."""
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "pad_token": END,
        "model_max_length": longest,
        "clean_up_tokenization_spaces": False,
    }
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
