"""Checks of a checkpoint: digests of its files, every tensor in its place, a model that reads from left to right."""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.files.reading import read_json
from assay.names import listed, one_line
from assay.scoring.models_and_texts import EndpointSpec, ModelOrEndpoint, ModelSpec

if TYPE_CHECKING:
    import torch

_WEIGHTS = ("*.safetensors", "*.bin")
_TOKENIZER = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt", "vocab.txt", "tokenizer_config.json")
_TOKENS = 12  # of a probe
_SIZES = ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size")
# Masks and angles that older versions saved with the weights and newer ones compute.
_OLD_BUFFER = re.compile(
    r"(^|\.)(attn|attention|self_attn)\.(bias|masked_bias)$|rotary_emb\.inv_freq$|(^|\.)position_ids$"
)


def check_sizes(name: str, config: Any) -> None:
    """Refuse sizes that no model has."""
    text = config.get_text_config()
    for size in _SIZES:
        value = getattr(text, size, None)
        # A list is one number per layer.
        if value is not None and not isinstance(value, list) and (not isinstance(value, int) or value < 1):
            raise InputError(
                f"{one_line(name)}: {size} must be a whole number of at least 1, but is {one_line(str(value))}; "
                "correct config.json."
            )


def check_architecture(name: str, config: Any) -> None:
    """Refuse a config whose model type and architecture disagree: the weights fit only one of them."""
    import transformers

    known = [getattr(transformers, str(made), None) for made in getattr(config, "architectures", None) or ()]
    types = {getattr(getattr(made, "config_class", None), "model_type", None) for made in known if made is not None}
    if types and None not in types and config.model_type not in types:
        made = ", ".join(map(str, config.architectures))
        raise InputError(
            f"{one_line(name)}: its config says model_type {one_line(str(config.model_type))!r}, but the architecture "
            f"{one_line(made)} is of the type {', '.join(sorted(map(str, types)))!r}; correct config.json."
        )


def _tensors(folder: Path) -> dict[str, dict[str, tuple[int, ...]]]:
    """Tensor shapes by safetensors file and name, from the file headers."""
    from safetensors import safe_open

    found = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, "np") as opened:
            names = list(opened.keys())
            found[file.name] = {name: tuple(opened.get_slice(name).get_shape()) for name in names}
    return found


def _promised(index: Path) -> dict[str, str]:
    """The file that the index names for each tensor."""
    found = read_json(index, advice="download or save it again")
    promised = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(promised, dict) or not all(isinstance(file, str) for file in promised.values()):
        raise InputError(
            f"{one_line(str(index))}: 'weight_map' must be an object of tensors and files; download or save it again."
        )
    return promised


def check_tensors(folder: Path | None, config: Any) -> None:
    """Refuse an index that names tensors missing from its files, and a config with more layers than tensors."""
    if folder is None:
        return
    held, index = _tensors(folder), folder / "model.safetensors.index.json"
    if index.is_file():
        promised = _promised(index)
        lost = [name for name, file in promised.items() if name not in held.get(file, ())]
        if lost:
            raise InputError(
                f"{one_line(str(folder))}: its index names tensors that its files do not hold "
                f"({listed(sorted(lost))}); download or save it again."
            )
    layers, tensors = getattr(config.get_text_config(), "num_hidden_layers", None), sum(map(len, held.values()))
    if held and layers is not None and layers > tensors:
        raise InputError(
            f"{one_line(str(folder))}: num_hidden_layers is {layers:,}, but the checkpoint has {tensors:,} tensors "
            "in all; correct config.json."
        )


def check_shapes(folder: Path | None, config: Any) -> None:
    """Refuse, by name, tensors of another shape than the model's; called after loading failed."""
    import torch
    from transformers import AutoModelForCausalLM

    held = {name: shape for one in _tensors(folder).values() for name, shape in one.items()} if folder else {}
    with torch.device("meta"):
        wanted = {name: tuple(t.shape) for name, t in AutoModelForCausalLM.from_config(config).state_dict().items()}
    wrong = [
        f"{name} is {_by(held[name])}, not {_by(shape)}"
        for name, shape in wanted.items()
        if name in held and held[name] != shape
    ]
    if wrong:
        raise InputError(
            f"{one_line(str(folder))}: {_counted(wrong, 'weight has another shape', 'weights have other shapes')} than "
            f"the config says ({listed(wrong)}); correct config.json, or download it again."
        )


def _by(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "a number"


def check_loaded(name: str, model: Any, info: Mapping[str, Any]) -> None:
    """Refuse a model that does not match the checkpoint: randomly initialised weights, or tensors left over."""
    config, kind = model.config, type(model).__name__
    quantised = getattr(config, "quantization_config", None)
    if quantised and getattr(model, "hf_quantizer", None) is None:
        method = quantised.get("quant_method") if isinstance(quantised, Mapping) else quantised
        raise InputError(
            f"{one_line(name)}: quantised by {one_line(str(method))!r}, which the installed transformers does not "
            "know; install a version that does."
        )
    # Packages that quantise keep tensors of their own beside the weights, each its own way.
    surplus = () if quantised else [key for key in info["unexpected_keys"] if not _OLD_BUFFER.search(key)]
    refuse_misfits(name, f"a {kind}", info["missing_keys"], surplus, info.get("mismatched_keys", ()))


def refuse_misfits(
    name: str, what: str, missing: Collection[str], surplus: Collection[str], other: Collection[Any] = ()
) -> None:
    wrong = []
    if missing:
        wrong.append(f"{_counted(missing, 'weight is', 'weights are')} missing ({listed(sorted(missing))})")
    if surplus:
        wrong.append(f"{_counted(surplus, 'tensor has', 'tensors have')} no place in it ({listed(sorted(surplus))})")
    if other:
        names = sorted(str(key[0] if isinstance(key, tuple) else key) for key in other)
        wrong.append(f"{_counted(other, 'weight has', 'weights have')} another shape ({listed(names)})")
    if wrong:
        raise InputError(
            f"{one_line(name)}: the checkpoint is not that of {what}: {'; '.join(wrong)}; download it again, or "
            "correct its config."
        )


def _counted(things: Collection[Any], one: str, many: str) -> str:
    return f"{len(things):,} {one if len(things) == 1 else many}"


def check_causal(model: Any, name: str) -> None:
    """Refuse a model that sees what it predicts: changing the last token must not move earlier log-probabilities."""
    size = model.get_input_embeddings().weight.shape[0]
    row = [(7 * place + 3) % size for place in range(_TOKENS)]
    other = [*row[:-1], (row[-1] + max(1, size // 2)) % size]
    first, second = (_log_probabilities(model, ids) for ids in (row, other))
    moved = float((first[:-1] - second[:-1]).abs().max())
    if not moved <= _rounding(model.dtype) * max(1.0, float(first.abs().max())):
        raise InputError(_not_causal(model, name, moved))


def _log_probabilities(model: Any, ids: list[int]) -> "torch.Tensor":
    """(tokens, vocabulary)"""
    import torch  # late, here and below: a checkpoint is checked before it is loaded

    with torch.no_grad():  # not inference_mode: buffers made on the way may be trained with
        logits = model(input_ids=torch.tensor([ids], device=model.device), use_cache=False).logits[0]
    return torch.log_softmax(logits.double().cpu(), dim=-1)


def _rounding(dtype: "torch.dtype") -> float:
    """Tolerance for a causal model, relative to its log-probabilities.

    A dense model does not move at all. Mixtures of experts and 8-bit kernels do, by rounding: later tokens change
    which rows are multiplied together.
    """
    import torch

    return 1e-5 if dtype in (torch.float32, torch.float64) else 2 * torch.finfo(dtype).eps


def _not_causal(model: Any, name: str, moved: float) -> str:
    if isnan(moved):
        return f"{one_line(name)}: the model gives no numbers (NaN); {_no_numbers(model)}"
    made = ", ".join(map(str, getattr(model.config, "architectures", None) or ())) or type(model).__name__
    return (
        f"{one_line(name)}: {one_line(made)} is not a causal language model: another last token moves the "
        f"log-probabilities before it by up to {moved:.2g}, so it has seen what it predicts; score a model that reads "
        "from left to right."
    )


def _no_numbers(model: Any) -> str:
    """Why a model gives NaN, and what to do."""
    import torch

    bad = [key for key, value in model.named_parameters() if not bool(torch.isfinite(value).all())]
    if bad:
        return f"its weights are not finite ({listed(bad)}): download or save it again."
    if model.dtype in (torch.float32, torch.float64):
        return "its weights are finite, but too large to compute with: download or save it again."
    return "load it with `dtype='float32'`."


def files_digest(folder: Path, patterns: Sequence[str]) -> str | None:
    """sha256 of the matching files in a folder, sorted by name; ``None`` if there are none."""
    files = sorted({file for pattern in patterns for file in folder.glob(pattern)})
    if not files:
        return None
    hashed = hashlib.sha256()
    for file in files:
        hashed.update(file.name.encode() + b"\0")
        with file.open("rb") as opened:
            while block := opened.read(1 << 22):
                hashed.update(block)
    return "sha256:" + hashed.hexdigest()


def model_digests(spec: ModelOrEndpoint) -> dict[str, str | None]:
    """Digests of the weights, the tokenizer and the adapter, for files on this machine."""
    if isinstance(spec, EndpointSpec):
        folder = None if spec.tokenizer is None else _local_folder(ModelSpec(spec.tokenizer))
        tokenizer = None if folder is None else files_digest(folder, _TOKENIZER)
        return {"model": None, "tokenizer": tokenizer, "adapter": None}
    folder = _local_folder(spec)
    adapter = None if spec.adapter is None else files_digest(Path(spec.adapter), (*_WEIGHTS, "adapter_config.json"))
    if folder is None:
        return {"model": None, "tokenizer": None, "adapter": adapter}
    return {
        "model": files_digest(folder, (*_WEIGHTS, "config.json")),
        "tokenizer": files_digest(folder, _TOKENIZER),
        "adapter": adapter,
    }


#: What a tokenizer is told beside its definition that changes the ids of a text, or what stands around it.
_ENCODING = ("add_bos_token", "add_eos_token", "split_special_tokens", "bos_token", "eos_token", "unk_token")


def definition_digest(tokenizer: Any) -> str:
    """sha256 of what a tokenizer does, however its files are written.

    The order of keys, the spelling of merges, and what the last call left behind (truncation, padding) do not count.
    """
    found = json.loads(tokenizer.backend_tokenizer.to_str())
    definition = {name: part for name, part in found.items() if name not in ("version", "truncation", "padding")}
    definition["added_tokens"] = sorted(found["added_tokens"], key=lambda token: token["id"])
    if "merges" in found["model"]:  # "a b" in older files, ["a", "b"] in newer ones
        pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in found["model"]["merges"]]
        definition["model"] = found["model"] | {"merges": pairs}
    told = {name: getattr(tokenizer, name, None) for name in _ENCODING}
    definition["settings"] = {name: str(value) for name, value in told.items() if value not in (None, False)}
    return "sha256:" + hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()


def ids_digest(texts: Iterable[NDArray[np.int64]]) -> str:
    """sha256 of the token ids of texts."""
    hashed = hashlib.sha256()
    for ids in texts:
        hashed.update(len(ids).to_bytes(8, "little"))
        hashed.update(ids.astype("<i8").tobytes())
    return "sha256:" + hashed.hexdigest()


def _local_folder(spec: ModelSpec) -> Path | None:
    if Path(spec.name).is_dir():
        return Path(spec.name)
    from transformers.utils.hub import cached_file

    found = cached_file(spec.name, "config.json", revision=spec.revision, _raise_exceptions_for_missing_entries=False)
    return None if found is None else Path(found).parent
