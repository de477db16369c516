"""Leaderboards of several tasks, against the comparison of two models, summaries, literal flips, and statsmodels."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from assay import Design, InputError, Panel, UsageError, compare_suite, rank, summarize
from assay.analyses.rank.result import Leaderboard
from assay.data.tables import Labels
from assay.results.figures import Matrix
from assay.stats.streams import signs, stream_key
from tests.analyses.rank.boards import LADDER, MODELS, SIZES, scores, task_panel, with_holes

QUICK = Design(resamples=800)


def with_copies(panel: Panel) -> Panel:
    """The first items of law are in math too, and one of law is there twice, as their hashes tell."""
    hashes = [f"h{i}" for i in range(panel.n)]
    hashes[70:90], hashes[1] = hashes[:20], "h0"
    return replace(panel, labels={**panel.labels, "doc_hash": Labels.of(np.array(hashes, dtype=object))})


PANELS = {
    "0/1": task_panel(),
    "mover": task_panel(scores(sizes=(10, 300, 200, 250)), {"a": 10, "b": 300, "c": 200, "d": 250}),
    "real": task_panel(scores(real=True)),
    "clusters": task_panel(clusters=60),
    "weights": task_panel(weights=np.tile([1.0, 2.0, 3.0, 1.0, 2.0], 53)),
    "holes": task_panel(with_holes(scores()), holes=True),
    "copies": with_copies(task_panel()),
    "copies and clusters": with_copies(task_panel(clusters=60)),
}


@pytest.fixture(scope="module")
def board() -> Leaderboard:
    return rank(task_panel(), design=QUICK)


# ------------------------------------------------------------------------------------------------------------- oracles


@pytest.mark.parametrize("name", PANELS)
def test_every_pair_against_the_comparison_of_two(name: str) -> None:
    """Estimate, error, interval and p are those of `compare_suite`, on the items that both have."""
    panel, found = PANELS[name], rank(PANELS[name], design=QUICK, adjust="none")
    assert len(found.pairs) == 6
    for pair in found.pairs:
        alone = compare_suite(panel, models=(pair.b, pair.a)).total
        assert alone.difference.interval is not None
        assert pair.difference.interval is not None
        assert pair.difference.value == pytest.approx(alone.difference.value, rel=1e-9)
        assert pair.test.p_value == pytest.approx(alone.test.p_value, rel=1e-6)
        assert pair.test.name == alone.test.name
        limits = alone.difference.interval.low, alone.difference.interval.high
        assert (pair.difference.interval.low, pair.difference.interval.high) == pytest.approx(limits, abs=1e-7)
        assert pair.difference.standard_error == pytest.approx(alone.difference.standard_error, rel=1e-9)


@pytest.mark.parametrize("name", ["0/1", "mover", "real", "weights"])
def test_scores_and_their_intervals_against_the_summary(name: str) -> None:
    panel = PANELS[name]
    expected = summarize(panel).macro
    for model in rank(panel, design=QUICK).models:
        assert model.estimate.value == pytest.approx(expected[model.name].value, rel=1e-9)
        assert model.estimate.interval is not None
        limits = expected[model.name].interval
        assert limits is not None
        assert model.estimate.interval.low == pytest.approx(limits.low, abs=1e-9)
        assert model.estimate.interval.high == pytest.approx(limits.high, abs=1e-9)


def test_two_models_are_the_comparison() -> None:
    two = task_panel().pair(1, 0)
    found, alone = rank(two, design=QUICK), compare_suite(two)
    assert found.pairs[0].p_adjusted == found.pairs[0].test.p_value
    assert (found.pairs[0].verdict == "better") == (alone.verdict == "better")


@pytest.mark.parametrize("holes", [False, True])
def test_max_t_against_literal_flips_of_the_macro_scores(holes: bool) -> None:
    """|Σ s ω d|/√Σω²d² over all pairs with the same signs, step by step; p is never below that of the pair alone."""
    panel = PANELS["holes" if holes else "0/1"]
    found = rank(panel, design=QUICK)
    assert found.adjust == "max-t"
    codes, values = panel.label("task").codes, panel.values
    plus = np.where(signs(stream_key(0, "all pairs"), 0, 800, panel.n), 1.0, -1.0)
    null, observed, pairs = [], [], []
    for i in range(4):
        for j in range(i + 1, 4):
            gap = values[:, i] - values[:, j]
            weight = [1 / (~np.isnan(gap[codes == code])).sum() for code in codes]
            weighted = np.nan_to_num(gap * weight)
            size = np.sqrt((weighted**2).sum())
            null.append(np.abs(plus @ weighted) / size)
            observed.append(abs(weighted.sum()) / size)
            pairs.append((panel.systems[i], panel.systems[j]))
    left, least = list(np.argsort(observed)[::-1]), 0.0
    while left:
        place = left[0]
        reached = int((np.max([null[r] for r in left], axis=0) >= observed[place] - 1e-8).sum())
        least = max(least, (1 + reached) / 801)
        alone = found.pair(*pairs[place])
        assert alone.p_adjusted == pytest.approx(max(least, alone.test.p_value or 0.0), rel=1e-9)
        left.pop(0)


@pytest.mark.parametrize(("adjust", "method"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_adjusted_values_against_statsmodels(adjust: Any, method: str) -> None:
    found = rank(PANELS["0/1"], design=QUICK, adjust=adjust)
    expected = multipletests(found.pairs.test.p_value, method=method)[1]
    np.testing.assert_allclose(np.array(found.pairs.p_adjusted, dtype=float), expected, rtol=1e-12)


@pytest.mark.parametrize("adjust", ["max-t", "holm", "none"])
@pytest.mark.parametrize("name", PANELS)
def test_intervals_leave_out_0_exactly_where_p_rejects(name: str, adjust: Any) -> None:
    for pair in rank(PANELS[name], design=QUICK, adjust=adjust).pairs:
        assert pair.difference.interval is not None
        assert pair.p_adjusted is not None
        out = not pair.difference.interval.low <= 0 <= pair.difference.interval.high
        assert out == (pair.p_adjusted <= 0.05)


@pytest.mark.parametrize("total", ["macro", "items", {"law": 3, "math": 1, "physics": 0, "poetry": 2}])
def test_scores_by_hand_under_the_weights(total: Any) -> None:
    panel = task_panel()
    found = rank(panel, design=QUICK, total=total)
    means = {name: part.values.mean(axis=0) for name, part in panel.by("task")}
    weights = {"macro": dict.fromkeys(SIZES, 1), "items": SIZES}[total] if isinstance(total, str) else total
    for model in found.models:
        place = panel.systems.index(model.name)
        own = sum(weights[name] * means[name][place] for name in SIZES) / sum(weights.values())
        assert model.estimate.value == pytest.approx(own, rel=1e-12)
    for task in found.tasks:
        assert task.weight == pytest.approx(weights[task.task] / sum(weights.values()))
        places = [panel.systems.index(model.name) for model in found.models]
        assert task.scores == pytest.approx(means[task.task][places].tolist())
    assert found.total == (total if isinstance(total, str) else "given")
    assert found.n_units == sum(n for name, n in SIZES.items() if weights[name])


# --------------------------------------------------------------------------------------------------------- sensitivity


def decided_by(task: str, lead: float) -> Panel:
    """Two models that are alike except in one task, and a third that is worse everywhere."""
    rng = np.random.default_rng(5)
    names = np.repeat(list(SIZES), list(SIZES.values()))
    base = (rng.random(len(names)) < 0.6).astype(float)
    ahead = np.where((names == task) & (rng.random(len(names)) < lead), 1.0, base)
    behind = np.where((names != task) & (np.arange(len(names)) % 40 == 0), 1.0, base)
    poor = np.where(rng.random(len(names)) < 0.6, 0.0, base)
    return Panel.from_arrays(np.column_stack([ahead, behind, poor]), systems=list("xyz"), labels={"task": names})


def test_the_task_that_an_order_rests_on_by_hand() -> None:
    panel = decided_by("math", 0.9)
    found = rank(panel, design=QUICK)
    (on,) = [one for one in found.rests if (one.a, one.b) == ("x", "y")]
    gaps = {name: float((part.values[:, 0] - part.values[:, 1]).mean()) for name, part in panel.by("task")}
    assert on.task == "math"
    assert on.lead == pytest.approx(sum(gaps.values()) / 4)
    assert on.part == pytest.approx(gaps["math"] / 4)
    assert on.without == pytest.approx(sum(gap for name, gap in gaps.items() if name != "math") / 3)
    assert on.turns
    assert "x > y on math: without this task the other would be level or ahead" in found.to_text()


def test_an_order_that_rests_on_no_single_task(board: Leaderboard) -> None:
    assert board.rests
    assert not any(one.turns for one in board.rests)
    closest = min(board.rests, key=lambda one: one.without)
    assert f"closest: {closest.a} > {closest.b}" in board.to_text()


def test_nothing_is_said_of_tasks_and_weights_where_no_order_is_shown() -> None:
    """Among equal models the leader changes in most boards when a task is left out."""
    found = rank(task_panel(scores((0.6, 0.6, 0.6, 0.6), seed=3)), design=QUICK)
    assert found.pairs.told_apart == 0
    assert (found.rests, found.reweightings) == ((), ())
    assert not {"rests on", "weights"} & {fact.label for fact in found.facts}


def test_other_weights_against_ranking_by_them(board: Leaderboard) -> None:
    by_items = rank(task_panel(), design=QUICK, total="items")
    (other,) = board.reweightings
    assert (other.weights, other.units) == ("items", sum(SIZES.values()))
    before, after = ({model.name: model.rank for model in one.models} for one in (board, by_items))
    assert {move.name: (move.rank, move.to) for move in other.moves} == {
        name: (before[name], after[name]) for name in before if before[name] != after[name]
    }
    assert "with the mean of the tasks" in board.to_text()


# ------------------------------------------------------------------------------------------------------- what is read


def table(panel: Panel, system: int, **names: str) -> dict[str, list[Any]]:
    there = panel.answered[:, system]
    made = {
        "item": panel.ids[there].tolist(),
        "task": panel.label("task").texts[there].tolist(),
        "score": panel.values[there, system].tolist(),
    }
    return {names.get(name, name): column for name, column in made.items()}


def sources(panel: Panel, **names: str) -> list[dict[str, list[Any]]]:
    return [table(panel, system, **names) for system in range(panel.k)]


def test_tables_with_a_column_task_are_ranked_by_task(board: Leaderboard) -> None:
    found = rank(*sources(task_panel()), names=MODELS, design=QUICK)
    assert found.models == board.models
    assert found.by == "task"


def test_another_column_is_named_by_by(board: Leaderboard) -> None:
    found = rank(*sources(task_panel(), task="language"), names=MODELS, design=QUICK, by="language")
    assert found.by == "language"
    assert [task.task for task in found.tasks] == list(SIZES)
    assert found.sentence.startswith("Over 4 languages: ")
    assert [model.estimate for model in found.models] == [model.estimate for model in board.models]


def test_a_label_of_a_panel_may_tell_tasks_apart() -> None:
    panel = task_panel()
    codes = Labels.of(np.array([f"part {i % 3}" for i in range(panel.n)], dtype=object))
    found = rank(
        Panel(**{**vars_of(panel), "labels": {**panel.labels, "part": codes}}), design=QUICK, by="part", total="items"
    )
    assert [task.task for task in found.tasks] == ["part 0", "part 1", "part 2"]


def vars_of(panel: Panel) -> dict[str, Any]:
    return {name: getattr(panel, name) for name in panel.__dataclass_fields__}


def test_few_items_of_many_tasks_are_taken_together_unless_asked() -> None:
    values = scores((0.7, 0.5), sizes=(30,))
    panel = Panel.from_arrays(values, systems=["a", "b"], labels={"task": [f"t{i // 5}" for i in range(30)]})
    assert rank(panel, design=QUICK).by is None
    assert any("items of 6 tasks are taken together" in note for note in rank(panel, design=QUICK).notes)
    assert rank(panel, design=QUICK, by="task").by == "task"


def test_a_method_by_name_takes_items_together(board: Leaderboard) -> None:
    assert rank(task_panel(), test="t").by is None
    with pytest.raises(UsageError, match="leave out `method` and `test`"):
        rank(task_panel(), test="t", by="task")


@pytest.mark.parametrize("option", [{"weights": "sqrt"}, {"min_n": 2}, {"split": "final"}])
def test_options_of_items_are_refused_with_tasks(option: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"`{next(iter(option))}` is not for several tasks"):
        rank(task_panel(), total="macro", **option)


def test_a_model_without_a_task_is_refused_by_name() -> None:
    values = scores()
    values[: SIZES["law"], 2] = np.nan
    with pytest.raises(InputError, match="'cleo' has no answer to the task 'law': a mean of tasks needs all of them"):
        rank(task_panel(values, holes=True), design=QUICK)
    zeros = rank(task_panel(values, holes=True), design=QUICK, missing="zero")
    assert zeros.tasks[0].scores[[model.name for model in zeros.models].index("cleo")] == 0.0


def test_a_task_that_only_one_model_has_is_left_out_and_named() -> None:
    values = scores()
    values[: SIZES["law"], 1:] = np.nan
    found = rank(task_panel(values, holes=True), design=QUICK)
    assert [task.task for task in found.tasks] == ["math", "physics", "poetry"]
    assert "left out, for only one model has answers: the task law" in found.notes


def test_items_that_occur_twice_are_counted_and_named() -> None:
    panel = PANELS["copies"]
    tables = sources(panel)
    for table_, hashes in ((table_, panel.label("doc_hash").texts.tolist()) for table_ in tables):
        table_["doc_hash"] = hashes
    found = rank(*tables, names=MODELS, design=QUICK)
    (note,) = [note for note in found.notes if "more than once" in note]
    assert "19 items occur more than once, with the same doc_hash, in several tasks" in note
    assert note in found.to_text(width=None)


def test_one_task_is_no_suite() -> None:
    panel = Panel.from_arrays(scores()[:60], systems=MODELS, labels={"task": ["law"] * 60})
    assert rank(panel, design=QUICK).by is None
    with pytest.raises(InputError, match="all items have the same task"):
        rank(panel, design=QUICK, by="task")


def test_the_label_of_tasks_cannot_be_the_cluster() -> None:
    with pytest.raises(UsageError, match="cannot be the cluster too"):
        rank(task_panel(), design=QUICK, by="task", cluster="task")


def test_models_that_share_no_item_of_a_task_are_refused_where_nothing_connects_them() -> None:
    values = scores(LADDER[:2])
    values[:30, 0], values[30:60, 1] = np.nan, np.nan
    panel = Panel.from_arrays(
        values, systems=["a", "b"], labels={"task": np.repeat(list(SIZES), list(SIZES.values()))}, holes=True
    )
    with pytest.raises(InputError, match="no item of some task connects 'b' with 'a'"):
        rank(panel, design=QUICK)


def test_weights_from_a_file_and_groups(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("task,weight\nlaw,1\nmath,1\nphysics,1\npoetry,3\n", "utf-8")
    found = rank(task_panel(), design=QUICK, total=tmp_path / "w.csv")
    assert [task.weight for task in found.tasks] == pytest.approx([1 / 6, 1 / 6, 1 / 6, 0.5])
    grouped = rank(task_panel(), design=QUICK, total="groups", groups={"science": ["math", "physics"]})
    assert [task.weight for task in grouped.tasks] == pytest.approx([1 / 3, 1 / 6, 1 / 6, 1 / 3])


# --------------------------------------------------------------------------------------------------------- what is said


def test_the_record_survives_json_and_says_its_tasks(board: Leaderboard) -> None:
    assert Leaderboard.from_dict(board.to_dict()) == board
    assert board.sentence.startswith("Over 4 tasks: ")
    assert "tasks:4 task|total:macro" in board.signature
    text = board.to_text()
    assert all(f"\n{name}" in text for name in SIZES)
    assert "265 items of 4 tasks" in text


def test_the_frame_of_tasks_has_the_numbers(board: Leaderboard) -> None:
    frame = board.task_frame()
    assert frame["task"].tolist() == list(SIZES)
    for place, model in enumerate(board.models):
        assert frame[model.name].tolist() == [task.scores[place] for task in board.tasks]
        errors = [np.sqrt(s * (1 - s) / (n - 1)) for s, n in zip(frame[model.name], frame["n"], strict=True)]
        assert frame[f"{model.name}_standard_error"].tolist() == pytest.approx(errors)


def test_the_heat_map_has_the_scores_and_the_distance_from_the_tasks_mean(board: Leaderboard) -> None:
    figure = board.sections[1].figures[0]
    assert isinstance(figure, Matrix)
    assert (figure.rows, figure.columns) == (tuple(SIZES), tuple(model.name for model in board.models))
    assert figure.values == tuple(task.scores for task in board.tasks)
    for values, shades in zip(figure.values, figure.shades, strict=True):
        own = np.array(values, dtype=np.float64)
        np.testing.assert_allclose(np.array(shades, dtype=np.float64), own - own.mean(), atol=1e-12)


def test_more_models_than_tasks_stand_below_each_other() -> None:
    found = rank(task_panel(scores((0.8, 0.7, 0.6, 0.5, 0.4, 0.3))), design=QUICK, lower_is_better=True)
    figure = found.sections[1].figures[0]
    assert isinstance(figure, Matrix)
    assert figure.columns == tuple(SIZES)
    assert figure.rows == tuple(model.name for model in found.models)
    best = [max(column, key=lambda shade: shade or 0.0) for column in zip(*figure.shades, strict=True)]
    assert best == [
        shades[values.index(min(values))]
        for values, shades in zip(zip(*figure.values, strict=True), zip(*figure.shades, strict=True), strict=True)
    ]


def test_long_names_are_places_in_the_table_of_tasks() -> None:
    values = scores(tuple(np.linspace(0.9, 0.3, 9)))
    panel = Panel.from_arrays(
        values,
        systems=[f"a model with a long name {i}" for i in range(9)],
        labels={"task": np.repeat(list(SIZES), list(SIZES.values()))},
    )
    text = rank(panel, design=QUICK).to_text()
    assert "Tasks: score of each model, by its place in the ranking" in text
