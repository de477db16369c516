"""Multinomial resampling: backends against each other, draws against the distribution, scores against scipy."""

from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from scipy.spatial.distance import jensenshannon

from assay.stats.streams import stream_key
from assay.stats.survey import chi_noise, respondents
from assay.stats.survey.respondents import Predicted, Respondents, draw, log2, perfect_noise, resampled_scores


def small(cells: int = 12, models: int = 3, seed: int = 0) -> tuple[Respondents, Predicted]:
    rng = np.random.default_rng(seed)
    options = rng.integers(2, 6, size=cells)
    mask = np.arange(5) < options[:, None]
    shares = rng.dirichlet(np.ones(5), size=cells) * mask
    shares[0, 0] = 0.0
    shares /= shares.sum(axis=1, keepdims=True)
    predicted = rng.dirichlet(np.ones(5), size=(cells, models)) * mask[:, None]
    predicted /= predicted.sum(axis=2, keepdims=True)
    weights = rng.choice([0.0, 0.5, 1.0], size=(cells, models))
    blocks = np.stack([np.arange(cells) % 3, 3 + np.arange(cells) % 4], axis=1)
    n = rng.integers(1, 60, size=cells)
    return Respondents(shares, options, n), Predicted(predicted, weights, blocks)


@pytest.mark.untraced
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_backends_give_the_same_bits(seed: int) -> None:
    people, predicted = small(seed=seed)
    alike = Predicted(predicted.shares, np.ones_like(predicted.weights), predicted.blocks)  # as most are
    for made in (predicted, alike):
        one, other = (resampled_scores(people, made, 150, seed, backend=backend) for backend in ("numpy", "compiled"))
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("backend", ["numpy", "compiled"])
def test_how_the_work_is_cut_changes_no_bit(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    people, predicted = small()
    whole = resampled_scores(people, predicted, 60, 3, backend=backend)
    monkeypatch.setattr(respondents, "_CHUNK", 1_000)
    assert resampled_scores(people, predicted, 60, 3, backend=backend).tobytes() == whole.tobytes()
    assert resampled_scores(people, predicted, 25, 3, backend=backend).tobytes() == whole[:, :25].tobytes()


def test_scores_against_scipy_on_the_same_draws() -> None:
    people, predicted = small()
    cells, resamples = slice(0, len(people.n)), 40
    counts = draw(people, cells, resamples, stream_key(7, "respondents"), "numpy").counts
    expected = np.zeros((predicted.n_blocks, resamples, 3))
    for c in range(len(people.n)):
        for m in range(3):
            distance = jensenshannon(counts[c] / people.n[c], predicted.shares[c, m][None], base=2, axis=1)
            expected[predicted.blocks[c], :, m] += predicted.weights[c, m] * (1 - distance)
    found = resampled_scores(people, predicted, resamples, 7, backend="numpy")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)  # the floor of 1e-10 under a root


def test_draws_against_the_multinomial_distribution() -> None:
    shares = np.array([[0.05, 0.6, 0.0, 0.35], [0.5, 0.5, 0.0, 0.0]])
    people = Respondents(shares, np.array([4, 2]), np.array([33, 7]))
    counts = draw(people, slice(0, 2), 20_000, stream_key(1, "x"), "compiled").counts
    assert (counts.sum(axis=2) == people.n[:, None]).all()
    assert not counts[0, :, 2].any()
    assert not counts[1, :, 2:].any()
    for c, j in ((0, 0), (0, 1), (0, 3), (1, 0)):
        seen = np.bincount(counts[c, :, j], minlength=people.n[c] + 1)
        chance = scipy_stats.binom.pmf(np.arange(people.n[c] + 1), people.n[c], shares[c, j])
        usual = chance * 20_000 > 5
        expected = np.append(chance[usual], chance[~usual].sum() + 1e-9) * 20_000
        found = np.append(seen[usual], seen[~usual].sum())
        test = scipy_stats.chisquare(found, expected * found.sum() / expected.sum())
        assert test.pvalue > 1e-3
    together = np.corrcoef(counts[0, :, 0], counts[0, :, 1])[0, 1]
    assert together == pytest.approx(-np.sqrt(0.05 * 0.6 / (0.95 * 0.4)), abs=0.03)
    assert abs(np.corrcoef(counts[0, :, 1], counts[1, :, 0])[0, 1]) < 0.03


def test_logarithm_against_numpy() -> None:
    x = np.concatenate([np.geomspace(1e-10, 1, 4_001), np.linspace(0.5, 2, 1_001), [1.0, 0.5, 1e-10]])
    np.testing.assert_allclose(log2(x), np.log2(x), rtol=0, atol=8e-15)


def test_noise_of_a_perfect_prediction_against_simulation() -> None:
    shares = np.array([[0.9, 0.05, 0.03, 0.02], [0.25, 0.25, 0.25, 0.25], [1.0, 0, 0, 0], [0.7, 0.2, 0.1, 0.0]])
    people = Respondents(shares, np.full(4, 4), np.array([60, 400, 30, 12]))
    found = perfect_noise(people)
    rng = np.random.default_rng(0)
    for c in (0, 1, 3):
        drawn = rng.multinomial(people.n[c], shares[c], size=40_000) / people.n[c]
        assert found[c] == pytest.approx(float(jensenshannon(drawn, shares[[c]], base=2, axis=1).mean()), rel=0.02)
    assert found[1] == chi_noise(people.n[1:2], np.array([4]))[0]
    assert found[2] == 0
