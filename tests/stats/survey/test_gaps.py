from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import foldnorm, ttest_rel

from assay.stats.survey.denoised import GRID, ExpectedRoots
from assay.stats.survey.gaps import NoisySegment, expected_gap, sampling_gap, segment_gap
from assay.stats.units import Floats


def _scores(seed: int, questions: int = 30, segments: int = 4) -> Floats:
    """Hard and easy questions, noisy and less noisy segments."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0.7, 0.1, (questions, 1))
    return np.asarray(hard + rng.normal(0, 1, (questions, segments)) * np.linspace(0.02, 0.1, segments))


def _largest_t(scores: Floats) -> float:
    pairs = combinations(range(scores.shape[1]), 2)
    return max(abs(float(ttest_rel(scores[:, i], scores[:, j]).statistic)) for i, j in pairs)


@pytest.mark.parametrize("seed", range(4))
def test_statistic_against_scipy_paired_t(seed: int) -> None:
    scores = _scores(seed)
    found = segment_gap(scores, resamples=200)
    assert found.test.statistic == pytest.approx(_largest_t(scores), rel=1e-9)
    means = scores.mean(axis=0)
    assert found.value == pytest.approx(np.ptp(means), rel=1e-9)
    assert (found.high, found.low) == (int(means.argmax()), int(means.argmin()))


@pytest.mark.untraced
@pytest.mark.parametrize("seed", range(3))
def test_p_against_enumeration_of_all_signs(seed: int) -> None:
    """A slow twin: all 2⁹ sign vectors of the centred questions, scipy's t of each pair."""
    scores = _scores(seed, questions=9, segments=3)
    observed, centred = _largest_t(scores), scores - scores.mean(axis=0)
    reached = [
        _largest_t(centred * np.array(flips)[:, None]) >= observed - 1e-9 for flips in product([-1, 1], repeat=9)
    ]
    share = np.mean(reached)
    found = segment_gap(scores, resamples=8_000, seed=seed)
    assert found.test.p_value == pytest.approx(share, abs=4.5 * np.sqrt(share * (1 - share) / 8_000) + 2e-4)


def test_expected_gap_at_equal_n_against_enumeration() -> None:
    scores = _scores(5, questions=8, segments=3)
    centred = (scores - scores.mean(axis=0)) * np.sqrt(8 / 7)
    gaps = [np.ptp((centred * np.array(flips)[:, None]).mean(axis=0)) for flips in product([-1, 1], repeat=8)]
    found = segment_gap(scores, resamples=2_000)
    assert found.expected == pytest.approx(np.mean(gaps), abs=4.5 * np.std(gaps) / np.sqrt(2_000))


@given(st.integers(0, 10_000), st.sampled_from([0.8, 0.9, 0.95]), st.floats(0, 0.1))
@settings(max_examples=40)
def test_the_interval_begins_above_zero_exactly_where_the_test_rejects(seed: int, level: float, worse: float) -> None:
    scores = _scores(seed, questions=12, segments=3)
    scores[:, 1] -= worse
    found = segment_gap(scores, confidence_level=level, resamples=199)
    limits, p = found.excess.interval, found.test.p_value
    assert limits is not None
    assert p is not None
    assert (limits.low > 0) == (p <= 1 - level)
    assert found.excess.value is not None
    assert 0 <= limits.low <= found.excess.value <= limits.high
    assert found.value is not None
    assert limits.low <= found.value <= limits.high


@given(st.integers(0, 10_000), st.permutations(range(4)), st.floats(-1, 1))
@settings(max_examples=25)
def test_order_and_difficulty_change_nothing(seed: int, order: list[int], shift: float) -> None:
    scores = _scores(seed)
    found = segment_gap(scores, resamples=199)
    rows = np.random.default_rng(seed).normal(shift, 0.3, (30, 1))
    other = segment_gap((scores + rows)[:, order], resamples=199)
    assert other.value == pytest.approx(found.value, abs=1e-9)
    assert other.test.statistic == pytest.approx(found.test.statistic, rel=1e-6)
    assert other.test.p_value == found.test.p_value
    assert found.high is not None
    assert order[other.high if other.high is not None else -1] == found.high


def test_missing_answers_leave_each_pair_its_common_questions() -> None:
    scores = _scores(8, segments=3)
    scores[:10, 2] = np.nan
    found = segment_gap(scores, resamples=400)
    pairs = [(0, 1, slice(0, 30)), (0, 2, slice(10, 30)), (1, 2, slice(10, 30))]
    statistics = [abs(ttest_rel(scores[rows, i], scores[rows, j]).statistic) for i, j, rows in pairs]
    means = [abs((scores[rows, i] - scores[rows, j]).mean()) for i, j, rows in pairs]
    assert found.test.statistic == pytest.approx(max(statistics), rel=1e-9)
    assert found.value == pytest.approx(max(means), rel=1e-9)


def test_a_segment_without_answers_is_left_out() -> None:
    scores = _scores(9, segments=3)
    whole = segment_gap(scores[:, :2], resamples=400)
    scores[:, 2] = np.nan
    assert segment_gap(scores, resamples=400) == whole


def test_what_cannot_be_tested() -> None:
    few = segment_gap(_scores(1, questions=5))
    assert (few.value, few.excess.interval) == (None, None)
    assert few.test.reason == "no two segments have 6 questions in common"
    scores = _scores(2, segments=2)
    shifted = segment_gap(np.column_stack([scores, scores[:, :1] + 0.1]))
    assert shifted.test.p_value is None
    assert "same amount in every question" in str(shifted.test.reason)


def test_equal_columns() -> None:
    column = _scores(3)[:, :1]
    same = segment_gap(np.repeat(column, 3, axis=1))
    assert (same.value, same.test.p_value, same.excess.value) == (0.0, 1.0, 0.0)
    other = _scores(4)[:, 1:2]
    pair = segment_gap(np.column_stack([column, column, other]), resamples=300)
    assert pair.test.statistic == pytest.approx(abs(ttest_rel(column[:, 0], other[:, 0]).statistic))


@given(
    st.integers(0, 10_000),
    st.sampled_from([0.9, 0.95, 0.99, 0.999]),
    st.integers(1, 60),
    st.floats(0, 0.2),
    st.booleans(),
)
@settings(max_examples=80)
def test_limits_of_a_family_of_gaps_agree_with_its_p(
    seed: int, level: float, family: int, worse: float, holes: bool
) -> None:
    """At every level, also where 199 resamples cannot show it: both are adjusted alike."""
    scores = _scores(seed, questions=14, segments=3)
    scores[:, 1] -= worse
    if holes:
        scores[:5, 2] = np.nan
    found = segment_gap(scores, confidence_level=level, family=family, resamples=199)
    alone, together, p = found.excess.interval, found.together, found.test.p_value
    assert alone is not None
    assert together is not None
    assert p is not None
    assert (alone.low > 0) == (p <= 1 - level)
    assert (together.low > 0) == (min(1.0, p * family) <= 1 - level)
    assert together.low <= alone.low <= alone.high <= together.high


@pytest.mark.parametrize("resamples", [99, 999])
def test_no_p_is_below_what_the_resamples_can_show_by_hand(resamples: int) -> None:
    """No resample comes near, so # is 0 in (1 + #) / (1 + B)."""
    scores = _scores(1, segments=3)
    scores[:, 2] -= 0.5
    found = segment_gap(scores, resamples=resamples)
    assert found.test.p_value == 1 / (resamples + 1)


def test_a_family_too_large_for_its_resamples_shows_nothing() -> None:
    scores = _scores(1, segments=3)
    scores[:, 2] -= 0.5
    found = segment_gap(scores, resamples=999, family=51)
    assert found.together is not None
    assert found.together.low == 0
    assert found.excess.interval is not None
    assert found.excess.interval.low > 0


# ------------------------------------------------------------------------------------------ as published


def test_expected_published_gap_against_the_half_normal_mean() -> None:
    """Closed form: two equal segments with many questions; the gap is |N(0, σ²/Q)|, mean σ√(2/πQ)."""
    rng = np.random.default_rng(6)
    scores = rng.normal(0.7, 0.1, (400, 2))
    spread = np.std(scores[:, 0] - scores[:, 1], ddof=1) / np.sqrt(400)
    found = expected_gap(scores, scores, resamples=2_000)
    assert found.mean == pytest.approx(spread * np.sqrt(2 / np.pi), rel=0.06)
    assert found.high == pytest.approx(1.96 * spread, rel=0.08)


def test_expected_published_gap_is_what_the_sizes_give_where_there_is_no_noise() -> None:
    scores = np.repeat(np.linspace(0.5, 0.9, 20)[:, None], 3, axis=1)
    found = expected_gap(scores, scores - [0.0, 0.05, 0.12])
    assert [found.mean, found.high] == pytest.approx([0.12, 0.12])


def test_expected_published_gap_with_missing_answers() -> None:
    scores = _scores(11)
    scores[3], scores[:, 2] = np.nan, np.nan
    rest = np.delete(np.delete(scores, 3, axis=0), 2, axis=1)
    assert expected_gap(scores, scores, resamples=300) == expected_gap(rest, rest, resamples=300)


# ------------------------------------------------------------------------- who was asked, the questions being fixed


def _segments(scores: Floats, noise: Floats, error: float) -> list[NoisySegment]:
    """Scores that are measured without bias: the root is what it is, with normal noise."""
    curve = ExpectedRoots(GRID.copy(), np.full(len(GRID), error), 1.0)
    return [NoisySegment(1.0, 1 - float(score), curve, own) for score, own in zip(scores, noise, strict=True)]


def test_a_gap_without_noise_is_itself() -> None:
    found = sampling_gap(_segments(np.array([0.7, 0.55, 0.6]), np.zeros((3, 100)), 0.01))
    assert found.interval is not None
    assert found.value == pytest.approx(0.15, rel=1e-6)
    assert [found.interval.low, found.interval.high] == pytest.approx([0.15, 0.15], rel=1e-6)


def test_a_gap_of_two_segments_against_the_folded_normal() -> None:
    """|d| of a normal d with known error: the limits are where a folded normal has its quantiles."""
    noise = np.random.default_rng(1).normal(size=(2, 20_000))
    for difference in (0.01, 0.03, 0.08):
        found = sampling_gap(_segments(np.array([0.6, 0.6 + difference]), noise, 0.01))
        assert found.interval is not None
        scale = 0.01 * 2**0.5

        def quantile(true: float, share: float, scale: float = scale) -> float:
            return float(foldnorm(true / scale, scale=scale).ppf(share))

        for limit, share in ((found.interval.low, 0.975), (found.value, 0.5), (found.interval.high, 0.025)):
            assert limit is not None
            if difference <= quantile(0.0, share):
                assert limit == 0
            else:
                assert quantile(limit, share) == pytest.approx(difference, abs=0.0015)


@pytest.mark.untraced
@pytest.mark.parametrize("scores", [[0.6, 0.6, 0.6, 0.6], [0.6, 0.61, 0.6, 0.62], [0.6, 0.6, 0.6, 0.7]])
def test_intervals_of_gaps_hold_the_true_gap(scores: list[float]) -> None:
    """200 times: 95% nominal, at least 90% here; the quantiles of the gap itself never hold a gap of 0."""
    rng, true, held = np.random.default_rng(4), float(np.ptp(scores)), 0
    noise = rng.normal(size=(4, 400))
    for _ in range(200):
        limits = sampling_gap(_segments(np.array(scores) + rng.normal(0, 0.01, 4), noise, 0.01)).interval
        assert limits is not None
        held += limits.low - 1e-9 <= true <= limits.high + 1e-9
    assert held >= 180
