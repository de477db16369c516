"""The workflow that users paste does what the page says: it is run, step by step, on the example files."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay import examples
from tools.docs_outputs import ROOT

PAGE = (ROOT / "docs" / "gate-in-ci.md").read_text("utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
WORKFLOW, GITLAB, SIGNING = (yaml.safe_load(block) for block in BLOCKS)
POLICY = re.search(r"^\$ echo '(.*)' > policy\.json$", PAGE, re.MULTILINE)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with the policy of the page and a scoring script."""
    assert POLICY
    (tmp_path / "policy.json").write_text(POLICY[1])
    script = tmp_path / "score.sh"
    script.write_text(f"#!/bin/sh\n'{sys.executable}' -m assay.examples .\n")
    script.chmod(0o755)
    return tmp_path


def run(command: str, folder: Path, **extra: str) -> int:
    """As a runner does it; there is nothing to install."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    if command.startswith("pip install "):
        return 0
    done = subprocess.run(
        ["bash", "-e", "-c", command],  # noqa: S607 - whichever bash a runner has
        cwd=folder,
        env={**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": "", **extra},
        check=False,
        capture_output=True,
    )
    return done.returncode


def commands(steps: list[dict[str, Any]]) -> list[str]:
    return [step["run"] for step in steps if "run" in step and not step["run"].startswith("gh ")]


def test_the_workflow_certifies_and_verifies(checkout: Path) -> None:
    jobs, summary = WORKFLOW["jobs"], checkout / "summary.md"
    done = [run(command, checkout, GITHUB_STEP_SUMMARY=str(summary)) for command in commands(jobs["certify"]["steps"])]
    assert done == [0, 0, 0]
    assert "pass" in summary.read_text("utf-8")
    (upload,) = [step["with"] for step in jobs["certify"]["steps"] if "upload-artifact" in step.get("uses", "")]
    assert all((checkout / name).is_file() for name in upload["path"].split())
    assert [run(command, checkout) for command in commands(jobs["verify"]["steps"])] == [0, 0]


def test_the_workflow_fails_for_a_worse_model_and_keeps_its_certificate(checkout: Path) -> None:
    (install, score, certify) = commands(WORKFLOW["jobs"]["certify"]["steps"])
    assert [run(install, checkout), run(score, checkout)] == [0, 0]
    (checkout / "losses-int8.csv").write_bytes(examples.path("losses-trigram.csv").read_bytes())
    assert run(certify, checkout) == 1
    assert (checkout / "gate.json").is_file()
    assert [run(command, checkout) for command in commands(WORKFLOW["jobs"]["verify"]["steps"])] == [0, 1]


def test_the_gitlab_job_keeps_what_it_wrote(checkout: Path) -> None:
    job = GITLAB["quantization-gate"]
    assert [run(command, checkout) for command in job["script"]] == [0, 0, 0]
    assert all((checkout / name).is_file() for name in job["artifacts"]["paths"])


def test_the_signing_step_takes_the_key_from_its_environment(checkout: Path) -> None:
    pytest.importorskip("cryptography")
    (step,) = SIGNING
    assert run("./score.sh && assay keygen release.key", checkout) == 0
    (checkout / "temporary").mkdir()
    key = (checkout / "release.key").read_text().rstrip("\n")  # as a store of secrets may hand it out
    assert run(step["run"], checkout, ASSAY_KEY=key, RUNNER_TEMP=str(checkout / "temporary")) == 0
    assert run("assay verify gate.json --key release.key.pub", checkout) == 0
