"""A model with LoRA beside its linear layers and, if asked for, with embeddings that are trained whole."""

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, UsageError

if TYPE_CHECKING:
    from assay.training.fitting import Settings

ALL_LINEAR = "all-linear"  # every linear layer but the head


def with_adapter(model: Any, settings: "Settings") -> Any:
    """The model with LoRA; all else is frozen, but for embeddings that are to be trained."""
    from peft import LoraConfig, get_peft_model

    names = settings.modules.split(",")
    if settings.modules != ALL_LINEAR:
        _check_modules(model, names)
    tied = settings.train_embeddings and _tied(model)
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha or 2 * settings.rank,
        target_modules=ALL_LINEAR if settings.modules == ALL_LINEAR else names,
        lora_dropout=settings.dropout,
        bias="none",
        task_type="CAUSAL_LM",
        **(_embeddings(model, tied=tied) if settings.train_embeddings else {}),
    )
    with warnings.catch_warnings():  # peft sees to the first itself, and the second is said below
        warnings.filterwarnings("ignore", message="fan_in_fan_out is set to False")
        warnings.filterwarnings("ignore", message="You have requested `ensure_weight_tying`")
        adapted = get_peft_model(model, config)
    if tied and not _tied(model):
        raise InputError(
            "peft cannot keep the input and output embeddings of this model tied, and would train them apart; "
            "leave --train-embeddings out, or train with --method full."
        )
    return adapted


def _check_modules(model: Any, names: list[str]) -> None:
    found = list(_linear_layers(model))
    for name in names:
        if not any(layer == name or layer.endswith("." + name) for layer in found):
            known = ", ".join(sorted({layer.rpartition(".")[2] for layer in found}))
            raise UsageError(f"--modules: the model has no linear layer {name!r} besides its head; it has {known}.")


def _linear_layers(model: Any) -> Iterator[str]:
    """Their names, without the head, as peft's all-linear takes them."""
    from torch.nn import Linear
    from transformers.pytorch_utils import Conv1D

    head = model.get_output_embeddings()
    return (name for name, part in model.named_modules() if isinstance(part, Linear | Conv1D) and part is not head)


def _tied(model: Any) -> bool:
    """Whether the weight that reads tokens is the one that writes them."""
    head = model.get_output_embeddings()
    return head is not None and head.weight is model.get_input_embeddings().weight


def _embeddings(model: Any, *, tied: bool) -> dict[str, Any]:
    """For the configuration: which layers are trained as copies of themselves.

    Of tied ones both are named, since peft looks for a layer with a name that it knows; it makes one copy for both.
    """
    from dataclasses import fields

    from peft import LoraConfig

    if tied and "ensure_weight_tying" not in {field.name for field in fields(LoraConfig)}:
        raise UsageError("to train embeddings that are tied needs peft 0.18 or newer: pip install -U peft.")
    wanted = [part for part in (model.get_input_embeddings(), model.get_output_embeddings()) if part is not None]
    names = [name for name, part in model.named_modules() if any(part is one for one in wanted)]
    return {"modules_to_save": names, **({"ensure_weight_tying": True} if tied else {})}
