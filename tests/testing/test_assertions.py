"""`assay.testing`, against the decision of `certify`, against statsmodels, and at the edges."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar

import assay
from assay import examples
from assay.errors import InputError, NoPairsError, UsageError
from assay.testing import assert_not_worse, assert_ratio_below

RIGHT, SAME = [1, 1, 1, 0] * 100, [1, 1, 1, 0] * 99 + [1, 1, 1, 1]
WORSE = [0, 1, 1, 0] * 100


def message_of(call: Callable[..., Any], *args: Any, **how: Any) -> str:
    with pytest.raises(AssertionError) as failed:
        call(*args, **how)
    return str(failed.value)


def test_what_is_shown_to_be_within_the_limit_passes_and_is_returned() -> None:
    found = assert_not_worse(RIGHT, SAME, max_drop=0.02)
    assert isinstance(found, assay.Comparison)
    assert found.systems.a == "baseline"


def test_a_failure_has_the_sentence_the_interval_and_the_signature() -> None:
    said = message_of(assert_not_worse, RIGHT, WORSE)
    first = said.splitlines()[0]
    assert first.startswith("candidate is a regression from baseline: mean score −0.2500, 95% CI ")
    assert "beyond the limit of a fall of 0.02 (400 items)" in first
    assert "│ limit −0.02" in said
    assert said.splitlines()[-1].startswith("assay:")
    assert mcnemar([[200, 100], [0, 100]], exact=True).pvalue < 1e-20  # statsmodels agrees that they differ


def test_what_is_not_shown_fails_and_says_how_much_would_settle_it() -> None:
    few = [1, 1, 1, 0] * 20
    said = message_of(assert_not_worse, few, few)
    assert said.startswith("Insufficient evidence that candidate is not worse than baseline: ")
    assert "would settle it" in said


@pytest.mark.parametrize("name", ["int8", "int3", "trigram"])
def test_the_ratio_is_decided_as_certify_decides(name: str, tmp_path: Path) -> None:
    base, other = examples.path("losses-base.csv"), examples.path(f"losses-{name}.csv")
    limit, how = 1.05, dict[str, Any](cluster="document", split="final")
    issued = assay.certify(base, other, tmp_path / "c.json", cluster="document", max_ratio=limit, note="as asserted")
    if issued.passed:
        assert_ratio_below(base, other, limit, **how)
        return
    head = {"regression": "is a regression", "insufficient evidence": "Insufficient evidence"}
    assert head[issued.verdict] in message_of(assert_ratio_below, base, other, limit, **how)


def test_of_losses_the_drop_is_a_rise_in_nats() -> None:
    base, int3 = examples.path("losses-base.csv"), examples.path("losses-int3.csv")
    said = message_of(assert_not_worse, base, int3, 0.02)
    assert "mean loss +0.066" in said
    assert "a rise of 0.02" in said
    assert_not_worse(base, int3, 0.2)


def test_frames_tables_files_and_panels_are_accepted() -> None:
    frames = [pd.DataFrame({"item": range(400), "score": scores}) for scores in (RIGHT, SAME)]
    panel = assay.Panel.from_arrays(np.array([RIGHT, SAME]).T, systems=["old", "new"])
    for a, b in ((frames[0], frames[1]), (np.array(RIGHT), np.array(SAME)), (panel, None)):
        assert assert_not_worse(a, b).n_pairs == 400


def test_names_and_settings_are_those_of_compare() -> None:
    found = assert_not_worse(RIGHT, SAME, names=("old", "new"), level=0.9)
    assert (found.systems.b, found.design.level) == ("new", 0.9)


def test_less_is_better_where_it_is_said() -> None:
    errors, more = [0.1, 0.2] * 50, [0.1, 0.25] * 50
    assert "a rise of 0.01" in message_of(assert_not_worse, errors, more, 0.01, lower_is_better=True)
    assert_not_worse(more, errors, 0.01, lower_is_better=True)


@pytest.mark.parametrize("limit", [-0.1, float("nan"), float("inf"), True, "0.02", None])
def test_a_limit_that_is_none_is_refused(limit: Any) -> None:
    with pytest.raises(UsageError, match="max_drop must be 0 or more, and finite"):
        assert_not_worse(RIGHT, SAME, limit)
    with pytest.raises(UsageError, match="max_ratio must be positive and finite"):
        assert_ratio_below(examples.path("losses-base.csv"), examples.path("losses-int8.csv"), limit)


def test_scores_have_no_ratio() -> None:
    with pytest.raises(UsageError, match="use assert_not_worse"):
        assert_ratio_below(RIGHT, SAME)


def test_nothing_in_common_is_an_error_and_no_verdict() -> None:
    with pytest.raises(NoPairsError):
        assert_not_worse({"item": [1, 2], "score": [1, 0]}, {"item": [3, 4], "score": [1, 0]})


def test_a_file_that_is_not_there_is_refused_without_our_frames(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        assert_not_worse(tmp_path / "none.csv", tmp_path / "other.csv")
    assert len(refused.traceback) <= 3
    assert refused.value.__cause__ is None


@given(st.integers(1, 5), st.floats(0, 1))
def test_too_few_never_pass(n: int, limit: float) -> None:
    said = message_of(assert_not_worse, [1] * n, [1] * n, min(limit, 0.9))
    assert said.startswith("Insufficient evidence")


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=30, max_size=60))
def test_a_looser_limit_never_fails_what_a_stricter_one_passes(pairs: list[tuple[bool, bool]]) -> None:
    a, b = ([float(pair[i]) for pair in pairs] for i in (0, 1))
    passed = []
    for limit in (0.0, 0.05, 0.2, 0.5):
        try:
            assert_not_worse(a, b, limit)
            passed.append(True)
        except AssertionError:
            passed.append(False)
    assert passed == sorted(passed)
