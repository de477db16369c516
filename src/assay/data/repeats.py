"""Repeated runs: which rows of tables are of which run of which model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from assay.data.panel_records import Dropped, Runs
from assay.data.readers import UNNAMED
from assay.data.tables import Table
from assay.errors import InputError
from assay.names import listed, one_line

_NO_NAME = "the model"  # what the runs of a model without a name are called


@dataclass(frozen=True, eq=False, slots=True)
class RunTable:
    """The rows of one run of one model."""

    model: str
    run: str
    table: Table

    @property
    def name(self) -> str:
        return f"{self.model}, run {self.run}"


def runs_of(tables: Sequence[Table], *, files_are_runs: bool = False) -> list[RunTable]:
    """The runs of every model, in order: by the column ``run``, or with ``files_are_runs`` a table each."""
    parts = _parts(tables, files_are_runs=files_are_runs)
    ordered = {model: dict(sorted(runs.items(), key=lambda item: _natural(item[0]))) for model, runs in parts.items()}
    return [RunTable(model, run, table) for model, runs in ordered.items() for run, table in runs.items()]


def columns_of(runs: Sequence[RunTable]) -> tuple[Runs, ...]:
    """Which of the runs are of one model."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(runs):
        places.setdefault(one.model, []).append(place)
    return tuple(Runs(model, tuple(runs[i].run for i in own), tuple(own)) for model, own in places.items())


def check_repeated(runs: Sequence[RunTable]) -> None:
    """Refuse a model that has one run, and runs that have no item in common."""
    for found in columns_of(runs):
        if len(found.columns) < 2:
            label = runs[found.columns[0]].table.label
            raise InputError(
                f"{label}: model {found.model!r} has one run, and how far runs agree takes two; add a column 'run' "
                "that numbers them, or name one file per run with --files-are-runs."
            )
    _check_common(runs)


def _parts(tables: Sequence[Table], *, files_are_runs: bool) -> dict[str, dict[str, Table]]:
    """The rows of every run of every model."""
    found = [
        (model, run, table, part)
        for table in tables
        for model, rows in _by_model(table, files_are_runs=files_are_runs)
        for run, part in _by_run(rows)
    ]
    short = len({(model, run, _stem(table)) for model, run, table, _ in found}) == len(found)
    parts: dict[str, dict[str, Table]] = {}
    for model, run, table, part in found:
        file = _stem(table) if short else table.label
        name = run if not files_are_runs else file if "run" not in table.labels else f"{file}/{run}"
        known = parts.setdefault(model, {})
        if name in known:
            raise _twice(model, name, known[name], table)
        known[name] = part
    return parts


def _stem(table: Table) -> str:
    return PurePath(table.label).stem


def _twice(model: str, run: str, first: Table, second: Table) -> InputError:
    what = f"run {one_line(run)!r} of model {one_line(model)!r}"
    if "run" not in second.labels:
        what = f"a run of model {one_line(model)!r}, without a column 'run' that names it,"
    return InputError(
        f"{second.label}: {what} is in {first.label} as well; name the runs apart in the column 'run', or take each "
        "file as a run with --files-are-runs."
    )


def _by_model(table: Table, *, files_are_runs: bool) -> Iterator[tuple[str, Table]]:
    if len(table.models) > 1:
        yield from ((model, table.select(model)) for model in table.models)
        return
    after_its_file = not table.models and not table.about and table.name in (_stem(table), table.label)
    nameless = table.name == UNNAMED or (files_are_runs and after_its_file)
    yield _NO_NAME if nameless else table.name, table


def _by_run(table: Table) -> Iterator[tuple[str, Table]]:
    if "run" not in table.labels:
        yield "1", table
        return
    labels = table.labels["run"]
    for code, run in enumerate(labels.names):
        part = table.where(labels.codes == code)
        yield run, replace(part, label=f"{table.label} (run {one_line(run)!r})")


def _natural(run: str) -> tuple[bool, float, str]:
    """Runs that are numbers in their order, before those that are not."""
    try:
        return False, float(run), run
    except ValueError:
        return True, 0.0, run


def _check_common(runs: Sequence[RunTable]) -> None:
    """Refuse runs that have no item in common, and name the first that has none of what all before it have."""
    common = set(runs[0].table.ids)
    for one in runs[1:]:
        table = one.table
        left = common.intersection(table.ids)
        if not left:
            examples = listed(map(repr, table.ids[:3].tolist()))
            others = listed(map(repr, sorted(common)[:3]))
            raise InputError(
                f"{table.label}: run {one.run!r} of model {one.model!r} has no {table.unit} that all runs before it "
                f"have (it has {examples}, they have {others}); write the same ids in all runs, or leave this one out."
            )
        common = left


def left_out(runs: Sequence[RunTable], dropped: Dropped, unit: str) -> tuple[str, ...]:
    """A note on the units that not every run has."""
    count = dropped.only_a + dropped.only_b
    if not count:
        return ()
    least = min(runs, key=lambda one: len(one.table))
    what = f"{count} {unit}{'s are' if count > 1 else ' is'} left out that not every run has"
    fewest = f"run {least.run!r} of {least.model} has the fewest, {len(least.table):,}"
    return (f"{what}, such as {listed(dropped.examples)}; {fewest}",)
