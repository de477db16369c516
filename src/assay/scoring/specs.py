"""What a user may name as a model: a folder or hub name, or a model behind a server."""

from dataclasses import dataclass
from typing import Literal

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
