"""Load a model and its tokenizer: whole, or not at all.

`transformers` fills weights that a checkpoint lacks with random numbers and goes on, so a loss would be another one
each time. Here every weight of the model must come from the checkpoint, and every tensor of the checkpoint must have a
place in the model. Whatever a broken file makes the libraries raise becomes one refusal that names the model.
"""

import json
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.data.columns import listed
from assay.data.opening import DOCUMENT, Limit, check_file
from assay.errors import AssayError, InputError, UsageError
from assay.names import one_line
from assay.scoring.specs import ModelSpec

if TYPE_CHECKING:
    import torch

_WEIGHTS = Limit(1_000_000_000_000, "a file of weights", "save the model in several files")
_EXTRA = frozenset({"accelerate", "peft", "safetensors", "torch", "transformers"})
_SIZES = ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size")
_DTYPES = ("float32", "bfloat16", "float16", "float64")
# Masks and angles that older versions saved with the weights and newer ones compute.
_OLD_BUFFER = re.compile(
    r"(^|\.)(attn|attention|self_attn)\.(bias|masked_bias)$|rotary_emb\.inv_freq$|(^|\.)position_ids$"
)


@contextmanager
def refusing(name: str, what: str) -> Iterator[None]:
    """Turn whatever the libraries raise about someone's files into an `InputError`."""
    try:
        yield
    except AssayError:
        raise
    except Exception as error:
        raise _refusal(name, what, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # tokenizers and safetensors are Rust, and their panics are not
            raise  # Exceptions; a keyboard interrupt is not theirs
        raise _refusal(name, what, error) from error


def _refusal(name: str, what: str, error: BaseException) -> AssayError:
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRA:
        return UsageError(f"models need the extra hf ({error.name} is missing): pip install 'assay-eval[hf]'.")
    lines = [line.strip().rstrip(".") for line in str(error).splitlines() if line.strip()] or ["no reason given"]
    said = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    if not isinstance(error, OSError | ValueError | ImportError | RuntimeError):
        said = f"{type(error).__name__}: {said}"
    said = one_line(said if len(said) <= 240 else said[:239] + "…")
    return InputError(f"{one_line(name)}: {what} ({said}); {_advice(name, error)}")


def _advice(name: str, error: BaseException) -> str:
    if "trust_remote_code" in str(error):
        return "it runs its own code: --trust-remote-code if you trust it."
    if isinstance(error, ImportError):
        return "install what is missing, or name a copy of the model that does without."
    return "name a folder or a hub model." if folder_of(name) is None else "download or save it again."


def folder_of(name: str) -> Path | None:
    """The folder of this name, if it is one; a name that no folder can have is a hub's, or nobody's."""
    try:
        return Path(name) if Path(name).is_dir() else None
    except (OSError, ValueError):
        return None


def _check_files(name: str) -> None:
    """Refuse pipes, pointers of Git LFS and files beyond all sizes before a library opens them."""
    folder = folder_of(name)
    for file in [] if folder is None else sorted(folder.iterdir()):
        limit = _WEIGHTS if file.suffix in (".safetensors", ".bin") else DOCUMENT
        if file.suffix in (".json", ".txt", ".model", ".safetensors", ".bin") and not file.is_dir():
            check_file(file, limit)


def load_tokenizer(spec: ModelSpec) -> Any:
    """The tokenizer of a model, which must say where in the text its tokens are."""
    with refusing(spec.name, "the tokenizer cannot be loaded"):
        from transformers import AutoTokenizer

        _check_files(spec.name)
        _quiet()
        tokenizer = AutoTokenizer.from_pretrained(
            spec.name, revision=spec.revision, trust_remote_code=spec.trust_remote_code
        )
        fast = tokenizer.is_fast
        tokenizer("a", return_offsets_mapping=fast)  # special tokens of the wrong type show only here
    if not fast:
        raise InputError(
            f"{one_line(spec.name)}: its tokenizer gives no character offsets; use a model with a tokenizer.json."
        )
    return tokenizer


def load_config(spec: ModelSpec) -> Any:
    """The configuration of a model, with sizes that a model can have."""
    with refusing(spec.name, "its configuration cannot be loaded"):
        from transformers import AutoConfig

        _check_files(spec.name)
        _quiet()
        config = AutoConfig.from_pretrained(spec.name, revision=spec.revision, trust_remote_code=spec.trust_remote_code)
        _check_sizes(spec.name, config)
    return config


def load_model(spec: ModelSpec) -> Any:
    """A causal language model with all its weights, and its adapter if it has one, on the CPU."""
    config = load_config(spec)
    _refuse_pickle(spec)
    with refusing(spec.name, "the model cannot be loaded"):
        from transformers import AutoModelForCausalLM

        from assay.scoring.probes import check_causal  # late: torch

        _check_tensors(folder_of(spec.name), config)
        try:
            model, info = AutoModelForCausalLM.from_pretrained(
                spec.name,
                config=config,
                revision=spec.revision,
                dtype=_dtype(spec.dtype),
                trust_remote_code=spec.trust_remote_code,
                use_safetensors=None if spec.allow_pickle else True,
                output_loading_info=True,
            )
        except RuntimeError:
            _check_shapes(folder_of(spec.name), config)
            raise
    _check_loaded(spec.name, model, info)
    check_causal(model.eval(), spec.name)
    return model if spec.adapter is None else _adapted(model, spec.adapter)


def find_device(asked: str) -> "torch.device":
    """The device by name, if it is there; auto takes a GPU where there is one."""
    import torch

    if asked == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    rule = "device must be auto, cpu, cuda, cuda:1, mps, …"
    try:
        device = torch.device(asked)
    except RuntimeError as error:
        raise UsageError(f"{rule}, but got {asked!r}.") from error
    if device.type == "meta":
        raise UsageError(f"{rule}, but got 'meta', which computes nothing.")
    try:
        torch.zeros(1, device=device).item()
    except (AssertionError, RuntimeError, NotImplementedError, ImportError) as error:  # as the builds of torch say no
        said = one_line(str(error).splitlines()[0].rstrip(".")) if str(error) else "no reason given"
        raise InputError(f"there is no device {asked} here ({said}); use --device cpu.") from error
    return device


def _quiet() -> None:
    """Nothing but ours on the terminal: what matters of the libraries' remarks becomes a refusal."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def _dtype(name: str) -> Any:
    import torch

    if name != "auto" and name not in _DTYPES:
        raise UsageError(f"dtype must be auto, float32, bfloat16 or float16, but got {name!r}.")
    return "auto" if name == "auto" else getattr(torch, name)


def _refuse_pickle(spec: ModelSpec) -> None:
    """Weights as pickle can run any code when they are loaded."""
    folder = folder_of(spec.name)
    if spec.allow_pickle or folder is None or any(folder.glob("*.safetensors")):
        return
    if any(folder.glob("*.bin")):
        raise InputError(
            f"{one_line(spec.name)}: its weights are pickle files, which can run code; convert them to safetensors, "
            "or pass --allow-pickle if you trust them."
        )


# ----------------------------------------------------------------------------------------------- weights and the config


def _check_sizes(name: str, config: Any) -> None:
    text = config.get_text_config()
    for size in _SIZES:
        value = getattr(text, size, None)
        if value is not None and (not isinstance(value, int) or value < 1):
            raise InputError(
                f"{one_line(name)}: {size} must be a whole number of at least 1, but is {one_line(str(value))}; "
                "correct config.json."
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


def _check_tensors(folder: Path | None, config: Any) -> None:
    """Refuse an index that promises what its files do not hold, and more layers than there are tensors."""
    if folder is None:
        return
    held, index = _tensors(folder), folder / "model.safetensors.index.json"
    if index.is_file():
        promised = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
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


def _check_shapes(folder: Path | None, config: Any) -> None:
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


def _check_loaded(name: str, model: Any, info: Mapping[str, Any]) -> None:
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
    _refuse_misfits(name, f"a {kind}", info["missing_keys"], surplus, info.get("mismatched_keys", ()))


def _refuse_misfits(
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


# ------------------------------------------------------------------------------------------------------------- adapters


def _adapted(model: Any, adapter: str) -> Any:
    with refusing(adapter, "the adapter cannot be loaded"), warnings.catch_warnings():
        from peft import PeftModel

        _check_files(adapter)
        warnings.filterwarnings("ignore", message="Found missing adapter keys")  # refused below, by name
        adapted = PeftModel.from_pretrained(model, adapter)
        kind = str(getattr(adapted.peft_type, "value", adapted.peft_type))
        if adapted.active_peft_config.is_prompt_learning or kind == "POLY":
            raise InputError(
                f"{one_line(adapter)}: a {kind} adapter is not a part of the model's layers, so it would be left out; "
                "score a LoRA-like adapter, or the merged model."
            )
        result = adapted.load_adapter(adapter, adapter_name="default")  # again, for what it says of the tensors
    missing = [key for key in result.missing_keys if ".default" in key]
    _refuse_misfits(adapter, f"this {kind} adapter", missing, result.unexpected_keys)
    return adapted.get_base_model()  # with its adapter layers in place
