"""The bytes that a token stands for, and how many of them another token begins with."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError

_SPACE = "\u2581"  # SentencePiece's sign for a space
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


@dataclass(frozen=True)
class TokenBytes:
    """The bytes of each token, and which tokens are special and stand for no text."""

    name: str  # of the model, for messages
    texts: Sequence[bytes]  # by token id
    special: frozenset[int]

    @classmethod
    def of(cls, tokenizer: Any, name: str) -> "TokenBytes":
        """Read from the tokenizer's own file, which byte-level and SentencePiece tokenizers make possible."""
        kinds = _decoders(json.loads(tokenizer.backend_tokenizer.to_str())["decoder"])
        added = tokenizer.added_tokens_decoder
        tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        texts = []
        for index, token in enumerate(tokens):
            literal = index in added or token is None
            texts.append((token or "").encode() if literal else _bytes_of(token, kinds, name))
        return cls(name, texts, frozenset(index for index, token in added.items() if token.special))

    def spans(self, ids: NDArray[np.int64], text: str, label: str) -> tuple[NDArray[np.int64], bool]:
        """(tokens + 1,) Byte offset of each token, and whether the tokenizer put a space before the text.

        A tokenizer that rewrites the text is refused: its tokens would not match it.
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
        """(tokens,) How many leading bytes of each token the greedy token reproduces."""
        agreed = np.array([len(self.texts[i]) for i in ids.tolist()], dtype=np.int64)
        for at in np.flatnonzero(greedy != ids).tolist():
            agreed[at] = self._reproduced(int(greedy[at]), int(ids[at]))
        return agreed

    def _reproduced(self, written: int, wanted: int) -> int:
        if written in self.special or written >= len(self.texts):  # also what pads a vocabulary
            return 0
        return _common(self.texts[written], self.texts[wanted])


def _decoders(decoder: dict[str, Any] | None) -> frozenset[str]:
    """The decoder types; a ``Replace`` that produces spaces counts as SentencePiece's."""
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
    """GPT-2's characters for bytes: printable ones stand for themselves, the others are mapped from U+0100 on."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(b): b for b in printable} | {chr(0x100 + place): byte for place, byte in enumerate(others)}


def _common(a: bytes, b: bytes) -> int:
    """Length of the common prefix."""
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _where(written: bytes, wanted: bytes) -> str:
    same = wanted[: _common(written, wanted)].decode(errors="ignore")
    return f" after {same[-10:]!r}" if same else " from its first character on"
