"""The interval and the test that each tool gives for the same two models, as its documentation says.

``None`` where a tool has none for such data: most know no tokens, some no clusters.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import nan, sqrt
from typing import Any

import numpy as np
from scipy import stats

from assay.analyses.compare import compare
from assay.stats.bootstrap import interval
from assay.stats.paired_tests import sign_flip, t_test, wilcoxon
from assay.stats.proportions import mcnemar_p
from assay.stats.records import IntervalName
from assay.stats.units import Floats
from benchmarks.simulation.worlds import Drawn

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Said:
    """Limits of B − A, and a p-value; NaN where the tool gave none for this sample."""

    low: float = nan
    high: float = nan
    p: float = nan


Tool = Callable[[Drawn], Said | None]


def version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


# ----------------------------------------------------------------------------------------------------------------- ours


def of_assay(found: Drawn) -> Said:
    """What `assay compare` says."""
    ids = [f"q{i}" for i in range(len(found.a))]
    more: dict[str, Any] = {} if found.clusters is None else {"cluster": found.clusters.tolist()}
    if found.tokens is not None:
        tables = [{"window": ids, "tokens": found.tokens.tolist(), "loss": x.tolist()} for x in (found.a, found.b)]
    else:
        tables = [{"item": ids, "score": x.tolist(), **more} for x in (found.a, found.b)]
    made = compare(*tables)
    limits, p = made.difference.interval, made.p_value
    assert limits is not None
    return Said(limits.low, limits.high, nan if p is None else p)


def _own_interval(method: IntervalName) -> Tool:
    def limits(found: Drawn) -> Said | None:
        if found.binary:
            return None
        resamples = 999 if method == "studentized" else None
        made = interval(found.units, method=method, confidence_level=LEVEL, resamples=resamples, seed=0).interval
        return Said(made.low, made.high)

    return limits


def _sign_flip(found: Drawn) -> Said:
    p = sign_flip(found.units.numerators)[0].p_value
    return Said(p=nan if p is None else p)


def _wilcoxon(found: Drawn) -> Said:
    units = found.units
    p = wilcoxon(units.numerators / units.denominators).p_value
    return Said(p=nan if p is None else p)


def _student(found: Drawn) -> Said:
    p = t_test(found.units).p_value
    return Said(p=nan if p is None else p)


def _mcnemar(*, exact: bool) -> Tool:
    def p_value(found: Drawn) -> Said | None:
        if not found.binary:
            return None
        b, c = int((found.b > found.a).sum()), int((found.b < found.a).sum())
        return Said(p=float(mcnemar_p(b, c, exact=exact)[0]))

    return p_value


# ---------------------------------------------------------------------------------------------------------------- peers


def of_errorbars(found: Drawn) -> Said | None:
    from errorbars.compare import paired_compare

    if found.tokens is not None:
        return None
    made = paired_compare(found.b, found.a, found.clusters)
    if found.clusters is not None:
        return Said(made.ci_low_clustered, made.ci_high_clustered, made.p_value_clustered)
    return Said(made.ci_low, made.ci_high, made.p_value if made.mcnemar is None else made.mcnemar.p_value)


def of_evalstats(found: Drawn) -> Said | None:
    from evalstats import pairwise_differences

    if found.tokens is not None:
        return None
    made = pairwise_differences(np.stack([found.b, found.a]), 0, 1, rng=np.random.default_rng(0))
    return Said(float(made.ci_low), float(made.ci_high), float(made.p_value))


def of_evalsig(found: Drawn) -> Said | None:
    """What its `compare` chooses: permutation, McNemar, or the bootstrap of clusters."""
    if found.tokens is not None:
        return None
    from evalsig.inference.cluster_bootstrap import cluster_bootstrap_ci
    from evalsig.inference.mcnemar import mcnemar_test
    from evalsig.inference.paired import paired_permutation_test

    made: Any
    if found.clusters is not None:
        made = cluster_bootstrap_ci(found.a, found.b, found.clusters)
    elif found.binary:
        made = mcnemar_test(found.a, found.b)
    else:
        made = paired_permutation_test(found.a, found.b)
    return Said(float(made.ci[0]), float(made.ci[1]), float(made.p_value))


def of_lm_eval(found: Drawn) -> Said | None:
    """Two scores with the standard errors that lm-eval prints, put together as if they were independent."""
    if found.tokens is not None:  # it prints N/A
        return None
    error = sqrt(sum(float(x.var(ddof=1)) / len(x) for x in (found.a, found.b)))
    middle = float(found.b.mean() - found.a.mean())
    p = float(2 * stats.norm.sf(abs(middle) / error)) if error else nan
    return Said(middle - 1.96 * error, middle + 1.96 * error, p)


def of_scipy(found: Drawn) -> Said:
    """BCa with 2,000 resamples, as its manual shows; passages summed, and windows weighed, by hand.

    The test is Student's, of clusters where there are any; with tokens there is none.
    """
    gap = found.b - found.a
    how: dict[str, Any] = {"n_resamples": 2_000, "rng": np.random.default_rng(0), "batch": 200}
    if found.tokens is not None:
        ratio = stats.bootstrap((gap * found.tokens, found.tokens), ratio_of, paired=True, vectorized=True, **how)
        return Said(float(ratio.confidence_interval.low), float(ratio.confidence_interval.high))
    drawn = gap if found.clusters is None else np.bincount(found.clusters, gap) / np.bincount(found.clusters)
    made = stats.bootstrap((drawn,), np.mean, vectorized=True, **how).confidence_interval
    return Said(float(made.low), float(made.high), float(stats.ttest_1samp(drawn, 0.0).pvalue))


def ratio_of(x: Floats, y: Floats, axis: int = -1) -> Floats:
    return np.asarray(x.sum(axis=axis) / y.sum(axis=axis))


def of_statsmodels(found: Drawn) -> Said:
    """The mean as a regression on a constant: weighted by tokens, robust (HC3), or robust to clusters."""
    from statsmodels.regression.linear_model import WLS
    from statsmodels.stats.contingency_tables import mcnemar

    gap, one = found.b - found.a, np.ones((len(found.a), 1))
    fit = WLS(gap, one, weights=1.0 if found.tokens is None else found.tokens)
    how: dict[str, Any] = {"cov_type": "HC3"}
    if found.clusters is not None:
        how = {"cov_type": "cluster", "cov_kwds": {"groups": found.clusters}}
    made = fit.fit(**how, use_t=True)
    low, high = made.conf_int(1 - LEVEL)[0]
    p = float(made.pvalues[0])
    if found.binary and found.clusters is None:
        right = [[int(((found.a == i) & (found.b == j)).sum()) for j in (0, 1)] for i in (0, 1)]
        p = float(mcnemar(right, exact=True).pvalue)
    return Said(float(low), float(high), p)


def of_arch(found: Drawn) -> Said:
    """BCa with 1,000 resamples; tokens and clusters summed by hand."""
    from arch.bootstrap import IIDBootstrap

    units = found.units
    made = IIDBootstrap(units.numerators, units.denominators, seed=0)
    low, high = made.conf_int(lambda x, y: x.sum() / y.sum(), 1_000, method="bca")[:, 0]
    return Said(float(low), float(high))


def of_pingouin(found: Drawn) -> Said | None:
    """Its paired t-test; its interval is rounded to two digits, so it is not counted."""
    from pingouin import ttest

    if found.tokens is not None or found.clusters is not None:
        return None
    return Said(p=float(ttest(found.b, found.a, paired=True)["p_val"].iloc[0]))


OURS: dict[str, Tool] = {
    "assay": of_assay,
    **{f"assay {name}": _own_interval(name) for name in ("bca", "bca-plain", "percentile", "t", "t-hall")},
    "assay studentized": _own_interval("studentized"),
    "assay sign-flip": _sign_flip,
    "assay t-test": _student,
    "assay wilcoxon": _wilcoxon,
    "assay mcnemar mid-p": _mcnemar(exact=False),
    "assay mcnemar exact": _mcnemar(exact=True),
}
PEERS: dict[str, Tool] = {
    "errorbars": of_errorbars,
    "evalstats": of_evalstats,
    "evalsig": of_evalsig,
    "lm-eval's standard errors": of_lm_eval,
    "scipy": of_scipy,
    "statsmodels": of_statsmodels,
    "arch": of_arch,
    "pingouin": of_pingouin,
}
#: Asked of every so many samples: they resample for long.
SLOW: dict[str, int] = {"evalstats": 4, "evalsig": 4, "arch": 4, "scipy": 2}
#: Not one of the project's own dependencies: left out where they are not installed.
OPTIONAL = ("errorbars", "evalstats", "evalsig")
