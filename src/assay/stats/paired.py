"""The classical paired tests: Student's and Wilcoxon's. scipy is imported late, as it takes a second."""

from math import isfinite

import numpy as np

from assay.stats.records import Test
from assay.stats.student import SMALLEST_P
from assay.stats.units import Floats, Units, standard_error


def t_test(units: Units) -> Test:
    """R̂/se against Student's t with n − 1 degrees of freedom; with equal denominators the paired t-test."""
    error = standard_error(units)
    if error is None or error <= 0 or units.degenerate:
        reason = "one unit" if error is None else "all differences are equal: the standard error is 0"
        return Test("t", None, None, units.n, reason)
    from scipy.special import stdtr  # late

    statistic = units.estimate / error
    return Test("t", statistic, max(float(2 * stdtr(units.n - 1, -abs(statistic))), SMALLEST_P), units.n)


def wilcoxon(differences: Floats) -> Test:
    """Wilcoxon's signed-rank test of the units' values num/den, zero differences by Pratt's rule."""
    n = len(differences)
    if not np.any(differences):
        return Test("wilcoxon", 0.0, 1.0, n, "all differences are 0")
    from scipy.stats import wilcoxon as scipy_wilcoxon  # late

    found = scipy_wilcoxon(differences, zero_method="pratt")
    p = float(found.pvalue)
    if not isfinite(p):
        return Test("wilcoxon", float(found.statistic), None, n, "the ranks have no variance")
    return Test("wilcoxon", float(found.statistic), max(p, SMALLEST_P), n)
