"""What results were measured under: what all of them must share to be compared, and what is only noted.

A judge, a reference or a split that differs makes scores of another kind, so it is refused unless it is allowed by
name. Shots, prompts and temperatures are what people compare on purpose.
"""

from collections.abc import Iterator, Mapping, Sequence

from assay.data.tables import Table
from assay.errors import InputError
from assay.names import argument, listed, shown

#: Allows every condition to differ, where models are looked at one by one.
EVERYTHING = "*"
_SHOWN = 3  # values, systems and tasks that a note names
_PLAIN = 40  # characters of a value that needs no quotation marks

Told = dict[tuple[str, str], dict[str, list[str]]]  # by task and name: which systems have which value


def allowed(table: Table, name: str) -> bool:
    """Whether a condition of this name may differ."""
    given = table.about.get("allow_different", ())
    return name in given or EVERYTHING in given


def check_conditions(tables: Sequence[Table]) -> None:
    """Refuse tables measured under different conditions, where they tell, unless that is allowed."""
    first: dict[tuple[str, str], tuple[Table, str]] = {}
    for table in tables:
        wrong = []
        for task, name, value in _told(table, "conditions"):
            other, before = first.setdefault((task, name), (table, value))
            if value != before and not allowed(table, name):
                wrong.append((task, name, other, before, value))
        if wrong:
            task, name, other, before, value = wrong[0]
            of = f" of the task {task}" if task else ""
            allow = argument("Selection", allow_different=list(dict.fromkeys(name for _, name, *_ in wrong)))
            raise InputError(
                f"{other.label} has the {name} {_brief(before)} and {table.label} {_brief(value)}{of}, so their scores "
                f"do not compare; name results that share it, or compare them all the same with {allow}."
            )


def notes_on_conditions(tables: Sequence[Table], systems: Sequence[str]) -> list[str]:
    """What differs between systems: conditions that were allowed to, and settings."""
    apart = [f"warning: {note}: scores may differ for that alone" for note in _differing(tables, systems, "conditions")]
    return [*apart, *_differing(tables, systems, "settings")]


def _differing(tables: Sequence[Table], systems: Sequence[str], kind: str) -> Iterator[str]:
    """``different shots: 0 (base), 5 (tuned)``, said once for all tasks that have the same values."""
    told: Told = {}
    for table, system in zip(tables, systems, strict=True):
        for task, name, value in _told(table, kind):
            told.setdefault((task, name), {}).setdefault(value, []).append(system)
    said: dict[tuple[str, str], list[str]] = {}
    for (task, name), values in told.items():
        if len(values) > 1:
            whose = [f"{_brief(value)} ({listed(owners, _SHOWN)})" for value, owners in list(values.items())[:_SHOWN]]
            more = [f"{len(values) - _SHOWN} more"] if len(values) > _SHOWN else []
            said.setdefault((name, ", ".join([*whose, *more])), []).append(task)
    every = len({task for task, _ in told})
    for (name, values_of), tasks in said.items():
        some = f" in {listed(tasks, _SHOWN)}" if len(tasks) < every else ""
        yield f"different {name}{some}: {values_of}"


def _brief(value: str) -> str:
    """A value in a note: as it is, or what is shown of a long text."""
    return value if len(value) <= _PLAIN and value.isprintable() and " " not in value else shown(value)


def _told(table: Table, kind: str) -> Iterator[tuple[str, str, str]]:
    """Task, name and value of what a table tells; a single task goes by no name, for it may be called otherwise."""
    by_task: Mapping[str, Mapping[str, str]] = table.about.get(kind, {})
    for task, values in by_task.items():
        for name, value in values.items():
            yield task if len(by_task) > 1 else "", name, value
