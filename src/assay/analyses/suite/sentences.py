"""The sentence of a suite: the total, and the tasks that matter."""

from collections.abc import Sequence

from assay.analyses.contrast import Verdict
from assay.analyses.suite.result import SuiteComparison
from assay.results import words

MOST_NAMED = 3  # tasks; of more, a count


def sentence_of(found: SuiteComparison, reserve: str) -> str:
    """One sentence that a person can paste in a pull request."""
    a, b = found.systems.a, found.systems.b
    margin = words.number(found.design.margin or 0)
    heads: dict[Verdict, str] = {
        "better": f"{b} is better than {a}",
        "worse": f"{b} is worse than {a}",
        "equivalent": f"{b} is equivalent to {a} within ±{margin}",
        "no difference shown": f"No difference shown between {a} and {b}",
        "undecided": f"Undecided between {a} and {b}",
    }
    over = f"over {words.count(len(found.tasks), found.by)}"
    shown = ", ".join([*_evidence(found), *([reserve] if reserve else [])])
    return f"{heads[found.verdict]} {over}: {_total(found)} ({shown}); {_tasks(found)}{_others(found)}."


def _total(found: SuiteComparison) -> str:
    total, difference = found.total, found.total.difference
    a, b = words.apart(total.a, total.b)
    shift = words.placed(difference.value or 0.0, words.decimals(difference.interval), sign=True)
    return f"{found.weighing} {a} → {b}, {shift}"


def _evidence(found: SuiteComparison) -> list[str]:
    limits, p = found.total.difference.interval, found.total.test.p_value
    parts = []
    if limits is not None and limits.method != "degenerate":
        parts.append(f"{words.percent(limits.level)} interval {words.interval(limits, sign=True)}")
    if p is not None:
        parts.append(words.p_value(p))
    return [*parts, words.count(found.n, found.unit)]


def _tasks(found: SuiteComparison) -> str:
    """Which tasks are shown to differ, those with the largest differences first."""
    named = [
        f"{verdict} in {len(names)} of {len(found.tasks)} ({words.listed(names, MOST_NAMED)})"
        for verdict in ("better", "worse")
        if (names := _named(found, verdict))
    ]
    return " and ".join(named) if named else f"no single {found.by} is shown to differ"


def _named(found: SuiteComparison, verdict: str) -> Sequence[str]:
    rows = [row for row in found.tasks if row.verdict == verdict]
    return [row.task for row in sorted(rows, key=lambda row: -abs(row.difference.value or 0.0))]


def _others(found: SuiteComparison) -> str:
    """Where the total is shown for these tasks, and not for tasks like these."""
    like = found.total.like_these
    if found.verdict not in ("better", "worse") or like is None or like.interval is None:
        return ""
    return f"; other {found.by}s may differ" if like.interval.low <= 0 <= like.interval.high else ""
