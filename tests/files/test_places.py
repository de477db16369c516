"""No output over an input, whatever way the path is written; by the verbs and by the functions of the library."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import assay
from assay.cli.main import main
from assay.errors import UsageError
from assay.files.places import Owner, check_outputs, discard, is_run, same
from tests.cli.command import SCORES

RUN = '{"schema": "assay/run/1", "shards": 1}'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(SCORES)
    (tmp_path / "b.csv").write_text(SCORES.replace("q2,0", "q2,1"))
    (tmp_path / "d").mkdir()
    (tmp_path / "soft.csv").symlink_to("a.csv")
    os.link(tmp_path / "a.csv", tmp_path / "hard.csv")
    (tmp_path / "up").symlink_to(tmp_path)
    return tmp_path


WAYS = ["a.csv", "./a.csv", "d/../a.csv", "missing/../a.csv", "soft.csv", "hard.csv", "up/a.csv", "up/up/hard.csv"]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_an_input_is_refused(way: str, folder: Path) -> None:
    assert same(Path(way), Path("a.csv"))
    for source in ("a.csv", "name=a.csv", folder / "a.csv", "soft.csv"):
        with pytest.raises(UsageError, match="is read"):
            check_outputs([Path(way)], [source])


def test_other_files_are_not(folder: Path) -> None:
    check_outputs([Path("c.csv"), Path("d/a.csv"), None, "new/a.csv"], ["a.csv", None, {"item": ["q"]}])
    with pytest.raises(UsageError, match="written already"):
        check_outputs(["c.csv", "d/../c.csv"])
    with pytest.raises(UsageError, match="a folder"):
        check_outputs(["d"])


@pytest.mark.parametrize(
    ("manifest", "text", "run"),
    [
        ("run.json", RUN, True),
        ("training.json", '{"schema": "assay/training/1"}', True),
        ("run.json", '{"schema": "other/1"}', False),
        ("run.json", "[" * 5000, False),
        ("run.json", "not JSON", False),
    ],
)
def test_nothing_is_written_into_a_run_and_only_ours_is_one(manifest: str, text: str, run: bool, folder: Path) -> None:
    (folder / "d" / manifest).write_text(text)
    (folder / "d" / "deep").mkdir()
    assert is_run(folder / "d") is run
    for output in (f"d/{manifest}", "d/new.json", "up/d/deep/x.json"):
        if run:
            with pytest.raises(UsageError, match="is a run"):
                check_outputs([output])
        else:
            check_outputs([output])


def test_a_file_of_a_folder_that_is_read_is_kept_unless_it_is_ours(folder: Path) -> None:
    (folder / "d" / "x.json").write_text("{}")
    (folder / "d" / "board.json").write_text('{\n  "schema": "assay/leaderboard/2"}')
    (folder / "d" / "page.html").touch()
    check_outputs(["d/board.json"], ["d"])
    check_outputs(["d/page.html"], ["d"])
    check_outputs(["d/new.json"], ["d"])
    with pytest.raises(UsageError, match="which is read"):
        check_outputs(["d/x.json"], ["d"])


def test_paths_that_no_system_allows_are_no_obstacle(folder: Path) -> None:
    (folder / "loop").symlink_to("loop")
    check_outputs(["c.csv"], ["loop", "x" * 5000, "\0"])


def _certify(output: str) -> object:
    return assay.certify("a.csv", "b.csv", output)


def _report(output: str) -> object:
    return assay.write_report(output, "d/board.md")


def test_functions_of_the_library_refuse_as_well(folder: Path) -> None:
    (folder / "c.evidence.parquet").symlink_to("a.csv")
    with pytest.raises(UsageError, match="is read"):
        _certify("c.json")
    (folder / "d" / "board.md").write_text("{}")
    with pytest.raises(UsageError, match="is read"):
        _report("up/d/board.md")
    assert (folder / "a.csv").read_text() == SCORES


VERBS: dict[str, Callable[[str], list[str]]] = {
    "compare": lambda out: ["compare", "a.csv", "b.csv", "--save", out],
    "rank --save": lambda out: ["rank", "a.csv", "b.csv", "--save", out],
    "rank --markdown": lambda out: ["rank", "a.csv", "b.csv", "--markdown", out],
    "summarize": lambda out: ["summarize", "a.csv", "--save", out],
    "reliability": lambda out: ["reliability", "a.csv", "--save", out],
    "power": lambda out: ["power", "a.csv", "b.csv", "--difference", "0.1", "--save", out],
    "context": lambda out: ["context", "a.csv", "--save", out],
    "japanese": lambda out: ["japanese", "a.csv", "--save", out],
    "tune": lambda out: ["tune", "a.csv", "b.csv", "--save", out],
    "survey": lambda out: ["survey", "a.csv", "b.csv", "--save", out],
    "certify --markdown": lambda out: ["certify", "a.csv", "b.csv", "-o", "c.json", "--markdown", out],
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_with_outputs_refuses(
    verb: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "run").mkdir()
    (folder / "run" / "run.json").write_text(RUN)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for way, why in (("d/../a.csv", "is read"), ("hard.csv", "is read"), ("run/run.json", "is a run")):
        monkeypatch.setattr(sys, "argv", ["assay", *VERBS[verb](way)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1), said.err
        assert why in said.err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("kept", range(1, 7))
def test_a_folder_half_removed_by_a_kill_is_still_known_to_be_ours(
    kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Manifests go last, whatever the other files are called: without them nobody could remove the rest."""
    old = tmp_path / "old"
    files = {"training.json", "validation.json", "weights.bin", "adapter/config.json", "zzz.json"}
    files |= (inside := {"windows/run.json", "windows/z.parquet"})

    def owned(folder: Path) -> set[str] | None:
        known = files if (folder / "windows/run.json").exists() else files - inside
        return known if (folder / "training.json").exists() else None

    for name in files:
        (old / name).parent.mkdir(parents=True, exist_ok=True)
        (old / name).touch()
    owner = Owner("run", "training.json", owned)
    removed = iter(range(len(files) - kept))
    unlink = Path.unlink

    def killed(path: Path, missing_ok: bool = False) -> None:
        if next(removed, None) is None:
            raise KeyboardInterrupt
        unlink(path, missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            discard(old, owner)
    assert (old / "training.json").exists()
    discard(old, owner)
    assert not old.exists()
