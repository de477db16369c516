"""A model is loaded whole or refused: what a checkpoint lacks is never made up, and a broken file is one clear line."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra hf is not installed")
transformers = pytest.importorskip("transformers", reason="the extra hf is not installed")

from typer.testing import CliRunner  # noqa: E402 - after the check that the extra is there

from assay.cli.arguments import as_options  # noqa: E402 - likewise
from assay.cli.command_line import command_line  # noqa: E402 - likewise
from assay.errors import InputError, UsageError  # noqa: E402 - likewise
from assay.scoring.checkpoint import check_causal  # noqa: E402 - likewise
from assay.scoring.hf import ModelScorer  # noqa: E402 - likewise
from assay.scoring.loading import load_tokenizer, refusing  # noqa: E402 - likewise
from assay.scoring.models_and_texts import ModelSpec  # noqa: E402 - likewise
from tests.scoring.conftest import save_tokenizer  # noqa: E402 - likewise

Weights = dict[str, Any]
SMALL = {
    "vocab_size": 300,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
}


@pytest.fixture
def broken(tiny_model: Callable[..., Path], tmp_path: Path) -> Path:
    """A copy of a whole model, to be broken."""
    return Path(shutil.copytree(tiny_model(), tmp_path / "model"))


def with_weights(folder: Path, change: Callable[[Weights], object]) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def with_config(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def refusal(folder: Path, **how: Any) -> str:
    with pytest.raises(InputError) as refused:
        ModelScorer(ModelSpec(str(folder), device="cpu", **how))
    said = str(refused.value)
    assert "\n" not in said
    assert str(folder) in said
    assert refused.value.exit_code == 3
    return said


# -------------------------------------------------------------------------------------------------------------- weights


def test_missing_weights_are_refused_by_name(broken: Path) -> None:
    gone = ["lm_head.weight", "model.layers.0.mlp.up_proj.weight", "model.layers.1.self_attn.q_proj.weight"]
    with_weights(broken, lambda weights: [weights.pop(name) for name in gone])
    said = refusal(broken)
    assert "3 weights are missing" in said
    assert all(name in said for name in gone)


def test_tensors_without_a_place_are_refused_by_name(broken: Path) -> None:
    with_weights(broken, lambda weights: weights.update(stranger=torch.zeros(3)))
    assert "1 tensor has no place in it (stranger)" in refusal(broken)


def test_weights_of_another_shape_are_refused_by_name(broken: Path) -> None:
    with_weights(broken, lambda weights: weights.update({"model.norm.weight": torch.zeros(7)}))
    assert "model.norm.weight is 7, not 32" in refusal(broken)


def test_an_index_that_names_a_tensor_that_no_file_holds_is_refused(broken: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(broken / "model.safetensors")
    (broken / "model.safetensors").unlink()
    files = [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    names = sorted(weights)
    save_file({name: weights[name] for name in names[:5]}, broken / files[0], metadata={"format": "pt"})
    save_file({name: weights[name] for name in names[6:]}, broken / files[1], metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": {name: files[i > 5] for i, name in enumerate(names)}}
    (broken / "model.safetensors.index.json").write_text(json.dumps(index))
    assert names[5] in refusal(broken)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model_type": "gpt2"}, "model_type 'gpt2', but the architecture LlamaForCausalLM"),
        ({"model_type": "gpt2", "architectures": None}, "not that of a GPT2LMHeadModel"),
        ({"num_hidden_layers": -1}, "num_hidden_layers must be a whole number of at least 1, but is -1"),
        ({"num_hidden_layers": 1}, "model.layers.1"),
        ({"num_hidden_layers": 3}, "model.layers.2"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1,000,000,000, but the checkpoint has"),
        ({"vocab_size": 10**9}, "1000000000 × 32"),
        ({"vocab_size": "300"}, "vocab_size"),
        ({"num_attention_heads": 0}, "configuration"),
        ({"dtype": "float99"}, "float99"),
        ({"dtype": 5}, "cannot be loaded"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, "install"),
        ({"quantization_config": {"quant_method": "abacus"}}, "quantised by 'abacus'"),
    ],
)
def test_a_config_that_does_not_fit_its_weights_is_refused(broken: Path, config: dict[str, Any], said: str) -> None:
    with_config(broken, **config)
    assert said in refusal(broken)


def test_tied_weights_and_old_buffers_are_no_fault(tmp_path: Path) -> None:
    torch.manual_seed(0)
    sizes = transformers.GPT2Config(vocab_size=300, n_embd=32, n_layer=2, n_head=2, n_positions=128)
    transformers.GPT2LMHeadModel(sizes).save_pretrained(tmp_path)  # its head is tied to its embeddings
    save_tokenizer(tmp_path, bos=False)
    masks = {"transformer.h.0.attn.bias": torch.ones(1, 1, 128, 128), "transformer.h.0.attn.masked_bias": torch.ones(1)}
    with_weights(tmp_path, lambda weights: weights.update(masks))
    model = transformers.GPT2LMHeadModel.from_pretrained(tmp_path).eval()
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.inference_mode():
        plain = float(model(input_ids=ids, labels=ids).loss)
    (losses,) = ModelScorer(ModelSpec(str(tmp_path), device="cpu")).losses([[5, 6, 7, 8]])
    assert losses.mean() == pytest.approx(plain, abs=1e-5)


# ----------------------------------------------------------------------------------------------------------- causality


@pytest.mark.parametrize("kind", ["BertForMaskedLM", "RobertaForMaskedLM"])
def test_a_model_that_sees_what_it_predicts_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    config = transformers.AutoConfig.for_model(kind.removesuffix("ForMaskedLM").lower(), intermediate_size=64, **SMALL)
    torch.manual_seed(0)
    getattr(transformers, kind)(config).save_pretrained(tmp_path)
    save_tokenizer(tmp_path, bos=False)
    said = refusal(tmp_path)
    assert f"{kind} is not a causal language model" in said


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("kind", ["llama", "gemma2", "mixtral", "gpt_neox"])
def test_causal_models_of_any_dtype_pass_the_probe(kind: str, dtype: str) -> None:
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(
        kind, intermediate_size=64, max_position_embeddings=64, initializer_range=0.3, **SMALL
    )
    model = transformers.AutoModelForCausalLM.from_config(config).to(getattr(torch, dtype)).eval()
    check_causal(model, kind)


def test_a_model_without_numbers_is_refused(broken: Path) -> None:
    with_weights(broken, lambda weights: weights["model.norm.weight"].fill_(float("nan")))
    assert "NaN" in refusal(broken)


# -------------------------------------------------------------------------------------------------------- broken files

WRONG = {"list": "[]", "number": "3", "null": "null", "cut": '{"model_type": "lla', "empty": "", "deep": "[" * 100_000}


@pytest.mark.parametrize("content", WRONG.values(), ids=list(WRONG))
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json"])
def test_files_of_the_wrong_type_are_refused(broken: Path, file: str, content: str) -> None:
    (broken / file).write_text(content)
    assert "cannot be loaded" in refusal(broken)


@pytest.mark.parametrize("content", [WRONG[name] for name in ("list", "number", "cut", "deep")])
def test_a_tokenizer_config_of_the_wrong_type_is_refused(broken: Path, content: str) -> None:
    (broken / "tokenizer_config.json").write_text(content)
    with pytest.raises(InputError, match="the tokenizer cannot be loaded"):
        load_tokenizer(ModelSpec(str(broken)))


@pytest.mark.parametrize("cut", ["half", "empty", "header", "zeros", "text"])
def test_broken_safetensors_are_refused(broken: Path, cut: str) -> None:
    file = broken / "model.safetensors"
    whole = file.read_bytes()
    parts = {"half": whole[: len(whole) // 2], "empty": b"", "header": whole[:50], "zeros": bytes(1000)}
    file.write_bytes(parts.get(cut, b"version of a large file\n"))
    assert "SafetensorError" in refusal(broken)


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_pipes_are_refused_before_they_are_read(broken: Path, file: str) -> None:
    (broken / file).unlink()
    os.mkfifo(broken / file)
    assert "a pipe, not a regular file" in refusal(broken)


def test_links_that_lead_nowhere_or_in_a_circle_are_refused(broken: Path) -> None:
    (broken / "model.safetensors").unlink()
    (broken / "model.safetensors").symlink_to(broken / "gone")
    assert "cannot be opened" in refusal(broken)
    (broken / "model.safetensors").unlink()
    (broken / "model.safetensors").symlink_to(broken / "model.safetensors")
    assert "cannot be opened" in refusal(broken)


def test_a_pointer_of_git_lfs_is_named_as_such(broken: Path) -> None:
    (broken / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    assert "git lfs pull" in refusal(broken)


@pytest.mark.parametrize("name", ["a" * 5000, "a/" * 2500 + "b", "a\0b", "", "\x1b[2J"], ids=range(5))
def test_names_that_no_folder_can_have_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="cannot be loaded") as refused:
        ModelScorer(ModelSpec(name, device="cpu"))
    assert str(refused.value).isprintable()


def test_a_tokenizer_of_another_model_is_refused(broken: Path) -> None:
    scorer = ModelScorer(ModelSpec(str(broken), device="cpu"))
    with pytest.raises(InputError, match="gives token 300, but the model knows 300 tokens"):
        scorer.losses([[1, 2, 300]])


# --------------------------------------------------------------------------------------------------- devices and dtypes


def test_an_absent_device_is_refused(broken: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(InputError, match=r"no device cuda here .*; use `device='cpu'`"):
        ModelScorer(ModelSpec(str(broken), device="cuda"))


@pytest.mark.parametrize("wrong", [{"device": "meta"}, {"device": "abacus"}, {"dtype": "int8"}, {"dtype": "nn"}])
def test_options_that_make_no_sense_are_usage_errors(broken: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="must be auto"):
        ModelScorer(ModelSpec(str(broken), **{"device": "cpu"} | wrong))


# ------------------------------------------------------------------------------------------------------------- adapters


def adapter_of(folder: Path, base: Path, config: Any) -> Path:
    peft = pytest.importorskip("peft", reason="the extra hf is not installed")
    torch.manual_seed(1)
    peft.get_peft_model(transformers.AutoModelForCausalLM.from_pretrained(base), config).save_pretrained(folder)
    return folder


@pytest.fixture
def adapter(tiny_model: Callable[..., Path], tmp_path: Path) -> Path:
    peft = pytest.importorskip("peft", reason="the extra hf is not installed")
    return adapter_of(tmp_path / "adapter", tiny_model(), peft.LoraConfig(r=4, target_modules=["q_proj"]))


def refused_adapter(base: Path, adapter: Path) -> str:
    with pytest.raises(InputError) as refused:
        ModelScorer(ModelSpec(str(base), adapter=str(adapter), device="cpu"))
    assert str(adapter) in str(refused.value)
    return str(refused.value)


def test_an_adapter_of_unknown_type_is_refused(tiny_model: Callable[..., Path], adapter: Path) -> None:
    config = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps(config | {"peft_type": "ABACUS"}))
    assert "the adapter cannot be loaded" in refused_adapter(tiny_model(), adapter)


def test_an_adapter_that_lacks_tensors_or_has_others_is_refused(tiny_model: Callable[..., Path], adapter: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(adapter / "adapter_model.safetensors")
    lost = min(weights)
    save_file({k: v for k, v in weights.items() if k != lost}, adapter / "adapter_model.safetensors")
    assert "1 weight is missing" in refused_adapter(tiny_model(), adapter)
    strange = {lost.replace("layers.0", "layers.7"): weights[lost].clone()}
    save_file(weights | strange, adapter / "adapter_model.safetensors")
    assert "layers.7" in refused_adapter(tiny_model(), adapter)


def test_a_broken_adapter_is_refused(tiny_model: Callable[..., Path], adapter: Path) -> None:
    (adapter / "adapter_model.safetensors").write_bytes(b"")
    assert "SafetensorError" in refused_adapter(tiny_model(), adapter)
    (adapter / "adapter_config.json").write_text("[]")
    assert "the adapter cannot be loaded" in refused_adapter(tiny_model(), adapter)


def test_an_adapter_outside_of_the_layers_is_refused(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    peft = pytest.importorskip("peft", reason="the extra hf is not installed")
    config = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=4)
    folder = adapter_of(tmp_path / "prompt", tiny_model(), config)
    assert "PROMPT_TUNING" in refused_adapter(tiny_model(), folder)


# ------------------------------------------------------------------------------------- every verb loads models this way


@pytest.mark.parametrize("verb", ["score", "tune", "japanese"])
def test_every_verb_refuses_a_checkpoint_with_a_hole(broken: Path, tmp_path: Path, verb: str) -> None:
    with_weights(broken, lambda weights: weights.pop("lm_head.weight"))
    text, output = tmp_path / "a.txt", tmp_path / "out"
    text.write_text("The quick brown fox. " * 60)
    model, file = str(broken), str(text)
    commands = {
        "score": ["score", model, file, "-o", str(output)],
        "tune": ["tune", "run", "--base", model, "--train", file, "--valid", file, "-o", str(output), "--steps", "1"],
        "japanese": ["japanese", model, file],
    }
    result = CliRunner().invoke(command_line([verb]), commands[verb])
    assert isinstance(result.exception, InputError)
    assert "lm_head.weight" in str(result.exception)
    assert not output.exists()


def test_the_loss_of_a_whole_model_is_the_same_each_time(broken: Path) -> None:
    first, second = (ModelScorer(ModelSpec(str(broken), device="cpu")).losses([[1, 2, 3, 4]])[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)


# ------------------------------------------------------------------------------------------ what is not a folder at all


def test_what_is_there_and_no_folder_is_not_looked_for_on_a_hub(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "pool")
    (tmp_path / "pool").symlink_to(tmp_path / "loop")
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    (tmp_path / "table.csv").write_text("item,score\n")
    for name, said in {
        "pipe": "a pipe, not a regular file",
        "loop": "a link that leads in a circle",
        "lost": "which is not there; check the link",
        "table.csv": "a file, not the folder of a model",
    }.items():
        assert said in refusal(tmp_path / name)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_named(broken: Path, bad: float) -> None:
    with_weights(broken, lambda weights: weights["model.norm.weight"].fill_(bad))
    said = refusal(broken)
    assert "its weights are not finite (model.norm.weight): download or save it again" in said
    assert "dtype" not in said


def test_a_model_type_that_is_not_the_architectures_is_refused(broken: Path) -> None:
    with_config(broken, architectures=["GemmaForCausalLM"])
    assert "architecture GemmaForCausalLM is of the type 'gemma'; correct config.json" in refusal(broken)
    with_config(broken, architectures=["OfNobodyForCausalLM"])
    ModelScorer(ModelSpec(str(broken), device="cpu"))


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("CUDA out of memory. Tried"), RuntimeError("can't allocate memory: 4 bytes")]
)
def test_where_memory_runs_out_the_advice_names_options_of_score(error: Exception) -> None:
    with pytest.raises(InputError, match="more memory than there is") as refused, refusing("m", "cannot be loaded"):
        raise error
    options = {word for word in as_options(str(refused.value)).split() if word.startswith("--")}
    shown = CliRunner().invoke(command_line(["score"]), ["score", "--help"], terminal_width=200).output
    assert options == {"--dtype", "--device"}
    assert all(option in shown for option in options)
