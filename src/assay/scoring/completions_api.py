"""The completions API: requests for the log-probabilities of a prompt, and strict parsing of the replies.

A reply must hold the values of exactly the tokens of a row; anything else is an error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assay.errors import InputError

Dialect = Literal["prompt_logprobs", "echo"]


class ReplyError(InputError):
    """A reply without the log-probabilities of this prompt; the message is a clause for a longer sentence."""


class OtherTokensError(ReplyError):
    """A reply about other tokens than those of the row."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Per token of a row, including the first: its log-probability, the highest at its position, and its text."""

    logprobs: list[float | None]
    tops: list[float | None]
    texts: list[str | None]
    by_id: bool  # the server names its tokens by number, so that they are known to be the row's


@dataclass(frozen=True, slots=True)
class Way:
    """How to ask: a dialect, and the prompt as token ids or as text."""

    dialect: Dialect
    prompt: Literal["ids", "text"]

    def request(self, prompt: list[int] | str) -> dict[str, Any]:
        """The request body. It asks for one new token, since servers refuse 0 or take it as unlimited."""
        asked = {"echo": True, "logprobs": 1} if self.dialect == "echo" else {"prompt_logprobs": 1}
        # The temperature of 1 leaves the distribution alone where a server applies it before it takes logarithms.
        return {"prompt": prompt, "max_tokens": 1, "temperature": 1.0, **asked}

    def read(self, answer: dict[str, Any], row: Sequence[int]) -> Reply:
        """Parse the reply for this row of token ids."""
        choices = answer.get("choices")
        if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
            raise ReplyError("the answer does not have one choice")
        if self.dialect == "prompt_logprobs":
            return _prompt_logprobs(choices[0], row)
        # As text the server may put a BOS token there that it counts and does not show, as llama-cpp-python does.
        _check_count(prompt_tokens(answer), len(row), spare=1 if self.prompt == "text" else 0)
        return _echo(choices[0], row)


WAYS = (Way("prompt_logprobs", "ids"), Way("echo", "ids"), Way("prompt_logprobs", "text"), Way("echo", "text"))


class Spellings:
    """Compares a server's tokens with those of our tokenizer, by their texts."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._known: dict[int, frozenset[str]] = {}

    def difference(self, reply: Reply, row: Sequence[int], *, sent_as_ids: bool) -> str | None:
        """The first difference from the row's tokens, in words. Unnamed tokens match if their ids were sent."""
        for place, (said, token) in enumerate(zip(reply.texts, row, strict=True)):
            if said is None and (reply.by_id or sent_as_ids):
                continue
            if said is None or not self._is_text_of(said, token):
                return f"token {place} is {said!r} there, {self._tokenizer.decode([token])!r} here"
        return None

    def _is_text_of(self, said: str, token: int) -> bool:
        if token not in self._known:
            self._known[token] = frozenset(self._spelled(token))
        known = self._known[token]
        # A token that is a part of a character has no text of its own to compare.
        return said in known or (said.strip() or None) in known or "\ufffd" in self._tokenizer.decode([token])

    def _spelled(self, token: int) -> Iterator[str]:
        """Accepted spellings: text, piece, with and without leading space, number; for special tokens also nothing."""
        text, piece = self._tokenizer.decode([token]), self._tokenizer.convert_ids_to_tokens(token)
        yield from (text, text.strip() or text, piece, piece.replace("▁", " "), piece.replace("Ġ", " "))
        yield f"token_id:{token}"
        if token in self._tokenizer.all_special_ids:
            yield ""


def _prompt_logprobs(choice: dict[str, Any], row: Sequence[int]) -> Reply:
    """Parse vLLM's: a list of null, then {"token id": {logprob, rank, decoded_token}} of the token and the top ones."""
    entries = _list(choice, "prompt_logprobs", len(row), spare=0)
    own = [None, *(_entry(entries[place], row[place], place) for place in range(1, len(row)))]
    return Reply(
        [None if entry is None else _number(entry.get("logprob")) for entry in own],
        [_highest(entry) for entry in entries],
        [None if entry is None else _text(entry.get("decoded_token")) for entry in own],
        by_id=True,
    )


def _echo(choice: dict[str, Any], row: Sequence[int]) -> Reply:
    """Parse OpenAI's: tokens, token_logprobs (first null) and top_logprobs, of the prompt and the completion."""
    found, size = choice.get("logprobs"), len(row)
    if not isinstance(found, dict):
        raise ReplyError("the answer has no logprobs")
    values = _list(found, "token_logprobs", size, spare=1)
    if values[0] is not None:
        raise ReplyError("the first entry of token_logprobs is not null, so it is not that of the first token")
    texts = _list(found, "tokens", size, spare=1) if found.get("tokens") is not None else [None] * size
    tops = _list(found, "top_logprobs", size, spare=1) if found.get("top_logprobs") is not None else [None] * size
    return Reply(
        [_number(value) for value in values[:size]],
        [_highest(top) for top in tops[:size]],
        [_text(text) for text in texts[:size]],
        by_id=texts[:size] == [f"token_id:{token}" for token in row],
    )


def prompt_tokens(answer: dict[str, Any]) -> int | None:
    """The server's count of prompt tokens, if it reports one."""
    usage = answer.get("usage")
    seen = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return seen if isinstance(seen, int) else None


def _check_count(seen: int | None, size: int, *, spare: int) -> None:
    if seen is not None and not size <= seen <= size + spare:
        raise OtherTokensError(f"the server counts {seen} tokens in a prompt of {size}")


def _list(found: dict[str, Any], name: str, size: int, *, spare: int) -> list[Any]:
    values = found.get(name)
    if not isinstance(values, list):
        raise ReplyError(f"the answer has no {name}")
    if len(values) <= spare:
        raise ReplyError(f"{name} has only what the server wrote")
    if not size <= len(values) <= size + spare:
        raise OtherTokensError(f"{name} has {len(values)} entries for {size} tokens")
    return values


def _entry(entries: object, token: int, place: int) -> dict[str, Any] | None:
    """The token's own entry at its position; positions without entries are flagged later."""
    if entries is None:
        return None
    own = entries.get(str(token)) if isinstance(entries, dict) else None
    if not isinstance(own, dict):
        raise OtherTokensError(f"prompt_logprobs has no entry for token {place} (id {token})")
    return own


def _highest(entries: object) -> float | None:
    if not isinstance(entries, dict):
        return None
    values = [_number(entry.get("logprob") if isinstance(entry, dict) else entry) for entry in entries.values()]
    return max((value for value in values if value is not None), default=None)


def _number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ReplyError(f"a log-probability is a {type(value).__name__}, not a number")
    try:
        return float(value)
    except OverflowError:  # JSON has integers of any size
        raise ReplyError("a log-probability is larger than any number") from None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
