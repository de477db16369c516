"""Load a model and its tokenizer completely, or not at all.

`transformers` fills weights that a checkpoint lacks with random numbers and carries on, so the loss would differ each
time. Here every weight of the model must come from the checkpoint, and every tensor of the checkpoint must have a place
in the model. Whatever the libraries raise about a broken file becomes one error that names the model.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import AssayError, InputError, UsageError
from assay.files.reading import DOCUMENT, Limit, check_file, check_link
from assay.names import one_line
from assay.scoring.checkpoint import (
    check_architecture,
    check_causal,
    check_loaded,
    check_shapes,
    check_sizes,
    check_tensors,
    refuse_misfits,
)
from assay.scoring.memory import SPREAD, MemoryShortError, is_short, spreads
from assay.scoring.models_and_texts import ModelSpec, check_folder, no_folder, rope_of

if TYPE_CHECKING:
    import torch

_WEIGHTS = Limit(1_000_000_000_000, "a file of weights", "save the model in several files")
_EXTRA = frozenset({"accelerate", "peft", "safetensors", "torch", "transformers"})
_DTYPES = ("float32", "bfloat16", "float16", "float64")


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
    kind = MemoryShortError if is_short(error) else InputError
    return kind(f"{one_line(name)}: {what} ({said}); {_advice(name, error)}")


def _advice(name: str, error: BaseException) -> str:
    if is_short(error):
        return (
            "it needs more memory than there is: `dtype='bfloat16'` halves that of float32, `device='spread'` takes "
            "all graphics cards and then this machine's memory, `device='cpu'` is slower."
        )
    if "trust_remote_code" in str(error):
        return "it runs its own code: pass `trust_remote_code=True` if you trust it."
    if isinstance(error, ImportError):
        return "install what is missing, or name a copy of the model that does without."
    hint = no_folder(name)
    return "download or save it again." if hint is None else f"there is no such folder here: {hint}"


def folder_of(name: str) -> Path | None:
    """The folder of this name, or ``None``: then it is a hub's name, if anything."""
    try:
        return Path(name) if Path(name).is_dir() else None
    except (OSError, ValueError):
        return None


def _check_files(name: str) -> None:
    """Refuse pipes, Git LFS pointers and absurdly large files before a library opens them."""
    folder = folder_of(name)
    if folder is None:
        _check_place(name)
    for file in [] if folder is None else sorted(folder.iterdir()):
        limit = _WEIGHTS if file.suffix in (".safetensors", ".bin") else DOCUMENT
        if file.suffix in (".json", ".txt", ".model", ".safetensors", ".bin") and not file.is_dir():
            check_file(file, limit)


def _check_place(name: str) -> None:
    """Refuse an existing path that is not a folder; any other name is a hub's."""
    path = Path(name)
    try:
        there = path.is_symlink() or path.exists()
    except (OSError, ValueError):  # no path can be called so
        return
    if there:
        check_link(path)
        check_file(path, _WEIGHTS)
        raise InputError(f"{one_line(name)}: a file, not the folder of a model; name the folder that it is in.")
    check_folder(name)


def load_tokenizer(spec: ModelSpec) -> Any:
    """Load the tokenizer of a model; it must report character offsets."""
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


def own_bos(tokenizer: Any) -> int | None:
    """The BOS token, if the tokenizer adds one by itself."""
    started, bos = tokenizer("a")["input_ids"], tokenizer.bos_token_id
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    return bos if bos is not None and started[:1] == [bos] and bare[:1] != [bos] else None


def start_of(tokenizer: Any) -> int | None:
    """The token that lm-eval puts before a text: BOS, or EOS if there is none."""
    bos: int | None = tokenizer.bos_token_id
    eos: int | None = tokenizer.eos_token_id
    return eos if bos is None else bos


def tokenized(tokenizer: Any, texts: Sequence[str]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the token ids of each text, and where each token ends, in characters; tokens do not overlap."""
    for text in texts:
        found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        ends = np.array([stop for _, stop in found["offset_mapping"]], dtype=np.int64)
        yield np.array(found["input_ids"], dtype=np.int64), np.maximum.accumulate(ends) if len(ends) else ends


def check_known(name: str, known: int, rows: Sequence[Sequence[int]]) -> None:
    """Refuse tokens beyond those that a model knows."""
    highest = max((max(row, default=0) for row in rows), default=0)
    if highest >= known:
        raise InputError(
            f"{one_line(name)}: its tokenizer gives token {highest}, but the model knows {known} tokens; "
            "use the tokenizer that belongs to it."
        )


def load_config(spec: ModelSpec) -> Any:
    """Load and check the configuration of a model."""
    with refusing(spec.name, "its configuration cannot be loaded"):
        from transformers import AutoConfig

        _check_files(spec.name)
        _quiet()
        config = AutoConfig.from_pretrained(spec.name, revision=spec.revision, trust_remote_code=spec.trust_remote_code)
        check_sizes(spec.name, config)
        check_architecture(spec.name, config)
    if spec.rope_scaling is not None:
        _stretch(config, spec.name, *rope_of(spec.rope_scaling))
    return config


def _stretch(config: Any, name: str, kind: str, factor: float) -> None:
    """Scale the rotary positions of a model, as `transformers` does for a config that says so."""
    text = config.get_text_config()
    own, positions = getattr(text, "max_position_embeddings", None), getattr(text, "rope_parameters", None)
    before = positions or getattr(text, "rope_scaling", None) or {}  # rope_parameters from transformers 5 on
    if own is None or (not before and getattr(text, "rope_theta", None) is None):
        raise UsageError(f"{one_line(name)}: it has no rotary positions to stretch; leave out `rope_scaling`.")
    if before.get("rope_type", "default") != "default":
        raise UsageError(
            f"{one_line(name)}: its rotary positions are scaled already ({before['rope_type']}); leave out "
            "`rope_scaling`."
        )
    scaled = {**before, "rope_type": kind, "factor": factor}
    scaled |= {"original_max_position_embeddings": own} if kind == "yarn" else {}
    setattr(text, "rope_scaling" if positions is None else "rope_parameters", scaled)
    text.max_position_embeddings = int(own * factor)


def load_model(spec: ModelSpec) -> Any:
    """Load a causal language model with all its weights, and its adapter if any.

    It is on the CPU, or where `transformers` puts its parts if it is spread (``hf_device_map``).
    """
    config = load_config(spec)
    _refuse_pickle(spec)
    with refusing(spec.name, "the model cannot be loaded"):
        from transformers import AutoModelForCausalLM

        check_tensors(folder_of(spec.name), config)
        try:
            model, info = AutoModelForCausalLM.from_pretrained(
                spec.name,
                config=config,
                revision=spec.revision,
                trust_remote_code=spec.trust_remote_code,
                use_safetensors=None if spec.allow_pickle else True,
                output_loading_info=True,
                **_dtype(spec.dtype),
                **({"device_map": "auto"} if spreads(spec, config) else {}),
            )
        except RuntimeError:
            check_shapes(folder_of(spec.name), config)
            raise
    check_loaded(spec.name, model, info)
    with refusing(spec.name, "the model cannot be run"):
        check_causal(model.eval(), spec.name)
    return model if spec.adapter is None else _adapted(model, spec.adapter)


def find_device(asked: str) -> "torch.device":
    """The device of this name, if available; auto takes a GPU if there is one."""
    import torch

    if asked == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    if asked == SPREAD:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rule = "device must be auto, spread, cpu, cuda, cuda:1, mps, …"
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
        raise InputError(f"there is no device {asked} here ({said}); use `device='cpu'`.") from error
    return device


def _quiet() -> None:
    """Silence the libraries on the terminal; what matters of their remarks becomes an error."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def _dtype(name: str) -> dict[str, Any]:
    """The argument of `from_pretrained`, which had another name up to transformers 4.55."""
    import torch
    import transformers

    if name != "auto" and name not in _DTYPES:
        raise UsageError(f"dtype must be auto, float32, bfloat16 or float16, but got {name!r}.")
    major, minor = (int(part) for part in transformers.__version__.split(".")[:2])
    argument = "dtype" if (major, minor) >= (4, 56) else "torch_dtype"
    return {argument: "auto" if name == "auto" else getattr(torch, name)}


def _refuse_pickle(spec: ModelSpec) -> None:
    """Refuse pickled weights, which can run code when loaded."""
    folder = folder_of(spec.name)
    if spec.allow_pickle or folder is None or any(folder.glob("*.safetensors")):
        return
    if any(folder.glob("*.bin")):
        raise InputError(
            f"{one_line(spec.name)}: its weights are pickle files, which can run code; convert them to safetensors, "
            "or pass `allow_pickle=True` if you trust them."
        )


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
    refuse_misfits(adapter, f"this {kind} adapter", missing, result.unexpected_keys)
    return adapted.get_base_model()  # with its adapter layers in place
