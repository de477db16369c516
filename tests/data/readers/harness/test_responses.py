"""Responses of completions servers: two dialects about the same model agree, and a literal sum is the oracle."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from assay.data import read_tables
from assay.errors import UsageError
from tests.data.files import panel_of
from tests.data.readers.harness.logs import RESPONSES, assert_refused, copy, edit_lines, one

ECHO, BATCH = RESPONSES / "base-echo.jsonl", RESPONSES / "base-batch.jsonl"


def test_losses_of_an_echo_against_a_literal_sum_without_what_was_written() -> None:
    table = one(ECHO)
    assert (table.name, table.kind) == ("base", "losses")
    for row, line in enumerate(ECHO.read_text("utf-8").splitlines()):
        body = json.loads(line)
        logprobs = body["choices"][0]["logprobs"]
        prompt = body["usage"]["prompt_tokens"]
        values = logprobs["token_logprobs"][1:prompt]
        assert len(logprobs["tokens"]) == prompt + 1
        assert table.numbers["tokens"][row] == len(values)
        assert table.numbers["loss"][row] == pytest.approx(-math.fsum(values) / len(values), rel=1e-14)
        assert table.numbers["bytes"][row] == len("".join(logprobs["tokens"][1:prompt]).encode())


def test_both_dialects_give_the_same_losses() -> None:
    echo, batch = one(ECHO), one(BATCH)
    for name in ("tokens", "loss", "bytes"):
        assert echo.numbers[name].tolist() == batch.numbers[name].tolist()
    assert batch.ids.tolist() == ["story-0", "story-1"]


def test_bare_responses_pair_by_their_prompt() -> None:
    panel = panel_of(read_tables([ECHO, RESPONSES / "int4-echo.jsonl"]))
    assert (panel.n, panel.dropped.only_a) == (2, 0)
    assert panel.estimate(1) > panel.estimate(0)  # rounding to 4 bits made it worse


def test_failed_requests_are_left_out_and_counted() -> None:
    assert any("failed requests left out: 1" in note for note in one(BATCH).notes)


def test_the_entry_of_the_prompt_s_token_is_found_by_its_id_or_by_ranks(tmp_path: Path) -> None:
    path = copy(BATCH, tmp_path)
    want = one(path).numbers["loss"].tolist()

    def with_ids(_: int, line: Any) -> Any:
        if line["response"]:
            choice = line["response"]["body"]["choices"][0]
            ids = [int(max(entries, key=lambda i: entries[i]["rank"])) for entries in choice["prompt_logprobs"][1:]]
            choice["prompt_token_ids"] = [0, *ids]
        return line

    assert one(edit_lines(path, with_ids)).numbers["loss"].tolist() == want

    def only_own(_: int, line: Any) -> Any:
        if line["response"]:
            choice = line["response"]["body"]["choices"][0]
            del choice["prompt_token_ids"]
            choice["prompt_logprobs"][1:] = [
                dict([max(entries.items(), key=lambda entry: entry[1]["rank"])])
                for entries in choice["prompt_logprobs"][1:]
            ]
        return line

    assert one(edit_lines(path, only_own)).numbers["loss"].tolist() == want


def response(entries: list[Any], **more: Any) -> dict[str, Any]:
    return {"object": "text_completion", "model": "m", "choices": [{"prompt_logprobs": [None, *entries], **more}]}


def entry(logprob: float, rank: int | None = None) -> dict[str, Any]:
    return {"logprob": logprob, "decoded_token": "x"} | ({"rank": rank} if rank else {})


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_entries_whose_owner_is_not_known_are_refused(tmp_path: Path) -> None:
    """Two entries of ranks 1 and 2: of the likeliest two, or of the likeliest one and the prompt's own?"""
    both = {"5": entry(-1.0, 1), "6": entry(-2.0, 2)}
    path = tmp_path / "a.jsonl"
    assert_refused(written(path, response([both])), "token 1: 2 entries", "prompt_logprobs=0")
    assert_refused(written(path, response([{"5": entry(-1.0), "6": entry(-2.0)}])), "token 1: 2 entries")
    # Another token shows that one was asked for, so that the second entry is the prompt's own.
    for other in ({"7": entry(-0.5, 1)}, {"7": entry(-0.5, 1), "8": entry(-4.0, 9)}):
        table = one(written(path, response([both, other])))
        own = -0.5 if len(other) == 1 else -4.0
        assert table.numbers["loss"].tolist() == [-(-2.0 + own) / 2]
    assert one(written(path, response([both], prompt_token_ids=[1, 5]))).numbers["loss"].tolist() == [1.0]


def test_prompt_logprobs_of_a_chat_stand_beside_the_choices(tmp_path: Path) -> None:
    chat = {"object": "chat.completion", "model": "m", "choices": [{"message": {}}]}
    path = written(tmp_path / "a.jsonl", chat | {"prompt_logprobs": [None, {"5": entry(-1.5, 3)}]})
    assert one(path).numbers["loss"].tolist() == [1.5]


def test_text_that_tokens_do_not_tell_gives_no_bytes(tmp_path: Path) -> None:
    def cut(_: int, line: Any) -> Any:
        line["choices"][0]["logprobs"]["tokens"][3] = "\ufffd"
        return line

    assert "bytes" not in one(edit_lines(copy(ECHO, tmp_path), cut)).numbers


def test_several_models_in_one_file_are_several_tables(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    path.write_bytes(ECHO.read_bytes() + (RESPONSES / "int4-echo.jsonl").read_bytes())
    tables = read_tables([path])
    assert [table.name for table in tables] == ["base", "int4"]
    assert panel_of(tables).n == 2


def test_ids_of_the_user_s_own_name_the_windows(tmp_path: Path) -> None:
    path = edit_lines(copy(ECHO, tmp_path), lambda i, line: {"window": f"w{i}", "response": line})
    assert one(path).ids.tolist() == ["w0", "w1"]
    edit_lines(path, lambda _, line: line | {"window": "w"})
    assert_refused(path, "line 2", "window 'w' of the model 'base' is there already", "line 1")


def choice_of(**changes: Any) -> Any:
    def change(i: int, line: Any) -> Any:
        if i == 1:
            line["choices"][0].update(changes)
        return line

    return change


def logprobs_of(**changes: Any) -> Any:
    def change(i: int, line: Any) -> Any:
        if i == 1:
            line["choices"][0]["logprobs"].update(changes)
        return line

    return change


def value_of(value: Any) -> Any:
    def change(i: int, line: Any) -> Any:
        if i == 1:
            line["choices"][0]["logprobs"]["token_logprobs"][7] = value
        return line

    return change


def body_of(**changes: Any) -> Any:
    return lambda i, line: line | changes if i == 1 else line


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (value_of(-9999.0), ["token 7", "-9999 stands for minus infinity"]),
        (value_of(-math.inf), ["token 7", "finite number"]),
        (value_of(math.nan), ["token 7", "finite number"]),
        (value_of(None), ["token 7", "finite number", "null"]),
        (value_of("-1.5"), ["token 7", "finite number", "'-1.5'"]),
        (value_of(0.5), ["token 7", "must not be above 0"]),
        (choice_of(logprobs=None), ["no log-probabilities of the prompt", "echo"]),
        (choice_of(logprobs={"content": []}), ["no log-probabilities of the prompt", "echo"]),
        (choice_of(prompt_logprobs=[{"5": {"logprob": -1}}]), ["list that begins with null"]),
        (choice_of(prompt_logprobs=[None, None]), ["token 1", "an object of entries"]),
        (choice_of(prompt_logprobs=[None]), ["one token, of which nothing is predicted"]),
        (choice_of(prompt_logprobs=[None, {"5": {"logprob": -1}}], prompt_token_ids=[1]), ["2 prompt_logprobs for 1"]),
        (choice_of(prompt_logprobs=[None, {"5": {"logprob": -1}}], prompt_token_ids=[1, 2]), ["no field '2'"]),
        (logprobs_of(token_logprobs=[]), ["begin with null"]),
        (logprobs_of(token_logprobs=7), ["'token_logprobs' must be a list"]),
        (logprobs_of(tokens=["a"]), ["a value per token"]),
        (body_of(usage=None), ["usage.completion_tokens"]),
        (body_of(usage={"completion_tokens": 10_000}), ["only what the model wrote"]),
        (body_of(choices=[]), ["one choice, but got 0"]),
        (body_of(model=None), ["'model' must be a text"]),
    ],
)
def test_a_bad_response_is_refused_by_name(tmp_path: Path, change: Any, parts: list[str]) -> None:
    path = edit_lines(copy(ECHO, tmp_path), change)
    assert_refused(path, f"{path}, line 2", *parts)


def test_a_batch_in_which_all_failed_is_refused(tmp_path: Path) -> None:
    path = edit_lines(copy(BATCH, tmp_path), lambda _, line: line | {"response": None, "error": {"message": "no"}})
    assert_refused(path, "all 3 requests failed")
    edit_lines(path, lambda _, line: line | {"response": {"status_code": 500, "body": {}}, "error": None})
    assert_refused(path, "all 3 requests failed")


def test_there_is_one_metric_and_nothing_to_cluster_by() -> None:
    assert_refused(ECHO, "no metric 'acc', only perplexity", metric="acc")
    with pytest.raises(UsageError, match="nothing to cluster by"):
        read_tables([ECHO], cluster="document")
