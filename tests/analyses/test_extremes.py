"""Rounding is no difference; numbers as small, large or uneven as they come give answers without NaN and warnings."""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import Comparison, Design, compare
from assay.analyses.context import context
from assay.analyses.japanese import japanese
from assay.analyses.result import plain_html
from assay.errors import NoPairsError
from tests.analyses.evidence import limits, losses, scores, value
from tests.analyses.test_japanese import counts
from tests.data.token_runs import story, write_run

RNG = np.random.default_rng(4)
LOSSES = RNG.uniform(2, 4, 50)


def strict(found: Comparison) -> Any:
    """Whole JSON: no NaN, no infinity, and the same record again."""
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert Comparison.from_dict(data) == found
    return data


def test_losses_an_ulp_apart_are_equal() -> None:
    """They were "better, p = 1.8e-15"."""
    found = compare(losses(LOSSES.tolist(), 1), losses(np.nextafter(LOSSES, 9).tolist(), 1))
    assert (value(found), limits(found), found.p_value, found.verdict) == (0, (0, 0), 1, "no difference shown")
    assert strict(found)["computed"]["rounded"] == 50
    assert found.notes == (
        "50 differences are rounding, at most 1e-12 of the values that were subtracted, and count as 0",
    )


def test_one_window_that_is_off_by_1e14th_does_not_differ() -> None:
    other = LOSSES.copy()
    other[7] += 1e-14
    found = compare(losses(LOSSES.tolist()), losses(other.tolist()))
    assert (value(found), found.p_value, found.computed.rounded) == (0, 1, 1)
    assert found.notes == (
        "1 difference is rounding, at most 1e-12 of the values that were subtracted, and counts as 0",
    )


def test_scores_of_1e15_and_0_or_1_are_equal() -> None:
    """They had p = 1e-60."""
    one = (RNG.random(200) < 0.5).astype(np.float64)
    found = compare(scores([1e15] * 200), scores((1e15 + one).tolist()))
    assert (value(found), found.p_value, found.computed.rounded) == (0, 1, int(one.sum()))


def test_a_real_difference_beside_rounding_is_found() -> None:
    b = np.nextafter(LOSSES, 9)
    b[:20] += np.linspace(0.01, 0.02, 20)
    found = compare(losses(LOSSES.tolist(), 1), losses(b.tolist(), 1))
    assert (found.verdict, found.computed.rounded) == ("worse", 30)
    assert value(found) == pytest.approx(float(np.linspace(0.01, 0.02, 20).sum()) / 50)


def test_differences_that_cancel_within_a_cluster_are_0() -> None:
    """0.1 + 0.2 − 0.3 is 5.6e-17, twelve times."""
    a, b = [0.0] * 36, [0.1, 0.2, -0.3] * 12
    more = {"cluster": [f"c{i // 3}" for i in range(36)]}
    found = compare(scores(a, **more), scores(b, **more))
    assert (value(found), found.p_value) == (0, 1)


def test_losses_by_position_an_ulp_apart_are_equal(tmp_path: Path) -> None:
    """The same tokens, summed to the same but for rounding."""
    documents = story(3, 20)
    others = [replace(one, loss=[x + 1e-14 for x in one.loss]) for one in documents]
    a, b = (write_run(tmp_path / name, part, called=name) for name, part in (("a", documents), ("b", others)))
    found = context(a, b, design=Design(resamples=400))
    assert found.differences[0].sentence.startswith("No difference shown")
    assert {gap.test.p_value for gap in found.differences[0].gaps} == {1.0}


def test_bits_per_character_an_ulp_apart_are_equal() -> None:
    first = counts("a")
    found = japanese(
        first, counts("b", right=first.right, bits=np.nextafter(first.bits, 9e9)), design=Design(resamples=400)
    )
    (bits,) = (gap for gap in found.differences[0].gaps if gap.quantity.key == "bits")
    assert (bits.difference.value, bits.randomization.p_value) == (0, 1)


# ------------------------------------------------------------------------------------------------------ no pair at all


@pytest.mark.parametrize("make", [losses, scores])
def test_no_pair_is_null_with_a_reason_and_never_0(make: Any) -> None:
    key = "window" if make is losses else "item"
    first = make([1.0, 2, 3])
    found = compare(first, first | {key: ["x", "y", "z"]})
    data = strict(found)
    assert (data["n_pairs"], data["degenerate"], data["a"], data["b"], data["p_value"]) == (0, True, None, None, None)
    for part in (data["difference"], data.get("ratio", data["difference"]), *data["effect_sizes"].values()):
        assert (part["value"], part["interval"], part["standard_error"]) == (None, None, None)
        assert part["reason"].startswith(f"no {key} is in every table: ")
    assert data["test"]["reason"].startswith(f"no {key} is in every table: ")
    assert found.verdict == "no difference shown"
    assert found.sentence == f"Nothing to compare: no {key} is in both A and B."
    assert "undefined" in str(found)
    assert "<table" in plain_html(found)
    assert " 0  [" not in str(found)


def test_no_pair_is_an_error_where_every_id_must_pair() -> None:
    first = scores([1.0, 0])
    with pytest.raises(NoPairsError, match="no item is in every table"):
        compare(first, first | {"item": ["x", "y"]}, strict=True)


# --------------------------------------------------------------------------------------------- small, large and uneven


@pytest.mark.parametrize("scale", [5e-324, 1e-320, 1e-310, 1e-300, 1e300])
@pytest.mark.parametrize(
    "design", [Design(), Design(method="t", test="t"), Design(method="studentized", resamples=200)]
)
def test_the_smallest_and_the_largest_numbers_give_whole_json(scale: float, design: Design) -> None:
    a, b = (RNG.integers(0, most, 30) * scale for most in (20, 30))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare(scores(a.tolist()), scores(b.tolist()), design=design)
    strict(found)
    unit = compare(scores((a / scale).tolist()), scores((b / scale).tolist()), design=design)
    for name, effect in found.effect_sizes.items():
        assert effect.value == pytest.approx(unit.effect_sizes[name].value, rel=0.2)  # 5e-324 has no digits to spare


@pytest.mark.parametrize("span", [20, 150, 300])
@pytest.mark.parametrize("method", ["auto", "t", "percentile", "studentized"])
@pytest.mark.parametrize("right", [False, True])
def test_weights_of_600_orders_of_magnitude_give_no_warnings(span: int, method: Any, *, right: bool) -> None:
    rng = np.random.default_rng(span)
    weight = (10.0 ** rng.uniform(-span, span, 40)).tolist()
    a, b = (rng.random(40) > 0.4, rng.random(40) > 0.3) if right else rng.uniform(0, 1, (2, 40))
    tables = [scores(part.astype(float).tolist(), weight=weight) for part in (a, b)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare(*tables, design=Design(method=method, resamples=200 if method == "studentized" else None))
    strict(found)
    largest = int(np.argmax(weight))
    if span > 20:  # all the weight is on one item or two: the mean is theirs
        heavy = np.asarray(weight) / weight[largest] > 1e-3
        share = np.asarray(weight)[heavy] / np.asarray(weight)[heavy].sum()
        expected = float((share * (b.astype(float) - a.astype(float))[heavy]).sum())
        assert value(found) == pytest.approx(expected, abs=0.05)
