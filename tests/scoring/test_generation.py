"""What models write, against loops without cache, batch and padding; and what kills and failing servers leave."""

import csv
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import assay
from assay.errors import InputError, UsageError
from assay.scoring import generation_files
from assay.scoring.decoding import Continuation, Decoding, cut_at, draws_of, encoded_prompts, prompt_batches, seed_of
from assay.scoring.generation import generate
from assay.scoring.generation_files import record_of, unfinished
from assay.scoring.models_and_texts import EndpointSpec, ModelSpec

pytest.importorskip("torch", reason="the extra hf is not installed")

import torch
import transformers

from assay.scoring.hf import ModelScorer
from assay.scoring.hf_writer import ModelWriter, _Drawn

TEXTS = [
    "The quick",
    "日本語の文も",
    "Ünï",
    "The lazy dog. The",
    "a",
    "some of this, and more of that",
    "日",
    "fox " * 9,
]
PROMPTS = {"prompt": TEXTS, "item": [f"q{i}" for i in range(8)], "reference": [f"{text}!" for text in TEXTS]}


def writer(folder: Path) -> ModelWriter:
    return ModelWriter(ModelScorer(ModelSpec(str(folder), dtype="float32", device="cpu")))


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@cache
def loaded(folder: Path) -> tuple[Any, Any]:
    auto: Any = transformers.AutoModelForCausalLM
    return auto.from_pretrained(folder).eval(), transformers.AutoTokenizer.from_pretrained(folder)


def looped(
    folder: Path, prompt: str, tokens: int, ends: frozenset[int], draws: Sequence[float] = (), temperature: float = 0.0
) -> tuple[str, str]:
    """One token at a time, each from a whole forward pass of one row: no cache, no batch, no padding."""
    model, tokenizer = loaded(folder)
    ids = list(tokenizer(prompt)["input_ids"])
    start = len(ids)
    for step in range(tokens):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].double().numpy()
        token = int(logits.argmax())
        if temperature:
            weights = np.exp((logits - logits.max()) / temperature)
            total, left = 0.0, draws[step] * weights.sum()
            for token, weight in enumerate(weights):  # noqa: B007 - the token that the number falls on
                total += weight
                if total > left:
                    break
        if token in ends:
            return tokenizer.decode(ids[start:], skip_special_tokens=True), "stop"
        ids.append(token)
    return tokenizer.decode(ids[start:], skip_special_tokens=True), "length"


@pytest.mark.parametrize(("kind", "bos"), [("llama", True), ("llama", False), ("gemma2", True)])
def test_greedy_text_against_a_loop_in_batches_of_any_size(
    tiny_model: Callable[..., Path], tmp_path: Path, kind: str, bos: bool
) -> None:
    folder = tiny_model(kind, bos=bos)
    made = writer(folder)
    assert made.padded
    wanted = [looped(folder, text, 12, made.ends) for text in TEXTS]
    for size in (1, 3, 16):
        output = tmp_path / f"{size}.jsonl"
        generate(str(folder), PROMPTS, output, decoding=Decoding(max_tokens=12, batch_size=size))
        found = rows_of(output)
        assert [(row["prediction"], row["finish"]) for row in found] == wanted
        assert [row["item"] for row in found] == PROMPTS["item"]
        assert [row["reference"] for row in found] == PROMPTS["reference"]


def test_drawn_text_against_a_loop_in_batches_of_any_size(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    folder = tiny_model()
    ends = writer(folder).ends
    wanted = [looped(folder, text, 10, ends, draws_of(7, f"q{i}", 10).tolist(), 0.8)[0] for i, text in enumerate(TEXTS)]
    for size in (1, 3, 16):
        output = tmp_path / f"{size}.jsonl"
        decoding = Decoding(temperature=0.8, seed=7, max_tokens=10, batch_size=size)
        generate(str(folder), PROMPTS, output, decoding=decoding)
        assert [row["prediction"] for row in rows_of(output)] == wanted
    backwards = {name: cells[::-1] for name, cells in PROMPTS.items()}
    generate(str(folder), backwards, tmp_path / "back.jsonl", decoding=decoding)
    assert [row["prediction"] for row in rows_of(tmp_path / "back.jsonl")] == wanted[::-1]
    generate(str(folder), PROMPTS, tmp_path / "8.jsonl", decoding=Decoding(temperature=0.8, seed=8, max_tokens=10))
    assert [row["prediction"] for row in rows_of(tmp_path / "8.jsonl")] != wanted


def test_tokens_are_drawn_with_their_probabilities_against_scipy() -> None:
    logits = torch.tensor([[0.0, 1.0, -torch.inf, 2.0, 0.5, -1.0]]).repeat(4000, 1)
    draws = np.array([draws_of(0, f"item {i}", 1) for i in range(4000)])
    found = _Drawn(draws, 3, 0.7)(torch.zeros((4000, 3), dtype=torch.long), logits).argmax(dim=1)
    counts = np.bincount(found.numpy(), minlength=6)
    weights = np.exp(logits[0].double().numpy() / 0.7)
    assert counts[2] == 0
    kept = weights > 0
    assert stats.chisquare(counts[kept], 4000 * weights[kept] / weights.sum()).pvalue > 1e-3
    assert stats.kstest(draws[:, 0], "uniform").pvalue > 1e-3


def test_where_padding_shows_only_prompts_of_one_length_share_a_batch(
    tiny_model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_model()
    generate(str(folder), PROMPTS, tmp_path / "padded.jsonl", decoding=Decoding(max_tokens=8))
    monkeypatch.setattr(ModelWriter, "_ignores_padding", lambda _: False)
    lengths = [3, 5, 3, 9, 5, 3]
    assert prompt_batches(lengths, 2, padded=writer(folder).padded) == [[3], [1, 4], [0, 2], [5]]
    generate(str(folder), PROMPTS, tmp_path / "equal.jsonl", decoding=Decoding(max_tokens=8))
    assert (tmp_path / "equal.jsonl").read_bytes() == (tmp_path / "padded.jsonl").read_bytes()


def test_a_model_that_sees_padding_is_noticed(tiny_model: Callable[..., Path]) -> None:
    made = writer(tiny_model())
    forward = made.model.forward

    def without_mask(*args: Any, attention_mask: Any = None, position_ids: Any = None, **options: Any) -> Any:
        return forward(*args, **options)

    made.model.forward = without_mask
    assert not made._ignores_padding()


def test_a_text_ends_with_the_end_token_and_before_a_stop(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    folder = tiny_model()
    made = writer(folder)
    rows = encoded_prompts(made.tokenizer, ["a", "b"], ["The quick", "日"], Decoding(max_tokens=12), 128)
    (whole,) = made.continued(rows[:1], Decoding(max_tokens=12), None)
    assert len(whole) == 12
    made.ends = frozenset({whole[7]})
    cut = whole[: whole.index(whole[7])]
    both = made.continued(rows, Decoding(max_tokens=12), None)
    assert both[0] == cut
    assert made._answer([5], cut, Decoding(max_tokens=12)).finish == "stop"
    assert made._answer([5], whole, Decoding(max_tokens=12)).finish == "length"
    text = looped(folder, "The quick", 12, frozenset())[0]
    stop = text[5:7]
    generate(str(folder), PROMPTS, tmp_path / "a.jsonl", decoding=Decoding(max_tokens=12, stop=(stop, "\0never")))
    for row, prompt in zip(rows_of(tmp_path / "a.jsonl"), TEXTS, strict=True):
        full, finish = looped(folder, prompt, 12, writer(folder).ends)
        wanted = full.partition(stop)[0]
        assert (row["prediction"], row["finish"]) == (wanted, finish if wanted == full else "stop")
    assert rows_of(tmp_path / "a.jsonl")[0]["tokens"] < 12  # it did not write on to the end


def test_a_space_between_prompt_and_answer_is_kept() -> None:
    """As SentencePiece has it: decoded alone, a text loses the space before its first word."""
    from tokenizers import Tokenizer, decoders, models

    fast: Any = transformers.PreTrainedTokenizerFast
    words = Tokenizer(models.WordLevel({"▁Once": 0, "▁upon": 1, "?": 2}, unk_token="?"))  # noqa: S106
    words.decoder = decoders.Metaspace()
    made = ModelWriter.__new__(ModelWriter)
    made.tokenizer = fast(tokenizer_object=words)
    assert made.tokenizer.decode([1]) == "upon"
    assert made._answer([0], [1], Decoding(max_tokens=1)) == Continuation(" upon", "length", 1)


# -------------------------------------------------------------------------------------------------------- interruptions


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_killed_after_any_batch_and_resumed_it_is_the_file_of_a_run_in_peace(
    tiny_model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temperature: float
) -> None:
    folder, decoding = str(tiny_model()), Decoding(temperature=temperature, max_tokens=6, batch_size=2)
    peace = tmp_path / "peace.jsonl"
    generate(folder, PROMPTS, peace, decoding=decoding)
    monkeypatch.setattr(generation_files, "SECONDS_BETWEEN_RECORDS", 0.0)
    written, made = ModelWriter.continued, 0

    def counting(self: ModelWriter, rows: Any, *options: Any) -> Any:
        nonlocal made
        if made == most:
            raise KeyboardInterrupt
        made += 1
        return written(self, rows, *options)

    monkeypatch.setattr(ModelWriter, "continued", counting)
    for most in range(4):
        made, output = 0, tmp_path / f"{most}.jsonl"
        with pytest.raises(KeyboardInterrupt):
            generate(folder, PROMPTS, output, decoding=decoding)
        assert not output.exists()
        assert not record_of(output).exists()
        assert unfinished(output).exists() == (most > 0)
        made, kept = 0, most
        most = 4 - kept  # noqa: PLW2901 - so many are left, and no more are made
        generate(folder, PROMPTS, output, decoding=decoding)
        assert made == 4 - kept
        assert output.read_bytes() == peace.read_bytes()
        assert record_of(output).read_bytes() == record_of(peace).read_bytes()
        assert not unfinished(output).exists()


def test_the_record_says_how_the_table_was_made_against_digests_by_hand(
    tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    folder, output = tiny_model(), tmp_path / "new" / "said.jsonl"
    found = assay.generate(str(folder), PROMPTS, output, decoding=assay.Decoding(max_tokens=3))
    record = json.loads((tmp_path / "new" / "said.manifest.json").read_text(encoding="utf-8"))
    assert record["sha256"] == "sha256:" + hashlib.sha256(output.read_bytes()).hexdigest()
    hashed = hashlib.sha256()
    for file in sorted([*folder.glob("*.safetensors"), folder / "config.json"]):
        hashed.update(file.name.encode() + b"\0" + file.read_bytes())
    (model,) = record["models"]
    assert (model["name"], model["source"]) == (folder.name, folder.name)
    assert model["digests"]["model"] == "sha256:" + hashed.hexdigest()
    assert record["job"]["decoding"] == {
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 3,
        "stop": [],
        "batch_size": 16,
    }
    assert (record["rows"], record["schema"]) == (8, "assay/generations/1")
    assert str(folder.parent) not in json.dumps(record)
    assert str(found) == f"{folder.name}: 8 generations, 8 of them cut off at 3 tokens → {output}"
    assert assay.generate(str(folder), PROMPTS, output, decoding=assay.Decoding(max_tokens=3)) == found  # it is there


def test_another_generation_in_its_place_is_refused_or_overwritten(
    tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    folder, output, short = str(tiny_model()), tmp_path / "said.jsonl", Decoding(max_tokens=2)
    generate(folder, PROMPTS, output, decoding=short)
    before = output.read_bytes()
    others: list[tuple[str, Callable[[], object]]] = [
        ("max_tokens differ", lambda: generate(folder, PROMPTS, output, decoding=Decoding(max_tokens=3))),
        (
            "seed, temperature",
            lambda: generate(folder, PROMPTS, output, decoding=Decoding(max_tokens=2, seed=1, temperature=1.0)),
        ),
        ("prompts differ", lambda: generate(folder, {"prompt": ["a"]}, output, decoding=short)),
        ("models differ", lambda: generate(str(tiny_model(seed=1)), PROMPTS, output, decoding=short)),
    ]
    for said, other in others:
        with pytest.raises(InputError, match=said):
            other()
    assert output.read_bytes() == before
    generate(folder, PROMPTS, output, decoding=Decoding(max_tokens=3), overwrite=True)
    assert output.read_bytes() != before
    output.write_text("changed")
    with pytest.raises(InputError, match="was changed after"):
        generate(folder, PROMPTS, output, decoding=Decoding(max_tokens=3))
    record_of(output).unlink()
    for overwrite in (False, True):
        with pytest.raises(InputError, match="nothing says that it was generated"):
            generate(folder, PROMPTS, output, overwrite=overwrite)
    assert output.read_text() == "changed"


def test_what_another_generation_left_unfinished_is_refused_or_overwritten(
    tiny_model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, output = str(tiny_model()), tmp_path / "said.jsonl"
    written = ModelWriter.continued
    rows_left = iter([1, 0])

    def once(self: ModelWriter, rows: Any, *options: Any) -> Any:
        if not next(rows_left):
            raise KeyboardInterrupt
        return written(self, rows, *options)

    monkeypatch.setattr(ModelWriter, "continued", once)
    with pytest.raises(KeyboardInterrupt):
        generate(folder, PROMPTS, output, decoding=Decoding(max_tokens=2, batch_size=4))
    monkeypatch.setattr(ModelWriter, "continued", written)
    with pytest.raises(InputError, match=r"an unfinished generation with other settings \(max_tokens differ"):
        generate(folder, PROMPTS, output, decoding=Decoding(max_tokens=3, batch_size=4))
    other = {Path(folder).name: str(tiny_model(seed=1))}
    with pytest.raises(InputError, match=r"\(source of \S+, digests of \S+ differ\)"):
        generate(other, PROMPTS, output, decoding=Decoding(max_tokens=2, batch_size=4))
    whole = unfinished(output).read_bytes()
    for damaged in (b"", whole[:-9], whole.replace(b"assay/generations/1", b"assay/generations/9"), b"\xff\n"):
        unfinished(output).write_bytes(damaged)
        with pytest.raises(InputError, match="unfinished"):
            generate(folder, PROMPTS, output, decoding=Decoding(max_tokens=2, batch_size=4))
    unfinished(output).write_bytes(whole.replace(b'"row": 7', b'"row": 70'))
    with pytest.raises(InputError, match="prompt 70, which is not one"):
        generate(folder, PROMPTS, output, decoding=Decoding(max_tokens=2, batch_size=4))
    unfinished(output).write_bytes(whole)
    generate(folder, PROMPTS, output, decoding=Decoding(max_tokens=3, batch_size=4), overwrite=True)
    assert {row["tokens"] for row in rows_of(output)} <= {0, 1, 2, 3}
    assert not unfinished(output).exists()


def test_two_models_are_two_systems_of_one_table(tiny_model: Callable[..., Path], tmp_path: Path) -> None:
    pair = {"one": str(tiny_model()), "two": str(tiny_model(seed=1))}
    found = generate(pair, PROMPTS, tmp_path / "said.jsonl", decoding=Decoding(max_tokens=4))
    alone = generate(pair["two"], PROMPTS, tmp_path / "alone.jsonl", decoding=Decoding(max_tokens=4))
    rows = rows_of(found.file)
    assert [row["model"] for row in rows] == ["one"] * 8 + ["two"] * 8
    assert [row["prediction"] for row in rows[8:]] == [row["prediction"] for row in rows_of(alone.file)]
    result = assay.japanese(found, bleu=["char"])
    assert ([system.name for system in result.systems], result.n_units) == (["one", "two"], 8)


def test_what_cannot_be_answered_is_refused_before_anything_is_written(
    tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    folder, output = str(tiny_model()), tmp_path / "new" / "said.jsonl"
    with pytest.raises(InputError, match=r"item '1': its prompt of \d+ tokens and 120 new ones are more than.* 128"):
        generate(folder, {"prompt": [TEXTS[5]]}, output, decoding=Decoding(max_tokens=120))
    with pytest.raises(UsageError, match=r"ends in \.jsonl"):
        generate(folder, PROMPTS, tmp_path / "said.csv")
    with pytest.raises(UsageError, match="needs a model"):
        generate([], PROMPTS, output)
    with pytest.raises(InputError, match="no column 'reference'"):
        generate(folder, {"prompt": ["a"]}, output, references=True)
    with pytest.raises(InputError, match="cannot be loaded"):
        generate(str(tmp_path), PROMPTS, output)
    (tmp_path / "p.jsonl").write_text('{"prompt": "a"}\n')
    with pytest.raises(UsageError, match="is read"):
        generate(folder, tmp_path / "p.jsonl", tmp_path / "p.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.jsonl"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temperature": -1.0}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"batch_size": 0}, "batch_size"),
        ({"stop": ("",)}, "stop"),
    ],
)
def test_settings_that_make_no_sense(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=f"{said} must be"):
        Decoding(**options)


def test_the_first_of_several_stops_counts_by_hand() -> None:
    assert [cut_at(text, ["b", "ca"]) for text in ("abca", "aca", "b", "xyz", "")] == ["a", "a", "", "xyz", ""]


# -------------------------------------------------------------------------------------------------------------- servers


class Served:
    """A completions server in a thread; its answers are functions of the request."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.alive = 1 << 30  # requests until it refuses all
        self.answer: Callable[[dict[str, Any]], Any] = lambda body: {
            "model": body["model"],
            "choices": [{"text": f"<{body['prompt']}>", "finish_reason": "length"}],
            "usage": {"completion_tokens": 2},
        }
        served = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self._send(200, {"data": [{"id": "good"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                served.bodies.append(body)
                if body["model"] != "good":
                    self._send(404, {"error": {"message": "The model does not exist"}})
                elif len(served.bodies) > served.alive:
                    self._send(400, {"error": {"message": "going down"}})
                elif len(body["prompt"]) > 1000:
                    self._send(400, {"error": {"message": "maximum context length is 1000"}})
                else:
                    self._send(200, served.answer(body))

            def _send(self, status: int, answer: object) -> None:
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.spec = EndpointSpec(f"http://127.0.0.1:{self.server.server_port}/v1", "good", concurrency=2)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = Served()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_a_server_is_asked_as_the_settings_say(served: Served, tmp_path: Path) -> None:
    generate(served.spec, PROMPTS, tmp_path / "a.jsonl", decoding=Decoding(max_tokens=5))
    assert sorted(body["prompt"] for body in served.bodies) == sorted(TEXTS)
    assert all(body["temperature"] == 0 and body["max_tokens"] == 5 and "seed" not in body for body in served.bodies)
    rows = rows_of(tmp_path / "a.jsonl")
    assert [row["prediction"] for row in rows] == [f"<{text}>" for text in TEXTS]
    assert {(row["model"], row["finish"], row["tokens"]) for row in rows} == {("good", "length", 2)}
    served.bodies.clear()
    decoding = Decoding(temperature=0.7, seed=3, stop=("k>",))
    generate(served.spec, PROMPTS, tmp_path / "b.jsonl", decoding=decoding)
    seeds = {body["prompt"]: body["seed"] for body in served.bodies}
    assert seeds == {text: seed_of(3, f"q{i}") >> 33 for i, text in enumerate(TEXTS)}
    assert len(set(seeds.values())) == 8
    assert max(seeds.values()) < 2**31
    assert all(body["stop"] == ["k>"] and body["temperature"] == 0.7 for body in served.bodies)
    assert rows_of(tmp_path / "b.jsonl")[0]["prediction"] == "<The quic"
    assert rows_of(tmp_path / "b.jsonl")[0]["finish"] == "stop"
    record = json.loads(record_of(tmp_path / "b.jsonl").read_text())
    assert (record["models"][0]["source"], record["models"][0]["served_as"]) == (f"endpoint:{served.spec.url}", "good")


def test_a_server_that_dies_midway_leaves_what_it_answered(served: Served, tmp_path: Path) -> None:
    served.alive = 5
    spec = EndpointSpec(served.spec.url, "good", concurrency=1)
    with pytest.raises(InputError, match="going down"):
        generate(spec, PROMPTS, tmp_path / "a.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == [".a.jsonl.unfinished"]
    served.bodies.clear()
    generate(spec, PROMPTS, tmp_path / "a.jsonl")
    assert [body["prompt"] for body in served.bodies] == TEXTS[5:]
    assert [row["prediction"] for row in rows_of(tmp_path / "a.jsonl")] == [f"<{text}>" for text in TEXTS]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"choices": []}, "item 'q0': the answer does not have one choice"),
        ({"choices": [{"text": None}]}, "the choice has no text"),
        ({"choices": [{"message": {"content": "a"}}]}, "is it a completions server"),
    ],
)
def test_answers_without_text_are_refused(served: Served, tmp_path: Path, answer: Any, said: str) -> None:
    served.answer = lambda _: answer
    with pytest.raises(InputError, match=said):
        generate(EndpointSpec(served.spec.url, "good", concurrency=1), PROMPTS, tmp_path / "a.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_refusals_of_a_server_are_explained(served: Served, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no model 'bad', only good"):
        generate(EndpointSpec(served.spec.url, "bad"), PROMPTS, tmp_path / "a.jsonl")
    with pytest.raises(InputError, match=r"the prompt of item '1' and 256 new tokens are too long .*`max_tokens`"):
        generate(served.spec, {"prompt": ["a" * 1001]}, tmp_path / "a.jsonl")
    with pytest.raises(UsageError, match="concurrency"):
        generate(EndpointSpec(served.spec.url, "good", concurrency=0), PROMPTS, tmp_path / "a.jsonl")
    with pytest.raises(UsageError, match="`tokenizer`"):
        assay.score(served.spec, assay.Document("a", "text"), tmp_path / "run")


def test_half_a_character_from_a_server_is_replaced(served: Served, tmp_path: Path) -> None:
    served.answer = lambda _: {"choices": [{"text": "a\ud83d"}]}
    generate(served.spec, {"prompt": ["a"]}, tmp_path / "a.jsonl")
    assert rows_of(tmp_path / "a.jsonl")[0] == {
        "item": "1",
        "model": "good",
        "prompt": "a",
        "prediction": "a\ufffd",
        "finish": "stop",
        "tokens": None,
    }


def test_the_shipped_prompts_against_the_shipped_generations(tmp_path: Path) -> None:
    """They were made by transformers' own generate, prompt by prompt, and cut after two sentences."""
    from assay import examples, models

    with examples.path("generations.csv").open(encoding="utf-8", newline="") as file:
        wanted = {row["item"]: row for row in csv.DictReader(file) if row["model"] == "base"}
    asked = rows_of(examples.path("prompts.jsonl"))
    assert [(row["item"], row["reference"]) for row in asked] == [(i, row["reference"]) for i, row in wanted.items()]
    prompts = {name: [row[name] for row in asked[:6]] for name in asked[0]}
    generate(models.path("base"), prompts, tmp_path / "said.jsonl", decoding=Decoding(max_tokens=64))
    for row in rows_of(tmp_path / "said.jsonl"):
        two = "。".join(row["prediction"].split("。")[:2]) + "。"
        assert (two if row["prediction"].count("。") >= 2 else row["prediction"]) == wanted[row["item"]]["prediction"]
