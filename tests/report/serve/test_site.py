"""What the server shows of a folder, and what it never does."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.report.html import asset
from assay.report.serve import ResultServer
from tests.report.serving import ask, furnished, lines, raw, running, sample

ATTACK = "<script>alert(1)</script>'\"><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return furnished(tmp_path_factory.mktemp("top"))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[ResultServer]:
    with running(folder) as server:
        yield server


def test_the_index_lists_results_and_pages_newest_first(server: ResultServer) -> None:
    found = lines(server)
    assert {line["path"] for line in found} == {
        *("run 1/早い/50 % #1?.json", "int3.json", "linked-inside.json", "report.html", "foreign.html")
    }
    sentence = json.loads(sample())["sentence"]
    results = [line for line in found if line["save"]]
    assert [line["path"] for line in results] == ["int3.json", "linked-inside.json", "run 1/早い/50 % #1?.json"]
    for line in results:
        assert (line["text"], line["status"], line["symbol"]) == (sentence, "bad", "✗")
        assert line["about"].startswith(f"comparison · losses-base → losses-int3 · {line['path']} · 2023-11-1")
    page = ask(server, "/").text
    assert "<title>Results in results</title>" in page
    assert "3 results, 2 pages; the newest first." in page
    assert re.findall(r"data-version='(\w+)'", page) == [line["version"] for line in found]
    assert "Not &lt;ours&gt;</a>" in page  # the title of a page, with signs that must stay signs


def test_every_address_of_the_index_leads_somewhere(server: ResultServer) -> None:
    for line in lines(server):
        got = ask(server, line["href"])
        assert got.status == 200
        assert got.headers["Content-Type"] == "text/html; charset=utf-8"


def test_a_result_has_the_page_that_report_writes_and_a_way_back(server: ResultServer, folder: Path) -> None:
    link = "<nav aria-label='Index'><a href='/'>All results</a></nav>"
    got = ask(server, "/r/int3.json")
    assert got.text.count(link) == 1
    assert got.text.replace(link, "") == (folder / "report.html").read_text(encoding="utf-8")
    stated = re.search(r"Content-Security-Policy' content=\"([^\"]+)\"", got.text)
    assert stated is not None
    assert got.headers["Content-Security-Policy"] == f"{stated[1]}; frame-ancestors 'none'"


def test_data_are_downloaded_byte_for_byte(server: ResultServer, folder: Path) -> None:
    got = ask(server, "/j/run%201/%E6%97%A9%E3%81%84/50%20%25%20%231%3F.json")
    assert (got.status, got.headers["Content-Disposition"]) == (200, "attachment")
    assert got.body == (folder / "run 1/早い/50 % #1?.json").read_bytes()


def test_a_page_links_to_results_beside_it(server: ResultServer) -> None:
    got = ask(server, "/f/run%201/%E6%97%A9%E3%81%84/50%20%25%20%231%3F.json")
    assert (got.status, got.headers["Location"]) == (302, "/r/run%201/%E6%97%A9%E3%81%84/50%20%25%20%231%3F.json")


def test_pages_of_others_and_drawings_run_no_script(server: ResultServer) -> None:
    for name in ("foreign.html", "chart.svg"):
        policy = ask(server, f"/f/{name}").headers["Content-Security-Policy"]
        assert policy.startswith("sandbox")
        assert "allow-scripts" not in policy
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
    own = ask(server, "/f/report.html")
    assert own.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in own.headers["Content-Security-Policy"]


def test_an_empty_folder_says_what_will_appear(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        page = ask(server, "/").text
    assert "No results; the newest first." in page
    assert "<p id='none'>No results yet." in page


def test_names_from_files_are_text(tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(3)>'\".json"
    (tmp_path / name).write_text(sample().replace("losses-int3", json.dumps(ATTACK)[1:-1]))
    (tmp_path / "p.html").write_text("<title></script><script>alert(4)</script></title>")
    with running(tmp_path) as server:
        found = {line["path"]: line for line in lines(server)}
        assert ATTACK in found[name]["text"]
        got = ask(server, "/index.json")
        assert got.headers["Content-Type"] == "application/json"
        assert got.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
        page = ask(server, "/").text
        assert ask(server, found[name]["href"]).status == 200
    start = page.index("<body>")
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page[start:], re.DOTALL)
    assert scripts == [asset("index.js")]
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_half_a_character_and_odd_names_of_files_are_shown(tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff.json")
    try:
        (tmp_path / odd).write_text(sample().replace("losses-int3", "\\ud800"))
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    with running(tmp_path) as server:
        (line,) = lines(server)
        assert line["href"] == "/r/%FF.json"
        assert "� is worse than losses-base" in line["text"]
        assert ask(server, line["href"]).status == 200


def test_the_script_of_the_index_makes_text_only() -> None:
    script = asset("index.js")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval", "DOMParser", "srcdoc"):
        assert word not in script
    assert "textContent" in script


OUTSIDE = [
    "../secret.json",
    "..%2fsecret.json",
    "%2e%2e/secret.json",
    "%2e%2e%2fsecret.json",
    "%252e%252e/secret.json",
    "..%252fsecret.json",
    "%c0%ae%c0%ae/secret.json",
    "..%5csecret.json",
    "..\\secret.json",
    "run%201/../../secret.json",
    "run%201/../int3.json",
    "./int3.json",
    "run%201//../../secret.json",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "{top}/secret.json",
    "{top}/results/int3.json",
    "//int3.json",
    "C:/int3.json",
    "file:///etc/passwd",
    "int3.json%00",
    "int3.json%00.html",
    "%00",
    "int3.json%0a",
    "int3.json/",
    "int3.json/.",
    "int3.json::$DATA",
    ".dot.json",
    "%2edot.json",
    ".hidden/a.json",
    "linked-outside.json",
    "linked-folder/secret.json",
    "linked-hidden.json",
    "linked-text.json",
    "circle.json",
    "folder.json",
    "other.json",
    "odd.json",
    "plain.txt",
    "missing.json",
    "",
    "%",
    "%zz.json",
    "a" * 3_000 + ".json",
    "a/" * 3_000 + "b.json",
    "a" * 300 + ".json",
]


@pytest.mark.parametrize("room", ["/r/", "/j/", "/f/"])
@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_outside_hidden_or_foreign_is_served(server: ResultServer, folder: Path, room: str, name: str) -> None:
    target = room + name.format(top=folder.parent) if name.startswith("{") else room + name
    answer = raw(server, f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 404 ")
    assert body == ask(server, "/nowhere").body  # one page, which does not repeat what was asked


@pytest.mark.parametrize(
    "target", ["/index.html", "/x", "*", "http://example.org/", "r/int3.json", "/r", "/é", "/?/../"]
)
def test_other_addresses(server: ResultServer, target: str) -> None:
    answer = raw(server, f"GET {target} HTTP/1.1\r\nHost: localhost:{server.server_port}\r\n\r\n".encode())
    assert answer.split(b"\r\n", 1)[0] == (b"HTTP/1.0 200 OK" if target == "/?/../" else b"HTTP/1.0 404 Not Found")
