import os
from pathlib import Path

import pytest

from assay.errors import UsageError
from assay.files.stores.addresses import Address, address_of, copy_or_path, is_copy
from assay.files.stores.doors import role_of
from assay.files.stores.objects import _files
from assay.names import masked, one_line, visible, visible_json, with_addresses


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("s3://bucket/a/b.csv", Address("s3", "bucket/a/b.csv")),
        ("s3://bucket/", Address("s3", "bucket")),
        ("hf://datasets/who/what@main/a.parquet", Address("hf", "datasets/who/what@main/a.parquet")),
        ("memory://a.csv", Address("memory", "a.csv")),
        ("a.csv", None),
        ("/a/b.csv", None),
        ("C://a.csv", None),
        ("7b=s3://bucket/a.csv", None),  # what stands before it is split off first
        ("endpoint:http://localhost:8000/v1", None),
        ("http://localhost/a.csv", None),
        ("https://host/a.csv", None),
        ("file:///a.csv", None),
        ("ray://head:10001", None),
    ],
)
def test_what_an_address_is(text: str, address: Address | None) -> None:
    assert address_of(text) == address


@pytest.mark.parametrize("path", ["bucket//a.csv", "bucket/../a.csv", "bucket/./a.csv", "", "/a.csv", "bucket/a/.."])
def test_addresses_that_no_path_can_stand_for_are_refused(path: str) -> None:
    with pytest.raises(UsageError, match="cannot be a file"):
        address_of(f"s3://{path}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("s3://AKIA:hush@bucket/a.csv", "s3://***@bucket/a.csv: no keys"),
        ("s3://hush@bucket/a.csv", "s3://***@bucket/a.csv: no keys"),
        ("s3://bucket/a.csv?X-Amz-Signature=hush", "s3://bucket/a.csv?***: no queries"),
    ],
)
def test_keys_in_an_address_are_refused_and_not_repeated(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        address_of(text)
    assert str(refused.value).startswith(said)
    assert "hush" not in str(refused.value)


def test_names_in_a_store_that_lead_elsewhere_are_refused() -> None:
    found = {"bucket/a/../../../etc/passwd": {"type": "file", "size": 1}}
    with pytest.raises(UsageError, match="cannot be a file"):
        _files("s3", found, hidden=True)


def test_copies_are_shown_by_their_addresses() -> None:
    address = Address("s3", "bucket/runs/a b.csv")
    copy = address.copy
    assert is_copy(copy)
    assert not is_copy(Path("/elsewhere/a.csv"))
    assert address_of(os.fspath(copy)) == address
    for shown in (one_line, visible, visible_json, with_addresses):
        assert shown(f"{copy}: no such file, nor {copy.parent}") == f"{address}: no such file, nor s3://bucket/runs"
    assert copy_or_path(str(address)) == copy
    assert copy_or_path("a.csv") == Path("a.csv")


def test_only_its_user_can_read_what_was_copied() -> None:
    root = Address("s3", "bucket").copy.parent.parent
    assert root.stat().st_mode & 0o077 == 0


def test_secrets_of_the_environment_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush-hush")
    assert masked("Could not connect (hush-hush) to http://user:word@host:9000/b?sig=1") == (
        "Could not connect (***) to http://***@host:9000/b?***"
    )


def test_where_something_is_written_is_known_by_its_parameter() -> None:
    assert [role_of("score", name) for name in ("output", "texts", "note")] == ["written", "read", "words"]
    assert (role_of("gate", "runs"), role_of("context", "runs")) == ("runs", "read")
