"""Runs of both models: one line for runs like these, in a comparison of one task and in the total of several."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assay import Panel, compare, compare_suite
from assay.analyses.runs_like_these import INCOMPLETE
from assay.stats.runs_like_these import run_spread
from assay.stats.units import Floats

N, RUNS = 80, 3


def scores(seed: int = 1, shift: float = 0.0, run_sd: float = 0.0) -> tuple[Floats, Floats]:
    """(items, runs) of A and B: right or wrong, with runs that move all items together."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=(N, 1))
    made = [
        (ability + move + run_sd * rng.normal(size=RUNS) + 0.5 * rng.normal(size=(N, RUNS)) > 0).astype(float)
        for move in (0.0, shift)
    ]
    return made[0], made[1]


def table(values: Floats, **more: Any) -> dict[str, Any]:
    n, runs = values.shape
    return {
        "item": np.repeat([f"q{i:03d}" for i in range(n)], runs).tolist(),
        "run": np.tile(np.arange(runs), n).tolist(),
        "score": values.ravel().tolist(),
        **{name: np.repeat(column, runs).tolist() for name, column in more.items()},
    }


def test_one_task_by_hand() -> None:
    a, b = scores(shift=0.3, run_sd=0.3)
    found = compare(table(a), table(b), names=("A", "B"))
    like = found.runs_like_these
    assert like is not None
    assert like.runs == (RUNS, RUNS)
    own = float((b.mean(axis=1) - a.mean(axis=1)).var(ddof=1)) / N
    spreads = [run_spread([(x, np.ones(N))], [1.0]) for x in (a, b)]
    between = max(0.0, sum(one.variance - one.noise for one in spreads))
    assert like.difference.value == found.difference.value
    assert like.difference.standard_error == pytest.approx(np.sqrt(own + between))
    assert like.share == pytest.approx(between / (own + between))
    assert "runs like these" in str(found)


def test_a_panel_with_runs_is_the_same_as_its_tables() -> None:
    a, b = scores(shift=0.3, run_sd=0.3)
    ids = [f"q{i:03d}" for i in range(N)]
    panel = Panel.from_arrays(np.hstack([a, b]), ids=ids, models=["A"] * RUNS + ["B"] * RUNS)
    assert compare(panel).runs_like_these == compare(table(a), table(b), names=("A", "B")).runs_like_these
    turned = compare(panel, models=("B", "A")).runs_like_these
    assert turned is not None
    assert turned.difference.value == pytest.approx(-(compare(panel).difference.value or 0))


@pytest.mark.parametrize("lost", [0, 1])
def test_nothing_is_said_where_a_model_has_one_run_or_items_lack_some(lost: int) -> None:
    a, b = scores()
    whole, part = table(a), table(b)
    if lost:
        part = {name: column[:-1] for name, column in part.items()}
        found = compare(whole, part, names=("A", "B"))
        assert INCOMPLETE in found.notes
    else:
        single = {name: column[::RUNS] for name, column in part.items() if name != "run"}
        found = compare(whole, single, names=("A", "B"))
        assert INCOMPLETE not in found.notes
    assert found.runs_like_these is None
    assert "runs like these" not in {fact.label for fact in found.facts}


def test_where_runs_differ_much_other_runs_may_differ() -> None:
    for seed in range(20):
        a, b = scores(seed, shift=0.5, run_sd=1.0)
        found = compare(table(a), table(b), names=("A", "B"))
        like = found.runs_like_these
        assert like is not None
        assert like.difference.interval is not None
        assert found.difference.interval is not None
        assert like.difference.interval.low <= found.difference.interval.low
        assert like.difference.interval.high >= found.difference.interval.high
        said = "other runs may differ" in found.sentence
        assert said == (found.verdict in ("better", "worse") and like.p_value > 0.05)


def test_clusters_are_drawn_whole_in_runs_too() -> None:
    a, b = scores(shift=0.3, run_sd=0.3)
    groups = np.arange(N) // 4
    found = compare(table(a, passage=groups), table(b, passage=groups), names=("A", "B"), cluster="passage")
    like = found.runs_like_these
    assert like is not None
    sums = [x.reshape(N // 4, 4, RUNS).sum(axis=1) for x in (a, b)]
    spreads = [run_spread([(x, np.full(N // 4, 4.0))], [1.0]) for x in sums]
    between = max(0.0, sum(one.variance - one.noise for one in spreads))
    own = (found.difference.standard_error or 0.0) ** 2
    assert like.difference.standard_error == pytest.approx(np.sqrt(own + between))


def test_the_total_of_tasks_by_hand() -> None:
    a, b = scores(shift=0.4, run_sd=0.4)
    tasks = np.repeat(["easy", "hard"], [30, 50])
    found = compare_suite(table(a, task=tasks), table(b, task=tasks), names=("A", "B"), total={"easy": 1, "hard": 3})
    like = found.total.runs_like_these
    assert like is not None
    spreads = [run_spread([(x[:30], np.ones(30)), (x[30:], np.ones(50))], [0.25, 0.75]) for x in (a, b)]
    between = max(0.0, sum(one.variance - one.noise for one in spreads))
    own = (found.total.difference.standard_error or 0.0) ** 2
    assert like.difference.standard_error == pytest.approx(np.sqrt(own + between))
    assert {fact.label: fact.value for fact in found.facts}["runs like these"] == like.difference
    again = type(found).from_dict(found.to_dict())
    assert again == found


def test_a_suite_says_that_other_tasks_or_runs_may_differ() -> None:
    rng = np.random.default_rng(4)
    base = (rng.random((200, 1)) < 0.5).astype(float)
    a = np.repeat(base, 2, axis=1)
    b = np.repeat(np.where(rng.random((200, 1)) < 0.15, 1.0, base), 2, axis=1)
    b[:, 0] = 1.0  # the first run of B is always right, which no second one is
    tasks = np.repeat([f"t{i}" for i in range(5)], 40)
    found = compare_suite(table(a, task=tasks), table(b, task=tasks), names=("A", "B"))
    assert found.verdict == "better"
    assert found.sentence.endswith("other runs may differ.")


def test_runs_of_units_that_do_not_pair_are_left_out() -> None:
    a, b = scores(shift=0.3, run_sd=0.3)
    fewer = {name: column[: -2 * RUNS] for name, column in table(b).items()}
    found = compare(table(a), fewer, names=("A", "B"))
    alone = compare(table(a[:-2]), fewer, names=("A", "B"))
    assert found.runs_like_these == alone.runs_like_these
    assert found.runs_like_these is not None


def test_weights_are_those_of_the_panel() -> None:
    a, b = scores(shift=0.3, run_sd=0.3)
    weights = np.linspace(0.5, 2, N)
    panel = Panel.from_arrays(np.hstack([a, b]), weights=weights, models=["A"] * RUNS + ["B"] * RUNS)
    like = compare(panel).runs_like_these
    assert like is not None
    spreads = [run_spread([(x * weights[:, None], weights)], [1.0]) for x in (a, b)]
    own = (compare(panel).difference.standard_error or 0.0) ** 2
    between = max(0.0, sum(one.variance - one.noise for one in spreads))
    assert like.difference.standard_error == pytest.approx(np.sqrt(own + between))
    assert compare(replace(panel, models=panel.models)).runs_like_these == like
