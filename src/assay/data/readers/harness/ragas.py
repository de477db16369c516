"""ragas: ``result.to_pandas().to_csv()``, what was asked, found and said, then a column for each metric."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from assay.data.readers.harness import Log
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.first_look import FirstLook
from assay.data.readers.harness.metric_tables import MetricColumns, read_metrics
from assay.errors import InputError
from assay.names import listed, one_line

#: The columns that ragas has beside metrics; since version 0.2, and before.
_TEXTS = frozenset(
    {
        *("user_input", "retrieved_contexts", "reference_contexts", "retrieved_context_ids", "reference_context_ids"),
        *("response", "multi_responses", "reference", "rubrics", "rubric", "reference_tool_calls", "reference_topics"),
        *("question", "contexts", "answer", "ground_truth", "ground_truths", "Unnamed: 0"),
    }
)
_BEFORE = frozenset({"question", "contexts", "answer"})
_METRICS = frozenset(
    {
        *("faithfulness", "answer_relevancy", "answer_correctness", "answer_similarity", "context_precision"),
        *("context_recall", "context_relevancy", "context_utilization", "context_entity_recall"),
    }
)
_TABLE = frozenset({"item", "score", "model"})  # of ours: then it is a table that someone made of ragas's


def recognises(look: FirstLook) -> bool:
    """Whether these are the columns of a ragas result, in CSV or JSON."""
    return is_result(set(look.keys) or set(look.header))


def is_result(columns: AbstractSet[str]) -> bool:
    if columns & _TABLE:
        return False
    now = "user_input" in columns and bool(columns & {"response", "retrieved_contexts"}) and bool(columns - _TEXTS)
    return now or (columns >= _BEFORE and bool(columns & _METRICS))


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [RagasLog(one_line(str(path)), (path,), path.stem, "", "") for path in files]


@dataclass(frozen=True)
class RagasLog(AnswersLog):
    """A result: a row for each question."""

    format: ClassVar[str] = "ragas"
    paired_on: ClassVar[str] = "user_input"
    compared: ClassVar[str] = "reference"

    def read(self) -> Answers:
        from assay.data.readers.registry import open_file  # late: it opens logs itself

        columns = open_file(self.files[0]).columns
        item = next((name for name in ("user_input", "question") if name in columns), None)
        if item is None:
            raise InputError(
                f"{self.label}: no column user_input among its columns {listed(columns)}; name another file."
            )
        same = ("reference",) if item == "user_input" else ("ground_truth",)
        return read_metrics(self.files[0], MetricColumns(item, _TEXTS, same, lower=("noise_sensitivity",)))
