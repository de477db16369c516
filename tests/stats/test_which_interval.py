"""Which interval is taken: every row of the table at the head of the module, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import UsageError
from assay.stats.units import Units
from assay.stats.which_interval import ENOUGH, ENOUGH_DIFFERING, UnitFacts, interval_for

BY_NAME = ("bca", "bca-plain", "percentile", "t", "t-hall", "studentized")


@pytest.mark.parametrize(
    ("facts", "taken"),
    [
        (UnitFacts("0/1 pairs"), "tango"),
        (UnitFacts("0/1 pairs", 5, 0), "tango"),
        (UnitFacts("shares"), "agresti-coull"),
        (UnitFacts("other", ENOUGH, ENOUGH_DIFFERING), "bca"),
        (UnitFacts("other", ENOUGH - 0.1, 1000), "t-hall"),
        (UnitFacts("other", 1000, ENOUGH_DIFFERING - 1), "t-hall"),
    ],
)
def test_left_to_us(facts: UnitFacts, taken: str) -> None:
    assert interval_for("auto", facts) == taken


@given(st.sampled_from(BY_NAME), st.sampled_from(["0/1 pairs", "shares", "other"]), st.floats(1, 1e6))
def test_what_is_asked_for_is_taken(asked: str, values: str, effective: float) -> None:
    facts = UnitFacts(values, effective, effective)  # type: ignore[arg-type]  # one of the three
    assert interval_for(asked, facts) == asked  # type: ignore[arg-type]  # likewise


@pytest.mark.parametrize(("asked", "values"), [("tango", "shares"), ("tango", "other"), ("agresti-coull", "other")])
def test_what_is_made_for_other_data_is_refused(asked: str, values: str) -> None:
    with pytest.raises(UsageError, match=f"^{asked} is an interval of .*; leave `method` out, or choose bca"):
        interval_for(asked, UnitFacts(values))  # type: ignore[arg-type]  # one of the names


def test_facts_of_units_are_kishs_number_and_those_that_are_not_0() -> None:
    """By hand: (Σw)² / Σw² = 16 / 6."""
    found = UnitFacts.of(Units(np.array([0.0, 1.0, -2.0]), np.array([1.0, 1.0, 2.0])))
    assert (found.values, found.differing) == ("other", 2)
    assert found.effective == pytest.approx(16 / 6)
