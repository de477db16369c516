"""Stores that fail: one line that names the address, the right exit code, and nothing half committed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.errors import InputError, StoreError, WriteError
from assay.files.writing import together, write_bytes
from tests.cli.command import Shell
from tests.files.stores.bucket import Bucket, s3_filesystem
from tests.files.stores.faulty_server import faulty_server
from tools.s3_server import SECRET, S3Server, s3_server

LAX = ("--max-drop", "0.9", "--note", "a test")
SCORES = "item,score\n" + "".join(f"q{i},{i % 2}\n" for i in range(40))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fewer tries than people would want."""
    from s3fs import S3FileSystem

    monkeypatch.setattr(S3FileSystem, "retries", 1)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    S3FileSystem.clear_instance_cache()
    yield
    S3FileSystem.clear_instance_cache()


def elsewhere(monkeypatch: pytest.MonkeyPatch, server: S3Server, url: str) -> None:
    for name, value in {**server.environment, "AWS_ENDPOINT_URL": url}.items():
        monkeypatch.setenv(name, value)


def test_no_permission(shell: Shell, server: S3Server, monkeypatch: pytest.MonkeyPatch, impatient: None) -> None:
    with faulty_server("denied") as url:
        elsewhere(monkeypatch, server, url)
        said = shell.assert_refused("summarize", "s3://b/a.csv", exit_code=3, parts=["s3://b/a.csv: may not be read"])
    assert SECRET not in said


def test_a_body_that_is_cut(shell: Shell, server: S3Server, monkeypatch: pytest.MonkeyPatch, impatient: None) -> None:
    with faulty_server("cut") as url:
        elsewhere(monkeypatch, server, url)
        shell.assert_refused("summarize", "s3://b/a.csv", exit_code=74, parts=["s3://b/a.csv: "])


def test_a_store_that_is_full(shell: Shell, server: S3Server, monkeypatch: pytest.MonkeyPatch, impatient: None) -> None:
    """The message has the address and the room that is needed."""
    shell.write("a.csv", SCORES)
    with faulty_server("full") as url:
        elsewhere(monkeypatch, server, url)
        command = ("convert", "a.csv", "-o", "s3://b/t.parquet")
        shell.assert_refused(
            *command, exit_code=74, parts=["s3://b/t.parquet: cannot be written", "Storage", "MB of room needed"]
        )


def test_a_server_that_is_gone(shell: Shell, monkeypatch: pytest.MonkeyPatch, impatient: None) -> None:
    with s3_server("bkt") as server:
        elsewhere(monkeypatch, server, server.environment["AWS_ENDPOINT_URL"])
        server.kill()
        shell.write("a.csv", SCORES)
        shell.assert_refused("summarize", "s3://bkt/a.csv", exit_code=74, parts=["s3://bkt/a.csv: cannot be read"])
        command = ("convert", "a.csv", "-o", "s3://bkt/t.csv")
        said = shell.assert_refused(*command, exit_code=74, parts=["s3://bkt/t.csv: "])
    assert SECRET not in said


def test_the_extra_is_missing(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    shell.assert_refused("summarize", "s3://b/a.csv", parts=["s3://b/a.csv", "pip install 'assay-eval[cloud]'"])


def test_another_package_is_missing(shell: Shell) -> None:
    if _installed("gcsfs"):
        pytest.skip("gcsfs is installed")
    shell.assert_refused("summarize", "gs://b/a.csv", parts=["gs://b/a.csv", "gcsfs", "assay-eval[cloud]"])


def _installed(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def test_an_object_that_changes_while_it_is_read(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    place = bucket.put("a.csv", SCORES)
    store = s3_filesystem()
    plain = store.get_file

    def slow(*args: Any, **how: Any) -> Any:
        found = plain(*args, **how)
        bucket.put("a.csv", SCORES.replace("q1,", "q9x,"))
        return found

    monkeypatch.setattr(store, "get_file", slow)
    with pytest.raises(InputError, match=f"{place}: changed while it was read"):
        assay.summarize(place)


def test_what_does_not_fit_on_the_disk_is_not_begun(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    place = bucket.put("a.csv", SCORES)
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr("shutil.disk_usage", lambda _path: usage)
    with pytest.raises(WriteError, match=rf"{place}: 0.000\d+ MB to copy, and .* has 0.00001 MB of room; .*TMPDIR"):
        assay.summarize(place)


@pytest.mark.parametrize("there", [False, True], ids=["new", "replaced"])
def test_files_that_belong_together_appear_together(
    bucket: Bucket, shell: Shell, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    """The certificate cannot be put: its evidence becomes what it was, nothing or the one before."""
    for name in ("a", "b"):
        shell.write(f"{name}.csv", SCORES)
    if there:
        assert shell("certify", "a.csv", "b.csv", "-o", f"{bucket}/c.json", *LAX).exit_code in (0, 1)
    before = {name: bucket.read(name) for name in bucket.names()}
    assert len(before) == (2 if there else 0)
    store = s3_filesystem()
    plain = store.put_file

    def failing(source: str, target: str, **how: Any) -> Any:
        if target.endswith("c.json"):
            raise OSError(28, f"No space left on device, says {SECRET}")
        return plain(source, target, **how)

    monkeypatch.setattr(store, "put_file", failing)
    shell.write("b.csv", SCORES.replace("q1,1", "q1,0"))
    said = shell.assert_refused(
        *("certify", "a.csv", "b.csv", "-o", f"{bucket}/c.json", *LAX),
        exit_code=74,
        parts=[f"{bucket}/c.json: cannot be written", "No space left on device, says ***", "of room needed"],
    )
    assert SECRET not in said
    assert {name: bucket.read(name) for name in bucket.names()} == before


def test_files_on_a_disk_do_not_appear_where_the_store_failed(bucket: Bucket, tmp_path: Path) -> None:
    from assay.files.stores.addresses import Address
    from assay.files.stores.doors import stores_open

    place = Address("s3", "no-such-bucket-at-all/a.txt").copy
    place.parent.mkdir(parents=True)

    def write_both() -> None:
        with together():
            write_bytes(tmp_path / "b.txt", b"b")
            write_bytes(place, b"a")

    with stores_open(), pytest.raises(InputError, match="no such bucket"):
        write_both()
    assert list(tmp_path.iterdir()) == []


def test_a_fault_of_our_own_tells_no_key(shell: Shell, bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_how: object) -> None:
        raise RuntimeError(f"with {SECRET} in it")

    monkeypatch.setattr("assay.data.readers.registry.open_file", broken)
    ran = shell("summarize", bucket.put("a.csv", SCORES))
    assert ran.exit_code == 70
    trace = Path(ran.err.partition("the traceback is in ")[2].partition(": ")[0])
    assert SECRET not in trace.read_text(encoding="utf-8")
    trace.unlink()


def test_terminated_while_it_reads_it_leaves_nothing(server: S3Server, tmp_path: Path) -> None:
    with faulty_server("slow") as url:
        environment = {**os.environ, **server.environment, "AWS_ENDPOINT_URL": url, "TMPDIR": str(tmp_path)}
        command = [sys.executable, "-m", "assay", "summarize", "s3://b/a.csv"]
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 60
        while not list(tmp_path.rglob("*.coming")) and time.monotonic() < end:
            time.sleep(0.05)
        assert list(tmp_path.rglob("*.coming"))
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (143, "assay: terminated; the same command starts again or goes on.\n")
    assert list(tmp_path.iterdir()) == []


def test_a_store_error_is_one_of_ours() -> None:
    assert StoreError.exit_code == 74
