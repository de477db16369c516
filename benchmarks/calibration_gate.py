"""How often is a gate wrong at its limit, and how often does a model that lost nothing pass?

    python benchmarks/calibration_gate.py                       everything; about 2 minutes on one core
    python benchmarks/calibration_gate.py --simulations 200     a quick look
    python benchmarks/calibration_gate.py --out benchmarks/results/calibration_gate.md

For 0/1 scores every outcome is enumerated, so the shares are exact; for losses they are simulated. The same command
prints the same numbers on every run.
"""

import sys
from collections.abc import Callable, Sequence
from math import log
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the script runs from any folder

import numpy as np
from scipy.stats import binom

from assay.certificate.rules import DriftFound, decide, drift
from assay.data import Panel
from assay.design import TIERS
from assay.stats.bootstrap import interval
from assay.stats.proportions import paired_shares
from assay.stats.units import Floats, Units, mean_of_draws
from benchmarks.simulation.command import simulate
from benchmarks.simulation.tables import table

LEVEL = 0.95
WON = (0.0, 0.01, 0.03, 0.1)  # shares of items that only the subject has right
ITEMS = (200, 500, 1000)
COLUMNS = ("at the limit: pass", "regression", "nothing lost: pass")
NEGLIGIBLE = 1e-12  # of the probability of an outcome

Generator = np.random.Generator
DIFFERENCES: dict[str, Callable[[Generator, int], Floats]] = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "t4": lambda rng, n: rng.standard_t(4, n) / np.sqrt(2),
    "skewed to worse": lambda rng, n: rng.exponential(1, n) - 1,
    "skewed to better": lambda rng, n: 1 - rng.exponential(1, n),
}


LOSSES: dict[str, Callable[[Generator, Floats], Floats]] = {
    "normal": lambda rng, tokens: 0.5 * rng.standard_normal(len(tokens)),
    "skewed": lambda rng, tokens: 0.5 * rng.exponential(1, len(tokens)),
    "longer are easier": lambda rng, tokens: 0.5 * rng.standard_normal(len(tokens)) - 0.5 * np.log(tokens),
}


def main(arguments: Sequence[str] | None = None) -> None:
    simulate("How often a gate is wrong at its limit.", _report, 2000, arguments, "per cell of losses (2,000)")


def _report(simulations: int) -> str:
    tier = TIERS["balanced"]
    scores = [_scores_row(n, tier.max_drop, won) for n in ITEMS for won in WON]
    losses = [_losses_row(name, sigma, tier.windows, simulations) for name in DIFFERENCES for sigma in (0.0, 0.5)]
    about_scores = (
        f"### 0/1 scores, limit {tier.max_drop:g}\n\n"
        "Exact, by enumeration of all outcomes, in per cent. *Won*: items that only the subject has right; as many\n"
        "are lost, and at the limit so many more. Of a model exactly at the limit 2.5 may pass, and 2.5 may "
        "be called a\nregression."
    )
    about_losses = (
        f"### Losses, limit × {tier.max_ratio:g}, {tier.windows} windows\n\n"
        f"Per cent of {simulations:,} simulations, ± the binomial standard error. Differences have a standard\n"
        "deviation of 0.1 nats; all resamples are drawn."
    )
    drifts = [_drift_row(name, sigma, n, simulations) for name in LOSSES for sigma in (0.0, 0.5) for n in (40, 180)]
    about_drift = (
        "### Drift from preview to final windows, where there is none\n\n"
        f"Per cent of {simulations:,} simulations. Both splits are drawn from one distribution: Welch's interval\n"
        "should cover in 95, the alarm at p < 0.01 be raised in 1. *Longer are easier*: a window's loss falls\n"
        "with its length."
    )
    return "\n\n".join(
        [
            about_scores,
            table(["items", "won %", *COLUMNS], scores),
            about_losses,
            table(["differences", "tokens", *COLUMNS], losses),
            about_drift,
            table(["losses", "tokens", "windows per split", "interval covers", "alarms"], drifts),
        ]
    )


# ----------------------------------------------------------------------------------------------------------- 0/1 scores


def _scores_row(n: int, limit: float, won: float) -> list[str]:
    at_limit, equal = _shares(n, limit, won, won + limit), _shares(n, limit, won, won)
    shares = at_limit["pass"], at_limit["regression"], equal["pass"]
    return [f"{n:,}", f"{100 * won:g}", *(f"{100 * share:.1f}" for share in shares)]


def _shares(n: int, limit: float, won: float, lost: float) -> dict[str, float]:
    """The probability of each verdict where items are won and lost with these probabilities."""
    b, c, weights = _outcomes(n, won, lost)
    found = paired_shares(b, c, np.full(len(b), float(n)), level=LEVEL)
    shares = {"pass": 0.0, "regression": 0.0, "insufficient evidence": 0.0}
    for i, j, low, high, weight in zip(b, c, found.low, found.high, weights, strict=True):
        shares[decide(float(j - i) / n, -float(high), -float(low), limit, n).verdict] += float(weight)
    return shares


def _outcomes(n: int, won: float, lost: float) -> tuple[Floats, Floats, Floats]:
    """Counts of won and lost items, with their probabilities: binomial, and binomial given the first."""
    first = np.arange(n + 1)
    b, c = (grid.ravel() for grid in np.meshgrid(first, first, indexing="ij"))
    possible = b + c <= n
    b, c = b[possible], c[possible]
    weights = binom.pmf(b, n, won) * binom.pmf(c, n - b, lost / (1 - won))
    likely = weights > NEGLIGIBLE
    return b[likely].astype(float), c[likely].astype(float), weights[likely]


# --------------------------------------------------------------------------------------------------------------- losses


def _losses_row(name: str, sigma: float, n: int, simulations: int) -> list[str]:
    limit = log(TIERS["balanced"].max_ratio)
    at_limit = [_verdict(name, sigma, n, limit, limit, i) for i in range(simulations)]
    equal = [_verdict(name, sigma, n, limit, 0.0, i) for i in range(simulations)]
    shares = [at_limit.count("pass"), at_limit.count("regression"), equal.count("pass")]
    return [name, "equal" if sigma == 0 else "log-normal(0.5)", *(_share(k, simulations) for k in shares)]


def _verdict(name: str, sigma: float, n: int, limit: float, truth: float, simulation: int) -> str:
    rng = np.random.default_rng([20261, list(DIFFERENCES).index(name), int(10 * sigma), simulation])
    tokens = np.ones(n) if sigma == 0 else rng.lognormal(0.0, sigma, n)
    units = Units(tokens * (truth + 0.1 * DIFFERENCES[name](rng, n)), tokens)
    drawn = mean_of_draws(units) if sigma == 0 else units
    limits = interval(drawn, method="bca", confidence_level=LEVEL).interval
    return decide(units.estimate, limits.low, limits.high, limit, n).verdict


# ---------------------------------------------------------------------------------------------------------------- drift


def _drift_row(name: str, sigma: float, n: int, simulations: int) -> list[str]:
    found = [_drift(name, sigma, n, i) for i in range(simulations)]
    covers = sum(low <= 0 <= high for low, high in (one.limits(LEVEL) for one in found))
    shares = [_share(covers, simulations), _share(sum(one.alarm for one in found), simulations)]
    return [name, "equal" if sigma == 0 else "log-normal(0.5)", f"{n}", *shares]


def _drift(name: str, sigma: float, n: int, simulation: int) -> DriftFound:
    rng = np.random.default_rng([20262, list(LOSSES).index(name), int(10 * sigma), n, simulation])
    splits = []
    for _ in range(2):
        tokens = np.ones(n) if sigma == 0 else rng.lognormal(0.0, sigma, n)
        splits.append(Panel.from_arrays(tokens * (3 + LOSSES[name](rng, tokens)), tokens))
    found = drift(splits[0], splits[1], 0)
    assert found is not None  # there is spread
    return found


def _share(count: int, of: int) -> str:
    share = count / of
    return f"{100 * share:.1f} ± {100 * np.sqrt(share * (1 - share) / of):.1f}"


if __name__ == "__main__":
    main()
