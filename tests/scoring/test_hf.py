"""Losses against a plain `model(input_ids, labels=…)` loop, and the refusals of the loader."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra hf is not installed")
transformers = pytest.importorskip("transformers", reason="the extra hf is not installed")

from assay.errors import InputError, UsageError  # noqa: E402 - after the check that the extra is there
from assay.scoring.checkpoint import model_digests  # noqa: E402 - likewise
from assay.scoring.hf import ModelScorer  # noqa: E402 - likewise
from assay.scoring.loading import load_config, tokenized  # noqa: E402 - likewise
from assay.scoring.models_and_texts import ModelSpec, rope_of  # noqa: E402 - likewise

ROWS = [list(np.random.default_rng(i).integers(2, 300, size=size)) for i, size in enumerate((50, 50, 47, 9, 2, 64))]


def plain_losses(model: object, row: list[int]) -> float:
    """The mean loss as the model's own forward gives it."""
    ids = torch.tensor([row])
    with torch.inference_mode():
        return float(model(input_ids=ids, labels=ids).loss)  # type: ignore[operator]  # a torch module


@pytest.mark.parametrize("kind", ["llama", "gemma2"])
def test_losses_against_a_plain_forward_loop(tiny_model: Callable[..., Path], kind: str) -> None:
    folder = tiny_model(kind)
    scorer = ModelScorer(ModelSpec(str(folder), dtype="float32", device="cpu"))
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    for row, losses in zip(ROWS, scorer.losses(ROWS), strict=True):
        assert losses.dtype == np.float64
        assert losses.shape == (len(row) - 1,)
        assert losses.mean() == pytest.approx(plain_losses(model, row), abs=1e-5)


def test_the_batch_changes_no_loss_by_more_than_rounding(tiny_model: Callable[..., Path]) -> None:
    scorer = ModelScorer(ModelSpec(str(tiny_model()), dtype="float32", device="cpu"))
    together = scorer.losses(ROWS)
    alone = [scorer.losses([row])[0] for row in ROWS]
    for a, b in zip(together, alone, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_a_head_in_chunks_gives_the_same_losses(tiny_model: Callable[..., Path]) -> None:
    scorer = ModelScorer(ModelSpec(str(tiny_model()), dtype="float32", device="cpu"))
    whole = scorer.losses(ROWS)
    scorer._chunk = 7
    for a, b in zip(whole, scorer.losses(ROWS), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)  # eight ulps of float32: sums of another order


def test_a_model_that_caps_its_logits_is_not_split(tiny_model: Callable[..., Path]) -> None:
    assert ModelScorer(ModelSpec(str(tiny_model("llama"))))._split
    assert not ModelScorer(ModelSpec(str(tiny_model("gemma2"))))._split


@pytest.mark.parametrize("bos", [True, False])
def test_bos_is_what_the_tokenizer_does_by_itself(tiny_model: Callable[..., Path], bos: bool) -> None:
    scorer = ModelScorer(ModelSpec(str(tiny_model(bos=bos, seed=int(bos)))))
    assert scorer.bos == (0 if bos else None)


def test_characters_are_shared_out_among_tokens_against_the_text(tiny_model: Callable[..., Path]) -> None:
    scorer = ModelScorer(ModelSpec(str(tiny_model())))
    text = "naïve 日本語 𝄞 text"  # characters of one to four bytes, which the tokenizer cuts
    ids, ends = next(iter(tokenized(scorer.tokenizer, [text])))
    assert len(ids) == len(ends)
    assert ends[-1] == len(text)
    assert np.all(np.diff(ends) >= 0)


def test_an_adapter_changes_the_losses_as_peft_does(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    peft = pytest.importorskip("peft", reason="the extra hf is not installed")
    folder = tiny_model()
    base = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    torch.manual_seed(1)
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    adapted = peft.get_peft_model(base, config).eval()
    adapted.save_pretrained(tmp_path)
    scorer = ModelScorer(ModelSpec(str(folder), adapter=str(tmp_path), dtype="float32", device="cpu"))
    bare = ModelScorer(ModelSpec(str(folder), dtype="float32", device="cpu"))
    losses = scorer.losses(ROWS[:1])[0]
    assert losses.mean() == pytest.approx(plain_losses(adapted, ROWS[0]), abs=1e-5)
    assert abs(losses.mean() - bare.losses(ROWS[:1])[0].mean()) > 1e-3


def test_pickled_weights_are_refused_unless_allowed(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    folder = tiny_model()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pickle.*`allow_pickle=True`"):
        ModelScorer(ModelSpec(str(tmp_path)))
    assert ModelScorer(ModelSpec(str(tmp_path), allow_pickle=True)).losses([[1, 2, 3]])[0].shape == (2,)


def test_what_cannot_be_loaded_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing-here: no such folder") as refused:
        ModelScorer(ModelSpec(str(tmp_path / "nothing-here")))
    assert "\n" not in str(refused.value)
    with pytest.raises(UsageError, match="device must be"):
        ModelScorer(ModelSpec(str(tmp_path), device="abacus"))


def test_digests_follow_the_files(tiny_model: Callable[..., Path]) -> None:
    a, b = (model_digests(ModelSpec(str(tiny_model(seed=seed)))) for seed in (0, 5))
    assert a["model"] != b["model"]
    assert a["tokenizer"] == b["tokenizer"]


@pytest.mark.parametrize("scaling", ["yarn:4", "linear:2.5"])
def test_stretched_positions_against_a_model_whose_config_says_so(
    tiny_model: Callable[..., Path], scaling: str, tmp_path: Path
) -> None:
    """The oracle is transformers, which reads the scaling from the file of the model."""
    folder, (kind, factor) = tiny_model(), rope_of(scaling)
    scorer = ModelScorer(ModelSpec(str(folder), dtype="float32", device="cpu", rope_scaling=scaling))
    config = transformers.AutoConfig.from_pretrained(folder)
    own = config.max_position_embeddings
    assert (scorer.context, scorer.about["rope_scaling"]) == (int(own * factor), scaling)
    told = {"rope_theta": 10_000.0, "rope_type": kind, "factor": factor, "original_max_position_embeddings": own}
    scaled = tmp_path / "scaled"
    shutil.copytree(folder, scaled)
    content = json.loads((scaled / "config.json").read_text("utf-8"))
    said = {"rope_parameters": told, "max_position_embeddings": int(own * factor)}
    (scaled / "config.json").write_text(json.dumps(content | said), "utf-8")
    model = transformers.AutoModelForCausalLM.from_pretrained(scaled, dtype=torch.float32).eval()
    row = list(np.random.default_rng(3).integers(2, 300, size=own + 40))
    assert scorer.losses([row])[0].mean() == pytest.approx(plain_losses(model, row), abs=1e-5)
    plain = ModelScorer(ModelSpec(str(folder), dtype="float32", device="cpu"))
    assert abs(plain.losses([row[:own]])[0] - scorer.losses([row[:own]])[0]).max() > 1e-6


@pytest.mark.parametrize(
    "scaling", ["yarn", "yarn:1", "yarn:0.5", "yarn:x", "dynamic:2", "linear:1e9", "linear:nan", ""]
)
def test_scalings_that_make_no_sense_are_refused(tiny_model: Callable[..., Path], scaling: str) -> None:
    with pytest.raises(UsageError, match="rope_scaling must look like yarn:8"):
        ModelScorer(ModelSpec(str(tiny_model()), rope_scaling=scaling))


def test_only_rotary_positions_that_are_not_scaled_yet_are_stretched(
    tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tmp_path / "scaled"
    shutil.copytree(tiny_model(), folder)
    content = json.loads((folder / "config.json").read_text("utf-8"))
    told = {"rope_theta": 10_000.0, "rope_type": "linear", "factor": 2.0}
    (folder / "config.json").write_text(json.dumps(content | {"rope_parameters": told}), "utf-8")
    with pytest.raises(UsageError, match=r"are scaled already \(linear\); leave out `rope_scaling`"):
        ModelScorer(ModelSpec(str(folder), rope_scaling="yarn:2"))
    gpt2 = tmp_path / "gpt2"
    transformers.GPT2Config(vocab_size=300, n_positions=64, n_embd=32, n_layer=1, n_head=2).save_pretrained(gpt2)
    with pytest.raises(UsageError, match="no rotary positions to stretch"):
        load_config(ModelSpec(str(gpt2), rope_scaling="yarn:2"))
