"""Write records of Every Eval Ever from what lm-evaluation-harness wrote here.

    pip install every_eval_ever==0.3.0          # from Python 3.12 on
    python tools/make_harness_fixtures/every_eval_ever_files.py tests/data/harness

Models get a developer, without whom the program writes nothing; rolling log-likelihoods, which have no score for each
document there, are left out. Files are named by chance.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TASKS = ("tiny_animals", "tiny_sky")
MODELS = ("stories260K-hf", "stories15M-hf")


def main(folder: Path) -> None:
    with TemporaryDirectory() as temporary:
        for model in MODELS:
            _convert(_named(folder / "lm_eval" / model, Path(temporary) / model), Path(temporary) / "data")
        for task in TASKS:
            shutil.copytree(Path(temporary) / "data" / task, folder / "every_eval_ever" / "data" / task)


def _named(logs: Path, copy: Path) -> Path:
    """A copy of some logs whose model has a developer."""
    shutil.copytree(logs, copy)
    path = next(copy.glob("results_*"))
    results = json.loads(path.read_text(encoding="utf-8"))
    results["model_name"] = f"example/{logs.name}"
    results["config"]["model_args"] = {"pretrained": f"example/{logs.name}"}
    path.write_text(json.dumps(results), encoding="utf-8")
    return copy


def _convert(logs: Path, output: Path) -> None:
    asked = {"log_path": logs, "output_dir": output, "source_organization_name": "Example"}
    options = [text for name, value in asked.items() for text in (f"--{name}", str(value))]
    program = [sys.executable, "-m", "every_eval_ever", "convert", "lm_eval", *options]
    more = ["--evaluator_relationship", "first_party", "--include_samples"]
    subprocess.run([*program, *more], check=True)  # noqa: S603


if __name__ == "__main__":
    main(Path(sys.argv[1]))
