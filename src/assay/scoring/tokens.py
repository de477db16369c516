"""Tokens of a text, the bytes they write, and digests of the files that a model consists of. No torch here."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.scoring.specs import EndpointSpec, ModelSpec, Spec

_WEIGHTS = ("*.safetensors", "*.bin")
_TOKENIZER = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt", "vocab.txt", "tokenizer_config.json")
_SPACE = "\u2581"  # SentencePiece's sign for a space
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


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


@dataclass(frozen=True)
class TokenBytes:
    """What each token stands for in a text, and which of them are special: those write nothing."""

    name: str  # of the model, for messages
    texts: Sequence[bytes]  # by token id
    special: frozenset[int]

    @classmethod
    def of(cls, tokenizer: Any, name: str) -> "TokenBytes":
        """Read from the tokenizer's own file; byte-level and SentencePiece tokenizers say what their tokens are."""
        kinds = _decoders(json.loads(tokenizer.backend_tokenizer.to_str())["decoder"])
        added = tokenizer.added_tokens_decoder
        tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        texts = []
        for index, token in enumerate(tokens):
            literal = index in added or token is None
            texts.append((token or "").encode() if literal else _bytes_of(token, kinds, name))
        return cls(name, texts, frozenset(index for index, token in added.items() if token.special))

    def spans(self, ids: NDArray[np.int64], text: str, label: str) -> tuple[NDArray[np.int64], bool]:
        """(tokens + 1,) Where each token starts among the bytes, and whether the tokenizer put a space before them.

        A tokenizer that rewrites the text is refused: its tokens are not of this text.
        """
        written = b"".join([self.texts[i] for i in ids.tolist()])
        wanted = text.encode()
        spaced = written != wanted and written == b" " + wanted
        if written != wanted and not spaced:
            raise InputError(
                f"{label}: the tokenizer of {self.name} rewrites this text{_where(written, wanted)}, so its tokens "
                "cannot be matched with characters; try `normalize='nfkc'`, which many tokenizers do themselves."
            )
        lengths = [len(self.texts[i]) for i in ids.tolist()]
        return np.concatenate([[0], np.cumsum(lengths)]), spaced

    def agreement(self, greedy: NDArray[np.int64], ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """(tokens,) How many bytes of each token the greedy one in its place begins with."""
        agreed = np.array([len(self.texts[i]) for i in ids.tolist()], dtype=np.int64)
        for at in np.flatnonzero(greedy != ids).tolist():
            agreed[at] = self._reproduced(int(greedy[at]), int(ids[at]))
        return agreed

    def _reproduced(self, written: int, wanted: int) -> int:
        if written in self.special or written >= len(self.texts):  # also what pads a vocabulary
            return 0
        return _common(self.texts[written], self.texts[wanted])


def _decoders(decoder: dict[str, Any] | None) -> frozenset[str]:
    """The kinds of decoders; ``Replace`` counts as SentencePiece's where it makes spaces."""
    if decoder is None:
        return frozenset()
    if decoder["type"] == "Sequence":
        return frozenset().union(*map(_decoders, decoder["decoders"]))
    if decoder["type"] == "Replace":
        return frozenset({"Metaspace"} if decoder["pattern"].get("String") == _SPACE else ())
    return frozenset({decoder["type"]})


def _bytes_of(token: str, kinds: frozenset[str], name: str) -> bytes:
    if "ByteLevel" in kinds:
        table = _byte_level()
        return bytes(table[c] for c in token) if all(c in table for c in token) else token.encode()
    if "Metaspace" not in kinds:
        raise InputError(
            f"{name}: its tokenizer is neither byte-level nor SentencePiece, so the characters that its tokens write "
            "cannot be told; use a model with such a tokenizer."
        )
    found = _BYTE.fullmatch(token) if "ByteFallback" in kinds else None
    return bytes([int(found[1], 16)]) if found else token.replace(_SPACE, " ").encode()


@cache
def _byte_level() -> dict[str, int]:
    """GPT-2's signs for bytes: printable ones stand for themselves, the others follow from U+0100 on."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(b): b for b in printable} | {chr(0x100 + place): byte for place, byte in enumerate(others)}


def _common(a: bytes, b: bytes) -> int:
    """How many bytes both begin with."""
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _where(written: bytes, wanted: bytes) -> str:
    same = wanted[: _common(written, wanted)].decode(errors="ignore")
    return f" after {same[-10:]!r}" if same else " from its first character on"
