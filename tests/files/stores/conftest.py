import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Shell
from tests.files.stores.bucket import Bucket
from tools.s3_server import S3Server, client, s3_server


@pytest.fixture(scope="session")
def server() -> Iterator[S3Server]:
    with s3_server() as running:
        yield running


@pytest.fixture(scope="session")
def s3(server: S3Server) -> Any:
    return client(server)


@pytest.fixture
def bucket(server: S3Server, s3: Any, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Bucket:
    """A new bucket, and an environment in which s3:// means that server."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    name = f"b{abs(hash(request.node.nodeid)) % 10**12}-{os.getpid()}"
    s3.create_bucket(Bucket=name)
    return Bucket(s3, name)


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return Shell(tmp_path, capsys, monkeypatch)


@pytest.fixture(autouse=True)
def _no_copies_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """After every test: whatever was copied is gone."""
    yield
    from assay.files.stores.addresses import copies_in_use

    root = copies_in_use()
    assert root is None or list(root.iterdir()) == []
