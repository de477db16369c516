"""The record that `compare_suite` returns: a row for each task, the total, and whether tasks differ."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from assay.analyses.compare.result import OUTCOMES, STATUS, Systems
from assay.analyses.contrast import Verdict
from assay.analyses.runs_like_these import RunsLikeThese
from assay.analyses.suite.tasks import WEIGHING
from assay.data import Dropped, Kind
from assay.data.task_groups import TaskGroup, TaskTree
from assay.design import Design
from assay.names import plural
from assay.results import words
from assay.results.figures import INSIDE, Forest, Gauge, Line, Mark, SecondMark
from assay.results.parts import INDENT, Caution, CheckedCase, Column, Fact, ResultTable, Section, cautions_of
from assay.results.record import Result, Status
from assay.stats.records import Estimate, Test
from assay.stats.suites import Adjustment
from assay.stats.suites.heterogeneity import WhetherTasksDiffer

if TYPE_CHECKING:
    import pandas as pd


_ADJUSTED = {
    "product": "for all {bys} at once",
    "holm": "for all {bys} at once, p by Holm",
    "bh": "with a false discovery rate",
}


class TaskRow(msgspec.Struct, frozen=True, kw_only=True):
    """B against A on one task."""

    task: str
    n: int  # units
    a: float
    b: float
    difference: Estimate  # with an interval that holds for all tasks at once
    p_value: float  # adjusted for the number of tasks: at most 1 − level exactly where the interval leaves out 0
    p_alone: float  # of this task by itself
    verdict: Verdict
    weight: float  # in the total
    detectable: float | None  # the true difference that so many units would have shown, 4 times in 5, adjusted alike
    shrunken: float | None = None  # the difference drawn towards the mean of all; no interval belongs to it
    group: str | None = None  # the smallest one that it is in
    measure: str | None = None  # its metric, where those of tasks differ


class GroupRow(msgspec.Struct, frozen=True, kw_only=True):
    """B against A on a group of tasks: the mean of its tasks, weighted as in the total."""

    group: str
    inside: str | None = None  # the smallest group around it
    tasks: tuple[str, ...]
    absent: int = 0  # further tasks of the group, of which there are no results
    n: int  # units
    a: float
    b: float
    difference: Estimate  # with an interval that holds for all groups at once
    p_value: float  # adjusted for the number of groups: at most 1 − level exactly where the interval leaves out 0
    p_alone: float  # of this group by itself
    verdict: Verdict
    weight: float  # of all its tasks in the total
    detectable: float | None  # the true difference that so many units would have shown, 4 times in 5, adjusted alike


class SuiteTotal(msgspec.Struct, frozen=True, kw_only=True):
    """The weighted mean of the tasks."""

    weights: str  # "macro", "items", "groups" or "given"
    a: float
    b: float
    difference: Estimate  # for these tasks
    test: Test
    like_these: Estimate | None = None  # the same difference for tasks like these; None: fewer than five tasks
    like_these_p: float | None = None
    runs_like_these: RunsLikeThese | None = None  # the same for runs like these; None: not several of both models


class BetweenTasks(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the tasks' differences differ."""

    answer: WhetherTasksDiffer
    test: Test
    common: float | None  # the difference that all tasks would share
    spread: float | None  # the standard deviation between tasks


class SuiteComparison(Result, frozen=True, kw_only=True, tag="assay/suite/1"):
    """B against A on several tasks: each of them, and all together."""

    question = "Is B different from A, over these tasks?"
    kind_name = "suite"

    kind: Kind
    measure: str
    unit: str
    systems: Systems
    lower_is_better: bool
    by: str  # the label that tells tasks apart
    verdict: Verdict  # of the total
    sentence: str
    tasks: tuple[TaskRow, ...]
    groups: tuple[GroupRow, ...] = ()  # those around others first
    total: SuiteTotal
    between: BetweenTasks
    adjust: Adjustment
    level_of_each: float  # of every task's interval
    n: int  # units
    n_clusters: int | None
    cluster_by: str | None
    dropped: Dropped
    notes: tuple[str, ...]
    design: Design
    signature: str

    @property
    def subject(self) -> str:
        return f"{self.systems.a} → {self.systems.b}"

    @property
    def status(self) -> Status:
        return STATUS[self.verdict]

    @property
    def cases(self) -> tuple[CheckedCase, ...]:
        """The total, then every task."""
        rows = [
            CheckedCase(row.task, OUTCOMES[row.verdict], row.verdict, words.compact(row.difference, sign=True))
            for row in self.tasks
        ]
        return (CheckedCase(self.subject, OUTCOMES[self.verdict], self.verdict, self.sentence), *rows)

    @property
    def units(self) -> str:
        """``360 items of 12 tasks``."""
        clusters = "" if self.n_clusters is None else f" in {words.count(self.n_clusters, 'cluster')}"
        return f"{words.count(self.n, self.unit)}{clusters} of {words.count(len(self.tasks), self.by)}"

    @property
    def compared(self) -> tuple[Fact, ...]:
        return (Fact("A", self.systems.a), Fact("B", self.systems.b), Fact("on", self.n, None, self.units))

    @property
    def weighing(self) -> str:
        return WEIGHING[self.total.weights].format(bys=plural(self.by), unit=self.unit)

    @property
    def gauge(self) -> Gauge | None:
        found = self.total.difference
        if found.value is None or found.interval is None:
            return None
        marks, margin = [Mark(0.0, "no difference")], self.design.margin
        if margin is not None:
            marks += [Mark(-margin, f"−{words.number(margin)}"), Mark(margin, f"+{words.number(margin)}")]
        return Gauge(
            f"difference in {self._measured}, B − A, {self.weighing}",
            found.value,
            found.interval.low,
            found.interval.high,
            tuple(marks),
            "lower" if self.lower_is_better else "higher",
            words.estimate(found.value, found.interval, sign=True),
        )

    @property
    def _measured(self) -> str:
        return "loss (nats per token)" if self.kind == "losses" else self.measure

    @property
    def facts(self) -> tuple[Fact, ...]:
        total, like = self.total, self.total.like_these
        a, b = words.apart(total.a, total.b, 6)
        found = [
            Fact(f"{self._measured}, A", total.a, "suite total", a),
            Fact(f"{self._measured}, B", total.b, "suite total", b),
            Fact("difference B − A", total.difference, "suite total", words.with_interval(total.difference, sign=True)),
            Fact(
                f"test ({total.test.name})", total.test.p_value, "suite total", words.p_value(total.test.p_value or 1)
            ),
        ]
        if like is not None and total.like_these_p is not None:
            shown = f"{words.with_interval(like, sign=True)}, {words.p_value(total.like_these_p)}"
            found.append(Fact(f"{plural(self.by)} like these", like, "tasks like these", shown))
        if total.runs_like_these is not None:
            found.append(total.runs_like_these.fact)
        found.append(Fact(f"{plural(self.by)} differ", self.between.test.p_value, "tasks differ", self._between()))
        return (*found, Fact("on", self.n, None, self.units), Fact("interval", self._how(), "suite rows"))

    def _between(self) -> str:
        words_of = {"differ": "yes", "not shown": "not shown", "cannot tell": "cannot tell from so few"}
        test, said = self.between.test, words_of[self.between.answer]
        return said if test.p_value is None else f"{said} ({test.name}, {words.p_value(test.p_value)})"

    def _how(self) -> str:
        level, limits = words.percent(self.design.level), self.total.difference.interval
        made = words.methods(row.difference.interval for row in self.tasks)
        rows = _ADJUSTED[self.adjust].format(bys=plural(self.by))
        return f"{level} {'none' if limits is None else limits.method} of the total; of each {self.by} {made}, {rows}"

    @property
    def cautions(self) -> tuple[Caution, ...]:
        lost, found = self.dropped.only_a + self.dropped.only_b, []
        if lost:
            examples = ", ".join(self.dropped.examples)
            text = f"{lost} not paired ({self.dropped.only_a} only in A, {self.dropped.only_b} only in B): {examples}"
            found.append(Caution("dropped", text))
        return (*found, *cautions_of(self.notes))

    @property
    def sections(self) -> tuple[Section, ...]:
        title = plural(self.by)
        return (Section("tasks", title[:1].upper() + title[1:], figures=(self._forest(),), tables=(self._table(),)),)

    def to_frame(self) -> "pd.DataFrame":
        """A row for each task (pandas must be installed)."""
        return self._table().to_frame()

    def _outline(self) -> list[tuple[int, TaskRow | GroupRow]]:
        """Groups with what they hold below them, and how deep each row is."""
        tree = TaskTree(
            tuple(row.task for row in self.tasks),
            tuple(TaskGroup(row.group, row.tasks, row.absent, row.inside) for row in self.groups),
        )
        tasks: dict[str, TaskRow | GroupRow] = {row.task: row for row in self.tasks}
        groups: dict[str, TaskRow | GroupRow] = {row.group: row for row in self.groups}
        return [(one.depth, (tasks if one.group is None else groups)[one.name]) for one in tree.outline()]

    @property
    def main_table(self) -> ResultTable:
        """The tasks, and the total below them, as papers print it."""
        total = self.total
        return self._table().with_row(
            task=self.weighing,
            kind="total",
            n=self.n,
            a=total.a,
            b=total.b,
            difference=total.difference,
            p_adjusted=total.test.p_value,
            p_alone=total.test.p_value,
            verdict=_short(self.verdict),
            weight=1.0,
        )

    def _table(self) -> ResultTable:
        level, outline = words.percent(self.design.level), self._outline()
        rows = [row for _, row in outline]
        names, measures = [_name(row) for row in rows], [_measure(row) for row in rows]
        shared = words.shared_decimals([row.difference.interval for row in rows], 2)
        places = 3 if shared is None else min(max(shared, 2), 4)
        columns = (
            Column(self.by, names, may_shorten=True, key="task", written=_indented(outline)),
            Column("kind", ["task" if isinstance(row, TaskRow) else "group" for row in rows], hidden=True),
            Column("group", [row.group if isinstance(row, TaskRow) else row.inside for row in rows], hidden=True),
            Column("metric", measures, hidden=not any(measures)),
            Column("n", [row.n for row in rows]),
            Column("A", [row.a for row in rows], words.fixed(places), key="a"),
            Column("B", [row.b for row in rows], words.fixed(places), key="b"),
            Column(f"B − A [{level}]", [row.difference for row in rows], _signed, key="difference"),
            Column("p", [row.p_value for row in rows], words.p_alone, key="p_adjusted"),
            Column("verdict", [_short(row.verdict) for row in rows], key="verdict"),
            Column("detectable", [row.detectable for row in rows], _two_digits),
            Column("p_alone", [row.p_alone for row in rows], hidden=True),
            Column("weight", [row.weight for row in rows], hidden=True),
            Column("shrunken", [row.shrunken if isinstance(row, TaskRow) else None for row in rows], hidden=True),
        )
        about = f"intervals and p {_ADJUSTED[self.adjust].format(bys=plural(self.by))}"
        about += f", of groups {_ADJUSTED[self.adjust].format(bys='groups')}" if self.groups else ""
        return ResultTable("tasks", plural(self.by), columns, about, explained="suite rows")

    def _forest(self) -> Forest:
        lines = [self._row_line(depth, row) for depth, row in self._outline()]
        whole = _line(self.weighing, self.total.difference, "all")
        level, adjusted = words.percent(self.design.level), _ADJUSTED[self.adjust].format(bys=plural(self.by))
        about = (
            f"Lines: {level} CIs, {adjusted}; the total's holds by itself.",
            f"Diamonds: differences drawn towards the mean of all {plural(self.by)}, as far as chance explains them.",
        )
        drawn = any(row.shrunken is not None for row in self.tasks)
        return Forest(
            "tasks",
            f"The difference by {self.by}",
            about if drawn else about[:1],
            f"B − A, {self._measured}",
            (*lines, whole),
            (Mark(0.0, "no difference", dashed=False),),
            groups=(f"each {self.by}", *(["groups"] if self.groups else []), "all"),
        )

    def _row_line(self, depth: int, row: TaskRow | GroupRow) -> Line:
        label = f"{INSIDE * depth}{_name(row)}"
        if isinstance(row, GroupRow):
            return _line(label, row.difference, "groups")
        return _line(label, row.difference, f"each {self.by}", row.shrunken)


def _name(row: TaskRow | GroupRow) -> str:
    return row.task if isinstance(row, TaskRow) else row.group


def _measure(row: TaskRow | GroupRow) -> str | None:
    return row.measure if isinstance(row, TaskRow) else None


def _indented(outline: Sequence[tuple[int, TaskRow | GroupRow]]) -> list[str]:
    """Names as an outline; what is below a group stands to its right."""
    return [f"{INDENT * depth}{_name(row)}" for depth, row in outline]


def _signed(found: Estimate | None) -> str:
    return words.compact(found, sign=True)


def _two_digits(value: float | None) -> str:
    return "–" if value is None else words.number(value, 2)


def _short(verdict: Verdict) -> str:
    return {"no difference shown": "–", "undecided": "too few"}.get(verdict, verdict)


def _line(label: str, found: Estimate, group: str, shrunken: float | None = None) -> Line:
    low, high = (None, None) if found.interval is None else (found.interval.low, found.interval.high)
    return Line(label, found.value, low, high, group, () if shrunken is None else (SecondMark(shrunken),))
