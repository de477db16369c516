"""The listing follows the folder: a version of a file is read once, and whatever is wrong with it is a line."""

import time
from pathlib import Path

import pytest

from assay import examples
from assay.certificate import certify
from assay.report.document import Part
from assay.report.saved import read_part
from assay.report.serve import folder as served
from tests.report.serving import ask, lines, running, sample


def saved(path: Path, text: str | None = None) -> Path:
    """As results are written: under a temporary name, then renamed."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(sample() if text is None else text, encoding="utf-8")
    return part.replace(path)


def test_results_appear_change_and_go(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        first = ask(server, "/index.json")
        tag = first.headers["ETag"]
        same = ask(server, "/index.json", If_None_Match=tag)
        assert (same.status, same.body, same.headers["ETag"]) == (304, b"", tag)
        saved(tmp_path / "a.json")
        assert [line["path"] for line in lines(server)] == ["a.json"]
        assert ask(server, "/index.json", If_None_Match=tag).status == 200
        assert "losses-int3" in ask(server, "/r/a.json").text
        saved(tmp_path / "a.json", sample().replace("losses-int3", "losses-int4"))
        assert "losses-int4 is worse" in lines(server)[0]["text"]
        assert "losses-int3" not in ask(server, "/r/a.json").text
        (tmp_path / "a.json").unlink()
        assert lines(server) == []
        assert ask(server, "/r/a.json").status == 404


def test_a_result_that_is_half_written_or_damaged_is_a_line(tmp_path: Path) -> None:
    text = sample()
    damaged = {
        "half.json": text[:300],
        "empty.json": "",
        "fields.json": '{"schema": "assay/comparison/1"}',
        "certificate.json": '{"schema": "assay/certificate/2"}',
        "deep.json": "[" * 100_000,
        "bytes.json": None,
        "whole.json": text,
    }
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(b"\xff\xfe\x00" if content is None else content.encode())
    with running(tmp_path) as server:
        found = {line["path"]: line for line in lines(server)}
        assert set(found) == set(damaged)
        assert found.pop("whole.json")["href"] == "/r/whole.json"
        for line in found.values():
            said = "not true" in line["text"] if line["href"] else line["text"].startswith("cannot be read yet: ")
            assert said, line
            assert str(tmp_path) not in line["text"]
            assert "Traceback" not in ask(server, f"/r/{line['path']}").text
        page = ask(server, "/r/half.json")
        assert (page.status, page.headers["Refresh"]) == (503, "2")
        assert "cannot be read yet: not JSON" in page.text
        assert ask(server, "/j/half.json").status == 404
        saved(tmp_path / "half.json", text)
        assert ask(server, "/r/half.json").status == 200
        assert next(line for line in lines(server) if line["path"] == "half.json")["status"] == "bad"


def test_a_version_of_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(path: Path, *, draw: bool) -> Part:
        read.append(path.name)
        return read_part(path, draw=draw)

    monkeypatch.setattr(served, "read_part", counted)
    for name in ("a.json", "b.json"):
        saved(tmp_path / name)
    with running(tmp_path) as server:
        for _ in range(3):
            lines(server)
        assert sorted(read) == ["a.json", "b.json"]
        (tmp_path / "a.evidence.parquet").write_bytes(b"")  # what a certificate is checked against
        lines(server)
        assert sorted(read) == ["a.json", "a.json", "b.json"]


def test_a_thousand_results_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = read_part(saved(tmp_path / "first.json"))
    monkeypatch.setattr(served, "read_part", lambda *_, **__: part)  # here it is the listing that counts
    for number in range(1_000):
        saved(tmp_path / f"{number}.json")
    with running(tmp_path) as server:
        assert len(lines(server)) == 1_001
        assert ask(server, "/").text.count("<li class='bad'") == 1_001


def test_a_listing_does_not_wait_for_a_slow_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(path: Path, *, draw: bool) -> Part:
        time.sleep(0.3)
        return read_part(path, draw=draw)

    monkeypatch.setattr(served, "read_part", slow)
    saved(tmp_path / "slow.json")
    one = served.ServedFolder(tmp_path.resolve())
    try:
        early, older = one.entries(patience=0.01)
        assert ([entry.state for entry in early], older) == (["reading"], 0)
        late, _ = one.entries(patience=30)
        assert [entry.state for entry in late] == ["result"]
    finally:
        one.close()


def test_a_certificate_is_checked_again_when_its_evidence_changes(tmp_path: Path) -> None:
    certify(examples.path("losses-base.csv"), examples.path("losses-int8.csv"), tmp_path / "c.json")
    with running(tmp_path) as server:
        (line,) = lines(server)
        assert line["status"] != "bad"
        evidence = tmp_path / "c.evidence.parquet"
        evidence.write_bytes(evidence.read_bytes()[:-1] + b"?")
        (line,) = lines(server)
        assert (line["status"], line["text"].startswith("The certificate is not true")) == ("bad", True)
        assert "The certificate is not true" in ask(server, "/r/c.json").text
