"""Ask the completions server of the tests, which serves a real model, and keep its responses.

python tools/make_harness_fixtures/responses_files.py tests/data/harness/responses MODEL OTHER_MODEL
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.make_harness_fixtures.items import STORIES, write_jsonl

ROOT = Path(__file__).resolve().parents[2]
KEY = "Bearer the-secret-key-of-this-test"


def main(target: Path, *models: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.scoring.loopback_server"]
    server = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own server
    try:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps([str(model.resolve()) for model in models]) + "\n")
        server.stdin.flush()
        port = int(server.stdout.readline())
        for model in models:
            write_jsonl(target / f"{model.name}-echo.jsonl", _echoes(port, model))
        write_jsonl(target / f"{models[0].name}-batch.jsonl", _batch(port, models[0]))
    finally:
        server.kill()
        server.wait()


def _echoes(port: int, model: Path) -> list[dict[str, object]]:
    """The responses as they come, of a server that speaks OpenAI's dialect."""
    return [_ask(port, "echo", model, prompt, echo=True, logprobs=1) for prompt in STORIES[:2]]


def _batch(port: int, model: Path) -> list[dict[str, object]]:
    """The lines that OpenAI's batches and `vllm run-batch` write, with vLLM's prompt_logprobs; one request failed."""
    lines: list[dict[str, object]] = []
    for i, prompt in enumerate(STORIES[:2]):
        body = _ask(port, "plain", model, prompt, prompt_logprobs=1)
        response = {"status_code": 200, "request_id": f"r{i}", "body": body}
        lines.append({"id": f"b{i}", "custom_id": f"story-{i}", "response": response, "error": None})
    lines.append({"id": "b9", "custom_id": "story-9", "response": None, "error": {"message": "timed out"}})
    return lines


def _ask(port: int, habit: str, model: Path, prompt: str, **asked: Any) -> dict[str, object]:
    body = {"model": model.name, "prompt": prompt, "max_tokens": 1, "temperature": 1.0, **asked}
    url = f"http://127.0.0.1:{port}/{habit}/v1/completions"
    request = Request(url, json.dumps(body).encode(), {"Authorization": KEY, "Content-Type": "application/json"})
    with urlopen(request) as answer:  # noqa: S310 - likewise
        found: dict[str, object] = json.load(answer)
    return found


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
