"""Servers on 127.0.0.1 that speak just enough HTTP to keep a client waiting, or to flood it."""

import gzip
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

Send = Callable[[bytes], None]
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_PAUSE = 0.05  # seconds: shorter than any time-out of a single read


def _drip(send: Send, data: bytes) -> None:
    for byte in data:
        send(bytes([byte]))
        time.sleep(_PAUSE)


def _for_ever(send: Send, piece: bytes, pause: float = _PAUSE) -> None:
    while True:
        send(piece)
        time.sleep(pause)


def silent(_send: Send) -> None:
    time.sleep(60)


def dripped_status(send: Send) -> None:
    _drip(send, b"HTTP/1.1 200 " + b"O" * 10_000)


def dripped_headers(send: Send) -> None:
    send(b"HTTP/1.1 200 OK\r\n")
    _for_ever(send, b"X-More: 1\r\n")


def dripped_body(send: Send) -> None:
    send(OK + b"Content-Length: 100000\r\n\r\n")
    _for_ever(send, b" ")


def dripped_chunk_line(send: Send) -> None:
    send(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    _drip(send, b"0" * 10_000)


def dripped_chunk_extension(send: Send) -> None:
    send(OK + b"Transfer-Encoding: chunked\r\n\r\n1;")
    _for_ever(send, b"x")


def dripped_chunks(send: Send) -> None:
    send(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    _for_ever(send, b"1\r\n \r\n")


def dripped_trailers(send: Send) -> None:
    send(OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
    _for_ever(send, b"X-More: 1\r\n")


def endless_continue(send: Send) -> None:
    _for_ever(send, b"HTTP/1.1 100 Continue\r\n\r\n")


def flooding_continue(send: Send) -> None:
    _for_ever(send, b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, pause=0)


def early_hints(send: Send) -> None:
    _for_ever(send, b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", pause=0)


def huge_headers(send: Send) -> None:
    send(b"HTTP/1.1 200 OK\r\n")
    _for_ever(send, b"X-More: " + b"a" * 10_000 + b"\r\n", pause=0)


def huge_header(send: Send) -> None:
    send(b"HTTP/1.1 200 OK\r\nX-More: ")
    _for_ever(send, b"a" * 10_000, pause=0)


def endless_body(send: Send) -> None:
    send(OK + b"\r\n")
    _for_ever(send, b" " * (1 << 20), pause=0)


def redirects(send: Send) -> None:
    send(b"HTTP/1.1 302 Found\r\nLocation: /v1/models\r\nContent-Length: 0\r\n\r\n")


def gzip_bomb(send: Send) -> None:
    bomb = gzip.compress(bytes(1 << 25), 1)
    send(OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb)


def deep_json(send: Send) -> None:
    send(OK + b"\r\n" + b"[" * 1_000_000)


def escapes(send: Send) -> None:
    said = b'{"error": {"message": "\\u001b[2J\\u001b]0;owned\\u0007 \\u202egnihton"}}'
    send(b"HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(said) + said)


def escapes_in_a_header(send: Send) -> None:
    send(b"HTTP/1.1 302 Found\r\nLocation: /\xc2\x9b2J\xe2\x80\xae\r\nContent-Length: 0\r\n\r\n")


@contextmanager
def hostile(habit: Callable[[Send], None], *, reads: bool = True) -> Iterator[int]:
    """The port of a server with this habit; it does not read what is sent if it is not to."""
    ended = Event()

    def serve(client: socket.socket) -> None:
        def send(data: bytes) -> None:
            if ended.is_set():
                raise ConnectionError
            client.sendall(data)

        with client:
            try:
                if reads:
                    client.recv(1 << 16)
                habit(send)
            except OSError:
                pass  # the client has hung up, which is what it should do

    def accept() -> None:
        while not ended.is_set():
            try:
                client, _ = listening.accept()
            except OSError:
                return
            Thread(target=serve, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        thread = Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            ended.set()
            listening.shutdown(socket.SHUT_RDWR)
