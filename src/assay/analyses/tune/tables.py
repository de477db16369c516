"""The tables of a tuning report, and what is left of them where arms are many."""

from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec.structs import replace

from assay.analyses.tune.advice import Recommendation
from assay.analyses.tune.arms import ACCURACIES, SCRIPTS, ArmSummary, Sensitivity
from assay.analyses.tune.contrasts import Adaptation, Contrast
from assay.analyses.tune.criteria import Criterion, CriterionStatus, ExecutiveLine
from assay.analyses.tune.sentences import change_of, in_line
from assay.results import words
from assay.results.parts import Column, ResultTable, Value
from assay.stats.records import Estimate, Interval

Show = Callable[[Value], str]

#: What stands under its own heading where the text is Japanese.
JAPANESE_METRICS = ("character_accuracy", *SCRIPTS)
_MEMORY = (
    *("parameters", "gradients", "optimizer", "activations", "training", "peak", "inference"),
    *("allocated", "reserved", "peak_reserved", "resident"),
)
_TIME = ("seconds", "seconds_per_step", "steps_per_hour", "tokens_per_second")
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_EXPLAINED = "training runs"  # the key of how the numbers are computed
_JAPANESE = "Japanese-specific metrics"
_GAP = "\0"  # in no name
_FEW = 3  # names of those that a line is about


# ----------------------------------------------------------------------------------------------------------- in a line


def executive_table(
    lines: Sequence[ExecutiveLine], adapted: Sequence[Adaptation], compared: Sequence[Column] | None = None
) -> ResultTable:
    """A line for each arm; of many arms also ``compared``, what other tables would say."""
    ratios, show = {one.arm: one.ratio for one in adapted}, _cell if compared is None else _value
    why = [line.convergence if compared is not None else f"{line.convergence} ({line.why})" for line in lines]
    columns = [
        Column("arm", [line.arm for line in lines], may_shorten=True),
        Column("final perplexity", [line.final_perplexity for line in lines], show),
        Column("/ untrained base", [ratios[line.arm] for line in lines], show),
        *(compared or ()),
        Column("trainable", [line.parameter_efficiency for line in lines], _percent, right=True),
        Column("memory saved", [line.memory_savings for line in lines], _saved),
        Column("convergence", [line.convergence for line in lines], written=why),
    ]
    shown = [column for column in columns if column.name == "arm" or any(map(_known, column.values))]
    return ResultTable("summary", "executive summary", tuple(shown), "", _EXPLAINED)


def compared_columns(arms: Sequence[ArmSummary], contrasts: Sequence[Contrast]) -> list[Column]:
    """Quality, time and the verdict against the baseline."""
    verdicts = {one.arm: one.verdict for one in contrasts}
    measure = next((name for name in ACCURACIES if any(name in arm.quality for arm in arms)), "accuracy")
    qualities = [name for name in ("validation_loss", measure) if any(name in arm.quality for arm in arms)]
    found = [Column(_readable(name), [arm.quality.get(name) for arm in arms], _cell) for name in qualities]
    found.append(Column("against the baseline", [verdicts.get(arm.name, "baseline") for arm in arms]))
    return [*found, Column("seconds per step", [arm.time.get("seconds_per_step") for arm in arms], _value)]


def _known(value: Value) -> bool:
    return value is not None and not (isinstance(value, Estimate) and value.value is None)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.3g}%"


def _saved(part: Estimate) -> str:
    """A part of 1 in percent, with its interval."""
    if part.value is None:
        return "–"
    low, high = (None, None) if part.interval is None else (part.interval.low, part.interval.high)
    limits = "" if low is None or high is None else f" [{words.placed(100 * low, 0)} to {words.placed(100 * high, 0)}]"
    return f"{words.placed(100 * part.value, 0)}%{limits}"


def criteria_by_arm(criteria: Sequence[Criterion]) -> ResultTable:
    """Which criteria every arm meets, in a line."""
    arms = list(dict.fromkeys(c.arm for c in criteria))
    wanted: tuple[CriterionStatus, ...] = ("met", "not met", "not measured")
    columns = [Column("arm", arms, may_shorten=True)]
    for status in wanted:
        named = [[_readable(c.name) for c in criteria if c.arm == arm and c.status == status] for arm in arms]
        columns.append(Column(status, [", ".join(names) for names in named]))
    return ResultTable("criteria", "criteria", tuple(columns), explained=_EXPLAINED)


def grouped(found: Sequence[Recommendation], baseline: str) -> tuple[str, ...]:
    """What is recommended of many arms, said once."""
    groups: dict[str, list[Recommendation]] = {}
    for one in found:
        groups.setdefault(_without_name(one, baseline), []).append(one)
    return tuple(str(same[0]) if len(same) == 1 else _of_all(text, same) for text, same in groups.items())


def _without_name(one: Recommendation, baseline: str) -> str:
    """The text with a gap for the arm, whose name may be a part of the baseline's."""
    if one.arm is None or one.arm == baseline or one.arm not in baseline:
        return one.text if one.arm is None else one.text.replace(one.arm, _GAP)
    return baseline.join(part.replace(one.arm, _GAP) for part in one.text.split(baseline))


def _of_all(text: str, same: Sequence[Recommendation]) -> str:
    names = [one.arm for one in same if one.arm is not None]
    whom = f"each of {len(names)} arms ({words.listed(names, _FEW)})"
    return text.replace(_GAP, whom, 1).replace(_GAP, "each")


# -------------------------------------------------------------------------------------------------------------- tables


def adaptation_table(adapted: Sequence[Adaptation]) -> ResultTable:
    """Every arm against the untrained base, on the same text."""
    known = [one for one in adapted if one.base_loss is not None and one.loss is not None]
    language_model = any(one.ratio.value is not None for one in known)
    columns = (
        Column("arm", [one.arm for one in known]),
        Column("base → trained", [change_of(one) for one in known]),
        Column(
            *(
                ("ratio", [one.ratio for one in known])
                if language_model
                else ("difference", [one.seeds for one in known])
            ),
            _cell,
        ),
        Column("p, other text", [None if one.windows is None else one.windows.p_value for one in known], words.p_alone),
        Column("p, other seeds", [one.seeds_test.p_value for one in known], words.p_alone),
        Column("verdict", [one.verdict for one in known]),
    )
    return ResultTable("adapted", "adapted", columns, "every arm against the untrained base", _EXPLAINED)


def _cell(value: Value) -> str:
    """A number on one line; ``–`` where there is none."""
    if isinstance(value, Estimate):
        return "–" if value.value is None else in_line(value)
    return words.shown(value)


def _readable(name: str) -> str:
    """A key of the JSON as people read it."""
    return name.replace("_", " ")


def _by_arm(
    key: str, first: str, names: Sequence[str], found: Mapping[str, Mapping[str, Estimate]], show: Show | None = None
) -> ResultTable:
    """A row for each quantity that an arm has, a column for each arm."""
    kept = [name for name in names if any(name in one and one[name].value is not None for one in found.values())]
    columns = [Column(arm, [one.get(name) for name in kept], show or _cell) for arm, one in found.items()]
    return ResultTable(key, key, (Column(first, list(map(_readable, kept))), *columns), "means over seeds", _EXPLAINED)


def quality_table(arms: Sequence[ArmSummary], japanese: Collection[str]) -> ResultTable:
    """Without what stands among the Japanese-specific metrics."""
    elsewhere = JAPANESE_METRICS if japanese else ()
    names = dict.fromkeys(name for arm in arms for name in arm.quality if name not in elsewhere)
    return _by_arm("quality", "quantity", list(names), {arm.name: arm.quality for arm in arms})


def japanese_table(found: Mapping[str, Mapping[str, Estimate]], *, compact: bool = False) -> ResultTable:
    """Character accuracy, by script too; of many arms, a line for each."""
    names = list(dict.fromkeys(name for one in found.values() for name in one))
    if not compact:
        return replace(_by_arm("japanese", "quantity", names, found), title=_JAPANESE)
    columns = [Column(_readable(name), [one.get(name) for one in found.values()], _value) for name in names]
    return ResultTable("japanese", _JAPANESE, (Column("arm", list(found)), *columns), "means over seeds", _EXPLAINED)


def _value(estimate: Estimate | None) -> str:
    return "–" if estimate is None or estimate.value is None else words.number(estimate.value)


def cost_tables(arms: Sequence[ArmSummary]) -> list[ResultTable]:
    counted = [arm for arm in arms if arm.total is not None or arm.trainable is not None]
    shares = [arm.share for arm in counted]
    written = ["–" if share is None else f"{100 * share:.3g}%" for share in shares]
    columns = (
        Column("arm", [arm.name for arm in counted]),
        Column("parameters", [arm.total for arm in counted]),
        Column("trainable", [arm.trainable for arm in counted]),
        Column("share", shares, right=True, written=written),
    )
    parameters = ResultTable("parameters", "parameters", columns, explained=_EXPLAINED)
    memory, time = ({arm.name: getattr(arm, key) for arm in arms} for key in ("memory", "time"))
    return [
        parameters,
        _by_arm("memory", "part", _MEMORY, memory, _bytes),
        _by_arm("time", "quantity", _TIME, time),
    ]


def _bytes(value: Value) -> str:
    if not isinstance(value, Estimate) or value.value is None:
        return "–"
    size, unit = next(((size, unit) for size, unit in _UNITS if value.value >= size), (1, "bytes"))
    return f"{value.value / size:.2f} {unit}"


def convergence_table(arms: Sequence[ArmSummary]) -> ResultTable:
    names = [
        f"{arm.name}, {f'run {place}' if run.seed is None else f'seed {run.seed}'}"
        for arm in arms
        for place, run in enumerate(arm.runs, start=1)
    ]
    runs = [run for arm in arms for run in arm.runs]
    columns = (
        Column("run", names),
        Column("final loss", [run.final_loss for run in runs], _final),
        Column("95% at", [run.steps_to_95 for run in runs]),
        Column("settled at", [run.convergence_step for run in runs]),
        Column("end", [run.plateau.verdict for run in runs]),
        Column("overfitting", [run.overfitting.verdict for run in runs]),
        Column("gradients", [run.gradients.verdict for run in runs]),
    )
    return ResultTable("convergence", "convergence", columns, explained=_EXPLAINED)


def _final(loss: Estimate) -> str:
    """The loss at the end, or where it diverged."""
    return loss.reason or "–" if loss.value is None else in_line(loss)


def gain_table(contrast: Contrast) -> ResultTable:
    ratios = {name: ratio for name, ratio in contrast.ratios.items() if ratio.value is not None}
    columns = Column("quantity", list(map(_readable, ratios))), Column("ratio", list(ratios.values()), _cell)
    title = f"{contrast.arm} / {contrast.baseline}"
    return ResultTable(f"gains of {contrast.arm}", "gains", columns, title, _EXPLAINED)


def significance_table(contrast: Contrast, level: float) -> ResultTable:
    rows: list[tuple[str, Value, float | None, Value]] = []
    if contrast.windows is not None:
        found = contrast.windows
        what = f"{words.count(found.n_pairs, 'window')}: other text?"
        rows.append((what, found.difference, found.p_value, found.effect_sizes.get("d_z")))
    if contrast.seeds.value is not None:
        what = f"{words.count(contrast.seeds.n, 'seed')}: other seeds?"
        rows.append((what, contrast.seeds, contrast.seeds_test.p_value, None))
    if contrast.recipe is not None and contrast.recipe.low is not None and contrast.recipe.high is not None:
        recipe = contrast.recipe
        limits = Interval(contrast.recipe.low, contrast.recipe.high, level, "recipe")
        rows.append(("the published recipe, of single windows", limits, recipe.p_value, recipe.cohens_d))
    over, differences, p_values, sizes = ([row[i] for row in rows] for i in range(4))
    columns = (
        Column("over", over),
        Column("difference", differences, _cell),
        Column("p", p_values, words.p_alone),
        Column("effect size", sizes, _cell),
    )
    unit = "validation loss" if "validation_loss" in contrast.ratios else "nats per token"
    about = f"{contrast.arm} − {contrast.baseline}, {unit}"
    return ResultTable(f"significance of {contrast.arm}", "significance", columns, about, _EXPLAINED)


def rate_table(found: Sensitivity) -> ResultTable:
    columns = [
        Column("rate", [point.rate for point in found.points], "{:g}".format),
        Column("held-out loss", [None if point.diverged else point.loss for point in found.points]),
        Column("runs", [point.n for point in found.points]),
    ]
    if any(point.diverged for point in found.points):
        columns.append(Column("diverged", [point.diverged for point in found.points]))
    return ResultTable(f"rates of {found.arm}", "learning rates", tuple(columns), found.sentence, _EXPLAINED)


def criteria_table(criteria: Sequence[Criterion]) -> ResultTable:
    """A row per criterion that was measured, and one per arm for those that were not."""
    rows: list[tuple[str, str, str, Value, str]] = [
        (_readable(c.name), c.arm, c.wanted, c.estimate, f"{c.status} ({c.why})" if c.why else c.status)
        for c in criteria
        if c.status != "not measured"
    ]
    for arm in dict.fromkeys(c.arm for c in criteria):
        missing = [_readable(c.name) for c in criteria if c.arm == arm and c.status == "not measured"]
        if missing:
            rows.append((f"not measured: {len(missing)}", arm, "", None, ", ".join(missing)))
    names, arms, wanted, values, status = ([row[i] for row in rows] for i in range(5))
    columns = (
        Column("criterion", names),
        Column("arm", arms),
        Column("wanted", wanted),
        Column("found", values, lambda value: "" if value is None else _cell(value)),
        Column("status", status),
    )
    return ResultTable("criteria", "criteria", columns, explained=_EXPLAINED)
