"""The bytes of tokens against the texts that were tokenized, and against GPT-2's own table."""

from typing import Any

import numpy as np
import pytest

tokenizers = pytest.importorskip("tokenizers", reason="the extra hf is not installed")
transformers = pytest.importorskip("transformers", reason="the extra hf is not installed")

from assay import models  # noqa: E402 - after the check that the extra is there
from assay.errors import InputError  # noqa: E402 - likewise
from assay.scoring.token_bytes import TokenBytes, _byte_level  # noqa: E402 - likewise

UNKNOWN = "<unk>"
TEXT = "日本語 text 𝄞、ｶﾅ。\n  naïve 日本語"


def sentencepiece_like(*, prefix: str = "always", normalizer: Any = None) -> Any:
    """A tokenizer as those of Llama 2 are: ▁ for spaces, bytes where it has no token."""
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    words = [UNKNOWN, *byte_tokens, "▁", "日", "本", "日本", "語", "t", "e", "x", "te", "▁te", "、", "。"]
    merges = [("日", "本"), ("t", "e"), ("▁", "te")]
    model = tokenizers.models.BPE(
        {word: at for at, word in enumerate(words)}, merges, unk_token=UNKNOWN, byte_fallback=True
    )
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme=prefix, split=False)
    decoders = tokenizers.decoders
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    if normalizer is not None:
        made.normalizer = normalizer
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made)


def encoded(tokenizer: Any, text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array(tokenizer(text, add_special_tokens=False)["input_ids"], dtype=np.int64)


def test_byte_level_signs_against_gpt2() -> None:
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    theirs: Any = bytes_to_unicode
    assert _byte_level() == {sign: byte for byte, sign in theirs().items()}


def test_tokens_of_the_shipped_model_are_the_bytes_of_its_text() -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(models.path("base"))
    table, ids = TokenBytes.of(tokenizer, "base"), encoded(tokenizer, TEXT)
    starts, spaced = table.spans(ids, TEXT, "t")
    assert not spaced
    assert b"".join(table.texts[i] for i in ids) == TEXT.encode()
    assert starts.tolist() == [0, *np.cumsum([len(table.texts[i]) for i in ids]).tolist()]
    assert any(not 0x80 <= table.texts[i][0] < 0xC0 for i in ids)  # starts of characters
    assert any(0x80 <= table.texts[i][0] < 0xC0 for i in ids)  # and their middles


@pytest.mark.parametrize(("prefix", "spaced"), [("always", True), ("never", False)])
def test_tokens_of_a_sentencepiece_tokenizer_are_the_bytes_of_the_text(prefix: str, spaced: bool) -> None:
    tokenizer = sentencepiece_like(prefix=prefix)
    table, ids = TokenBytes.of(tokenizer, "sp"), encoded(tokenizer, "日本語 text 鳥")
    assert table.spans(ids, "日本語 text 鳥", "t")[1] is spaced
    assert b"\xe9" in [table.texts[i] for i in ids]  # 鳥 comes as its bytes


def test_a_tokenizer_that_rewrites_the_text_is_refused_unless_the_text_is_as_it_rewrites_it() -> None:
    tokenizer = sentencepiece_like(normalizer=tokenizers.normalizers.NFKC())
    table = TokenBytes.of(tokenizer, "sp")
    with pytest.raises(InputError, match=r"d\.txt: the tokenizer of sp rewrites this text .*`normalize='nfkc'`"):
        table.spans(encoded(tokenizer, "日ｶ"), "日ｶ", "d.txt")
    assert table.spans(encoded(tokenizer, "日カ"), "日カ", "d.txt")[1]


def test_a_tokenizer_of_another_kind_is_refused() -> None:
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, UNKNOWN: 1}, unk_token=UNKNOWN))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made)
    with pytest.raises(InputError, match="neither byte-level nor SentencePiece"):
        TokenBytes.of(tokenizer, "words")


def test_agreement_is_the_common_beginning() -> None:
    table = TokenBytes(
        "t", [b"<s>", "です".encode(), "で".encode(), "でも".encode(), b"\xe3\x81", b"x"], frozenset({0})
    )
    wanted = np.array([1, 1, 1, 1, 1, 1, 2, 4, 0])
    greedy = np.array([1, 2, 3, 4, 5, 0, 1, 2, 0])
    assert table.agreement(greedy, wanted).tolist() == [6, 3, 3 + 1, 2, 0, 0, 3, 2, 3]
    assert table.agreement(np.array([99]), np.array([1])).tolist() == [0]  # what pads a vocabulary writes nothing
