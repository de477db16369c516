"""action.yml, against the schema of action metadata (SchemaStore's, Apache-2.0), and run step by step here."""

import json
import os
import re
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

import assay
from assay import examples
from assay.models import path, round_weights
from tools.github_action.gate import arguments
from tools.github_action.install import command, stamp
from tools.run_action import ROOT, Job, run_action

TEXT = (ROOT / "action.yml").read_text("utf-8")
ACTION = yaml.safe_load(TEXT)
SCHEMA = json.loads((Path(__file__).parent / "action.schema.json").read_text("utf-8"))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in ("losses-base.csv", "losses-int8.csv", "losses-trigram.csv"):
        (folder / name).write_bytes(examples.path(name).read_bytes())
    return folder


def ran(workspace: Path, **inputs: str) -> Job:
    temporary = workspace.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    (workspace.parent / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "RUNNER_TEMP": str(temporary),
        "GITHUB_STEP_SUMMARY": str(workspace.parent / "summary.md"),
        "GITHUB_EVENT_PATH": str(workspace.parent / "event.json"),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_API_URL": "http://127.0.0.1:1",  # nobody is there
    }
    environment.pop("GITHUB_RUN_ID", None)
    given = {"baseline": "losses-base.csv", "candidate": "losses-int8.csv", "cluster": "document"}
    return run_action(
        {**given, **{name.replace("_", "-"): value for name, value in inputs.items()}}, workspace, environment
    )


def test_it_is_what_github_takes() -> None:
    jsonschema.validate(ACTION, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**ACTION, "runs": {"using": "composite"}}, SCHEMA)


def test_the_workflow_of_the_page_names_inputs_that_exist() -> None:
    page = (ROOT / "docs" / "github-action.md").read_text("utf-8")
    blocks = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)]
    steps = [step for block in blocks for job in block["jobs"].values() for step in job["steps"]]
    ours = [step["with"] for step in steps if step.get("uses", "").startswith("OWNER/assay@")]
    assert len(ours) == len(blocks)
    for given in ours:
        assert given.keys() <= ACTION["inputs"].keys()
        assert {"baseline", "candidate"} <= given.keys()


def test_the_page_lists_every_input() -> None:
    page = (ROOT / "docs" / "github-action.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE))
    assert listed == set(ACTION["inputs"]) | set(ACTION["outputs"])


def test_no_input_is_pasted_into_a_script() -> None:
    """What a title or a branch holds would be run: inputs come by the environment only."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert ("shell" in step) is ("run" in step)


def test_every_input_is_used_and_every_output_is_made() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", TEXT))
    assert used == set(ACTION["inputs"])
    made = {re.search(r"outputs\.(\w+)", one["value"])[1] for one in ACTION["outputs"].values()}  # type: ignore[index]
    assert made <= {"verdict", "code", "certificate"}


def test_a_pass_keeps_certificate_evidence_page_and_summary(workspace: Path) -> None:
    job = ran(workspace)
    assert (job.code, job.outputs["gate"]["verdict"]) == (0, "pass")
    kept = Path(job.used["actions/upload-artifact@v4"]["path"])
    names = {"assay-gate.json", "assay-gate.evidence.parquet", "page.html", "summary.md", "junit.xml"}
    assert {path.name for path in kept.iterdir()} == names
    assert assay.verify(kept / "assay-gate.json").true
    assert "✅ Assay: pass" in (workspace.parent / "summary.md").read_text("utf-8")
    assert "No token" in job.logs["Comment on the pull request, once"]
    assert "Models and the run of the baseline, from earlier jobs" in job.skipped  # nothing is scored


@pytest.mark.slow
def test_a_failure_is_kept_too_and_fails_the_job(workspace: Path) -> None:
    job = ran(workspace, candidate="losses-trigram.csv", name="int3", token="t")  # noqa: S106 - of nothing
    assert (job.code, job.outputs["gate"]["verdict"]) == (1, "insufficient evidence")
    assert job.used["actions/upload-artifact@v4"]["name"] == "int3"
    assert "No comment: GET failed" in job.logs["Comment on the pull request, once"]


@pytest.mark.slow
def test_models_and_text_are_gated_and_the_run_of_the_baseline_is_kept(workspace: Path) -> None:
    pytest.importorskip("torch")
    round_weights(path("base"), workspace / "int8", bits=8)
    (workspace / "en.txt").write_bytes(path("en.txt").read_bytes())
    asked = {"baseline": str(path("base")), "candidate": "int8", "text": "en.txt", "cluster": "", "looks": "5"}
    for _ in range(2):  # the second finds what the first has left
        job = ran(workspace, **asked, arguments="--context=64\n--split-on=\\n\\n")
        assert (job.code, job.outputs["gate"]["verdict"]) == (0, "pass"), job.logs
    kept = Path(job.used["actions/upload-artifact@v4"]["path"])
    names = {"assay-gate.json", "assay-gate.evidence.parquet", "page.html", "summary.md", "junit.xml"}
    assert {one.name for one in kept.iterdir()} == names
    cached = Path(job.used["actions/cache@v4"]["path"].splitlines()[1])
    assert len([one for one in cached.iterdir() if one.is_dir()]) == 1


@pytest.mark.slow
def test_what_is_refused_has_a_summary_and_no_verdict(workspace: Path) -> None:
    job = ran(workspace, candidate="none.csv")
    assert (job.code, job.outputs["gate"]["verdict"]) == (3, "")
    summary = (workspace.parent / "summary.md").read_text("utf-8")
    assert "the data was refused" in summary
    assert "none.csv" in summary
    assert job.outputs["gate"]["comment"].endswith("summary.md")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "code", "where"),
    [
        ({"max_ratio": "1.5"}, 2, "note"),  # a limit that is not the tier's needs one
        ({"looks": "5"}, 1, "looks is only for text"),
        ({"name": "a/../b"}, 1, "name must be"),
        ({"arguments": "--no-such-option"}, 2, "no-such-option"),
    ],
)
def test_inputs_that_make_no_sense_fail_the_job(workspace: Path, inputs: dict[str, str], code: int, where: str) -> None:
    job = ran(workspace, **inputs)
    assert job.code in (code, 70)
    assert where in "".join(job.logs.values())


def test_an_input_is_one_argument_whatever_it_holds(tmp_path: Path) -> None:
    given = {
        "ASSAY_BASELINE": "a; rm -rf /",
        "ASSAY_CANDIDATE": "--json",
        "ASSAY_NOTE": "$(id) `id`",
        "RUNNER_TEMP": "/t",
    }
    made = arguments(given, tmp_path)
    assert made[-3:] == ["--", "a; rm -rf /", "--json"]
    assert "--note=$(id) `id`" in made


def test_models_and_text_are_gated_with_a_cache(tmp_path: Path) -> None:
    given = {
        "ASSAY_BASELINE": "base",
        "ASSAY_CANDIDATE": "int4",
        "ASSAY_TEXT": "a.txt\n  b.txt\n",
        "ASSAY_LOOKS": "7",
        "ASSAY_CACHE": "true",
        "RUNNER_TEMP": "/t",
    }
    made = arguments(given, tmp_path)
    assert made[0] == "gate"
    assert made[-5:] == ["--", "base", "int4", "a.txt", "b.txt"]
    assert made[made.index("--cache") + 1] == "/t/assay-cache"


def test_the_cache_is_of_what_is_installed(tmp_path: Path) -> None:
    assert re.fullmatch("[0-9a-f]{16}", stamp())
    (cached,) = [step["with"] for step in ACTION["runs"]["steps"] if step.get("uses", "").startswith("actions/cache")]
    assert "steps.install.outputs.stamp" in cached["key"]
    assert cached["key"].startswith(cached["restore-keys"])


def test_what_is_installed_is_pinned() -> None:
    own = command("", "", models=False)
    assert own[-2:] == [str(ROOT / "constraints.txt"), str(ROOT)]
    assert command("0.1.0", "ja, sign", models=True)[-1] == "assay-eval[ja,sign,hf]==0.1.0"
    for version, extras in (("0.1.0; echo", ""), ("", "hf]; x")):
        with pytest.raises(SystemExit):
            command(version, extras, models=False)
