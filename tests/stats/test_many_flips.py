"""Sign flips of many units by moments: against binomials, a convolution, and the general way."""

import numpy as np
import pytest
from scipy.stats import binom

from assay.stats.in_blocks import MANY
from assay.stats.many_flips import many_flips
from assay.stats.paired_tests import _p_value, sign_flip


def test_two_sizes_against_two_binomials() -> None:
    many, other, size = 150_000, 90_000, np.sqrt(2.0)
    positive, positive_too = 75_260, 45_130  # of either size
    first = np.repeat([1.0, -1.0], [positive, many - positive])
    second = np.repeat([size, -size], [positive_too, other - positive_too])
    differences = np.random.default_rng(1).permutation(np.concatenate([first, second]))
    observed = abs(differences.sum())
    k = np.arange(many + 1)
    # Σ = (2k − n) + √2·(2j − m) ≥ t  ⇔  j ≥ (t − (2k − n))/(2√2) + m/2
    least = np.ceil((observed * (1 - 1e-12) - (2 * k - many)) / (2 * size) + other / 2)
    expected = 2 * float((binom.pmf(k, many, 0.5) * binom.sf(least - 1, other, 0.5)).sum())
    found = many_flips(differences)
    assert found is not None
    # Of an atom the inversion counts a half: at most the mass of one.
    assert found[1] == pytest.approx(expected, rel=2e-5)
    assert found[0] == pytest.approx(differences.sum() / np.sqrt(many + 2.0 * other))


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.1])
def test_a_fine_lattice_against_a_convolution(shift: float) -> None:
    rng = np.random.default_rng(2)
    steps = rng.integers(-3000, 3001, MANY + 5) + round(shift * 300)
    differences = steps / 1000
    found = many_flips(differences)
    assert found is not None
    assert found[1] == pytest.approx(_by_fft(steps), rel=1e-9)


def _by_fft(steps: np.ndarray) -> float:
    """Π cos(2π k d / N) is the transform of the distribution of Σ ±d, up to a shift; far tails wrap to nothing."""
    size, count = np.unique(np.abs(steps), return_counts=True)
    width = 1 << 26
    frequencies = np.arange(1, 6000)  # |ψ| is below 1e-100 beyond
    psi = np.ones(len(frequencies))
    for value, times in zip(size.tolist(), count.tolist(), strict=True):
        psi *= np.cos(2 * np.pi * frequencies * value / width) ** times
    observed = abs(int(steps.sum()))
    # P(|T| < t): T moves in steps of 2, so ψ has its mirror image at N/2, and x is −t + 2, −t + 4, …, t − 2.
    angle = 2 * np.pi * frequencies / width
    inside = np.sin((observed - 1) * angle) / np.sin(angle)  # Σ exp(2πi k x / N)
    return 1 - 2 / width * (observed - 1 + 2 * float((psi * inside).sum()))


@pytest.mark.parametrize("mean", [0.0, 0.004, 0.03])
def test_agrees_with_the_general_way(mean: float) -> None:
    differences = np.random.default_rng(3).standard_t(6, MANY + 1) + mean
    size = np.sort(np.abs(differences))
    size /= np.sqrt((size * size).sum())
    expected, _ = _p_value(size, abs(differences.sum()) / np.sqrt((differences**2).sum()), 0)
    assert sign_flip(differences)[0].p_value == pytest.approx(expected, rel=1e-9)


def test_far_beyond_every_float_by_hoeffding() -> None:
    differences = np.random.default_rng(4).normal(1, 1, MANY)
    test, fallbacks = sign_flip(differences)
    assert (test.p_value, test.reason, fallbacks) == (1e-300, "p is below 1e-300", ())


@pytest.mark.parametrize(
    "differences",
    [
        np.repeat([1.0, -1.0], MANY),  # a coarse lattice, which is convolved
        np.append(np.random.default_rng(5).normal(size=MANY), 500.0),  # one that is large
        np.zeros(MANY),
    ],
)
def test_leaves_others_to_the_general_way(differences: np.ndarray) -> None:
    found = many_flips(differences)
    assert found is None or found == (0.0, 1.0)
    assert sign_flip(differences)[0].p_value is not None
