"""Numbers at the edges of what a double holds: no warning, no NaN, and what is refused says so.

Warnings are errors in all tests; here numpy's invalid operations, overflows and divisions by 0 are too. Oracles: exact
fractions, and the fact that a change of unit by a power of two changes no digit.
"""

import json
from collections.abc import Iterator
from fractions import Fraction
from math import ldexp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.errors import InputError
from assay.stats.units import Floats

SIZES = (1, 2, 3, 5, 19, 20, 100, 1_000)
SCALES = (1e-300, 1e-200, 1e-100, 1e-20, 1e20, 1e100, 1e200, 1e300)


@pytest.fixture(autouse=True)
def no_silent_faults() -> Iterator[None]:
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        yield


def sound(result: Any) -> Any:
    """A result that can be read, stored, and has no NaN or infinity anywhere."""
    json.dumps(result.to_dict(), allow_nan=False)
    assert result.sentence
    assert str(result)
    return result


def pair(n: int, seed: int = 0, scale: float = 1.0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng([seed, n])
    a = rng.uniform(2, 4, n) * scale
    return a, a * (1 + 0.02 * rng.normal(size=n))


def limits_of(found: assay.Comparison) -> tuple[float, float, float]:
    difference = found.difference
    assert difference.value is not None
    assert difference.interval is not None
    return difference.value, difference.interval.low, difference.interval.high


def losses(a: Floats, b: Floats, tokens: Floats) -> assay.Panel:
    return assay.Panel.from_arrays(np.stack([a * tokens, b * tokens], axis=1), tokens, kind="losses")


@pytest.mark.parametrize("n", SIZES)
def test_every_number_of_units(n: int) -> None:
    a, b = pair(n)
    tokens = np.random.default_rng(n).integers(1, 500, n).astype(np.float64)
    right = np.random.default_rng(n).random((n, 2)) < [0.8, 0.6]
    sound(assay.compare(a, b))
    sound(assay.compare(losses(a, b, tokens)))
    sound(assay.compare(*right.T.astype(np.float64)))
    sound(assay.summarize(a))
    sound(assay.summarize(right[:, 0].astype(np.float64)))
    if n > 1:
        sound(assay.rank(np.stack([a, b, a + b], axis=1)))
    else:
        with pytest.raises(InputError, match="rank needs at least two items"):
            assay.rank(np.stack([a, b, a + b], axis=1))


@pytest.mark.slow
def test_ten_million_units_against_numpy() -> None:
    rng = np.random.default_rng(7)
    a = rng.normal(size=10_000_000)
    b = a + rng.normal(0.001, 1.0, 10_000_000)
    found = sound(assay.compare(assay.Panel.from_arrays(np.stack([a, b], axis=1))))
    assert found.difference.value == pytest.approx(float((b - a).mean()), rel=1e-9)
    error = float((b - a).std(ddof=1)) / np.sqrt(10_000_000)
    assert found.difference.interval.high - found.difference.interval.low == pytest.approx(2 * 1.96 * error, rel=0.01)


@pytest.mark.parametrize("n", [2, 30, 200])
@pytest.mark.parametrize("scale", SCALES)
def test_losses_and_scores_of_any_size(n: int, scale: float) -> None:
    a, b = pair(n, scale=scale)
    sound(assay.compare(a, b))
    sound(assay.summarize(a))
    sound(assay.compare(losses(a, b, np.full(n, 128.0))))


@pytest.mark.parametrize("n", [30, 200])
@pytest.mark.parametrize("power", [-900, -300, 300, 900])
def test_a_unit_that_is_a_power_of_two_changes_no_digit(n: int, power: int) -> None:
    a, b = pair(n)
    plain = assay.compare(a, b)
    other = assay.compare(np.ldexp(a, power), np.ldexp(b, power))
    assert other.p_value == pytest.approx(plain.p_value, rel=1e-9)
    assert plain.a is not None
    assert other.a == pytest.approx(ldexp(plain.a, power), rel=1e-12)
    for ours, theirs in zip(limits_of(plain), limits_of(other), strict=True):
        assert theirs == pytest.approx(ldexp(ours, power), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_a_board_of_such_scores_is_refused_with_what_to_do(scale: float) -> None:
    a, b = pair(30, scale=scale)
    with pytest.raises(InputError, match="give them in another unit, so that the largest is from 1e-60 to 1e60"):
        assay.rank(np.stack([a, b], axis=1))


@pytest.mark.parametrize("n", [2, 3, 19, 20, 100])
def test_the_smallest_numbers_that_there_are(n: int) -> None:
    sound(assay.compare(np.zeros(n), 5e-324 * np.arange(n)))


@pytest.mark.parametrize("n", [5, 30, 300])
@pytest.mark.parametrize(("low", "high"), [(0, 12), (-6, 6), (-60, -48), (48, 60)])
def test_weights_over_twelve_orders_of_magnitude_against_fractions(n: int, low: int, high: int) -> None:
    rng = np.random.default_rng([n, abs(high)])
    weights, a = 10.0 ** rng.uniform(low, high, n), rng.normal(size=n)
    b = a + rng.normal(0.1, 1.0, n)
    right = (rng.random((n, 2)) < 0.6).astype(np.float64)
    found = sound(assay.compare(assay.Panel.from_arrays(np.stack([a, b], axis=1), weights=weights)))
    exact = [Fraction(float(w)) for w in weights]
    gaps = [Fraction(float(y)) - Fraction(float(x)) for x, y in zip(a, b, strict=True)]
    truth = sum((w * gap for w, gap in zip(exact, gaps, strict=True)), Fraction(0)) / sum(exact, Fraction(0))
    assert found.difference.value == pytest.approx(float(truth), rel=1e-12)
    sound(assay.compare(assay.Panel.from_arrays(right, weights=weights)))
    sound(assay.summarize(assay.Panel.from_arrays(right[:, :1], weights=weights)))
    sound(assay.rank(assay.Panel.from_arrays(np.stack([a, b, a + b], axis=1), weights=weights)))


@pytest.mark.parametrize("n", SIZES)
def test_equal_models_have_no_difference_and_p_is_1(n: int) -> None:
    a, _ = pair(n)
    found = sound(assay.compare(a, a.copy()))
    assert found.difference.value == 0
    assert found.p_value == 1


@pytest.mark.parametrize("n", [2, 3, 20, 100, 1_000])
@pytest.mark.parametrize("change", [1e-9, 1.0, 1e5])
def test_one_unit_that_differs_shows_nothing(n: int, change: float) -> None:
    """Its sign may be either: both sign vectors reach the observed sum, so that p = 1."""
    a, _ = pair(n)
    b = a.copy()
    b[0] += change
    found = sound(assay.compare(a, b))
    assert found.p_value == 1
    assert found.difference.interval.low <= 0 <= found.difference.interval.high


@pytest.mark.parametrize("n", [2, 3, 20, 1_000])
def test_one_wrong_answer_by_hand(n: int) -> None:
    """McNemar's mid-p of one pair that differs: P(X = 0) = ½ for X ~ Bin(1, ½)."""
    right, wrong = np.ones(n), np.ones(n)
    wrong[0] = 0
    assert sound(assay.compare(right, wrong)).p_value == 0.5


BEYOND = 2**53


@pytest.mark.parametrize("kind", [list, np.array, lambda ids: np.array(ids, dtype=np.uint64)])
def test_ids_beyond_2_to_the_53_are_told_apart(kind: Any) -> None:
    ids = [BEYOND + i for i in range(4)]
    a = {"item": kind(ids), "score": [1.0, 2.0, 3.0, 4.0]}
    b = {"item": kind(ids[::-1]), "score": [4.5, 3.5, 2.5, 1.5]}
    assert sound(assay.compare(a, b)).difference.value == 0.5


@pytest.mark.parametrize("ids", [[BEYOND + i for i in range(4)], ["9007199254740993", "9007199254740992", "x", "y"]])
def test_ids_beyond_2_to_the_53_in_a_file(tmp_path: Path, ids: list[object]) -> None:
    for name, order, scores in (("a.csv", ids, "1234"), ("b.csv", ids[::-1], "5432")):
        rows = [f"{one},{score}" for one, score in zip(order, scores, strict=True)]
        (tmp_path / name).write_text("\n".join(["item,score", *rows]) + "\n")
    found = sound(assay.compare(tmp_path / "a.csv", tmp_path / "b.csv"))
    assert found.difference.value == 1


def test_scores_with_more_digits_than_a_double_are_refused_where_a_difference_would_vanish(tmp_path: Path) -> None:
    scores = [2**60 + i for i in range(30)]
    message = "has more digits than can be computed with; subtract one number from all scores, or write 1.15292e"
    with pytest.raises(InputError, match=message):
        assay.compare(scores, scores)
    with pytest.raises(InputError, match="must have no more digits than can be computed with"):
        assay.Panel.from_arrays(np.array([scores, scores]).T)
    rows = "\n".join(f"q{i},{score}" for i, score in enumerate(scores))
    (tmp_path / "large.csv").write_text(f"item,score\n{rows}\n")
    with pytest.raises(InputError, match=r"large\.csv, line 3, column 'score': score '1152921504606846977' has more"):
        assay.compare(tmp_path / "large.csv", tmp_path / "large.csv")


def test_large_scores_that_a_double_holds_are_taken() -> None:
    scores = [2**60 + 4096 * i for i in range(30)]
    found = sound(assay.compare(scores, [2 * one for one in scores]))
    assert found.difference.value == pytest.approx(sum(scores) / 30, rel=1e-12)


def test_infinity_is_refused_and_nan_is_no_answer() -> None:
    for bad in (float("inf"), -float("inf")):
        with pytest.raises(InputError, match="must be finite"):
            assay.compare([1.0, bad, 2.0], [1.0, 2.0, 3.0])
    assert sound(assay.compare([1.0, float("nan"), 2.0], [1.0, 2.0, 3.0])).difference.n == 2
