"""Judge every limit, and decide: on the printed numbers of a certificate, so that its readers reach the same decision.

The total and groups are within a limit where the bound of their interval is, as a certificate of one task judges.
Of a single task no more is asked than that nothing beyond the limit is shown: it must not be shown to have changed for
the worse (Holm's p over all tasks; intervals for all tasks at once of ratios) *and* be found beyond its limit. A score
is below its limit where the interval for all tasks is. With ``every`` each task's own bound must be within: all of them
together need no adjustment, since every one has to hold (an intersection–union test).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp

from assay.analyses.contrast import Reliance, reliance_of
from assay.certificate.fields import rounded
from assay.certificate.rules import MOST_NEEDED, decide
from assay.certificate.suite.fields import JudgedLimit, LimitOutcome, Of, SuiteDecision, SuiteRow
from assay.certificate.suite.task_limits import Demands
from assay.limits import COST_LIMITS, LimitName, Limits

RULE_VERSION = 1
_OUTCOMES: dict[str, LimitOutcome] = {"pass": "met", "regression": "not met", "insufficient evidence": "open"}
_Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class SuiteRows:
    """Every row of a certificate."""

    tasks: tuple[SuiteRow, ...]
    groups: tuple[SuiteRow, ...]
    total: SuiteRow

    def limited(self, demands: Demands) -> Iterator[tuple[Of, SuiteRow, Limits]]:
        """Each row with its limits: the total, groups, tasks."""
        yield "total", self.total, demands.total
        yield from (("group", row, demands.groups[row.name].limits) for row in self.groups)
        yield from (("task", row, demands.tasks[row.name]) for row in self.tasks)


@dataclass(frozen=True, slots=True)
class _Quantity:
    """What a limit is about, with signs such that more is worse."""

    value: float
    own: _Pair | None  # its interval
    adjusted: _Pair | None  # that for all tasks at once
    null: float | None  # no change; None: the limit itself is what is asked
    reliance: Reliance
    worse: bool | None = None  # whether Holm's p shows it to be worse; None: the adjusted interval does


def judged(rows: SuiteRows, demands: Demands, level: float, *, lower_is_better: bool) -> tuple[JudgedLimit, ...]:
    """Every limit of every row."""
    return tuple(
        _judged(
            of, row, name, at, _quantity(row, name, 1 - level, lower_is_better=lower_is_better), every=demands.every
        )
        for of, row, limits in rows.limited(demands)
        for name, at in limits.given()
    )


def _judged(of: Of, row: SuiteRow, name: LimitName, at: float, found: _Quantity, *, every: bool) -> JudgedLimit:
    bound, turned = of != "task" or every, name == "min_score"
    limit, limits = -at if turned else at, found.own if bound else found.adjusted
    outcome, needed = _by_bound(found, limit, row.n) if bound else (_by_what_is_shown(found, limit), None)
    shown = _turned(limits) if turned else limits
    return JudgedLimit(
        of=of,
        name=row.name,
        limit=name,
        at=at,
        rule="bound" if bound else "shown",
        value=rounded(-found.value if turned else found.value),
        ci=None if shown is None else (rounded(shown[0]), rounded(shown[1])),
        outcome=outcome,
        items_needed=needed,
    )


def _quantity(row: SuiteRow, name: LimitName, alpha: float, *, lower_is_better: bool) -> _Quantity:
    reliance = row.reliance
    if name == "min_score":
        return _Quantity(-row.subject, _turned(row.score_ci), _turned(row.adjusted_score_ci), None, reliance)
    if name in COST_LIMITS:
        ratio = {one.cost: one for one in row.costs}[COST_LIMITS[name]]  # it is limited
        ours = reliance_of(row.drawn, row.effective, ratio.method)
        return _Quantity(ratio.ratio, ratio.ci, ratio.adjusted_ci, 1.0, ours)
    worse = row.adjusted_p is not None and row.adjusted_p <= alpha and (row.difference > 0) == lower_is_better
    if name == "max_ratio":
        return _Quantity(exp(row.difference), _exps(row.ci), _exps(row.adjusted_ci), 1.0, reliance, worse)
    if lower_is_better:
        return _Quantity(row.difference, row.ci, row.adjusted_ci, 0.0, reliance, worse)
    return _Quantity(-row.difference, _turned(row.ci), _turned(row.adjusted_ci), 0.0, reliance, worse)


def _turned(limits: _Pair | None) -> _Pair | None:
    return None if limits is None else (-limits[1], -limits[0])


def _exps(limits: _Pair | None) -> _Pair | None:
    return None if limits is None else (exp(limits[0]), exp(limits[1]))


def _by_bound(found: _Quantity, limit: float, n: int) -> tuple[LimitOutcome, int | None]:
    """As a certificate of one task decides: too few units decide nothing."""
    if found.own is None:
        return "open", None
    decided = decide(found.value, *found.own, limit, n)
    if found.reliance == "too few" or (found.reliance != "firm" and decided.verdict == "pass"):
        return "open", None
    return _OUTCOMES[decided.verdict], decided.needed


def _by_what_is_shown(found: _Quantity, limit: float) -> LimitOutcome:
    if found.adjusted is None or found.reliance == "too few":
        return "met"
    null = limit if found.null is None else found.null
    shown = found.worse if found.worse is not None else found.adjusted[0] > null
    return "not met" if shown and found.value > limit else "met"


def decided(rows: SuiteRows, limits: Sequence[JudgedLimit], level: float, *, every: bool) -> SuiteDecision:
    """Fail where a limit is not met, pass where all are, else undecided."""
    not_met, open_ = ([one for one in limits if one.outcome == outcome] for outcome in ("not met", "open"))
    chances = [row.passes_if_equal for row in rows.tasks if row.passes_if_equal is not None]
    whole = 1.0
    for chance in chances:
        whole *= chance
    return SuiteDecision(
        rule="every bound" if every else "total bound, shown drops",
        version=RULE_VERSION,
        verdict="fail" if not_met else "undecided" if open_ else "pass",
        not_met=len(not_met),
        open=len(open_),
        items_needed=None if not_met or not open_ else _needed(rows, open_),
        error=rounded((1 - level) / 2),
        passes_if_equal=rounded(whole) if every and chances else None,
    )


def _needed(rows: SuiteRows, limits: Sequence[JudgedLimit]) -> int | None:
    """Items of all tasks in the same proportions; ``None`` where no number of them settles every limit."""
    of = {(kind, row.name): row.n for kind, part in (("task", rows.tasks), ("group", rows.groups)) for row in part}
    of["total", rows.total.name] = rows.total.n
    times = [None if one.items_needed is None else one.items_needed / of[one.of, one.name] for one in limits]
    most = max((one for one in times if one is not None), default=None)
    if most is None or None in times:
        return None
    found = most * rows.total.n
    return round(found) if found < MOST_NEEDED else None
