"""Run promptfoo with providers of our own on a few tests, and keep what it writes.

npm install promptfoo@0.121.20
python tools/make_harness_fixtures/promptfoo_files.py tests/data/harness/promptfoo node_modules/.bin/promptfoo
"""

# It runs beside `items.py`, which is no package.
# mypy: ignore-errors

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from items import documents

#: Which of the tests each provider answers rightly; x is a request that fails.
RIGHT = {"small": "1100101x", "large": "11101110"}
#: The test whose assertion throws.
BROKEN = 6
#: What no other machine has.
_TRACE = re.compile(r"\n\s+at .*", re.DOTALL)

_PROVIDER = """
const right = {right};
module.exports = class {{
  id() {{ return "{name}"; }}
  async callApi(prompt, {{ vars }}) {{
    const said = right[vars.question];
    if (said === null) return {{ error: "connection refused" }};
    const words = said.split(" ").length;
    return {{ output: said, tokenUsage: {{ prompt: 4, completion: words, total: 4 + words }}, cost: 0.001 * words }};
  }}
}};
"""


def tests() -> list[dict[str, Any]]:
    found = []
    for i, doc in enumerate(documents()[:8]):
        answer = doc["choices"][doc["answer"]].strip()
        checks: list[dict[str, Any]] = [
            {"type": "contains", "value": answer},
            {"type": "javascript", "value": "output.length < 12", "metric": "brief"},
        ]
        if i == BROKEN:
            checks = [{"type": "javascript", "value": "output.undefined.length"}]
        found.append({"vars": {"question": doc["question"]}, "assert": checks})
    return found


def provider(folder: Path, name: str) -> str:
    answers = {}
    for doc, right in zip(documents(), RIGHT[name], strict=False):
        answer = doc["choices"][doc["answer"]].strip()
        said = answer if name == "large" else f"it is {answer}"
        answers[doc["question"]] = None if right == "x" else said if right == "1" else "nothing"
    (folder / f"{name}.js").write_text(_PROVIDER.format(right=json.dumps(answers), name=name), encoding="utf-8")
    return f"file://{name}.js"


def run(program: Path, folder: Path, config: dict[str, Any], kept: Path, *options: str) -> None:
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    environment = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": "db"}
    command = [str(program.absolute()), "eval", "-c", "config.json", "-o", "output.json", "--no-cache", *options]
    # It fails where a test does.
    subprocess.run(command, cwd=folder, env=os.environ | environment, check=False)  # noqa: S603 - our own command
    found = json.loads((folder / "output.json").read_text("utf-8"))
    kept.write_text(json.dumps(_without_traces(found), separators=(",", ":")) + "\n", encoding="utf-8")


def _without_traces(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _without_traces(value) for name, value in found.items()}
    if isinstance(found, list):
        return [_without_traces(value) for value in found]
    return _TRACE.sub("", found) if isinstance(found, str) else found


def main(target: Path, program: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        both = [provider(folder, model) for model in RIGHT]
        plain, polite = "Finish this: {{question}}", "Please finish this for me: {{question}}"
        config = {"prompts": [plain], "providers": both, "tests": tests()}
        run(program, folder, config, target / "two_providers.json")
        alone = config | {"prompts": [plain, polite], "providers": both[1:], "tests": tests()[:4]}
        run(program, folder, alone, target / "two_prompts.json", "--repeat", "2")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
