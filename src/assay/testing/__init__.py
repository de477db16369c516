"""Assertions for test suites: `assert_not_worse` and `assert_ratio_below`. With pytest they are fixtures as well.

Whatever computes is imported when an assertion runs, so that loading the pytest plugin costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.analyses.compare.result import Comparison
    from assay.data import Panel
    from assay.data.sources import Source

__all__ = ["assert_not_worse", "assert_ratio_below"]


def assert_not_worse(
    baseline: "Source | Panel", candidate: "Source | None" = None, max_drop: float = 0.02, **how: Any
) -> "Comparison":
    """Fail unless the candidate is shown to be worse than the baseline by at most ``max_drop``.

    The bound of the interval decides, not the point, as in `assay.certify`: what is not shown fails too, and the
    message says how much more evidence would settle it. ``max_drop`` is on the scale of the scores; of losses, and of
    scores where lower is better, it is the largest acceptable rise. Sources and ``how`` are those of `assay.compare`.
    The comparison is returned.

    >>> old, new = [1, 1, 1, 0] * 100, [1, 1, 1, 0] * 99 + [1, 1, 1, 1]
    >>> assert_not_worse(old, new, max_drop=0.02).verdict
    'no difference shown'
    """
    __tracebackhide__ = True
    return _asserted(baseline, candidate, max_drop, ratio=False, how=how)


def assert_ratio_below(
    baseline: "Source | Panel", candidate: "Source | None" = None, max_ratio: float = 1.02, **how: Any
) -> "Comparison":
    """Fail unless the candidate's perplexity is shown to be at most ``max_ratio`` times the baseline's.

    Sources hold losses; they and ``how`` are those of `assay.compare`. The comparison is returned.

    >>> windows = {"window": range(40), "tokens": [100] * 40}
    >>> old, new = ([2 + i % 7 / 10 + shift * (i % 2) for i in range(40)] for shift in (0, 0.001))
    >>> found = assert_ratio_below(windows | {"loss": old}, windows | {"loss": new}, 1.02)
    >>> round(found.ratio.value, 4)
    1.0005
    """
    __tracebackhide__ = True
    return _asserted(baseline, candidate, max_ratio, ratio=True, how=how)


def _asserted(
    baseline: "Source | Panel", candidate: "Source | None", limit: float, *, ratio: bool, how: dict[str, Any]
) -> "Comparison":
    __tracebackhide__ = True
    from assay.errors import AssayError
    from assay.testing.judging import compared, judged  # late, as is all that computes

    try:
        found = compared(baseline, candidate, how)
        verdict = judged(found, limit, ratio=ratio)
    except AssayError as error:  # what is refused is said in one line: whose code refused it helps nobody
        raise error.with_traceback(None) from None
    if not verdict.passed:
        raise AssertionError(verdict.message)
    return found
