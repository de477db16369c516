"""Does a checkpoint fit its model? Every weight comes from it, and every tensor of it has a place."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.files.reading import read_json
from assay.names import listed, one_line

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
    """Refuse a config whose model type is not that of the architecture it names: the weights fit one of them only."""
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
    """The shapes of the tensors in each of the safetensors of a folder, from their headers."""
    from safetensors import safe_open

    found = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, "np") as opened:
            names = list(opened.keys())
            found[file.name] = {name: tuple(opened.get_slice(name).get_shape()) for name in names}
    return found


def _promised(index: Path) -> dict[str, str]:
    """Which file an index says that each tensor is in."""
    found = read_json(index, advice="download or save it again")
    promised = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(promised, dict) or not all(isinstance(file, str) for file in promised.values()):
        raise InputError(
            f"{one_line(str(index))}: 'weight_map' must be an object of tensors and files; download or save it again."
        )
    return promised


def check_tensors(folder: Path | None, config: Any) -> None:
    """Refuse an index that promises what its files do not hold, and more layers than there are tensors."""
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
    """Refuse tensors of another shape than the model's, by name; called where loading has already failed."""
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
    """Refuse a model that is not the checkpoint's: weights made up, or tensors left over."""
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
