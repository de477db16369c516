"""`assay verify` as a user runs it: the exit code of every bad file, in one line and without a traceback."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.certificate.samples import assay, evidence_of, issue, load, save


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return issue("losses", tmp_path_factory.mktemp("issued"))


@pytest.fixture
def certificate(issued: Path, tmp_path: Path) -> Path:
    shutil.copy(evidence_of(issued), tmp_path)
    return Path(shutil.copy(issued, tmp_path))


UNREADABLE: dict[str, bytes] = {
    "an empty file": b"",
    "not JSON": b"window,tokens,loss\n",
    "a list": b"[]\n",
    "a number": b"4\n",
    "an object": b"{}\n",
    "another result": b'{"schema": "assay/comparison/1"}\n',
    "a later version": b'{"schema": "assay/certificate/9"}\n',
    "half a file": b'{"schema": "assay/certificate/2", "meta": {"assay"',
    "not UTF-8": b'{"schema": "\xff"}',
    "UTF-16": '{"schema": "assay/certificate/2"}'.encode("utf-16"),
    "deep nesting": b'{"schema": ' + b"[" * 200_000,
    "a huge integer": b'{"schema": ' + b"7" * 10_000 + b"}",
    "Parquet": b"PAR1\x00\x00PAR1",
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_is_no_certificate_exits_3_in_one_line(what: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes(UNREADABLE[what])
    assay("verify", tmp_path / "c.json").assert_refused(3, "c.json: not a certificate", "assay certify")


def test_a_file_that_is_none_exits_3(tmp_path: Path) -> None:
    assay("verify", tmp_path).assert_refused(3, "a directory, not a regular file")
    assay("verify", tmp_path / "none.json").assert_refused(3, "cannot be opened", "No such file")


REWRITTEN: dict[str, tuple[Callable[[str], str], int]] = {
    "a byte order mark": (lambda text: "\ufeff" + text, 3),
    "a key twice": (lambda text: text.replace('"note": null', '"note": null, "note": null'), 3),
    "NaN": (lambda text: text.replace('"max_ratio": 1.1', '"max_ratio": NaN'), 3),
    "Infinity": (lambda text: text.replace('"max_ratio": 1.1', '"max_ratio": Infinity'), 3),
    "a number beyond all": (lambda text: text.replace('"max_ratio": 1.1', '"max_ratio": 1e999'), 4),
    "a huge integer": (lambda text: text.replace('"max_ratio": 1.1', '"max_ratio": ' + "9" * 4000), 4),
    "a huge count": (lambda text: text.replace('"windows": 180', '"windows": ' + "9" * 4000), 4),
    "half a character": (lambda text: text.replace('"note": null', '"note": "\\ud83d"'), 4),
    "more white space": (lambda text: text.replace("{", "{ "), 4),
    "no newline at the end": (lambda text: text.rstrip("\n"), 4),
    "a newline more": (lambda text: text + "\n", 4),
    "Windows lines": (lambda text: text.replace("\n", "\r\n"), 4),
    "one line": (lambda text: json.dumps(json.loads(text), sort_keys=True), 4),
    "other order": (lambda text: json.dumps(dict(reversed(json.loads(text).items())), indent=2) + "\n", 4),
    "escaped": (lambda text: text.replace("losses-base", "losses\\u002dbase"), 4),
    "more digits": (lambda text: text.replace('"max_ratio": 1.1,', '"max_ratio": 1.10,'), 4),
}


@pytest.mark.parametrize("what", REWRITTEN)
def test_the_same_content_in_other_bytes_is_not_true(what: str, certificate: Path) -> None:
    rewrite, code = REWRITTEN[what]
    text = certificate.read_text(encoding="utf-8")
    assert rewrite(text) != text
    certificate.write_text(rewrite(text), encoding="utf-8", newline="")
    ran = assay("verify", certificate)
    if code == 3:
        ran.assert_refused(3, "not a certificate")
    else:
        assert (ran.code, ran.err) == (4, "")
        assert ran.out.startswith("The certificate is not true: ")


def test_true_and_passing_exits_0(certificate: Path) -> None:
    ran = assay("verify", certificate)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("The certificate is true. losses-int8 may replace losses-base")


def test_an_edited_limit_exits_4_and_names_it(certificate: Path) -> None:
    text = certificate.read_text(encoding="utf-8")
    certificate.write_text(text.replace('"max_ratio": 1.1', '"max_ratio": 1.2'), encoding="utf-8")
    ran = assay("verify", certificate)
    assert ran.code == 4
    assert re.search(r"^policy\.limits\.max_ratio +1\.2 +1\.1$", ran.out, re.MULTILINE)


def test_own_limits(certificate: Path, tmp_path: Path) -> None:
    assert assay("verify", certificate, "--max-ratio", "1.001").code == 0
    ran = assay("verify", certificate, "--max-ratio", "1.0001")
    assert (ran.code, "Insufficient evidence" in ran.out) == (1, True)
    (tmp_path / "policy.json").write_text('{"max_ratio": 0.99, "min_windows": 180}', encoding="utf-8")
    assert assay("verify", certificate, "--policy", tmp_path / "policy.json").code == 1
    looser = assay("verify", certificate, "--policy", tmp_path / "policy.json", "--max-ratio", "1.05")
    looser.assert_refused(2, "max_ratio 1.05 contradicts the policy, which says 0.99")
    (tmp_path / "policy.json").write_text('{"max_ratio": 1.1}', encoding="utf-8")
    stricter = assay("verify", certificate, "--policy", tmp_path / "policy.json", "--max-ratio", "1.0001")
    assert (stricter.code, "the limit of × 1.0001" in stricter.out) == (1, True)
    assay("verify", certificate, "--max-ratio", "-1").assert_refused(2, "max_ratio must be positive")
    assay("verify", certificate, "--policy", tmp_path / "none.json").assert_refused(3, "none.json: cannot be opened")


def test_evidence_missing_and_elsewhere(certificate: Path, tmp_path: Path) -> None:
    moved = evidence_of(certificate).rename(tmp_path / "elsewhere.parquet")
    ran = assay("verify", certificate)
    assert (ran.code, "nothing was recomputed" in ran.out) == (0, True)
    assert "recomputed from the evidence" in assay("verify", certificate, "--evidence", moved).out
    assay("verify", certificate, "--max-ratio", "1.2").assert_refused(3, "the evidence is missing")
    assay("verify", certificate, "--evidence", tmp_path / "none").assert_refused(3, "the evidence: cannot be opened")


def test_json(certificate: Path) -> None:
    found = json.loads(assay("verify", certificate, "--json").out)
    assert (found["true"], found["passed"], found["verdict"], found["faults"]) == (True, True, "pass", [])
    save(certificate, load(certificate) | {"bits_per_byte": None})
    ran = assay("verify", certificate, "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["true"], found["verdict"]) == (4, False, "not true")
    assert [fault["field"] for fault in found["faults"]] == ["bits_per_byte"]
    assert found["faults"][0]["found"]["baseline"] == pytest.approx(1.65297463236)


def test_a_missing_field_is_named(certificate: Path) -> None:
    document = load(certificate)
    del document["drift"]
    save(certificate, document)
    ran = assay("verify", certificate)
    assert ran.code == 4
    assert ran.out.startswith("The certificate is not true: drift: stated None, found 'the field is missing'.\n")


def test_pipes_and_files_without_end_are_refused_before_they_are_read(certificate: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for options in ((pipe,), (certificate, "--evidence", pipe), (certificate, "--policy", pipe)):
        assay("verify", *options).assert_refused(3, "pipe", "not a regular file")
    assay("verify", certificate, "--key", "/dev/zero").assert_refused(3, "a device, not a regular file")
    (tmp_path / "large.json").write_bytes(b'{"schema": "' + b"x" * 1_000_000)
    assay("verify", tmp_path / "large.json").assert_refused(3, "may have at most 1 MB")
