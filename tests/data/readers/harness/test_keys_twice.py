"""A key that is there twice, where it would change a score or an item: refused by name, as the strict parser does."""

import shutil
from pathlib import Path

import pytest

from tests.data.readers.harness.logs import assert_refused

HARNESS = Path(__file__).resolve().parents[2] / "harness"

#: The file or folder, the part of it that is spoiled, what is there, and what is put in its place.
CASES = {
    "alpaca_eval": ("alpaca_eval/small-1b", "annotations.json", '"preference":', '"preference": 1.0, "preference":'),
    "arena_hard": ("arena_hard", "small-1b.jsonl", '"score":', '"score": "A>B", "score":'),
    "bbh": ("bbh/cot", "animals_few_shot_template_0-255000.json", '"target":', '"target": "x", "target":'),
    "human_eval": ("human_eval", "*.jsonl", '"passed":', '"passed": true, "passed":'),
    "livecodebench": ("livecodebench", "*_eval_all.json", '"graded_list":', '"graded_list": [true], "graded_list":'),
    "mt_bench": ("mt_bench/made-up-judge_single.jsonl", "", '"score":', '"score": 9, "score":'),
    "mt_bench_pair": ("mt_bench/made-up-judge_pair.jsonl", "", '"g1_winner":', '"g1_winner": "tie", "g1_winner":'),
    "py_irt": ("py_irt", "*.jsonl*", '"responses": {', '"responses": {"a": 1, "a": 0, '),
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
    assert_refused(file, str(file), "twice")
