"""Watching: against the confidence sequence by hand, and what it says."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ville import AsymptoticCS

import assay
from assay.errors import UsageError


def items(scores: Any) -> dict[str, Any]:
    return {"item": [f"q{i}" for i in range(len(scores))], "score": list(map(float, scores))}


def two(n: int, gain: float, seed: int = 3) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    a = rng.normal(0, 1, n)
    return items(a), items(a + rng.normal(gain, 1, n))


def test_interval_against_ville() -> None:
    a, b = two(5000, 0.05)
    found = assay.watch(a, b)
    theirs = AsymptoticCS(alpha=0.05, t_opt=500)
    theirs.update(np.array(b["score"]) - np.array(a["score"]))
    limits = found.difference.interval
    assert limits is not None
    assert (limits.low, limits.high) == pytest.approx(
        (float(np.ravel(theirs.lower_)[-1]), float(np.ravel(theirs.upper_)[-1])), abs=1e-3
    )


def test_clear_difference_stops_and_swapping_turns_it_round() -> None:
    a, b = two(400, 0.5)
    found, turned = assay.watch(a, b), assay.watch(b, a)
    assert (found.advice, found.verdict, turned.verdict, found.more) == ("stop", "better", "worse", None)
    assert found.sentence.startswith("Stop: B is better than A")
    lower = assay.watch(a, b, lower_is_better=True)
    assert lower.verdict == "worse"


def test_small_difference_goes_on_and_says_for_how_long() -> None:
    a, b = two(200, 0.15)
    found = assay.watch(a, b)
    assert (found.advice, found.verdict) == ("continue", "open")
    assert found.more is not None
    assert f"about {found.more:,} more items are expected" in found.sentence
    part = assay.watch(items([0] * 200), items([1, -1] * 99 + [1, -0.8]), population=204)
    assert "the answer is expected only with all 4 items that are left" in part.sentence


def test_population_counts_items_where_clusters_are_drawn() -> None:
    a, b = two(400, 0.2)
    groups = {"passage": [f"p{i // 4}" for i in range(400)]}
    found = assay.watch(a | groups, b | groups, cluster="passage", population=500)
    assert (found.n, found.n_clusters, found.population) == (400, 100, 500)
    with pytest.raises(UsageError, match="the 400 items"):
        assay.watch(a | groups, b | groups, cluster="passage", population=399)


def test_all_of_a_fixed_set_is_the_answer() -> None:
    a, b = two(60, 0.01)
    found = assay.watch(a, b, population=60)
    assert (found.advice, found.verdict) == ("stop", "complete")
    assert found.difference.interval is not None
    assert found.difference.interval.low == found.difference.value == found.difference.interval.high


def test_margin_stops_where_nothing_is_left() -> None:
    a, b = two(4000, 0.0)
    assert assay.watch(a, b, margin=0.2).verdict == "equivalent"
    assert assay.watch(a, b).advice == "continue"


def test_few_and_equal_items_say_nothing() -> None:
    few = assay.watch(*two(12, 3.0))
    assert (few.advice, few.difference.interval, few.more) == ("continue", None, 8)
    same = assay.watch(items([1, 0] * 30), items([1, 0] * 30))
    assert (same.advice, same.more) == ("continue", None)
    assert "nothing differs yet" in same.sentence


def test_what_is_refused() -> None:
    a, b = two(50, 0.1)
    with pytest.raises(UsageError, match="population must be at least the 50 items"):
        assay.watch(a, b, population=40)
    with pytest.raises(UsageError, match="margin must be positive"):
        assay.watch(a, b, margin=-1)
    with pytest.raises(UsageError, match="level must be"):
        assay.watch(a, b, level=1.0)


def test_json_and_back(tmp_path: Path) -> None:
    found = assay.watch(*two(100, 0.1), population=500)
    assert assay.Watch.from_dict(found.to_dict()) == found
