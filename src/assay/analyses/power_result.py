"""The record that `power` returns, and what it says in words and rows."""

from dataclasses import asdict, dataclass
from math import exp
from typing import TYPE_CHECKING, Any, Literal

from assay.analyses.power_pilot import Pilot
from assay.analyses.result import Result, Row
from assay.errors import InputError
from assay.results import words
from assay.stats.planning.plans import Goal
from assay.stats.records import Estimate

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "assay/power/1"

Question = Literal["items", "difference", "power"]

_TESTS = {
    "t": "paired t, exact (noncentral t)",
    "mcnemar-midp": "McNemar's mid-p, over all numbers of items that differ",
    "mcnemar": "McNemar's exact p, over all numbers of items that differ",
    "mcnemar-score": "McNemar's score test with the design effect (noncentral t)",
    "equivalence": "interval inside the margin (two one-sided t tests), exact",
}
_NAMES = {
    "sd": "sd of a difference",
    "discordant": "items that differ",
    "p_a": "A is right on",
    "p_b": "B is right on",
    "correlation": "correlation",
    "cluster_size": "items per cluster",
    "icc": "icc within clusters",
    "repeats": "runs of each item",
    "sd_within": "sd between runs",
}
_EVERY = 8  # of the curve's points: from a quarter of the items to four times as many, by doublings


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What so many items would give: the power, or the detectable difference; and the pilot's limits of it."""

    items: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Power(Result):
    """How many items, how small a difference, or how much power: two are given, the third is the answer."""

    question: Question
    sentence: str
    answer: Estimate  # the interval is that of the pilot's estimate; none where numbers were given
    items: int
    difference: float | None  # None: not even the largest possible one is detected
    power: float | None
    test: str  # "t", "mcnemar-midp", "mcnemar", "mcnemar-score", "equivalence"
    unit: str  # "item", "window"
    clusters: float | None  # that these items make, where they come in clusters
    goal: Goal
    assumptions: dict[str, float]  # the numbers that were given, or that the pilot gave
    pilot: Pilot | None
    curve: tuple[CurvePoint, ...]  # from a quarter to four times the items
    notes: tuple[str, ...]
    signature: str

    def evidence(self) -> list[Row]:
        rows = [*answer_rows(self), *assumption_rows(self)]
        if self.pilot is not None:
            rows += pilot_rows(self.pilot)
        rows += [("note", note) for note in self.notes]
        return [*rows, ("", ""), *curve_rows(self), ("", ""), ("signature", self.signature)]

    def to_frame(self) -> "pd.DataFrame":
        """The curve, a row per number of items (pandas must be installed)."""
        import pandas as pd  # late: half a second, and not a dependency

        return pd.DataFrame([asdict(point) for point in self.curve])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact and versioned: `from_dict` gives the same record back."""
        return {
            "schema": SCHEMA,
            "question": self.question,
            "sentence": self.sentence,
            "answer": self.answer.to_dict(),
            "items": self.items,
            "difference": self.difference,
            "power": self.power,
            "test": self.test,
            "unit": self.unit,
            "clusters": self.clusters,
            "goal": asdict(self.goal),
            "assumptions": dict(self.assumptions),
            "pilot": None if self.pilot is None else self.pilot.to_dict(),
            "curve": [asdict(point) for point in self.curve],
            "notes": list(self.notes),
            "signature": self.signature,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Power":
        """The record that `to_dict` wrote."""
        if data.get("schema") != SCHEMA:
            raise InputError(f"this is no result of power: schema must be {SCHEMA!r}, but got {data.get('schema')!r}.")
        read = {
            "answer": Estimate.from_dict(data["answer"]),
            "goal": Goal(**data["goal"]),
            "pilot": None if data["pilot"] is None else Pilot.from_dict(data["pilot"]),
            "curve": tuple(CurvePoint(**point) for point in data["curve"]),
            "notes": tuple(data["notes"]),
        }
        return cls(**({name: value for name, value in data.items() if name != "schema"} | read))


def sentence_of(found: Power) -> str:
    """One sentence that a person can paste in a plan."""
    items = words.count(found.items, found.unit)
    if found.clusters is not None:
        items += f" in {words.count(round(found.clusters), 'cluster')}"
    power = words.share(found.power if found.power is not None else found.goal.power)
    if found.question == "items":
        power = words.percent(found.goal.power)
    if found.difference is None:
        return f"{items} do not detect any difference that is possible with {power} power{_beside(found)}."
    if found.goal.margin is not None:
        inside = f"±{words.number(found.goal.margin)}{scale(found)}"
        true = f"if the true difference is {words.number(found.difference)}"
        return f"{items} show equivalence within {inside} with {power} power {true}{_beside(found)}."
    return f"{items} detect a difference of {_difference(found)} with {power} power{_beside(found)}."


def _difference(found: Power) -> str:
    assert found.difference is not None
    shown = words.number(found.difference, 4 if found.question != "difference" else 3)
    ratio = f" (perplexity × {exp(found.difference):.6g})" if scale(found) else ""
    return shown + scale(found) + ratio


def scale(found: Power) -> str:
    """What a difference is measured in, where it is not plain points of score."""
    return " nats per token" if found.pilot is not None and found.pilot.kind == "losses" else ""


def _beside(found: Power) -> str:
    """The pilot's uncertainty, and the number of comparisons."""
    parts = []
    limits = found.answer.interval
    if limits is not None and found.pilot is not None:
        low, high = (answer_text(found, limit) for limit in (limits.low, limits.high))
        pilot = words.count(found.pilot.n, found.unit)
        parts.append(f"by a pilot of {pilot}: {low} to {high}, {words.percent(limits.level)} interval")
    if found.goal.comparisons > 1:
        parts.append(f"each of {found.goal.comparisons:,} comparisons at {_each(found)}")
    return f" ({'; '.join(parts)})" if parts else ""


def _each(found: Power) -> str:
    return f"{100 * (1 - found.goal.adjusted_level):.3g} %"


def answer_text(found: Power, value: float) -> str:
    """The answer as its question wants it."""
    if found.question == "items":
        return f"{value:,.0f}"
    return words.number(value, 3) if found.question == "difference" else words.share(value)


def answer_rows(found: Power) -> list[Row]:
    shown = "none" if found.difference is None else words.number(found.difference, 6) + scale(found)
    rows = [
        (f"{found.unit}s", f"{found.items:,}"),
        ("difference", shown),
        ("power", "undefined" if found.power is None else f"{found.power:.4f}"),
        ("test", _TESTS[found.test]),
        ("level", _level(found)),
    ]
    if found.goal.margin is not None:
        rows.insert(2, ("margin", f"±{words.number(found.goal.margin, 6)}{scale(found)}"))
    return rows


def _level(found: Power) -> str:
    text = f"{words.percent(found.goal.level)}, two-sided"
    if found.goal.comparisons == 1:
        return text
    return f"{text}; {_each(found)} error for each of {found.goal.comparisons:,} comparisons (Bonferroni)"


def assumption_rows(found: Power) -> list[Row]:
    return [(_NAMES[name], words.number(value, 6)) for name, value in found.assumptions.items()]


def pilot_rows(pilot: Pilot) -> list[Row]:
    unit = "window" if pilot.kind == "losses" else "item"
    clusters = "" if pilot.n_clusters is None else f" in {words.count(pilot.n_clusters, 'cluster')}"
    rows = [("pilot", f"{' and '.join(pilot.systems)} on {words.count(pilot.n, unit)}{clusters}")]
    rows.append(("sd of a difference", words.number(pilot.sd)))
    if pilot.discordant is not None:
        limits = f"{100 * pilot.limits.low:.1f} to {100 * pilot.limits.high:.1f}"
        rows.append(("items that differ", f"{100 * pilot.discordant:.1f}  [{limits}] %"))
    else:
        rows.append(("design effect", f"{pilot.design_effect:.3f}, of clusters and weights"))
    if pilot.correlation is not None:
        high = pilot.correlation >= 0.9995  # of losses, often: the same text is hard for both
        shown = "over 0.999" if high else f"{pilot.correlation:.3f}"
        rows.append(("correlation", f"{shown} of A and B over {unit}s"))
    if pilot.sd_within is not None and pilot.runs is not None:
        a, b = (words.number(value, 3) for value in pilot.sd_within)
        rows.append(("sd between runs", f"{a} in A, {b} in B, of single items; {pilot.runs:.3g} runs each"))
    return rows


def curve_rows(found: Power) -> list[Row]:
    """The table of the curve, by doublings."""
    name = "detectable difference" if found.question == "difference" else "power"
    level = "" if found.pilot is None else f" [{words.percent(found.goal.level)} by the pilot]"
    points = [point for point in found.curve if point.value is not None]
    middle = next((i for i, point in enumerate(points) if point.items == found.items), 0)
    chosen = points[middle % _EVERY :: _EVERY]
    return [(f"{found.unit}s", name + level), *((f"{point.items:,}", _cell(found, point)) for point in chosen)]


def _cell(found: Power, point: CurvePoint) -> str:
    assert point.value is not None
    shown = _value(found, point.value)
    if point.low is None or point.high is None:
        return shown
    return f"{shown}  [{_value(found, point.low)} to {_value(found, point.high)}]"


def _value(found: Power, value: float) -> str:
    return words.number(value, 3) if found.question == "difference" else f"{value:.3f}"
