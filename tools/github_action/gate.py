"""Run the gate of a job: `assay gate` on models and text, `assay certify` on files of results.

What it finds goes to the outputs of the step; the job is failed by a later step, when the evidence has been kept.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

#: Inputs that are options of both verbs, by their names in the environment.
OPTIONS = {
    "ASSAY_POLICY": "--policy",
    "ASSAY_TIER": "--tier",
    "ASSAY_PROFILE": "--profile",
    "ASSAY_MAX_RATIO": "--max-ratio",
    "ASSAY_MAX_DROP": "--max-drop",
    "ASSAY_NOTE": "--note",
    "ASSAY_CLUSTER": "--cluster",
    "ASSAY_LOOKS": "--looks",
}
ONLY_RESULTS, ONLY_MODELS = ("ASSAY_MAX_DROP",), ("ASSAY_LOOKS",)
#: The command of the environment that the action installed into.
ASSAY = [sys.executable, "-c", "from assay.cli.main import main; main()"]
FAILURES = {2: "an option makes no sense", 3: "the data was refused", 70: "a fault in Assay itself"}


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def arguments(given: Mapping[str, str], folder: Path) -> list[str]:
    """The command, without the program; each input is one argument, whatever it holds."""
    texts = lines_of(given.get("ASSAY_TEXT", ""))
    certificate = folder / f"{folder.name}.json"
    made = ["gate" if texts else "certify", "-o", str(certificate), "--markdown", str(folder / "summary.md")]
    made += ["--junit", str(folder / "junit.xml")]
    if texts:
        made += ["--runs", str(_runs(folder))]
    if texts and given.get("ASSAY_CACHE") == "true":
        made += ["--cache", str(Path(given["RUNNER_TEMP"]) / "assay-cache")]
    for name, option in OPTIONS.items():
        value = given.get(name, "").strip()
        if value and name in (ONLY_RESULTS if texts else ONLY_MODELS):
            wanted = "files of results" if texts else "text"
            sys.exit(f"::error::{option.lstrip('-')} is only for {wanted}; leave it out")
        made += [f"{option}={value}"] if value else []
    made += lines_of(given.get("ASSAY_ARGUMENTS", ""))
    return [*made, "--", given["ASSAY_BASELINE"], given["ASSAY_CANDIDATE"], *texts]


def _runs(folder: Path) -> Path:
    """Where losses are kept while the gate runs: not what is uploaded."""
    return folder.with_name(f"{folder.name}-runs")


def name_of(given: Mapping[str, str]) -> str:
    name = given.get("ASSAY_NAME", "") or "assay-gate"
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        sys.exit(f"::error::name must be letters, digits, '.', '_' and '-', but got {name!r}")
    return name


def run(given: Mapping[str, str]) -> dict[str, str]:
    """The outputs of the step."""
    folder = Path(given["RUNNER_TEMP"]) / name_of(given)
    for old in (folder, _runs(folder)):  # of an earlier attempt on the same machine
        shutil.rmtree(old, ignore_errors=True)
    folder.mkdir(parents=True)
    done = subprocess.run(  # noqa: S603 - a list, no shell
        [*ASSAY, *arguments(given, folder)],
        env={**given, "PYTHONUTF8": "1"},
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=False,
    )
    sys.stderr.write(done.stderr)
    certificate, summary = folder / f"{folder.name}.json", folder / "summary.md"
    found = {"code": str(done.returncode), "folder": str(folder), "verdict": "", "certificate": "", "comment": ""}
    if done.returncode in (0, 1) and certificate.is_file():
        found |= {"certificate": str(certificate), "verdict": _verdict(certificate)}
        _page(certificate, folder / "page.html", given)
    else:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        summary.write_text(_failed(done.returncode, said), "utf-8")
        _append(given.get("GITHUB_STEP_SUMMARY"), summary.read_text("utf-8"))
    if summary.is_file():
        found["comment"] = str(summary)
    return found


def _verdict(certificate: Path) -> str:
    decision = json.loads(certificate.read_text("utf-8")).get("decision", {})
    return str(decision.get("verdict", ""))


def _page(certificate: Path, page: Path, given: Mapping[str, str]) -> None:
    """The page is for people; where it cannot be made the verdict stands."""
    report = [*ASSAY, "report", str(certificate), "-o", str(page)]
    if subprocess.call(report, env=dict(given), stdout=subprocess.DEVNULL):  # noqa: S603 - a list, no shell
        print("::warning::the page of the certificate could not be written")


def _failed(code: int, said: str) -> str:
    why = FAILURES.get(code, f"exit code {code}")
    head = f"### ⚠️ Assay: no verdict\n\nThe gate did not decide: {why}. That says nothing about the model."
    return f"{head}\n\n```\n{said.replace('`', chr(39))}\n```\n"


def _append(file: str | None, text: str) -> None:
    if file:
        with Path(file).open("a", encoding="utf-8") as opened:
            opened.write(text + "\n")


if __name__ == "__main__":
    outputs = run(os.environ)
    _append(os.environ.get("GITHUB_OUTPUT"), "\n".join(f"{name}={value}" for name, value in outputs.items()))
