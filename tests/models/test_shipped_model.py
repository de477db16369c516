"""The shipped model, by a plain loop over its logits: that it is small, honest about its text, and has learned."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay import models
from assay.errors import UsageError
from tools.grammar import story, text

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

LANGUAGES = ("en", "ja")
CONTEXT = 256


@cache
def tokenizer() -> Any:
    return transformers.AutoTokenizer.from_pretrained(models.path("base"))


@cache
def ids(language: str) -> NDArray[np.int64]:
    words = models.path(f"{language}.txt").read_text(encoding="utf-8")
    return np.array(tokenizer()(words, add_special_tokens=False, verbose=False)["input_ids"], dtype=np.int64)


@cache
def losses(folder: Path, language: str, windows: int = 24) -> NDArray[np.float64]:
    """-log p of each token given those before it in its window, in float64: (windows, CONTEXT - 1)."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    batch = torch.from_numpy(ids(language)[: windows * CONTEXT].reshape(windows, CONTEXT))
    with torch.inference_mode():
        logs = torch.log_softmax(model(input_ids=batch, use_cache=False).logits[:, :-1].double(), dim=-1)
    found: NDArray[np.float64] = -logs.gather(2, batch[:, 1:, None])[..., 0].numpy()
    return found


def test_everything_together_is_small() -> None:
    files = [
        file for file in models.path("base").parent.rglob("*") if file.is_file() and "__pycache__" not in file.parts
    ]
    assert sum(file.stat().st_size for file in files) <= 6_000_000


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no model or text 'huge'; there are base, en\.txt, ja\.txt"):
        models.path("huge")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_text_is_what_the_grammar_says_and_not_what_was_trained_on(language: str) -> None:
    shipped = models.path(f"{language}.txt").read_text(encoding="utf-8")
    count = shipped.count("\n\n") + 1
    assert shipped == text(language, range(1_000_000, 1_000_000 + count))
    assert not {story(language, number) for number in range(200)} & set(shipped.strip().split("\n\n"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_text_fills_the_windows_of_the_balanced_tier_also_story_by_story(language: str) -> None:
    assert len(ids(language)) // CONTEXT >= 360
    parts = models.path(f"{language}.txt").read_text(encoding="utf-8").split("\n\n")
    lengths = [len(part) for part in tokenizer()(parts, add_special_tokens=False, verbose=False)["input_ids"]]
    assert sum(length // CONTEXT for length in lengths) >= 360


def test_the_weights_are_float32_safetensors_and_nothing_else_runs() -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(models.path("base"), dtype="auto")
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert {file.suffix for file in models.path("base").iterdir()} == {".json", ".safetensors"}
    assert model.config.vocab_size == len(tokenizer())
    assert model.config.max_position_embeddings == tokenizer().model_max_length == 512


@given(st.text())
def test_any_text_comes_back_from_its_tokens(words: str) -> None:
    found = tokenizer()(words, add_special_tokens=False)["input_ids"]
    assert tokenizer().decode(found) == words


@pytest.mark.parametrize(
    "words", ["", "\x00\x7f", "naïve café", "日本語のテキスト、12時。", "🙂‍↔️ 한국어 עברית", "\u3000\r\n\t "]
)
def test_text_of_every_script_comes_back_from_its_tokens(words: str) -> None:
    found = tokenizer()(words)["input_ids"]
    assert tokenizer().decode(found) == words
    assert found == tokenizer()(words, add_special_tokens=False)["input_ids"]  # nothing is put in front


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_predicts_far_better_than_token_frequencies(language: str) -> None:
    """The frequencies of the very text that is predicted: no model without context does better."""
    _, counts = np.unique(ids(language), return_counts=True)
    entropy = -(counts / counts.sum() * np.log(counts / counts.sum())).sum()
    assert losses(models.path("base"), language).mean() < 0.5 * entropy


@pytest.mark.parametrize("language", LANGUAGES)
def test_context_helps_it(language: str) -> None:
    found = losses(models.path("base"), language)
    blocks = [found[:, low:high].mean() for low, high in ((0, 16), (16, 64), (64, 128), (128, 255))]
    assert blocks[0] > blocks[1] > blocks[3]
    assert blocks[0] > blocks[3] + 0.2


@pytest.mark.parametrize("language", LANGUAGES)
def test_fewer_bits_cost_more(language: str, tmp_path: Path) -> None:
    from assay.models import variants

    made = variants(tmp_path)
    base = losses(models.path("base"), language).mean()
    int8, int4, int3 = (losses(made[name], language).mean() for name in ("int8", "int4", "int3"))
    assert abs(int8 - base) < 0.01
    assert base < int4 < int3
    assert losses(made["pruned"], language).mean() > base
