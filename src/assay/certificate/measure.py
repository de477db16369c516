"""What the rows of a certificate are of: the task and the metric that the files, the policy or the issuer name."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from assay.data import Selection, Table
from assay.data.comparable import direction_of
from assay.design import Policy
from assay.errors import UsageError

PICKS = ("task", "metric", "filter", "scorer")


def policy_with(policy: Policy, selection: Selection | None, **asked: Any) -> Policy:
    """The policy with what was asked for beside it, which may not contradict it."""
    picked = {name: getattr(selection, name) for name in PICKS} if selection is not None else {}
    return policy.with_options(**picked, **asked)


def selection_with(policy: Policy, selection: Selection | None) -> Selection:
    """What to read of a harness: what the policy names is picked."""
    return replace(selection or Selection(), **{name: getattr(policy, name) for name in PICKS})


def measure_of(tables: Sequence[Table], policy: Policy) -> dict[str, Any]:
    """Task and metric: of a harness as its files say, of a table as the policy or the issuer says."""
    told = [table.about["measure"] for table in tables if "measure" in table.about]
    tasks = sorted({task for measure in told for task in measure["tasks"]})
    return {
        "task": policy.task if policy.task is not None else ", ".join(tasks) or None,
        "tasks": tasks,
        "metric": told[0]["metric"] if told else policy.metric or _own_metric(tables[0]),
        "filter": told[0]["filter"] if told else policy.filter,
        "scorer": told[0]["scorer"] if told else policy.scorer,
    }


def _own_metric(table: Table) -> str | None:
    """Perplexity, or the column of the scores if it is called by a name of its own."""
    if table.kind == "losses":
        return "perplexity"
    column = table.columns["score"]
    return None if column in ("score", table.name) else column  # a column for each model is called like the model


def check_direction(tables: Sequence[Table], policy: Policy) -> None:
    """A harness knows which direction of its metric is good; a certificate does not turn it round."""
    told = direction_of(tables, asked=None)
    if told is None or policy.lower_is_better is None or tables[0].kind == "losses" or told == policy.lower_is_better:
        return
    words = {True: "lower", False: "higher"}
    raise UsageError(
        f"{tables[0].label}: the harness says that {words[told]} is better, but {words[policy.lower_is_better]} was "
        "asked for; leave --lower-is-better out, or correct the policy."
    )
