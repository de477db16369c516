"""Run the steps of action.yml on this machine, as a runner of GitHub Actions does: no container, no account.

    python -m tools.run_action baseline=losses-base.csv candidate=losses-int8.csv cluster=document

Steps that run a script are run, with files in place of GITHUB_OUTPUT and GITHUB_STEP_SUMMARY. Steps that use an action
of others are only resolved and listed. Of the language of expressions there is what action.yml needs: names, texts,
==, != and &&.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_TERM = re.compile(r"(?P<left>[\w.-]+)\s*(?P<how>==|!=)\s*'(?P<right>[^']*)'")


@dataclass
class Job:
    """What expressions see, and what the steps have left."""

    inputs: dict[str, str]
    github: dict[str, str]
    runner: dict[str, str]
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)  # by step
    used: dict[str, dict[str, str]] = field(default_factory=dict)  # actions of others: what they were given
    skipped: list[str] = field(default_factory=list)
    logs: dict[str, str] = field(default_factory=dict)  # by step
    code: int = 0

    def value(self, name: str) -> str:
        """The value of a name such as inputs.cache or steps.gate.outputs.code; what nobody set is empty."""
        match name.split("."):
            case ["inputs", one]:
                return self.inputs[one]
            case ["github", one]:
                return self.github.get(one, "")
            case ["runner", one]:
                return self.runner[one]
            case ["steps", step, "outputs", one]:
                return self.outputs.get(step, {}).get(one, "")
        raise ValueError(f"this runner does not know {name!r}")

    def filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self.value(found[1]), text)

    def holds(self, condition: str) -> bool:
        """Whether a step runs: comparisons with texts, joined by &&."""
        found = [_TERM.fullmatch(term.strip()) for term in condition.split("&&")]
        if None in found:
            raise ValueError(f"this runner does not know the condition {condition!r}")
        return all((self.value(term["left"]) == term["right"]) is (term["how"] == "==") for term in found if term)


def run_action(
    inputs: Mapping[str, str], folder: Path, environment: Mapping[str, str], *, install: bool = False
) -> Job:
    """Run the steps in a folder that is the workspace; the first that fails ends the job. ``install`` runs pip, too."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    temporary = Path(environment["RUNNER_TEMP"])
    job = Job({}, {"action_path": str(ROOT), "token": environment.get("GITHUB_TOKEN", ""), "run_id": "1"}, {})
    job.runner = {"os": "Linux", "temp": str(temporary)}
    job.inputs = _inputs(action["inputs"], inputs, job)
    for step in action["runs"]["steps"]:
        name = step["name"]
        if not job.holds(step.get("if", "runner.os == 'Linux'")) or (name == "Install Assay" and not install):
            job.skipped.append(name)
        elif "uses" in step:
            job.used[step["uses"]] = {key: job.filled(str(value)) for key, value in step.get("with", {}).items()}
        else:
            job.code = _run(step, job, folder, environment)
            if job.code:
                break
    return job


def _inputs(declared: dict[str, Any], given: Mapping[str, str], job: Job) -> dict[str, str]:
    unknown, missing = (
        given.keys() - declared.keys(),
        {n for n, one in declared.items() if one.get("required")} - given.keys(),
    )
    if unknown or missing:
        raise ValueError(f"unknown inputs {sorted(unknown)}, missing inputs {sorted(missing)}")
    return {name: given.get(name, job.filled(str(one.get("default", "")))) for name, one in declared.items()}


def _run(step: dict[str, Any], job: Job, folder: Path, environment: Mapping[str, str]) -> int:
    output = Path(environment["RUNNER_TEMP"]) / f"output-{step.get('id', 'none')}"
    output.write_text("")
    own = {name: job.filled(str(value)) for name, value in step.get("env", {}).items()}
    done = subprocess.run(  # noqa: S603 - our own steps
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", job.filled(step["run"])],  # noqa: S607 - as a runner
        cwd=folder,
        env={**environment, **own, "GITHUB_OUTPUT": str(output)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    job.logs[step["name"]] = done.stdout
    lines = [line.partition("=") for line in output.read_text("utf-8").splitlines()]
    job.outputs[step.get("id", "")] = {name: value for name, _, value in lines}
    return done.returncode


def main() -> int:
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory() as temporary:
        summary = Path(temporary) / "summary"
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        own = {"RUNNER_TEMP": temporary, "GITHUB_STEP_SUMMARY": str(summary), "PATH": path}
        job = run_action(given, Path.cwd(), {**os.environ, **own})
        for name, text in job.logs.items():
            print(f"== {name}\n{text}")
        for name, values in job.used.items():
            print(f"== uses {name}\n{values}\n")
        print(f"== summary of the job\n{summary.read_text('utf-8') if summary.is_file() else ''}")
        return job.code


if __name__ == "__main__":
    sys.exit(main())
