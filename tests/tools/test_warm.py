"""The command that starts at once, against the command itself."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay import examples
from tools.docs_outputs import environment
from tools.warm import possible, warm_assay

pytestmark = pytest.mark.skipif(not possible(), reason="there is no fork, or no socket to ask for one")


@pytest.fixture(scope="module")
def warm() -> Iterator[Path]:
    with warm_assay(environment()) as folder:
        yield folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("examples")
    examples.copy(found)
    return found


def said(line: str, folder: Path, first: Path | None) -> tuple[int, str, str]:
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=folder,
        env=environment(first),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "assay --help",
        "assay compare losses-base.csv losses-int8.csv",
        "assay compare missing.csv losses-int8.csv",
        "assay compare --no-such-option",
        "assay power --sd 0.45 --margin 0.02 | head -1",
        "assay rank scores-base.csv scores-int3.csv --json > out.json; wc -c out.json",
        "cd .. && assay compare */losses-base.csv */losses-int8.csv --json",
        "assay certify losses-base.csv losses-int3.csv -o gate.json --profile ci; echo $?",
    ],
)
def test_streams_folder_and_exit_code_are_those_of_the_real_command(line: str, warm: Path, folder: Path) -> None:
    assert Path(sys.executable).with_name("assay").is_file()
    assert said(line, folder, warm) == said(line, folder, None)


def test_calls_do_not_see_each_other(warm: Path, folder: Path) -> None:
    said("assay compare losses-base.csv losses-int8.csv --seed 3 --resamples 1000", folder, warm)
    line = "assay compare losses-base.csv losses-int8.csv --json"
    assert said(line, folder, warm) == said(line, folder, None)
