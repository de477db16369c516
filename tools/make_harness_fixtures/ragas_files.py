"""Evaluate made-up answers with ragas, with metrics that need no model, and keep its tables.

python -m venv ENV; ENV/bin/pip install ragas==0.4.3 rapidfuzz 'langchain-community<0.4' 'langchain-openai<1'
ENV/bin/python tools/make_harness_fixtures/ragas_files.py tests/data/harness/ragas
"""

# It runs in an environment of its own, where the harness is installed.
# mypy: ignore-errors

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

os.environ["RAGAS_DO_NOT_TRACK"] = "true"

from items import documents
from ragas import EvaluationDataset, SingleTurnSample, evaluate
from ragas.metrics import NonLLMStringSimilarity, StringPresence
from ragas.metrics.base import MetricType, SingleTurnMetric

#: Which of the answers of each model are right; x is one that the judge fails on.
RIGHT = {"small": "11001010", "large": "1110111x"}


@dataclass
class Judged(SingleTurnMetric):
    """A judge that is a rule, and fails where there is no answer."""

    name: str = "judged"
    _required_columns: dict = field(default_factory=lambda: {MetricType.SINGLE_TURN: {"response", "reference"}})

    def init(self, run_config: object) -> None:
        pass

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: object) -> float:
        if sample.response == "?":
            raise ValueError("the judge did not answer")
        return float(sample.reference in sample.response)


def samples(model: str) -> list[SingleTurnSample]:
    found = []
    for doc, right in zip(documents(), RIGHT[model], strict=False):
        answer = doc["choices"][doc["answer"]].strip()
        said = {"1": answer if model == "large" else f"It is {answer}.", "0": "I do not know.", "x": "?"}[right]
        contexts = [f"{doc['question']}, as everyone knows,", f'and "{answer}" is what they say']
        found.append(
            SingleTurnSample(user_input=doc["question"], retrieved_contexts=contexts, response=said, reference=answer)
        )
    return found


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for name in RIGHT:
        metrics = [Judged(), StringPresence(), NonLLMStringSimilarity()]
        result = evaluate(EvaluationDataset(samples=samples(name)), metrics=metrics, show_progress=False)
        result.to_pandas().to_csv(target / f"{name}.csv", index=False)
