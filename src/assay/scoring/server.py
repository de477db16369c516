"""JSON over HTTP to a server that may be busy, slow, gone or hostile: deadlines, bounded retries, a hidden key.

Failures become values (`ServerFault`) where they happen and exceptions only afterwards, so that no traceback carries
the frames of the request, with its headers and the key.
"""

import json
import os
import random
import ssl
from dataclasses import dataclass
from math import inf
from threading import Event
from typing import Any
from urllib.parse import urlsplit

from assay.errors import InputError, UsageError
from assay.names import one_line
from assay.scoring.http_client import Broken, Call, Client, HttpAnswer
from assay.scoring.rate_limits import CommonPause, asked_wait, until_reset

DEFAULT_KEY = "OPENAI_API_KEY"
_PASSING = frozenset({408, 425, 429})  # and all of 5xx: worth another attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Time limits, in seconds, and the number of attempts."""

    connect: float = 10.0
    answer: float = 300.0  # for a whole exchange, from the name of the server to the last byte
    attempts: int = 6
    first_pause: float = 0.5  # doubled after each attempt
    longest_pause: float = 30.0
    longest_wait: float = 300.0  # a server that asks for more, at once or in all, ends the run, which can be resumed

    def __post_init__(self) -> None:
        if self.attempts < 1 or not all(0 < seconds < inf for seconds in (self.connect, self.answer)):
            raise UsageError("attempts must be at least 1, and time-outs above 0 seconds and finite.")

    def pause(self, attempt: int) -> float:
        """Seconds before the next attempt, with jitter, so that requests that failed together are spread out."""
        longest: float = min(self.longest_pause, self.first_pause * 2 ** (attempt - 1))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreads requests, guards nothing


class ApiKey:
    """A secret from an environment variable; its repr shows the name of the variable only."""

    __slots__ = ("_secret", "variable")

    def __init__(self, variable: str) -> None:
        self.variable = variable
        self._secret = os.environ.get(variable, "").strip()
        if not self._secret.isascii() or not self._secret.isprintable() or " " in self._secret:
            what = "does not look like an API key: it contains spaces or unexpected characters"
            raise UsageError(f"the environment variable {variable} {what}.")

    def __repr__(self) -> str:
        return f"ApiKey({self.variable})"

    def __bool__(self) -> bool:
        return bool(self._secret)

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._secret}"} if self else {}

    def hidden(self, text: str) -> str:
        """Remove the key from a text; servers like to echo it."""
        return text.replace(self._secret, f"[{self.variable}]") if self else text


class RefusalError(InputError):
    """The server refused the request."""

    def __init__(self, message: str, status: int, said: str) -> None:
        super().__init__(message)
        self.status = status
        self.said = said


@dataclass(frozen=True, slots=True)
class ServerFault:
    """Why a request failed, and whether a retry may succeed."""

    reason: str
    passing: bool
    wait: float | None = None  # seconds, where the server says so
    status: int | None = None


class Server:
    """One server: its address, the key, and the time limits."""

    def __init__(self, url: str, *, key_variable: str | None, patience: Patience) -> None:
        self.url = _checked(url)
        parts = urlsplit(self.url)
        self._path = parts.path
        tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._client = Client(tls)
        self._key = ApiKey(key_variable or DEFAULT_KEY)
        # A key that was not named for this server (the variable may hold another's) never travels in the clear.
        self._keyed = tls is not None or key_variable is not None or _is_loopback(parts.hostname or "")
        self._patience = patience
        self._reached = False
        self._pause = CommonPause()

    def __repr__(self) -> str:
        return f"Server({self.url!r})"

    def ask(
        self, path: str, body: dict[str, Any] | None = None, stopping: Event | None = None, *, probing: bool = False
    ) -> dict[str, Any]:
        """The JSON object that the server returns for a POST of the body, or for a GET without one.

        In a probe, a status of 500 is retried once and then taken as a refusal, as llama-cpp-python means it.
        """
        payload = None if body is None else json.dumps(body).encode()
        stopping, attempt, left = stopping or Event(), 1, self._patience.longest_wait
        while isinstance(outcome := self._outcome(path, payload, stopping), ServerFault):
            refused = probing and outcome.status == 500
            wait = self._patience.pause(attempt) if outcome.wait is None else outcome.wait
            last = attempt >= self._patience.attempts or (refused and attempt > 1) or wait > left
            if refused and last:
                raise RefusalError(f"{self.url}: {outcome.reason}.", 500, outcome.reason)
            if last or not outcome.passing or self._waited(outcome, wait, stopping):
                raise InputError(f"{self.url}: {outcome.reason}{_tries(attempt)}.")
            if outcome.wait is None or wait < self._patience.first_pause:
                attempt += 1
            else:  # it was told to come back, which is no failure: all such waits together are bounded
                left -= wait
        return outcome

    def _waited(self, fault: ServerFault, wait: float, stopping: Event) -> bool:
        """Wait; whether all is to be stopped instead. What a server asks of one connection holds for all."""
        if fault.wait is None:
            return stopping.wait(wait)
        self._pause.extend(wait)
        return self._pause.kept(stopping) or stopping.wait(random.uniform(0, 0.1 * wait))  # noqa: S311 - as above

    def _outcome(self, path: str, payload: bytes | None, stopping: Event) -> dict[str, Any] | ServerFault:
        patience = self._patience
        if self._pause.kept(stopping):
            return self._fault(Broken("stopped"))
        call = Call(self.url + path, payload, self._headers(), patience.connect, patience.answer)
        answer = self._client.exchanged(call, stopping)
        if isinstance(answer, Broken):
            return self._fault(answer)
        self._reached = True
        if 200 <= answer.status < 300:
            reset = until_reset(answer.headers)
            if reset is not None and reset <= patience.longest_wait:
                self._pause.extend(reset)  # the next ones would be refused
            return _decoded(answer)
        said, wait = self._key.hidden(_said(answer)), asked_wait(answer.headers)
        if answer.status in _PASSING or answer.status >= 500:
            asks = "" if wait is None else f", asks to wait {wait:.0f} s"
            reason = f"the server answers {answer.status}{said and f' ({said})'}{asks}"
            return ServerFault(reason, passing=True, wait=wait, status=answer.status)
        raise self._refusal(path, answer, said)

    def _refusal(self, path: str, answer: HttpAnswer, said: str) -> RefusalError:
        status = answer.status
        if status in (401, 403):  # what it says may hold a part of the key
            why, said = self._without_key(), ""
        elif 300 <= status < 400:
            target = " ".join(str(answer.headers.get("Location")).split())
            why = f"sends on to {one_line(self._key.hidden(target)[:240])}; give that URL"
        elif status == 404:
            why = f"has no {self._path}{path}{said and f' ({said})'}; the URL should end before /completions"
        else:
            why = f"refuses the request{said and f': {said}'}"
        return RefusalError(f"{self.url}: the server {why} (status {status}).", status, said)

    def _without_key(self) -> str:
        name = self._key.variable
        if self._key and not self._keyed:
            return f"wants an API key; the one in {name} goes unencrypted only if that variable is named"
        return f"wants an API key, and {'the one' if self._key else 'there is none'} in {name}" + (
            " is not accepted" if self._key else ""
        )

    def _headers(self) -> dict[str, str]:
        plain = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        return plain | {"Accept-Encoding": "identity"} | (self._key.headers() if self._keyed else {})

    def _fault(self, broken: Broken) -> ServerFault:
        """Until the server has answered once, faults are final: the URL may be wrong, or the time too short."""
        why = one_line(broken.why)
        deadline = f"no whole answer within {self._patience.answer:g} s; allow more time"
        faults = {
            "tls": ServerFault(f"no encrypted connection ({why}); check https, and the certificate", self._reached),
            "connect": ServerFault(f"no connection ({why}); check the URL, and that the server runs", self._reached),
            "deadline": ServerFault(deadline, self._reached),
            "closed": ServerFault(
                "the server closed the connection without an answer in HTTP; check the URL", passing=True
            ),
            "cut": ServerFault("the answer breaks off", passing=True),
            "protocol": ServerFault(f"what answers does not speak HTTP ({why}); check the URL", self._reached),
            "large": ServerFault(f"the answer is larger than {why} bytes; check the URL", passing=False),
            "compressed": ServerFault(
                "the answer is compressed, which it was asked not to be; check the URL", passing=False
            ),
            "stopped": ServerFault("stopped, as another request failed", passing=False),
        }
        return faults[broken.kind]


def _checked(url: str) -> str:
    """Validate the URL; it is never quoted in messages, since it may contain a password."""
    rule = "an endpoint must look like http://HOST:PORT/v1 or https://HOST/v1"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError(f"{rule}, but this one has a wrong port or host.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or any(sign.isspace() for sign in url):
        raise UsageError(f"{rule}, but got {parts.scheme or 'no scheme'} and {parts.hostname or 'no host'}.")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment or port == 0:
        raise UsageError(f"{rule}, without user, password, ? and #; a key comes from an environment variable.")
    path = parts.path.rstrip("/").removesuffix("/completions") or "/v1"
    if path.endswith("/chat"):
        raise UsageError(f"{rule}; chat gives no log-probabilities of a text.")
    return f"{parts.scheme}://{parts.netloc}{path}"


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def _decoded(answer: HttpAnswer) -> dict[str, Any] | ServerFault:
    if "json" not in str(answer.headers.get("Content-Type", "json")).lower():
        kind = one_line(answer.headers["Content-Type"].partition(";")[0].strip()[:60])
        return ServerFault(f"the answer is {kind}, not JSON; check the URL", passing=False)
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return ServerFault(f"the answer breaks off or is not JSON ({len(answer.body):,} bytes)", passing=True)
    return found if isinstance(found, dict) else ServerFault("the answer is not a JSON object", passing=False)


def _said(answer: HttpAnswer) -> str:
    """The server's error message, on one line."""
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return ""
    for name in ("error", "message", "detail"):  # OpenAI's shape, the older vLLM's, FastAPI's
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    text = one_line(" ".join(str(found).split()).rstrip("."))
    return text if len(text) <= 240 else text[:239] + "…"


def _tries(attempt: int) -> str:
    return f" ({attempt} attempts); the same command goes on where this one ends" if attempt > 1 else ""
