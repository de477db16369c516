"""One comment on a pull request: made the first time, updated afterwards, never repeated.

Our comment is known by a hidden marker in its first line, and by its author: a bot, unless `ASSAY_AUTHOR` says who.
What cannot be written (a fork's token, a server that fails) is said in the log and fails nothing: the gate decides.
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

MOST_LETTERS = 65_000  # GitHub takes 65,536
MOST_PAGES = 100
ATTEMPTS, SECONDS = 4, 30
REFUSED = (401, 403, 404, 410, 422)
CUT = "\n\n… cut: the rest is in the summary of the job.\n"


class CannotWriteError(Exception):
    """The server does not let us, or does not answer."""


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would hand the token to whoever is named in it."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Server:
    """The comments of one pull request."""

    def __init__(self, api: str, repository: str, number: int, token: str, pause: float = 1.0) -> None:
        self.api, self.pause = api.rstrip("/"), pause
        self.comments = f"{self.api}/repos/{repository}/issues/{number}/comments"
        self.one = f"{self.api}/repos/{repository}/issues/comments"
        self.headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "User-Agent": "assay-gate",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        self.opener = build_opener(_NoRedirect)

    def all(self) -> Iterator[dict[str, Any]]:
        """Every comment, page by page; the next page must be on the same server."""
        address: str | None = f"{self.comments}?per_page=100"
        for _ in range(MOST_PAGES):
            if address is None:
                return
            found, address = self._call("GET", address)
            yield from (one for one in found if isinstance(one, dict))

    def create(self, body: str) -> None:
        self._call("POST", self.comments, {"body": body})

    def update(self, comment: int, body: str) -> None:
        self._call("PATCH", f"{self.one}/{comment}", {"body": body})

    def delete(self, comment: int) -> None:
        self._call("DELETE", f"{self.one}/{comment}")

    def _call(self, method: str, address: str, data: dict[str, str] | None = None) -> tuple[Any, str | None]:
        """The answer and the address of the next page; what may pass is tried again, what is refused is not."""
        content = None if data is None else json.dumps(data).encode()
        for attempt in range(ATTEMPTS):
            request = Request(address, data=content, headers=self.headers, method=method)  # noqa: S310 - an API's
            try:
                with self.opener.open(request, timeout=SECONDS) as answer:
                    text = answer.read()
                    return (json.loads(text) if text else []), self._next(answer.headers.get("Link", ""))
            except HTTPError as error:
                what = f"{method} was answered with {error.code}"
                if error.code in REFUSED:
                    raise CannotWriteError(what) from error
            except (URLError, OSError, ValueError) as error:
                what = f"{method} failed ({error})"
            if method == "POST":  # it may have arrived: a second one would be a second comment
                break
            time.sleep(self.pause * 2**attempt)
        raise CannotWriteError(what)

    def _next(self, link: str) -> str | None:
        found = re.search(r'<([^>]+)>;\s*rel="next"', link)
        if found is None:
            return None
        ours, named = urlsplit(self.api), urlsplit(found[1])
        if (named.scheme, named.netloc) != (ours.scheme, ours.netloc):
            raise CannotWriteError("the next page is on another server")
        return found[1]


def marker_of(name: str) -> str:
    return f"<!-- assay:{name} -->"


def body_of(name: str, text: str, link: str = "") -> str:
    """The comment: the marker, what is said, and where the evidence is."""
    last = f"\n[Job, certificate and evidence]({link})\n" if link else ""
    head = f"{marker_of(name)}\n"
    room = MOST_LETTERS - len(head) - len(last)
    return head + (text if len(text) <= room else text[: room - len(CUT)] + CUT) + last


def is_ours(comment: Mapping[str, Any], name: str, author: str) -> bool:
    """Somebody else may paste our marker: that comment is theirs."""
    user = comment.get("user") or {}
    known = user.get("login") == author if author else user.get("type") == "Bot"
    return known and str(comment.get("body") or "").startswith(marker_of(name))


def post(server: Server, name: str, body: str, author: str = "") -> str:
    """Make or update the comment; what was done, in a word. Repeated ones of ours are removed."""
    ours = [one for one in server.all() if is_ours(one, name, author)]
    if not ours:
        server.create(body)
        return "created"
    first, *others = ours
    for other in others:
        server.delete(int(other["id"]))
    if str(first.get("body")).replace("\r\n", "\n").strip() == body.strip():
        return "unchanged"
    server.update(int(first["id"]), body)
    return "updated"


def pull_request(given: Mapping[str, str]) -> int | None:
    """The number of the pull request that a job is about."""
    path = given.get("GITHUB_EVENT_PATH")
    if not path or not Path(path).is_file():
        return None
    event = json.loads(Path(path).read_text("utf-8"))
    number = (event.get("pull_request") or {}).get("number")
    return number if isinstance(number, int) else None


def main(given: Mapping[str, str], pause: float = 1.0) -> str:
    """What to say in the log of the job."""
    file, number, token = given.get("ASSAY_COMMENT", ""), pull_request(given), given.get("ASSAY_TOKEN", "")
    if number is None:
        return "Not a pull request: no comment."
    if not file or not Path(file).is_file():
        return "Nothing to say: no comment."
    if not token:
        return "::notice::No token: no comment. The verdict is in the summary of the job."
    run = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}"
    link = run.format_map(given) if given.get("GITHUB_RUN_ID") else ""
    name = given.get("ASSAY_NAME") or "assay-gate"
    body = body_of(name, Path(file).read_text("utf-8"), link)
    api = given.get("GITHUB_API_URL") or "https://api.github.com"
    server = Server(api, given["GITHUB_REPOSITORY"], number, token, pause)
    try:
        return f"Comment {post(server, name, body, given.get('ASSAY_AUTHOR', ''))}."
    except CannotWriteError as error:
        return f"::notice::No comment: {error}. The verdict is in the summary of the job; forks may not write comments."


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a text stream
    print(main(os.environ))
