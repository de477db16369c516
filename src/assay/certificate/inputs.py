"""What `certify` is given: files or a panel, as the tables of two systems, and what is said of them."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from assay.analyses.suite.tasks import TASK
from assay.certificate.evidence import file_digest
from assay.certificate.fields import BothSystems, ComparedSystem, Condition, Measured
from assay.certificate.policy import PICKS
from assay.certificate.rules import union_of
from assay.data import Panel, Selection, Table
from assay.data.metrics import PERPLEXITY, SCORE
from assay.data.readers.registry import named
from assay.data.reading import check_used
from assay.data.runs import MANIFEST
from assay.data.runs.rates import Size, check_per
from assay.data.sources import Models, Source, panel_as_asked, tables_of_panel, two_names, two_tables
from assay.data.tables import direction_of
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.files.stores.addresses import copy_or_path
from assay.names import one_line


@dataclass(frozen=True, eq=False, slots=True)
class Given:
    """The two systems as read, and how the certificate describes their origin."""

    baseline: Table
    subject: Table
    union: Panel
    systems: BothSystems


def given_files(
    baseline: Source,
    subject: Source | None,
    models: Models,
    columns: Mapping[str, str] | None,
    picked: Selection,
    policy: Policy,
    per: Size | None,
) -> Given:
    first, second = two_tables(baseline, subject, models, columns, policy.cluster, picked, gate=True, verb="certify")
    check_used(Selection(newest=picked.newest), (first, second))
    check_direction((first, second), policy)
    check_answers((first, second))
    # A policy is for losses and scores alike, and of losses the lower one is always the better.
    lower = None if first.kind == "losses" else policy.lower_is_better
    systems = BothSystems(
        baseline=_system(first, baseline), subject=_system(second, baseline if subject is None else subject)
    )
    cluster = policy.cluster or first.cluster_by
    union = union_of(first, second, cluster=cluster, lower_is_better=lower, per=per)
    return Given(first, second, union, systems)


def _system(table: Table, source: Source) -> ComparedSystem:
    path = named(source)[1] if isinstance(source, str | PathLike) else None
    digests = table.about.get("model", {}).get("digests", {})
    return ComparedSystem(
        name=table.name,
        file=None if path is None else path.name,
        sha256=None if path is None else _input_digest(table, path),
        model=digests.get("model"),
        tokenizer=digests.get("tokenizer"),
    )


def given_panel(
    given: Panel, models: Models, policy: Policy, per: Size | None, by: str | None, **not_for_panels: Any
) -> Given:
    """A panel has no file, only its own digest."""
    panel = panel_as_asked(given, cluster=policy.cluster, **not_for_panels)
    panel = panel if by in (None, TASK) else replace(panel, labels={**panel.labels, TASK: panel.label(str(by))})
    names = two_names(panel, models, "certify")
    metric, lower = panel.metric, policy.lower_is_better
    if metric.ratio not in (PERPLEXITY.ratio, SCORE.ratio):
        raise UsageError(f"certify takes a panel of losses or scores, but this one is of {metric.name}.")
    if metric.kind == "scores" and lower is not None and lower != metric.lower_is_better:
        words = {True: "lower", False: "higher"}
        raise UsageError(
            f"the panel says that {words[metric.lower_is_better]} is better, but {words[lower]} was asked for; make "
            f"the panel with lower_is_better={lower}, or correct the policy."
        )
    first, second = tables_of_panel(panel.of_models(names))
    about = {"file": None, "sha256": f"sha256:{given.digest}", "model": None, "tokenizer": None}
    systems = BothSystems(
        baseline=ComparedSystem(name=names[0], **about), subject=ComparedSystem(name=names[1], **about)
    )
    union = union_of(first, second, cluster=panel.cluster, lower_is_better=metric.lower_is_better, per=per)
    return Given(first, second, replace(union, groups=panel.groups), systems)


# --------------------------------------------------------------------- what the rows are of: task, metric, direction


def policy_with(policy: Policy, selection: Selection | None, **asked: Any) -> Policy:
    """Add the caller's options to the policy; they may not contradict it."""
    picked = {name: getattr(selection, name) for name in PICKS} if selection is not None else {}
    return policy.with_options(**picked, **asked)


def selection_with(policy: Policy, selection: Selection | None, *, every_task: bool = False) -> Selection:
    """The selection of harness results that the policy asks for; all tasks where it names none, if they may be many."""
    picked = {name: getattr(policy, name) for name in PICKS}
    return replace(selection or Selection(), every_task=every_task, **picked)


def check_measure(per: Size | None, policy: Policy) -> None:
    """Refuse a policy that is about something else than the bits of whole documents."""
    check_per(per, cluster=policy.cluster, lower_is_better=policy.lower_is_better)
    if per is not None and policy.metric not in (None, f"bits per {per}"):
        raise UsageError(f"the metric is bits per {per}, but {policy.metric!r} was asked for; leave one of them out.")


def check_limit(policy: Policy, *, scores: bool) -> None:
    """Refuse a limit that has no part in the verdict, where the one that has is left to a default."""
    idle, used = ("max_ratio", "max_drop") if scores else ("max_drop", "max_ratio")
    if getattr(policy, idle) is not None and getattr(policy, used) is None:
        here, there = ("scores", "perplexity") if scores else ("perplexity", "scores")
        raise UsageError(f"`{idle}` limits {there}, and this is about {here}; give `{used}` instead.")


def measured(tables: Sequence[Table], policy: Policy, per: Size | None = None) -> Measured:
    """Task and metric, as stated by the files of a harness, or else by the policy or the issuer."""
    told = [table.about["measure"] for table in tables if "measure" in table.about]
    tasks = sorted({task for measure in told for task in measure["tasks"]})
    return Measured(
        task=policy.task if policy.task is not None else ", ".join(tasks) or None,
        tasks=tuple(tasks),
        metric=told[0]["metric"] if told and per is None else policy.metric or _own_metric(tables[0], per),
        filter=told[0]["filter"] if told else policy.filter,
        scorer=told[0]["scorer"] if told else policy.scorer,
        conditions=_conditions(tables),
    )


def _conditions(tables: Sequence[Table]) -> tuple[Condition, ...]:
    """What the scores were measured under, as the files tell it; several values where tasks or systems differ."""
    found: dict[str, dict[str, None]] = {}
    for table in tables:
        for own in table.about.get("conditions", {}).values():
            for name, value in own.items():
                found.setdefault(name, {})[one_line(value)] = None
    return tuple(Condition(name=name, value=", ".join(values)) for name, values in sorted(found.items()))


def _own_metric(table: Table, per: Size | None) -> str | None:
    """Perplexity or bits, or the name of the score column if it says more than "score"."""
    if table.kind == "losses":
        return "perplexity" if per is None else f"bits per {per}"
    column = table.columns["score"]
    return None if column in ("score", table.name) else column  # a column for each model is called like the model


def check_answers(tables: Sequence[Table]) -> None:
    """Refuse lost answers, unless they count as wrong: a gate must not open because the subject failed to answer."""
    for table in tables:
        lost = len(table) - len(table.answered())
        if lost:
            raise InputError(
                f"{table.label}: {lost:,} of {len(table):,} answers were lost to errors, nulls or empty cells, and a "
                "gate needs them; run these again, or count them as wrong with `Selection(errors='wrong')`."
            )


def check_direction(tables: Sequence[Table], policy: Policy) -> None:
    """Refuse a policy that contradicts the harness about which direction is better."""
    told = direction_of(tables, asked=None)
    if told is None or policy.lower_is_better is None or tables[0].kind == "losses" or told == policy.lower_is_better:
        return
    words = {True: "lower", False: "higher"}
    raise UsageError(
        f"{tables[0].label}: the harness says that {words[told]} is better, but {words[policy.lower_is_better]} was "
        "asked for; leave `lower_is_better` out, or correct the policy."
    )


def _input_digest(table: Table, path: Path) -> str:
    """Digest of the input file; for several files of a harness, of their sorted digests."""
    files = table.about.get("files") or [_input_file(table, path)]
    digests = sorted(file_digest(file) for file in files)
    return digests[0] if len(digests) == 1 else "sha256:" + hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _input_file(table: Table, path: Path) -> Path:
    """The file that was named, the manifest of a run, or the file that a pattern or a folder led to."""
    if (path / MANIFEST).is_file():
        return path / MANIFEST
    found = path if path.is_file() else copy_or_path(table.label.partition(" (model ")[0])
    if not found.is_file():
        raise InputError(f"{table.label}: cannot be read again for its digest; name the file itself.")
    return found
