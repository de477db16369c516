"""A real server on a free port, a folder for it, and questions through real sockets."""

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import cast

import assay
from assay.report.files import document_of, write_document
from assay.report.serve import ResultServer, make_server

EXAMPLES = Path(assay.__file__).parent / "examples"


@dataclass(frozen=True)
class Got:
    status: int
    headers: Message
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


def ask(server: ResultServer, target: str, method: str = "GET", body: str | None = None, **headers: str) -> Got:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    try:
        connection.putrequest(method, target, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(None if body is None else body.encode())
        answer = connection.getresponse()
        return Got(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


def raw(server: ResultServer, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def lines(server: ResultServer) -> list[dict[str, str]]:
    """The listing, once everything in it was read."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        got = cast("list[dict[str, str]]", json.loads(ask(server, "/index.json").body)["lines"])
        if all(line["word"] != "being read" for line in got):
            return got
    raise AssertionError("the folder was not read in a minute")


@contextmanager
def running(folder: Path) -> Iterator[ResultServer]:
    server = make_server(folder, 0)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@cache
def sample() -> str:
    """A result as a file holds it."""
    return json.dumps(assay.compare(EXAMPLES / "losses-base.csv", EXAMPLES / "losses-int3.csv").to_dict())


def furnished(top: Path) -> Path:
    """A folder with results, pages, and much that must stay unseen."""
    inside = top / "results"
    for made in (inside / "run 1" / "早い", inside / ".hidden", inside / "folder.json", top / "outside"):
        made.mkdir(parents=True)
    text = sample()
    for number, name in enumerate(("run 1/早い/50 % #1?.json", "int3.json")):
        (inside / name).write_text(text)
        os.utime(inside / name, (1_700_000_000 + number,) * 2)
    for name in (".dot.json", ".hidden/a.json", "../secret.json", "../outside/secret.json"):
        (inside / name).write_text(text)
    (inside / "other.json").write_text('{"key": "private"}')
    (inside / "odd.json").write_text('{"schema": ["assay/comparison/1"]}')
    (inside / "plain.txt").write_text("private")
    (inside / "chart.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    (inside / "foreign.html").write_text("<title>Not &lt;ours&gt;</title><script>alert(1)</script>")
    document, _ = document_of([inside / "int3.json"])
    write_document(document, inside / "report.html")
    (inside / "linked-outside.json").symlink_to(top / "secret.json")
    (inside / "linked-folder").symlink_to(top / "outside")
    (inside / "linked-hidden.json").symlink_to(inside / ".dot.json")
    (inside / "linked-text.json").symlink_to(inside / "plain.txt")
    (inside / "circle.json").symlink_to(inside / "circle.json")
    (inside / "linked-inside.json").symlink_to(inside / "int3.json")
    return inside
