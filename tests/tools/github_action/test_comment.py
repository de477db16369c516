"""The comment of the action, against a server on this machine that speaks GitHub's API of issue comments."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.github_action.comment import MOST_LETTERS, body_of, is_ours, main, marker_of

BOT = {"login": "github-actions[bot]", "type": "Bot"}
PERSON = {"login": "mallory", "type": "User"}
PAGE = 3  # comments on a page, so that few are several pages


@dataclass
class GitHub:
    """The comments of pull request 7 of a repository, and what was asked."""

    comments: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    refuse: dict[str, int] = field(default_factory=dict)  # by method: the status instead of an answer
    fail: int = 0  # so many requests are answered with 502 first
    elsewhere: str = ""  # a next page that the server names
    address: str = ""

    def answer(self, method: str, path: str, data: Any, token: str) -> tuple[int, Any, dict[str, str]]:
        self.asked.append(method)
        if self.fail:
            self.fail -= 1
            return 502, {}, {}
        if token != "Bearer secret":  # noqa: S105 - of nothing
            return 401, {}, {}
        if method in self.refuse:
            return self.refuse[method], {}, {"Location": f"{self.address}/stolen"}
        split = urlsplit(path)
        if method == "GET" and split.path == "/repos/o/r/issues/7/comments":
            return self._page(int(parse_qs(split.query).get("page", ["1"])[0]))
        if method == "POST" and split.path == "/repos/o/r/issues/7/comments":
            self.comments.append({"id": len(self.comments) + 1, "body": data["body"], "user": BOT})
            return 201, self.comments[-1], {}
        number = int(split.path.removeprefix("/repos/o/r/issues/comments/"))
        if method == "DELETE":
            self.comments = [one for one in self.comments if one["id"] != number]
            return 204, None, {}
        (found,) = [one for one in self.comments if one["id"] == number]
        found["body"] = data["body"]
        return 200, found, {}

    def _page(self, number: int) -> tuple[int, Any, dict[str, str]]:
        shown = self.comments[(number - 1) * PAGE : number * PAGE]
        more = number * PAGE < len(self.comments)
        after = self.elsewhere or f"{self.address}/repos/o/r/issues/7/comments?per_page=100&page={number + 1}"
        return 200, shown, {"Link": f'<{after}>; rel="next", <x>; rel="last"'} if more else {}

    def ours(self) -> list[dict[str, Any]]:
        return [one for one in self.comments if is_ours(one, "assay-gate", "")]


class _Handler(BaseHTTPRequestHandler):
    def _any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        data = json.loads(self.rfile.read(length)) if length else None
        github: GitHub = self.server.github  # type: ignore[attr-defined]
        token = self.headers.get("Authorization", "")
        status, body, headers = github.answer(self.command, self.path, data, token)
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PATCH = do_DELETE = _any  # noqa: N815 - the names of http.server

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def github() -> Iterator[GitHub]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    state = GitHub(address=f"http://127.0.0.1:{server.server_port}")
    cast(Any, server).github = state
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def job(tmp_path: Path, github: GitHub) -> dict[str, str]:
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
    (tmp_path / "gate.md").write_text("### ✅ Assay: pass\n", "utf-8")
    return {
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_API_URL": github.address,
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_RUN_ID": "12",
        "ASSAY_COMMENT": str(tmp_path / "gate.md"),
        "ASSAY_TOKEN": "secret",
    }


def said(job: dict[str, str]) -> str:
    return main(job, pause=0.0)


def test_it_is_made_once_and_updated_afterwards(github: GitHub, job: dict[str, str]) -> None:
    assert said(job) == "Comment created."
    assert said(job) == "Comment unchanged."
    Path(job["ASSAY_COMMENT"]).write_text("### ❌ Assay: regression\n", "utf-8")
    assert said(job) == "Comment updated."
    (one,) = github.comments
    assert one["body"].startswith("<!-- assay:assay-gate -->\n### ❌ Assay: regression")
    assert "(https://github.example/o/r/actions/runs/12)" in one["body"]
    assert github.asked == ["GET", "POST", "GET", "GET", "PATCH"]


def test_it_is_found_on_a_later_page(github: GitHub, job: dict[str, str]) -> None:
    github.comments = [{"id": i, "body": f"comment {i}", "user": PERSON} for i in range(1, 3 * PAGE + 1)]
    assert said(job) == "Comment created."
    Path(job["ASSAY_COMMENT"]).write_text("again")
    assert said(job) == "Comment updated."
    assert len(github.ours()) == 1
    assert [one["body"] for one in github.comments[:2]] == ["comment 1", "comment 2"]


def test_somebody_who_pastes_the_marker_keeps_the_comment(github: GitHub, job: dict[str, str]) -> None:
    theirs = f"{marker_of('assay-gate')}\nlooks good to me"
    github.comments = [
        {"id": 1, "body": theirs, "user": PERSON},
        {"id": 2, "body": f"quoted: {theirs}", "user": BOT},
        {"id": 3, "body": None, "user": None},
    ]
    assert said(job) == "Comment created."
    assert [one["body"] for one in github.comments[:2]] == [theirs, f"quoted: {theirs}"]


def test_a_token_of_a_person_finds_its_own(github: GitHub, job: dict[str, str]) -> None:
    github.comments = [
        {"id": 1, "body": f"{marker_of('assay-gate')}\nold", "user": {"login": "deploy", "type": "User"}}
    ]
    assert said({**job, "ASSAY_AUTHOR": "deploy"}) == "Comment updated."


def test_two_gates_have_a_comment_each(github: GitHub, job: dict[str, str]) -> None:
    assert said(job) == "Comment created."
    assert said({**job, "ASSAY_NAME": "int4"}) == "Comment created."
    assert said(job) == "Comment unchanged."
    assert len(github.comments) == 2


def test_repeated_ones_are_removed(github: GitHub, job: dict[str, str]) -> None:
    github.comments = [{"id": i, "body": f"{marker_of('assay-gate')}\n{i}", "user": BOT} for i in (1, 2, 3, 4)]
    assert said(job) == "Comment updated."
    assert [one["id"] for one in github.comments] == [1]


@pytest.mark.parametrize("status", [401, 403, 404])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_is_refused_fails_nothing_and_is_not_tried_again(
    github: GitHub, job: dict[str, str], method: str, status: int
) -> None:
    github.refuse = {method: status}
    assert said(job).startswith(f"::notice::No comment: {method} was answered with {status}")
    assert github.asked.count(method) == 1


def test_an_update_that_is_refused_fails_nothing(github: GitHub, job: dict[str, str]) -> None:
    said(job)
    Path(job["ASSAY_COMMENT"]).write_text("other")
    github.refuse = {"PATCH": 403}
    assert "PATCH was answered with 403" in said(job)


def test_what_passes_is_tried_again(github: GitHub, job: dict[str, str]) -> None:
    github.fail = 2
    assert said(job) == "Comment created."
    assert github.asked == ["GET", "GET", "GET", "POST"]


def test_a_comment_that_may_have_arrived_is_not_made_twice(github: GitHub, job: dict[str, str]) -> None:
    github.refuse = {"POST": 502}
    assert "POST was answered with 502" in said(job)
    assert github.asked.count("POST") == 1


def test_the_token_goes_nowhere_else(github: GitHub, job: dict[str, str]) -> None:
    github.refuse = {"GET": 302}
    assert said(job).startswith("::notice::No comment")
    github.refuse, github.elsewhere = {}, "http://127.0.0.1:1/repos/o/r/issues/7/comments?page=2"
    github.comments = [{"id": i, "body": "x", "user": PERSON} for i in range(1, 6)]
    assert "on another server" in said(job)
    assert "secret" not in said(job)


@pytest.mark.parametrize(
    ("without", "expected"),
    [("ASSAY_TOKEN", "::notice::No token"), ("GITHUB_EVENT_PATH", "Not a pull request"), ("ASSAY_COMMENT", "Nothing")],
)
def test_without_what_it_needs_it_says_so(github: GitHub, job: dict[str, str], without: str, expected: str) -> None:
    assert said({name: value for name, value in job.items() if name != without}).startswith(expected)
    assert not github.asked


def test_a_push_is_no_pull_request(github: GitHub, job: dict[str, str]) -> None:
    Path(job["GITHUB_EVENT_PATH"]).write_text(json.dumps({"ref": "refs/heads/main", "number": 7}))
    assert said(job) == "Not a pull request: no comment."


@given(st.text(max_size=200), st.integers(0, 3))
def test_a_body_begins_with_its_marker_and_is_never_too_long(text: str, times: int) -> None:
    body = body_of("assay-gate", text * (1 + times * 400), "https://github.example/run")
    assert body.startswith(marker_of("assay-gate"))
    assert len(body) <= MOST_LETTERS
    assert body.endswith("(https://github.example/run)\n")
    assert is_ours({"body": body, "user": BOT}, "assay-gate", "")
