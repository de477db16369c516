"""`benchmarks/run`: it knows every benchmark, and counts goals; peers are pinned as constraints.txt pins them."""

import re
from pathlib import Path

import pytest

from benchmarks import run

ROOT = Path(__file__).resolve().parents[2]


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    return {
        re.sub(r"[-_.]+", "-", line.partition("==")[0]).lower(): line.partition("==")[2].split()[0]
        for line in lines
        if "==" in line and not line.startswith("#")
    }


def test_every_script_has_a_small_size_and_nothing_else_has_one() -> None:
    assert sorted(run.QUICK) == run.names()
    assert set(run.FULL) <= set(run.names())


def test_goals_are_counted() -> None:
    assert run.goals("- a: 3 s (met)\n- b: 5 s (not met)\n- c: met") == "2 of 3"
    assert run.goals("no goal here, though methods metered") == "–"


def test_a_benchmark_that_is_not_there_is_refused_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run.main(["rnk"])
    assert ended.value.code == 2
    assert "there is no benchmark rnk; there are calibration" in capsys.readouterr().err


def test_a_run_is_written_down_and_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "RUNS", tmp_path / "runs.json")
    ran = run.Ran("python benchmarks/x.py", "2026-11-18", 12.5, 0, "a machine", {"numpy": "2"})
    run.keep("x", ran)
    assert run.stored_runs() == {"x": ran}
    assert [path.name for path in tmp_path.iterdir()] == ["runs.json"]


def test_peers_are_pinned_as_our_own_dependencies_are() -> None:
    peers, ours = pins("benchmarks/requirements.txt"), pins("constraints.txt")
    wanted = {"scipy", "arch", "statsmodels", "pingouin", "errorbars", "evalsig", "evalstats", "sacrebleu", "lm-eval"}
    assert set(peers) == wanted
    assert {name: ours[name] for name in peers if name in ours} == {n: v for n, v in peers.items() if n in ours}
