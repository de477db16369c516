"""compare and summarize of a random part of a fixed set: enumeration, closed forms, what is said and refused."""

from math import comb, exp, sqrt

import numpy as np
import pytest
from scipy.stats import hypergeom
from scipy.stats import t as student

import assay
from assay.errors import UsageError


def _pairs(b: int, c: int, n: int) -> tuple[list[int], list[int]]:
    """B alone is right on b items, A alone on c."""
    return [0] * b + [1] * c + [1] * (n - b - c), [1] * b + [0] * c + [1] * (n - b - c)


def test_score_of_a_part_against_scipy() -> None:
    """Every number of right answers among 60 whose two tails are both above 2.5 %."""
    found = assay.summarize([1] * 21 + [0] * 9, population=60)
    totals = np.arange(21, 52)
    kept = totals[(hypergeom.sf(20, 60, totals, 30) > 0.025) & (hypergeom.cdf(21, 60, totals, 30) > 0.025)]
    limits = found.models[0].value.interval
    assert limits is not None
    assert (limits.low, limits.high, limits.method) == (kept.min() / 60, kept.max() / 60, "hypergeometric")
    assert "30 of 60 items" in found.sentence
    assert "|n:30|population:60|" in found.signature
    assert found.to_dict()["population"] == 60


def test_mean_of_a_part_by_hand() -> None:
    """Cochran (1977), 2.6, asked for as t: x̄ ± t·s/√n·√(1 − n/N)."""
    values = np.random.default_rng(1).normal(10, 3, 25)
    found = assay.summarize(values, population=100, method="t").models[0].value
    error = values.std(ddof=1) / 5 * sqrt(0.75)
    assert found.interval is not None
    assert found.standard_error == pytest.approx(error)
    assert found.interval.high == pytest.approx(values.mean() + student.ppf(0.975, 24) * error)


def test_difference_of_a_part_by_hand() -> None:
    a, b = np.random.default_rng(3).normal(0, 1, (2, 40))
    found = assay.compare(a, b, population=50, method="t", test="t")
    d = b - a
    statistic = d.mean() / (d.std(ddof=1) / sqrt(40) * sqrt(0.2))
    assert found.test.statistic == pytest.approx(statistic)
    assert found.p_value == pytest.approx(2 * student.sf(abs(statistic), 39))
    assert found.difference.interval is not None
    assert found.difference.interval.low == pytest.approx(d.mean() - student.ppf(0.975, 39) * abs(d.mean() / statistic))


@pytest.mark.parametrize(("better", "worse"), [(6, 6), (12, 3), (1, 0)])
def test_coverage_of_pairs_by_enumeration(better: int, worse: int) -> None:
    """Of 60 pairs so many differ; over all samples of 35 the interval covers the difference of the whole set."""
    covered, truth, same = 0.0, (better - worse) / 60, 60 - better - worse
    for b in range(better + 1):
        for c in range(worse + 1):
            if 0 <= 35 - b - c <= same:
                chance = comb(better, b) * comb(worse, c) * comb(same, 35 - b - c) / comb(60, 35)
                limits = assay.compare(*_pairs(b, c, 35), population=60).difference.interval
                assert limits is not None
                covered += chance * (limits.low - 1e-9 <= truth <= limits.high + 1e-9)
    assert covered >= 0.92


def test_interval_test_and_verdict_agree() -> None:
    for b, c in [(5, 0), (6, 1), (8, 2), (4, 4), (7, 3), (0, 6)]:
        found = assay.compare(*_pairs(b, c, 40), population=60)
        limits, p = found.difference.interval, found.p_value
        assert limits is not None
        assert p is not None
        assert (p <= 0.05) == (not limits.low <= 0 <= limits.high) == (found.verdict in ("better", "worse"))
        assert found.test.name == "hypergeometric-midp"
    assert assay.compare(*_pairs(6, 0, 40), population=60, test="mcnemar").test.name == "hypergeometric"


def test_all_items_are_a_census() -> None:
    found = assay.compare(*_pairs(3, 2, 40), population=40, names=("old", "new"))
    assert found.verdict == "better"
    assert found.sentence.endswith("(all 40 items, so that nothing is left to chance).")
    limits = found.difference.interval
    assert limits is not None
    assert (limits.low, limits.high, limits.method) == (0.025, 0.025, "census")
    assert "census" in found.signature
    same = assay.compare(*_pairs(2, 2, 40), population=40)
    assert (same.verdict, same.p_value) == ("no difference shown", 1.0)
    mean = assay.summarize([1, 0, 1, 1], population=4)
    assert mean.sentence == "The score of the model is 0.75 (nothing is left to chance, all 4 items)."
    assert mean.models[0].value.standard_error == 0


def test_losses_clusters_and_weights_of_a_part() -> None:
    """The error of each is √(1 − n/N) of what it is without the set."""
    rng = np.random.default_rng(5)
    tokens = rng.integers(10, 200, 60)
    loss = rng.normal(3, 0.2, 60)
    base = {"window": range(60), "tokens": tokens, "loss": loss}
    other = {**base, "loss": loss + rng.normal(0.02, 0.03, 60)}
    whole, part = assay.compare(base, other, method="t-hall"), assay.compare(base, other, population=80)
    assert whole.difference.standard_error is not None
    assert part.difference.standard_error == pytest.approx(whole.difference.standard_error * 0.5)
    assert part.ratio is not None
    assert part.ratio.interval is not None
    assert part.difference.interval is not None
    assert part.ratio.interval.low == pytest.approx(exp(part.difference.interval.low))
    right = rng.integers(0, 2, 60)
    scores = {"item": range(60), "score": right, "cluster": np.repeat(range(20), 3)}
    flipped = {**scores, "score": np.where(rng.random(60) < 0.2, 1 - right, right)}
    wide, close = assay.compare(scores, flipped), assay.compare(scores, flipped, population=61)
    assert wide.difference.interval is not None
    assert close.difference.interval is not None
    gap = close.difference.interval.high - close.difference.interval.low
    assert gap < 0.3 * (wide.difference.interval.high - wide.difference.interval.low)


def test_what_is_refused() -> None:
    a, b = _pairs(5, 2, 40)
    with pytest.raises(UsageError, match="population must be at least the 40 items that are there, but got 39"):
        assay.compare(a, b, population=39)
    with pytest.raises(UsageError, match="population must be at least"):
        assay.summarize(a, population=39)
    with pytest.raises(UsageError, match="`population` corrects closed forms"):
        assay.compare(a, b, population=50, method="bca")
    with pytest.raises(UsageError, match="`population` corrects closed forms"):
        assay.summarize(a, population=50, method="bca")
    with pytest.raises(UsageError, match="leave out `at`"):
        assay.compare([[1, 0], [0, 1]], [[1, 1], [0, 1]], at=2, population=5)
    with pytest.raises(UsageError, match="answered once"):
        assay.summarize([[1, 0], [0, 1], [1, 1]], at=2, population=5)
    tasks = {"item": range(6), "task": ["x"] * 3 + ["y"] * 3, "score": [1, 0, 1, 1, 0, 1]}
    with pytest.raises(UsageError, match="is of one task"):
        assay.summarize(tasks, population=9)
