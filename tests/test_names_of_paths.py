"""Names of logs that state none: by hand, and never the same for two files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.names import names_of, short_names

PARTS = st.sampled_from(["a", "b", "checkpoint-1", "checkpoint-2", "log", "trainer_state", "metrics"])
PATHS = st.builds(lambda folders, stem: Path(*folders, f"{stem}.json"), st.lists(PARTS, max_size=3), PARTS)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["outA/checkpoint-120/trainer_state.json", "outB/checkpoint-120/trainer_state.json"], ["outA", "outB"]),
        (["/x/outA/checkpoint-1/trainer_state.json", "outB/checkpoint-120/trainer_state.json"], ["outA", "outB"]),
        (["lora/log.csv", "full/log.csv"], ["lora", "full"]),
        (["lora/curve.csv", "full/curve.csv"], ["lora", "full"]),
        (["lora.csv", "full.csv"], ["lora", "full"]),
        (["runs/lora.trainer_state.json"], ["lora"]),
        (["trainer_state.json"], ["trainer_state"]),
        (["checkpoint-7/trainer_state.json"], ["checkpoint-7"]),
        (["evals/checkpoint-7.json"], ["checkpoint-7"]),
        (
            ["evals/base.json", "evals/checkpoint-7.json", "evals/checkpoint-9.json"],
            ["base", "checkpoint-7", "checkpoint-9"],
        ),
        (["lora/s0/log.csv", "lora/s1/log.csv", "full/s0/log.csv"], ["lora/s0", "lora/s1", "full/s0"]),
        (
            ["out/checkpoint-6/log_history.json", "out/checkpoint-7/log_history.json"],
            ["out/checkpoint-6", "out/checkpoint-7"],
        ),
        (["x.csv", "x.tsv"], ["x.csv", "x.tsv"]),
        (["../log.csv", "log.csv"], ["../log.csv", "log.csv"]),
    ],
)
def test_the_part_of_the_path_that_tells_them_apart(paths: list[str], names: list[str]) -> None:
    assert names_of([Path(path) for path in paths]) == names


def test_a_name_that_is_taken_is_not_given_again() -> None:
    assert names_of([Path("out/lora.csv")], {"lora"}) == ["out"]
    assert names_of([Path("lora.csv")], {"lora"}) == ["lora.csv"]


@given(st.lists(PATHS, unique=True, max_size=6))
def test_different_files_have_different_names(paths: list[Path]) -> None:
    names = names_of(paths)
    assert len(set(names)) == len(paths)
    assert all(names)


# ------------------------------------------------------------------------------------------------- names of systems

TAU = "tool-calling-{}-0.0_range_0--1_user-gemini-2.0-flash-llm_{}"
CHECKPOINT = "checkpoint-{}--main--bigcodebench-hard-complete--vllm-0-1-sanitized_calibrated_eval_results"
CACHED = "/cache/hub/models--Qwen--{}/snapshots/989aa7980e4cf806f80c7fef2b1adb7bc71aa306"
WORDS = st.lists(st.text("ab01", min_size=1, max_size=9), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("names", "shorter"),
    [
        (["a", "b"], ["a", "b"]),
        (["meta-llama/Llama-3-8B"], ["meta-llama/Llama-3-8B"]),
        (["/home/someone/models/llama"], ["llama"]),
        (["/m/llama/step-1", "/m/qwen/step-1"], ["llama", "qwen"]),
        (["~/m/llama", "gpt-4.1"], ["~/m/llama", "gpt-4.1"]),
        ([f"{'x' * 90}-a", f"{'x' * 90}-b"], ["a", "b"]),
        (
            [TAU.format("gpt-4.1", "0609163729"), TAU.format("gpt-4.1-mini", "0610135038")],
            ["gpt-4.1", "gpt-4.1-mini"],
        ),
        (
            [TAU.format("gpt-4.1", "0609163729"), *(TAU.format("gemini-2.0-flash", when) for when in ("0605", "0606"))],
            ["gpt-4.1", "gemini-2.0-flash…0605", "gemini-2.0-flash…0606"],
        ),
        ([CHECKPOINT.format(200), CHECKPOINT.format(400)], ["checkpoint-200", "checkpoint-400"]),
        ([CACHED.format("Qwen2.5-1.5B-Instruct")], ["Qwen/Qwen2.5-1.5B-Instruct"]),
        ([CACHED.replace("/", "__").format("Qwen2.5-1.5B")], ["Qwen/Qwen2.5-1.5B"]),
        (["/runs/1/model", "/runs/2/model"], ["runs/1", "runs/2"]),
        (["y" * 90], [f"{'y' * 29}…{'y' * 29}"]),
        (["same" * 20, "same" * 20], [f"{'same' * 7}s…e{'same' * 7}"] * 2),
    ],
)
def test_names_of_systems_are_what_differs(names: list[str], shorter: list[str]) -> None:
    assert short_names(names) == shorter


@given(st.lists(st.builds("-".join, WORDS) | st.builds("/".join, WORDS), min_size=1, max_size=5, unique=True))
def test_names_that_differ_stay_so_and_none_is_empty_or_long(names: list[str]) -> None:
    found = short_names(names)
    assert len(set(found)) == len(names)
    assert all(0 < len(name) <= 90 for name in found)
