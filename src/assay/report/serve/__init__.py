"""A small local server that shows one folder of results, to this machine only.

It listens on the loopback address only. A web page elsewhere cannot use a visitor's browser to read it: names that
were made to point here (DNS rebinding) are refused by the Host header, requests of other sites by what browsers say
of their origin.
"""

import errno
import os
import signal
import socket
import socketserver
import sys
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import BoundedSemaphore, Event, Thread
from typing import Any

from assay.errors import InputError, UsageError
from assay.names import visible
from assay.report.serve.site import Response, Site, problem
from assay.version import VERSION

PORT = 8321
_HERE = "127.0.0.1"
_NAMES = (_HERE, "localhost", "[::1]")
_LONGEST_HEAD = 16_384  # bytes of a request line and its headers
_SECONDS_TO_ASK = 10.0
_SECONDS_TO_TAKE = 60.0
_MOST_AT_ONCE = 64  # connections
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Handler(BaseHTTPRequestHandler):
    """One request, then the connection is closed."""

    server: "ResultServer"
    server_version, sys_version = f"assay/{VERSION}", ""
    command, requestline, request_version = "GET", "", "HTTP/1.0"  # until a request line has been read

    def handle(self) -> None:
        """Handle a request once its whole head has arrived, in time and not too long."""
        head = self._head()
        self.rfile.close()
        self.rfile = BytesIO(head)
        if len(head) > _LONGEST_HEAD:
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        elif head:
            self.handle_one_request()

    def _head(self) -> bytes:
        """The head up to the empty line: nothing if it does not come, more than is allowed if it is too long."""
        head, until = b"", time.monotonic() + _SECONDS_TO_ASK
        while b"\r\n\r\n" not in head and b"\n\n" not in head and len(head) <= _LONGEST_HEAD:
            self.connection.settimeout(max(until - time.monotonic(), 0.001))
            more = self.connection.recv(4096)
            if not more:
                return b""
            head += more
        self.connection.settimeout(_SECONDS_TO_TAKE)
        return head

    def do_GET(self) -> None:
        refused = self._refused()
        if refused is not None:
            self._send(refused)
            return
        try:
            answer = self.server.site.answer(self.path, self.headers.get("If-None-Match"))
        except Exception as error:  # noqa: BLE001 - one address that fails must not take the others away; it is reported
            say(f"{self.path!r}: {type(error).__name__}: {error}")
            answer = problem(HTTPStatus.INTERNAL_SERVER_ERROR, "This went wrong", f"{type(error).__name__}: {error}")
        self._send(answer)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _refused(self) -> Response | None:
        """The response to a request that does not come from this machine's own pages or address bar."""
        if [name.lower() for name in self.headers.get_all("Host", [])] not in [[host] for host in self.server.hosts]:
            text = f"Open {self.server.url} instead; through a tunnel, use port {self.server.server_port} at both ends."
            return problem(HTTPStatus.MISDIRECTED_REQUEST, "Not under this name", text)
        origin = self.headers.get("Origin")
        elsewhere = origin is not None and origin.lower() not in {f"http://{host}" for host in self.server.hosts}
        if elsewhere or self.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            text = "Another site asked for this. If you followed a link, go on from here."
            return problem(HTTPStatus.FORBIDDEN, "Not from another site", text)
        return None

    def _send(self, answer: Response) -> None:
        self.request_version = "HTTP/1.0"  # to older clients no headers are sent, and the headers protect
        self.send_response(answer.status)
        about = {"Content-Type": answer.type, "Content-Security-Policy": answer.policy}
        bare = answer.status in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
        length = {} if bare else {"Content-Length": str(len(answer.body))}
        for name, value in (about | length | _ALWAYS | answer.more).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD" and not bare:
            self.wfile.write(answer.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer what the parser of requests refuses, without repeating the request."""
        status = HTTPStatus(code)
        allow = {}
        if status is HTTPStatus.NOT_IMPLEMENTED:  # a method that has no function here
            status, allow = HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": "GET, HEAD"}
        self._send(
            problem(status, status.phrase, "This server is read-only: it answers plain GET and HEAD requests.", **allow)
        )
        self._drain()

    def _drain(self) -> None:
        """Read on for a moment: closing with unread bytes would take the answer away from the client."""
        self.connection.shutdown(socket.SHUT_WR)
        until = time.monotonic() + 0.5
        self.connection.settimeout(0.5)
        while time.monotonic() < until and self.connection.recv(65_536):
            pass

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is http.server's
        """Log nothing: operators do not look for a list of requests."""


class ResultServer(ThreadingHTTPServer):
    """Shows one folder on the loopback address; `url` is where."""

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # there it would share the port with whoever has it

    def __init__(self, folder: Path, port: int) -> None:
        self._free = BoundedSemaphore(_MOST_AT_ONCE)
        super().__init__((_HERE, port), Handler)
        self.url = f"http://{_HERE}:{self.server_port}/"
        self.hosts = {f"{name}:{self.server_port}" for name in _NAMES} | (
            set(_NAMES) if self.server_port == 80 else set()
        )
        self.site = Site(folder)

    def server_bind(self) -> None:
        """Bind without asking a name server, as http.server does, for the name of the address."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = _HERE, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Ignore clients that hang up or time out; report anything else in one line."""
        error = sys.exception()
        if not isinstance(error, OSError):
            say(f"a request failed: {type(error).__name__}: {error}")

    def server_close(self) -> None:
        super().server_close()
        if hasattr(self, "site"):  # not if the port was taken
            self.site.served.close()


def say(line: str) -> None:
    sys.stderr.write(f"{visible(line)}\n")
    sys.stderr.flush()


def make_server(folder: Path, port: int = PORT) -> ResultServer:
    """A server that listens; `serve_forever` answers, `shutdown` and `server_close` end it. Port 0: any free one."""
    if not 0 <= port <= 65_535:
        raise UsageError(f"`port` must be 0 to 65535, but got {port}.")
    try:
        place = folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise InputError(f"{folder}: there is no such folder; name one that has results, or will have.") from error
    if not place.is_dir():
        raise InputError(f"{folder}: not a folder; name one that has results, or will have.")
    try:
        return ResultServer(place, port)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        what = "is taken by another program" if taken else f"cannot be used ({error.strerror})"
        raise InputError(f"port {port} {what}; choose another `port`, or any free one with `port=0`.") from error


def serve(folder: Path, *, port: int = PORT, ready: Callable[[str], None] | None = None) -> int:
    """Show a folder until Ctrl-C or SIGTERM; the number of the signal that ended it.

    ``ready`` is told one line with the address (default: stderr).
    """
    server = make_server(folder, port)
    stop = Event()
    numbers: list[int] = []

    def stopped(number: int, _: object) -> None:
        numbers.append(number)
        stop.set()

    before = {number: signal.signal(number, stopped) for number in (signal.SIGINT, signal.SIGTERM)}
    thread = Thread(target=server.serve_forever, name="server", daemon=True)
    thread.start()
    try:
        (ready or say)(f"Showing {folder} at {server.url} (Ctrl-C stops).")
        while not stop.wait(0.5):  # not for ever: on Windows signals are seen only between two waits
            pass
    finally:
        server.shutdown()
        server.server_close()
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
    say("Stopped.")
    return numbers[0]
