"""Every verb on s3://, against a server that speaks the protocol: as on a disk, and no word of copies or keys."""

import gzip
import json
import re
from pathlib import Path

import pytest

from assay import examples
from tests.cli.command import Ran, Shell
from tests.files.stores.bucket import Bucket
from tools.s3_server import SECRET

HARNESS = Path(__file__).parents[2] / "data" / "harness" / "lm_eval"


@pytest.fixture
def data(shell: Shell, bucket: Bucket) -> str:
    """The examples on the disk, in the folder where the command runs, and the same in the store."""
    files = examples.copy(shell.folder)
    for file in files:
        bucket.put(f"data/{file.name}", file.read_bytes())
    return f"{bucket}/data"


def ran(shell: Shell, bucket: Bucket, *arguments: str) -> Ran:
    """A command that works, and says nothing of copies or keys, in print or in the store."""
    found = shell(*arguments)
    assert found.exit_code in (0, 1), found.err
    written = "".join(bucket.read(key).decode("latin1") for key in bucket.names("out"))
    for text in (found.out, found.err, written):
        assert "assay-store-" not in text
        assert SECRET not in text
        assert "AKIAMOTO" not in text
    return found


def local(text: str, data: str) -> str:
    """What was said of files in the store, as it is said of those on the disk."""
    return text.replace(f"{data}/", "")


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "{}losses-base.csv", "{}losses-int3.csv"),
        ("compare", "plain={}scores-base.csv", "int3={}scores-int3.csv", "--verbose"),
        ("compare", "{}scores-base.csv", "{}scores-int3.csv", "--json"),
        ("summarize", "{}scores-*.csv"),
        ("rank", "{}scores-base.csv", "{}scores-int3.csv", "{}scores-trigram.csv", "--json"),
        ("reliability", "{}runs-sampled.csv", "--sentence"),
        ("japanese", "{}generations.csv", "--sentence", "--bleu", "char"),
    ],
    ids=lambda command: "-".join(command).replace("{}", ""),
)
def test_a_command_says_of_a_store_what_it_says_of_a_disk(
    shell: Shell, bucket: Bucket, data: str, command: tuple[str, ...]
) -> None:
    here = shell(*(part.format("") for part in command))
    there = ran(shell, bucket, *(part.format(f"{data}/") for part in command))
    assert here.exit_code == there.exit_code == 0
    assert local(there.out, data) == here.out


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv.gz"])
def test_tables_of_every_kind(shell: Shell, bucket: Bucket, data: str, ending: str) -> None:
    names = ["scores-base", "scores-int3"]
    for name in names:
        if ending == "csv.gz":
            bucket.put(f"data/{name}.csv.gz", gzip.compress((shell.folder / f"{name}.csv").read_bytes()))
        else:
            ran(shell, bucket, "convert", f"{data}/{name}.csv", "-o", f"{data}/{name}.{ending}")
            shell("convert", f"{name}.csv", "-o", f"{name}.{ending}")
            assert bucket.read(f"data/{name}.{ending}") == (shell.folder / f"{name}.{ending}").read_bytes()
    there = ran(shell, bucket, "compare", *(f"{data}/{name}.{ending}" for name in names), "--sentence")
    assert there.out == shell("compare", *(f"{name}.csv" for name in names), "--sentence").out


def test_logs_of_a_harness_in_a_folder(shell: Shell, bucket: Bucket) -> None:
    bucket.put_folder(HARNESS, "logs")
    here = shell("summarize", str(HARNESS), "--task", "tiny_sky")
    there = ran(shell, bucket, "summarize", f"{bucket}/logs", "--task", "tiny_sky")
    assert here.exit_code == 0
    assert there.out == here.out


def test_a_certificate_its_evidence_and_a_page(shell: Shell, bucket: Bucket, data: str) -> None:
    """The same bytes as on a disk; verified from the store, and reported there."""
    pair = ["scores-base.csv", "scores-int3.csv"]
    there = ran(shell, bucket, "certify", *(f"{data}/{name}" for name in pair), "-o", f"{bucket}/out/cert.json")
    here = shell("certify", *pair, "-o", "cert.json")
    assert there.out.replace(f"{bucket}/out/", "") == here.out
    for name in ("cert.json", "cert.evidence.parquet"):
        assert bucket.read(f"out/{name}") == (shell.folder / name).read_bytes()
    verified = ran(shell, bucket, "verify", f"{bucket}/out/cert.json", "--json")
    assert json.loads(verified.out)["true"] is True
    assert (
        f"Written: {bucket}/out/page.html"
        in ran(shell, bucket, "report", f"{bucket}/out/cert.json", "-o", f"{bucket}/out/page.html").err
    )
    assert b"<html" in bucket.read("out/page.html")
    bucket.put("out/cert.evidence.parquet", bucket.read("out/cert.evidence.parquet") + b"x")
    assert shell("verify", f"{bucket}/out/cert.json").exit_code == 4


def test_everything_a_command_writes_goes_to_the_store(shell: Shell, bucket: Bucket, data: str) -> None:
    out = f"{bucket}/out"
    files = ["--save", f"{out}/c.json", "--markdown", f"{out}/c.md", "--junit", f"{out}/c.xml"]
    files += ["--table", f"csv={out}/c.csv", "--recipe", f"{out}/c.sh", "--chart", f"{out}/c.svg"]
    found = ran(shell, bucket, "compare", f"{data}/scores-base.csv", f"{data}/scores-int3.csv", *files)
    assert bucket.names("out") == [f"out/c.{ending}" for ending in ("csv", "json", "md", "sh", "svg", "xml")]
    assert f"Saved: {out}/c.json" in found.err
    assert f"assay compare {data}/scores-base.csv" in bucket.read("out/c.sh").decode()
    assert "s3:/" not in re.sub("s3://", "", found.out + found.err)  # no address lost a slash
    assert not list(shell.folder.rglob("*.json"))


@pytest.mark.parametrize(
    ("arguments", "exit_code", "parts"),
    [
        (["compare", "{}/scores-bse.csv", "{}/scores-int3.csv"], 3, ["nothing is there", "'scores-base.csv'"]),
        (["compare", "s3://no-such-bucket/a.csv", "{}/scores-int3.csv"], 3, ["s3://no-such-bucket/a.csv", "no such b"]),
        (["compare", "{}/x*.csv"], 3, ["no object has such a name"]),
        (["compare", "two={}/scores-*.csv", "{}/scores-int3.csv"], 2, ["two=…", "{}/scores-*.csv means 4 files"]),
        (
            ["certify", "{}/scores-base.csv", "{}/scores-int3.csv", "-o", "s3://no-such-bucket/c.json"],
            3,
            ["s3://no-such-bucket/c.json: there is no such bucket"],
        ),
        (
            ["convert", "{}/scores-base.csv", "-o", "{}/scores-base.csv"],
            2,
            ["{}/scores-base.csv: cannot be written, as {}/scores-base.csv is read"],
        ),
        (["convert", "{}", "-o", "{}/scores-base.csv"], 2, ["it is in {}, which is read"]),
        (["convert", "{}/scores-base.csv", "-o", "{}/*.csv"], 2, ["without * ? or ["]),
        (["compare", "s3://AKIA:hush@bucket/a.csv", "b.csv"], 2, ["s3://***@bucket/a.csv: no keys"]),
        (["compare", "unknown://bucket/a.csv", "b.csv"], 2, ["not an address of a store"]),
        (["keygen", "{}/key"], 2, ["{}/key: keys are written to a disk"]),
        (["report", "--serve", "{}"], 2, ["shows a folder on this machine"]),
        (["compare", "{}/scores-base.csv", "{}/losses-base.csv"], 3, ["{}/"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else str(value),
)
def test_what_is_refused_is_named_by_its_address(
    shell: Shell, bucket: Bucket, data: str, arguments: list[str], exit_code: int, parts: list[str]
) -> None:
    before = bucket.names()
    told = [part.replace("{}", data) for part in parts]
    said = shell.assert_refused(*(one.replace("{}", data) for one in arguments), exit_code=exit_code, parts=told)
    assert "assay-store-" not in said
    assert "hush" not in said
    assert bucket.names() == before


def test_a_disk_and_a_store_in_one_command(shell: Shell, bucket: Bucket, data: str) -> None:
    found = ran(
        shell, bucket, "compare", "scores-base.csv", f"{data}/scores-int3.csv", "--save", f"{bucket}/out/c.json"
    )
    assert json.loads(bucket.read("out/c.json"))["schema"].startswith("assay/")
    assert "scores-int3 is worse than scores-base" in found.out


def test_a_folder_of_tables(shell: Shell, bucket: Bucket, data: str) -> None:
    for name in ("base", "int3"):
        bucket.put(f"some/{name}.csv", (shell.folder / f"scores-{name}.csv").read_bytes())
    bucket.put("some/empty/", b"")  # what consoles make of a folder
    bucket.put("some/.hidden.csv", b"not a table")
    found = ran(shell, bucket, "summarize", f"{bucket}/some/", "--json")
    assert [one["name"] for one in json.loads(found.out)["models"]] == ["base", "int3"]
