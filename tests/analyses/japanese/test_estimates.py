"""Estimates of Japanese text: against ratios of sums, enumeration of swaps, and the two sides of one difference."""

from itertools import product
from math import inf

import numpy as np
import pytest

from assay.analyses.japanese import Estimates, japanese
from assay.analyses.japanese.text_panel import text_panel
from assay.data import Panel
from assay.design import Design
from assay.stats.units import Units, standard_error
from tests.analyses.japanese.texts import counts

FAST = Design(resamples=400)
REFERENCES = ("猫がいる。", "カメラ", "犬が走る。", "鳥が飛ぶ。", "山に登る。", "abc")
GOOD = ("猫がいた。", "カメラ", "犬が走る", "鳥の飛ぶ。", "川に登る。", "abc")
POOR = ("猫", "カラ", "犬は走った", "鳥よ", "川が登る。", "ab")


def texts(*predictions: tuple[str, ...]) -> Panel:
    rows = {"item": list(map(str, range(6))), "reference": list(REFERENCES)}
    systems = [rows | {"prediction": list(one), "model": [f"m{i}"] * 6} for i, one in enumerate(predictions)]
    return text_panel(*systems, bleu=["char"])


def estimates(panel: Panel, design: Design = FAST) -> Estimates:
    return Estimates(panel, panel.metrics, design)


def test_a_ratio_is_that_of_the_units_that_have_a_part_in_it() -> None:
    part = counts(characters=np.where(np.arange(12)[:, None] < 5, 10.0, [10.0, 10.0, 0.0, 10.0]))
    part = counts(characters=part.characters, right=np.minimum(part.right, part.characters))
    (system,) = estimates(text_panel(part)).systems()
    value = system.value("accuracy/kanji")
    kept = part.characters[:, 2] > 0
    units = Units(part.right[kept, 2], part.characters[kept, 2])
    assert (value.estimate.n, value.characters) == (5, 50)
    assert value.estimate.value == pytest.approx(units.estimate)
    assert value.estimate.standard_error == pytest.approx(standard_error(units))


def test_a_difference_is_that_of_the_values() -> None:
    made = estimates(texts(GOOD, POOR))
    a, b = made.systems()
    for gap in made.gaps(1):
        before, after = (system.value(gap.quantity.key).estimate.value for system in (a, b))
        if before is None or after is None:
            assert gap.difference.value is None
        else:
            assert gap.difference.value == pytest.approx(after - before, abs=1e-9)


@pytest.mark.parametrize("key", ["cer", "accuracy", "bleu/char", "chrf"])
def test_randomization_against_enumeration_of_all_swaps(key: str) -> None:
    """With a method that has no p-value of its own, the test alone speaks."""
    found = texts(GOOD, POOR)
    made = estimates(found, Design(method="percentile", resamples=400))
    (gap,) = [gap for gap in made.gaps(1) if gap.quantity.key == key]
    metric, a, b = found.metric_named(key), found.sums(key, 0), found.sums(key, 1)
    observed = abs(float(metric.value(b.sum(axis=0)) - metric.value(a.sum(axis=0))))
    reached = 0
    for swaps in product((False, True), repeat=6):
        swapped = np.array(swaps)[:, None]
        first, other = np.where(swapped, b, a).sum(axis=0), np.where(swapped, a, b).sum(axis=0)
        reached += abs(float(metric.value(other) - metric.value(first))) >= observed * (1 - 1e-12)
    assert gap.randomization.p_value is not None
    assert gap.randomization.p_value >= reached / 64 - 1e-12  # the interval may ask for more, never for less
    if not made.design.paired:
        assert gap.randomization.p_value == pytest.approx(reached / 64)


def test_p_is_at_most_one_minus_the_level_exactly_where_the_interval_leaves_out_zero() -> None:
    for level in (0.5, 0.8, 0.95):
        for gap in estimates(texts(GOOD, POOR), Design(resamples=400, level=level)).gaps(1):
            limits, p = gap.difference.interval, gap.randomization.p_value
            if limits is not None and p is not None:
                assert (p <= 1 - level) == (limits.low > 0 or limits.high < 0)


def test_swapping_the_systems_turns_every_difference_round() -> None:
    one, other = (estimates(texts(*pair)).gaps(1) for pair in ((GOOD, POOR), (POOR, GOOD)))
    for a, b in zip(one, other, strict=True):
        assert a.difference.value == pytest.approx(-(b.difference.value or 0.0), abs=1e-12)
        assert a.randomization.p_value == pytest.approx(b.randomization.p_value)


def test_a_unit_alone_has_no_interval_and_says_why() -> None:
    made = estimates(text_panel(counts(n=1), counts("n", n=1, seed=2)))
    for system in made.systems():
        assert {value.estimate.reason for value in system.values} == {"only one document counts in it"}
    assert all(gap.difference.interval is None for gap in made.gaps(1))


def test_what_was_not_done_as_asked_is_said_once() -> None:
    made = estimates(texts(GOOD, GOOD))
    made.gaps(1)
    assert made.fallbacks
    assert len(set(made.fallbacks)) == len(made.fallbacks)


@pytest.mark.parametrize("right", [1, 11])
def test_no_limit_lies_where_a_score_cannot(right: int) -> None:
    """One right of twelve, or one wrong: without bounds, closed forms reach beyond 0 and beyond 100."""
    reference = [f"犬が{i}匹いる。" for i in range(12)]
    said = [text if i < right else "違う" for i, text in enumerate(reference)]
    rows = {"item": [str(i) for i in range(12)], "prediction": said, "reference": reference}
    found = japanese(rows, bleu=["char"])
    seen = [value for value in found.systems[0].values if value.estimate.interval is not None]
    assert {"cer", "bleu/char", "chrf", "accuracy/kanji"} <= {value.quantity.key for value in seen}
    for value in seen:
        limits = value.estimate.interval
        assert limits is not None
        most = {"share": 1.0, "score": 100.0, "bits": inf}[value.quantity.scale]
        assert 0 <= limits.low <= limits.high <= (inf if value.quantity.lower_is_better else most), value
