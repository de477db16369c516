"""Which column of a file is which: our names, what other programs call them, and what people say with `columns`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from assay.data.costs import COSTS, USUAL_COSTS
from assay.data.metrics import UNITS, Kind
from assay.data.readers import RowSource
from assay.data.values import holds_scores
from assay.errors import InputError, UsageError
from assay.names import argument, listed, nearest

REQUIRED: dict[Kind, tuple[str, ...]] = {"losses": ("window", "tokens", "loss"), "scores": ("item", "score")}
#: Of tables with several metrics in rows of their own: its name, and whether lower is better.
METRICS = ("metric", "lower_is_better")
OPTIONAL: dict[Kind, tuple[str, ...]] = {
    "losses": ("model", "task", "group", "document", "split", "bytes", "chars", "start", "stop", "doc_hash", *COSTS),
    "scores": ("model", "task", "group", "cluster", "weight", "run", "error", "doc_hash", *METRICS, *COSTS),
}
#: What other programs call our columns of scores, whatever the case; the first errors are taken before the others.
USUAL: dict[str, tuple[str, ...]] = {
    "item": ("id", "question_id", "doc_id", "task_id", "sample_id", "qid", "idx", "instance_id", "prompt_id"),
    "score": (
        *("acc", "correct", "is_correct", "passed", "pass", "accuracy", "exact_match", "reward", "resolved", "label"),
    ),
    "model": ("model_name", "system"),
    "run": ("seed", "trial", "attempt", "epoch", "sample"),
    "task": ("subject", "category", "dataset", "benchmark"),
    "error": ("errors", "error_message", "exception", "*.error", "status"),
    **USUAL_COSTS,
}
#: An id may occur once in each of these.
GROUPS: dict[Kind, tuple[str, ...]] = {"losses": ("model", "split"), "scores": ("model", "run")}
OURS = tuple(dict.fromkeys(name for kind in UNITS for name in REQUIRED[kind] + OPTIONAL[kind]))

#: A name this similar to one of ours is taken for a slip of the pen, not for a column of the user's own.
SIMILAR = 0.8


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """Which of our columns a table has, what the file calls them, and which columns are unused."""

    kind: Kind
    columns: dict[str, str]  # our name → the file's
    cluster: str | None  # the column of the file that was named as the cluster
    unused: tuple[str, ...]
    usual: tuple[str, ...] = ()  # ours that were found under another name, unasked


@dataclass(frozen=True, slots=True)
class ColumnsAsked:
    """What a caller says of the columns of a table."""

    mapping: Mapping[str, str]  # our name → the file's
    kind: Kind | None = None
    cluster: str | None = None
    by_row: bool = False  # units go by their place in the file, and need no id
    usual: bool = True  # columns may go by the names that other programs give them


def layout_of(source: RowSource, asked: ColumnsAsked) -> ColumnLayout:
    """Find our columns among a file's; name what is missing, ambiguous or misspelt."""
    label, columns, mapping = source.label, source.columns, asked.mapping
    check_keys(mapping)
    _check_mapped(label, columns, mapping)
    found = found_in(source, asked)
    kind = asked.kind or _kind(label, columns, found, mapping)
    _check_complete(label, columns, found, kind, by_row=asked.by_row)
    _check_kind_of_keys(mapping, kind)
    used = {name: found[name] for name in REQUIRED[kind] + OPTIONAL[kind] if name in found}
    if asked.by_row:
        used.pop(UNITS[kind], None)
    named = None if asked.cluster is None else _cluster(label, columns, used, asked.cluster)
    taken = {*used.values()} | ({named} if named else set())
    check_once(label, columns, taken)
    unused = tuple(name for name in columns if name and name not in taken)
    own = (*METRICS, *COSTS)
    absent = [name for name in OPTIONAL[kind] if name not in used and name not in mapping and name not in own]
    _check_spelling(label, unused, absent)
    usual = tuple(name for name, theirs in used.items() if theirs != name and name not in mapping)
    return ColumnLayout(kind, used, named, unused, usual)


def check_once(label: str, columns: tuple[str, ...], taken: Iterable[str]) -> None:
    """Refuse duplicate column names among the columns used."""
    for name in taken:
        if columns.count(name) > 1:
            raise InputError(f"{label}: {columns.count(name)} columns are called {name!r}; rename all but one.")


def check_keys(mapping: Mapping[str, str], names: Sequence[str] = OURS) -> None:
    """Refuse a mapping with a name that is not one of our columns."""
    for ours in mapping:
        if ours not in names:
            close = nearest(ours, names)
            example = argument(columns={"score" if "score" in names else names[-1]: "NAME"})
            hint = f"did you mean {close!r}?" if close else f"{example} reads the column NAME as ours."
            raise UsageError(f"`columns` must name one of {', '.join(names)}, but got {ours!r}; {hint}")


def _check_mapped(label: str, columns: tuple[str, ...], mapping: Mapping[str, str]) -> None:
    for ours, theirs in mapping.items():
        if theirs and theirs not in columns:
            close = nearest(theirs, columns)
            hint = f"did you mean {argument(columns={ours: close})}?" if close else "name one of them with `columns`."
            raise InputError(f"{label}: no column {theirs!r} for {ours!r} among its columns {listed(columns)}; {hint}")


def _check_kind_of_keys(mapping: Mapping[str, str], kind: Kind) -> None:
    for ours in mapping:
        if mapping[ours] and ours not in REQUIRED[kind] + OPTIONAL[kind]:
            hint = f"; use {argument(cluster=mapping[ours])} instead" if ours == "cluster" else ""
            own = ", ".join(REQUIRED[kind] + OPTIONAL[kind])
            raise UsageError(f"`columns` must name a column of a table of {kind} ({own}), but got {ours!r}{hint}.")


def found_in(source: RowSource, asked: ColumnsAsked) -> dict[str, str]:
    """Our name → the file's: as mapped, under our own name in any case, or as other programs call it."""
    found = {ours: theirs for ours, theirs in asked.mapping.items() if theirs}
    for same in (str, str.casefold) if asked.usual else (str,):
        for ours in OURS:
            claimed = {*found.values(), asked.cluster if ours != asked.cluster else None}
            theirs = [name for name in source.columns if same(name) == ours and name not in claimed]
            if theirs and ours not in found and ours not in asked.mapping:
                found[ours] = theirs[0]
    if not asked.usual or asked.kind == "losses" or _are_losses(found, asked.mapping):
        return found
    for ours in USUAL:
        if ours not in found and ours not in asked.mapping:
            claimed = {*found.values(), asked.cluster}
            found |= _usual(source, ours, [name for name in source.columns if name not in claimed])
    return found


def _are_losses(found: Mapping[str, str], mapping: Mapping[str, str]) -> bool:
    whole = all(name in found for name in REQUIRED["losses"])
    return whole and not any(name in mapping for name in REQUIRED["scores"])


def _usual(source: RowSource, ours: str, free: Sequence[str]) -> dict[str, str]:
    """The only column that goes by a usual name of ours; several are refused, unless they are of errors or costs."""
    found = [name for usual in USUAL[ours] for name in free if fnmatchcase(name.casefold(), usual)]
    if ours == "error" or ours in COSTS:
        return {ours: found[0]} if found else {}
    if ours == "score" and (len(found) > 1 or "label" in map(str.casefold, found)):
        found = holds_scores(source, found)  # a label is often the right answer, in words
    if len(found) > 1:
        ways = " or ".join(argument(columns={ours: name}) for name in found[:2])
        none = "" if ours in REQUIRED["scores"] else f", or use none with {argument(columns={ours: ''})}"
        raise InputError(f"{source.label}: {ours} may be {listed(map(repr, found))}; say which with {ways}{none}.")
    return {ours: found[0]} if found else {}


def _kind(label: str, columns: tuple[str, ...], found: Mapping[str, str], mapping: Mapping[str, str]) -> Kind:
    whole: list[Kind] = [kind for kind in UNITS if all(name in found for name in REQUIRED[kind])]
    if len(whole) == 2:
        # What was mapped by hand says which of the two is meant.
        whole = [kind for kind in whole if any(name in REQUIRED[kind] for name in mapping)]
    if len(whole) == 1:
        return whole[0]
    if any(all(name in found for name in REQUIRED[kind]) for kind in UNITS):
        raise InputError(
            f"{label}: both losses (window, tokens, loss) and scores (item, score) among its columns {listed(columns)};"
            " say which is meant, with `columns={'loss': 'loss'}` or `columns={'score': 'score'}`."
        )
    # Nothing fits: ask for what is missing of the kind that is nearest, or of scores, which need less.
    return min(reversed(UNITS), key=lambda kind: _distance(columns, found, kind))


def _distance(columns: tuple[str, ...], found: Mapping[str, str], kind: Kind) -> float:
    missing = [name for name in REQUIRED[kind] if name not in found]
    near = [name for name in missing if nearest(name, columns, SIMILAR)]
    return (len(missing) - 0.5 * len(near)) / len(REQUIRED[kind])


def _check_complete(
    label: str, columns: tuple[str, ...], found: Mapping[str, str], kind: Kind, *, by_row: bool
) -> None:
    needed = [name for name in REQUIRED[kind] if not (by_row and name == UNITS[kind])]
    missing = [name for name in needed if name not in found]
    if not missing:
        return
    free = [name for name in columns if name not in found.values()]
    guesses = {name: nearest(name, free) for name in missing}
    mapped = argument(columns={ours: theirs or "NAME" for ours, theirs in guesses.items()})
    hint = f"did you mean {mapped}?" if all(guesses.values()) else f"name them with {mapped}."
    if len(missing) < len(REQUIRED[kind]):
        needs = f"{kind} need {', '.join(REQUIRED[kind])}"
    else:
        needs = "losses need window, tokens, loss; scores need item, score"
    lacks = " and no ".join(missing)
    if missing == ["item"]:
        hint += " Where there are no ids, `Selection(pair_by='row')` pairs rows by their place in the file."
    raise InputError(f"{label}: no column {lacks} among its columns {listed(columns)} ({needs}); {hint}")


def _cluster(label: str, columns: tuple[str, ...], used: Mapping[str, str], cluster: str) -> str:
    name = used.get(cluster, cluster)
    if name not in columns:
        close = nearest(cluster, columns)
        hint = f"did you mean {argument(cluster=close)}?" if close else "name one of them with `cluster`."
        raise InputError(f"{label}: no column {cluster!r} to cluster by among its columns {listed(columns)}; {hint}")
    return name


def _check_spelling(label: str, unused: tuple[str, ...], absent: list[str]) -> None:
    for name in unused:
        close = nearest(name, absent, SIMILAR)
        if close:
            raise InputError(
                f"{label}: unknown column {name!r}, which looks like {close!r}; use it as that with "
                f"{argument(columns={close: name})}, or leave it out with {argument(columns={close: ''})}."
            )
