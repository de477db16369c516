"""The record of an answer: its fields are the truth and the JSON; everything shown is computed from them.

A result is a frozen `Result`. JSON and back go by the types of its fields (msgspec), under the name of its schema.
What people see is the same everywhere: a sentence, facts, sections with tables and figures, cautions, a signature.
Terminal, HTML, Markdown and notebooks read these and know no verb.
"""

import re
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import msgspec
import numpy as np

from assay.errors import InputError, UsageError
from assay.names import listed, nearest
from assay.results.figures import Figure, Gauge
from assay.results.parts import Caution, CheckedCase, Column, Fact, ResultTable, Section, facts_table

if TYPE_CHECKING:
    import pandas as pd

    from assay.results.table_formats import TableFormat

__all__ = ["SCHEMAS", "Caution", "Fact", "Result", "Section", "Status", "known_schema", "record_type"]

#: How a verdict looks: *good* and *bad* are answers, *unsure* is that there is none, *plain* says neither.
Status = Literal["good", "bad", "unsure", "plain"]

#: Every kind of result by its schema: module and class, imported when one is met.
SCHEMAS = {
    "assay/calibration/1": "assay.analyses.calibrate.result:Calibration",
    "assay/certificate/3": "assay.certificate.record:Certificate",
    "assay/certificate/2": "assay.certificate.record:Certificate",
    "assay/comparison/1": "assay.analyses.compare.result:Comparison",
    "assay/context/1": "assay.analyses.context.result:ContextCurve",
    "assay/gate-certificate/1": "assay.certificate.gate.record:GateCertificate",
    "assay/japanese/1": "assay.analyses.japanese.result:Japanese",
    "assay/noise/1": "assay.analyses.power.survey_noise:SurveyNoise",
    "assay/power/1": "assay.analyses.power.result:Power",
    "assay/reliability/1": "assay.analyses.reliability.result:Reliability",
    "assay/summary/1": "assay.analyses.summarize.result:Summary",
    "assay/suite-certificate/1": "assay.certificate.suite.record:SuiteCertificate",
    "assay/suite/1": "assay.analyses.suite.result:SuiteComparison",
    "assay/survey/1": "assay.analyses.survey.result:SurveyReport",
    "assay/watch/1": "assay.analyses.watch.result:Watch",
    "assay/tuning/2": "assay.analyses.tune.result:TuningReport",
    "assay/leaderboard/2": "assay.analyses.rank.result:Leaderboard",
}
MAIN_FACTS = 8  # numbers that stand first
_VERSION = re.compile(r"/\d+$")


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="schema"):
    """What every answer can do. A subclass has fields, `question` and `kind`, and says what is shown of them."""

    #: What it answers, and what it is called.
    question: ClassVar[str]
    kind_name: ClassVar[str]
    #: How a notebook shows a result; the package sets it, so that a result need not know of reports.
    notebook: ClassVar[Callable[["Result"], str] | None] = None

    if TYPE_CHECKING:  # fields of every record, in the order of its own JSON

        @property
        def sentence(self) -> str: ...
        @property
        def signature(self) -> str: ...

    @property
    def subject(self) -> str:
        """What it is about: the systems, the survey, the runs."""
        raise NotImplementedError

    @property
    def status(self) -> Status:
        return "plain"

    @property
    def compared(self) -> tuple[Fact, ...]:
        """What was looked at, in a line or two."""
        return ()

    @property
    def gauge(self) -> Gauge | None:
        """The interval that the verdict rests on."""
        return None

    @property
    def gauge_apart(self) -> bool:
        """Whether a page draws the gauge: not where the chart that stands first shows the same, and more."""
        return True

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The numbers outside of tables, and how they came about."""
        return ()

    @property
    def main_facts(self) -> tuple[Fact, ...]:
        """The few numbers that most readers look for."""
        return self.facts[:MAIN_FACTS]

    @property
    def main_figures(self) -> tuple[Figure, ...]:
        """The figures that stand first: by default the first that shows more than the gauge does."""
        return tuple(figure for figure in self.figures if not isinstance(figure, Gauge))[:1]

    @property
    def to_do(self) -> tuple[str, ...]:
        """What to do, where the answer says so."""
        return ()

    @property
    def sections(self) -> tuple[Section, ...]:
        return ()

    @property
    def main_sections(self) -> tuple[Section, ...]:
        """The sections that a terminal shows unless everything is asked for."""
        return self.sections

    @property
    def cautions(self) -> tuple[Caution, ...]:
        return ()

    @property
    def cases(self) -> tuple[CheckedCase, ...]:
        """Its answers as tests, for the tables of CI servers; an answer that is not good or bad is none that failed."""
        return (CheckedCase(self.subject, "failed" if self.status == "bad" else "passed", self.status, self.sentence),)

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        return tuple(table for section in self.sections for table in section.tables)

    @property
    def main_table(self) -> ResultTable:
        """The table that stands for the result: its first one, or else its facts, a row each."""
        return self.tables[0] if self.tables else facts_table(self.facts)

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(figure for section in self.sections for figure in section.figures)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact and versioned: `from_dict` gives the same record back."""
        found: dict[str, Any] = _lists(msgspec.to_builtins(self, enc_hook=_plain))
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The record that `to_dict` wrote."""
        schema = cls.__struct_config__.tag
        if data.get("schema") != schema:
            raise InputError(
                f"not a {cls.kind_name} result: schema must be {schema!r}, but got {data.get('schema')!r}."
            )
        return msgspec.convert(data, cls)

    def to_text(self, width: int | None = None, *, verbose: bool = False, full: bool = False) -> str:
        """As a terminal shows it; ``verbose``: every number and how it came about, ``full``: every row of a table."""
        from assay.results.text import TextStyle, result_text  # late: it loads what measures the width of letters

        return result_text(self, TextStyle(width, verbose, full))

    def to_table(self, form: "TableFormat" = "markdown", name: str | None = None) -> str:
        """Its main table, or the one of this name, as ``"latex"``, ``"markdown"``, ``"csv"`` or ``"html"``."""
        from assay.results.table_formats import table_as  # late: few need it

        return table_as(self.main_table if name is None else self.table(name), form)

    def table(self, name: str) -> ResultTable:
        """The table of this name."""
        found = {table.key: table for table in self.tables}
        if name not in found:
            close = nearest(name, list(found))
            hint = f"did you mean {close!r}?" if close else f"there are {listed(found) or 'none'}."
            raise UsageError(f"no table {name!r} in this result; {hint}")
        return found[name]

    def log_to_mlflow(self, *, prefix: str = "assay") -> str:
        """Log it to MLflow (metrics, tags, the JSON and the page) and give the id of the run.

        To the active run, or to a new one. Names of metrics and tags begin with ``prefix``.
        """
        return _logged(self, "assay.trackers.mlflow_run", prefix)

    def log_to_wandb(self, *, prefix: str = "assay") -> str:
        """Log it to Weights & Biases (summary, a tag, the JSON and the page as an artifact) and give the id of the run.

        To the active run, or to a new one; offline where ``WANDB_MODE=offline``.
        """
        return _logged(self, "assay.trackers.wandb_run", prefix)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from assay.results.text import plain_html

        return plain_html(self) if Result.notebook is None else Result.notebook(self)

    def to_frame(self) -> "pd.DataFrame":
        """Its facts as numbers, a row each (pandas must be installed); tables have frames of their own."""
        import pandas as pd  # late: half a second, and not a dependency

        return pd.DataFrame([_fact_record(fact) for fact in self.facts])


def _logged(result: Result, module: str, prefix: str) -> str:
    """Trackers need pages, which results know nothing of: they are found by name, as kinds of results are."""
    if not re.fullmatch(r"[A-Za-z][\w-]*", prefix, re.ASCII):
        raise UsageError(f"prefix must be letters, digits, _ and -, and begin with a letter, but got {prefix!r}.")
    run: str = import_module(module).log(result, prefix)
    return run


def _lists(data: Any) -> Any:
    """With lists where the record has tuples, as JSON gives them back."""
    if isinstance(data, dict):
        return {key: _lists(value) for key, value in data.items()}
    return [_lists(value) for value in data] if isinstance(data, tuple | list) else data


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(type(value).__name__)


def _fact_record(fact: Fact) -> dict[str, Any]:
    record = Column("value", [fact.value]).records()[0]
    return {"quantity": fact.label, "value": None, "value_low": None, "value_high": None} | record


def known_schema(schema: object) -> str | None:
    """The schema of this name that is read here, of whatever version the name is."""
    return next((known for known in SCHEMAS if _VERSION.sub("", known) == _VERSION.sub("", str(schema))), None)


def record_type(schema: str) -> type[Result]:
    """The class of a schema."""
    module, _, name = SCHEMAS[schema].partition(":")
    found: type[Result] = getattr(import_module(module), name)
    return found
