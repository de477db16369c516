"""What was found of Japanese text, in a sentence per system and per difference."""

from collections.abc import Sequence

from assay.analyses.japanese.parts import Gap, Quantity, System, Value
from assay.analyses.verdict import FEW, verdict_of
from assay.design import Design
from assay.results import words
from assay.stats.records import Estimate, Interval


def scaled(quantity: Quantity, estimate: Estimate) -> tuple[float | None, Interval | None]:
    """The value and its interval as people read them: shares in per cent."""
    factor = 100.0 if quantity.scale == "share" else 1.0
    value = None if estimate.value is None else factor * estimate.value
    return value, None if estimate.interval is None else estimate.interval.scaled(factor)


def number(quantity: Quantity, estimate: Estimate, *, sign: bool = False, fewer: int = 0) -> str:
    """The value alone, at the decimals that its interval has."""
    value, limits = scaled(quantity, estimate)
    if value is None:
        return "undefined"
    places = words.decimals(limits)
    return words.placed(value, places if places is None else max(places - fewer, 0), sign=sign)


def with_unit(quantity: Quantity, text: str, *, difference: bool = False) -> str:
    """A share is in per cent; a difference of two is in points of that."""
    if quantity.scale != "share" or text == "undefined":
        return text
    return f"{text} points" if difference else f"{text} %"


def system_sentence(system: System, unit: str, n: int) -> str:
    """A system by itself."""
    if any(value.quantity.key == "cer" for value in system.values):
        return _generated(system, unit, n)
    accuracy, bits = system.value("accuracy"), system.value("bits")
    scripts = ", ".join(f"{v.quantity.part} {_plain(v)}" for v in _scripts(system) if v.estimate.value is not None)
    of = f"{accuracy.characters or 0:,} characters in {words.count(n, unit)}"
    return (
        f"{system.name} would have written {_plain(accuracy)} of the characters ({_limits(accuracy)}{scripts}; {of}), "
        f"at {number(bits.quantity, bits.estimate)} bits per character{_few(n)}."
    )


def _scripts(system: System) -> list[Value]:
    return [value for value in system.values if value.quantity.key.startswith("accuracy/")]


def _generated(system: System, unit: str, n: int) -> str:
    shown = [v for v in system.values if v.quantity.key in ("cer", "chrf") or v.quantity.key.startswith("bleu/")]
    parts = ", ".join(f"{value.quantity.label} {_plain(value)} ({_limits(value).rstrip('; ')})" for value in shown)
    return f"{system.name}: {parts}; {words.count(n, unit)}{_few(n)}."


def _plain(value: Value) -> str:
    return with_unit(value.quantity, number(value.quantity, value.estimate, fewer=1))


def _limits(value: Value) -> str:
    _, limits = scaled(value.quantity, value.estimate)
    if limits is None:
        return ""
    return f"{words.percent(limits.level)} interval {words.interval(limits)}; "


def _few(n: int) -> str:
    return ", too few to rely on" if n < FEW else ""


def pair_sentence(systems: tuple[System, System], gaps: Sequence[Gap], headline: str, unit: str, design: Design) -> str:
    """Whether B is better than A in the quantity that was chosen beforehand."""
    a, b = systems
    gap = next(gap for gap in gaps if gap.quantity.key == headline)
    quantity = gap.quantity
    verdict = verdict_of(gap.difference, gap.randomization, design, lower_is_better=quantity.lower_is_better)
    heads = {"better": f"{b.name} is better than {a.name}", "worse": f"{b.name} is worse than {a.name}"}
    head = heads.get(verdict, f"No difference shown between {a.name} and {b.name}")
    before, after = (_plain(system.value(headline)) for system in systems)
    return f"{head}: {quantity.label} {before} → {after}, {_evidence(gap, unit)}."


def _evidence(gap: Gap, unit: str) -> str:
    value = with_unit(gap.quantity, number(gap.quantity, gap.difference, sign=True), difference=True)
    _, limits = scaled(gap.quantity, gap.difference)
    parts = []
    if limits is not None:
        parts.append(f"{words.percent(limits.level)} interval {words.interval(limits, sign=True)}")
    if gap.randomization.p_value is not None:
        parts.append(words.p_value(gap.randomization.p_value))
    n = gap.difference.n
    parts.append(words.count(n, unit) + _few(n))
    return f"{value} ({', '.join(parts)})"
