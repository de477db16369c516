"""What a comparison takes for granted, measured and said in the same words everywhere.

That short and long units differ alike, and that units of one document are independent. Neither changes a number of the
comparison: beside it stand the mean in which every unit counts the same, and the interval for documents drawn whole.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from assay.analyses.contrast import Binary, Differences, paired_interval
from assay.data import Panel
from assay.data.pairing import INDEPENDENT
from assay.design import Design
from assay.results import words
from assay.results.parts import Fact
from assay.stats.assumptions import (
    LARGE_T,
    LONGEST,
    AlikeUnits,
    LongUnits,
    alike_units,
    long_units,
    share_of_longest,
    t_with_length,
)
from assay.stats.proportions import Effective
from assay.stats.records import Estimate
from assay.stats.units import Units, standard_error

DOCUMENT = "document"  # the label of units that may be alike


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Both, as far as the units tell them."""

    long_units: LongUnits | None
    same_document: AlikeUnits | None


@dataclass(frozen=True, slots=True)
class LongPairs:
    """In how many pairs of a leaderboard the difference goes with the tokens, or weight, of what is drawn."""

    pairs: int
    decide: int  # pairs with |t| > 3: their means rest on the longest units
    a: str  # the pair of the largest |t|
    b: str
    t: float  # of a − b
    longest: int  # how many units `share` is of
    share: float  # of all weight that the longest units have


def long_pairs(panel: Panel) -> LongPairs | None:
    """``None`` where all units are as long, or no pair differs by more than rounding."""
    weights = panel.grid.mass
    if len(weights) < 3 or bool((weights == weights[0]).all()):
        return None
    above = np.triu_indices(panel.k, 1)
    t = t_with_length(panel.grid)[above]
    if np.isnan(t).all():
        return None
    most = int(np.nanargmax(np.abs(t)))
    return LongPairs(
        pairs=len(t),
        decide=int((np.abs(t) > LARGE_T).sum()),
        a=panel.systems[above[0][most]],
        b=panel.systems[above[1][most]],
        t=float(t[most]),
        longest=min(LONGEST, len(weights)),
        share=share_of_longest(weights),
    )


def measured(
    panel: Panel, found: Differences, binary: Binary | None, design: Design, by_document: Callable[[Panel], Estimate]
) -> Assumptions:
    """``by_document`` gives the difference of a panel with clusters, as the comparison has it."""
    length, alike = long_units(found.drawn), likeness(panel, found.drawn)
    if length is not None and length.decide:
        length = replace(length, unweighted=_unweighted(found.drawn, binary, design))
    if alike is not None and alike.documents > 1:
        alike = replace(alike, by_document=by_document(replace(panel, cluster=DOCUMENT)))
    return Assumptions(length, alike)


def likeness(panel: Panel, units: Units) -> AlikeUnits | None:
    """Of units that are drawn alone although they have documents."""
    if panel.cluster is not None or DOCUMENT not in panel.labels:
        return None
    return alike_units(units, panel.labels[DOCUMENT].codes, panel.numbers.get("start"))


def _unweighted(drawn: Units, binary: Binary | None, design: Design) -> Estimate:
    """The mean in which every unit counts the same, with the interval that the design asks for."""
    alone = Units(drawn.numerators / drawn.denominators, np.ones(drawn.n))
    if binary is not None and set(np.unique(alone.numerators)) <= {-1.0, 0.0, 1.0}:
        b, c = (float((alone.numerators == sign).sum()) for sign in (1, -1))
        plain = Binary(Effective(b, c, float(alone.n), 1.0, np.inf), plain=True)
        limits = paired_interval(alone, plain, design).interval
    else:
        limits = replace(design, method="auto" if design.method == "tango" else design.method).interval(alone).interval
    return Estimate(alone.estimate, limits.around(alone.estimate), standard_error(alone), alone.n)


# ------------------------------------------------------------------------------------------------------- in words


def notes_with(
    notes: tuple[str, ...], long: LongUnits | None, alike: AlikeUnits | None, unit: str, kind: str
) -> list[str]:
    """The notes of a comparison, with what was measured; of documents one note says it all."""
    said = None if alike is None else about_documents(alike, unit)
    kept = [note for note in notes if said is None or note != INDEPENDENT]
    return [*kept, *([] if said is None else [said]), *about_length(long, unit, kind)]


def about_length(found: LongUnits | None, unit: str, kind: str) -> list[str]:
    """That the mean rests on the long units, where it does."""
    if found is None or not found.decide:
        return []
    weight = _weight(kind)
    how = f"correlation {words.placed(found.correlation, 2, sign=True)}, t = {words.placed(found.t, 1, sign=True)}"
    return [f"{_rests_on(unit, weight)} ({how})"]


def _rests_on(unit: str, weight: str) -> str:
    return f"the mean rests on the {unit}s of most {weight}: the difference goes with the {weight}"


def about_gate(found: Assumptions, unit: str, kind: str) -> tuple[str, ...]:
    """What a gate says beside its facts, which have no place for these numbers: only what is amiss."""
    length, alike = found.long_units, found.same_document
    beside = [f"{fact.label}: {one_space(fact.text)}" for fact in length_facts(length, unit, kind)]
    said = ["; ".join([*about_length(length, unit, kind), *beside])] if beside else []
    return (*([about_documents(alike, unit)] if alike is not None and alike.alike else []), *said)


def about_pairs(found: LongPairs | None, unit: str, kind: str) -> list[str]:
    """The same of the pairs of a leaderboard."""
    if found is None or not found.decide:
        return []
    weight, pairs = _weight(kind), f"{found.decide:,} of {words.count(found.pairs, 'pair')}"
    most, have = (
        f"most: {found.a} and {found.b}, t = {words.placed(found.t, 1, sign=True)}",
        longest(found.longest, unit, kind),
    )
    return [f"in {pairs} {_rests_on(unit, weight)} ({most}); the {have} have {100 * found.share:.3g}% of all {weight}"]


def longest(count: int, unit: str, kind: str) -> str:
    return f"{'longest' if kind == 'losses' else 'heaviest'} {words.count(count, unit)}"


def one_space(text: str) -> str:
    return " ".join(text.split())


def length_facts(found: LongUnits | None, unit: str, kind: str) -> list[Fact]:
    """The unweighted mean, and how much the longest units have of everything."""
    if found is None or found.unweighted is None:
        return []
    weight = _weight(kind)
    return [
        Fact(
            "unweighted mean",
            found.unweighted,
            "unweighted mean",
            f"{words.with_interval(found.unweighted, sign=True)}, every {unit} counted the same",
        ),
        Fact(
            longest(found.longest, unit, kind),
            found.share,
            "longest units",
            f"{100 * found.share:.3g}% of all {weight}",
        ),
    ]


def _weight(kind: str) -> str:
    return "tokens" if kind == "losses" else "weight"


def about_documents(found: AlikeUnits, unit: str) -> str:
    """That documents were not drawn, and what it would change."""
    head = f"{unit}s of a document are alike" if found.alike else f"{unit}s count as independent"
    return f"column 'document' not used: {head} ({', '.join(_measured(found))}); {_advice(found)}"


def _measured(found: AlikeUnits) -> list[str]:
    parts = [] if found.lag_one is None else [f"correlation of neighbours {words.placed(found.lag_one, 2, sign=True)}"]
    return parts + ([] if found.design_effect is None else [f"design effect {found.design_effect:.2f}"])


def _advice(found: AlikeUnits) -> str:
    shown, draws = found.by_document, "`cluster='document'` draws documents"
    if shown is None or shown.value is None or shown.interval is None:
        return "one document cannot be drawn whole, so cut the text into documents"
    return f"{draws}: {one_space(words.with_interval(shown, sign=True))}"
