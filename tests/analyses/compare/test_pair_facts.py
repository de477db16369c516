"""What comparing in pairs gains, against numpy's own covariance and counting by hand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analyses.compare import compare
from assay.analyses.compare.pair_facts import PairFacts, RightCounts
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
