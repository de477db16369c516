"""What comparing in pairs gains, against numpy's own covariance and counting by hand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from assay.analyses.compare import compare
from assay.analyses.compare.pair_facts import PairFacts, RightCounts
from assay.analyses.suite import compare_suite
from assay.design import Design
from tests.analyses.evidence import noisy_scores, scores


def facts(a: object, b: object, **how: object) -> PairFacts:
    found = compare(a, b, **how).pairing  # type: ignore[arg-type]
    assert found is not None
    return found


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=3, max_size=30))
def test_correlation_and_what_is_saved_against_numpy(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).T
    if min(a.std(), b.std()) < 1e-3:
        return
    found = facts(scores(a.tolist()), scores(b.tolist()))
    assert found.correlation == pytest.approx(np.corrcoef(a, b)[0, 1], abs=1e-6)
    assert found.saved == pytest.approx(1 - np.var(b - a) / (np.var(a) + np.var(b)), abs=1e-6)


def test_who_is_right_by_hand() -> None:
    found = facts(scores([1, 1, 0, 0, 1, 0, 0]), scores([1, 0, 1, 1, 1, 0, 1]))
    assert found.right == RightCounts(both=2, only_a=1, only_b=3, neither=1)
    assert str(found.right) == "both 2, B alone 3, A alone 1, neither 1"


def test_systems_that_do_not_vary_have_no_correlation() -> None:
    found = facts(scores([1.0] * 8), scores([1, 0] * 4))
    assert found.correlation is None
    assert found.saved is None
    assert facts(scores([0.3, 0.4]), scores([0.5, 0.6])).right is None


def test_more_pairs_can_show_less() -> None:
    sizes = [facts(*noisy_scores(n, 0.05)).detectable for n in (30, 120, 480)]
    assert all(a is not None and b is not None and b < a for a, b in pairwise(sizes))


def test_what_0_1_scores_could_have_shown_against_simulation() -> None:
    """With a true difference of that size, and as many items that differ, the test rejects about 4 times in 5."""
    found = facts(
        scores([1] * 20 + [0] * 8 + [1] * 300 + [0] * 100), scores([0] * 20 + [1] * 8 + [1] * 300 + [0] * 100)
    )
    assert found.detectable is not None
    n, differing = 428, 28 / 428
    rng = np.random.default_rng(4)
    better, worse = (differing + found.detectable) / 2, (differing - found.detectable) / 2
    drawn = rng.multinomial(n, [better, worse, 1 - differing], size=20_000)
    low, total = drawn[:, :2].min(axis=1), drawn[:, :2].sum(axis=1)
    mid_p = 2 * binom.cdf(low, total, 0.5) - binom.pmf(low, total, 0.5)
    assert (mid_p <= 0.05).mean() == pytest.approx(0.8, abs=0.012)


def test_what_could_have_been_shown_is_that_of_a_suite_of_this_task() -> None:
    a, b = scores([1, 0, 1, 1, 0, 1] * 20), scores([1, 1, 0, 1, 0, 1] * 20)
    tasks = {"task": ["one"] * 60 + ["two"] * 60}
    suite = compare_suite(a | tasks, b | tasks)
    one = [{name: column[:60] for name, column in table.items()} for table in (a, b)]
    alone = facts(*one, design=Design(level=0.95**0.5))  # as two independent tasks share it
    assert suite.tasks[0].detectable == pytest.approx(alone.detectable, rel=1e-9)


def test_another_test_has_another_power() -> None:
    a, b = scores([1, 0, 1, 1, 0, 1] * 20), scores([1, 1, 0, 1, 0, 1] * 20)
    assert facts(a, b, design=Design(test="t")).detectable != facts(a, b).detectable
