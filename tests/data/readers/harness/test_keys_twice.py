"""A key that is there twice, where it would change a score or an item: refused by name, as the strict parser does."""

import json
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.readers.harness.equal_keys import MOST_OF_A_LIST, EqualKeys, key_twice
from tests.data.readers.harness.logs import assert_refused, one, scores

HARNESS = Path(__file__).resolve().parents[2] / "harness"

_HELM = "tiny_choices_model-huggingface_stories15M-hf"
#: The file or folder, the part of it that is spoiled, what is there, and what is put in its place.
CASES = {
    "alpaca_eval": ("alpaca_eval/small-1b", "annotations.json", '"preference":', '"preference": 1.0, "preference":'),
    "arena_hard": ("arena_hard", "small-1b.jsonl", '"score":', '"score": "A>B", "score":'),
    "bbh": ("bbh/cot", "animals_few_shot_template_0-255000.json", '"target":', '"target": "x", "target":'),
    "bfcl": ("bfcl/score/base/BFCL_v3_simple_score.json", "", '"id":', '"id": "simple_0", "id":'),
    "deepeval": ("deepeval/large/.latest_test_run.json", "", '"score":', '"score": 0.5, "score":'),
    "helm": (f"helm/{_HELM}", "per_instance_stats.json", '"sum":', '"sum": 0, "sum":'),
    "human_eval": ("human_eval", "*.jsonl", '"passed":', '"passed": true, "passed":'),
    "inspect": ("inspect/small.json", "", '"value": "C"', '"value": "I", "value": "C"'),
    "inspect, scores": ("inspect/small.json", "", '"scores": {', '"scores": {}, "scores": {'),
    "livecodebench": ("livecodebench", "*_eval_all.json", '"graded_list":', '"graded_list": [true], "graded_list":'),
    "mt_bench": ("mt_bench/made-up-judge_single.jsonl", "", '"score":', '"score": 9, "score":'),
    "mt_bench_pair": ("mt_bench/made-up-judge_pair.jsonl", "", '"g1_winner":', '"g1_winner": "tie", "g1_winner":'),
    "openai_evals": ("openai_evals/large.jsonl", "", '"correct":', '"correct": false, "correct":'),
    "promptfoo": ("promptfoo/two_providers.json", "", '"success":', '"success": true, "success":'),
    "py_irt": ("py_irt", "*.jsonl*", '"responses": {', '"responses": {"a": 1, "a": 0, '),
    "tau_bench": ("tau_bench/retail", "*.json", '"reward":', '"reward": 1.0, "reward":'),
}


@pytest.mark.parametrize("name", CASES)
def test_a_score_that_is_there_twice_is_refused(tmp_path: Path, name: str) -> None:
    source, part, there, twice = CASES[name]
    path = tmp_path / Path(source).name
    (shutil.copytree if (HARNESS / source).is_dir() else shutil.copy)(HARNESS / source, path)
    file = path if not part else next(path.rglob(part))
    text = file.read_text("utf-8")
    assert there in text
    file.write_text(text.replace(there, twice, 1), "utf-8")
    assert_refused(path if name == "helm" else file, str(file), "twice")


def _repacked(source: Path, path: Path, *spoiled: str) -> Path:
    """A log of inspect in which the members whose names begin like this have a value twice."""
    with ZipFile(source) as old, ZipFile(path, "w") as new:
        for name in old.namelist():
            text = old.read(name).decode()
            new.writestr(
                name, text.replace('"value":"C"', '"value":"I","value":"C"') if name.startswith(spoiled) else text
            )
    return path


def test_an_archive_of_inspect_is_refused_where_its_samples_have_a_score_twice(tmp_path: Path) -> None:
    source = HARNESS / "inspect" / "small-deflate.eval"
    both = _repacked(source, tmp_path / "both.eval", "samples/", "summaries", "_journal/summaries")
    assert_refused(both, str(both), "member 'samples/", "the key 'value' appears twice")
    summaries = _repacked(source, tmp_path / "summaries.eval", "summaries", "_journal/summaries")
    assert scores(one(summaries)) == scores(one(source))  # by the samples, which have them once


def test_a_score_that_is_there_twice_far_into_a_long_list_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(HARNESS / "helm" / _HELM, tmp_path / _HELM))
    path = folder / "per_instance_stats.json"
    stat = {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1.0}
    text = json.dumps([{"instance_id": f"id{i}", "stats": [stat]} for i in range(30_000)])
    assert len(text) > MOST_OF_A_LIST
    path.write_text(text.removesuffix("}]}]") + ', "sum": 0.0}]}]', "utf-8")
    assert_refused(folder, str(path), "the key 'sum' appears twice")


def test_what_is_beyond_the_budget_is_not_looked_at() -> None:
    equal = EqualKeys(20)
    assert equal.found_in(b'{"a": 1, "a": 2}')
    assert not equal.found_in(b'{"a": 1, "a": 2}')


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_what_json_itself_writes_has_no_key_twice(value: object) -> None:
    assert not key_twice(json.dumps(value).encode())
