"""Against a server process on this machine that serves real, tiny models, and the same models loaded here."""

import json
import logging
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any, Literal
from urllib.request import urlopen

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError, UsageError
from assay.scoring import Encoded, score_encoded
from assay.scoring.completions_api import WAYS, OtherTokensError, ReplyError, Way
from assay.scoring.endpoint import EndpointScorer
from assay.scoring.models_and_texts import Document
from assay.scoring.server import ApiKey, Patience, Server
from assay.scoring.windows import Plan, layout_for
from tests.scoring.running_server import running_server

pytest.importorskip("torch")

SECRET = "the-secret-key-of-this-test"  # noqa: S105 - of this test
QUICK = Patience(connect=5, answer=20, attempts=4, first_pause=0.01)
TEXT = "The quick brown fox jumps over the lazy dog. 日本語の文も少しあります。 Ünïcödé, too! One two three."
_tags = count()


@dataclass(frozen=True)
class Loopback:
    port: int
    with_bos: Path
    without_bos: Path

    def url(self, habit: str) -> str:
        return f"http://127.0.0.1:{self.port}/{habit}/v1"

    def scorer(self, habit: str = "plain", *, bos: bool = True, **options: Any) -> EndpointScorer:
        folder = self.with_bos if bos else self.without_bos
        defaults: dict[str, Any] = {"tokenizer": str(folder), "patience": QUICK}
        return EndpointScorer(self.url(habit), folder.name, **(defaults | options))

    def refusal(self, habit: str, **options: Any) -> str:
        """The message of the error that a scorer gives, at the start or for windows."""
        with pytest.raises(InputError) as caught:
            windows_scored(self.scorer(habit, **options))
        assert caught.value.exit_code == 3
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def seen(self, habit: str) -> dict[str, Any]:
        with urlopen(f"http://127.0.0.1:{self.port}/{habit}/seen", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
        return found


@pytest.fixture(scope="module")
def loopback(request: pytest.FixtureRequest) -> Iterator[Loopback]:
    with running_server() as serve:
        tiny_model: Callable[..., Path] = request.getfixturevalue("tiny_model")  # both import torch at once
        folders = tiny_model(bos=True), tiny_model(bos=False)
        yield Loopback(serve(folders), *folders)


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def tagged(habit: str) -> str:
    """The habit, with a count of its own."""
    return f"{habit}.{next(_tags)}"


def rows_of(scorer: EndpointScorer, n: int = 5) -> list[list[int]]:
    """Windows of different lengths, all from the start of a text, so that they can be sent as text."""
    ids = scorer.tokenizer(f"{TEXT[:44]} One two three.", add_special_tokens=False)["input_ids"]
    own = [] if scorer.bos is None else [scorer.bos]
    return [[*own, *ids[: len(ids) - i]] for i in range(n)]


def windows_scored(scorer: EndpointScorer) -> None:
    scorer.losses(rows_of(scorer))


def local_losses(folder: Path, rows: list[list[int]]) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    from assay.scoring.hf import ModelScorer
    from assay.scoring.models_and_texts import ModelSpec

    return ModelScorer(ModelSpec(str(folder))).losses(rows)


# ------------------------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize("bos", [True, False])
@pytest.mark.parametrize(
    ("habit", "dialect", "prompt"),
    [
        ("plain", "prompt_logprobs", "ids"),
        ("echo", "echo", "ids"),
        ("text", "echo", "text"),
        ("text-both", "prompt_logprobs", "text"),
    ],
)
def test_losses_against_the_local_model(loopback: Loopback, habit: str, dialect: str, prompt: str, bos: bool) -> None:
    scorer = loopback.scorer(habit, bos=bos)
    assert (scorer.about["dialect"], scorer.about["prompt"]) == (dialect, prompt)
    assert scorer.bos == (0 if bos else None)
    assert scorer.about["unseen_tokens"] == 0
    rows = rows_of(scorer)
    found = scorer.losses(rows)
    for served, local in zip(found, local_losses(loopback.with_bos, rows), strict=True):
        np.testing.assert_allclose(served, local, rtol=0, atol=2e-6)


def test_a_hidden_bos_counts_as_context_against_the_local_model(loopback: Loopback) -> None:
    """As llama-cpp-python answers: the BOS token that it adds is not shown, and the token after it has no number."""
    scorer = loopback.scorer("text-hidden")
    assert scorer.bos is None
    assert scorer.about["unseen_tokens"] == 1
    rows = rows_of(scorer)
    local = local_losses(loopback.with_bos, [[0, *row] for row in rows])
    for served, expected in zip(scorer.losses(rows), local, strict=True):
        np.testing.assert_allclose(served, expected[1:], rtol=0, atol=2e-6)


def test_a_dialect_can_be_asked_for(loopback: Loopback) -> None:
    habit = tagged("plain")
    scorer = loopback.scorer(habit, dialect="echo")
    assert scorer.about["dialect"] == "echo"
    assert all(body["echo"] for body in loopback.seen(habit)["bodies"])
    np.testing.assert_array_equal(scorer.losses([[5, 6, 7]]), loopback.scorer("echo").losses([[5, 6, 7]]))


def test_concurrency_keeps_the_order_and_its_bound(loopback: Loopback) -> None:
    habit = tagged("breathes")
    scorer = loopback.scorer(habit, concurrency=3)
    rows = rows_of(scorer, 9)
    found = scorer.losses(rows)
    alone = loopback.scorer("plain", concurrency=1)
    for served, expected in zip(found, [alone.losses([row])[0] for row in rows], strict=True):
        np.testing.assert_array_equal(served, expected)
    assert 2 <= loopback.seen(habit)["most"] <= 3


def test_rows_without_a_predicted_token_are_not_sent(loopback: Loopback) -> None:
    scorer = loopback.scorer(habit := tagged("plain"))
    before = loopback.seen(habit)["requests"]
    assert [len(found) for found in scorer.losses([[5], []])] == [0, 0]
    assert scorer.losses([]) == []
    assert loopback.seen(habit)["requests"] == before


def test_context_is_what_the_server_says_less_what_is_only_predicted_and_written(loopback: Loopback) -> None:
    scorer = loopback.scorer()
    assert scorer.context == 126  # and the token after it, in a row of 127
    assert len(scorer.losses([[5] * 127])[0]) == 126
    with pytest.raises(InputError, match=r"128 tokens .* too long .*maximum context length is 128.* `context`"):
        scorer.losses([[5] * 128])


def test_context_of_a_server_that_does_not_list_its_models(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = loopback.scorer()
    monkeypatch.setattr(scorer._served, "models", list)
    scorer.tokenizer.model_max_length = 64
    assert scorer.context == 62


def test_a_server_that_begins_every_text_anew_is_refused_a_window_from_the_middle(loopback: Loopback) -> None:
    scorer = loopback.scorer("text")
    assert scorer.start == scorer.bos is not None
    with pytest.raises(InputError, match=r"a window from the middle of a document cannot be sent.*`cut='fresh'`"):
        scorer.losses([[50, 51, 52, 53]])


# ------------------------------------------------------------------------------------------------------ bad connections


@pytest.mark.parametrize("habit", ["busy", "stumbles", "resets", "cut-once", "half-once", "chunks"])
def test_passing_faults_change_no_number(loopback: Loopback, habit: str) -> None:
    scorer = loopback.scorer(tagged(habit))
    rows = rows_of(scorer)
    for served, expected in zip(scorer.losses(rows), loopback.scorer().losses(rows), strict=True):
        np.testing.assert_array_equal(served, expected)


def test_a_wait_that_the_server_asks_for_is_kept(loopback: Loopback) -> None:
    began = time.monotonic()
    loopback.scorer(tagged("wait"))
    assert time.monotonic() - began >= 1


def test_the_limit_of_a_server_is_kept_by_all_connections(loopback: Loopback) -> None:
    """Six requests in half a second are allowed; without a common pause most requests of 24 connections are refused."""
    habit = tagged("limited")
    scorer = loopback.scorer(habit, concurrency=24)
    rows = rows_of(scorer) * 6
    for served, expected in zip(scorer.losses(rows), loopback.scorer().losses(rows), strict=True):
        np.testing.assert_array_equal(served, expected)
    seen = loopback.seen(habit)
    assert 0 < seen["refused"] <= 24 * (2 + len(rows) / 6)
    assert seen["requests"] - seen["refused"] >= len(rows)


def test_a_wait_beyond_all_patience_ends_the_run(loopback: Loopback) -> None:
    habit = tagged("later")
    assert "503 (closed), asks to wait" in loopback.refusal(habit)
    assert loopback.seen(habit)["requests"] == 1


def test_attempts_are_bounded(loopback: Loopback) -> None:
    habit = tagged("broken")
    server = Server(loopback.url(habit), key_variable=None, patience=QUICK)
    with pytest.raises(InputError, match=r"answers 500 \(out of memory\) \(4 attempts\)"):
        server.ask("/completions", {})
    assert loopback.seen(habit)["requests"] == 4


def test_a_500_in_the_probe_may_be_a_refusal(loopback: Loopback) -> None:
    habit = tagged("broken")
    assert "answers 500 (out of memory)." in loopback.refusal(habit)
    assert loopback.seen(habit)["requests"] == 2 * len(WAYS)


@given(attempt=st.integers(1, 60))
def test_pauses_double_up_to_a_bound(attempt: int) -> None:
    longest = min(30.0, 0.5 * 2 ** (attempt - 1))
    assert longest / 2 <= Patience().pause(attempt) <= longest


@pytest.mark.parametrize(
    ("habit", "parts"),
    [
        ("none", ["no log-probabilities of the prompt", "token_logprobs has only what the server wrote", "vLLM"]),
        ("no-choices", ["no log-probabilities of the prompt", "one choice"]),
        ("cut", ["the answer breaks off", "4 attempts"]),
        ("half", ["the answer breaks off or is not JSON", "4 attempts"]),
        ("html", ["text/html, not JSON"]),
        ("missing", ["/v1/completions (Not Found)", "404"]),
        ("moved", ["sends on to http://127.0.0.1:1/v1/completions"]),
        ("key", ["wants an API key, and there is none in OPENAI_API_KEY", "401"]),
        ("short", ["prompt_logprobs has ", " entries for ", "that begins '<s>The quick"]),
        ("text-resplit", ["the server's tokens are not those of", "token 7 is '?!' there"]),
        ("other-ids", ["no entry for token 3"]),
        ("miscounts", ["the server counts ", " tokens in a prompt of "]),
        ("words", ["a log-probability is a str, not a number"]),
        ("positive", ["token 7 is 3.5, above 0", "raw_logprobs"]),
        ("falls-back", ["answers as 'a cheaper one' now"]),
    ],
)
def test_what_is_wrong_is_said_in_one_line(loopback: Loopback, habit: str, parts: list[str]) -> None:
    message = loopback.refusal(tagged(habit))
    assert [part for part in parts if part not in message] == [], message


def test_slow_answers_end(loopback: Loopback) -> None:
    hurried = Patience(answer=0.2, attempts=2, first_pause=0.01)
    for habit in ("slow", "drips"):
        assert "no whole answer within 0.2 s; allow more time." in loopback.refusal(habit, patience=hurried)


def test_one_failure_ends_the_pauses_of_the_others(loopback: Loopback) -> None:
    stopping = Event()
    stopping.set()
    server = Server(loopback.url("broken"), key_variable=None, patience=Patience(first_pause=30))
    began = time.monotonic()
    with pytest.raises(InputError, match="500"):
        server.ask("/completions", {"model": "any"}, stopping)
    assert time.monotonic() - began < 10


def test_an_unknown_model_is_refused_with_those_that_are_there(loopback: Loopback) -> None:
    with pytest.raises(InputError, match=f"no model 'gpt', only {loopback.with_bos.name}, .*`model`"):
        EndpointScorer(loopback.url("plain"), "gpt", tokenizer=str(loopback.with_bos), patience=QUICK)


def test_a_refused_connection_is_final_at_the_start(loopback: Loopback) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(InputError, match=r"no connection \(Connection refused\); check the URL"):
            EndpointScorer(url, "tiny", tokenizer=str(loopback.with_bos), patience=Patience(first_pause=30))
        assert time.monotonic() - began < 20


def test_https_where_there_is_none(loopback: Loopback) -> None:
    with pytest.raises(InputError, match="no encrypted connection"):
        Server(f"https://127.0.0.1:{loopback.port}/v1", key_variable=None, patience=QUICK).ask("/models")


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000/v1",
        "ftp://host/v1",
        "http://",
        "http://host:port/v1",
        "http://host:99999/v1",
        "http://user:hunter2@host/v1",
        "http://host/v1?key=hunter2",
        "http://host/v1/chat/completions",
        "http://host /v1",
    ],
)
def test_urls_that_make_no_sense(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        Server(url, key_variable=None, patience=QUICK)
    assert "must look like http://HOST:PORT/v1" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://h:1", "http://h:1/", "http://h:1/v1/", "http://h:1/v1/completions"])
def test_urls_that_mean_the_same(url: str) -> None:
    assert Server(url, key_variable=None, patience=QUICK).url == "http://h:1/v1"


# ---------------------------------------------------------------------------------------------- numbers that are none


@pytest.mark.parametrize(
    ("habit", "shown"), [("impossible", "-9999.0"), ("infinite", "-inf"), ("nan", "nan"), ("null", "null")]
)
def test_an_impossible_token_is_refused_or_not_a_number(loopback: Loopback, habit: str, shown: str) -> None:
    message = loopback.refusal(habit)
    assert f"the log-probability of token 7 is {shown}, which has no loss" in message
    assert "window of" in message
    scorer = loopback.scorer(habit, impossible="nan")
    for served, expected in zip(scorer.losses(rows_of(scorer)), loopback.scorer().losses(rows_of(scorer)), strict=True):
        expected[6] = np.nan
        np.testing.assert_array_equal(served, expected)


def test_numbers_of_another_place_are_refused(loopback: Loopback) -> None:
    """As llama-cpp-python answers for a model without a BOS token."""
    assert "off by one" in loopback.refusal("text-shifted", bos=False)


def changed_tokenizer(source: Path, target: Path, change: Callable[[dict[str, Any]], object]) -> str:
    target.mkdir()
    for file in source.glob("*token*"):
        (target / file.name).write_bytes(file.read_bytes())
    content = json.loads((target / "tokenizer.json").read_text(encoding="utf-8"))
    change(content["model"])
    (target / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    return str(target)


def test_another_tokenizer_is_refused(loopback: Loopback, tmp_path: Path) -> None:
    def swap(model: dict[str, Any]) -> None:
        model["vocab"]["n"], model["vocab"]["t"] = model["vocab"]["t"], model["vocab"]["n"]

    other_ids = changed_tokenizer(loopback.with_bos, tmp_path / "ids", swap)
    other_tokens = changed_tokenizer(loopback.with_bos, tmp_path / "tokens", lambda model: model["merges"].clear())
    for habit, tokenizer in (("plain", other_ids), ("echo", other_ids), ("text", other_tokens)):
        message = loopback.refusal(habit, tokenizer=tokenizer)
        assert f"the server's tokens are not those of {tokenizer} (" in message
        assert "`tokenizer`" in message


def test_a_window_that_is_not_its_text_is_refused_where_only_text_is_taken(loopback: Loopback) -> None:
    scorer = loopback.scorer("text")
    middle = scorer.tokenizer("日本語", add_special_tokens=False)["input_ids"][1:]  # starts within a character
    with pytest.raises(InputError, match="takes no token ids, and as text this window is not the same tokens"):
        scorer.losses([[0, *middle]])


def test_a_tokenizer_that_is_none(loopback: Loopback, tmp_path: Path) -> None:
    assert "the tokenizer cannot be loaded" in loopback.refusal("plain", tokenizer=str(tmp_path))


@pytest.mark.parametrize("options", [{"concurrency": 0}, {"dialect": "chat"}])
def test_options_that_make_no_sense(loopback: Loopback, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="must be"):
        loopback.scorer(**options)


@pytest.mark.parametrize("options", [{"attempts": 0}, {"connect": 0.0}, {"answer": -1.0}])
def test_patience_that_makes_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="attempts must be at least 1"):
        Patience(**options)


_values = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["0", "1", "x"])
_json = st.recursive(
    _values,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["logprobs", "prompt_logprobs", "tokens", "token_logprobs", "top_logprobs", "1", "logprob"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(way=st.sampled_from(WAYS), choice=_json, usage=_json)
def test_any_answer_is_read_whole_or_refused(way: Way, choice: Any, usage: Any) -> None:
    try:
        reply = way.read({"choices": [choice], "usage": usage}, [1, 1, 1])
    except ReplyError:
        return
    assert [len(reply.logprobs), len(reply.tops), len(reply.texts)] == [3, 3, 3]
    assert all(value is None or isinstance(value, float) for value in reply.logprobs)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(10**400),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "logprobs", "prompt_logprobs", "tokens", "token_logprobs", "top_logprobs", "usage", "7"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(choice=JSON, usage=JSON, way=st.sampled_from(WAYS))
def test_whatever_a_server_answers_is_read_or_refused(choice: Any, usage: Any, way: Way) -> None:
    for answer in ({"choices": [choice], "usage": usage}, {"choices": choice}):
        try:
            reply = way.read(answer, [5, 7])
        except ReplyError:
            continue
        assert len(reply.logprobs) == 2


@pytest.mark.parametrize(("prompt", "counted"), [("ids", 4), ("ids", 2), ("text", 5), ("text", 2)])
def test_a_server_that_counts_other_tokens_saw_other_tokens(prompt: Literal["ids", "text"], counted: int) -> None:
    """A token that the server adds unseen would shift ids; before a text it is the BOS token."""
    choice = {"logprobs": {"token_logprobs": [None, -1.0, -2.0]}}
    way = Way("echo", prompt)
    assert way.read({"choices": [choice], "usage": {"prompt_tokens": 3}}, [1, 1, 1]).logprobs == [None, -1.0, -2.0]
    with pytest.raises(OtherTokensError, match=f"counts {counted} tokens in a prompt of 3"):
        way.read({"choices": [choice], "usage": {"prompt_tokens": counted}}, [1, 1, 1])


# ------------------------------------------------------------------------------------------------------------- the key


def test_the_key_is_sent_and_never_shown(
    loopback: Loopback,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    habit = tagged("key")
    scorer = loopback.scorer(habit)
    run = scored(scorer, tmp_path / "run")
    assert loopback.seen(habit)["keys"] == {f"Bearer {SECRET}": loopback.seen(habit)["requests"]}
    shown = [
        repr(scorer),
        repr(vars(scorer)),
        repr(scorer._served._server),
        repr(vars(scorer._served._server)),
        json.dumps(scorer.about),
    ]
    shown += [caplog.text, *capfd.readouterr()]
    written = b"".join(file.read_bytes() for file in run.iterdir())
    assert SECRET not in "".join(shown)
    assert SECRET.encode() not in written


@pytest.mark.parametrize("habit", ["key", "talkative", "cut", "resets", "broken", "html"])
def test_no_error_shows_the_key(loopback: Loopback, monkeypatch: pytest.MonkeyPatch, habit: str) -> None:
    """Not even a traceback with the local variables of all frames, as some loggers write."""
    secret = SECRET if habit != "key" else "another-secret-key"  # a wrong key, which the server repeats
    monkeypatch.setenv("MY_KEY", secret)
    once = Patience(attempts=1)
    with pytest.raises(InputError) as caught:
        loopback.scorer(tagged(habit), api_key_env="MY_KEY", patience=once)
    own = caught.value.with_traceback(caught.tb.tb_next)  # without the frame of this test, which knows the key
    whole = "".join(traceback.TracebackException.from_exception(own, capture_locals=True).format())
    assert "self = EndpointScorer(" in whole
    assert secret not in whole
    if habit == "key":
        assert "the one in MY_KEY is not accepted" in str(caught.value)
    if habit == "talkative":
        assert "[MY_KEY]" in str(caught.value)


@pytest.mark.parametrize("key", ["two words", "line\nfeed", "schlüssel"])
def test_a_key_that_is_none_is_refused_without_showing_it(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(UsageError, match="the environment variable MY_KEY does not look like an API key") as caught:
        ApiKey("MY_KEY")
    assert key not in str(caught.value)


def test_a_key_not_named_for_the_server_never_travels_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)

    def headers(url: str, variable: str | None = None) -> dict[str, str]:
        return Server(url, key_variable=variable, patience=QUICK)._headers()

    assert "Authorization" not in headers("http://example.org/v1")
    for sent in (
        headers("http://example.org/v1", "OPENAI_API_KEY"),
        headers("https://example.org/v1"),
        headers("http://127.0.0.1:8000/v1"),
        headers("http://localhost:8000/v1"),
    ):
        assert sent["Authorization"] == f"Bearer {SECRET}"


# ------------------------------------------------------------------------------------------------------------- the run


def encoded(scorer: EndpointScorer, n: int = 6) -> list[Encoded]:
    from assay.scoring.loading import tokenized

    documents = [Document(f"d{i}", f"{TEXT} Document {i}, {'again ' * i}") for i in range(n)]
    pairs = zip(documents, tokenized(scorer.tokenizer, [document.text for document in documents]), strict=True)
    return [Encoded(document, ids, ends) for document, (ids, ends) in pairs]


def scored(scorer: Any, folder: Path, losses: Any = None) -> Path:
    """A run in several shards, so that it can be resumed."""
    plan = Plan(context=40, stride=20, batch_tokens=200, keep_tokens=True)
    run = score_encoded(
        encoded(scorer),
        losses or scorer.losses,
        folder,
        about={"model": {"name": "tiny"}},
        layout=layout_for(plan, scorer.context, bos=scorer.bos is not None),
        plan=plan,
        bos=scorer.bos,
    )
    run.files()
    return folder


def test_run_against_the_local_model(loopback: Loopback, tmp_path: Path) -> None:
    from assay.scoring.hf import ModelScorer
    from assay.scoring.models_and_texts import ModelSpec

    served, local = tmp_path / "served", tmp_path / "local"
    scored(loopback.scorer(), served)
    scored(ModelScorer(ModelSpec(str(loopback.with_bos))), local)
    for kind, key in (("windows", "document, start"), ("tokens", "document, token")):
        query = f"SELECT * FROM read_parquet(?) ORDER BY {key}"  # noqa: S608 - ours
        columns = [duckdb.execute(query, [f"{folder}/{kind}-*.parquet"]).fetchnumpy() for folder in (served, local)]
        np.testing.assert_allclose(columns[0]["loss"], columns[1]["loss"], rtol=0, atol=2e-6)
        for name in columns[0].keys() - {"loss"}:
            assert columns[0][name].tolist() == columns[1][name].tolist()


def test_a_run_that_the_server_ended_goes_on_to_the_same_bytes(
    loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.scoring.windows.SHARD_TOKENS", 200)
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    scored(loopback.scorer(), whole)
    hasty = Patience(attempts=2, first_pause=0.01)
    with pytest.raises(InputError, match=r"503 \(gone\) \(2 attempts\); the same command goes on where this one ends"):
        scored(loopback.scorer(tagged("gives-out"), patience=hasty), resumed)
    done = len(list(resumed.glob("windows-*.parquet")))
    assert 0 < done < len(list(whole.glob("windows-*.parquet")))
    habit = tagged("plain")
    scored(loopback.scorer(habit), resumed)
    assert {f.name: f.read_bytes() for f in resumed.iterdir()} == {f.name: f.read_bytes() for f in whole.iterdir()}
    assert loopback.seen(habit)["requests"] < loopback.seen("plain")["requests"]
