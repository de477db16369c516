"""What `calibrate` says."""

from typing import TYPE_CHECKING

from assay.analyses.calibrate.pictures import rated
from assay.analyses.calibrate.result import MethodCoverage, SimulatedRate, claims_too_often, is_short
from assay.results import words

if TYPE_CHECKING:
    from assay.analyses.calibrate.result import Calibration, SimulatedWorld


def sentence_of(found: "Calibration") -> str:
    if len(found.worlds) > 1:
        return _of_scenarios(found)
    world = found.worlds[0]
    return _of_methods(world, found) if world.methods else _of_rates(world, found)


def _of_methods(world: "SimulatedWorld", found: "Calibration") -> str:
    first, level = world.methods[0], words.percent(found.level)
    what = "the true difference" if found.verb == "compare" else "the true value"
    text = (
        f"On {world.about}, the {level} CI holds {what} in {rated(first.covered)} of {found.simulations:,} simulations"
    )
    if first.false_verdicts is not None:
        text += f", and one that is not there is claimed in {rated(first.false_verdicts)}"
    return f"{text}: {_advice(world, found, first)}."


def _advice(world: "SimulatedWorld", found: "Calibration", first: MethodCoverage) -> str:
    asked = "the default" if first.method == "auto" else first.method
    if not is_short(first, found.level):
        often = f"more often than {words.percent(1 - found.level)}; read verdicts near the limit with care"
        return often if claims_too_often(first, found.level) else f"keep {asked}"
    below = f"below {words.percent(found.level)}"
    other = next((row for row in world.methods if row.method == found.recommended), None)
    if other is None:
        return f"{below}, and no other method is shown to cover more; read it as an interval of that level"
    still = f", still {below}" if is_short(other, found.level) else ""
    return f"{below}; {other.method} covers {rated(other.covered)}{still}: ask for `method='{other.method}'`"


def _of_rates(world: "SimulatedWorld", found: "Calibration") -> str:
    told = [rate for rate in world.rates if rate.told or rate.broken]
    parts = "; ".join(f"{rate.what} {rated(rate.found)}{_promised(rate)}" for rate in told)
    end = "Some of this is worse than promised." if found.broken else "None of this is worse than promised."
    return f"On {world.about}, in {found.simulations:,} simulations of {found.verb}: {parts}. {end}"


def _promised(rate: SimulatedRate) -> str:
    return "" if rate.nominal is None else f" ({rate.bound} {words.percent(rate.nominal)})"


def _of_scenarios(found: "Calibration") -> str:
    if not found.worlds[0].methods:
        worlds = [(world.rates[0].found.value or 0.0, world) for world in found.worlds]
        most = max(worlds, key=lambda one: one[0])[1]
        first = most.rates[0]
        return (
            f"Over {len(worlds)} built-in scenarios, {first.what} at most {rated(first.found)} "
            f"(in {most.name}; promised: {first.bound} {words.percent(first.nominal or 0.0)})."
        )
    rows = [(world.methods[0], world) for world in found.worlds]
    least = min(rows, key=lambda one: one[0].covered.value or 0.0)
    most_covering = max(rows, key=lambda one: one[0].covered.value or 0.0)
    level, short = words.percent(found.level), [world.name for row, world in rows if is_short(row, found.level)]
    end = f"it falls short in {words.listed(short, 6)}" if short else "it falls short in none of them"
    return (
        f"Over {len(rows)} built-in scenarios the {level} CI covers from {rated(least[0].covered)} ({least[1].name}) "
        f"to {rated(most_covering[0].covered)} ({most_covering[1].name}); {end}."
    )
