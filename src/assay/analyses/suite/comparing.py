"""Two systems of a panel on several tasks, as a record: rows, groups, total, whether tasks differ, the sentence."""

import msgspec
import numpy as np

from assay.analyses.compare.result import Systems
from assay.analyses.contrast import reliance_of, reserve_of, verdict_of
from assay.analyses.runs_like_these import like_these, runs_note
from assay.analyses.suite.parts import SuiteParts, parts_of
from assay.analyses.suite.records import between_record, group_records, task_records, total_record
from assay.analyses.suite.result import GroupRow, SuiteComparison, SuiteTotal
from assay.analyses.suite.sentences import sentence_of
from assay.analyses.suite.tasks import TASK, is_plain, name_of
from assay.data import Panel
from assay.data.lost_answers import scales_apart
from assay.data.panel_views import Substance
from assay.data.same_items import shared_by_tasks
from assay.data.task_groups import group_notes
from assay.design import Design, signature
from assay.errors import InputError, UsageError
from assay.limits import TaskWeights
from assay.names import plural
from assay.stats.suites import Adjustment, rows
from assay.stats.suites.groups import group_rows
from assay.stats.suites.heterogeneity import heterogeneity
from assay.stats.suites.total import Total, over_tasks
from assay.stats.suites.total import total as total_of


def suite_of_panel(
    panel: Panel,
    design: Design,
    *,
    by: str = TASK,
    weights: TaskWeights = "macro",
    adjust: Adjustment = "product",
    runs: Panel | None = None,
) -> SuiteComparison:
    """Compare the two systems of a panel task by task; ``by`` names the label that tells tasks apart.

    ``runs`` has a column for each run of the two, on the same units.
    """
    _check(panel, design, by)
    parts, level = parts_of(panel, by, weights), design.level
    found = rows(parts.tasks, level=level, adjust=adjust)
    whole = total_of(parts.tasks, parts.shares, level=level)
    apart = heterogeneity(parts.tasks, level=level)
    assert apart is not None  # there are several tasks
    reliance = reliance_of(panel.n, parts.effective, whole.method)
    beyond = over_tasks(found.value, parts.shares, level=level)
    summed = _with_runs(total_record(parts, whole, beyond, name_of(weights), level), runs, panel, by, parts)
    lower = panel.metric.lower_is_better
    result = SuiteComparison(
        kind=panel.kind,
        measure=panel.metric.name,
        unit=panel.unit,
        systems=Systems(*panel.systems),
        lower_is_better=lower,
        by=by,
        verdict=verdict_of(summed.difference, summed.test, design, lower_is_better=lower, reliance=reliance),
        sentence="",
        tasks=task_records(parts, found, apart, design),
        groups=_groups(parts, design, adjust),
        total=summed,
        between=between_record(apart, len(parts.tasks)),
        adjust=adjust,
        level_of_each=found.level,
        n=panel.n,
        n_clusters=panel.n_clusters,
        cluster_by=panel.cluster_by,
        dropped=panel.dropped,
        notes=(*panel.notes, *_shared_note(panel, by), *_group_notes(panel, by, parts, weights), *runs_note(runs)),
        design=design,
        signature=_signature(panel, design, by, whole, name_of(weights), adjust, len(parts.tasks)),
    )
    substance = Substance(panel.n, parts.effective, None, 0.0)
    return msgspec.structs.replace(result, sentence=sentence_of(result, reserve_of(reliance, substance)))


def _with_runs(total: SuiteTotal, runs: Panel | None, panel: Panel, by: str, parts: SuiteParts) -> SuiteTotal:
    codes = panel.label(by).codes
    places = [np.flatnonzero(codes == code) for code in range(len(parts.tasks))]
    found = like_these(runs, panel, total.difference, total.test.p_value, places, parts.shares)
    return msgspec.structs.replace(total, runs_like_these=found)


def _check(panel: Panel, design: Design, by: str) -> None:
    if panel.k != 2:
        raise UsageError(f"compare takes a panel of two systems, but got {panel.k}; choose two with panel.pair(i, j).")
    if panel.denominators.ndim != 1:
        raise InputError("compare needs the same denominators (tokens, weights) in both systems; these differ.")
    if panel.cluster == by:
        raise UsageError(f"{by!r} tells tasks apart, and cannot be the cluster too; leave one of them out.")
    if len(panel.label(by).names) < 2:
        raise InputError(f"all {panel.unit}s have the same {by}: there is nothing to tell apart; leave out `by`.")
    if by == TASK and (apart := scales_apart(panel, by)):
        raise InputError(f"{apart}; divide those in percent by 100, or compare such tasks apart.")
    if not is_plain(design):
        raise UsageError(
            "several tasks take the level and the margin of a design, and choose intervals and tests themselves; leave "
            "out the rest, or choose one task."
        )


def _groups(parts: SuiteParts, design: Design, adjust: Adjustment) -> tuple[GroupRow, ...]:
    if not parts.tree.groups:
        return ()
    places = [parts.places(group.tasks) for group in parts.tree.groups]
    found = group_rows(parts.tasks, places, parts.shares, level=design.level, adjust=adjust)
    return group_records(parts, found, design)


def _group_notes(panel: Panel, by: str, parts: SuiteParts, weights: TaskWeights) -> tuple[str, ...]:
    """What the groups lack, and which one the mean of all tasks mostly is."""
    told, tree = group_notes(panel, by, parts.tree), parts.tree
    outermost = [group for group in tree.groups if group.inside is None]
    largest = max(outermost, key=lambda group: len(group.tasks), default=None)
    count = len(tree.tasks)
    if weights != "macro" or largest is None or tree.overlapping or not count / 2 < len(largest.tasks) < count:
        return told
    share = f"{len(largest.tasks)} of the {count} {plural(by)} are of {largest.name}, and so much of the total"
    return (*told, f"{share}; `total='groups'` weighs groups alike")


def _shared_note(panel: Panel, by: str) -> tuple[str, ...]:
    """What occurs in several tasks, and is one in the total."""
    if not shared_by_tasks(panel, by):
        return ()
    what = panel.cluster or f"{panel.unit}s with the same contents"
    return (f"{what}: some occur in several {plural(by)}; the total takes each of them as one",)


def _signature(panel: Panel, design: Design, by: str, found: Total, how: str, adjust: str, count: int) -> str:
    return signature(
        "suite",
        units=panel.unit + "s",
        n=panel.n,
        clusters=None if panel.n_clusters is None else f"{panel.n_clusters} {panel.cluster_by}",
        tasks=f"{count} {by}",
        total=how,
        method=found.method,
        adjust=adjust,
        level=design.level,
        data=panel.digest[:16],
    )
