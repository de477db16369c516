"""The rows of a certificate over tasks, against scipy, statsmodels, closed forms and sums by hand."""

from collections.abc import Callable
from math import inf, log, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, norm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from assay.certificate.suite.fields import SuiteRow
from assay.certificate.suite.record import SuiteCertificate
from assay.design import Policy
from assay.limits import GroupLimits, Limits, TotalLimits
from assay.stats.bootstrap import interval
from assay.stats.bounded_mean import EffectiveItems, mean_of_shares
from assay.stats.units import Units
from tests.certificate.issuing import certify_tasks
from tests.certificate.suite.samples import equal, losses, suite, with_costs

COUNTS = {"arc": (6, 14, 120), "boolq": (9, 7, 90), "gsm8k": (2, 15, 80), "mmlu": (5, 5, 150)}


@pytest.fixture
def issued(tmp_path: Path) -> SuiteCertificate:
    return certify_tasks(*suite(COUNTS), tmp_path / "c.json")


def by_name(found: SuiteCertificate) -> dict[str, SuiteRow]:
    return {row.name: row for row in found.tasks}


def mid_p(b: int, c: int) -> float:
    least = min(b, c)
    return 1.0 if b == c else float(2 * binom.cdf(least, b + c, 0.5) - binom.pmf(least, b + c, 0.5))


def test_means_and_differences_by_hand(issued: SuiteCertificate) -> None:
    for name, (b, c, n) in COUNTS.items():
        row, alike = by_name(issued)[name], n - b - c
        right = len([i for i in range(alike) if i < 0.5 * alike])
        assert (row.n, row.weight) == (n, 0.25)
        assert (row.baseline, row.subject) == pytest.approx(((c + right) / n, (b + right) / n))
        assert row.difference == pytest.approx((b - c) / n)
    assert issued.total.difference == pytest.approx(np.mean([(b - c) / n for b, c, n in COUNTS.values()]))
    assert issued.total.n == sum(n for _, _, n in COUNTS.values())


def test_p_values_against_scipy_and_statsmodels(issued: SuiteCertificate) -> None:
    alone = [mid_p(b, c) for b, c, _ in COUNTS.values()]
    assert [row.p_value for row in issued.tasks] == pytest.approx(alone)
    assert [row.adjusted_p for row in issued.tasks] == pytest.approx(multipletests(alone, method="holm")[1])


def tango_by_search(b: int, c: int, n: int, level: float) -> tuple[float, float]:
    """The differences that the score test does not reject, from the quadratic of Tango (1998), on a fine grid."""
    grid = np.linspace(-1, 1, 400_001)[1:-1]
    a = 2 * n
    half = -b - c + (2 * n - b + c) * grid
    q = (np.sqrt(half**2 - 4 * a * (-c * grid * (1 - grid))) - half) / (2 * a)
    z = (b - c - n * grid) / np.sqrt(n * (2 * q + grid * (1 - grid)))
    inside = grid[np.abs(z) <= norm.ppf(0.5 + level / 2)]
    return float(inside.min()), float(inside.max())


def test_intervals_against_tangos_test(issued: SuiteCertificate) -> None:
    """By itself, and at the level of all four; a limit at 0 says that the test does not reject."""
    for name, counts in COUNTS.items():
        row = by_name(issued)[name]
        assert row.ci == pytest.approx(tango_by_search(*counts, 0.95), abs=2e-5)
        low, high = tango_by_search(*counts, 0.95**0.25)
        assert row.adjusted_ci is not None
        assert row.adjusted_ci[0] == pytest.approx(low, abs=2e-5)
        assert row.adjusted_ci[1] == pytest.approx(high, abs=2e-5) or row.adjusted_ci[1] == 0.0


def test_the_total_by_the_formula_of_its_variance(issued: SuiteCertificate) -> None:
    variances = [(b + c - (b - c) ** 2 / n) / (n * (n - 1)) for b, c, n in COUNTS.values()]
    assert issued.total.standard_error == pytest.approx(sqrt(sum(variances)) / 4)
    assert issued.total.effective == pytest.approx(16 / sum(1 / n for _, _, n in COUNTS.values()))


def test_a_group_is_the_total_of_its_tasks(tmp_path: Path) -> None:
    some = {name: COUNTS[name] for name in ("arc", "gsm8k")}
    policy = Policy(groups={"hard": GroupLimits(tasks=("gsm8k", "a*"), max_drop=0.2)})
    whole = certify_tasks(*suite(COUNTS), tmp_path / "c.json", policy=policy)
    alone = certify_tasks(*suite(some), tmp_path / "d.json")
    (group,) = whole.groups
    assert (group.name, group.tasks, group.weight) == ("hard", ("arc", "gsm8k"), 0.5)
    same = ("n", "baseline", "subject", "difference", "standard_error", "ci", "p_value", "effective")
    assert [getattr(group, name) for name in same] == [getattr(alone.total, name) for name in same]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("items", lambda n: n / n.sum()),
        ({"arc": 3, "boolq": 1, "gsm8k": 0, "mmlu": 0}, lambda _: np.array([0.75, 0.25, 0.0, 0.0])),
    ],
)
def test_weights_by_hand(weights: object, expected: Callable[..., object], tmp_path: Path) -> None:
    policy = Policy(total=TotalLimits(weights=weights), note="as agreed")  # type: ignore[arg-type]
    found = certify_tasks(*suite(COUNTS), tmp_path / "c.json", policy=policy)
    sizes = np.array([n for _, _, n in COUNTS.values()], dtype=float)
    shares = np.asarray(expected(sizes))
    assert [row.weight for row in found.tasks] == pytest.approx(shares.tolist())
    changes = np.array([(b - c) / n for b, c, n in COUNTS.values()])
    assert found.total.difference == pytest.approx(float((shares * changes).sum()))


def test_scores_against_statsmodels_and_mover_by_hand(tmp_path: Path) -> None:
    each = Limits(min_score=0.2)
    policy = Policy(each=each, total=TotalLimits(min_score=0.3))
    found = certify_tasks(*suite(COUNTS), tmp_path / "c.json", policy=policy)
    for row in found.tasks:
        right = round(row.subject * row.n)
        assert row.score_ci == pytest.approx(proportion_confint(right, row.n, 0.05, "agresti_coull"))
        every = proportion_confint(right, row.n, 1 - 0.95**0.25, "agresti_coull")
        assert row.adjusted_score_ci == pytest.approx(every)
    below = above = 0.0
    for row in found.tasks:
        z, n = norm.ppf(0.975), row.n
        centre = (row.subject * n + z * z / 2) / (n + z * z)
        reach = z * sqrt(centre * (1 - centre) / (n + z * z))
        below, above = below + (row.subject - centre + reach) ** 2, above + (centre + reach - row.subject) ** 2
    mean = float(np.mean([row.subject for row in found.tasks]))
    assert found.total.score_ci == pytest.approx((mean - sqrt(below) / 4, mean + sqrt(above) / 4))


def test_the_mean_of_shares_takes_weights() -> None:
    items = [EffectiveItems(40, inf), EffectiveItems(90, inf)]
    plain, weighed = (mean_of_shares([0.4, 0.8], items, 0.95, weights) for weights in (None, [0.5, 0.5]))
    assert (plain.low, plain.high) == pytest.approx((weighed.low, weighed.high))
    alone = mean_of_shares([0.4, 0.8], items, 0.95, [1.0, 0.0])
    assert (alone.low, alone.high) == pytest.approx(proportion_confint(16, 40, 0.05, "agresti_coull"))


def test_costs_by_hand(tmp_path: Path) -> None:
    before, after = with_costs(equal({"arc": 60, "boolq": 80}), times=1.25)
    policy = Policy(each=Limits(max_price_ratio=2), total=TotalLimits(max_price_ratio=2, max_seconds_ratio=2))
    found = certify_tasks(before, after, tmp_path / "c.json", policy=policy)
    old, new = np.array(before["price"]), np.array(after["price"])
    whole, seconds = found.total.costs
    assert (whole.cost, seconds.cost) == ("price", "seconds")
    assert whole.ratio == pytest.approx(new.sum() / old.sum())
    assert (whole.baseline, whole.subject) == pytest.approx((old.mean(), new.mean()))
    arc = np.array(before["task"]) == "arc"
    (cost,) = by_name(found)["arc"].costs
    made = interval(Units(new[arc], old[arc]), method="auto", confidence_level=0.95)
    assert cost.ratio == pytest.approx(new[arc].sum() / old[arc].sum())
    assert cost.ci == pytest.approx((made.interval.low, made.interval.high))
    assert cost.adjusted_ci is not None
    assert cost.adjusted_ci[0] < cost.ci[0] < cost.ratio < cost.ci[1] < cost.adjusted_ci[1]


def test_perplexities_are_token_weighted_by_hand(tmp_path: Path) -> None:
    before, after = losses({"code": 0.01, "prose": 0.3})
    found = certify_tasks(before, after, tmp_path / "c.json")
    gaps = []
    for name in ("code", "prose"):
        here = np.array(before["task"]) == name
        tokens = np.array(before["tokens"])[here]
        shift = np.array(after["loss"])[here] - np.array(before["loss"])[here]
        gaps.append(float((tokens * shift).sum() / tokens.sum()))
    assert [row.difference for row in found.tasks] == pytest.approx(gaps)
    assert found.total.difference == pytest.approx(np.mean(gaps))
    assert [one.at for one in found.limits] == [1.1, 1.2, 1.2]
    assert found.limits[2].value == pytest.approx(np.exp(gaps[1]))
    assert found.limits[2].outcome == "not met"
    assert found.tasks[0].noticed is not None
    assert found.tasks[0].noticed > log(1.2)


def test_the_chance_of_every_bound_is_a_product(tmp_path: Path) -> None:
    policy = Policy(every=True, each=Limits(max_drop=0.2), note="small tasks")
    found = certify_tasks(*suite(COUNTS), tmp_path / "c.json", policy=policy)
    chances = [row.passes_if_equal for row in found.tasks]
    assert found.decision.passes_if_equal == pytest.approx(np.prod([one or 0.0 for one in chances]))
