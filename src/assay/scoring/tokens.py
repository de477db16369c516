"""Tokens of a text, and digests of the files that a model consists of. No torch here."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.scoring.specs import EndpointSpec, ModelSpec, Spec

_WEIGHTS = ("*.safetensors", "*.bin")
_TOKENIZER = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt", "vocab.txt", "tokenizer_config.json")


def files_digest(folder: Path, patterns: Sequence[str]) -> str | None:
    """The sha256 of the files of a folder that match, by name; ``None`` if there are none."""
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


def model_digests(spec: Spec) -> dict[str, str | None]:
    """Digests of the weights, the tokenizer and the adapter, as far as their files are on this machine."""
    if isinstance(spec, EndpointSpec):
        folder = _local_folder(ModelSpec(spec.tokenizer))
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


def _local_folder(spec: ModelSpec) -> Path | None:
    if Path(spec.name).is_dir():
        return Path(spec.name)
    from transformers.utils.hub import cached_file

    found = cached_file(spec.name, "config.json", revision=spec.revision, _raise_exceptions_for_missing_entries=False)
    return None if found is None else Path(found).parent


def own_bos(tokenizer: Any) -> int | None:
    """The token that starts a text, if this tokenizer puts one there by itself."""
    started, bos = tokenizer("a")["input_ids"], tokenizer.bos_token_id
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    return bos if bos is not None and started[:1] == [bos] and bare[:1] != [bos] else None


def start_of(tokenizer: Any) -> int | None:
    """The token that stands before a text for lm-eval: BOS, or EOS where there is none."""
    bos: int | None = tokenizer.bos_token_id
    eos: int | None = tokenizer.eos_token_id
    return eos if bos is None else bos


def tokenized(tokenizer: Any, texts: Sequence[str]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Token ids of each text and where, in characters, each token ends; no character belongs to two tokens."""
    for text in texts:
        found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        ends = np.array([stop for _, stop in found["offset_mapping"]], dtype=np.int64)
        yield np.array(found["input_ids"], dtype=np.int64), np.maximum.accumulate(ends) if len(ends) else ends
