"""The tables of a tuning report, for a terminal, for Markdown and for HTML."""

from collections.abc import Sequence

from assay.analyses.sheet import Sheet
from assay.analyses.tune.records import Arm, Contrast, Criterion, RunSummary, Sensitivity
from assay.analyses.tune.sentences import shown
from assay.results import words
from assay.stats.records import Estimate

_MEMORY = ("parameters", "gradients", "optimizer", "activations", "training", "peak", "reserved", "resident")
_TIME = ("seconds", "seconds_per_step", "steps_per_hour", "tokens_per_second")
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def rate_sheet(found: Sensitivity) -> Sheet:
    cells = [(f"{p.rate:g}", _number(p.loss) if not p.diverged else "diverged", str(p.n)) for p in found.points]
    return Sheet(("learning rates", found.sentence), ("rate", "held-out loss", "runs"), cells)


def criteria_sheet(criteria: Sequence[Criterion]) -> Sheet:
    """A line for each that was measured, and one for all of an arm that were not."""
    cells = [
        (c.name.replace("_", " "), c.arm, c.wanted, shown(c.estimate), f"{c.status}{_bracket(c.why)}")
        for c in criteria
        if c.status != "not measured"
    ]
    for arm in dict.fromkeys(c.arm for c in criteria):
        missing = [c.name.replace("_", " ") for c in criteria if c.arm == arm and c.status == "not measured"]
        if missing:
            cells.append((f"not measured: {len(missing)}", arm, "", "", ", ".join(missing)))
    return Sheet(("criteria", ""), ("criterion", "arm", "wanted", "found", "status"), cells)


def _bracket(text: str) -> str:
    return f" ({text})" if text else ""


def _number(value: float | None) -> str:
    return "–" if value is None else words.number(value)


def cost_sheet(arms: Sequence[Arm]) -> Sheet:
    """A column for each arm."""
    rows = [
        ("parameters", *(_count(arm.total) for arm in arms)),
        ("trainable", *(_count(arm.trainable) for arm in arms)),
        ("share", *("–" if arm.share is None else f"{100 * arm.share:.3g} %" for arm in arms)),
    ]
    rows += [(f"memory: {name}", *(_bytes(arm.memory.get(name)) for arm in arms)) for name in _MEMORY]
    rows += [(name.replace("_", " "), *(_cell(arm.time.get(name)) for arm in arms)) for name in _TIME]
    kept = [row for row in rows if any(cell != "–" for cell in row[1:])]
    return Sheet(("cost", "means over seeds"), ("", *(arm.name for arm in arms)), kept)


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _cell(estimate: Estimate | None) -> str:
    return "–" if estimate is None or estimate.value is None else shown(estimate)


def _bytes(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "–"
    size, unit = next(((size, unit) for size, unit in _UNITS if estimate.value >= size), (1, "bytes"))
    return f"{estimate.value / size:.2f} {unit}"


def quality_sheet(arms: Sequence[Arm]) -> Sheet:
    names = dict.fromkeys(name for arm in arms for name in arm.quality)
    cells = [(name.replace("_", " "), *(_cell(arm.quality.get(name)) for arm in arms)) for name in names]
    return Sheet(("quality", "means over seeds"), ("", *(arm.name for arm in arms)), cells)


def run_sheet(arms: Sequence[Arm]) -> Sheet:
    header = ("run", "final loss", "95 % at", "settled at", "end", "overfitting", "gradients")
    cells = [_run(arm.name, run, place) for arm in arms for place, run in enumerate(arm.runs, start=1)]
    return Sheet(("convergence", ""), header, cells)


def _run(arm: str, run: RunSummary, place: int) -> tuple[str, ...]:
    seed = f"seed {run.seed}" if run.seed is not None else f"run {place}"
    final = shown(run.final_loss) if run.diverged_at is None else f"diverged at step {run.diverged_at:,}"
    steps = [_count(step) for step in (run.steps_to_95, run.convergence_step)]
    return (f"{arm}, {seed}", final, *steps, run.plateau.verdict, run.overfitting.verdict, run.gradients.verdict)


def gain_sheet(contrast: Contrast) -> Sheet:
    cells = [(name.replace("_", " "), _cell(ratio)) for name, ratio in contrast.ratios.items()]
    kept = [cell for cell in cells if cell[1] != "–"]
    return Sheet(("gains", f"{contrast.arm} / {contrast.baseline}"), ("", "ratio"), kept)


def significance_sheet(contrast: Contrast) -> Sheet:
    cells = []
    if contrast.windows is not None:
        found = contrast.windows
        p = "–" if found.p_value is None else f"{found.p_value:.2g}"
        what = f"{words.count(found.n_pairs, 'window')}: other text?"
        cells.append((what, shown(found.difference), p, _cell(found.effect_sizes.get("d_z"))))
    if contrast.seeds.value is not None:
        p = "–" if contrast.seeds_test.p_value is None else f"{contrast.seeds_test.p_value:.2g}"
        cells.append((f"{words.count(contrast.seeds.n, 'seed')}: other seeds?", shown(contrast.seeds), p, "–"))
    if contrast.recipe is not None:
        recipe = contrast.recipe
        limits = f"[{_number(recipe.low)} to {_number(recipe.high)}], of single windows"
        p = "–" if recipe.p_value is None else f"{recipe.p_value:.2g}"
        cells.append(("the published recipe", limits, p, _number(recipe.cohens_d)))
    unit = "validation loss" if "validation_loss" in contrast.ratios else "nats per token"
    title = ("significance", f"{contrast.arm} − {contrast.baseline}, {unit}")
    return Sheet(title, ("over", "difference", "p", "effect size"), cells)
