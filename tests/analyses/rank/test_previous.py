"""Boards that models join: no number of an old pair by itself moves, and what changed is said."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from assay import Design, InputError, Panel, UsageError, rank
from assay.analyses.rank import pair_tests
from assay.analyses.rank.result import Leaderboard
from assay.data.tables import Labels
from assay.stats.ranking import pair_tests as stats_pair_tests
from assay.stats.units import Floats
from tests.analyses.rank.boards import LADDER, SIZES, scores, task_panel, with_holes

QUICK = Design(resamples=400)
NAMES = ("ada", "bea", "cleo", "dora", "eva")


def saved(board: Leaderboard) -> Leaderboard:
    """As it comes back from a file."""
    return Leaderboard.from_dict(json.loads(json.dumps(board.to_dict())))


def alone(board: Leaderboard, a: str, b: str) -> tuple[Any, ...]:
    """What is known of two models by themselves, of a less b."""
    pair = board.pair(a, b)
    sign = 1 if pair.a == a else -1
    assert pair.alone is None or pair.alone.level == board.design.level
    limits = None if pair.alone is None else tuple(sorted((sign * pair.alone.low, sign * pair.alone.high)))
    value = None if pair.difference.value is None else sign * pair.difference.value
    return value, pair.difference.standard_error, limits, pair.test.name, pair.test.p_value, pair.difference.n


# -------------------------------------------------------------------------------------------------- nothing old moves


@st.composite
def panels(draw: st.DrawFn) -> Panel:
    """Five models: 0/1 or real scores, with weights, clusters, holes or tasks; the last may have items of its own."""
    real, tasks = draw(st.booleans()), draw(st.booleans())
    n, seed = draw(st.integers(24, 90)), draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    values = scores((0.8, 0.7, 0.65, 0.5, 0.6), seed, (n,), real=real)
    if draw(st.booleans()):
        values = with_holes(values, 0.15, seed)
    if draw(st.booleans()):  # the board does not have these
        values[rng.random(n) < 0.1, :4] = np.nan
    if draw(st.booleans()):
        values[rng.random(n) < 0.2, 4] = np.nan
    values = values[~np.isnan(values).all(axis=1)]
    n = len(values)
    options: dict[str, Any] = {"holes": True}
    if draw(st.booleans()):
        options["weights"] = rng.integers(1, 4, n).astype(float)
    if draw(st.booleans()):
        options["clusters"] = [f"c{i}" for i in rng.integers(0, n // 2, n)]
    labels = {"task": [f"t{i % 3}" for i in range(n)]} if tasks else {}
    return Panel.from_arrays(values, systems=list(NAMES), labels=labels, **options)


def some_models(panel: Panel, names: tuple[str, ...]) -> Panel:
    """As if only these had been read: without the items that none of them has answered."""
    made = panel.of_models(names)
    return made.rows(np.asarray(made.answered.any(axis=1)))


@settings(deadline=None, max_examples=60)
@given(panels(), st.sampled_from(NAMES), st.sampled_from(["holm", "max-t", "bh", "none"]), st.sampled_from([None, 300]))
def test_no_number_of_an_old_pair_moves(panel: Panel, new: str, adjust: Any, resamples: int | None) -> None:
    """Exactly: estimates, errors, unadjusted intervals and p-values, whatever the scores and whoever joins."""
    old = tuple(name for name in NAMES if name != new)
    design = Design(resamples=resamples)
    try:
        before = rank(some_models(panel, old), design=design, adjust=adjust)
        board = rank(panel, design=design, adjust=adjust, previous=saved(before))
    except InputError:  # too few answers are left to rank anything
        reject()
    assert board.changes is not None
    assert (board.changes.added, board.changes.moved, board.changes.changed) == ((new,), (), ())
    for a, b in combinations(old, 2):
        assert alone(board, a, b) == alone(before, a, b)


@pytest.mark.parametrize("adjust", ["holm", "max-t"])
def test_adjusted_numbers_do_move_and_it_says_so(adjust: Any) -> None:
    panel = task_panel(scores((0.7, 0.66, 0.6, 0.64)))
    before = rank(panel.of_models(("ada", "bea", "cleo")), design=QUICK, adjust=adjust)
    board = rank(panel, design=QUICK, adjust=adjust, previous=before)
    old = list(combinations(("ada", "bea", "cleo"), 2))
    assert any(board.pair(*both).p_adjusted != before.pair(*both).p_adjusted for both in old)
    assert any(board.pair(*both).difference != before.pair(*both).difference for both in old)
    text = " ".join(board.to_text().split())
    assert "No estimate, unadjusted interval or p of the 3 old pairs moved" in text
    assert "adjusted ones are now for 6 pairs instead of 3" in text


def test_a_board_that_grows_one_by_one_is_the_board_of_all() -> None:
    """Nothing of the way there is left in its numbers."""
    panel = task_panel()
    board = rank(panel.of_models(("ada", "dora")), design=QUICK)
    for names in (("ada", "cleo", "dora"), ("ada", "bea", "cleo", "dora")):
        board = rank(panel.of_models(names), design=QUICK, previous=saved(board))
    once = rank(panel, design=QUICK)
    assert msgspec.structs.replace(board, changes=None) == once


def test_exact_tests_stay_exact_when_there_is_no_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of pairs decides between exact flips and random ones, BCa and t: not for a board that is continued."""
    panel = Panel.from_arrays(scores(LADDER, sizes=(120,), real=True), systems=list(NAMES[:4]))
    before = rank(panel.of_models(NAMES[:3]))
    assert before.computed.tests == "exact"
    monkeypatch.setattr(stats_pair_tests, "EXACT_SECONDS", 0.0)
    monkeypatch.setattr(pair_tests, "INTERVAL_SECONDS", 0.0)
    fresh, board = rank(panel), rank(panel, previous=before)
    assert (fresh.computed.tests, board.computed.tests) == ("shared signs", "exact")
    assert "t" in fresh.pairs.difference.method
    assert set(board.pairs.difference.method) == set(before.pairs.difference.method)
    assert board.changes is not None
    assert board.changes.moved == ()


def test_random_flips_stay_random_when_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that were computed exactly, because flips did not settle them, are computed exactly again."""
    panel = Panel.from_arrays(scores((1.5, 1.0, 0.9, 0.85, 0.0), sizes=(120,), real=True), systems=list(NAMES))
    with monkeypatch.context() as patched:
        patched.setattr(stats_pair_tests, "_PER_PAIR", 0.6)  # time for one or two
        before = rank(panel.of_models(NAMES[:4]))
    assert before.computed.tests == "shared signs"
    sampled = before.pairs.test.sampled
    board = rank(panel, previous=saved(before))
    assert board.computed.tests == "shared signs"
    assert board.changes is not None
    assert board.changes.moved == ()
    assert sampled is not False


# ------------------------------------------------------------------------------------------------------- what it says


def continued(values: Floats, **options: Any) -> tuple[Leaderboard, Leaderboard]:
    panel = Panel.from_arrays(values, systems=list(NAMES[: values.shape[1]]))
    before = rank(panel.of_models(NAMES[: values.shape[1] - 1]), design=QUICK, **options)
    return before, rank(panel, design=QUICK, previous=before, **options)


def test_the_new_model_and_those_it_moves_down() -> None:
    _, board = continued(scores((0.9, 0.7, 0.5, 0.8), sizes=(300,)))
    assert board.changes is not None
    places = {one.name: (one.rank_before, one.rank, one.tier_before, one.tier) for one in board.changes.places}
    assert places == {"ada": (1, 1, 1, 1), "dora": (None, 2, None, 2), "bea": (2, 3, 2, 3), "cleo": (3, 4, 3, 4)}
    assert not board.changes.reordered
    said = board.sections[0].said
    assert said[0] == "New: dora, rank 2 of 4, tier 2."
    assert said[1] == "The old models keep their order; moved down: bea 2 → 3 and cleo 3 → 4."
    assert said[2] == "No tier of the old models split, and none merged."
    frame = board.sections[0].tables[0].to_frame()
    assert frame["rank"].tolist() == [1, 2, 3, 4]
    assert frame["rank_before"].tolist()[2:] == [2, 3]


def test_a_claim_that_more_pairs_take_back() -> None:
    """Two models that are told apart at p = 0.03 are not when p is for six pairs."""
    rng = np.random.default_rng(0)
    base = (rng.random(200) < 0.6).astype(float)
    ahead = base.copy()
    ahead[np.flatnonzero(base == 0)[:12]] = 1
    ahead[np.flatnonzero(base == 1)[:3]] = 0
    others = [(rng.random(200) < 0.62).astype(float) for _ in range(2)]
    panel = Panel.from_arrays(np.column_stack([ahead, base, *others]), systems=list(NAMES[:4]))
    before = rank(panel.of_models(("ada", "bea")), design=QUICK)
    assert before.pairs.verdict == ("better",)
    board = rank(panel, design=QUICK, previous=before)
    assert board.changes is not None
    (claim,) = board.changes.claims
    assert (claim.a, claim.b, claim.before, claim.now) == ("ada", "bea", "better", "not told apart")
    assert (claim.p_before, claim.p_now) == (before.pairs.p_adjusted[0], board.pair("ada", "bea").p_adjusted)
    assert board.changes.merged == ((("ada",), ("bea",)),)
    assert any(text.startswith("No longer shown: ada > bea (adjusted p ") for text in board.sections[0].said)
    assert "Tiers merged: ada with bea." in board.sections[0].said


def test_a_tier_that_splits() -> None:
    """A model that is better than the first of a tier takes the tier's others into its own or not."""
    before, board = continued(scores((0.66, 0.6, 0.56, 0.82), seed=1, sizes=(150,)))
    assert before.tiers == (("ada", "bea", "cleo"),)
    assert board.changes is not None
    assert board.tiers[0] == ("dora",)
    moved = msgspec.structs.replace(before, tiers=(("ada", "cleo"), ("bea",)))
    found = rank_changes(board, moved)
    assert found.merged == ((("ada", "cleo"), ("bea",)),)
    assert rank_changes(moved, board).split == ((("ada", "cleo"), ("bea",)),)


def rank_changes(board: Leaderboard, before: Leaderboard) -> Any:
    from assay.analyses.rank.previous import changes_of

    return changes_of(board, before)


def test_answers_that_changed_are_named() -> None:
    panel = task_panel()
    before = rank(panel.of_models(("ada", "bea", "cleo")), design=QUICK)
    values = panel.values.copy()
    values[:7, 1] = 1 - values[:7, 1]
    board = rank(task_panel(values), design=QUICK, previous=before)
    assert board.changes is not None
    assert board.changes.changed == ("bea",)
    assert {frozenset(both) for both in board.changes.moved} == {frozenset(("ada", "bea")), frozenset(("bea", "cleo"))}
    assert "the answers of bea are not those of the board before" in " ".join(board.sections[0].said)


def test_other_options_are_seen_in_the_numbers() -> None:
    values = with_holes(scores())
    panel = task_panel(values, holes=True)
    before = rank(panel.of_models(("ada", "bea", "cleo")), design=QUICK)
    board = rank(panel, design=QUICK, previous=before, missing="zero")
    assert board.changes is not None
    assert board.changes.moved
    assert "not those of the board before" in " ".join(board.sections[0].said)


def test_items_of_the_new_model_alone_are_left_out_and_counted() -> None:
    values = scores(LADDER, sizes=(100,))
    values[:9, :3] = np.nan
    panel = Panel.from_arrays(values, systems=list(NAMES[:4]), holes=True)
    before = rank(some_models(panel, NAMES[:3]), design=QUICK)
    board = rank(panel, design=QUICK, previous=before)
    assert (before.n_units, board.n_units) == (91, 91)
    assert "9 items left out that the previous board does not have" in board.notes


def test_a_task_of_the_new_model_alone_is_left_out() -> None:
    values = scores()
    values[: SIZES["law"], :3] = np.nan
    panel = task_panel(values, holes=True)
    before = rank(some_models(panel, NAMES[:3]), design=QUICK)
    board = rank(panel, design=QUICK, previous=before)
    assert [task.task for task in board.tasks] == ["math", "physics", "poetry"]


def test_complete_items_are_those_of_the_board() -> None:
    values = with_holes(scores(LADDER, sizes=(100,)), 0.1)
    panel = Panel.from_arrays(values, systems=list(NAMES[:4]), holes=True)
    before = rank(panel.of_models(NAMES[:3]), design=QUICK, missing="complete")
    board = rank(panel, design=QUICK, missing="complete", previous=before)
    assert board.n_units == before.n_units
    assert board.changes is not None
    assert board.changes.moved == ()


def test_weights_and_adjustment_are_those_of_the_board() -> None:
    panel = task_panel()
    weights = {"law": 3, "math": 1, "physics": 0, "poetry": 2}
    before = rank(panel.of_models(NAMES[:3]), level=0.9, resamples=400, adjust="holm", total=weights)
    board = rank(panel, previous=before)
    assert (board.adjust, board.total, board.design) == ("holm", "given", before.design)
    assert [task.weight for task in board.tasks] == pytest.approx([task.weight for task in before.tasks])
    assert board.changes is not None
    assert board.changes.moved == ()


def test_nobody_new_is_said() -> None:
    board = rank(task_panel(), design=QUICK)
    again = rank(task_panel(), design=QUICK, previous=board)
    assert again.sections[0].said[:2] == ("No model is new.", "The old models keep their ranks.")


# ------------------------------------------------------------------------------------------------------------- refusals


def test_models_of_the_board_must_be_there() -> None:
    before = rank(task_panel(), design=QUICK)
    with pytest.raises(InputError, match="ranks ada, bea, cleo, dora, but the results are of ada, bea; give those of"):
        rank(task_panel().of_models(("ada", "bea")), design=QUICK, previous=before)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"level": 0.9}, "made with `level=0.95`, and now it is 0.9"),
        ({"seed": 3}, "made with `seed=0`"),
        ({"resamples": 500}, "no `resamples`"),
        ({"by": "language"}, "`by='task'`"),
    ],
)
def test_another_design_is_refused(options: dict[str, Any], match: str) -> None:
    before = rank(task_panel().of_models(NAMES[:3]))
    with pytest.raises(UsageError, match=match):
        rank(task_panel(), previous=before, **options)


def test_tasks_are_refused_where_the_board_has_none() -> None:
    panel = Panel.from_arrays(scores(LADDER, sizes=(60,)), systems=list(NAMES[:4]))
    before = rank(panel.of_models(NAMES[:3]), design=QUICK)
    labelled = replace(panel, labels={"task": Labels.of(np.array([f"t{i % 2}" for i in range(60)], dtype=object))})
    assert rank(labelled, design=QUICK, previous=before).by is None
    with pytest.raises(UsageError, match="takes all items together"):
        rank(labelled, design=QUICK, previous=before, total="macro")


def test_no_common_item_is_refused() -> None:
    before = rank({"item": ["x", "y"] * 1, "score": [1, 0]}, {"item": ["x", "y"], "score": [0, 1]}, names=("a", "b"))
    other = task_panel(scores((0.5, 0.6, 0.7), sizes=tuple(SIZES.values())))
    with pytest.raises(InputError, match="the previous board ranks a, b"):
        rank(other, previous=before)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{", "JSON"),
        ("[]", "not a leaderboard"),
        ('{"schema": "assay/suite/1"}', "not a leaderboard"),
        ('{"schema": "assay/leaderboard/2"}', "damaged leaderboard"),
    ],
)
def test_files_that_hold_no_board_are_refused(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / "board.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=match):
        rank(task_panel(), previous=path)
