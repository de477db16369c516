"""Let SWE-bench report on runs whose instances are made up, and keep its reports.

    python -m venv ENV; ENV/bin/pip install swebench==5.0.2
    ENV/bin/python tools/make_harness_fixtures/swe_bench_files.py tests/data/harness/swe_bench

The reports of single instances are written here, in the shape of those that the harness writes after it has run tests.
"""

# It runs in an environment of its own, where the harness is installed.
# mypy: ignore-errors

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

RUN = "r1"
INSTANCES = (
    *(f"django__django-{10880 + 7 * number}" for number in range(8)),
    *(f"sympy__sympy-{20100 + 11 * number}" for number in range(5)),
    *(f"astropy__astropy-{14300 + 3 * number}" for number in range(3)),
)
#: p resolved, f not resolved, e an empty patch, x no report, m out of memory.
GRADES = {"base": "pffpepfxppfmfpff", "tuned": "pfppfpfppppfffpe"}
#: What a third system resolved, in a bare list; two of them are not among the instances above.
OTHER = "fpppfpfpppffpfpf"
NOT_TRIED = ("django__django-99999", "pallets__flask-5014")


def main(target: Path) -> None:
    from swebench.harness.reporting import make_run_report

    target = target.resolve()
    target.mkdir(parents=True, exist_ok=True)
    os.chdir(tempfile.mkdtemp())
    data = [{"instance_id": one} for one in (*INSTANCES, *NOT_TRIED)]
    for model, grades in GRADES.items():
        predictions = {}
        for instance, grade in zip(INSTANCES, grades, strict=True):
            patch = "" if grade == "e" else "diff --git a/x.py b/x.py\n"
            predictions[instance] = {"instance_id": instance, "model_name_or_path": model, "model_patch": patch}
            _instance(Path("logs/run_evaluation") / RUN / model / instance, instance, grade)
        report = make_run_report(predictions, data, RUN)
        shutil.copyfile(report, target / report.name)
        lines = "".join(json.dumps(one) + "\n" for one in predictions.values())
        (target / "predictions.jsonl").write_text(lines, encoding="utf-8")
    shutil.copytree("logs/run_evaluation/r1/tuned", target / "logs/run_evaluation/r1/tuned", dirs_exist_ok=True)
    lists = target / "lists"
    lists.mkdir(exist_ok=True)
    resolved = [one for one, grade in zip(INSTANCES, OTHER, strict=True) if grade == "p"]
    found = {"system": "other", "date": "2026-01", "resolvedIds": [*resolved, *NOT_TRIED]}
    (lists / "other-resolved.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    (lists / "tried.txt").write_text("".join(f"{one}\n" for one in INSTANCES), encoding="utf-8")


def _instance(folder: Path, instance: str, grade: str) -> None:
    if grade == "e":
        return  # the harness passes over empty patches
    folder.mkdir(parents=True)
    if grade == "m":
        (folder / "test_output.txt").write_text("Cannot allocate memory\n")
    if grade == "x":
        return
    tests = {"success": ["test_one"], "failure": []}
    status = {"FAIL_TO_PASS": tests, "PASS_TO_PASS": {"success": [], "failure": []}}
    found = {
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": True,
        "resolved": grade == "p",
        "tests_status": status,
    }
    (folder / "report.json").write_text(json.dumps({instance: found}, indent=4))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
