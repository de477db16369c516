"""The charts of a summary: models, tasks, attempts, and quality against cost."""

from typing import TYPE_CHECKING

from assay.analyses.summarize.judges import EVEN
from assay.results import words
from assay.results.figures import Forest, Line, Mark, Point, Points, unbeaten
from assay.stats.records import Estimate

if TYPE_CHECKING:
    from assay.analyses.summarize.result import Summary

#: What people pay for first.
_COSTS = {
    "price": "price",
    "seconds": "seconds",
    "tokens_total": "tokens, read and written",
    "tokens_out": "tokens written",
    "tokens_in": "tokens read",
    "chars_out": "characters written",
    "steps": "steps",
}


def models(found: "Summary") -> Forest:
    if found.metrics:
        lines = tuple(_line(str(model.metric), found.quoted(model), model.name) for model in found.models)
        return Forest("models", found.question, (_about(found),), "mean", lines, groups=tuple(found.names))
    lines = tuple(_line(model.name, found.quoted(model)) for model in found.models)
    marks = (Mark(EVEN, "even"),) if any(model.record for model in found.models) else ()
    return Forest("models", found.question, (_about(found),), _axis(found), lines, marks=marks)


def tasks(found: "Summary") -> Forest:
    lines = tuple(
        _line(f"{task}, {model.metric}" if found.metrics else task, found.quoted(model), model.name)
        for task, of_task in found.tasks.items()
        for model in of_task
    )
    return Forest("tasks", "By task", (_about(found),), _axis(found), lines, groups=tuple(found.names))


def attempts(found: "Summary") -> Forest:
    labels = [f"pass@{one.k}" + (f", {one.metric}" if found.metrics else "") for one in found.passes]
    lines = tuple(_line(label, one.one, one.name) for label, one in zip(labels, found.passes, strict=True))
    groups = tuple(dict.fromkeys(one.name for one in found.passes))
    return Forest("attempts", "One of k attempts", (_about(found),), "pass@k", lines, groups=groups)


def costs(found: "Summary") -> tuple[Points, ...]:
    """Quality against what an answer costs, for each kind of cost that tells models apart."""
    return () if found.metrics else tuple(one for cost in _COSTS if (one := _against(found, cost)) is not None)


def _against(found: "Summary", cost: str) -> Points | None:
    known = [(model, model.costs[cost].value) for model in found.models if cost in model.costs]
    points = [_point(model.name, mean, found.quoted(model)) for model, mean in known if mean is not None]
    if len({point.x for point in points}) < 2:
        return None
    measured, what = found.quantity[:1].upper() + found.quantity[1:], _COSTS[cost]
    about = f"Bars: {words.percent(found.design.level)} CIs. Circles: no other model is both better and cheaper."
    front = unbeaten(points, lower_is_better=found.lower_is_better)
    axes = (f"{what} of an answer, mean", _axis(found))
    return Points(f"cost-{cost}", f"{measured} against {what}", (about,), axes, front, named=True)


def _point(name: str, cost: float, quality: Estimate) -> Point:
    low, high = (None, None) if quality.interval is None else (quality.interval.low, quality.interval.high)
    return Point(cost, quality.value or 0.0, name, low, high)


def _line(label: str, found: Estimate, group: str = "") -> Line:
    low, high = (None, None) if found.interval is None else (found.interval.low, found.interval.high)
    return Line(label, found.value, low, high, group)


def _about(found: "Summary") -> str:
    return f"Lines: {words.percent(found.design.level)} CIs of each model alone ({found.units})."


def _axis(found: "Summary") -> str:
    return f"{found.quantity}, lower is better" if found.lower_is_better else found.quantity
