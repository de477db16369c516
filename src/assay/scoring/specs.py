"""What a user may name as a model: a folder or hub name, or a model behind a server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Literal

from assay.errors import UsageError

ENDPOINT = "endpoint:"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What to load, and how."""

    name: str  # a folder or a hub name
    adapter: str | None = None
    dtype: str = "auto"
    device: str = "auto"
    revision: str | None = None
    trust_remote_code: bool = False
    allow_pickle: bool = False


@dataclass(frozen=True, slots=True)
class EndpointSpec:
    """A model behind an OpenAI-compatible completions server; the API key is read from an environment variable."""

    url: str
    model: str
    tokenizer: str  # a folder or hub name: windows are cut here, not there
    dialect: Literal["auto", "prompt_logprobs", "echo"] = "auto"
    concurrency: int = 8
    timeout: float | None = None  # seconds to wait for an answer
    api_key_env: str | None = None


Spec = ModelSpec | EndpointSpec

#: What may be named as a model: a folder or hub name, or all that is to be said of it.
Model = str | PathLike[str] | ModelSpec | EndpointSpec


def specs_of(models: Model | Sequence[Model] | Mapping[str, Model]) -> dict[str, Spec]:
    """Models by name: the names given, or else the last part of a path and what a server calls its model.

    >>> list(specs_of(["models/base", "models/int4"]))
    ['base', 'int4']
    """
    if isinstance(models, Mapping):
        return {name: _spec(model) for name, model in models.items()}
    given = [models] if isinstance(models, str | PathLike | ModelSpec | EndpointSpec) else list(models)
    found: dict[str, Spec] = {}
    for spec in map(_spec, given):
        name = _name(spec)
        if name in found:
            raise UsageError(f"two models are called {name!r}; score them one by one, each into a folder of its own.")
        found[name] = spec
    return found


def _name(spec: Spec) -> str:
    if isinstance(spec, EndpointSpec):
        return spec.model
    return Path(spec.name).name or Path(spec.name).resolve().name  # "." is the name of its folder


def _spec(model: Model) -> Spec:
    if isinstance(model, ModelSpec | EndpointSpec):
        return model
    if not isinstance(model, str | PathLike):
        raise UsageError(f"a model must be a folder, a hub name or a ModelSpec, but got {type(model).__name__}.")
    name = fspath(model)
    if name.startswith(ENDPOINT):
        raise UsageError(f"{name}: a server is an EndpointSpec, with what it calls the model and the tokenizer.")
    return ModelSpec(name)
