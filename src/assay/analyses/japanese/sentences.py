"""What a result about Japanese text says: a sentence per system and per difference."""

from collections.abc import Sequence

from assay.analyses.contrast import FEW, reliance_of, reserve_of, verdict_of
from assay.analyses.japanese.result import QuantityDifference, QuantityValue, SystemScores
from assay.data.panel_views import Substance
from assay.design import Design
from assay.results import words


def system_sentence(system: SystemScores, unit: str, n: int) -> str:
    """One system on its own."""
    if system.of("cer"):
        return _generated(system, unit, n)
    accuracy, bits = system.value("accuracy"), system.value("bits")
    parts = [value for value in system.of("accuracy") if value.quantity.part and value.estimate.value is not None]
    scripts = ", ".join(f"{value.quantity.part} {_plain(value)}" for value in parts)
    of = f"{accuracy.characters or 0:,} characters in {words.count(n, unit)}"
    inside = "; ".join(text for text in (_limits(accuracy), scripts, of) if text)
    return (
        f"{system.name} would have written {_plain(accuracy)} of the characters ({inside}), "
        f"at {bits.quantity.text(bits.estimate)} bits per character{_few(n)}."
    )


def _generated(system: SystemScores, unit: str, n: int) -> str:
    shown = [value for value in system.values if value.quantity.name in ("cer", "bleu", "chrf")]
    parts = ", ".join(f"{value.quantity.label} {_plain(value)}{_bracketed(_limits(value))}" for value in shown)
    return f"{system.name}: {parts}; {words.count(n, unit)}{_few(n)}."


def _plain(value: QuantityValue) -> str:
    return value.quantity.text(value.estimate, fewer=1)


def _limits(value: QuantityValue) -> str:
    limits = value.quantity.scaled(value.estimate).interval
    return "" if limits is None else f"{words.percent(limits.level)} CI {words.interval(limits)}"


def _bracketed(text: str) -> str:
    return f" ({text})" if text else ""


def _few(n: int) -> str:
    return ", too few to rely on" if n < FEW else ""


def pair_sentence(
    systems: tuple[SystemScores, SystemScores],
    gaps: Sequence[QuantityDifference],
    headline: str,
    unit: str,
    design: Design,
    substance: Substance | None = None,
) -> str:
    """Whether B is better than A in the quantity that was chosen beforehand."""
    a, b = systems
    gap = next(gap for gap in gaps if gap.quantity.key == headline)
    quantity = gap.quantity
    found = substance or Substance(gap.difference.n, float(gap.difference.n), None, 1.0)
    reliance = reliance_of(found.units, found.effective, "")
    verdict = verdict_of(
        gap.difference, gap.randomization, design, lower_is_better=quantity.lower_is_better, reliance=reliance
    )
    both = f"{a.name} and {b.name}"
    heads = {"better": f"{b.name} is better than {a.name}", "worse": f"{b.name} is worse than {a.name}"}
    heads["undecided"] = f"Undecided between {both}"
    head = heads.get(verdict, f"No difference shown between {both}")
    before, after = (quantity.text(system.value(headline).estimate, beside=gap.difference) for system in systems)
    return f"{head}: {quantity.label} {before} → {after}, {_evidence(gap, unit, reserve_of(reliance, found))}."


def _evidence(gap: QuantityDifference, unit: str, reserve: str) -> str:
    value = gap.quantity.text(gap.difference, difference=True)
    limits = gap.quantity.scaled(gap.difference).interval
    parts = []
    if limits is not None:
        parts.append(f"{words.percent(limits.level)} CI {words.interval(limits, sign=True)}")
    if gap.randomization.p_value is not None:
        parts.append(words.p_value(gap.randomization.p_value))
    parts += [words.count(gap.difference.n, unit), *([reserve] if reserve else [])]
    return f"{value} ({', '.join(parts)})"
