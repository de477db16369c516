"""HTTP exchanges, each with one deadline for all of it.

HTTP clients time out single reads and writes, so a server that sends a byte now and then is never late. Here
`asyncio.timeout` ends an exchange wherever it is: name lookup, handshake, request, headers, chunks or trailers. The
event loop runs in a thread of its own, since the caller may be inside another loop (a notebook).
"""

import asyncio
import os
import ssl
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import httpx

LARGEST_ANSWER = 1 << 28  # bytes; two log-probabilities for each of a million tokens are less
_LOOK = 0.2  # seconds between looks whether to stop

BreakKind = Literal["tls", "connect", "deadline", "closed", "cut", "protocol", "large", "compressed", "stopped"]


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A complete response."""

    status: int
    headers: Mapping[str, str]  # whatever the case of their names
    body: bytes = field(repr=False)  # a server may repeat the key


@dataclass(frozen=True, slots=True)
class Broken:
    """Why there is no complete response. A value, not an exception, which would carry the request and the key."""

    kind: BreakKind
    why: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A request and its time limits."""

    url: str
    payload: bytes | None
    headers: Mapping[str, str] = field(repr=False)
    connect: float
    deadline: float


class Client:
    """Sends calls, each over its own connection."""

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self._tls = tls
        self._made: dict[int, httpx.AsyncClient] = {}  # by process, like the loops

    def exchanged(self, call: Call, stopping: Event) -> HttpAnswer | Broken:
        """Send and receive, until the deadline or until ``stopping`` is set."""
        future = _in_the_loop(self._within_the_deadline(call))
        try:
            while True:
                try:
                    return future.result(_LOOK)
                except TimeoutError:
                    if stopping.is_set():
                        return Broken("stopped")
        finally:
            future.cancel()

    async def _within_the_deadline(self, call: Call) -> HttpAnswer | Broken:
        try:
            async with asyncio.timeout(call.deadline):
                return await self._whole(call)
        except TimeoutError:
            return Broken("deadline")

    async def _whole(self, call: Call) -> HttpAnswer | Broken:
        import httpx  # late: a quarter of a second that only endpoints need

        if os.getpid() not in self._made:
            self._made[os.getpid()] = self._new()
        # A handshake that is cancelled from outside leaves its socket open; one that times out does not.
        patience = httpx.Timeout(call.deadline, connect=min(call.connect, 0.9 * call.deadline))
        method = "GET" if call.payload is None else "POST"
        answering = False
        try:
            async with self._made[os.getpid()].stream(
                method, call.url, content=call.payload, headers=call.headers, timeout=patience
            ) as response:
                answering = True
                return await _received(response)
        except httpx.TransportError as error:
            return _broken(error, answering=answering)

    def _new(self) -> "httpx.AsyncClient":
        """A client without proxies or passwords from the environment; redirects are left for the user to judge."""
        import httpx

        return httpx.AsyncClient(
            verify=False if self._tls is None else self._tls,
            trust_env=False,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        )


async def _received(response: "httpx.Response") -> HttpAnswer | Broken:
    coding = response.headers.get("Content-Encoding", "identity").lower()
    if coding not in ("", "identity"):  # it was asked not to; a small answer may unpack to any size
        return Broken("compressed")
    blocks, size = [], 0
    async for block in response.aiter_raw():
        blocks.append(block)
        size += len(block)
        if size > LARGEST_ANSWER:
            return Broken("large", f"{LARGEST_ANSWER:,}")
    return HttpAnswer(response.status_code, response.headers, b"".join(blocks))


def _broken(error: "httpx.TransportError", *, answering: bool) -> Broken:
    """Classify a transport error; the description never quotes the request."""
    import httpx

    if isinstance(error, httpx.ConnectTimeout):
        return Broken("connect", "time-out")
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError):
            return Broken("tls", getattr(cause, "verify_message", "") or cause.reason or "broken off")
    if isinstance(error, httpx.ConnectError):
        said = (os.strerror(cause.errno) for cause in _causes(error) if isinstance(cause, OSError) and cause.errno)
        return Broken("connect", next(said, None) or "no such host")
    if isinstance(error, httpx.TimeoutException):
        return Broken("deadline")
    if answering:
        return Broken("cut")
    if isinstance(error, httpx.NetworkError) or "disconnected" in str(error):
        return Broken("closed")
    return Broken("protocol", type(error).__name__)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and its causes, including those of grouped exceptions."""
    while error is not None:
        yield error
        for part in getattr(error, "exceptions", ()):
            yield from _causes(part)
        error = error.__cause__ or error.__context__


# ------------------------------------------------------------------------------------------------------ the event loop

_lock = Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}  # by process: a fork has the dictionary and not the thread


def _in_the_loop(task: Coroutine[Any, Any, HttpAnswer | Broken]) -> "Future[HttpAnswer | Broken]":
    with _lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            Thread(target=loop.run_forever, name="assay-http", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(task, loop)
