"""pass@k in verbs: summaries and comparisons of items with several attempts."""

import json
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assay import InputError, Panel, Summary, UsageError, compare, summarize

RNG = np.random.default_rng(18)
NAN = float("nan")


def attempts(n: int = 30, most: int = 6, *, holes: bool = True) -> np.ndarray:
    """Right and wrong attempts at items of their own difficulty, with fewer at some."""
    values = (RNG.random((n, most)) < RNG.beta(0.6, 0.6, (n, 1))).astype(float)
    if holes:
        for i in range(n):
            values[i, RNG.integers(3, most + 1) :] = NAN
    return values


def long(values: np.ndarray, model: str) -> dict[str, list[Any]]:
    rows = [(i, j) for i, j in np.ndindex(*values.shape) if not np.isnan(values[i, j])]
    return {
        "item": [f"q{i:02d}" for i, _ in rows],
        "model": [model] * len(rows),
        "run": [f"seed {7 * i + 3 * j}" for i, j in rows],
        "score": [values[i, j] for i, j in rows],
    }


def by_enumeration(values: np.ndarray, k: int, *, every: bool = False) -> np.ndarray:
    found = []
    for row in values:
        own = row[~np.isnan(row)]
        if len(own) >= k:
            found.append(np.mean([all(s) if every else any(s) for s in combinations(own, k)]))
    return np.array(found)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_summary_against_enumeration(k: int) -> None:
    values = attempts()
    for found in (summarize(values, at=k), summarize(long(values, "the model"), at=k)):
        rate = found.passes[0]
        assert rate.one.value == pytest.approx(by_enumeration(values, k).mean())
        assert rate.every.value == pytest.approx(by_enumeration(values, k, every=True).mean())
        assert rate.n == len(by_enumeration(values, k)) == 30 - rate.left_out
        assert rate.one.standard_error == pytest.approx(scipy_stats.sem(by_enumeration(values, k)))
        assert found.models[0].runs == (3, 6)
        if k == 4:
            assert any(f"at 4: {rate.left_out} of 30 items of the model have fewer than 4" in n for n in found.notes)


def test_tables_panels_and_arrays_say_the_same() -> None:
    a, b = attempts(), attempts()
    panel = Panel.from_arrays(np.hstack([a, b]), models=["A"] * 6 + ["B"] * 6, holes=True)
    table = {name: values + long(b, "B")[name] for name, values in long(a, "A").items()}
    expected = summarize(panel, at=[1, 3])
    assert summarize(a, b, at=[3, 1]).passes == expected.passes
    assert summarize(table, at=[1, 3]).passes == expected.passes
    assert [(one.name, one.k) for one in expected.passes] == [("A", 1), ("B", 1), ("A", 3), ("B", 3)]
    assert summarize(a, b, at=3, names=["x", "y"]).passes[0].name == "x"
    for every in (False, True):
        found = compare(panel, at=3, every=every)
        assert found.difference == compare(a, b, at=3, every=every).difference
        assert found.difference == compare(table, at=3, every=every).difference
        assert found.measure == f"pass{'^' if every else '@'}3"


def test_a_comparison_is_paired_item_by_item() -> None:
    """Against scipy's t interval of the differences of enumerated rates."""
    a, b = attempts(holes=False), attempts(holes=False)
    gaps = by_enumeration(b, 3) - by_enumeration(a, 3)
    found = compare(a, b, at=3, method="t", names=["old", "new"])
    expected = scipy_stats.ttest_1samp(gaps, 0).confidence_interval(0.95)
    assert (found.systems.a, found.systems.b) == ("old", "new")
    assert found.difference.interval is not None
    assert found.difference.value == pytest.approx(gaps.mean())
    assert (found.difference.interval.low, found.difference.interval.high) == pytest.approx(
        (expected.low, expected.high)
    )
    assert "pass@3" in found.sentence


def test_without_a_wish_k_is_one_and_the_most_that_every_item_has() -> None:
    values = attempts()
    assert [one.k for one in summarize(long(values, "m")).passes] == [1, 3]
    values[0, 1:] = NAN  # one attempt
    assert summarize(long(values, "m")).passes == ()
    graded = long(attempts() * 0.5, "m")
    assert summarize(graded).passes == ()
    assert summarize(Panel.from_arrays(attempts(holes=False), models=["m"] * 6)).passes[1].k == 6


def test_the_noise_of_attempts_by_hand() -> None:
    """Nested analysis of variance: MS within / attempts over MS between / attempts, each per item."""
    values = attempts(60, 8, holes=False)
    rate = summarize(values, at=1).passes[0]
    within = values.var(axis=1, ddof=1).mean() / 8 / 60
    total = values.mean(axis=1).var(ddof=1) / 60
    assert rate.noise is not None
    assert rate.noise.share == pytest.approx(within / total)
    assert rate.noise.error == pytest.approx(sqrt(total))
    assert rate.noise.twice_items == pytest.approx(sqrt(total / 2))
    assert rate.noise.twice_attempts == pytest.approx(sqrt(total - within / 2))
    assert summarize(values, at=5).passes[0].noise is None  # ten attempts would be needed


def test_single_attempts_and_items_that_one_model_did_not_attempt() -> None:
    a, b = attempts(holes=False), attempts(holes=False)
    assert compare(a[:, 0], b[:, 0], at=1).difference.value == pytest.approx(b[:, 0].mean() - a[:, 0].mean())
    b[3] = NAN
    found = compare(a, b, at=2)
    assert (found.n_pairs, found.dropped.only_a) == (29, 1)
    assert [rate.n for rate in summarize(a, b, at=2).passes] == [30, 29]


def test_what_is_said_of_the_noise() -> None:
    coins = np.tile([1.0, 0.0, 1.0, 0.0], (40, 1))
    coins[::2] = 1 - coins[::2]
    coins[:, 0] = RNG.integers(0, 2, 40)
    (said,) = summarize(coins, at=1, names=["coin"]).attempts_said
    assert said.startswith("coin: 100% of the variance of pass@1 is between attempts, the rest between items.")
    assert said.endswith("either helps as much.")
    settled = np.repeat(RNG.integers(0, 2, (40, 1)), 4, axis=1)
    settled[0] = [0, 1, 1, 1]
    (said,) = summarize(settled, at=1).attempts_said
    assert said.endswith("more items help more.")


def test_more_attempts_may_help_more_where_k_is_large() -> None:
    """Equal items have nothing between them, and twice the attempts more than halve the noise of pass@3."""
    values = (np.random.default_rng(5).random((200, 6)) < 0.15).astype(float)
    noise = summarize(values, at=3).passes[0].noise
    assert noise is not None
    assert noise.twice_attempts < noise.twice_items
    assert noise.share > 0.9


def test_all_right_is_not_certain() -> None:
    rate = summarize(np.ones((20, 5)), at=5).passes[0]
    assert rate.one.interval is not None
    assert (rate.one.value, rate.one.interval.high) == (1, 1)
    assert 0.75 < rate.one.interval.low < 0.85
    assert rate.noise is None


def test_clusters_and_weights_stay() -> None:
    values = attempts(holes=False)
    columns = long(values, "m")
    columns["passage"] = [f"p{int(item[1:]) // 5}" for item in columns["item"]]
    found = summarize(columns, at=2, cluster="passage")
    assert found.n_clusters == 6
    weights = np.arange(1.0, 31)
    panel = Panel.from_arrays(values, weights=weights, models=["m"] * 6)
    weighted = summarize(panel, at=2).passes[0].one.value
    assert weighted == pytest.approx(np.average(by_enumeration(values, 2), weights=weights))


def test_the_record_survives_json_and_has_tables() -> None:
    found = summarize(attempts(), attempts(), at=[1, 2])
    again = Summary.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert again == found
    table = found.tables[1]
    assert table.header == ("model", "k", "pass@k [95%]", "pass^k [95%]", "n", "noise of attempts")
    assert table.records()[0]["pass_at_k"] == found.passes[0].one.value
    assert [section.key for section in found.sections] == ["models", "attempts"]


BAD: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (attempts(), {"at": 7}, InputError, "the model has at most 6 attempts at an item, too few for `at=7`"),
    (attempts() / 2, {"at": 2}, InputError, "attempts that are right or wrong"),
    (attempts(), {"at": 0}, UsageError, "at must be a whole number from 1"),
    (attempts(), {"at": 1.5}, UsageError, "at must be a whole number from 1"),
    (attempts(), {"at": [1.5]}, UsageError, "at must be a whole number from 1"),
    (attempts(), {"at": []}, UsageError, "at must be one number or several"),
    ({"item": [1, 2], "score": [1, 0]}, {"at": 2}, InputError, "at most 1 attempt at an item"),
    ({"window": [1], "tokens": [3], "loss": [0.5]}, {"at": 1}, InputError, "attempts that are right or wrong"),
]


@pytest.mark.parametrize(("source", "options", "error", "part"), BAD)
def test_what_has_no_pass_at_k(source: Any, options: dict[str, Any], error: type[Exception], part: str) -> None:
    with pytest.raises(error, match=part):
        summarize(source, **options)


def test_comparisons_that_are_refused() -> None:
    a = attempts()
    with pytest.raises(UsageError, match="say how many with `at=k`"):
        compare(a, a, every=True)
    with pytest.raises(UsageError, match="names must be 2 different names"):
        compare(a, a, at=2, names=["x", "x"])
    with pytest.raises(UsageError, match="per is about losses"):
        compare(a, a, at=2, per="byte")
    with pytest.raises(InputError, match="too few for `at=9`"):
        compare(a, a, at=9)


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_the_order_of_attempts_changes_nothing(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    values = (rng.random((8, 4)) < 0.6).astype(float)
    shuffled = rng.permuted(values, axis=1)
    assert summarize(values, at=k).passes == summarize(shuffled, at=k).passes
    other = (rng.random((8, 4)) < 0.5).astype(float)
    assert compare(values, other, at=k).difference == compare(shuffled, other, at=k).difference


@given(st.integers(0, 10**6))
def test_pass_at_1_is_the_mean(seed: int) -> None:
    values = (np.random.default_rng(seed).random((9, 5)) < 0.7).astype(float)
    found = summarize(values, at=1)
    assert found.passes[0].one.value == pytest.approx(values.mean())
    assert found.passes[0].every.value == pytest.approx(found.models[0].value.value)
