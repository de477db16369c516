"""Assertions for test suites: `assert_not_worse` and `assert_ratio_below`. With pytest they are fixtures as well.

Whatever computes is imported when an assertion runs, so that loading the pytest plugin costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.analyses.compare.result import Comparison
    from assay.data import Panel
    from assay.data.sources import Source
    from assay.testing.judging import AssertionOutcome
    from assay.testing.looking import Looks, Scored

__all__ = ["assert_not_worse", "assert_ratio_below"]


def assert_not_worse(
    baseline: "Source | Panel | Scored",
    candidate: "Source | Scored | None" = None,
    max_drop: float = 0.02,
    *,
    items: "Sequence[Any] | None" = None,
    looks: "int | Looks" = 1,
    **how: Any,
) -> "Comparison":
    """Fail unless the candidate is shown to be worse than the baseline by at most ``max_drop``.

    The bound of the interval decides, not the point, as in `assay.certify`: what is not shown fails too, and the
    message says how much more evidence would settle it. ``max_drop`` is on the scale of the scores; of losses, and of
    scores where lower is better, it is the largest acceptable rise. Sources and ``how`` are those of `assay.compare`.
    The comparison is returned.

    >>> old, new = [1, 1, 1, 0] * 100, [1, 1, 1, 0] * 99 + [1, 1, 1, 1]
    >>> assert_not_worse(old, new, max_drop=0.02).verdict
    'no difference shown'

    Instead of results, both may be functions that score one of the ``items``. They are called in a random order and,
    with ``looks``, only as often as the answer needs: the interval is looked at so many times at the most, at levels
    that keep the error of a single look.

    >>> asked = []
    >>> def new(item): return asked.append(item) or 0.7
    >>> found = assert_not_worse(lambda item: 0.5, new, 0.02, items=range(500), looks=5)
    >>> len(asked) < 200
    True
    """
    __tracebackhide__ = True
    return _asserted((baseline, candidate), max_drop, items, looks, ratio=False, how=how)


def assert_ratio_below(
    baseline: "Source | Panel | Scored",
    candidate: "Source | Scored | None" = None,
    max_ratio: float = 1.02,
    *,
    items: "Sequence[Any] | None" = None,
    looks: "int | Looks" = 1,
    **how: Any,
) -> "Comparison":
    """Fail unless the candidate's perplexity is shown to be at most ``max_ratio`` times the baseline's.

    Sources hold losses; they and ``how`` are those of `assay.compare`. Functions give the mean loss of an item and its
    number of tokens; ``items`` and ``looks`` are those of `assert_not_worse`. The comparison is returned.

    >>> windows = {"window": range(40), "tokens": [100] * 40}
    >>> old, new = ([2 + i % 7 / 10 + shift * (i % 2) for i in range(40)] for shift in (0, 0.001))
    >>> found = assert_ratio_below(windows | {"loss": old}, windows | {"loss": new}, 1.02)
    >>> round(found.ratio.value, 4)
    1.0005
    """
    __tracebackhide__ = True
    return _asserted((baseline, candidate), max_ratio, items, looks, ratio=True, how=how)


def _asserted(
    both: tuple[Any, Any],
    limit: float,
    items: "Sequence[Any] | None",
    looks: "int | Looks",
    *,
    ratio: bool,
    how: dict[str, Any],
) -> "Comparison":
    __tracebackhide__ = True
    from assay.errors import AssayError  # late, here and below: whatever computes

    try:
        found, verdict = _judged(both, limit, items, looks, ratio=ratio, how=how)
    except AssayError as error:  # what is refused is said in one line: whose code refused it helps nobody
        raise error.with_traceback(None) from None
    if not verdict.passed:
        raise AssertionError(verdict.message)
    return found


def _judged(
    both: tuple[Any, Any],
    limit: float,
    items: "Sequence[Any] | None",
    looks: "int | Looks",
    *,
    ratio: bool,
    how: dict[str, Any],
) -> "tuple[Comparison, AssertionOutcome]":
    from assay.errors import UsageError
    from assay.testing.judging import compared, judged
    from assay.testing.looking import Looks, compared_in_looks

    plan = looks if isinstance(looks, Looks) else Looks(looks)
    if items is not None and all(map(callable, both)):
        return compared_in_looks(both, items, limit, plan, how, ratio=ratio)
    if items is not None or plan.looks != 1 or any(map(callable, both)):
        raise UsageError(
            "looks is for functions that score items, as in assert_not_worse(old, new, items=prompts, looks=5); "
            "results that are there already are looked at once."
        )
    found = compared(*both, how)
    return found, judged(found, limit, ratio=ratio)
