"""The plain long table: read back, it gives the data that it was made from, to the last bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import InputError, Panel, Selection, Table, UsageError, compare, convert, read_tables, summarize
from assay.data.conditions import EVERYTHING
from tests.data.readers.harness.logs import FOLDER, HELM, INSPECT, LARGE, LIGHTEVAL, LM_EVAL, SMALL

EVERY = Selection(every_task=True, every_metric=True, allow_different=(EVERYTHING,))
SUFFIXES = (".csv", ".jsonl", ".parquet")

IDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6).filter(str.strip)
SCORES = st.floats(-1e6, 1e6) | st.just(None)


@st.composite
def frames(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Tables with models, runs, metrics, tasks, lost answers and costs, in any combination."""
    items = draw(st.lists(IDS, min_size=1, max_size=4, unique=True))
    models = draw(st.lists(IDS.map(str.strip), min_size=1, max_size=2, unique=True))
    metrics = draw(st.sampled_from([["acc"], ["acc", "f1, strict"]]))
    runs = draw(st.sampled_from([["1"], ["1", "2"]]))
    rows = [(m, i, r, x) for m in models for x in metrics for r in runs for i in items]
    found: dict[str, list[Any]] = {
        "model": [m for m, *_ in rows],
        "item": [i for _, i, *_ in rows],
        "run": [r for _, _, r, _ in rows],
        "metric": [x for *_, x in rows],
        # One answer at least of every model and metric, or there is nothing to read.
        "score": [1.0 if i == items[0] else draw(SCORES) for _, i, *_ in rows],
    }
    if draw(st.booleans()):
        found["task"] = [f"t{items.index(i) % 2}" for _, i, *_ in rows]
    if draw(st.booleans()):
        found["seconds"] = [draw(st.floats(0, 1e6) | st.none()) for _ in rows]
    if draw(st.booleans()):
        found["lower_is_better"] = [x != "acc" for *_, x in rows]
    return found


def panels(tables: list[Table]) -> dict[str, Panel]:
    """A panel for each metric."""
    found: dict[str, list[Table]] = {}
    for table in tables:
        found.setdefault(str(table.about.get("one_of_metrics") or table.about.get("metric")), []).append(table)
    return {metric: Panel.from_tables(some) for metric, some in found.items()}


def assert_same(first: Panel, second: Panel) -> None:
    assert first.digest == second.digest
    assert (first.systems, first.lost_answers) == (second.systems, second.lost_answers)
    assert first.metric.lower_is_better == second.metric.lower_is_better
    for name, values in first.costs.items():
        np.testing.assert_array_equal(values, second.costs[name])


@given(frames(), st.sampled_from(SUFFIXES))
def test_what_was_written_reads_back_as_what_it_was_made_from(
    tmp_path_factory: Any, frame: dict[str, list[Any]], suffix: str
) -> None:
    path = tmp_path_factory.mktemp("long") / f"table{suffix}"
    found = convert(frame, output=path)
    assert found.rows == len(frame["item"])
    before, after = (panels(read_tables([source], selection=EVERY)) for source in (frame, path))
    assert before.keys() == after.keys()
    for metric, panel in before.items():
        assert_same(panel, after[metric])


LOGS = {
    "lm-eval": ([LM_EVAL / SMALL, LM_EVAL / LARGE], Selection(task="tiny_choices")),
    "inspect": ([INSPECT / "small.eval", INSPECT / "large.eval"], Selection()),
    "inspect parts": ([INSPECT / "parts.eval"], Selection()),
    "lighteval": ([LIGHTEVAL], Selection()),
    "helm": ([HELM], Selection(task="tiny_choices")),
    "evalplus": ([FOLDER / "evalplus"], Selection()),
    "deepeval": ([FOLDER / "deepeval"], Selection()),
    "every-eval-ever": ([FOLDER / "every_eval_ever"], Selection()),
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("case", LOGS)
def test_logs_of_a_harness_are_summarized_alike_before_and_after(tmp_path: Path, case: str, suffix: str) -> None:
    sources, picked = LOGS[case]
    path = tmp_path / f"table{suffix}"
    convert(*sources, output=path, selection=picked)
    before, after = summarize(*sources, selection=picked), summarize(path)
    assert list(before.metrics) == list(after.metrics)
    key = [(row.metric, row.name, row.value, row.costs, row.n, row.missing) for row in before.models]
    assert sorted(map(str, key)) == sorted(
        str((row.metric, row.name, row.value, row.costs, row.n, row.missing)) for row in after.models
    )
    assert before.lost == after.lost


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_compare_gives_the_same_numbers(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table{suffix}"
    picked = Selection(task="tiny_choices", metric="acc")
    convert(LM_EVAL / SMALL, LM_EVAL / LARGE, output=path, selection=Selection(task="tiny_choices"))
    before = compare(LM_EVAL / SMALL, LM_EVAL / LARGE, selection=picked)
    after = compare(path, models=(SMALL, LARGE), selection=Selection(metric="acc"))
    assert (before.signature, before.difference, before.p_value) == (after.signature, after.difference, after.p_value)


def test_losses_read_back_too(tmp_path: Path) -> None:
    path = tmp_path / "losses.parquet"
    picked = Selection(task="tiny_stories")
    convert(LM_EVAL / SMALL, LM_EVAL / LARGE, output=path, selection=picked)
    before = compare(LM_EVAL / SMALL, LM_EVAL / LARGE, selection=picked)
    assert compare(path, models=(SMALL, LARGE)).signature == before.signature


def test_losses_and_scores_do_not_fit_into_one_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"do not fit into one table; choose tasks of one kind"):
        convert(LM_EVAL / SMALL, output=tmp_path / "table.csv")
    assert list(tmp_path.iterdir()) == []


def test_tasks_with_metrics_of_their_own_need_no_choice(tmp_path: Path) -> None:
    rows = {"item": ["a", "b"], "task": ["arc", "gsm8k"], "metric": ["acc", "exact_match"], "score": [1, 0]}
    convert(rows, output=tmp_path / "table.csv")
    assert summarize(tmp_path / "table.csv").models[0].value.value == 0.5


def test_the_reason_of_a_lost_answer_is_kept(tmp_path: Path) -> None:
    rows = {"item": ["a", "b", "c"], "score": [1, 0, None], "error": ["", "429 Too Many Requests", ""]}
    convert(rows, output=tmp_path / "table.csv")
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert lines == [
        "model,item,metric,score,error",
        "the table,a,score,1.0,",
        "the table,b,score,,429 Too Many Requests",
        "the table,c,score,,no answer",
    ]


def test_a_name_without_a_format_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"output must end in \.parquet, \.csv, \.jsonl, but got 'table\.xlsx'"):
        convert(tmp_path / "missing.csv", output="table.xlsx")
    with pytest.raises(UsageError, match="convert needs at least one"):
        convert(output=tmp_path / "table.csv")


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("item,score\na,1\n")
    with pytest.raises(UsageError, match="cannot be written"):
        convert(path, output=path)
    assert path.read_text() == "item,score\na,1\n"
