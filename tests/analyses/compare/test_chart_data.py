"""What the charts of a comparison show, against closed forms and resampling with numpy."""

import json

import msgspec
import numpy as np
import pytest
from scipy.stats import binom

from assay.analyses.compare import compare
from assay.analyses.compare.chart_data import MOST_GROUPS, ChartData
from assay.analyses.compare.result import Comparison
from assay.design import Design, Method
from tests.analyses.evidence import losses, noisy_losses, noisy_scores, scores, value


def chart_data(found: Comparison) -> ChartData:
    assert found.chart_data is not None
    return found.chart_data


@pytest.mark.parametrize("n", [3, MOST_GROUPS, MOST_GROUPS + 1, 1234])
def test_the_weighted_mean_of_the_dots_is_the_difference(n: int) -> None:
    rng = np.random.default_rng(n)
    tokens = rng.integers(1, 500, n).tolist()
    found = compare(*noisy_losses(n, 0.1, tokens=tokens))
    dots = chart_data(found).neighbours
    weights = np.array([dot.weight for dot in dots])
    assert float(weights @ [dot.difference for dot in dots]) / weights.sum() == pytest.approx(value(found), rel=1e-12)
    assert weights.sum() == sum(tokens)
    assert sum(dot.count for dot in dots) == n
    assert len(dots) == min(n, MOST_GROUPS)
    assert max(dot.count for dot in dots) - min(dot.count for dot in dots) <= 1


def test_few_units_are_a_dot_each_with_the_difference_of_the_unit() -> None:
    found = compare(losses([1.0, 2.0, 3.0], [10, 20, 30]), losses([1.5, 1.0, 3.0], [10, 20, 30]))
    dots = chart_data(found).neighbours
    assert [(dot.first, dot.last, dot.count) for dot in dots] == [(f"w000{i}", f"w000{i}", 1) for i in range(3)]
    assert [dot.difference for dot in dots] == pytest.approx([0.5, -1.0, 0.0], abs=1e-12)
    assert [dot.weight for dot in dots] == [10, 20, 30]


def test_ids_that_are_numbers_are_in_the_order_of_the_numbers() -> None:
    ids = ["10", "2", "1", "33", "4"]
    score = {"item": ids, "score": [float(i) for i in ids]}
    dots = chart_data(compare(score, score | {"score": [0.0] * 5})).neighbours
    assert [dot.first for dot in dots] == ["1", "2", "4", "10", "33"]
    assert [dot.difference for dot in dots] == [-1.0, -2.0, -4.0, -10.0, -33.0]


@pytest.mark.parametrize("ids", [["10", "2", "x"], ["10", "2", "٣"], ["10", "2", "9" * 30]])
def test_other_ids_are_in_the_order_in_which_they_were_paired(ids: list[str]) -> None:
    score = {"item": ids, "score": [1.0, 2.0, 3.0]}
    dots = chart_data(compare(score, score | {"score": [1.5, 2.0, 2.5]})).neighbours
    assert {dot.first for dot in dots} == set(ids)
    assert [dot.first for dot in dots] == sorted(ids)


@pytest.mark.parametrize("resamples", [None, 20_000])
def test_the_bars_are_the_shares_of_resamples_drawn_with_numpy(resamples: int | None) -> None:
    a, b = noisy_scores(60, 0.1)
    shown = chart_data(compare(a, b, design=Design(method="bca", resamples=resamples)))
    difference = np.array(b["score"]) - np.array(a["score"])
    rng = np.random.default_rng(5)
    count = 100_000
    means = difference[rng.integers(0, 60, (count, 60))].mean(axis=1)
    expected = np.histogram(means, np.array(shown.edges))[0] / count
    shares = np.array(shown.shares)
    noise = np.sqrt(np.maximum(expected, 1e-4) * (1 / count + (0 if resamples is None else 1 / resamples)))
    assert len(shown.edges) == len(shares) + 1 == 81
    assert np.all(np.abs(shares - expected) < 5 * noise)
    assert shares.sum() == pytest.approx(0.999, abs=2e-4 if resamples is None else 1e-3)
    assert np.all(shares >= 0)


def test_the_bars_of_ratios_are_those_of_whole_windows() -> None:
    """Tokens vary, so windows are drawn uniformly and the ratio of sums is formed anew."""
    n, count = 40, 60_000
    tokens = np.random.default_rng(1).integers(5, 400, n)
    a, b = noisy_losses(n, 0.05, tokens=tokens.tolist())
    found = compare(a, b)
    assert found.computed.scheme == "windows"
    shown = chart_data(found)
    drawn = np.random.default_rng(2).integers(0, n, (count, n))
    gain = (np.array(b["loss"]) - np.array(a["loss"])) * tokens
    ratios = gain[drawn].sum(axis=1) / tokens[drawn].sum(axis=1)
    expected = np.histogram(ratios, np.array(shown.edges))[0] / count
    noise = np.sqrt(np.maximum(expected, 1e-4) / count)
    assert np.all(np.abs(np.array(shown.shares) - expected) < 5 * noise)


@pytest.mark.parametrize("method", ["t", "studentized"])
def test_a_method_without_a_distribution_has_no_bars(method: Method) -> None:
    shown = chart_data(compare(*noisy_scores(12, 0.1), design=Design(method=method)))
    assert (shown.edges, shown.shares) == ((), ())
    assert len(shown.neighbours) == 12


def test_equal_differences_have_dots_and_no_bars() -> None:
    shown = chart_data(compare(scores([1.0, 2.0, 3.0]), scores([2.0, 3.0, 4.0])))
    assert (shown.edges, shown.shares) == ((), ())
    assert [dot.difference for dot in shown.neighbours] == [1.0, 1.0, 1.0]


def test_the_data_of_charts_are_always_there_and_survives_json() -> None:
    found = compare(*noisy_losses(20, 0.1))
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert found.chart_data is not None
    assert msgspec.convert(data["picture"], ChartData) == found.chart_data
    assert Comparison.from_dict(data) == found


def test_what_has_no_pair_has_no_picture() -> None:
    found = compare({"item": ["a"], "score": [1.0]}, {"item": ["b"], "score": [1.0]})
    assert found.chart_data is None
    assert "picture" not in found.to_dict()
    assert found.figures == ()


@pytest.mark.parametrize("n", [20, 80, 500])
def test_bars_of_0_and_1_lie_between_possible_means_against_the_binomial(n: int) -> None:
    """Where A is always wrong, the mean of B over n draws is binomial / n: a bar holds whole numbers of right ones."""
    right = n // 2
    found = compare(scores([0.0] * n), scores([1.0] * right + [0.0] * (n - right)), design=Design(method="bca"))
    data = chart_data(found)
    edges = np.array(data.edges) * n
    assert np.abs(edges % 1 - 0.5).max() < 1e-6
    assert np.ptp(np.diff(edges)) < 1e-6
    below = binom.cdf(np.floor(edges), n, right / n)
    assert np.abs(np.diff(below) - np.array(data.shares)).max() < 1e-6
    assert min(data.shares) > 0
