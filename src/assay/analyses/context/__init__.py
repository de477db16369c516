"""Does longer context still help? The loss by position, per model and as a difference, with intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, Unpack, get_args

import msgspec
import numpy as np

from assay.analyses.context.result import (
    AxisKind,
    BinDifference,
    BinLoss,
    ContextCurve,
    CurveQuantity,
    ModelCurve,
    PairCurve,
)
from assay.analyses.context.sentences import above_zero, model_sentence, pair_sentence
from assay.analyses.contrast import agreed, reliance_of, reserved
from assay.data import Panel
from assay.data.panel_views import Substance
from assay.data.runs.positions import (
    Bin,
    LossInBin,
    TokenRun,
    check_plans,
    check_tokens,
    open_tokens,
    positions_panel,
    read_positions,
)
from assay.design import DEFAULT_RESAMPLES, Design, DesignFields, as_given, signature
from assay.errors import UsageError
from assay.results.words import count
from assay.stats.bootstrap.simultaneous import Family, Simultaneous, simultaneous
from assay.stats.records import Estimate, Fallback, Interval, Test
from assay.stats.rounding import difference
from assay.stats.units import Floats, Units, standard_error

_LEAST_SPREAD = 1e-9  # Σ(x − x̄)²: less is the rounding of one position


def context(
    *runs: str | PathLike[str] | Panel,
    bins: int | Literal["log"] = "log",
    axis: AxisKind | None = None,
    shown: CurveQuantity = "loss",
    design: Design | None = None,
    **settings: Unpack[DesignFields],
) -> ContextCurve:
    """Measure the loss along the context, from one or several runs that `assay score --keep-tokens` wrote.

    ``bins`` is "log" (positions 1, 2, 3–4, 5–8, …) or a number of bins with about the same number of tokens. ``axis``
    and ``shown`` are of the figure: a logarithmic or a linear axis, the loss or the perplexity. Of the
    design, the method, level, resamples and seed are used. Several runs must have scored the same tokens; each is
    compared with the first. Instead of runs, a `Panel` whose metrics are losses in bins of positions may be given.

    A bin's loss is Σ loss / Σ tokens, and its interval draws whole documents. Differences by bin, and each bin's loss
    against all later positions of the same documents, have max-T intervals, which hold for all bins at once:
    R_k ± c·se_k with c the quantile of max_k |R*_k − R_k| / se*_k (Westfall and Young 1993).

    >>> import tempfile
    >>> import assay
    >>> from assay.models import path
    >>> texts = [assay.Document(f"story {i}", f"Once there were {i} models, and all were small.") for i in range(12)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = assay.score(path("base"), texts, folder, plan=assay.Plan(context=64, keep_tokens=True))
    ...     curve = assay.context(runs["base"].folder)
    >>> [str(point.bin) for point in curve.models[0].points][:4]
    ['0', '1', '2', '3–4']
    """
    design = as_given("context", Design, design, settings)
    _check_design(design)
    _check_figure(axis, shown)
    if not runs:
        raise UsageError("context needs a run; name a folder that score wrote with `keep_tokens=True`.")
    panels = [run for run in runs if isinstance(run, Panel)]
    if panels:
        if len(runs) > 1 or bins != "log":
            raise UsageError("context takes one panel, whose bins are made, or folders of runs, but not both.")
        found = context_of(panels[0], bins=str(len(panels[0].metrics)), design=design)
        return msgspec.structs.replace(found, axis=axis, shown=shown)
    opened = [open_tokens(Path(run)) for run in runs if not isinstance(run, Panel)]
    for other in opened[1:]:
        check_plans(opened[0], other)
    edges, sums = read_positions(opened, bins)
    for other_sums in sums[1:]:
        check_tokens(sums[0], other_sums)
    panel = positions_panel(edges, sums, _names(opened))
    found = context_of(panel, bins=str(bins), design=design)
    return msgspec.structs.replace(found, axis=axis, shown=shown)


def _check_design(design: Design) -> None:
    used = Design(method=design.method, level=design.level, resamples=design.resamples, seed=design.seed)
    if used != design:
        raise UsageError("context takes the method, level, resamples and seed of a design; leave out the rest.")


def _check_figure(axis: str | None, shown: str) -> None:
    for name, value, choices in (("axis", axis or "log", AxisKind), ("shown", shown, CurveQuantity)):
        if value not in get_args(choices):
            raise UsageError(f"{name} must be one of {', '.join(get_args(choices))}, but got {value!r}.")


def context_of(panel: Panel, *, bins: str, design: Design) -> ContextCurve:
    """The curves of a panel of losses by position: its metrics are the losses in the bins, in order."""
    edges = [Bin(metric.low, metric.high) for metric in panel.metrics if isinstance(metric, LossInBin)]
    if len(edges) < len(panel.metrics) or not edges:
        raise UsageError("context takes a panel whose metrics are losses in bins of positions; these are others.")
    sums = [PositionTables.of(panel, edges, system) for system in range(panel.k)]
    bands, substance = _Bands(design), Substance.of(sums[0].tokens.sum(axis=1), _differing(sums))
    models = tuple(_model(edges, part, name, bands) for part, name in zip(sums, panel.systems, strict=True))
    pairs = tuple(
        _pair(edges, (sums[0], part), (panel.systems[0], name), bands)
        for part, name in zip(sums[1:], panel.systems[1:], strict=True)
    )
    reliance, drawn = reliance_of(substance.units, substance.effective, "max-t"), count(panel.n, panel.unit)
    said = [*(model.sentence for model in models), *(pair.sentence for pair in pairs)]
    return ContextCurve(
        sentence="\n".join(reserved(one, reliance, substance, drawn) for one in said),
        models=models,
        differences=pairs,
        bins=bins,
        n_clusters=panel.n,
        cluster_by=panel.unit,
        substance=substance,
        fallbacks=(*_cluster_fallback(panel), *dict.fromkeys(bands.fallbacks)),
        notes=_notes(panel),
        design=design,
        signature=_signature(panel, bins, design, (point.loss.interval for model in models for point in model.points)),
    )


def _differing(sums: "Sequence[PositionTables]") -> int | None:
    """Documents in which the first two runs do not lose the same."""
    return None if len(sums) < 2 else int((sums[0].loss != sums[1].loss).any(axis=1).sum())


@dataclass(frozen=True, eq=False, slots=True)
class PositionTables:
    """Sums of one run by document (row) and bin (column); x is log₂ of the position."""

    tokens: Floats  # (n, K)
    loss: Floats
    x: Floats
    xx: Floats
    xy: Floats

    @classmethod
    def of(cls, panel: Panel, edges: Sequence[Bin], system: int) -> "PositionTables":
        names = ("tokens", "loss", "x", "xx", "xy")
        return cls(*(np.column_stack([panel.column(f"{name}/{edge}", system) for edge in edges]) for name in names))


def _names(runs: Sequence[TokenRun]) -> list[str]:
    """The names of the models or folders, numbered if nothing else tells them apart."""
    for found in ([run.name for run in runs], [run.label for run in runs]):
        if len(set(found)) == len(runs):
            return found
    return [f"{run.name} ({i})" for i, run in enumerate(runs, start=1)]


class _Bands:
    """Intervals as the design asks for them, and the fallbacks on the way."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.fallbacks: list[Fallback] = []

    def one(self, units: Units | None) -> Estimate:
        """An interval that holds for this ratio alone."""
        return self.one_with_p(units)[0]

    def one_with_p(self, units: Units | None) -> tuple[Estimate, float | None]:
        """The same, and the interval's own p-value."""
        assert units is not None  # bins without tokens were left out
        if units.n < 2:
            return Estimate(units.estimate, None, None, 1, "only one document or window has these positions"), None
        found = self.design.interval(units, own_p=True)
        self.fallbacks += found.fallbacks
        return Estimate(units.estimate, found.interval, standard_error(units), units.n), found.own_p

    def all(self, family: Family, purpose: str) -> Simultaneous:
        """Intervals that hold for all ratios at once."""
        asked = self.design
        return simultaneous(
            family,
            confidence_level=asked.level,
            resamples=asked.resamples or DEFAULT_RESAMPLES,
            seed=asked.seed,
            purpose=purpose,
        )


def _model(edges: Sequence[Bin], sums: PositionTables, name: str, bands: _Bands) -> ModelCurve:
    losses = Family(sums.loss, sums.tokens)
    shown = [bands.one(losses.units(k)) for k in range(losses.size)]
    gains = bands.all(gain_family(sums), "context gains")
    slopes = bands.all(slope_family(sums), "context slopes")
    helping = [k for k, found in enumerate(gains.estimates) if above_zero(found, gains.tests[k])]
    last = helping[-1] if helping else None  # whose loss is shown to be higher than that of all later positions
    until = None if last is None else last + 1
    start = min((0 if until is None else until) + 1, len(edges) - 1)
    levels = within_documents(sums)
    points = tuple(
        BinLoss(
            edge.low,
            edge.high,
            int(sums.tokens[:, k].sum()),
            shown[k],
            shown[k].exp("the perplexity is too large for a number"),
            gains.estimates[k] if k < len(edges) - 1 else None,
            gains.tests[k] if k < len(edges) - 1 else None,
            levels[k],
        )
        for k, edge in enumerate(edges)
    )
    slope = slopes.estimates[start]
    helps_until = None if until is None else edges[until].high
    return ModelCurve(
        name=name,
        sentence=model_sentence(name, points, last, slope),
        helps_until=helps_until,
        still_helps=helps_until == edges[-1].high,
        slope=slope,
        slope_from=edges[start].low,
        points=points,
    )


def within_documents(sums: PositionTables) -> list[float]:
    """(K,) The loss of each bin were all documents as long: least squares with document effects.

    With n tokens of bin k in document d and their summed loss y, minimises Σ n (y/n − aᵈ − bₖ)², and adds to b what
    makes its mean over all tokens the one that was measured. Bins that no document joins to others keep that mean.
    """
    n, y = sums.tokens, sums.loss
    whole = np.maximum(n.sum(axis=1, keepdims=True), 1)
    normal = np.diag(n.sum(axis=0)) - n.T @ (n / whole)
    found = np.linalg.pinv(normal, hermitian=True) @ (y - n * y.sum(axis=1, keepdims=True) / whole).sum(axis=0)
    raised = (y.sum() - n.sum(axis=0) @ found) / max(n.sum(), 1)
    return [float(level) for level in found + raised]


def gain_family(sums: PositionTables) -> Family:
    """Each bin's loss less the loss of all later positions of the same document, for all bins but the last.

    Documents are weighted by n·m/(n + m), for n tokens in the bin and m later: least squares with document effects.
    """
    here, later = sums.tokens[:, :-1], _later(sums.tokens)
    both = np.maximum(here + later, 1)
    differences = (sums.loss[:, :-1] * later - _later(sums.loss) * here) / both
    weights = here * later / both
    return Family(np.where(weights > 0, differences, 0.0), weights)


def _later(values: Floats) -> Floats:
    """(n, K − 1) Sums over the bins after each."""
    return np.cumsum(values[:, :0:-1], axis=1)[:, ::-1]


def slope_family(sums: PositionTables) -> Family:
    """The slope of the loss on log₂(position) from each bin on: least squares with document effects."""
    n, y, x, xx, xy = (
        np.cumsum(part[:, ::-1], axis=1)[:, ::-1] for part in (sums.tokens, sums.loss, sums.x, sums.xx, sums.xy)
    )
    count = np.maximum(n, 1)
    spread = xx - x * x / count
    usable = spread > _LEAST_SPREAD
    return Family(np.where(usable, xy - x * y / count, 0.0), np.where(usable, spread, 0.0))


def _pair(
    edges: Sequence[Bin], sums: tuple[PositionTables, PositionTables], names: tuple[str, str], bands: _Bands
) -> PairCurve:
    a, b = sums
    family = Family(difference(a.loss, b.loss), a.tokens)
    adjusted = bands.all(family, "context differences")
    gaps = tuple(
        _gap(edge, bands.one_with_p(family.units(k)), adjusted.estimates[k], adjusted.tests[k], bands.design)
        for k, edge in enumerate(edges)
    )
    return PairCurve(a=names[0], b=names[1], sentence=pair_sentence(names, gaps), gaps=gaps)


def _gap(
    edge: Bin, one: tuple[Estimate, float | None], adjusted: Estimate, test: Test, design: Design
) -> BinDifference:
    """A bin is shown to differ, adjusted for all bins, only if its own interval shows it too."""
    alone, own_p = one
    if not design.paired or own_p is None:
        return BinDifference(edge.low, edge.high, alone, adjusted, test)
    joint = agreed(adjusted, test, own_p)
    return BinDifference(edge.low, edge.high, alone, joint.difference, joint.test)


def _cluster_fallback(panel: Panel) -> tuple[Fallback, ...]:
    if panel.unit == "document":
        return ()
    return (Fallback("documents as clusters", "windows as clusters", "there is one document only"),)


def _notes(panel: Panel) -> tuple[str, ...]:
    notes = list(panel.notes)
    if panel.k > 2:
        notes.append("each difference is adjusted for its bins, not for the number of differences")
    return tuple(notes)


def _signature(panel: Panel, bins: str, design: Design, made: Iterable[Interval | None]) -> str:
    return signature(
        "context",
        units=panel.unit + "s",
        n=panel.n,
        bins=f"{bins}/{len(panel.metrics)}" if bins == "log" else bins,
        method=design.ran(made),
        resamples=design.resamples or f"exact+{DEFAULT_RESAMPLES}",
        level=design.level,
        seed=design.seed,
        data=panel.digest[:16],
    )
