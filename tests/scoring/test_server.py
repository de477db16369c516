"""A server that wants to keep us waiting, or to flood us, does so for as long as --timeout says and no longer."""

import time
from collections.abc import Callable
from threading import Event, Timer

import pytest

from assay.errors import InputError
from assay.scoring.server import Patience, RefusalError, Server
from tests.scoring import hostile_server as habits
from tests.scoring.hostile_server import Send, hostile

DEADLINE = 1.0  # seconds
SLACK = 1.5  # of a busy machine

WAITING = [
    habits.silent,
    habits.dripped_status,
    habits.dripped_headers,
    habits.dripped_body,
    habits.dripped_chunk_line,
    habits.dripped_chunk_extension,
    habits.dripped_chunks,
    habits.dripped_trailers,
    habits.endless_continue,
    habits.flooding_continue,
    habits.early_hints,
]
FLOODING = [
    (habits.huge_headers, "does not speak HTTP"),
    (habits.huge_header, "does not speak HTTP"),
    (habits.gzip_bomb, "compressed"),
    (habits.deep_json, "not JSON"),
    (habits.redirects, "sends on to /v1/models"),
]


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def server_at(port: int, scheme: str = "http", **patience: float) -> Server:
    chosen = Patience(**{"answer": DEADLINE, "attempts": 1} | patience)  # type: ignore[arg-type]  # attempts is an int
    return Server(f"{scheme}://127.0.0.1:{port}", key_variable=None, patience=chosen)


def refused_within(server: Server, seconds: float, path: str = "/models", body: dict[str, str] | None = None) -> str:
    began = time.monotonic()
    with pytest.raises(InputError) as refused:
        server.ask(path, body)
    assert time.monotonic() - began < seconds
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("habit", WAITING, ids=lambda habit: habit.__name__)
def test_no_habit_outlasts_the_deadline(habit: Callable[[Send], None]) -> None:
    with hostile(habit) as port:
        said = refused_within(server_at(port), DEADLINE + SLACK)
    assert f"no whole answer within {DEADLINE:g} s; allow more time" in said


@pytest.mark.parametrize(("habit", "said"), FLOODING, ids=lambda part: getattr(part, "__name__", ""))
def test_floods_are_refused(habit: Callable[[Send], None], said: str) -> None:
    with hostile(habit) as port:
        assert said in refused_within(server_at(port), DEADLINE + SLACK)


def test_an_endless_answer_ends_at_its_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.scoring.http_client.LARGEST_ANSWER", 1 << 22)
    with hostile(habits.endless_body) as port:
        said = refused_within(server_at(port, answer=20.0), 20)
    assert "larger than 4,194,304 bytes" in said


def test_a_server_that_reads_nothing_does_not_outlast_the_deadline() -> None:
    with hostile(habits.silent, reads=False) as port:
        refused_within(server_at(port), DEADLINE + SLACK, "/completions", {"prompt": "a" * (1 << 24)})


def test_a_handshake_that_does_not_end_does_not_outlast_the_deadline() -> None:
    with hostile(habits.silent) as port:
        assert "no connection (time-out)" in refused_within(server_at(port, "https"), DEADLINE + SLACK)


def test_every_attempt_has_its_own_deadline() -> None:
    with hostile(habits.dripped_headers) as port:
        server = server_at(port, answer=0.3, attempts=3, first_pause=0.01)
        assert "attempts" not in refused_within(server, 0.3 + SLACK)  # it has never answered
        server._reached = True
        assert "3 attempts" in refused_within(server, 3 * 0.3 + SLACK)


def test_a_failure_elsewhere_ends_an_exchange_at_once() -> None:
    stopping = Event()
    Timer(0.3, stopping.set).start()
    with hostile(habits.silent) as port:
        began = time.monotonic()
        with pytest.raises(InputError):
            server_at(port, answer=60.0).ask("/models", None, stopping)
    assert time.monotonic() - began < 0.3 + SLACK


@pytest.mark.parametrize("habit", [habits.escapes, habits.escapes_in_a_header], ids=lambda habit: habit.__name__)
def test_what_a_server_says_steers_no_terminal(habit: Callable[[Send], None]) -> None:
    with hostile(habit) as port, pytest.raises(RefusalError) as refused:
        server_at(port).ask("/models")
    assert str(refused.value).isprintable()


def test_a_server_that_is_no_http_server() -> None:
    with hostile(lambda send: send(b"220 mail.example.org ESMTP\r\n\r\n")) as port:
        assert "does not speak HTTP" in refused_within(server_at(port, attempts=3), DEADLINE)
    with hostile(lambda send: send(b"SSH-2.0-OpenSSH\r\n")) as port:  # and closes
        said = refused_within(server_at(port, attempts=3, first_pause=0.01), DEADLINE)
    assert "closed the connection without an answer in HTTP; check the URL (3 attempts)" in said


def test_a_server_that_is_not_there() -> None:
    with hostile(habits.silent) as port:
        pass
    assert "no connection (Connection refused)" in refused_within(server_at(port), DEADLINE)
    nowhere = Server("http://no-such-host.invalid", key_variable=None, patience=Patience(answer=5.0, attempts=1))
    assert "no connection (" in refused_within(nowhere, 5 + SLACK)


def test_it_works_inside_of_another_event_loop() -> None:
    """As in a notebook."""
    import asyncio

    async def ask() -> str:
        with hostile(habits.redirects) as port:
            return refused_within(server_at(port), DEADLINE)

    assert "sends on to" in asyncio.run(ask())


def test_other_verbs_do_not_wait_for_the_http_client() -> None:
    import subprocess
    import sys

    code = "import sys, assay.cli.compare, assay.scoring.endpoint; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
