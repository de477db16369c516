"""Who is answered, and how: requests through real sockets, and the stop of a real process."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from assay.errors import InputError, UsageError
from assay.report.serve import ResultServer, make_server
from tests.report.serving import ask, furnished, lines, raw, running

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return furnished(tmp_path_factory.mktemp("top"))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[ResultServer]:
    with running(folder) as server:
        yield server


@pytest.mark.parametrize("host", ["127.0.0.1:{}", "localhost:{}", "LOCALHOST:{}", "[::1]:{}"])
def test_own_names_are_answered(server: ResultServer, host: str) -> None:
    assert ask(server, "/", Host=host.format(server.server_port)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        *("example.org", "example.org:{}", "127.0.0.1", "localhost", "127.0.0.1:1", "127.0.0.1.example.org:{}", ""),
        *(
            "localhost.:{}",
            "127.0.0.1:{}@example.org",
            "0.0.0.0:{}",
            "127.1:{}",
            "localhost:{} ,x",
            "[::ffff:127.0.0.1]:{}",
        ),
    ],
)
def test_other_names_are_refused(server: ResultServer, host: str) -> None:
    for target in ("/", "/index.json", "/r/int3.json", "/j/int3.json"):
        got = ask(server, target, Host=host.format(server.server_port))
        assert got.status == 421
        assert b"losses" not in got.body


@pytest.mark.parametrize("hosts", [[], ["127.0.0.1:{0}", "example.org"], ["127.0.0.1:{0}", "127.0.0.1:{0}"]])
def test_none_or_several_names_are_refused(server: ResultServer, hosts: list[str]) -> None:
    said = "".join(f"Host: {host.format(server.server_port)}\r\n" for host in hosts)
    assert raw(server, f"GET / HTTP/1.1\r\n{said}\r\n".encode()).startswith(b"HTTP/1.0 421 ")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://example.org"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{}"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "cross-site", "Origin": "http://127.0.0.1:{}"},
    ],
)
def test_other_sites_are_refused(server: ResultServer, headers: dict[str, str]) -> None:
    got = ask(server, "/index.json", **{name: value.format(server.server_port) for name, value in headers.items()})
    assert got.status == 403
    assert b"losses" not in got.body


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_own_pages_are_answered(server: ResultServer, site: str) -> None:
    origin = f"http://127.0.0.1:{server.server_port}"
    assert ask(server, "/index.json", Sec_Fetch_Site=site, Origin=origin).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "X"])
def test_other_methods_are_refused(server: ResultServer, folder: Path, method: str) -> None:
    before = {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}
    got = ask(server, "/r/int3.json", method, body="x" * 100_000)
    assert (got.status, got.headers["Allow"]) == (405, "GET, HEAD")
    assert before == {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.parametrize("target", ["/", "/index.json", "/r/int3.json", "/j/int3.json", "/f/foreign.html", "/nothing"])
def test_head_is_get_without_a_body(server: ResultServer, target: str) -> None:
    lines(server)
    got, head = ask(server, target), ask(server, target, "HEAD")
    assert (head.status, head.body) == (got.status, b"")
    assert int(head.headers["Content-Length"]) == len(got.body)


def test_every_answer_has_the_headers_that_protect(server: ResultServer) -> None:
    lines(server)  # everything was read: the listing stays the same
    answers = [ask(server, t) for t in ("/", "/index.json", "/r/int3.json", "/j/int3.json", "/f/report.html", "/no")]
    answers += [ask(server, "/favicon.ico"), ask(server, "/f/int3.json"), ask(server, "/", "POST")]
    answers += [ask(server, "/", Host="example.org"), ask(server, "/", Origin="null"), ask(server, "/" + "a" * 20_000)]
    answers += [ask(server, "/index.json", If_None_Match=answers[1].headers["ETag"])]
    assert [got.status for got in answers] == [200, 200, 200, 200, 200, 404, 204, 302, 405, 421, 403, 431, 304]
    for got in answers:
        assert {name: got.headers[name] for name in ALWAYS} == ALWAYS
        assert "default-src 'none'" in got.headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in got.headers["Content-Security-Policy"]
        assert "Python" not in str(got.headers)
    assert "connect-src 'self'" in answers[0].headers["Content-Security-Policy"]
    assert all("connect-src" not in got.headers["Content-Security-Policy"] for got in answers[1:])


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 10_000 + b"\r\n", b"431"),
        (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", b"431"),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", b"431"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/9.9\r\n\r\n", b"505"),
        (b"GET /\r\n\r\n", b"421"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"400"),
    ],
)
def test_requests_that_are_none(server: ResultServer, request_: bytes, status: bytes) -> None:
    head, _, body = raw(server, request_).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 " + status)
    assert b"X-Frame-Options: DENY" in head
    assert body.startswith(b"<!doctype html>")


def test_a_slow_client_keeps_nobody_waiting_and_is_left(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("assay.report.serve._SECONDS_TO_ASK", 1.0)
    with running(folder) as server, socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert ask(server, "/index.json").status == 200
        for _ in range(20):  # a byte now and then does not help
            try:
                slow.sendall(b"x")
            except OSError:
                break
            time.sleep(0.1)
        with suppress(ConnectionError):
            assert slow.recv(100) == b""
        assert ask(server, "/index.json").status == 200
    assert capsys.readouterr().err == ""


def test_connections_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.report.serve._MOST_AT_ONCE", 2)
    with running(folder) as server:
        address = ("127.0.0.1", server.server_port)
        with (
            socket.create_connection(address),
            socket.create_connection(address),
            socket.create_connection(address, timeout=20) as third,
        ):
            assert third.recv(1) == b""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                assert ask(server, "/favicon.ico").status == 204
                break
            except ConnectionError:  # the two have not been noticed to be gone
                time.sleep(0.05)
        else:
            raise AssertionError("the places were not given back")


def test_a_fault_of_ours_is_a_line_and_a_page(
    server: ResultServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by <b>")

    monkeypatch.setattr(server.site, "_listing", broken)
    got = ask(server, "/")
    assert got.status == 500
    assert "by &lt;b&gt;" in got.text
    assert capsys.readouterr().err == "'/': ZeroDivisionError: by <b>\n"


def test_it_listens_on_the_loopback_address_only(server: ResultServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken(server: ResultServer, folder: Path) -> None:
    with pytest.raises(InputError, match=rf"^port {server.server_port} is taken by another program; .*`port`"):
        make_server(folder, server.server_port)


def test_what_cannot_be_served(folder: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        make_server(folder / "nothing", 0)
    with pytest.raises(InputError, match="not a folder"):
        make_server(folder / "int3.json", 0)
    with pytest.raises(UsageError, match="0 to 65535"):
        make_server(folder, 65_536)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent another way there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    code = (
        "import sys; from pathlib import Path; from assay.report.serve import serve; serve(Path(sys.argv[1]), port=0)"
    )
    (tmp_path / "half.json").write_text("{")
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        first = process.stderr.readline()
        found = re.fullmatch(r"Showing (.+) at http://127\.0\.0\.1:(\d+)/ \(Ctrl-C stops\)\.\n", first)
        assert found is not None
        assert found[1] == str(tmp_path)
        connection = HTTPConnection("127.0.0.1", int(found[2]), timeout=20)
        connection.request("GET", "/")
        assert connection.getresponse().read().startswith(b"<!doctype html>")
        connection.close()
        process.send_signal(number)
        assert process.communicate(timeout=20)[1] == "Stopped.\n"
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()
