"""A server that speaks just enough S3 to fail in the way a test asks for."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SIZE = 100_000
_FULL = b"<Error><Code>XMinioStorageFull</Code><Message>Storage backend is full</Message></Error>"
_DENIED = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fault = ""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def answer(self, code: int, body: bytes = b"", length: int | None = None) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.send_header("ETag", '"1"')
        self.send_header("Content-Type", "application/xml")
        self.send_header("Last-Modified", "Wed, 18 Nov 2026 05:00:00 GMT")
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.answer(403) if self.fault == "denied" else self.answer(200, length=SIZE)

    def do_GET(self) -> None:
        if self.fault == "denied":
            self.answer(403, _DENIED)
        elif "list-type" in self.path:
            self.answer(200, b"<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>")
        elif self.fault == "slow":
            self.answer(200, b"a" * 1000, length=SIZE)
            self.wfile.flush()
            threading.Event().wait(20)
        else:  # cut off
            self.answer(200, b"a" * 1000, length=SIZE)
            self.close_connection = True

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.answer(507, _FULL)


@contextmanager
def faulty_server(fault: str) -> Iterator[str]:
    """The address of a server that denies, cuts what it sends, or is slow; nothing can be put there, as it is full."""
    handler = type("Answers", (_Answers,), {"fault": fault})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
