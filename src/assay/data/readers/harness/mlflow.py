"""MLflow's ``eval_results_table.json`` and tables of W&B: ``{"columns": […], "data": [[…], …]}`` with scores by metric.

The score of a metric is in a column ``<metric>/v1/score``, beside its justification. There is no id: an item is a row.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from assay.data.readers.harness import Log
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.first_look import FirstLook
from assay.data.readers.harness.metric_tables import MetricColumns, read_metrics
from assay.data.readers.registry import open_file
from assay.names import one_line

_TABLE = re.compile(r"(_\d+_[0-9a-f]{8,})?(?=\.table\.json)|\.table(?=\.json)")  # what W&B adds to the name of a table
SCORE = re.compile(r"(?P<metric>.+)/v\d+/score")
#: What was asked, and what is right, under the names that MLflow's documentation uses.
_SAME = ("inputs", "input", "question", "query", "prompt", "request", "ground_truth", "target", "targets", "expected")
_TEXTS = frozenset(
    {*_SAME, "outputs", "output", "predictions", "prediction", "answer", "response", "context", "Unnamed: 0"}
)
_COSTS = {"seconds": "latency", "tokens_out": "token_count"}
#: As MLflow says of its own metrics.
_LOWER = ("toxicity", "flesch_kincaid_grade_level", "ari_grade_level")


def recognises(look: FirstLook) -> bool:
    """Whether there are columns called as the scores of MLflow's metrics are."""
    named = look.record.get("columns") if look.keys >= {"columns", "data"} else look.keys or look.header
    return isinstance(named, Iterable) and any(isinstance(name, str) and SCORE.fullmatch(name) for name in named)


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [
        MlflowLog(one_line(str(path)), (path,), path.stem, "", "", named_by=path.with_name(_TABLE.sub("", path.name)))
        for path in files
    ]


@dataclass(frozen=True)
class MlflowLog(AnswersLog):
    """A table of results: a row for each input."""

    format: ClassVar[str] = "mlflow"
    paired_on: ClassVar[str] = "row number"
    compared: ClassVar[str] = "inputs"

    def read(self) -> Answers:
        path = self.files[0]
        names = [name for name in open_file(path).columns if SCORE.fullmatch(name)]
        plain = [SCORE.sub(r"\g<metric>", name) for name in names]
        called = dict(zip(names, plain if len(set(plain)) == len(plain) else names, strict=True))
        metric = called.get if called else lambda name: name  # asked for by name: every column of scores
        return read_metrics(path, MetricColumns(None, _TEXTS, _SAME, metric, _COSTS, _LOWER))
