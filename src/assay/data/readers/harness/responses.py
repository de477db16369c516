"""OpenAI-compatible responses with the log-probabilities of a prompt, one per line: bare, or in the lines of a batch.

A loss needs a text that every model was given, so only the prompt counts: ``echo`` or vLLM's ``prompt_logprobs``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.data.readers import Selection
from assay.data.readers.harness import Log, Measure, Rows, digest, field_of, number, read_lines, shown_value
from assay.data.readers.harness.first_look import FirstLook
from assay.errors import InputError, UsageError
from assay.names import argument

_NAMES = ("custom_id", "window", "item", "id")
_IMPOSSIBLE = -9999.0  # what servers write for minus infinity
_SLACK = 1e-3  # how far above 0 rounding may lift a log-probability
_ASK = "ask for the prompt with echo, or with prompt_logprobs from vLLM"


def recognises(look: FirstLook) -> bool:
    """Whether the first object is a response, or holds one."""
    keys = look.keys
    bare = "choices" in keys and bool({"object", "usage", "created"} & keys)
    return bare or ("response" in keys and bool({"custom_id", "window", "item"} & keys))


@dataclass(frozen=True, slots=True)
class _Window:
    """A prompt that was scored."""

    place: str
    name: str
    digest: str
    tokens: int
    loss: float
    bytes: int | None


@dataclass(frozen=True)
class ResponsesLog(Log):
    """The responses of one model."""

    windows: tuple[_Window, ...] = ()
    failed: int = 0
    named: bool = False

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        if cluster is not None:
            raise UsageError(
                f"{self.label}: responses have nothing to cluster by; leave out {argument(cluster=cluster)}."
            )
        if selection.metric not in (None, "perplexity"):
            raise InputError(
                f"{self.label}: no metric {selection.metric!r}, only perplexity; leave out `Selection(metric=...)`."
            )
        columns: dict[str, list[Any]] = {
            "window": [window.name for window in self.windows],
            "document": [window.name for window in self.windows],
            "tokens": [window.tokens for window in self.windows],
            "loss": [window.loss for window in self.windows],
        }
        if all(window.bytes is not None for window in self.windows):
            columns["bytes"] = [window.bytes for window in self.windows]
        if all(window.digest for window in self.windows):
            columns["doc_hash"] = [window.digest for window in self.windows]
        measure = Measure(
            "responses", "perplexity", paired_on="the given id" if self.named else "the prompt", compared="prompt"
        )
        notes = [f"{self.label}: failed requests left out: {self.failed}"] if self.failed else []
        return Rows("losses", measure, columns, [window.place for window in self.windows], notes=notes)


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [log for path in files for log in _logs(path)]


def _logs(path: Path) -> list[ResponsesLog]:
    """A log for each model in a file."""
    models: dict[str, list[_Window]] = {}
    failed, named = 0, True
    for place, line in read_lines(path):
        body = _body(line, place)
        if body is None:
            failed += 1
            continue
        window = _window(line, body, place)
        named = named and _name(line) is not None
        models.setdefault(str(field_of(body, "model", place, str)), []).append(window)
    if not models:
        raise InputError(f"{path}: all {failed} requests failed; send them again.")
    return [
        ResponsesLog(str(path), (path,), model, "prompts", "", windows=tuple(windows), failed=failed, named=named)
        for model, windows in models.items()
    ]


def _body(line: dict[str, Any], place: str) -> dict[str, Any] | None:
    """The response in a line; ``None`` where the request failed."""
    if "choices" in line:
        return line
    response = field_of(line, "response", place)
    if line.get("error") or not isinstance(response, dict) or response.get("status_code", 200) != 200:
        return None
    return field_of(response, "body", place, dict) if "choices" not in response else response


def _name(line: dict[str, Any]) -> str | None:
    """The user's name for the prompt; the id of a bare response is new each time, so it does not count."""
    if "choices" in line:
        return next((str(line[name]) for name in _NAMES[:3] if isinstance(line.get(name), str | int)), None)
    return next((str(line[name]) for name in _NAMES if isinstance(line.get(name), str | int)), None)


def _window(line: dict[str, Any], body: dict[str, Any], place: str) -> _Window:
    choices = field_of(body, "choices", place, list)
    if len(choices) != 1 or not isinstance(choices[0], dict):
        raise InputError(f"{place}: must have one choice, but got {len(choices)}; ask with n = 1.")
    choice = choices[0]
    given = choice.get("prompt_logprobs") or body.get("prompt_logprobs")
    if given is not None:
        ids = choice.get("prompt_token_ids") or body.get("prompt_token_ids")
        texts, values = _prompt_logprobs(given, ids, place)
        whole = None  # the text of the first token is not told
    else:
        texts, values, whole = _echoed(choice, body, place)
    if not values:
        raise InputError(f"{place}: the prompt has one token, of which nothing is predicted; take it out.")
    text = None if None in texts else "".join(str(part) for part in texts)
    known = text is not None and not any(sign in text for sign in ("\ufffd", "bytes:", "token_id:"))
    return _Window(
        place,
        _name(line) or digest(texts, len(values)),
        digest(whole) if whole else "",
        len(values),
        -sum(values) / len(values),
        len(str(text).encode()) if known and text else None,
    )


def _echoed(choice: dict[str, Any], body: dict[str, Any], place: str) -> tuple[list[Any], list[float], str]:
    """The texts and log-probabilities of the prompt after its first token, and the whole prompt."""
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, dict) or "token_logprobs" not in logprobs:
        raise InputError(f"{place}: no log-probabilities of the prompt; {_ASK}.")
    values = field_of(logprobs, "token_logprobs", place, list)
    tokens = field_of(logprobs, "tokens", place, list)
    if len(tokens) != len(values) or not values or values[0] is not None:
        raise InputError(f"{place}: token_logprobs must begin with null and have a value per token; {_ASK}.")
    usage = body.get("usage")
    if not isinstance(usage, dict) or not isinstance(usage.get("completion_tokens"), int):
        raise InputError(
            f"{place}: no usage.completion_tokens, so where the prompt ends is not known; record the usage."
        )
    end = len(values) - usage["completion_tokens"]
    if end < 1:
        raise InputError(f"{place}: only what the model wrote has log-probabilities, not the prompt; {_ASK}.")
    return (
        tokens[1:end],
        [_logprob(value, place, at) for at, value in enumerate(values[1:end], 1)],
        "".join(map(str, tokens[:end])),
    )


def _prompt_logprobs(found: object, ids: object, place: str) -> tuple[list[Any], list[float]]:
    """Parse vLLM's format: null, then per token an object with its entry and possibly those of the top tokens."""
    if not isinstance(found, list) or not found or found[0] is not None:
        raise InputError(f"{place}: prompt_logprobs must be a list that begins with null; {_ASK}.")
    if isinstance(ids, list) and len(ids) != len(found):
        raise InputError(f"{place}: {len(found)} prompt_logprobs for {len(ids)} prompt_token_ids; send it again.")
    likeliest = min((_likeliest(entries) for entries in found[1:]), default=0)
    texts: list[Any] = []
    values: list[float] = []
    for at, entries in enumerate(found[1:], start=1):
        own = _own(entries, ids[at] if isinstance(ids, list) else None, likeliest, f"{place}, token {at}")
        texts.append(own.get("decoded_token"))
        values.append(_logprob(own.get("logprob"), place, at))
    return texts, values


def _likeliest(entries: object) -> int:
    """An upper bound on the number of top tokens requested, inferred from one position.

    The token's own entry is either among them or an extra one with a higher rank.
    """
    if not isinstance(entries, dict):
        return 0
    return len(entries) - (max(map(_rank, entries.values()), default=0) > len(entries))


def _rank(entry: object) -> int:
    rank = entry.get("rank") if isinstance(entry, dict) else None
    return rank if isinstance(rank, int) else 0


def _own(entries: object, token: object, likeliest: int, place: str) -> dict[str, Any]:
    """The entry of the prompt's own token: by id, or the extra one beyond the top tokens if that is certain."""
    if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()) or not entries:
        raise InputError(f"{place}: must be an object of entries, but got {shown_value(entries)}; send it again.")
    if token is not None:
        return dict(field_of(entries, str(token), place, dict))
    if len(entries) == 1:
        return dict(next(iter(entries.values())))
    if len(entries) != likeliest + 1 or not all(map(_rank, entries.values())):
        raise InputError(
            f"{place}: {len(entries)} entries, and nothing says which is the prompt's; ask with prompt_logprobs=0."
        )
    return dict(max(entries.values(), key=_rank))


def _logprob(value: object, place: str, at: int) -> float:
    found = number(value, f"{place}, token {at}", "the log-probability")
    if found <= _IMPOSSIBLE:
        raise InputError(
            f"{place}, token {at}: {found:g} stands for minus infinity and has no mean; take the prompt out."
        )
    if found > _SLACK:
        raise InputError(
            f"{place}, token {at}: a log-probability must not be above 0, but got {found:g}; send it again."
        )
    return min(found, 0.0)
