"""How many items for this difference? From numbers or from a pilot."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Unpack, overload

import msgspec

from assay.analyses.power.pilot import Planned, pilot_of
from assay.analyses.power.result import CurvePoint, Pilot, Power, SolvedFor
from assay.analyses.power.sentences import notes_of, sentence_of
from assay.analyses.power.survey_noise import SurveyNoise, SurveyPlan, survey_noise
from assay.data import Panel, Selection, pair
from assay.data.readers import UNNAMED
from assay.data.sources import Models, Source, panel_as_asked, tables_of, two_systems
from assay.data.tables import of_split
from assay.data.units_and_runs import runs_of
from assay.design import as_given, signature
from assay.errors import UsageError
from assay.stats.planning import chosen_test, difference_for, items_for, power_of
from assay.stats.planning.plans import Goal, GoalFields, Means, Shares, Spread, StudyPlan
from assay.stats.records import Estimate, Interval

_OCTAVES, _PER_OCTAVE = 2, 8  # the curve: two doublings down and up, eight points each

GIVEN = "the numbers were given, so there is no interval"


@overload
def power(plan: SurveyPlan) -> SurveyNoise: ...
@overload
def power(
    plan: Spread | Shares | Source | Panel,
    b: Source | None = None,
    *,
    difference: float | None = None,
    items: int | None = None,
    goal: Goal | None = None,
    repeats: int | None = None,
    models: tuple[str | None, str | None] = (None, None),
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    split: str | None = None,
    selection: Selection | None = None,
    **settings: Unpack[GoalFields],
) -> Power: ...
def power(
    plan: SurveyPlan | Spread | Shares | Source | Panel,
    b: Source | None = None,
    *,
    difference: float | None = None,
    items: int | None = None,
    goal: Goal | None = None,
    repeats: int | None = None,
    models: tuple[str | None, str | None] = (None, None),
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    split: str | None = None,
    selection: Selection | None = None,
    **settings: Unpack[GoalFields],
) -> Power | SurveyNoise:
    """Find the items that detect a difference, the difference that items detect, or the power of both.

    ``plan`` is a `Spread` of paired differences, `Shares` of right answers, or a pilot: the results of A, with those of
    B in ``b``, or one table with both ``models``. From a pilot the spread is taken, with its clusters, weights and
    runs, but never the difference that it shows. ``repeats`` plans a study with so many runs from a pilot that has
    runs; ``selection`` says which results of a harness are meant. A pilot may also be a `Panel` of two systems, or one
    of more with the names of two. A `SurveyPlan` gives what a perfect prediction of a survey scores: a `SurveyNoise`.

    >>> from assay import Goal, Spread
    >>> power(Spread(sd=0.145), difference=0.02, goal=Goal(power=0.8)).items
    415

    The power of a t test is P(|T| > t) with T noncentral t, of McNemar's mid-p test the sum over all numbers of items
    that differ (``Goal(test="mcnemar")``: of his exact test), and of equivalence that of two one-sided tests at once
    (Schuirmann 1987).
    """
    if isinstance(plan, SurveyPlan):
        given = (b, difference, items, goal, repeats, columns, cluster, split, selection)
        if any(one is not None for one in given) or settings or models != (None, None):
            raise UsageError("a plan of a survey takes nothing beside it: leave the other arguments out.")
        return survey_noise(plan)
    goal = as_given("power", Goal, goal, settings)
    _check(difference, items)
    if goal.margin is not None and difference is None:
        difference = 0.0
    asked = _Solver.of(difference, items, goal)
    if isinstance(plan, Spread | Shares):
        if b is not None or repeats is not None:
            raise UsageError("a plan from numbers takes neither a second file nor repeats: leave them out.")
        _check_no_pilot(selection, models=models, columns=columns, cluster=cluster, split=split)
        likely = plan if isinstance(plan, Shares) else plan.means()
        return _answered(asked, Planned(likely, likely, likely), None, _given(plan, difference))
    if not isinstance(plan, Panel) and b is None and None in models:
        raise UsageError(
            "a pilot is two files, or one file and the names of two of its models (`models=('NAME', 'NAME')`)."
        )
    panel, runs = _pilot_panels(plan, b, models, columns, cluster, split, selection)
    pilot, planned = pilot_of(panel, runs, level=goal.level, repeats=repeats)
    assumptions = {} if repeats is None else {"repeats": float(repeats)}
    found = _answered(asked, planned, pilot, assumptions)
    return msgspec.structs.replace(found, notes=(*panel.notes, *found.notes))


def _pilot_panels(
    plan: Source | Panel,
    b: Source | None,
    models: Models,
    columns: Mapping[str, str] | None,
    cluster: str | None,
    split: str | None,
    selection: Selection | None,
) -> tuple[Panel, Panel]:
    """The two systems of a pilot on the units that both have, and the same with a column per run."""
    if isinstance(plan, Panel):
        asked = panel_as_asked(plan, cluster=cluster, split=split, b=b, columns=columns, selection=selection)
        panel = two_systems(asked, models, verb="power")
        return panel, asked.of_models(panel.systems)
    tables = tables_of(plan, b, models, columns, cluster, selection, verb="power")
    names = ("A", "B") if all(table.name == UNNAMED for table in tables) else None
    panel = pair(*tables, names=names, cluster=cluster, split=split)
    if not any("run" in table.labels for table in tables):
        return panel, panel
    runs = [
        replace(run, model=name)
        for name, table in zip(panel.systems, tables, strict=True)
        for run in runs_of([of_split(table, split)])
    ]
    return panel, Panel.from_runs(runs, cluster=cluster)


def _check(difference: float | None, items: int | None) -> None:
    if difference is not None and not abs(difference) < float("inf"):
        raise UsageError(f"difference must be finite, but got {difference}.")
    if items is not None and items < 2:
        raise UsageError(f"items must be at least 2, but got {items}.")


def _check_no_pilot(selection: Selection | None, **given: object) -> None:
    """Refuse what says how a pilot is read where there is none."""
    read = [f"`{name}`" for name, value in given.items() if value not in (None, (None, None))]
    read += [selection.picks] if selection is not None and selection.picks else []
    if read:
        raise UsageError(f"{', '.join(read)}: of a pilot, but the plan is numbers; leave it out, or name its files.")


def _given(plan: Spread | Shares, difference: float | None) -> dict[str, float]:
    """The assumptions of a plan from numbers, by name."""
    found: dict[str, float | None] = {}
    if isinstance(plan, Spread):
        found["sd"] = plan.sd
    else:
        known = plan.p_a is not None and difference is not None
        found |= {"p_a": plan.p_a, "p_b": (plan.p_a or 0.0) + (difference or 0.0) if known else None}
        found |= {"correlation": plan.correlation, "discordant": plan.discordant}
        if plan.discordant is None and difference is not None:
            found["discordant"] = sum(plan.discordance(difference))
    structure = plan.structure
    if structure.cluster_size > 1:
        found |= {"cluster_size": structure.cluster_size, "icc": structure.icc}
    if structure.repeats > 1:
        found |= {"repeats": float(structure.repeats), "sd_within": structure.sd_within}
    return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class _Solver:
    """Two of items, difference and power are given; the third is the answer."""

    solved_for: SolvedFor
    difference: float | None
    items: int | None
    goal: Goal

    @classmethod
    def of(cls, difference: float | None, items: int | None, goal: Goal) -> "_Solver":
        if items is not None:
            return cls("difference" if difference is None else "power", difference, items, goal)
        if difference is None:
            raise UsageError(
                "power needs a difference, to find the items for it (`difference=0.02`), or items, to find the "
                "difference they detect (`items=500`); the difference that a pilot shows is not a plan."
            )
        return cls("items", difference, None, goal)

    def answer(self, plan: StudyPlan) -> float | None:
        if self.items is None:
            return items_for(plan, self.difference or 0.0, self.goal)
        if self.difference is None:
            return difference_for(plan, self.items, self.goal)
        return power_of(plan, self.items, self.difference, self.goal)

    def answers(self, planned: Planned, pilot: Pilot | None) -> tuple[float | None, Interval | None]:
        """The answer for the likely plan, and its range over the spreads that a pilot leaves possible."""
        value = self.answer(planned.likely)
        if pilot is None:
            return value, None
        ends = [end for plan in (planned.least, planned.most) if (end := self.answer(plan)) is not None]
        if len(ends) < 2:
            return value, None
        return value, Interval(float(min(ends)), float(max(ends)), pilot.limits.level, pilot.limits.method)


def _answered(asked: _Solver, planned: Planned, pilot: Pilot | None, assumptions: dict[str, float]) -> Power:
    if pilot is not None and asked.difference is not None:
        planned = planned.within_reach(asked.difference)
    value, limits = asked.answers(planned, pilot)
    items = asked.items if asked.items is not None else int(value or 0)
    difference = value if asked.solved_for == "difference" else asked.difference
    reached = asked.goal.power if asked.solved_for == "difference" else None
    size = _cluster_size(planned.likely)
    found = Power(
        solved_for=asked.solved_for,
        sentence="",
        answer=_estimate(value, limits, pilot),
        items=items,
        difference=difference,
        power=None if difference is None else reached or power_of(planned.likely, items, difference, asked.goal),
        test=chosen_test(planned.likely, asked.goal),
        unit="window" if pilot is not None and pilot.kind == "losses" else "item",
        clusters=items / size if size > 1 else None,
        goal=asked.goal,
        assumptions=assumptions,
        pilot=pilot,
        curve=_curve(asked, planned, pilot, items),
        notes=notes_of(planned.likely, pilot),
        signature=_signature(asked, planned.likely, pilot, items, difference),
    )
    return msgspec.structs.replace(found, sentence=sentence_of(found))


def _estimate(value: float | None, limits: Interval | None, pilot: Pilot | None) -> Estimate:
    if value is None:
        return Estimate(None, None, None, 0, "not even the largest possible difference is detected with this power")
    if pilot is None:
        return Estimate(float(value), None, None, 0, GIVEN)
    reason = None if limits is not None else "with the spread at the end of the pilot's interval nothing is detected"
    return Estimate(float(value), limits, None, pilot.n, reason)


def _curve(asked: _Solver, planned: Planned, pilot: Pilot | None, items: int) -> tuple[CurvePoint, ...]:
    """Power, or the detectable difference, from a quarter to four times the items."""
    steps = range(-_OCTAVES * _PER_OCTAVE, _OCTAVES * _PER_OCTAVE + 1)
    least = max(2, int(_cluster_size(planned.likely)) + 1)
    points = []
    for count in sorted({max(least, round(items * 2 ** (step / _PER_OCTAVE))) for step in steps}):
        value, limits = _Solver.of(asked.difference, count, asked.goal).answers(planned, pilot)
        points.append(CurvePoint(count, value, *((None, None) if limits is None else (limits.low, limits.high))))
    return tuple(points)


def _cluster_size(plan: StudyPlan) -> float:
    return plan.cluster_size if isinstance(plan, Means) else plan.structure.cluster_size


def _signature(asked: _Solver, plan: StudyPlan, pilot: Pilot | None, items: int, difference: float | None) -> str:
    goal = asked.goal
    return signature(
        "power",
        question=asked.solved_for,
        test=chosen_test(plan, goal),
        **_spread_parts(plan),
        items=items,
        difference=None if difference is None else f"{difference:.6g}",
        margin=goal.margin,
        level=goal.level,
        power=goal.power if asked.solved_for != "power" else None,
        comparisons=goal.comparisons if goal.comparisons > 1 else None,
        data=None if pilot is None else pilot.data[:16],
    )


def _spread_parts(plan: StudyPlan) -> dict[str, object]:
    if isinstance(plan, Means):
        size = f"{plan.cluster_size:.6g}" if plan.cluster_size > 1 else None
        return {"variance": f"{plan.variance:.6g}", "cluster_size": size}
    parts: dict[str, object] = {"p_a": plan.p_a, "correlation": plan.correlation, "discordant": plan.discordant}
    return parts if plan.structure.plain else parts | asdict(plan.structure)
