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
from assay.analyses.rank import rank
from assay.analyses.reliability import reliability
from assay.errors import InputError, NoPairsError
from assay.report.html.gauges import gauge_html
from assay.results import words
from assay.results.text import plain_html
from tests.analyses.evidence import limits, losses, scores, value
from tests.analyses.japanese.texts import counts
from tests.data.runs.token_runs import story, write_run

RNG = np.random.default_rng(4)
LOSSES = RNG.uniform(2, 4, 50)


def strict(found: Comparison) -> Any:
    """Whole JSON: no NaN, no infinity, and the same record again."""
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert Comparison.from_dict(data) == found
    return data


def runs(values: Any) -> dict[str, Any]:
    """(n, k) scores of n items in k runs, as a table."""
    n, k = values.shape
    return {
        "item": [f"q{i:03d}" for i in range(n) for _ in range(k)],
        "run": [run for _ in range(n) for run in range(k)],
        "score": values.ravel().tolist(),
    }


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


@pytest.mark.parametrize("size", [1e-7, 1e-9, 1e-11])
def test_a_ratio_next_to_1_is_not_printed_as_1(size: float) -> None:
    """It was "worse: perplexity × 1 (95% CI 1 to 1)"; text, Markdown and page say the same numbers."""
    shift = size * np.random.default_rng(1).uniform(0.8, 1.2, 50)
    found = compare(losses(LOSSES.tolist(), 1), losses((LOSSES + shift).tolist(), 1))
    assert (found.verdict, found.ratio is None) == ("worse", False)
    assert found.ratio is not None
    assert found.ratio.interval is not None
    shown = words.interval(found.ratio.interval, null=1.0)
    assert all(float(text) > 1 for text in shown.split(" to "))
    assert found.gauge is not None
    page = found.gauge.text, str(found), found.sentence, plain_html(found), gauge_html(found.gauge, "g")
    assert all(shown in text for text in page)
    a, b = (line.split()[-1] for line in str(found).splitlines() if line.startswith("loss (nats per token)"))
    assert a != b


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


def test_runs_an_ulp_apart_have_no_noise() -> None:
    """0.1 * 3 is not 0.3: the noise was ±4.5e-17."""
    found = reliability(runs(np.array([[0.3, 0.1 * 3, 0.1 * 3, 0.3]] * 30)))
    assert found.sentence.startswith("No run-to-run noise: the model has the same answers in every run")
    assert found.run_sd.value == found.models[0].item_sd.value == 0
    assert found.notes[0].startswith("60 differences are rounding")


def test_runs_a_constant_apart_leave_no_noise_of_items() -> None:
    """0, 0.1, 0.2 and 0.3 in every item: what items add was 6e-18, and so the lower limit of the noise."""
    found = reliability(runs(np.array([[0.0, 0.1, 0.2, 0.3]] * 30)))
    assert found.models[0].expected_run_sd == 0
    assert found.run_sd.value == pytest.approx(np.std([0, 0.1, 0.2, 0.3], ddof=1))
    assert found.run_sd.interval is not None
    assert found.run_sd.interval.low == 0


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
        compare(first, first | {"item": ["x", "y"]}, missing="refuse")


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


@pytest.mark.parametrize("span", [20, pytest.param(150, marks=pytest.mark.nightly), 300])
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


@pytest.mark.parametrize("score", [0.0, 0.3, 1.0, 7.3, -2.2])
@pytest.mark.parametrize("adjust", ["holm", "max-t"])
def test_a_leaderboard_of_constant_scores_is_whole_json(score: float, adjust: Any) -> None:
    """0.3 forty times had a top score of "[nan to 0.3]"."""
    tables = [scores([value] * 40) for value in (score, score, score - 0.1 if score > 1 else score)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        board = rank(*tables, names=["A", "B", "C"], adjust=adjust)
    json.dumps(board.to_dict(), allow_nan=False)
    found = board.top.corrected.interval
    assert found is not None
    assert found.low - 1e-12 <= score <= found.high + 1e-12


def rank_of(*values: Any) -> Any:
    return rank(*(scores(part.tolist()) for part in values), names=[f"m{i}" for i in range(len(values))])


def reliability_of_columns(*values: Any) -> Any:
    return reliability(runs(np.column_stack(values)))


@pytest.mark.parametrize("verb", [rank_of, reliability_of_columns])
@pytest.mark.parametrize(
    ("scale", "says"), [(1e200, "too large"), (1e61, "too large"), (1e-300, "too small"), (1e-62, "too small")]
)
def test_scores_that_cannot_be_squared_are_refused(verb: Any, scale: float, says: str) -> None:
    """Ranks of 1e200 were warnings and a fault; runs of 1e-300 had "the same answers"."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match=f"^the scores of .* are {says} .*give them in another unit"):
            verb(*(RNG.normal(size=(3, 20)) * scale))


@pytest.mark.parametrize("verb", [rank_of, reliability_of_columns])
def test_differences_that_cannot_be_squared_are_refused(verb: Any) -> None:
    """20 items differ by 1e-300: ranks said "cannot be told apart (p = 1.8e-12)"."""
    a, b = np.ones((2, 40))
    a[:20], b[:20] = 1e-300, 2e-300
    with pytest.raises(InputError, match=r"the scores of .* and .* differ by 1e-300 at most, too little"):
        verb(a, b)


@pytest.mark.parametrize("scale", [1e-58, 1e-9, 1e9, 1e58])
def test_the_largest_and_the_smallest_scores_scale(scale: float) -> None:
    values = RNG.normal(size=(3, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        board, noise = rank_of(*values * scale), reliability_of_columns(*values * scale)
    json.dumps([board.to_dict(), noise.to_dict()], allow_nan=False)
    one, still = rank_of(*values), reliability_of_columns(*values)
    assert board.sentence == one.sentence
    assert board.top.corrected.value == pytest.approx(one.top.corrected.value * scale)
    assert noise.run_sd.value == pytest.approx(still.run_sd.value * scale)


def test_probabilities_of_long_answers_are_ranked() -> None:
    """1e-300 beside 0.9: nothing to refuse."""
    rng = np.random.default_rng(3)
    a, b = 10.0 ** rng.uniform(-300, 0, (2, 40))
    a[:9], b[:9] = rng.uniform(0, 1, (2, 9))
    json.dumps(rank_of(a, b).to_dict(), allow_nan=False)
