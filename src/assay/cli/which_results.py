"""Which results are meant, of a harness and of a file: options that verbs take as one group."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from assay.cli.options import DATA, HARNESS, names_in, option
from assay.design import Errors, PairBy

if TYPE_CHECKING:
    from assay.data.readers import Selection

ErrorAnswers = Annotated[
    Errors,
    option("Answers lost to errors of the harness, nulls and empty cells.", "--errors", panel=DATA),
]
PairedBy = Annotated[PairBy, option("Pair rows by id, or by their place in the files.", "--pair-by", panel=DATA)]
SumBy = Annotated[
    str | None,
    option("Rows are single tokens: add up their losses by this column, e.g. document.", panel=DATA, value="COLUMN"),
]
Memory = Annotated[
    str | None,
    option("What reading tables may take, e.g. 1GB; what would take more is refused.", panel=DATA, value="SIZE"),
]

TaskName = Annotated[
    str | None,
    option("The task, a group of tasks, or a pattern: 'mmlu_*'; several with commas.", panel=HARNESS, value="NAME"),
]
MetricName = Annotated[
    str | None,
    option(
        "The metric of each item; of tasks: arc=acc_norm,gsm8k=exact_match.",
        "--metric",
        panel=HARNESS,
        value="NAME",
    ),
]
Filter = Annotated[
    str | None,
    option("The filter of lm-eval's answers, or HELM's split.", "--filter", panel=HARNESS, value="NAME"),
]
Scorer = Annotated[str | None, option("The scorer of inspect.", panel=HARNESS, value="NAME")]
FormatName = Annotated[
    str | None,
    option(
        "As assay formats lists them, or table; otherwise seen from the content.",
        "--format",
        panel=HARNESS,
        value="FORMAT",
    ),
]
Reference = Annotated[
    str | None,
    option("Only verdicts against this model, of those on two answers.", panel=HARNESS, value="NAME"),
]
AllowDifferent = Annotated[
    list[str] | None,
    option(
        "Conditions that may differ between the files: judge, reference, split, …; may be repeated.",
        "--allow-different",
        panel=HARNESS,
        value="NAME,…",
    ),
]
Tried = Annotated[
    str | None,
    option("What SWE-bench tried: predictions, a report, or ids, one per line.", panel=HARNESS, value="FILE"),
]
Newest = Annotated[bool, option("The newest of several runs of a task by a model.", "--newest", panel=HARNESS)]


@dataclass(frozen=True, slots=True)
class HarnessPicks:
    """Which results of a harness."""

    task: TaskName = None
    metric: MetricName = None
    filter_name: Filter = None
    scorer: Scorer = None
    format_name: FormatName = None
    reference: Reference = None
    tried: Tried = None
    newest: Newest = False

    def selection(self, **more: Any) -> "Selection":
        """What was picked; an unknown format is refused here."""
        from assay.data.readers import Selection  # late: --help needs none of it

        return Selection(
            task=self.task,
            metric=self.metric,
            filter=self.filter_name,
            scorer=self.scorer,
            format=self.format_name,
            reference=self.reference,
            tried=self.tried,
            newest=self.newest,
            **more,
        )


@dataclass(frozen=True, slots=True)
class AnswerPicks(HarnessPicks):
    """The same, and what becomes of answers that were lost or have no id."""

    errors: ErrorAnswers = "missing"
    pair_by: PairedBy = "id"
    sum_by: SumBy = None
    memory: Memory = None

    def selection(self, **more: Any) -> "Selection":
        how: dict[str, Any] = {"errors": self.errors, "pair_by": self.pair_by}
        return HarnessPicks.selection(self, **how, sum_by=self.sum_by, memory=self.memory, **more)


@dataclass(frozen=True, slots=True)
class PicksToCompare(AnswerPicks):
    """The same, and in what the results of several models may differ."""

    allow_different: AllowDifferent = None

    def selection(self, **more: Any) -> "Selection":
        allowed = names_in(",".join(self.allow_different or ()))
        return AnswerPicks.selection(self, allow_different=allowed, **more)


#: Nothing picked.
OF_HARNESS, OF_ANSWERS, TO_COMPARE = HarnessPicks(), AnswerPicks(), PicksToCompare()
