"""A completions server on 127.0.0.1 that serves real, small models, and misbehaves where its URL says so.

Reads folders of models, a JSON list, from its standard input; prints its port. http://127.0.0.1:PORT/HABIT/v1 is the
API, where HABIT is `plain` or a name below, with a tag after a dot for its own count of requests: `busy.1`.
http://127.0.0.1:PORT/HABIT/seen tells what came there.
"""

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

KEY = "Bearer the-secret-key-of-this-test"
LONG = 20  # tokens: what is spoiled only in windows leaves the probe alone

Json = dict[str, Any]


class Model:
    """A causal language model: log-probabilities of a prompt and of one more token."""

    def __init__(self, folder: str) -> None:
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        model: Any = AutoModelForCausalLM.from_pretrained(folder)
        self.model = model.eval()
        self.length: int = self.model.config.max_position_embeddings
        self._lock = threading.Lock()

    @torch.inference_mode()
    def distributions(self, ids: list[int]) -> torch.Tensor:
        """Row i is the distribution after token i."""
        with self._lock:
            logits = self.model(input_ids=torch.tensor([ids])).logits[0]
        return torch.log_softmax(logits.double(), dim=-1)


def prompt_logprobs(model: Model, ids: list[int], _body: Json) -> Json:
    """vLLM's dialect: the token, and the likeliest one where it is another."""
    found = model.distributions(ids)
    entries: list[Json | None] = [None]
    for place in range(1, len(ids)):
        before = found[place - 1]
        shown = {ids[place], int(before.argmax())}
        entries.append({str(i): _entry(model, before, i) for i in sorted(shown)})
    written = int(found[-1].argmax())
    return {"text": model.tokenizer.decode([written]), "prompt_logprobs": entries, "logprobs": None}


def _entry(model: Model, before: torch.Tensor, token: int) -> Json:
    rank = int((before > before[token]).sum()) + 1
    return {"logprob": float(before[token]), "rank": rank, "decoded_token": model.tokenizer.decode([token])}


def echo(model: Model, ids: list[int], _body: Json, *, hidden: int = 0, shift: int = 0) -> Json:
    """OpenAI's dialect. `hidden` tokens at the start are not shown; `shift` 1 is llama-cpp-python's off by one."""
    found = model.distributions(ids)
    whole = [*ids, int(found[-1].argmax())]
    places = range(hidden, len(whole) - shift)
    values = [float(found[place - 1 + shift][whole[place]]) for place in places]
    tops = [found[place - 1 + shift].max(dim=0) for place in places]
    texts = [model.tokenizer.decode([whole[place]]) for place in places]
    likeliest = [{model.tokenizer.decode([int(top.indices)]): float(top.values)} for top in tops]
    logprobs = {
        "tokens": texts,
        "token_logprobs": [None, *values[1:]],
        "top_logprobs": [None, *likeliest[1:]],
        "text_offset": [0] * len(texts),
    }
    return {"text": "".join(texts), "logprobs": logprobs}


def written_only(model: Model, ids: list[int], _body: Json) -> Json:
    """The server of llama.cpp: log-probabilities of what it writes, whatever is asked."""
    last = model.distributions(ids)[-1]
    value, token = last.max(dim=0)
    text = model.tokenizer.decode([int(token)])
    return {"text": text, "logprobs": {"tokens": [text], "token_logprobs": [float(value)], "top_logprobs": [{}]}}


def both(model: Model, ids: list[int], body: Json) -> Json:
    if body.get("prompt_logprobs") is not None:
        return prompt_logprobs(model, ids, body)
    return echo(model, ids, body) if body.get("echo") else written_only(model, ids, body)


def only_echo(model: Model, ids: list[int], body: Json, **how: int) -> Json:
    return echo(model, ids, body, **how) if body.get("echo") else written_only(model, ids, body)


CHOICES: dict[str, Callable[[Model, list[int], Json], Json]] = {
    "echo": only_echo,
    "text": only_echo,
    "text-both": both,
    "text-resplit": only_echo,
    "text-hidden": lambda model, ids, body: only_echo(model, ids, body, hidden=1),
    "text-shifted": lambda model, ids, body: only_echo(model, ids, body, shift=1),
    "none": written_only,
}


def _spoil_window(answer: Json, value: Any) -> None:
    entries = answer["choices"][0]["prompt_logprobs"]
    if len(entries) > LONG:
        entries[7] = (
            value if value is None else {token: entry | {"logprob": value} for token, entry in entries[7].items()}
        )


def _resplit(answer: Json) -> None:
    tokens = answer["choices"][0]["logprobs"]["tokens"] if answer["choices"][0]["logprobs"] else []
    if len(tokens) > LONG:
        tokens[7] = "?!"


def _drop_entry(answer: Json) -> None:
    if len(answer["choices"][0]["prompt_logprobs"]) > LONG:
        answer["choices"][0]["prompt_logprobs"].pop()


def _other_ids(answer: Json) -> None:
    entries = answer["choices"][0]["prompt_logprobs"]
    if len(entries) > LONG:
        entries[3] = {"299": {"logprob": -1.0, "rank": 1, "decoded_token": "?"}}


def _miscount(answer: Json) -> None:
    if len(answer["choices"][0]["prompt_logprobs"]) > LONG:
        answer["usage"]["prompt_tokens"] += 2


SPOILED: dict[str, Callable[[Json], None]] = {
    "impossible": lambda answer: _spoil_window(answer, -9999.0),
    "infinite": lambda answer: _spoil_window(answer, float("-inf")),
    "nan": lambda answer: _spoil_window(answer, float("nan")),
    "null": lambda answer: _spoil_window(answer, None),
    "positive": lambda answer: _spoil_window(answer, 3.5),
    "words": lambda answer: _spoil_window(answer, "-1.5"),
    "short": _drop_entry,
    "text-resplit": _resplit,
    "other-ids": _other_ids,
    "miscounts": _miscount,
    "no-choices": lambda answer: answer.update(choices=[]),
}

Failure = tuple[int, Json, dict[str, str]]
ALWAYS = range(1 << 30)

#: Habits that fail some requests, by their number: which ones, and how.
FAILING: dict[str, tuple[range, Failure]] = {
    "busy": (range(2), (429, {"error": {"message": "slow down"}}, {"Retry-After": "0"})),
    "wait": (range(1), (429, {"message": "slow down"}, {"Retry-After": "1"})),
    "later": (ALWAYS, (503, {"message": "closed"}, {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"})),
    "stumbles": (range(3), (502, {}, {})),
    "broken": (ALWAYS, (500, {"error": {"message": "out of\nmemory"}}, {})),
    "gives-out": (ALWAYS[25:], (503, {"message": "gone"}, {})),
    "moved": (ALWAYS, (307, {}, {"Location": "http://127.0.0.1:1/v1/completions"})),
    "missing": (ALWAYS, (404, {"detail": "Not Found"}, {})),
}


class Habit:
    """What came to one URL."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.requests = self.now = self.most_at_once = 0
        self.keys: Counter[str] = Counter()
        self.bodies: list[Json] = []
        self.lock = threading.Lock()

    def enter(self, key: str, body: Json) -> int:
        with self.lock:
            self.requests, self.now = self.requests + 1, self.now + 1
            self.most_at_once = max(self.most_at_once, self.now)
            self.keys[key] += 1
            self.bodies.append(body)
            return self.requests - 1

    def leave(self) -> None:
        with self.lock:
            self.now -= 1


ALLOWED, WINDOW = 6, 0.5  # requests in so many seconds, of a server with a limit


class Limit:
    """Requests in fixed windows of time, as hosted servers count them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.window, self.used, self.refused = 0.0, 0, 0

    def spent(self) -> tuple[bool, dict[str, str]]:
        """Whether this request is one too many, and the headers that say so."""
        with self.lock:
            now = time.monotonic()
            if now >= self.window + WINDOW:
                self.window, self.used = now, 0
            self.used += 1
            over = self.used > ALLOWED
            self.refused += over
            left = {"x-ratelimit-remaining-requests": str(max(0, ALLOWED - self.used))}
            return over, left | {"x-ratelimit-reset-requests": f"{1000 * (self.window + WINDOW - now):.0f}ms"}


class Handler(BaseHTTPRequestHandler):
    limits: dict[str, Limit]
    models: dict[str, Model]
    habits: dict[str, Habit]

    def log_message(self, *_: object) -> None:
        pass

    def _habit(self) -> Habit:
        return self.habits.setdefault(self.path.split("/")[1], Habit(self.path.split("/")[1].split(".")[0]))

    def _limit(self) -> Limit:
        return self.limits.setdefault(self.path.split("/")[1], Limit())

    def do_GET(self) -> None:
        habit = self._habit()
        if self.path.endswith("/seen"):
            seen = {"requests": habit.requests, "most": habit.most_at_once, "keys": habit.keys, "bodies": habit.bodies}
            seen["refused"] = self._limit().refused
            self._send(200, seen)
        elif habit.name == "missing":
            self._send(404, {"detail": "Not Found"})
        else:
            listed = [{"id": name, "max_model_len": model.length} for name, model in self.models.items()]
            self._send(200, {"object": "list", "data": listed})

    def do_POST(self) -> None:
        habit = self._habit()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        number = habit.enter(self.headers.get("Authorization", ""), body)
        numbers, failure = FAILING.get(habit.name, (range(0), None))
        failed = failure if number in numbers else self._refused(habit.name, body)
        over, self.said = self._limit().spent() if habit.name == "limited" else (False, {})
        failed = (429, {"error": {"message": "Rate limit reached"}}, {}) if over else failed
        answer = {} if failed is not None else self._answer(habit.name, number, body)
        habit.leave()  # before the client can know that this request is over
        if failed is None:
            self._deliver(habit.name, number, answer)
        else:
            self._send(*failed)

    def _answer(self, habit: str, number: int, body: Json) -> Json:
        answer = self._completion(habit, body)
        if habit in SPOILED:
            SPOILED[habit](answer)
        if habit == "falls-back" and number > 6:
            answer["model"] = "a cheaper one"
        time.sleep({"slow": 0.6, "breathes": 0.05}.get(habit, 0.0))
        return answer

    def _refused(self, habit: str, body: Json) -> Failure | None:
        if habit == "key" and self.headers.get("Authorization") != KEY:
            said = f"Incorrect API key provided: {self.headers.get('Authorization')}"
            return 401, {"error": {"message": said}}, {}
        if habit == "talkative":
            return 400, {"error": {"message": f"bad request with {self.headers.get('Authorization')}"}}, {}
        if body["model"] not in self.models:
            return 404, {"error": {"message": f"The model `{body['model']}` does not exist.", "code": 404}}, {}
        if habit.startswith("text") and not isinstance(body["prompt"], str):
            status = 500 if habit == "text-hidden" else 422  # llama-cpp-python's wrapper makes it a 500
            return status, {"error": {"message": "prompt: Input should be a valid string"}}, {}
        length = self.models[body["model"]].length
        if len(body["prompt"]) + body["max_tokens"] > length and not isinstance(body["prompt"], str):
            return 400, {"message": f"This model's maximum context length is {length} tokens."}, {}
        return None

    def _completion(self, habit: str, body: Json) -> Json:
        model, prompt = self.models[body["model"]], body["prompt"]
        ids = model.tokenizer(prompt)["input_ids"] if isinstance(prompt, str) else prompt
        choice = CHOICES.get(habit, both)(model, ids, body)
        usage = {"prompt_tokens": len(ids), "completion_tokens": 1}
        return {"object": "text_completion", "model": body["model"], "choices": [choice | {"index": 0}], "usage": usage}

    def _deliver(self, habit: str, number: int, answer: Json) -> None:
        data = json.dumps(answer).encode()
        if habit == "resets" and number == 0:
            self.connection.close()
        elif habit == "cut" or (habit == "cut-once" and number == 0):
            self._write(200, data[: len(data) // 2], {"Content-Length": str(len(data))})
        elif habit == "half" or (habit == "half-once" and number == 0):
            self._write(200, data[: len(data) // 2], {})
        elif habit == "chunks":
            self._chunked(data, cut=number == 0)
        elif habit == "html":
            self._write(200, b"<html></html>", {"Content-Type": "text/html"})
        elif habit == "drips":
            self._drip(data)
        else:
            self._write(200, data, {})

    def _chunked(self, data: bytes, *, cut: bool) -> None:
        self.protocol_version = "HTTP/1.1"
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for low in range(0, len(data), 1000):
            block = data[low : low + 1000]
            self.wfile.write(f"{len(block):x}\r\n".encode() + block + b"\r\n")
            if cut:
                break
        else:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def _drip(self, data: bytes) -> None:
        """A byte now and then: no single wait is long, the whole is."""
        self._write(200, b"", {"Content-Length": str(len(data))})
        for byte in data[:20]:
            time.sleep(0.05)
            self.wfile.write(bytes([byte]))
            self.wfile.flush()

    def _send(self, status: int, answer: Json, headers: dict[str, str] | None = None) -> None:
        self._write(status, json.dumps(answer).encode(), headers or {})

    def _write(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        plain = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        for name, value in (plain | getattr(self, "said", {}) | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what some tests are about."""


def main() -> None:
    torch.set_num_threads(1)
    folders: list[str] = json.loads(sys.stdin.readline())
    Handler.models = {Path(folder).name: Model(folder) for folder in folders}
    Handler.habits, Handler.limits = {}, {}
    server = Quiet(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()  # until the test that started it ends


if __name__ == "__main__":
    main()
