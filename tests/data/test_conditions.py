"""Results that were measured under different conditions: refused by name, allowed by name, or noted. By hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay import InputError, Selection, UsageError, compare, rank, read_table, summarize
from assay.data import Table, pair
from tests.data.readers.harness.logs import LARGE, LM_EVAL, SMALL, copy, edit_json, only


def table(name: str, *, allow: tuple[str, ...] = (), **about: Any) -> Table:
    found = read_table({"item": list("abcd"), "score": [1, 0, 1, 1 if name == "A" else 0]}, name=name)
    return replace(found, label=f"{name}.json", about={"allow_different": allow, **about})


def test_a_judge_that_differs_is_refused_with_what_allows_it() -> None:
    a, b = (table(name, conditions={"t": {"judge": judge}}) for name, judge in (("A", "gpt-4"), ("B", "claude")))
    with pytest.raises(InputError) as refused:
        pair(a, b)
    said = str(refused.value)
    assert "A.json has the judge gpt-4 and B.json claude" in said
    assert "`Selection(allow_different=['judge'])`" in said


def test_what_is_allowed_is_compared_with_a_warning() -> None:
    told = {"A": {"judge": "gpt-4"}, "B": {"judge": "claude"}}
    a, b = (table(name, allow=("judge",), conditions={"t": own}) for name, own in told.items())
    notes = pair(a, b).notes
    assert "warning: different judge: gpt-4 (A), claude (B): scores may differ for that alone" in notes


def test_another_condition_than_the_allowed_one_is_still_refused() -> None:
    told = {"A": {"judge": "x", "split": "test"}, "B": {"judge": "y", "split": "dev"}}
    a, b = (table(name, conditions={"t": own}, allow=("judge",)) for name, own in told.items())
    with pytest.raises(InputError, match=r"has the split test and B\.json dev"):
        pair(a, b)


def test_what_only_one_side_tells_is_not_compared() -> None:
    assert pair(table("A", conditions={"t": {"judge": "x"}}), table("B", conditions={"t": {}})).n == 4
    assert pair(table("A", conditions={"t": {"judge": "x"}}), table("B")).n == 4


def test_conditions_are_compared_task_by_task() -> None:
    same = {"one": {"split": "test"}, "two": {"split": "dev"}}
    assert pair(table("A", conditions=same), table("B", conditions=same)).n == 4
    other = {"one": {"split": "test"}, "two": {"split": "test"}}
    with pytest.raises(InputError, match=r"has the split dev and B\.json test of the task two"):
        pair(table("A", conditions=same), table("B", conditions=other))


def test_settings_that_differ_are_noted_once_for_all_tasks() -> None:
    a = table("A", settings={"one": {"shots": "0"}, "two": {"shots": "0"}})
    b = table("B", settings={"one": {"shots": "5"}, "two": {"shots": "5"}})
    assert "different shots: 0 (A), 5 (B)" in pair(a, b).notes
    c = table("B", settings={"one": {"shots": "0"}, "two": {"shots": "5"}})
    assert "different shots in two: 0 (A), 5 (B)" in pair(a, c).notes


def _with(folder: Path, task: str, **changes: Any) -> Path:
    def change(found: dict[str, Any]) -> None:
        found["configs"].setdefault(task, {}).update(changes)

    edit_json(only(folder, "results_*"), change)
    return folder


@pytest.fixture
def both(tmp_path: Path) -> list[Path]:
    found = [copy(LM_EVAL / name, tmp_path / name) for name in (SMALL, LARGE)]
    return [_with(folder, "tiny_sky", test_split="test", num_fewshot=0) for folder in found]


PICKED = Selection(task="tiny_sky", metric="acc")


def test_lm_eval_tells_its_split_and_its_shots(both: list[Path]) -> None:
    _with(both[0], "tiny_sky", num_fewshot=5)
    notes = compare(*both, selection=PICKED).notes
    assert f"different shots: 5 ({SMALL}), 0 ({LARGE})" in notes
    _with(both[0], "tiny_sky", test_split="dev")
    with pytest.raises(InputError, match=r"has the split dev and .* test, so their scores do not compare"):
        compare(*both, selection=PICKED)
    with pytest.raises(InputError, match=r"has the split test and .* dev"):
        rank(*both, selection=PICKED)
    found = compare(*both, selection=replace(PICKED, allow_different=["split"]))
    assert any(note.startswith("warning: different split") for note in found.notes)


def test_summarize_looks_at_each_model_alone_and_warns(both: list[Path]) -> None:
    _with(both[0], "tiny_sky", test_split="dev")
    found = summarize(*both, selection=PICKED)
    assert len(found.models) == 2
    assert any("different split: dev" in note for note in found.notes)


def test_names_to_allow_are_a_list() -> None:
    with pytest.raises(UsageError, match="allow_different must be a list of names, but got 'judge'"):
        Selection(allow_different="judge")
    assert Selection(allow_different=["judge"]).allow_different == ("judge",)
