"""`assay certify` as a user runs it: exit codes, files, and nothing left behind by a refusal."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from assay import examples
from tests.certificate.samples import assay, evidence_rows, load, losses, scores, without
from tests.data.files import write_rows

BASE, INT8, INT3 = (examples.path(f"losses-{name}.csv") for name in ("base", "int8", "int3"))

EVALPLUS = Path(__file__).resolve().parents[1] / "data" / "harness" / "evalplus"


@pytest.fixture(autouse=True)
def _outside_of_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_pass_exits_0_and_writes_two_files(tmp_path: Path) -> None:
    ran = assay("certify", BASE, INT8, "-o", tmp_path / "c.json", "--profile", "ci")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("losses-int8 may replace losses-base: perplexity × 1.000045, 95% CI")
    assert names(tmp_path) == ["c.evidence.parquet", "c.json"]
    assert assay("verify", tmp_path / "c.json").code == 0


@pytest.mark.parametrize(
    ("subject", "options", "verdict"),
    [
        (INT3, ("--tier", "conservative"), "regression"),
        (INT8, ("--max-ratio", "1.0001", "--note", "tight"), "insufficient evidence"),
    ],
)
def test_a_failing_gate_exits_1(subject: Path, options: tuple[str, ...], verdict: str, tmp_path: Path) -> None:
    ran = assay("certify", BASE, subject, "-o", tmp_path / "c.json", *options)
    assert (ran.code, ran.err) == (1, "")
    assert load(tmp_path / "c.json")["decision"]["verdict"] == verdict
    assert assay("verify", tmp_path / "c.json").code == 1


def test_an_accuracy_that_falls_from_90_to_40_percent_fails(tmp_path: Path) -> None:
    before = write_rows(tmp_path / "before.csv", scores(180, 200))
    after = write_rows(tmp_path / "after.csv", scores(80, 200))
    ran = assay("certify", before, after, "-o", tmp_path / "c.json", "--profile", "ci")
    assert ran.code == 1
    assert "after is a regression from before: mean score −0.500" in ran.out


def test_exit_codes_of_a_real_process(tmp_path: Path) -> None:
    start = [sys.executable, "-c", "from assay.cli.main import main; main()"]
    for subject, code in ((INT3, 1), (tmp_path / "none.csv", 3)):
        options = ["-o", str(tmp_path / "c.json"), "--tier", "conservative"]
        command = [*start, "certify", str(BASE), str(subject), *options]
        assert subprocess.run(command, check=False, capture_output=True).returncode == code


@pytest.mark.parametrize("profile", ["ci", "release"])
def test_a_refusal_names_the_rule_and_writes_nothing_at_all(
    profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    inputs = tmp_path / "in"
    inputs.mkdir()
    before = write_rows(inputs / "before.csv", losses(180))
    after = write_rows(inputs / "after.csv", without(losses(180, 2), 5))
    out = tmp_path / "out"
    out.mkdir()
    ran = assay("certify", before, after, "-o", out / "c.json", "--markdown", out / "c.md", "--profile", profile)
    ran.assert_refused(
        3, f"profile {profile} refuses", "pairing: 359 of 360 windows pair, 1 does not", "preview minimum", "1 too few"
    )
    assert (names(tmp_path), names(out)) == (["in", "out"], [])


@pytest.mark.parametrize(
    ("option", "number"),
    [("--max-ratio", "1.3"), ("--min-windows", "9"), ("--replicates", "300")],
)
def test_an_override_without_a_note_is_a_usage_error(option: str, number: str, tmp_path: Path) -> None:
    assay("certify", BASE, INT8, "-o", tmp_path / "c.json", option, number).assert_refused(2, "--note TEXT")
    assert names(tmp_path) == []
    assert assay("certify", BASE, INT8, "-o", tmp_path / "c.json", option, number, "--note", "why").code == 0
    assert load(tmp_path / "c.json")["policy"]["note"] == "why"


@pytest.mark.parametrize(
    ("files", "idle", "used"),
    [
        ((BASE, INT8), "--max-drop", "--max-ratio"),
        ((examples.path("scores-base.csv"), examples.path("scores-int3.csv")), "--max-ratio", "--max-drop"),
    ],
)
def test_a_limit_of_something_else_is_refused_with_the_one_that_counts(
    files: tuple[Path, Path], idle: str, used: str, tmp_path: Path
) -> None:
    given = ("certify", *files, "-o", tmp_path / "c.json", idle, "0.5", "--note", "why")
    assay(*given).assert_refused(2, f"{idle} limits", f"give {used} instead")
    assert names(tmp_path) == []
    assert assay(*given, used, "1.9" if used == "--max-ratio" else "0.9").code == 0  # as in a policy for both


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--max-ratio", "nan", "--note", "x"), 2, "max_ratio must be positive and finite"),
        (("--replicates", "5", "--note", "x"), 2, "replicates must be a whole number from 100"),
        (("--level", "1"), 2, "level must be at least 0.5"),
        (("--seed", "-1"), 2, "seed must be"),
        (("--cluster", "loss"), 2, "cluster must be a column of labels"),
        (("--cluster", "nowhere"), 3, "no column 'nowhere'"),
        (("--sign", "no-such-key"), 3, "no-such-key: cannot be opened"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    options: tuple[str, ...], code: int, message: str, tmp_path: Path
) -> None:
    assay("certify", BASE, INT8, "-o", tmp_path / "c.json", *options).assert_refused(code, message)
    assert names(tmp_path) == []


def test_where_it_cannot_write_it_says_so(tmp_path: Path) -> None:
    assay("certify", BASE, INT8, "-o", tmp_path / "c.txt").assert_refused(2, "must be a .json file")
    assay("certify", BASE, INT8, "-o", tmp_path / "none" / "c.json").assert_refused(
        3, "cannot be written", "existing folder"
    )
    (tmp_path / "d.json").mkdir()
    assay("certify", BASE, INT8, "-o", tmp_path / "d.json").assert_refused(2, "d.json: a folder")
    options = ("-o", tmp_path / "c.json", "--markdown", tmp_path / "none" / "c.md")
    assay("certify", BASE, INT8, *options).assert_refused(3, "c.md: cannot be written")
    assert [name for name in names(tmp_path) if name.startswith(".")] == []


def test_json_is_the_certificate(tmp_path: Path) -> None:
    ran = assay("certify", BASE, INT8, "-o", tmp_path / "c.json", "--json")
    assert ran.out == (tmp_path / "c.json").read_text(encoding="utf-8")


def test_the_job_summary_is_appended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# Tests\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assay("certify", BASE, INT8, "-o", tmp_path / "c.json", "--markdown", tmp_path / "c.md")
    assay("certify", BASE, INT3, "-o", tmp_path / "d.json", "--tier", "conservative")
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("# Tests\n### ✅ Assay: pass\n")
    assert "### ❌ Assay: regression" in text
    assert (tmp_path / "c.md").read_text(encoding="utf-8") in text


def test_a_job_summary_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assay("certify", BASE, INT8, "-o", tmp_path / "c.json").assert_refused(
        3, "cannot be written", "GITHUB_STEP_SUMMARY"
    )


def test_options_of_the_data_reach_the_certificate(tmp_path: Path) -> None:
    rows = scores(20, 60)
    both = {
        "model": ["old"] * 60 + ["new"] * 60,
        "id": rows["item"] * 2,
        "err": rows["score"] + [1 - score for score in rows["score"]],
        "topic": [f"t{i % 9}" for i in range(120)],
    }
    write_rows(tmp_path / "both.csv", {name: list(values) for name, values in both.items()})
    options = ("--a", "old", "--b", "new", "--columns", "item=id,score=err", "--cluster", "id", "--lower-is-better")
    ran = assay("certify", tmp_path / "both.csv", "-o", tmp_path / "c.json", *options)
    document = load(tmp_path / "c.json")
    assert (ran.code, document["primary_metric"]["lower_is_better"]) == (1, True)
    assert document["dataset"]["windows"]["stats"]["cluster_by"] == "id"
    assert (document["systems"]["baseline"]["name"], document["systems"]["subject"]["file"]) == ("old", "both.csv")
    assert assay("verify", tmp_path / "c.json").code == 1


def test_a_timestamp_only_on_request(tmp_path: Path) -> None:
    assay("certify", BASE, INT8, "-o", tmp_path / "a.json")
    assay("certify", BASE, INT8, "-o", tmp_path / "b.json", "--timestamp")
    created = [load(tmp_path / name)["meta"]["created"] for name in ("a.json", "b.json")]
    assert created[0] is None
    assert isinstance(created[1], str)


def test_from_keys_to_a_checked_signature(tmp_path: Path) -> None:
    made = assay("keygen", tmp_path / "key")
    assert (made.code, names(tmp_path)) == (0, ["key", "key.pub"])
    assay("keygen", tmp_path / "key").assert_refused(2, "never overwritten")
    certificate = tmp_path / "c.json"
    assert assay("certify", BASE, INT8, "-o", certificate, "--sign", tmp_path / "key").code == 0
    assert assay("verify", certificate, "--key", tmp_path / "key.pub").code == 0
    (tmp_path / "c.dsse.json").unlink()
    unsigned = assay("verify", certificate, "--key", tmp_path / "key.pub")
    assert (unsigned.code, "there is no envelope" in unsigned.out) == (4, True)
    assert assay("verify", certificate).code == 0


def test_the_evidence_is_written_in_full(tmp_path: Path) -> None:
    assay("certify", BASE, INT8, "-o", tmp_path / "c.json")
    rows = evidence_rows(tmp_path / "c.evidence.parquet")
    assert list(rows) == ["model", "window", "document", "split", "tokens", "loss", "bytes", "chars"]
    assert len(rows["model"]) == load(tmp_path / "c.json")["evidence"]["rows"] == 720


def test_a_name_that_looks_like_markup_stays_text(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>|`x`"
    write_rows(tmp_path / "a.csv", {**scores(9, 200), "model": ["old"] * 200})
    write_rows(tmp_path / "b.csv", {**scores(9, 200), "model": [name] * 200})
    options = ("-o", tmp_path / "c.json", "--markdown", tmp_path / "c.md")
    assert assay("certify", tmp_path / "a.csv", tmp_path / "b.csv", *options).code == 0
    assert json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["systems"]["subject"]["name"] == name
    assert "<script>" not in (tmp_path / "c.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["certify", "compare"])
def test_files_of_several_metrics_are_asked_which(tmp_path: Path, command: str) -> None:
    """The scores of each metric are those of EvalPlus' own words for its samples."""
    files = [EVALPLUS / f"{name}_eval_results.json" for name in ("small", "large")]
    output: list[str | Path] = ["-o", tmp_path / "c.json"] if command == "certify" else []
    ran = assay(command, *files, *output)
    assert (ran.code, ran.out) == (3, "")
    assert "2 metrics (base, plus); choose one with --metric, such as --metric base." in ran.err
    assert names(tmp_path) == []
    evals = [json.loads(file.read_text("utf-8"))["eval"] for file in files]
    statuses = {"base": ("base_status",), "plus": ("base_status", "plus_status")}
    for metric, wanted in statuses.items():
        means = [
            statistics.fmean(
                statistics.fmean(all(one[name] == "pass" for name in wanted) for one in samples)
                for samples in run.values()
            )
            for run in evals
        ]
        ran = assay(command, *files, "--metric", metric, "--json", *output)
        assert ran.err == ""
        said = json.loads(ran.out)
        if command == "certify":
            assert said["measure"]["metric"] == metric
            found = said["primary_metric"]
            assert found["difference_vs_baseline"] == pytest.approx(means[1] - means[0], abs=1e-12)
        else:
            assert said["difference"]["value"] == pytest.approx(means[1] - means[0], abs=1e-12)


def test_a_metric_of_tables_is_chosen_too(tmp_path: Path) -> None:
    rows = [(item, metric, (item + place) % 2) for item in range(40) for place, metric in enumerate(("acc", "f1"))]
    for name in ("a", "b"):
        lines = [f"{item},{metric},{score}" for item, metric, score in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join(["item,metric,score", *lines]), "utf-8")
    ran = assay("certify", tmp_path / "a.csv", tmp_path / "b.csv", "-o", tmp_path / "c.json")
    assert (ran.code, "2 metrics (acc, f1); choose one with --metric, such as --metric acc." in ran.err) == (3, True)
    assert not (tmp_path / "c.json").exists()
    assay("certify", tmp_path / "a.csv", tmp_path / "b.csv", "-o", tmp_path / "c.json", "--metric", "f1")
    assert load(tmp_path / "c.json")["measure"]["metric"] == "f1"
    listed = assay("summarize", tmp_path / "a.csv").out
    assert [line.split()[0] for line in listed.splitlines() if line.startswith(("acc ", "f1 "))] == ["acc", "f1"]


@pytest.mark.parametrize("content", [b"my notes\n", b'{"schema": "assay/comparison/1"}', b"\xff\x00"])
@pytest.mark.parametrize("verb", ["certify", "gate"])
def test_a_file_that_is_no_certificate_is_not_written_over(tmp_path: Path, verb: str, content: bytes) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(content)
    ran = assay(verb, BASE, INT8, *([BASE] if verb == "gate" else []), "-o", path)
    assert ran.code == 2
    assert str(path) in ran.err
    assert "no certificate" in ran.err
    assert "-o" in ran.err
    assert "`" not in ran.err
    assert path.read_bytes() == content
    assert names(tmp_path) == ["c.json"]


def test_a_certificate_or_an_empty_file_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.touch()
    for _ in range(2):
        assert assay("certify", BASE, INT8, "-o", path, "--profile", "ci").code == 0
    assert assay("verify", path).code == 0
