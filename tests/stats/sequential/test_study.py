"""A study with several looks, against simulation and gsDesign."""

from math import sqrt

import numpy as np
import pytest

from assay.stats.sequential.study import study


def test_against_simulation() -> None:
    found = study(4, 0.95, 0.8)
    fractions = np.array([one.fraction for one in found.looks])
    upper = np.array([one.bound for one in found.looks])
    rng, runs = np.random.default_rng(2), 40_000
    drift = sqrt(found.inflation) * (1.959964 + 0.841621)
    steps = np.diff(fractions, prepend=0.0)
    z = rng.normal(drift * steps, np.sqrt(steps), (runs, 4)).cumsum(axis=1) / np.sqrt(fractions)
    left = np.abs(z) >= upper
    assert left.any(axis=1).mean() == pytest.approx(0.8, abs=4 * sqrt(0.16 / runs))
    last = np.where(left.any(axis=1), left.argmax(axis=1), 3)
    assert found.expected == pytest.approx(found.inflation * fractions[last].mean(), abs=4 * 0.3 / sqrt(runs))
    assert [one.stops for one in found.looks] == pytest.approx(np.bincount(last, minlength=4) / runs, abs=0.012)


def test_one_more_look_costs_little_and_saves_much() -> None:
    few, many = study(2, 0.95, 0.9), study(10, 0.95, 0.9)
    assert 1 < few.inflation < many.inflation < 1.05
    assert many.expected < few.expected < 1 < many.expected_without
