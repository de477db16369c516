"""The sentence of a suite: the total, and the tasks that matter."""

from collections.abc import Sequence

from assay.analyses.contrast import Verdict
from assay.analyses.suite.result import GroupRow, SuiteComparison, TaskRow
from assay.names import plural
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
    where = _tasks(found) + _groups(found) + _others(found)
    return f"{heads[found.verdict]} {over}: {_total(found)} ({shown}). {where[:1].upper()}{where[1:]}."


def _total(found: SuiteComparison) -> str:
    total, difference = found.total, found.total.difference
    a, b = words.apart(total.a, total.b)
    shift = words.placed(difference.value or 0.0, words.decimals(difference.interval), sign=True)
    return f"{found.weighing} {a} → {b}, {shift}"


def _evidence(found: SuiteComparison) -> list[str]:
    limits, p = found.total.difference.interval, found.total.test.p_value
    parts = []
    if limits is not None and limits.method != "degenerate":
        parts.append(f"{words.percent(limits.level)} CI {words.interval(limits, sign=True)}")
    if p is not None:
        parts.append(words.p_value(p))
    return [*parts, words.count(found.n, found.unit)]


def _tasks(found: SuiteComparison) -> str:
    """Which tasks are shown to differ; where the gain or the loss of the total is, if tasks differ from each other."""
    shown = {verdict: _largest_first(found.tasks, verdict) for verdict in ("better", "worse")}
    named = {verdict: names for verdict, names in shown.items() if names}
    if not named:
        return f"no single {found.by} is shown to differ"
    first, *rest = named
    if rest:
        return f"{_in(first, named[first], found)}, worse in {len(named['worse'])} ({_named(named['worse'])})"
    located = found.between.answer == "differ" and found.verdict == first
    return _in({"better": "the gain is", "worse": "the loss is"}[first] if located else first, named[first], found)


def _in(what: str, names: Sequence[str], found: SuiteComparison) -> str:
    """``better in 2 of 12 tasks (arc and gsm8k)``."""
    count = len(found.tasks)
    if len(names) == count:
        return f"{what} in {'both' if count == 2 else f'all {count}'} {plural(found.by)}"
    return f"{what} in {len(names)} of {count} {plural(found.by)} ({_named(names)})"


def _named(names: Sequence[str]) -> str:
    return words.listed(names, MOST_NAMED)


def _largest_first(rows: Sequence[TaskRow | GroupRow], verdict: str) -> list[str]:
    chosen = [row for row in rows if row.verdict == verdict]
    ordered = sorted(chosen, key=lambda row: -abs(row.difference.value or 0.0))
    return [row.task if isinstance(row, TaskRow) else row.group for row in ordered]


def _groups(found: SuiteComparison) -> str:
    """Which of several groups are shown to differ."""
    shown = {verdict: _largest_first(found.groups, verdict) for verdict in ("better", "worse")}
    parts = [f"{verdict} in {len(names)} ({_named(names)})" for verdict, names in shown.items() if names]
    return f"; of {len(found.groups)} groups {' and '.join(parts)}" if parts and len(found.groups) > 1 else ""


def _others(found: SuiteComparison) -> str:
    """Where the total is shown for these tasks and runs, and not for others like them."""
    like, runs, open_ = found.total.like_these, found.total.runs_like_these, []
    if found.verdict not in ("better", "worse"):
        return ""
    if like is not None and like.interval is not None and like.interval.low <= 0 <= like.interval.high:
        open_.append(plural(found.by))
    if runs is not None and runs.open:
        open_.append("runs")
    return f"; other {' or '.join(open_)} may differ" if open_ else ""
