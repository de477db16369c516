"""Groups of tasks: the total of their tasks, adjusted for the number of groups."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from assay.stats.suites.groups import group_rows, inside
from assay.stats.suites.total import total
from tests.stats.suites.tasks import Counts, binary, counts

SUITE = [(12, 5, 60), (9, 8, 100), (20, 11, 80), (14, 3, 50), (7, 9, 90)]
PLACES = [np.array([0, 1, 2]), np.array([0, 1]), np.array([3, 4])]
NAMES = {"product": "sidak", "holm": "holm", "bh": "fdr_bh"}


@pytest.mark.parametrize("adjust", ["product", "holm", "bh"])
def test_p_values_against_statsmodels(adjust: Any) -> None:
    tasks = [binary(*one) for one in SUITE]
    found = group_rows(tasks, PLACES, np.full(5, 0.2), level=0.95, adjust=adjust)
    alone = [total([tasks[i] for i in own], np.full(len(own), 1 / len(own)), level=0.95).p for own in PLACES]
    assert [one.p for one in found.each] == pytest.approx(alone)
    assert found.p == pytest.approx(multipletests(alone, method=NAMES[adjust])[1])


def test_one_group_of_all_tasks_is_the_total() -> None:
    tasks, weights = [binary(*one) for one in SUITE], np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    found = group_rows(tasks, [np.arange(5)], weights, level=0.9)
    whole = total(tasks, weights, level=0.9)
    assert (found.low[0], found.high[0], found.p[0]) == pytest.approx((whole.low, whole.high, whole.p))


def test_weights_within_a_group_keep_their_proportions() -> None:
    assert inside(np.array([0.1, 0.3])) == pytest.approx([0.25, 0.75])
    assert inside(np.zeros(4)) == pytest.approx([0.25] * 4)


@given(st.lists(counts(2, 60), min_size=4, max_size=4), st.sampled_from(["product", "holm", "bh"]))
def test_intervals_leave_out_zero_where_p_says_so(suite: list[Counts], adjust: Any) -> None:
    tasks = [binary(*one) for one in suite]
    found = group_rows(tasks, [np.array([0, 1]), np.array([2, 3])], np.full(4, 0.25), level=0.95, adjust=adjust)
    outside = (found.low > 0) | (found.high < 0)
    assert outside.tolist() == (found.p <= 0.05).tolist()
    value = [one.value for one in found.each]
    assert (found.low <= value).all()
    assert (value <= found.high).all()
