"""What a user may name as a model: a folder or hub name, or a model behind a server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from assay.data.readers.registry import exists, named
from assay.errors import UsageError
from assay.scoring.texts import TABLES

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


def spec_of(
    name: str,
    *,
    model: str | None = None,
    tokenizer: str | None = None,
    dialect: Literal["auto", "prompt_logprobs", "echo"] = "auto",
    concurrency: int = 8,
    timeout: float | None = None,
    api_key_env: str | None = None,
    **loading: Any,
) -> Spec:
    """A model by its name on a command line: endpoint:URL is one behind a server, of which the keywords above are.

    >>> spec_of("models/base", dtype="float32").dtype
    'float32'
    """
    if not name.startswith(ENDPOINT):
        return ModelSpec(name, **loading)
    if model is None or tokenizer is None:
        raise UsageError("a server needs `model=NAME` (what it calls the model) and `tokenizer=MODEL`.")
    url = name.removeprefix(ENDPOINT)
    return EndpointSpec(url, model, tokenizer, dialect, concurrency, timeout, api_key_env)


def names_model(first: str) -> bool:
    """Whether a name is a model's and not a table's: a folder, or what is no file and not called like one."""
    path = named(first)[1]
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise UsageError(f"{first}: a folder without config.json is no model; name a model, or tables.")
        return True
    if not exists(path):
        return path.suffix.lower() not in TABLES and "=" not in first
    if path.suffix.lower() in (".txt", ".md"):
        raise UsageError(f"{first}: a text needs a model before it.")
    return False


def specs_of(models: Model | Sequence[Model] | Mapping[str, Model], *, whole_names: bool = False) -> dict[str, Spec]:
    """Models by name: the names given, or else the last part of a path and what a server calls its model.

    ``whole_names``: where two would be called the same, all are called by their whole path.

    >>> list(specs_of(["models/base", "models/int4"]))
    ['base', 'int4']
    """
    if isinstance(models, Mapping):
        return {name: _spec(model) for name, model in models.items()}
    given = [models] if isinstance(models, str | PathLike | ModelSpec | EndpointSpec) else list(models)
    specs = [_spec(model) for model in given]
    names = [_name(spec) for spec in specs]
    if whole_names and len(set(names)) < len(names):
        names = [spec.name if isinstance(spec, ModelSpec) else spec.model for spec in specs]
    found: dict[str, Spec] = {}
    for name, spec in zip(names, specs, strict=True):
        if name in found and whole_names:
            raise UsageError(f"the model {name} is there twice; name every model once.")
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
