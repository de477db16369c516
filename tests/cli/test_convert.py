"""`assay convert`: the file on disk, what was written on stdout; refusals leave nothing behind."""

import json

from assay import convert
from tests.cli.command import SCORES, Shell
from tests.data.readers.harness.logs import INSPECT, LM_EVAL, SMALL


def test_a_table_is_written_and_said(shell: Shell) -> None:
    shell.write("s.csv", SCORES)
    ran = shell("convert", "s.csv", "-o", "new/table.jsonl")
    assert (ran.exit_code, ran.err) == (0, "")
    lines = (shell.folder / "new" / "table.jsonl").read_text().splitlines()
    assert ran.out.startswith(f"Written: new/table.jsonl\n{len(lines)} rows, 1 model, 1 metric\n")
    assert json.loads(lines[0]).keys() >= {"model", "item", "metric", "score", "error"}


def test_what_the_table_says_is_what_the_logs_say(shell: Shell) -> None:
    logs = str(LM_EVAL / SMALL)
    assert shell("convert", logs, "--task", "tiny_sky", "-o", "t.parquet").exit_code == 0
    before = json.loads(shell("summarize", logs, "--task", "tiny_sky", "--metric", "acc", "--json").out)
    after = json.loads(shell("summarize", "t.parquet", "--metric", "acc", "--json").out)
    assert before["models"] == after["models"]


def test_json_has_the_files_and_what_is_in_them(shell: Shell) -> None:
    found = json.loads(shell("convert", str(INSPECT / "small.eval"), "-o", "t.csv", "--json").out)
    assert found["files"] == ["t.csv"]
    want = convert(INSPECT / "small.eval", output=shell.folder / "u.csv")
    assert (found["rows"], found["models"], found["metrics"]) == (want.rows, [*want.models], [*want.metrics])


def test_records_are_written(shell: Shell) -> None:
    ran = shell(
        *("convert", str(INSPECT / "small.eval"), "--to", "every-eval-ever", "-o", "out"),
        *("--organization", "Example", "--relationship", "first_party"),
    )
    assert ran.exit_code == 0
    assert len([path for path in (shell.folder / "out").rglob("*") if path.is_file()]) == 2
    assert "--organization" not in ran.out


def test_refusals_write_nothing(shell: Shell) -> None:
    shell.write("s.csv", SCORES)
    shell.assert_refused("convert", "s.csv", "-o", "t.xlsx", exit_code=2, parts=["output must end in"])
    shell.assert_refused("convert", "s.csv", "-o", "s.csv", exit_code=2, parts=["cannot be written"])
    shell.assert_refused("convert", "missing.csv", "-o", "t.csv", exit_code=3, parts=["no such file"])
    assert [path.name for path in shell.folder.iterdir()] == ["s.csv"]
