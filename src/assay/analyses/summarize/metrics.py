"""Several metrics of the same answers: each is summarized by itself, and never averaged with another."""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from assay.analyses.summarize.result import ModelSummary, Summary
from assay.analyses.summarize.sentences import notes_of_metrics, sentence_of_metrics
from assay.data import Table
from assay.design import Design, signature
from assay.names import said_once


def by_metric(tables: Sequence[Table]) -> dict[str, list[Table]]:
    """The tables of each metric, where logs have several and none was chosen; else empty."""
    found: dict[str, list[Table]] = {}
    for table in tables:
        metric = table.about.get("one_of_metrics")
        if metric is None:
            return {}
        found.setdefault(metric, []).append(table)
    return found


def joined(summaries: Mapping[str, Summary], digests: Sequence[str], design: Design) -> Summary:
    """One summary with the rows of every metric."""
    every = list(summaries.values())
    first = max(every, key=lambda one: one.n)
    models = tuple(_of(model, metric) for metric, one in summaries.items() for model in one.models)
    tasks: dict[str, tuple[ModelSummary, ...]] = {}
    for metric, one in summaries.items():
        for task, rows in one.tasks.items():
            tasks[task] = (*tasks.get(task, ()), *(_of(model, metric) for model in rows))
    found = msgspec.structs.replace(
        first,
        measure="metric",
        metrics={metric: one.lower_is_better for metric, one in summaries.items()},
        lower_is_better=all(one.lower_is_better for one in every),
        models=models,
        tasks=dict(sorted(tasks.items())),
        macro={},
        groups=(),
        measures={},
        passes=tuple(
            msgspec.structs.replace(rate, metric=metric) for metric, one in summaries.items() for rate in one.passes
        ),
        attempts_said=(),
        lost={name: max(one.lost.get(name, 0) for one in every) for one in every for name in one.lost},
        fallbacks=tuple(dict.fromkeys(fallback for one in every for fallback in one.fallbacks)),
        notes=said_once(note for one in every for note in one.notes),
        signature=_signature(first, len(summaries), models, digests, design),
    )
    return msgspec.structs.replace(
        found, sentence=sentence_of_metrics(found), notes=(*found.notes, *notes_of_metrics(found))
    )


def _of(model: ModelSummary, metric: str) -> ModelSummary:
    return msgspec.structs.replace(model, metric=metric)


def _signature(
    first: Summary, metrics: int, models: Sequence[ModelSummary], digests: Sequence[str], design: Design
) -> str:
    data = hashlib.sha256("".join(digests).encode()).hexdigest()
    return signature(
        "summary",
        units=f"{first.unit}s",
        models=len({model.name for model in models}),
        metrics=metrics,
        n=first.n,
        clusters=None if first.n_clusters is None else f"{first.n_clusters} {first.cluster_by}",
        method=design.ran(model.value.interval for model in models),
        level=design.level,
        data=data[:16],
    )
