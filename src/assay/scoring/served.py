"""One model behind a completions server: asked politely, always the same one, and what it writes after a prompt."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, TypeVar

from assay.errors import InputError, UsageError
from assay.names import listed, shown
from assay.scoring.decoding import Continuation, Decoding, Finish, cut_at, seed_of
from assay.scoring.models_and_texts import ENDPOINT, EndpointSpec
from assay.scoring.server import Patience, RefusalError, Server

_NO_MODEL = ("not exist", "not found", "not_found", "invalid model")
_TOO_LONG = ("context length", "context_length", "context size", "context window", "model length", "max_model_len")

T = TypeVar("T")


class ServedModel:
    """The completions of one model; ``url`` is that of the API (http://HOST:PORT/v1)."""

    def __init__(
        self, url: str, model: str, *, api_key_env: str | None = None, patience: Patience | None = None
    ) -> None:
        self._server = Server(url.removeprefix(ENDPOINT), key_variable=api_key_env, patience=patience or Patience())
        self.url, self.model = self._server.url, model
        self.served_as: str | None = None

    def completion(
        self, request: dict[str, Any], stopping: Event | None = None, *, probing: bool = False
    ) -> dict[str, Any]:
        """The server's answer, which must come from the same model each time."""
        answer = self._server.ask("/completions", {"model": self.model, **request}, stopping, probing=probing)
        served = answer.get("model")
        if served is not None and not isinstance(served, str):
            raise InputError(f"{self.url}: the server calls its model {str(served)[:60]!r}, which is not a name.")
        self.served_as = self.served_as or served
        if served != self.served_as:  # a router that falls back to another model
            raise InputError(
                f"{self.url}: the server answers as {served!r} now, as {self.served_as!r} before; score one model."
            )
        return answer

    def models(self) -> list[dict[str, Any]]:
        """What the server says of its models."""
        try:
            found = self._server.ask("/models").get("data")
        except InputError:  # not every server lists its models
            return []
        return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []

    def explained(self, refusal: RefusalError, too_long: str, advice: str) -> InputError:
        """What a refusal means; ``too_long`` is what was too long if that is it, and ``advice`` what helps."""
        said = refusal.said.lower()
        if "model" in said and any(words in said for words in _NO_MODEL):
            names = listed(str(entry.get("id")) for entry in self.models()) or "others"
            return InputError(
                f"{self.url}: the server has no model {self.model!r}, only {names}; name it with `model`."
            )
        if any(words in said for words in _TOO_LONG):
            return InputError(f"{self.url}: {too_long} ({refusal.said}); {advice}.")
        return refusal


def check_concurrency(concurrency: int) -> None:
    if concurrency < 1:
        raise UsageError(f"concurrency must be at least 1, but got {concurrency}.")


def at_once(work: Callable[[int, Event], T], n: int, concurrency: int) -> Iterator[T]:
    """Yield work(0), work(1), … in order, several being done at a time; the first that fails stops the others."""
    stopping = Event()
    with ThreadPoolExecutor(concurrency) as pool:
        try:
            yield from pool.map(lambda place: work(place, stopping), range(n))
        except BaseException:
            stopping.set()  # the others end their pauses and try no more
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class ServedWriter:
    """What a model behind a server writes after prompts, which are sent as text; it makes its own batches."""

    def __init__(self, spec: EndpointSpec) -> None:
        check_concurrency(spec.concurrency)
        patience = None if spec.timeout is None else Patience(answer=spec.timeout)
        self._served = ServedModel(spec.url, spec.model, api_key_env=spec.api_key_env, patience=patience)
        self._concurrency = spec.concurrency

    @property
    def served_as(self) -> str | None:
        return self._served.served_as

    def written(
        self, items: Sequence[str], prompts: Sequence[str], decoding: Decoding, done: frozenset[int]
    ) -> Iterator[dict[int, Continuation]]:
        """Yield the answers to the prompts that are not done, each as soon as those before it are there."""
        missing = [row for row in range(len(prompts)) if row not in done]

        def answer(place: int, stopping: Event) -> Continuation:
            row = missing[place]
            return self._answer(items[row], prompts[row], decoding, stopping)

        for row, found in zip(missing, at_once(answer, len(missing), self._concurrency), strict=True):
            yield {row: found}

    def _answer(self, item: str, prompt: str, decoding: Decoding, stopping: Event) -> Continuation:
        request: dict[str, Any] = {"prompt": prompt, "max_tokens": decoding.max_tokens}
        request["temperature"] = decoding.temperature
        if decoding.temperature > 0:
            request |= {"seed": seed_of(decoding.seed, item) >> 33, "top_p": 1.0}  # 31 bits, which all servers take
        if decoding.stop:
            request["stop"] = list(decoding.stop)
        try:
            return _answer_of(self._served.completion(request, stopping), decoding)
        except RefusalError as refusal:
            too_long = f"the prompt of item {shown(item)} and {decoding.max_tokens} new tokens are too long for it"
            raise self._served.explained(refusal, too_long, "give a smaller `max_tokens`, or shorter prompts") from None
        except _NoTextError as error:
            raise InputError(f"{self._served.url}, item {shown(item)}: {error}; is it a completions server?") from None


class _NoTextError(Exception):
    """Why an answer holds no text."""


def _answer_of(answer: dict[str, Any], decoding: Decoding) -> Continuation:
    choices = answer.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise _NoTextError("the answer does not have one choice")
    text, reason, usage = choices[0].get("text"), choices[0].get("finish_reason"), answer.get("usage")
    if not isinstance(text, str):
        raise _NoTextError("the choice has no text")
    tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # halves of pairs are no characters
    cut = cut_at(whole, decoding.stop)
    finish: Finish = "length" if reason == "length" and cut == whole else "stop"
    return Continuation(cut, finish, tokens if isinstance(tokens, int) and not isinstance(tokens, bool) else None)
