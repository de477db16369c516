"""Whether what is certified has several tasks, and what a certificate over them is made from."""

from dataclasses import replace

import numpy as np

from assay.analyses.suite.tasks import TASK, several_tasks
from assay.certificate.evidence import with_better, with_costs
from assay.certificate.inputs import Given
from assay.certificate.suite.costs import check_costs
from assay.certificate.suite.task_limits import costs_of, with_known_groups
from assay.data import Panel, Table
from assay.data.lost_answers import scales_apart
from assay.data.runs.rates import Size
from assay.data.same_items import copies_note
from assay.data.tables import Labels
from assay.data.task_groups import task_tree
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.names import listed

ALONE = "all"  # what a single task is called that nobody named


def asked_for(policy: Policy, by: str | None) -> list[str]:
    """What says that tasks are meant, whatever their number."""
    return [*policy.of_tasks, *([] if by is None else ["by"])]


def may_have_tasks(policy: Policy, by: str | None, per: Size | None) -> bool:
    """Whether tasks are told apart: not where the policy asks for what they do not have."""
    asked = asked_for(policy, by)
    others = {"per": per is not None, "method": policy.method != "auto", "scheme": policy.scheme != "auto"}
    without = [name for name, given in others.items() if given]
    if asked and without:
        raise UsageError(f"{asked[0]} is about tasks, which have no `{without[0]}`; leave one of them out.")
    return not without


def has_tasks(given: Given, policy: Policy, by: str | None) -> bool:
    """Whether there are several tasks with enough items each, or tasks that a harness or the policy names."""
    if asked_for(policy, by):
        return True
    union, tables = given.union, (given.baseline, given.subject)
    named = policy.task is None and all(len(table.about.get("measure", {}).get("tasks", ())) > 1 for table in tables)
    apart = TASK in union.labels and union.cluster != TASK and not union.settings.get("part_of")
    return several_tasks(union) or (named and apart)


def with_tasks(given: Given, name: str | None) -> Given:
    """The tables and their union with the task of every item; where nothing tells tasks apart, all are one."""
    if given.union.cluster == TASK:
        raise UsageError("the column of the tasks cannot be the cluster too; leave one of them out.")
    if TASK in given.union.labels:
        return given
    tables = (given.baseline, given.subject)
    if all(TASK in table.labels for table in tables):
        both = " and ".join(table.label for table in tables)
        raise InputError(f"{both} do not agree which task an item belongs to; write the same in both.")
    one = name or ALONE
    union = replace(given.union, labels={**given.union.labels, TASK: _one(one, given.union)})
    first, second = (replace(table, labels={**table.labels, TASK: _one(one, table)}) for table in tables)
    return replace(given, baseline=first, subject=second, union=union)


def _one(name: str, rows: Panel | Table) -> Labels:
    return Labels((name,), np.zeros(len(rows.ids), dtype=np.int64))


def check_tasks(union: Panel, final: Panel) -> None:
    """Refuse a task of which one of the systems has nothing, for a gate must not open because it was left out.

    Tasks on different scales are refused too: no mean of theirs makes sense.
    """
    lacking = [task for task in union.label(TASK).names if task not in final.label(TASK).names]
    if lacking:
        raise InputError(
            f"{listed(map(repr, lacking))}: no {final.unit} of the task is in both {union.systems[0]} and "
            f"{union.systems[1]}; run what is missing, or take the task out of both."
        )
    if apart := scales_apart(final, TASK):
        raise InputError(f"{apart}; divide those in percent by 100, or certify such tasks apart.")


def policy_over(policy: Policy, final: Panel) -> Policy:
    """The policy with the groups that the results know, once what it limits is there."""
    check_costs(final, costs_of(policy))
    return with_known_groups(policy, task_tree(final, TASK)).complete()


def evidence_tables(given: Given, policy: Policy | None) -> dict[str, Table]:
    """The rows to keep, with the costs that are limited, and which scores are better."""
    wanted, lower = () if policy is None else costs_of(policy), given.union.metric.lower_is_better
    both = {"baseline": given.baseline, "subject": given.subject}
    return {role: with_better(with_costs(table, wanted), lower_is_better=lower) for role, table in both.items()}


def assumed(final: Panel) -> tuple[str, ...]:
    """What a reader must know of the items: not stated, for the evidence shows it."""
    return copies_note(final.ids, final.labels, final.unit, final.cluster)
