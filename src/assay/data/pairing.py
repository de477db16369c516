"""Tables to a panel: units are paired by id and by nothing else."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.data.arms import Arm, arms_of
from assay.data.arrays import columnwise
from assay.data.checks import SPLITS
from assay.data.labels import Labels
from assay.data.metrics import BITS, SIZES, Metric
from assay.data.panel import Panel
from assay.data.panel_records import Dropped
from assay.data.readers import FILTER_WORDS
from assay.data.tables import Table
from assay.errors import InputError, NoPairsError, UsageError
from assay.names import listed
from assay.stats.units import Floats


def pair(
    a: Table,
    b: Table,
    *,
    names: Sequence[str] | None = None,
    cluster: str | None = None,
    strict: bool = False,
    lower_is_better: bool | None = None,
    split: str | None = None,
) -> Panel:
    """The panel of two tables: the units that both have, in the order of their ids.

    >>> from assay.data import read_table
    >>> a = read_table({"window": ["x", "y"], "tokens": [512, 256], "loss": [3.689, 5.394]}, name="A")
    >>> b = read_table({"window": ["y", "x"], "tokens": [256, 512], "loss": [5.561, 3.638]}, name="B")
    >>> panel = pair(a, b)
    >>> round(panel.estimate(1) - panel.estimate(0), 4)
    0.0217
    """
    return panel_of([a, b], names=names, cluster=cluster, strict=strict, lower_is_better=lower_is_better, split=split)


def panel_of(
    tables: Sequence[Table],
    *,
    names: Sequence[str] | None = None,
    cluster: str | None = None,
    strict: bool = False,
    lower_is_better: bool | None = None,
    split: str | None = None,
) -> Panel:
    """The panel of several tables: the units that all of them have.

    Runs of an item are averaged. Units are kept apart by split where there is one, unless ``split`` picks one of them.
    ``strict`` refuses units that do not pair, which are otherwise left out and counted in ``dropped``.
    """
    check_tables(tables, split)
    chosen = [of_split(table, split) for table in tables]
    about = chosen[0].about
    metric = Metric.of(
        chosen[0].kind,
        lower_is_better=direction_of(chosen, asked=lower_is_better),
        name=about.get("measure_name"),
    )
    systems = _names(chosen, names)
    cluster = cluster or clustered_by(chosen)
    arms, dropped = _paired(arms_of(chosen, pooled=split is None and "split" in chosen[0].labels), strict=strict)
    _check_contents(arms)
    denominators = _shared(arms, "tokens" if metric.kind == "losses" else "weight")
    sizes = {name: _shared(arms, name) for name in SIZES if all(name in arm.table.numbers for arm in arms)}
    return Panel(
        systems,
        arms[0].units(),
        {
            metric.parts[0]: _numerators(arms, denominators),
            metric.parts[1]: denominators[:, None],
            **{name: size[:, None] for name, size in sizes.items()},
        },
        (metric, *(BITS[name] for name in sizes)),
        about.get("unit") or chosen[0].unit,
        labels={} if cluster is None else {cluster: _clusters(arms, cluster)},
        cluster=cluster,
        dropped=dropped,
        notes=notes_of(arms, cluster),
    )


def check_tables(tables: Sequence[Table], split: str | None) -> None:
    if not tables:
        raise UsageError("a panel must have at least one table, but got none.")
    if split is not None and split not in SPLITS:
        raise UsageError(f"split must be preview or final, but got {split!r}.")
    for table in tables:
        if len(table.models) > 1:
            found = listed(table.models)
            raise InputError(f"{table.label}: {len(table.models)} models ({found}); say which one is meant.")
        _check_alike(tables[0], table)


def _check_alike(a: Table, b: Table) -> None:
    if a.kind != b.kind:
        raise InputError(
            f"{a.label} holds {a.kind} and {b.label} holds {b.kind}; compare like with like, or say with --columns "
            "what the columns are."
        )
    _check_measures(a, b)
    check_cuts(a, b)
    _check_starts(a, b)
    tokenizers = [_tokenizer(table) for table in (a, b)]
    if None not in tokenizers and tokenizers[0] != tokenizers[1]:
        raise InputError(
            f"{a.label} and {b.label} were tokenized differently, so their perplexities do not compare; compare bits "
            "per byte of the same documents with --per byte."
        )
    if ("split" in a.labels) != ("split" in b.labels):
        has, lacks = (a, b) if "split" in a.labels else (b, a)
        raise InputError(
            f"{has.label} has a column 'split' and {lacks.label} has none; add it, or drop it with --columns split=."
        )


def check_cuts(a: Table, b: Table) -> None:
    """Refuse runs whose windows were cut by different rules, and so predict different tokens."""
    first, second = (table.about.get("layout", {}) for table in (a, b))
    if not first or not second:
        return
    if first.get("cut") != second.get("cut"):
        raise InputError(
            f"{a.label} was scored with --cut {first.get('cut')} and {b.label} with --cut {second.get('cut')}, so "
            "their windows predict different tokens; score one of them again."
        )


def _check_starts(a: Table, b: Table) -> None:
    starts = [table.about.get("layout", {}).get("bos") for table in (a, b)]
    if None not in starts and starts[0] != starts[1] and _tokenizer(a) == _tokenizer(b):
        has, lacks = (a, b) if starts[0] else (b, a)
        raise InputError(
            f"{has.label} has a start token before its documents and {lacks.label} has none, so their windows predict "
            "different tokens; score both with the same --prefix."
        )


def _check_measures(a: Table, b: Table) -> None:
    """Refuse the results of harnesses that do not measure the same."""
    first, second = (table.about.get("measure") for table in (a, b))
    if first is None or second is None or first["format"] != second["format"]:
        return
    for name in ("metric", "filter", "scorer"):
        if first[name] != second[name]:
            word = FILTER_WORDS.get(first["format"], name) if name == "filter" else name
            raise InputError(
                f"{a.label} has the {word} {first[name]} and {b.label} the {word} {second[name]}; choose one that both "
                f"have with --{name}."
            )
    told = first["task"] and second["task"]  # a renamed file does not say its task
    if told and first["task"] != second["task"] and not ("doc_hash" in a.labels and "doc_hash" in b.labels):
        raise InputError(
            f"{a.label} holds the task {first['task']} and {b.label} {second['task']}; choose one that both have with "
            "--task."
        )


def direction_of(tables: Sequence[Table], *, asked: bool | None) -> bool | None:
    """Whether less is better: as asked, or as the harness says of its metric."""
    told = {table.about.get("lower_is_better") for table in tables} - {None}
    if asked is not None or tables[0].kind == "losses" or not told:
        return asked
    if len(told) > 1:
        raise InputError("the files do not agree whether a lower score is better; say so with --lower-is-better.")
    return bool(told.pop())


def _check_contents(arms: Sequence[Arm]) -> None:
    """Refuse a unit that is something else in another file, where the files tell what it is."""
    told = [arm for arm in arms if "doc_hash" in arm.table.labels]
    for arm in told[1:]:
        same = told[0].texts("doc_hash") == arm.texts("doc_hash")
        if not same.all():
            at = int(np.argmin(same))
            name = f"{arm.table.unit} {arm.units(slice(at, at + 1))[0]!r}"
            raise InputError(
                f"{told[0].label} and {arm.label}: {name} is not the same in both, its contents differ; run both on "
                "the same version of the data."
            )


def _tokenizer(table: Table) -> str | None:
    """The digest of a run's tokenizer, where it is known."""
    found = table.about.get("model", {}).get("digests", {}).get("tokenizer")
    return None if found is None else str(found)


def of_split(table: Table, split: str | None) -> Table:
    if split is None:
        return table
    if "split" not in table.labels:
        raise InputError(f"{table.label}: no column 'split' to take {split!r} from; name it with --columns split=NAME.")
    names = table.labels["split"].names
    if split not in names:
        raise InputError(f"{table.label}: no row of the split {split!r}, only of {listed(names)}; ask for that one.")
    return table.where(table.labels["split"].codes == names.index(split))


def _names(tables: Sequence[Table], names: Sequence[str] | None) -> tuple[str, ...]:
    """The names given, or those of the models or files; with letters if nothing else tells them apart."""
    if names is not None:
        if len(names) != len(tables) or len(set(names)) != len(tables):
            raise UsageError(f"names must be {len(tables)} different names, but got {listed(names)}.")
        return tuple(names)
    for found in ([table.name for table in tables], [table.label for table in tables]):
        if len(set(found)) == len(tables):
            return tuple(found)
    return tuple(f"{table.name} ({i + 1})" for i, table in enumerate(tables))


def _paired(arms: list[Arm], *, strict: bool) -> tuple[list[Arm], Dropped]:
    """The units that every arm has, and what that leaves out."""
    if all(arms[0].same_units(arm) for arm in arms[1:]):
        return arms, Dropped()
    units = [arm.units() for arm in arms]
    common = set(units[0]).intersection(*units[1:])
    if not common:
        raise _nothing_common(arms)
    kept = [np.fromiter(map(common.__contains__, names), bool, len(names)) for names in units]
    lone = [set(names[~mask]) for names, mask in zip(units, kept, strict=True)]
    elsewhere = set().union(*lone[1:]) - lone[0]
    dropped = Dropped(len(lone[0]), len(elsewhere), tuple(sorted(lone[0] | elsewhere)[:5]))
    if strict:
        raise _unpaired(arms, dropped)
    return [arm.keep(mask) for arm, mask in zip(arms, kept, strict=True)], dropped


def _unpaired(arms: Sequence[Arm], dropped: Dropped) -> InputError:
    others, examples = listed([arm.label for arm in arms[1:]]), listed(map(repr, dropped.examples))
    counts = f"{dropped.only_a} only in {arms[0].label}, {dropped.only_b} only in {others}, such as {examples}"
    total = dropped.only_a + dropped.only_b
    return InputError(f"{total} {arms[0].table.unit}s do not pair: {counts}; complete the files, or drop --strict.")


def _nothing_common(arms: Sequence[Arm]) -> NoPairsError:
    sides = "; ".join(f"{arm.label} has {listed(map(repr, arm.units(slice(3))))}" for arm in arms)
    unit = arms[0].table.unit
    return NoPairsError(
        f"no {unit} is in every table: {sides}; write the same ids, or name them with --columns {unit}=NAME."
    )


def _shared(arms: Sequence[Arm], name: str) -> Floats:
    """A column that all arms must agree on; ones where no arm has it."""
    have = [name in arm.table.numbers for arm in arms]
    if not any(have):
        return np.ones(len(arms[0]))
    if not all(have):
        has, lacks = arms[have.index(True)].label, arms[have.index(False)].label
        raise InputError(
            f"{has} has a column {name!r} and {lacks} has none; add it, or leave it out with --columns {name}=."
        )
    first = arms[0].numbers(name)
    for arm in arms[1:]:
        _check_same(arms[0], arm, name, first == arm.numbers(name))
    return first


def _check_same(a: Arm, b: Arm, name: str, same: NDArray[np.bool_]) -> None:
    if same.all():
        return
    at, unit = int(np.argmin(same)), a.table.unit
    name_of_unit = a.units(slice(at, at + 1))[0]
    raise InputError(
        f"{a.place(at)}, and {b.place(at)}, column {a.table.columns.get(name, name)!r}: {unit} {name_of_unit!r} has "
        f"{name} {a.shown(name, at)} and {b.shown(name, at)}; the same {unit} must have the same {name} in both."
    )


def _numerators(arms: Sequence[Arm], denominators: Floats) -> Floats:
    with np.errstate(over="ignore"):
        products = columnwise(np.column_stack([arm.values for arm in arms]) * denominators[:, None])  # (n, k)
        summable = np.isfinite(np.abs(products).sum(axis=0)) & np.isfinite(denominators.sum())
    if not summable.all():
        label = arms[int(np.argmin(summable))].label
        raise InputError(f"{label}: its values are too large to add up; check in which unit they are.")
    return products


def clustered_by(tables: Sequence[Table]) -> str | None:
    for table in tables:
        if table.cluster_by != tables[0].cluster_by:
            has, lacks = (table, tables[0]) if table.cluster_by else (tables[0], table)
            raise InputError(
                f"{has.label} has clusters ({has.cluster_by}) and {lacks.label} has {lacks.cluster_by or 'none'}; "
                "add the column, or leave it out with --columns cluster=."
            )
    return tables[0].cluster_by


def _clusters(arms: Sequence[Arm], cluster: str) -> Labels:
    for arm in arms:
        if cluster not in arm.table.labels:
            raise InputError(
                f"{arm.label}: no column {cluster!r} was read to cluster by; pass --cluster {cluster} where it is read."
            )
    first = arms[0].texts(cluster)
    for arm in arms[1:]:
        _check_same(arms[0], arm, cluster, first == arm.texts(cluster))
    return Labels.of(first)


def notes_of(arms: Sequence[Arm], cluster: str | None) -> tuple[str, ...]:
    notes = [note for arm in arms for note in (*arm.table.notes, *arm.notes)]
    for name in SIZES:
        have = [name in arm.table.numbers for arm in arms]
        if any(have) and not all(have):
            notes.append(f"column {name!r} not used: {arms[have.index(False)].label} has none")
    if cluster is None and any(_has_long_documents(arm) for arm in arms):
        notes.append("column 'document' not used: windows count as independent (--cluster document draws documents)")
    return tuple(dict.fromkeys(notes))


def _has_long_documents(arm: Arm) -> bool:
    """Whether several windows are of one document."""
    return "document" in arm.table.labels and len(set(arm.texts("document"))) < len(arm)
